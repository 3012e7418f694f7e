//! The calls from nginx for a cycle: when it comes into service, when a process starts, and when a timer fires.

use std::ptr;
use std::time::Duration;

use ngx::core::{CoreModule, CoreModuleConfExt, NgxCoreModule, Status};
use ngx::ffi::{
    NGX_PROCESS_SINGLE, NGX_PROCESS_WORKER, ngx_core_conf_t, ngx_cycle_t, ngx_event_t, ngx_int_t,
    ngx_process, ngx_uint_t, ngx_worker,
};

use crate::nginx::main_conf::{MainSlot, is_configured, main_conf};
use crate::nginx::module::{Module, Worker};
use crate::nginx::panics::guard;
use crate::nginx::timer::{self, Timer};
use crate::nginx::types::Exported;
use crate::nginx::zone::Zone;

/// The delay of a timer after a panic.
const AFTER_A_PANIC: Duration = Duration::from_secs(60);

/// nginx has committed to a cycle.
pub(super) unsafe extern "C" fn init_module<M: Module + Exported>(cycle: *mut ngx_cycle_t) -> ngx_int_t {
    // SAFETY: nginx calls this in its main thread, with a cycle that it has made whole. The zone of the cycle retires with
    // its `MainSlot`.
    unsafe {
        guard::<M, _>((), |main_thread| {
            let main = main_conf::<M>(&*cycle);
            Zone::take_into_service(main.and_then(|main| main.zone.get()), main_thread);
            M::on_cycle(main.map(|main| &main.conf), main_thread, is_configured((*cycle).old_cycle));
        });
    }
    Status::NGX_OK.into()
}

/// A process with an event loop starts: a worker, the manager of a cache, or the only process.
pub(super) unsafe extern "C" fn init_process<M: Module + Exported>(cycle: *mut ngx_cycle_t) -> ngx_int_t {
    // SAFETY: nginx calls this in its main thread, before its event loop, with the cycle of the process. The timers are part
    // of the configuration that they point at. The log of the cycle lives as long.
    unsafe {
        guard::<M, _>((), |_| {
            let (Some(main), Some(worker)) = (main_conf::<M>(&*cycle), worker(cycle)) else { return };
            let timers = main.timers.get_or_init(|| M::TASKS.iter().map(|_| Timer::default()).collect());
            for (task, timer) in M::TASKS.iter().zip(timers) {
                if let Some(delay) = (task.start)(&main.conf, worker) {
                    timer.start((*cycle).log, ptr::from_ref(main).cast(), on_alarm::<M>, delay);
                }
            }
        });
    }
    Status::NGX_OK.into()
}

/// Which worker this process is. `None` if it serves no requests.
///
/// # Safety
///
/// `cycle` is the cycle of this process.
unsafe fn worker(cycle: *const ngx_cycle_t) -> Option<Worker> {
    const SINGLE: ngx_uint_t = NGX_PROCESS_SINGLE as ngx_uint_t;
    const WORKER: ngx_uint_t = NGX_PROCESS_WORKER as ngx_uint_t;
    // SAFETY: nginx sets these integers when it starts a process. The configuration of nginx's core module has this type.
    let (process, number, core) = unsafe {
        let core = (*cycle).core_main_conf_unchecked::<ngx_core_conf_t>(NgxCoreModule::module())?;
        (ngx_process, ngx_worker, core.as_ref())
    };
    match process {
        SINGLE => Some(Worker { number: 0, count: 1 }),
        WORKER => Some(Worker {
            number: u32::try_from(number).ok()?,
            count: u32::try_from(core.worker_processes).ok()?,
        }),
        _ => None,
    }
}

unsafe extern "C" fn on_alarm<M: Module + Exported>(event: *mut ngx_event_t) {
    // SAFETY: nginx calls this in its main thread, with the event of a timer that `init_process` started for this type of
    // configuration.
    unsafe {
        let main = &*timer::data(event).cast::<MainSlot<M>>();
        let delay = guard::<M, _>(Some(AFTER_A_PANIC), |main_thread| match main_thread.is_exiting() {
            true => None,
            false => {
                let timers = main.timers.get().map_or(&[][..], |timers| timers);
                let (task, _) = M::TASKS.iter().zip(timers).find(|(_, timer)| timer.has(event))?;
                (task.run)(&main.conf, main_thread)
            }
        });
        if let Some(delay) = delay {
            timer::set(event, delay);
        }
    }
}
