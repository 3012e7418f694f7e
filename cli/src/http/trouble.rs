//! The reasons why requests fail, and the time of the next attempt.

use std::fmt::Display;
use std::time::{Duration, SystemTime};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;
use ureq::http::StatusCode;
use ureq::http::header::{self, HeaderMap};

use super::Redirect;

/// The reason why a request failed.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    pub(crate) reason: String,
    /// True if the publisher was reached.
    pub(crate) was_asked: bool,
    /// True if we do not go where the publisher, or a name, leads.
    pub(crate) is_refused: bool,
    /// The status of the answer, if it was refused for it.
    pub(crate) status: Option<u16>,
    /// When the publisher wants to be asked again.
    pub(crate) retry_after: Option<Duration>,
    pub(crate) redirects: Vec<Redirect>,
}

impl Trouble {
    pub(super) fn unreached(reason: impl Display) -> Self {
        Self { reason: reason.to_string(), ..Self::default() }
    }

    pub(super) fn refused(reason: impl Display) -> Self {
        Self { is_refused: true, ..Self::answered(reason) }
    }

    pub(crate) fn answered(reason: impl Display) -> Self {
        Self { was_asked: true, ..Self::unreached(reason) }
    }
}

/// The trouble with an answer of another status than 200.
pub(super) fn refusal(status: StatusCode, headers: &HeaderMap) -> Trouble {
    let advice = match status.as_u16() {
        304 => ", although the request was not conditional",
        401 => "; it needs a login, which is not supported",
        403 => "; the server does not give it to this machine, or has moved it: check the URL",
        404 | 410 => "; check the URL",
        _ => "",
    };
    let retry_after = headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = retry_after.and_then(|text| seconds_or_date(text, SystemTime::now()));
    Trouble {
        status: Some(status.as_u16()),
        retry_after,
        ..Trouble::answered(format!("the answer is {status}{advice}"))
    }
}

/// The time in a Retry-After: seconds, or a date.
fn seconds_or_date(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = SystemTime::from(OffsetDateTime::parse(text, &Rfc2822).ok()?);
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        // 2026-11-22 00:00:00 UTC.
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_305_600);
        let seconds = |text| seconds_or_date(text, now).map(|time| time.as_secs());
        assert_eq!(seconds(" 120 "), Some(120));
        assert_eq!(seconds("Sun, 22 Nov 2026 00:01:00 GMT"), Some(60));
        assert_eq!(seconds("Sat, 21 Nov 2026 00:01:00 GMT"), Some(0));
        assert_eq!(seconds("soon"), None);
    }
}
