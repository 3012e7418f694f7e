//! Memory that all processes share.
//!
//! nginx passes a zone from one cycle to the next if its name, tag and size are the same. The tag is the address of the
//! module, and two builds that are loaded at once have two addresses, so the same code wrote what is in the zone.

use std::alloc::Layout;
use std::any::TypeId;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use ngx::allocator::Allocator;
use ngx::core::{SlabPool, Status};
use ngx::ffi::{ngx_conf_t, ngx_int_t, ngx_shared_memory_add, ngx_shm_zone_t, ngx_str_t};

use super::main_thread::{MainThread, MainThreadCell};
use super::panics::guard;
use super::types::Exported;

/// The zone of the cycle that is in service.
static IN_SERVICE: MainThreadCell<Option<Zone>> = MainThreadCell::new(None);

/// A zone of a cycle, which holds one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zone {
    raw: NonNull<ngx_shm_zone_t>,
    /// The type of the value.
    type_id: TypeId,
}

impl Zone {
    /// The room for the value and for nginx's allocator beside it: a record for each page, its own head, and up to two
    /// pages to align what it returns. A page has 64 KiB at most.
    const fn size<T>() -> usize {
        size_of::<T>() + size_of::<T>() / 32 + (256 << 10)
    }

    /// Asks for a zone. nginx maps it when it has read the whole configuration.
    ///
    /// # Safety
    ///
    /// nginx is reading the configuration `cf`.
    pub(super) unsafe fn request<M: Exported>(cf: *mut ngx_conf_t, name: &'static str) -> Option<Self> {
        let mut name = ngx_str_t { len: name.len(), data: name.as_ptr().cast_mut() };
        let tag = ptr::from_ref(M::ngx_module()).cast_mut().cast();
        // SAFETY: nginx keeps the name, which is static, and only compares the tag. What it returns is null or a zone of the
        // cycle that it prepares.
        unsafe {
            let raw = NonNull::new(ngx_shared_memory_add(cf, &raw mut name, Self::size::<M::Shared>(), tag))?;
            (*raw.as_ptr()).init = Some(init::<M>);
            Some(Self { raw, type_id: TypeId::of::<M::Shared>() })
        }
    }

    /// Makes a zone the one that [`MainThread::with_shared`] looks into.
    ///
    /// # Safety
    ///
    /// The cycle of the zone is in service, and its end calls [`Self::retire`].
    pub(super) unsafe fn take_into_service(zone: Option<Self>, main_thread: MainThread<'_>) {
        IN_SERVICE.set(main_thread, zone);
    }

    /// Ends the service of a zone whose cycle ends without a successor.
    pub(super) fn retire(self, main_thread: MainThread<'_>) {
        if IN_SERVICE.get(main_thread).is_some_and(|zone| zone.raw == self.raw) {
            IN_SERVICE.set(main_thread, None);
        }
    }
}

impl MainThread<'_> {
    /// Calls a function with what the processes share, if the configuration in service has it.
    pub(crate) fn with_shared<T: 'static, R>(self, call: impl FnOnce(&T) -> R) -> Option<R> {
        let zone = IN_SERVICE.get(self).filter(|zone| zone.type_id == TypeId::of::<T>())?;
        // SAFETY: nginx keeps the zone mapped until another cycle is in service, or until it calls nothing of the module but
        // `retire`. `init` put a value of this type there. The type is `FromBytes` and `Sync`: other processes may write to it
        // as other threads might.
        unsafe { (*zone.raw.as_ptr()).data.cast::<T>().as_ref() }.map(call)
    }
}

/// nginx has mapped a zone.
unsafe extern "C" fn init<M: Exported>(zone: *mut ngx_shm_zone_t, before: *mut c_void) -> ngx_int_t {
    // SAFETY: nginx calls this in its main thread, with the zone that `request` asked for, mapped and with nginx's allocator
    // in it. `before` is null or the `data` of the same zone in the previous cycle, which is mapped at the same address. A
    // `FromBytes` type has a valid value in zeroed memory.
    unsafe {
        guard::<M, _>(Status::NGX_ERROR, |_| {
            let value = NonNull::new(before.cast::<M::Shared>()).or_else(|| {
                let pool = SlabPool::from_shm_zone(&*zone)?;
                Some(pool.allocate_zeroed(Layout::new::<M::Shared>()).ok()?.cast())
            });
            let Some(value) = value else { return Status::NGX_ERROR };
            (*zone).data = value.as_ptr().cast();
            Status::NGX_OK
        })
    }
    .into()
}
