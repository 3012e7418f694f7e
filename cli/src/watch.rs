//! Repeats work whenever one of its files changes, or on SIGHUP, until SIGTERM or SIGINT.

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use crawlpike_files::{Look, Snapshot, Watch};
use crawlpike_report::threads::start;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// After how many looks that find no change a delivery that failed is tried again.
const LOOKS_UNTIL_RETRY: u32 = 10;

/// Work that is repeated whenever one of its files changes.
pub(crate) trait Watched {
    /// The product that is made of the files.
    type Made;

    /// Makes the product; records each file before it reads it.
    fn make(&self, snapshot: &Snapshot) -> Self::Made;

    /// As [`Self::make`], of files that a look found changed. Nobody has asked for that, unlike at the start and on SIGHUP, so it
    /// may refuse more.
    fn make_of_changed(&self, snapshot: &Snapshot) -> Self::Made {
        self.make(snapshot)
    }

    /// Delivers the product. Returns it if that failed for reasons of its own: then it is tried again, although no file may
    /// change.
    fn deliver(&mut self, watch: &Watch, made: Self::Made) -> Option<Self::Made>;

    /// Is called after each look. Breaks off if it received a signal that ends the work.
    fn idle(&mut self, signals: &Receiver<i32>) -> ControlFlow<()>;
}

/// Makes the product and delivers it: now, after each change of the files that is over, on SIGHUP, and again after a failed
/// delivery.
///
/// # Errors
///
/// If signals cannot be received.
pub(crate) fn run(work: &mut impl Watched) -> io::Result<()> {
    let signals = signals()?;
    let mut watch = Watch::default();
    let mut look = watch.read(|snapshot| work.make(snapshot));
    // The product that could not be delivered, and the number of looks since.
    let mut undelivered = None;
    loop {
        undelivered = match (look, undelivered) {
            (Look::Changed { made, .. }, _)
            | (Look::Unchanged | Look::Waiting, Some((made, LOOKS_UNTIL_RETRY))) => {
                work.deliver(&watch, made).map(|made| (made, 0))
            }
            (Look::Unchanged | Look::Waiting, undelivered) => {
                undelivered.map(|(made, looks)| (made, looks + 1))
            }
            // If the files turn out to be as they were, it is still to be delivered.
            (Look::Changing, undelivered) => undelivered,
        };
        if work.idle(&signals).is_break() {
            return Ok(());
        }
        look = match signals.recv_timeout(Watch::SETTLING_TIME) {
            Ok(SIGHUP) => watch.read(|snapshot| work.make(snapshot)),
            Ok(_) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => watch.look(|snapshot| work.make_of_changed(snapshot)),
        };
    }
}

/// The signals of this process, as they come, instead of what they would do.
fn signals() -> io::Result<Receiver<i32>> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let (sender, receiver) = channel();
    let forward = move || signals.forever().try_for_each(|signal| sender.send(signal));
    start(forward)?;
    Ok(receiver)
}
