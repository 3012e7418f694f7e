//! nginx with a large feed that changes again and again: what that takes, in memory and time.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::http::{Request, Response};
use crate::lab::{HTTP, from, lab, unguarded};
use crate::nginx::{Nginx, ask};
use crate::ports::free_port;
use crate::proc::{Memory, children, forget_peak, memory, peak, threads};
use crate::process::wait_for;

/// nginx's workers.
const WORKERS: usize = 2;

/// A running nginx whose feed is large.
#[derive(Debug)]
pub struct LargeFeed {
    nginx: Nginx,
    port: u16,
    prefixes: usize,
    version: u16,
}

/// The memory of nginx's processes.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// The master.
    pub master: Memory,
    /// The worker that has most.
    pub worker: Memory,
}

impl LargeFeed {
    /// Starts it; `directives` go into the `http` block.
    pub fn start(prefixes: usize, directives: &str) -> Self {
        let (folder, port) = (lab(), free_port());
        folder.write("lab.txt", text(prefixes, 0));
        folder.write("crawlpike.json", unguarded());
        let server =
            format!("server {{ listen 127.0.0.1:{port}; location / {{ return 200 $crawlpike_identity; }} }}");
        let nginx = Nginx::start(folder, &format!("{HTTP} {directives} {server}"));
        let started = Self { nginx, port, prefixes, version: 0 };
        wait_for("the first version", || started.is_in_force().then_some(()));
        started
    }

    fn master(&self) -> i32 {
        self.nginx.server().pid().as_raw_nonzero().get()
    }

    /// Puts another version of the feed in the place of the last one.
    pub fn change(&mut self) {
        self.version += 1;
        self.nginx.folder().write("lab.txt", text(self.prefixes, self.version));
    }

    /// True if twenty requests are answered by the last version, and so probably every worker has it.
    pub fn is_in_force(&self) -> bool {
        let request = from(&only_in(self.version), Request::get("/").agent("LabBot/1.0"));
        let is_verified = |response: Response| response.text() == "verified";
        (0..20).all(|_| is_verified(ask(self.port, &request)))
    }

    /// Changes the feed, reloads, and gives the time until old workers are gone and new ones serve.
    pub fn reload(&mut self) -> Duration {
        self.change();
        let (start, old) = (Instant::now(), children(self.master()));
        self.nginx.reload();
        wait_for("new workers in place of the old ones", || {
            let new = children(self.master());
            (new.len() == WORKERS && new.iter().all(|one| !old.contains(one))).then_some(())
        });
        wait_for("the new version", || self.is_in_force().then_some(()));
        start.elapsed()
    }

    /// Changes the feed and gives the time until every worker answers by the new version, `act` having been called.
    pub fn time_to_effect(&mut self, act: impl FnOnce(&Nginx)) -> Duration {
        self.change();
        let start = Instant::now();
        act(&self.nginx);
        wait_for("the new version", || self.is_in_force().then_some(()));
        start.elapsed()
    }

    /// The most that the master had in memory since [`Self::forget_peak`], in KiB.
    pub fn peak(&self) -> u64 {
        peak(self.master())
    }

    /// Begins anew to note the most that the master has in memory.
    pub fn forget_peak(&self) {
        forget_peak(self.master());
    }

    /// True if no process crashed or logged an alert.
    pub fn is_unharmed(&self) -> bool {
        let log = self.nginx.folder().read("error.log");
        !log.contains("exited on signal") && !log.contains("[alert]")
    }

    /// The memory of its processes, while none of them is compiling.
    pub fn usage(&self) -> Usage {
        wait_for("workers at rest", || {
            children(self.master()).into_iter().all(|worker| threads(worker).len() <= 1).then_some(())
        });
        let workers = children(self.master()).into_iter().map(memory);
        let worker = workers.max_by_key(|memory| memory.resident).unwrap_or_default();
        Usage { master: memory(self.master()), worker }
    }
}

/// An address that only one version has.
fn only_in(version: u16) -> String {
    let [high, low] = version.to_be_bytes();
    format!("198.18.{high}.{low}")
}

/// A list of about so many prefixes, a fifth of them of IPv6, in no order.
fn text(prefixes: usize, version: u16) -> String {
    let mut text = format!("{}\n", only_in(version));
    for number in 1..prefixes {
        // An odd factor: no number comes twice.
        let scattered = number.wrapping_mul(2_654_435_761) & 0xff_ffff;
        let [_, high, middle, low] = u32::try_from(scattered).unwrap_or_default().to_be_bytes();
        let _ = match number % 5 {
            // Here are those of the versions.
            _ if high == 198 => Ok(()),
            0 => writeln!(text, "2a00:{high:02x}{middle:02x}:{low:02x}00::/40"),
            _ => writeln!(text, "{high}.{middle}.{low}.0/24"),
        };
    }
    text
}
