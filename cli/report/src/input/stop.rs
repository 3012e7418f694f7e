//! An end before the end: whoever interrupts a long report wants what there is.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// A flag that ends the reading of logs once it is set, such as by a signal.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// The flag itself, for a signal handler.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A file that ends once the flag is set, even if it is a pipe in which nothing comes.
#[derive(Debug)]
pub(super) struct Stoppable {
    file: File,
    stop: Stop,
    /// False for a regular file, which never makes its reader wait.
    waits: bool,
}

/// The time after which the flag is looked at again while nothing comes.
const PATIENCE: Duration = Duration::from_millis(200);

impl Stoppable {
    pub(super) fn new(file: File, stop: Stop) -> io::Result<Self> {
        let waits = !file.metadata()?.is_file();
        Ok(Self { file, stop, waits })
    }

    /// Waits for bytes; false if the flag was set first.
    fn has_more(&self) -> io::Result<bool> {
        let patience = Timespec::try_from(PATIENCE).map_err(io::Error::other)?;
        while !self.stop.is_set() {
            if !self.waits {
                return Ok(true);
            }
            let mut polled = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut polled, Some(&patience)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }
}

impl Read for Stoppable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.has_more()? { self.file.read(buffer) } else { Ok(0) }
    }
}
