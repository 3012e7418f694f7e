//! Envoy's log.

use super::abi::Buffer;
use super::callbacks;

/// The level of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum LogLevel {
    Debug = 1,
    Info = 2,
    Warn = 3,
    Error = 4,
}

/// Writes a message to the log of Envoy, from any thread.
pub(crate) fn log(level: LogLevel, message: &str) {
    let callbacks = callbacks();
    // SAFETY: both functions may be called at any time, and the message is read before they return.
    unsafe {
        if (callbacks.log_enabled)(level as u32) {
            (callbacks.log)(level as u32, Buffer::of(message.as_bytes()));
        }
    }
}
