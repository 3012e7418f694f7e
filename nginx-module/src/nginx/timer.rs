//! The timer of a worker in which a configuration is refreshed.

use std::cell::OnceCell;
use std::ptr::{self, NonNull};

use ngx::ffi::{
    NGX_PROCESS_SINGLE, NGX_PROCESS_WORKER, ngx_add_timer, ngx_connection_t, ngx_core_conf_t,
    ngx_core_module, ngx_cycle_t, ngx_del_timer, ngx_event_t, ngx_exiting, ngx_process, ngx_quit,
    ngx_terminate, ngx_worker,
};

use super::guard::guard;
use super::module::main_conf_of;
use crate::directives::MainConf;
use crate::refresh;

/// Milliseconds until the next attempt where one had a bug.
const AFTER_A_BUG: u64 = 60_000;

/// A timer that belongs to a configuration, and ends with it.
#[derive(Debug, Default)]
pub(crate) struct Timer(OnceCell<NonNull<Alarm>>);

/// What nginx keeps of it while it is set.
struct Alarm {
    event: ngx_event_t,
    /// nginx's debug log names the connection of an event.
    connection: ngx_connection_t,
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some(alarm) = self.0.take() {
            // SAFETY: `start` made it with a Box, and nobody else keeps it once nginx's tree of timers does not.
            unsafe {
                let event = &raw mut (*alarm.as_ptr()).event;
                if (*event).timer_set() != 0 {
                    ngx_del_timer(event);
                }
                drop(Box::from_raw(alarm.as_ptr()));
            }
        }
    }
}

/// Which of how many workers this process is; `None` where it serves no requests (the master, a cache manager).
fn worker(cycle: &ngx_cycle_t) -> Option<(u64, u64)> {
    // SAFETY: plain integers that nginx sets when it starts a process.
    let (process, number) = unsafe { (ngx_process, ngx_worker) };
    match u32::try_from(process).ok()? {
        NGX_PROCESS_SINGLE => Some((0, 1)),
        NGX_PROCESS_WORKER => {
            // SAFETY: the first level of a cycle's configurations is by module, and the core module's has this type.
            let core =
                unsafe { (*cycle.conf_ctx.add(ngx_core_module.index)).cast::<ngx_core_conf_t>().as_ref() };
            let count = core.map_or(1, |core| core.worker_processes);
            Some((u64::try_from(number).ok()?, u64::try_from(count).unwrap_or(1)))
        }
        _ => None,
    }
}

/// Begins to refresh the configuration of a cycle, where it asks for that and this process serves requests.
///
/// # Safety
///
/// `cycle` is that of this process, whose event loop is about to run.
pub(super) unsafe fn start(cycle: *mut ngx_cycle_t) {
    // SAFETY: the caller's promise; the configuration is used while the cycle is.
    let (conf, cycle) = unsafe { (main_conf_of(cycle), &*cycle) };
    let (Some(conf), Some((number, count))) = (conf, worker(cycle)) else { return };
    let Some(delay) = refresh::first_delay(conf, number, count) else { return };
    // SAFETY: all-zero is what nginx's own events and connections start from.
    let mut alarm: Box<Alarm> = Box::new(unsafe { std::mem::zeroed() });
    alarm.connection.fd = -1;
    alarm.connection.data = ptr::from_ref(conf).cast_mut().cast();
    alarm.event.log = cycle.log;
    alarm.event.handler = Some(on_alarm);
    // A worker that is to end does not wait for it.
    alarm.event.set_cancelable(1);
    let Some(alarm) = NonNull::new(Box::into_raw(alarm)) else { return };
    // SAFETY: it was just made, and stays where it is until the Timer is dropped, which takes it out of the tree. The
    // configuration stays where it is in its pool, and drops its Timer at its end.
    unsafe {
        (*alarm.as_ptr()).event.data = (&raw mut (*alarm.as_ptr()).connection).cast();
        match conf.timer.0.set(alarm) {
            Ok(()) => set(&raw mut (*alarm.as_ptr()).event, delay),
            // nginx begins a process once.
            Err(alarm) => drop(Box::from_raw(alarm.as_ptr())),
        }
    }
}

/// # Safety
///
/// The event is that of an Alarm whose Timer is not dropped.
unsafe fn set(event: *mut ngx_event_t, milliseconds: u64) {
    // SAFETY: the caller's promise.
    unsafe { ngx_add_timer(event, usize::try_from(milliseconds).unwrap_or(usize::MAX)) };
}

unsafe extern "C" fn on_alarm(event: *mut ngx_event_t) {
    // SAFETY: the event is that of an Alarm, whose configuration lives as long as it does.
    let conf = unsafe { (*(*event).data.cast::<ngx_connection_t>()).data.cast::<MainConf>().as_ref() };
    let Some(conf) = conf.filter(|_| !is_ending()) else { return };
    if let Some(delay) = guard(Some(AFTER_A_BUG), || refresh::on_timer(conf)) {
        // SAFETY: as above; the timer is not set while its handler runs.
        unsafe { set(event, delay) };
    }
}

/// Whether this worker takes new requests no more.
fn is_ending() -> bool {
    // SAFETY: plain integers that nginx's signal handlers and its event loop set in this thread.
    unsafe { ngx_exiting != 0 || ngx_quit != 0 || ngx_terminate != 0 }
}
