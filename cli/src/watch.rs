//! Doing something again whenever one of its files changes, or SIGHUP asks for it, until SIGTERM or SIGINT.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use crawlward_host::{Change, Watch};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// After how many looks that see no change something is tried again that failed for reasons of its own.
const LOOKS_UNTIL_RETRY: u32 = 10;

/// Whether there is anything left to do before a file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// It failed, whatever the files are like: so no change of them may come, and it is to be tried again.
    Failed,
}

/// Calls `act`, which lets the watch take the files that it reads, now, after each change of one of them that is over,
/// on SIGHUP, and again where it failed.
///
/// # Errors
///
/// Where signals can't be received.
pub(crate) fn run(mut act: impl FnMut(&mut Watch) -> Outcome) -> io::Result<()> {
    let signals = signals()?;
    let mut watch = Watch::default();
    loop {
        let outcome = act(&mut watch);
        let mut looks = 0;
        loop {
            match signals.recv_timeout(Watch::MOMENT) {
                Ok(SIGHUP) => {
                    watch.look();
                    break;
                }
                Ok(_) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    looks += 1;
                    match watch.look() {
                        Change::Over => break,
                        Change::None if outcome == Outcome::Failed && looks >= LOOKS_UNTIL_RETRY => break,
                        Change::None | Change::UnderWay => {}
                    }
                }
            }
        }
    }
}

/// The signals of this process, as they come, instead of what they would do.
fn signals() -> io::Result<Receiver<i32>> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let (sender, receiver) = channel();
    thread::spawn(move || signals.forever().try_for_each(|signal| sender.send(signal)));
    Ok(receiver)
}
