//! Doing something again whenever one of its files changes, or SIGHUP asks for it, until SIGTERM or SIGINT.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use crawlpike_files::{Look, Snapshot, Watch};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// After how many looks that find no change a delivery that failed is tried again.
const LOOKS_UNTIL_RETRY: u32 = 10;

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Nothing is left to do before a file changes.
    Done,
    /// It failed for reasons of its own: no file may change, and it has to be tried again.
    Failed,
}

/// Makes something of files with `make`, which records each file before it reads it, and delivers it: now, after each
/// change of the files that is over, on SIGHUP, and again after a failed delivery. Calls `idle` after each look.
///
/// # Errors
///
/// If signals cannot be received.
pub(crate) fn run<T>(
    mut make: impl FnMut(&Snapshot) -> T,
    mut deliver: impl FnMut(&Watch, &mut T) -> Delivery,
    mut idle: impl FnMut(),
) -> io::Result<()> {
    let signals = signals()?;
    let mut watch = Watch::default();
    let mut look = watch.read(&mut make);
    // What could not be delivered, and the number of looks since.
    let mut undelivered = None;
    loop {
        undelivered = match (look, undelivered) {
            (Look::Changed { mut made, .. }, _) | (Look::Unchanged, Some((mut made, LOOKS_UNTIL_RETRY))) => {
                (deliver(&watch, &mut made) == Delivery::Failed).then_some((made, 0))
            }
            (Look::Unchanged, undelivered) => undelivered.map(|(made, looks)| (made, looks + 1)),
            // What was made of the files as they were is of no use.
            (Look::Changing, _) => None,
        };
        idle();
        look = match signals.recv_timeout(Watch::SETTLING_TIME) {
            Ok(SIGHUP) => watch.read(&mut make),
            Ok(_) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => watch.look(&mut make),
        };
    }
}

/// The signals of this process, as they come, instead of what they would do.
pub(crate) fn signals() -> io::Result<Receiver<i32>> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let (sender, receiver) = channel();
    thread::spawn(move || signals.forever().try_for_each(|signal| sender.send(signal)));
    Ok(receiver)
}
