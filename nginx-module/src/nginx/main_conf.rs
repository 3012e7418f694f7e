//! The configuration of the `http` block that nginx keeps for a module.

use std::cell::{Cell, OnceCell};

use ngx::ffi::ngx_cycle_t;
use ngx::http::HttpModuleConfExt;

use super::main_thread::MainThread;
use super::timer::Timer;
use super::types::{Exported, ModuleTypes};
use super::zone::Zone;

/// The configuration of a module, with what the bindings keep beside it.
pub(super) struct MainSlot<M: ModuleTypes> {
    /// One for each task of the module, once a worker has started. Dropped before the configuration, which they point at.
    pub(super) timers: OnceCell<Box<[Timer]>>,
    pub(super) zone: Cell<Option<Zone>>,
    pub(super) conf: M::Main,
}

impl<M: ModuleTypes> Default for MainSlot<M> {
    fn default() -> Self {
        Self { timers: OnceCell::new(), zone: Cell::new(None), conf: M::Main::default() }
    }
}

impl<M: ModuleTypes> Drop for MainSlot<M> {
    fn drop(&mut self) {
        if let Some(zone) = self.zone.get() {
            // SAFETY: nginx destroys its pools in its main thread, and this value is in one.
            zone.retire(unsafe { MainThread::assume() });
        }
    }
}

/// The configuration of a module in a cycle. `None` if the cycle has no `http` block.
///
/// # Safety
///
/// `holder` is live, is of a configuration that nginx has read or reads, and outlives `'c`. Nobody else changes the
/// configuration of the module during `'c`.
pub(super) unsafe fn main_conf<'c, M: Exported>(holder: &impl HttpModuleConfExt) -> Option<&'c MainSlot<M>> {
    // SAFETY: `create_main_conf` made the configuration of this module.
    unsafe { Some(holder.http_main_conf_unchecked::<MainSlot<M>>(M::ngx_module())?.as_ref()) }
}

/// Returns true if a cycle is a real one, and not the empty one from which nginx starts.
///
/// # Safety
///
/// `cycle` is null or live.
pub(super) unsafe fn is_configured(cycle: *const ngx_cycle_t) -> bool {
    // SAFETY: the caller's promise.
    unsafe { cycle.as_ref() }.is_some_and(|cycle| !cycle.conf_ctx.is_null())
}
