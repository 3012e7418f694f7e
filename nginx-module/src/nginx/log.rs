//! Lines of the error log.

use std::borrow::Cow;
use std::ptr::NonNull;

use ngx::ffi::{
    NGX_LOG_ALERT, NGX_LOG_DEBUG, NGX_LOG_EMERG, NGX_LOG_ERR, NGX_LOG_INFO, NGX_LOG_NOTICE, NGX_LOG_WARN,
    ngx_log_t, ngx_uint_t,
};
use ngx::log::log_error;

/// The severity of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogLevel(ngx_uint_t);

impl LogLevel {
    pub(super) const EMERG: Self = Self(NGX_LOG_EMERG as ngx_uint_t);
    pub(crate) const ALERT: Self = Self(NGX_LOG_ALERT as ngx_uint_t);
    pub(crate) const ERROR: Self = Self(NGX_LOG_ERR as ngx_uint_t);
    pub(crate) const WARN: Self = Self(NGX_LOG_WARN as ngx_uint_t);
    pub(crate) const NOTICE: Self = Self(NGX_LOG_NOTICE as ngx_uint_t);
    const INFO: Self = Self(NGX_LOG_INFO as ngx_uint_t);
    pub(crate) const DEBUG: Self = Self(NGX_LOG_DEBUG as ngx_uint_t);

    /// A level that `limit_req_log_level` accepts.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        match word {
            "info" => Some(Self::INFO),
            "notice" => Some(Self::NOTICE),
            "warn" => Some(Self::WARN),
            "error" => Some(Self::ERROR),
            _ => None,
        }
    }

    pub(super) fn number(self) -> ngx_uint_t {
        self.0
    }
}

/// Writes a line, if the log takes lines of this level.
///
/// # Safety
///
/// `log` is live, and this is nginx's main thread.
pub(super) unsafe fn write(log: NonNull<ngx_log_t>, level: LogLevel, message: impl FnOnce() -> String) {
    // SAFETY: the caller's promise.
    unsafe {
        if (*log.as_ptr()).log_level >= level.number() {
            log_error(level.number(), log.as_ptr(), 0, printable(&message()).as_bytes());
        }
    }
}

/// The message with its control characters escaped. Names come from files, and values of variables can come from clients:
/// neither may start a line of its own or control the terminal that shows the log.
pub(super) fn printable(message: &str) -> Cow<'_, str> {
    if !message.contains(char::is_control) {
        return Cow::Borrowed(message);
    }
    let mut text = String::with_capacity(message.len());
    for character in message.chars() {
        match character.is_control() {
            true => text.extend(character.escape_default()),
            false => text.push(character),
        }
    }
    Cow::Owned(text)
}
