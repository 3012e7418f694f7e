//! The choice of a feed's version as a fetcher makes it, which has bytes from the network and no file.

use std::sync::LazyLock;

use crawlpike_core::internals::{Candidate, Guard, Proving, ReadOptions, Terms, Unavailable, Version};
use crawlpike_core::{FeedFormat, FeedState};

/// When the answer came.
const NOW: i64 = 1_767_225_600;

fn list(second: u8, count: u8) -> String {
    (0..count).map(|third| format!("10.{second}.{third}.0/24\n")).collect()
}

fn version(terms: &Terms<'_>, text: &str) -> Result<Version, Unavailable> {
    Version::read(text.as_bytes().to_vec(), Some(NOW), "https://a.example/ranges.txt", terms)
        .map_err(Unavailable::Unusable)
}

/// The requirements for a feed of this name.
fn terms(name: &'static str) -> Terms<'static> {
    static GUARD: LazyLock<Guard> = LazyLock::new(Guard::default);
    Terms {
        name,
        format: FeedFormat::Cidr,
        options: ReadOptions::default(),
        guard: &GUARD,
        proving: &Proving::Everything,
    }
}

/// The result for an answer if 40 prefixes are good: the state, the number of prefixes in force and the reason.
fn fetched(answer: &str, others: &[&Candidate<'_>]) -> (FeedState, usize, String) {
    let last_good = Some((list(1, 40).into_bytes().into(), Some(NOW - 1)));
    let candidate = Candidate::new(terms("a"), version(&terms("a"), answer), last_good);
    let objection = candidate.objection(others.iter().copied());
    let choice = candidate.choose(objection, false).expect("there is a good one");
    let version = choice.version.expect("there is a good one");
    assert_eq!(version.current_at, Some(if choice.state == FeedState::Ok { NOW } else { NOW - 1 }));
    (choice.state, version.content.entries.len(), choice.why.unwrap_or_default())
}

#[test]
fn an_answer_is_taken_held_or_refused_with_a_reason() {
    assert_eq!(fetched(&list(1, 45), &[]), (FeedState::Ok, 45, String::new()));
    let why = "it shrank from 40 to 3 prefixes, by more than 50%";
    assert_eq!(fetched(&list(1, 3), &[]), (FeedState::Held, 40, why.into()));
    // JAFAR-24: neither is a feed.
    let (state, prefixes, why) = fetched("<!doctype html><title>moved</title>", &[]);
    assert_eq!((state, prefixes), (FeedState::Held, 40));
    assert!(why.starts_with("https://a.example/ranges.txt: this is HTML, not a list"), "{why}");
    assert_eq!(fetched("", &[]), (FeedState::Held, 40, "it became empty, after 40 prefixes".into()));
}

#[test]
fn the_answer_of_another_feed_is_called_so() {
    let b = terms("b");
    let in_force = Candidate::new(b, version(&b, &list(2, 40)), None);
    let why = "it has the prefixes of `b`; check whether the files are swapped";
    assert_eq!(fetched(&list(2, 40), &[&in_force]), (FeedState::Held, 40, why.into()));
    // It has changed since: most prefixes are still those of `b`.
    assert_eq!(fetched(&list(2, 45), &[&in_force]), (FeedState::Held, 40, why.into()));
    // Half of them are not most.
    let why = "40 of its 40 prefixes are gone, more than 70%";
    let half = list(2, 40) + &list(3, 40);
    let (state, prefixes, said) = fetched(&half, &[&in_force]);
    assert_eq!((state, prefixes, &*said), (FeedState::Held, 40, why));
    let one_more = Candidate::new(b, version(&b, &list(2, 41)), None);
    assert_eq!(fetched(&half, &[&one_more]).2, why);
    // Its own list may grow, but not to exactly that of another.
    let longer = Candidate::new(b, version(&b, &list(1, 45)), None);
    let why = "it has the prefixes of `b`; check whether the files are swapped";
    assert_eq!(fetched(&list(1, 45), &[&longer]), (FeedState::Held, 40, why.into()));
    assert_eq!(fetched(&list(1, 46), &[&longer]), (FeedState::Ok, 46, String::new()));
    let swapped =
        Candidate::new(b, version(&b, &list(1, 40)), Some((list(2, 40).into_bytes().into(), Some(NOW - 1))));
    let why = "the files of `a` and `b` are swapped";
    assert_eq!(fetched(&list(2, 40), &[&swapped]), (FeedState::Held, 40, why.into()));
    // Two feeds that always were copies of one list may stay so.
    assert_eq!(fetched(&list(1, 40), &[&swapped]), (FeedState::Ok, 40, String::new()));
    let copy = Candidate::new(b, version(&b, &list(1, 40)), None);
    let with_comment = format!("# today\n{}", list(1, 40));
    assert_eq!(fetched(&with_comment, &[&copy]), (FeedState::Ok, 40, String::new()));
}

/// JAFAR-7: a version that was made earlier than the one in force, by mistake or by a cache.
#[test]
fn a_version_from_the_past_is_held() {
    let terms = Terms { format: FeedFormat::Jafar, ..terms("a") };
    let made = |day: u8, last: u8| {
        let time = format!("2026-01-{day:02}T00:00:00Z");
        format!(
            r#"{{"creationTime":"{time}","prefixes":[{{"ipv4Prefix":"10.0.{last}.0/24"}},{{"ipv4Prefix":"10.1.0.0/16"}}]}}"#
        )
    };
    let why = |new: String| {
        let good = Some((made(5, 1).into_bytes().into(), Some(NOW - 1)));
        Candidate::new(terms, version(&terms, &new), good).objection([].into_iter())
    };
    let past = "its creationTime is earlier than that of the last good version";
    assert_eq!(
        [why(made(4, 2)).as_deref(), why(made(5, 2)).as_deref(), why(made(6, 2)).as_deref()],
        [Some(past), None, None]
    );
}

#[test]
fn a_first_answer_that_cannot_be_read_is_refused() {
    let candidate = Candidate::new(terms("a"), version(&terms("a"), "<html>"), None);
    assert_eq!(candidate.objection([].into_iter()), None);
    let reasons = candidate.choose(None, false).unwrap_err();
    assert!(reasons[0].to_string().starts_with("https://a.example/ranges.txt: error: this is HTML"));
}

#[test]
fn only_a_feed_that_had_prefixes_becomes_empty() {
    let became_empty = |new: &str, good: &str| {
        let good = Some((good.as_bytes().to_vec().into(), Some(NOW - 1)));
        Candidate::new(terms("a"), version(&terms("a"), new), good).became_empty()
    };
    assert!(became_empty("", &list(1, 40)));
    assert!(!became_empty("# nobody yet\n", "") && !became_empty("", "") && !became_empty(&list(1, 40), ""));
}

#[test]
fn an_empty_first_version_becomes_good_only_if_it_is_accepted() {
    let becomes_good = |is_accepted| {
        let candidate = Candidate::new(terms("a"), version(&terms("a"), ""), None);
        candidate.choose(None, is_accepted).unwrap().is_new
    };
    assert_eq!([false, true].map(becomes_good), [false, true]);
}

#[test]
fn an_answer_that_is_known_is_nothing_new() {
    let last_good = Some((list(1, 40).into_bytes().into(), Some(NOW - 1)));
    let candidate = Candidate::new(terms("a"), version(&terms("a"), &list(1, 40)), last_good);
    let choice = candidate.choose(None, false).unwrap();
    // It is as old as the answer, not as the copy.
    assert_eq!((choice.is_new, choice.version.unwrap().current_at), (false, Some(NOW)));
}
