//! A timer that belongs to a configuration.

use std::cell::OnceCell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::time::Duration;

use ngx::ffi::{ngx_add_timer, ngx_connection_t, ngx_del_timer, ngx_event_t, ngx_log_t, ngx_msec_t};

/// The function that nginx calls when a timer fires.
pub(super) type OnAlarm = unsafe extern "C" fn(*mut ngx_event_t);

/// A timer, which ends with its owner.
#[derive(Debug, Default)]
pub(super) struct Timer(OnceCell<NonNull<Alarm>>);

/// The structures that nginx uses of a timer.
struct Alarm {
    event: ngx_event_t,
    /// nginx's debug log names the connection of an event.
    connection: ngx_connection_t,
}

impl Timer {
    /// Starts the timer, unless it has been started.
    ///
    /// # Safety
    ///
    /// This is the main thread of a process with an event loop. `log` and `data` outlive the timer, and `on_alarm` accepts
    /// an event with this `data`.
    pub(super) unsafe fn start(
        &self,
        log: *mut ngx_log_t,
        data: *const c_void,
        on_alarm: OnAlarm,
        delay: Duration,
    ) {
        if self.0.get().is_some() {
            return;
        }
        // SAFETY: these are structures of C, which nginx zeroes as well before it sets fields.
        let mut alarm: Box<Alarm> = Box::new(unsafe { std::mem::zeroed() });
        alarm.connection.fd = -1;
        alarm.connection.data = data.cast_mut();
        alarm.event.log = log;
        alarm.event.handler = Some(on_alarm);
        // A worker that is about to exit does not wait for it.
        alarm.event.set_cancelable(1);
        let alarm = *self.0.get_or_init(|| NonNull::from(Box::leak(alarm)));
        // SAFETY: the alarm stays where it is until this timer is dropped.
        unsafe {
            let alarm = alarm.as_ptr();
            (*alarm).event.data = (&raw mut (*alarm).connection).cast();
            set(&raw mut (*alarm).event, delay);
        }
    }
}

impl Timer {
    /// Returns true if an event is that of this timer.
    pub(super) fn has(&self, event: *const ngx_event_t) -> bool {
        // SAFETY: the alarm stays where it is until this timer is dropped.
        self.0.get().is_some_and(|alarm| unsafe { ptr::eq(&raw const (*alarm.as_ptr()).event, event) })
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some(alarm) = self.0.take() {
            // SAFETY: `start` leaked it from a `Box`. Only nginx's tree of timers points at it.
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

/// The data of the timer whose alarm an event is.
///
/// # Safety
///
/// `event` is what nginx passes to an [`OnAlarm`] of a [`Timer`].
pub(super) unsafe fn data(event: *const ngx_event_t) -> *mut c_void {
    // SAFETY: `start` has set the connection and its data.
    unsafe { (*(*event).data.cast::<ngx_connection_t>()).data }
}

/// Sets the alarm.
///
/// # Safety
///
/// `event` is that of a [`Timer`] that is not dropped, and this is the main thread.
pub(super) unsafe fn set(event: *mut ngx_event_t, delay: Duration) {
    // nginx compares times by the sign of their difference, so this is the farthest that there is.
    const FARTHEST: ngx_msec_t = ngx_msec_t::MAX / 2;
    let delay = ngx_msec_t::try_from(delay.as_millis()).map_or(FARTHEST, |delay| delay.min(FARTHEST));
    // SAFETY: the caller's promise.
    unsafe { ngx_add_timer(event, delay) };
}
