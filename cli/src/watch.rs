//! Doing something again whenever one of its files changes, or SIGHUP asks for it, until SIGTERM or SIGINT.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use crawlward_host::{Change, Watch};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Calls `act`, which lets the watch take the files that it reads, now, after each change of one of them that is over,
/// and on SIGHUP.
///
/// # Errors
///
/// Where signals can't be received.
pub(crate) fn run(mut act: impl FnMut(&mut Watch)) -> io::Result<()> {
    let signals = signals()?;
    let mut watch = Watch::default();
    loop {
        act(&mut watch);
        loop {
            match signals.recv_timeout(Watch::MOMENT) {
                Ok(SIGHUP) => {
                    watch.look();
                    break;
                }
                Ok(_) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    if watch.look() == Change::Over {
                        break;
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
