//! Calls out of the sandbox through the SDK, and the refusals of the host.

use std::fmt;
use std::time::Duration;

use proxy_wasm::hostcalls;
use proxy_wasm::types::Status;

/// A call that the host did not carry out.
#[derive(Clone, Copy, Debug)]
pub struct Refused {
    /// Its name.
    pub call: &'static str,
    /// The host's answer.
    pub status: u32,
}

impl Refused {
    /// The refusal of a call that the SDK made.
    pub fn of(call: &'static str) -> impl FnOnce(Status) -> Self {
        move |status| Self { call, status: status as u32 }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the host refused {} with status {}", self.call, self.status)
    }
}

/// Has the host call `on_tick` of the current plugin in this period; never again where it is zero.
pub fn tick_every(period: Duration) -> Result<(), Refused> {
    hostcalls::set_tick_period(period).map_err(Refused::of("proxy_set_tick_period_milliseconds"))
}
