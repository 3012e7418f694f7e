//! The refusals of the host.

use std::fmt;

/// A call that the host did not carry out.
#[derive(Clone, Copy, Debug)]
pub struct Refused {
    /// Its name.
    pub call: &'static str,
    /// The host's answer.
    pub status: u32,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the host refused {} with status {}", self.call, self.status)
    }
}
