//! The time of the next request to a publisher: as its answer states by RFC 9111, or else about once a day (JAFAR-14, GEO-16),
//! and at most once an hour (JAFAR-15).

use std::time::{Duration, SystemTime};

use http_cache_semantics::{CacheOptions, CachePolicy};
use ureq::http::header::{self, HeaderMap, HeaderValue};
use ureq::http::{Method, Request, Response};

use crate::http::has_directive;

pub(super) const HOUR: i64 = 3600;

/// For how long an answer counts as fresh if its headers do not say so: about a day, and so much less that a daily timer
/// that does not start to the minute finds it due.
pub(super) const USUAL: i64 = 22 * HOUR;

/// The longest time for which an answer counts as fresh (GEO-16).
const LONGEST: i64 = 7 * 24 * HOUR;

/// The shortest time between two requests that `--watch` makes, whatever the headers allow.
pub(super) const SHORTEST: i64 = 60;

/// The first pause after a publisher could not be reached.
const FIRST_PAUSE: i64 = 5 * 60;

/// The longest pause after failures.
const LONGEST_PAUSE: i64 = 24 * HOUR;

/// For how many seconds an answer with these headers is fresh (JAFAR-16); 0 if it must be asked for each time.
pub(super) fn freshness(headers: &HeaderMap, now: SystemTime) -> i64 {
    let is_explicit = has_directive(headers, "max-age")
        || has_directive(headers, "no-cache")
        || headers.contains_key(header::EXPIRES);
    if !is_explicit || forbids_storing(headers) {
        return USUAL;
    }
    i64::try_from(time_to_live(headers, now).as_secs()).unwrap_or(LONGEST).min(LONGEST)
}

/// Returns true if nothing but the feed itself may be kept of an answer.
pub(super) fn forbids_storing(headers: &HeaderMap) -> bool {
    has_directive(headers, "no-store")
}

fn time_to_live(headers: &HeaderMap, now: SystemTime) -> Duration {
    let mut response = Response::new(());
    let wanted = [header::CACHE_CONTROL, header::EXPIRES, header::DATE, header::AGE];
    for name in wanted {
        for value in
            headers.get_all(&name).iter().filter(|value| name != header::AGE || is_short_number(value))
        {
            response.headers_mut().append(&name, value.clone());
        }
    }
    let request = Request::builder().method(Method::GET).uri("/").body(());
    let Ok(request) = request else { return Duration::ZERO };
    // Nobody shares our copy, and only what the publisher says explicitly counts.
    let options = CacheOptions {
        shared: false,
        cache_heuristic: 0.0,
        immutable_min_time_to_live: Duration::ZERO,
        ignore_cargo_cult: false,
    };
    CachePolicy::new_options(&request, &response, now, options).time_to_live(now)
}

/// The age in a header is added to times, which must not overflow.
fn is_short_number(value: &HeaderValue) -> bool {
    value.len() <= 9 && value.as_bytes().iter().all(u8::is_ascii_digit)
}

/// The pause in seconds after failures in a row. Random, so that clients that failed together do not
/// come back together. Unless the publisher says so, it is at most `longest`.
pub(super) fn pause(failures: u32, was_asked: bool, retry_after: Option<Duration>, longest: i64) -> i64 {
    if let Some(wanted) = retry_after {
        let wanted = i64::try_from(wanted.as_secs()).unwrap_or(LONGEST).clamp(SHORTEST, LONGEST);
        return jittered(wanted);
    }
    let first = if was_asked { HOUR } else { FIRST_PAUSE };
    let pause = first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LONGEST_PAUSE);
    match jittered(pause) {
        pause if pause <= longest => pause,
        _ => longest - fastrand::i64(0..=longest / 8),
    }
}

/// Up to an eighth more.
fn jittered(seconds: i64) -> i64 {
    seconds + fastrand::i64(0..=seconds / 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;
    use ureq::http::HeaderName;

    /// 2026-11-22 00:00:00 UTC.
    const NOW: u64 = 1_795_305_600;

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(NOW)
    }

    fn fresh(headers: &[(&str, &str)]) -> i64 {
        let headers = headers.iter().map(|(name, value)| {
            (HeaderName::try_from(*name).unwrap(), HeaderValue::try_from(*value).unwrap())
        });
        freshness(&headers.collect(), now())
    }

    #[test]
    fn an_answer_is_fresh_as_long_as_its_headers_say() {
        // JAFAR-16
        assert_eq!(fresh(&[("cache-control", "public, max-age=60")]), 60);
        assert_eq!(fresh(&[("cache-control", "max-age=600"), ("age", "540")]), 60);
        assert_eq!(fresh(&[("cache-control", "max-age=60"), ("age", "540")]), 0);
        assert_eq!(fresh(&[("cache-control", "s-maxage=60, max-age=300, private")]), 300);
        assert_eq!(fresh(&[("cache-control", "no-cache, max-age=300")]), 0);
        assert_eq!(fresh(&[("cache-control", "max-age=0, must-revalidate")]), 0);
        let date = ("date", "Sun, 22 Nov 2026 00:00:00 GMT");
        assert_eq!(fresh(&[date, ("expires", "Sun, 22 Nov 2026 02:00:00 GMT")]), 2 * HOUR);
        assert_eq!(fresh(&[date, ("expires", "0")]), 0);
        assert_eq!(fresh(&[("expires", "Sun, 22 Nov 2026 02:00:00 GMT"), ("cache-control", "max-age=5")]), 5);
    }

    #[test]
    fn without_a_word_an_answer_is_fresh_for_about_a_day() {
        // JAFAR-14, JAFAR-15: neither the age of the file nor a word against caching is a permission to come back.
        for headers in [
            &[][..],
            &[("last-modified", "Sun, 22 Nov 2026 00:00:00 GMT")],
            &[("cache-control", "no-store")],
            &[("cache-control", "no-store, max-age=5")],
            &[("cache-control", "public")],
            &[("cache-control", "s-maxage=60")],
        ] {
            assert_eq!(fresh(headers), USUAL, "{headers:?}");
        }
    }

    #[test]
    fn no_answer_is_fresh_for_more_than_a_week() {
        // GEO-16
        for headers in [
            &[("cache-control", "max-age=31536000, immutable")][..],
            &[("cache-control", "max-age=18446744073709551615")],
            &[("expires", "Fri, 31 Dec 9999 23:59:59 GMT")],
        ] {
            assert_eq!(fresh(headers), LONGEST, "{headers:?}");
        }
    }

    #[test]
    fn hostile_headers_do_no_harm() {
        for age in ["18446744073709551615", "-1", "1e9", "9999999999"] {
            assert_eq!(fresh(&[("cache-control", "max-age=60"), ("age", age)]), 60, "{age}");
        }
        assert_eq!(fresh(&[("cache-control", "max-age=99999999999999999999999")]), 0);
        assert_eq!(fresh(&[("cache-control", "max-age=,,=\"")]), 0);
        assert_eq!(fresh(&[("expires", "Mon, 01 Jan 0001 00:00:00 GMT"), ("date", "never")]), 0);
    }

    #[test]
    fn pauses_grow_and_are_not_all_alike() {
        let between = |pause: i64, least: i64| (least..=least + least / 8).contains(&pause);
        for (failures, unreached, asked) in
            [(1, FIRST_PAUSE, HOUR), (2, 2 * FIRST_PAUSE, 2 * HOUR), (4, 8 * FIRST_PAUSE, 8 * HOUR)]
        {
            assert!(between(pause(failures, false, None, i64::MAX), unreached));
            assert!(between(pause(failures, true, None, i64::MAX), asked));
            // SIG-8
            assert!((263..=300).contains(&pause(failures, true, None, 300)));
        }
        assert!(between(pause(u32::MAX, true, None, i64::MAX), LONGEST_PAUSE));
        let wanted = |seconds| pause(1, true, Some(Duration::from_secs(seconds)), 300);
        assert!(
            between(wanted(0), SHORTEST) && between(wanted(600), 600) && between(wanted(u64::MAX), LONGEST)
        );
        let pauses: std::collections::BTreeSet<i64> =
            (0..50).map(|_| pause(1, true, None, i64::MAX)).collect();
        assert!(pauses.len() > 1);
    }
}
