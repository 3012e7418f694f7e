//! Load while something happens to a server: every response is checked.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::http::{self, Request};

/// A request with the status that each of its responses must have.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The request.
    pub request: Request,
    /// The status.
    pub status: u16,
}

/// The result of a load.
#[derive(Debug)]
pub struct Report {
    /// The number of requests that were sent.
    pub requests: usize,
    /// The failures of some of them; at most a few are kept.
    pub failures: Vec<String>,
}

/// A sign for clients in other threads that they are to stop.
#[derive(Debug, Default)]
pub struct Over(AtomicBool);

impl Over {
    /// True if clients are to stop.
    pub fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Has clients stop when this is dropped, also by a panic: they would go on, and the test never end.
    pub fn ends_with_this(&self) -> impl Drop + '_ {
        struct Ends<'a>(&'a AtomicBool);
        impl Drop for Ends<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        Ends(&self.0)
    }
}

/// The number of failures that are reported: one cause often has thousands of them.
const REPORTED: usize = 20;
const CLIENTS: usize = 4;

/// Sends the probes from four clients, a connection for each request, while `event` happens ten times, a second
/// apart.
pub fn ten_seconds(address: SocketAddr, probes: &[Probe], mut event: impl FnMut(usize)) -> Report {
    during(address, probes, || {
        for number in 0..10 {
            // The pace of the load, not a wait for anything.
            thread::sleep(Duration::from_secs(1));
            event(number);
        }
    })
}

/// Sends the probes from four clients, a connection for each request, until `happen` returns.
pub fn during(address: SocketAddr, probes: &[Probe], happen: impl FnOnce()) -> Report {
    let over = Over::default();
    let requests = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let client = |first: usize| {
        for probe in probes.iter().cycle().skip(first) {
            if over.is_over() {
                return;
            }
            requests.fetch_add(1, Ordering::Relaxed);
            let failure = match http::send(address, &probe.request) {
                Ok(response) if response.status == probe.status => continue,
                Ok(response) => {
                    format!("{} instead of {}: {:?}", response.status, probe.status, probe.request)
                }
                Err(error) => format!("{error}: {:?}", probe.request),
            };
            let mut failures = failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if failures.len() < REPORTED {
                failures.push(failure);
            }
        }
    };
    thread::scope(|scope| {
        for first in 0..CLIENTS {
            scope.spawn(move || client(first));
        }
        let _ends = over.ends_with_this();
        happen();
    });
    Report {
        requests: requests.into_inner(),
        failures: failures.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner),
    }
}
