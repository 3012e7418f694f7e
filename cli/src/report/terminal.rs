//! The terminal: its width, and how far the reading has come.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crawlpike_report::{Progress, Source};
use rustix::termios::tcgetwinsize;

/// How many characters a line of stdout has.
pub(super) fn width() -> usize {
    const USUAL: usize = 80;
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 => size.ws_col.into(),
        _ => USUAL,
    }
}

/// A line on stderr, if that is a terminal, that is replaced as more is read.
pub(super) struct Bar {
    total: u64,
    begin: Instant,
    shown: Option<Instant>,
    is_on: bool,
}

impl Bar {
    const EVERY: Duration = Duration::from_millis(200);
    const CELLS: u64 = 24;

    pub(super) fn new(logs: &[Source]) -> Self {
        let total = logs.iter().map(Source::size).sum();
        Self { total, begin: Instant::now(), shown: None, is_on: io::stderr().is_terminal() }
    }

    pub(super) fn show(&mut self, progress: Progress<'_>) {
        let now = Instant::now();
        if !self.is_on || now.duration_since(self.shown.unwrap_or(self.begin)) < Self::EVERY {
            return;
        }
        self.shown = Some(now);
        let line = self.line(progress.read, now.duration_since(self.begin));
        // The cursor returns to the start of the line, and the rest of the line is erased.
        let _ = write!(io::stderr(), "\r{line}\x1b[K");
    }

    fn line(&self, read: u64, time: Duration) -> String {
        let megabytes = |bytes: u64| bytes / 1_000_000;
        let rate = u128::from(read) * 1_000 / time.as_millis().max(1);
        let rate = megabytes(u64::try_from(rate).unwrap_or(u64::MAX));
        // Stdin has no size, and a log may grow.
        if self.total < read || self.total == 0 {
            return format!("{} MB read, {rate} MB/s", megabytes(read));
        }
        let part =
            |of: u64| u64::try_from(u128::from(read) * u128::from(of) / u128::from(self.total)).unwrap_or(of);
        let cells: String =
            (0..Self::CELLS).map(|cell| if cell < part(Self::CELLS) { '#' } else { '.' }).collect();
        format!("[{cells}] {} % of {} MB, {rate} MB/s", part(100), megabytes(self.total))
    }

    pub(super) fn clear(&self) {
        if self.shown.is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
