//! The memory that all workers share, in which the gate counts.
//!
//! nginx hands a zone on from one cycle to the next where name, tag and size are the same. Name and tag are this very
//! build's (the tag is the module's address, and two builds that are loaded at once have two), so what is found in a zone
//! was written by the same code.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use crawlward_core::measures::{Counters, ReloadResult};
use ngx::ffi::{
    NGX_ERROR, NGX_OK, ngx_conf_t, ngx_cycle_t, ngx_int_t, ngx_shared_memory_add, ngx_shm_zone_t,
    ngx_slab_calloc, ngx_slab_pool_t,
};

use super::guard::guard;
use super::headers;
use super::module::{main_conf_of, module_tag};

const NAME: &str = concat!("crawlward_", env!("CARGO_PKG_VERSION"));

/// The counters, and what nginx's allocator in the zone needs beside them: a record a page, its own head, and up to two
/// pages by which what it gives is aligned. A page is 64 KiB at most.
const SIZE: usize = size_of::<Counters>() + size_of::<Counters>() / 32 + (256 << 10);

/// The counters of the cycle that is in service, as this process sees them.
static IN_SERVICE: AtomicPtr<Counters> = AtomicPtr::new(ptr::null_mut());

/// A zone that a cycle asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zone(NonNull<ngx_shm_zone_t>);

impl Zone {
    /// Asks for the zone. It is there when the whole configuration was read.
    ///
    /// # Safety
    ///
    /// `cf` is the configuration that nginx reads.
    pub(super) unsafe fn ask_for(cf: *mut ngx_conf_t) -> Option<Self> {
        let mut name = headers::string(NAME.as_bytes());
        // SAFETY: the name is static, as nginx keeps it; what comes back is null or a zone of the cycle.
        unsafe {
            let zone = NonNull::new(ngx_shared_memory_add(cf, &raw mut name, SIZE, module_tag()))?;
            (*zone.as_ptr()).init = Some(init);
            Some(Self(zone))
        }
    }
}

/// Calls a function with the counters of the cycle that is in service, if one is and has `crawlward_config`.
pub(crate) fn with_counters<T>(call: impl FnOnce(&Counters) -> T) -> Option<T> {
    // SAFETY: null or the counters in a zone of the cycle in service, which stays mapped while a handler runs. The type
    // is made of atomic integers, so that other processes may write meanwhile.
    unsafe { IN_SERVICE.load(Ordering::Relaxed).as_ref() }.map(call)
}

/// A zone is mapped: finds or makes the counters in it.
unsafe extern "C" fn init(zone: *mut ngx_shm_zone_t, before: *mut c_void) -> ngx_int_t {
    guard(NGX_ERROR as ngx_int_t, || {
        // SAFETY: nginx passes the zone that `ask_for` made, mapped and with nginx's allocator in it; `before` is the
        // `data` of the zone in the cycle before, which maps the same memory at the same place. All zero, as calloc
        // gives them, are valid counters.
        unsafe {
            let counters = match before.is_null() {
                true => {
                    let pool = (*zone).shm.addr.cast::<ngx_slab_pool_t>();
                    ngx_slab_calloc(pool, size_of::<Counters>())
                }
                false => before,
            };
            (*zone).data = counters;
            if counters.is_null() { NGX_ERROR as ngx_int_t } else { NGX_OK as ngx_int_t }
        }
    })
}

/// A cycle is taken into service, in the master.
pub(super) unsafe extern "C" fn take_into_service(cycle: *mut ngx_cycle_t) -> ngx_int_t {
    guard((), || {
        // SAFETY: nginx passes the cycle with all of its configuration read and its zones mapped, and the cycle before,
        // which is an empty one at the start of the process.
        let (zone, is_reload) = unsafe {
            let before = (*cycle).old_cycle.as_ref();
            (main_conf_of(cycle).and_then(|conf| conf.zone), before.is_some_and(|it| !it.conf_ctx.is_null()))
        };
        // SAFETY: the zone is one of this cycle's.
        let counters = zone.map_or(ptr::null_mut(), |Zone(zone)| unsafe { zone.as_ref() }.data);
        IN_SERVICE.store(counters.cast(), Ordering::Relaxed);
        if is_reload {
            with_counters(|counters| counters.count_reload(ReloadResult::Success));
        }
    });
    NGX_OK as ngx_int_t
}
