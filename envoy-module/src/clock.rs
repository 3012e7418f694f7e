//! The work beside requests, in threads of its own: watching files, and publishing metrics.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread::{self, Builder};
use std::time::Duration;

use crawlpike_files::Watch;

use crate::envoy::{LogLevel, Scheduler, catch, log};
use crate::source::Source;
use crate::{errors, statistics};

/// The time between two publications of numbers, and between two looks at files.
const TICK: Duration = Watch::SETTLING_TIME;

/// The number of the event by which numbers are published.
pub(crate) const PUBLISH: u64 = 0;

/// The ticks between two updates of the ages and states of feeds.
const TICKS_OF_FEEDS: u32 = 10;

/// The stack of a thread, in bytes. Pages that are not touched cost nothing.
const STACK: usize = 1 << 20;

/// The schedulers through which numbers can be published: one for each configuration that is in use.
static SCHEDULERS: Mutex<Vec<Arc<Scheduler>>> = Mutex::new(Vec::new());

/// True if there are numbers to publish, for an Envoy that can do so only in a stream.
static DUE: AtomicBool = AtomicBool::new(false);

/// Returns true if a stream must publish numbers, to one stream only.
pub(crate) fn take_turn() -> bool {
    DUE.load(Relaxed) && DUE.swap(false, Relaxed)
}

/// Has the main thread publish numbers through this configuration, until [`stop`].
pub(crate) fn publish_through(scheduler: &Arc<Scheduler>) {
    static STARTED: Once = Once::new();
    schedulers(|schedulers| schedulers.push(Arc::clone(scheduler)));
    STARTED.call_once(|| {
        start("crawlpike-clock", || {
            for tick in 1_u32.. {
                thread::sleep(TICK);
                contained(|| on_tick(tick));
            }
        });
    });
}

/// Ends [`publish_through`], because Envoy drops the configuration.
pub(crate) fn stop(scheduler: &Arc<Scheduler>) {
    schedulers(|schedulers| schedulers.retain(|one| !Arc::ptr_eq(one, scheduler)));
    scheduler.stop();
}

fn on_tick(tick: u32) {
    if tick.is_multiple_of(TICKS_OF_FEEDS) {
        Source::update_all();
    }
    if statistics::is_due() {
        DUE.store(true, Relaxed);
        // The newest configuration, because Envoy may be about to drop the others.
        let newest = schedulers(|schedulers| schedulers.last().cloned());
        if let Some(scheduler) = newest {
            scheduler.schedule(PUBLISH);
        }
    }
}

/// Watches the files of a source as long as it is in use. Each source has a thread: a network file system that hangs delays
/// no other source.
pub(crate) fn watch(source: &Arc<Source>) {
    let source = Arc::downgrade(source);
    start("crawlpike-watch", move || {
        loop {
            thread::sleep(TICK);
            let Some(source) = source.upgrade() else { return };
            contained(|| source.look());
        }
    });
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) {
    if let Err(error) = Builder::new().name(name.to_owned()).stack_size(STACK).spawn(work) {
        let message =
            format!("crawlpike: cannot start the thread {name}: {error}; changes will not be noticed");
        log(LogLevel::Error, &message);
    }
}

/// A panic ends no thread.
fn contained<T>(work: impl FnOnce() -> T) {
    if let Err(message) = catch(work) {
        errors::note(&message);
    }
}

fn schedulers<T>(work: impl FnOnce(&mut Vec<Arc<Scheduler>>) -> T) -> T {
    work(&mut SCHEDULERS.lock().unwrap_or_else(PoisonError::into_inner))
}
