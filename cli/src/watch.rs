//! Doing something again whenever one of its files changes, or SIGHUP asks for it, until SIGTERM or SIGINT.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crawlward_host::Seen;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// How often files are looked at.
const INTERVAL: Duration = Duration::from_secs(1);

/// Calls `act`, which notes the files that it reads, now, after each change of one of them, and on SIGHUP. A change
/// counts when it is over: when nothing has changed any more for a second.
///
/// # Errors
///
/// Where signals can't be received.
pub(crate) fn run(mut act: impl FnMut(&Seen)) -> io::Result<()> {
    let signals = signals()?;
    loop {
        let seen = Seen::default();
        act(&seen);
        let mut before = seen.clone();
        loop {
            match signals.recv_timeout(INTERVAL) {
                Ok(SIGHUP) => break,
                Ok(_) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    let now = seen.now();
                    if now != seen && now == before {
                        break;
                    }
                    before = now;
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
