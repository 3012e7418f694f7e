//! Feeds that become old.

use crawlpike_core::{FeedState, Identity, NoFiles, Ruleset};

use crate::fixture::{DAY, MODIFIED, Memory, asked_at, jafar, said, states};

#[test]
fn a_last_good_version_ages_from_when_it_was_written() {
    let mut memory = Memory::new();
    memory.load();
    memory.put("a.json", jafar(1, 4));
    let compiled = memory.load();
    assert_eq!(states(&compiled, MODIFIED + 6 * DAY - 1), [FeedState::Held, FeedState::Ok]);
    assert_eq!(states(&compiled, MODIFIED + 6 * DAY), [FeedState::Stale, FeedState::Ok]);
}

#[test]
fn a_stale_feed_neither_proves_nor_condemns() {
    let compiled = Memory::new().load();
    let ruleset = compiled.ruleset.as_ref().unwrap();
    let until = MODIFIED + 7 * DAY;
    for (now, inside, outside) in [
        (until - 1, Identity::Verified, Identity::Spoofed),
        (until, Identity::Unverified, Identity::Unverified),
    ] {
        assert_eq!(asked_at(ruleset, "11.1.0.1", "ABot/1.0", now).identity, inside);
        assert_eq!(asked_at(ruleset, "11.9.0.1", "ABot/1.0", now).identity, outside);
    }
    assert_eq!(
        asked_at(
            ruleset,
            "11.1.0.1",
            "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            until
        )
        .identity,
        Identity::None
    );
    assert_eq!(asked_at(ruleset, "11.2.0.1", "BBot/1.0", until).identity, Identity::Verified);
    assert_eq!(states(&compiled, until), [FeedState::Stale, FeedState::Ok]);
}

#[test]
fn a_stale_feed_shows_no_prefixes_and_says_how_old_it_is() {
    let mut compiled = Memory::new().load();
    let until = MODIFIED + 7 * DAY;
    let shown = |now| {
        let feed = compiled.ruleset.as_ref().unwrap().feeds(now).next().unwrap();
        (feed.prefixes, feed.age, feed.why.map(String::from))
    };
    assert_eq!(shown(until - 1), (40, Some(7 * 86_400 - 1), None));
    let why = "it is 8d 1h old, over its `max_age` of 7d".to_string();
    assert_eq!(shown(until + DAY + 3600), (0, Some(8 * 86_400 + 3600), Some(why)));
    compiled.warn_of_stale_feeds("c.json", until);
    assert_eq!(
        said(&compiled),
        "c.json: warning: the feed `a` is stale: it is 7d old, over its `max_age` of 7d; it verifies no client, and \
         clients that claim its agents are `unverified`, not `spoofed`\n"
    );
}

#[test]
fn a_date_in_the_future_makes_a_feed_stale() {
    let compiled = Memory::new().load();
    let seen = |now| {
        (
            states(&compiled, now)[0],
            asked_at(compiled.ruleset.as_ref().unwrap(), "11.9.0.1", "ABot/1.0", now).identity,
        )
    };
    // Clocks differ, but not by days.
    assert_eq!(seen(MODIFIED - DAY), (FeedState::Ok, Identity::Spoofed));
    assert_eq!(seen(MODIFIED - DAY - 1), (FeedState::Stale, Identity::Unverified));
    let feed = compiled.ruleset.as_ref().unwrap().feeds(MODIFIED - 2 * DAY).next().unwrap();
    assert_eq!(feed.why.as_deref(), Some("its date is 2d in the future; check the clock and the file"));
}

#[test]
fn a_gate_learns_once_that_a_feed_became_stale() {
    let compiled = Memory::new().load();
    let ruleset = compiled.ruleset.as_ref().unwrap();
    let until = MODIFIED + 7 * DAY;
    let mut asked = MODIFIED;
    let mut told = Vec::new();
    for now in [until - 60, until - 1, until, until + 1, until + 60, until + DAY] {
        told.extend(ruleset.became_stale(asked, now).map(|feed| (now, feed.name, feed.state)));
        asked = now;
    }
    assert_eq!(told, [(until, "a", FeedState::Stale)]);
    // A message that a load has given is not repeated.
    assert_eq!(ruleset.became_stale(until + 5, until + DAY).count(), 0);
}

#[test]
fn a_limit_without_a_date_is_no_silent_one() {
    let document = r#"{ "catalog": "none", "agents": [ { "token": "A", "feeds": ["a"] } ],
        "feeds": [ { "name": "a", "format": "cidr", "source": "a.txt", "max_age": "7d" } ],
        "files": { "a.txt": { "text": "192.0.2.0/24" } } }"#;
    let compiled = Ruleset::compile("c.json", document.as_bytes(), &NoFiles);
    assert_eq!(
        said(&compiled),
        "c.json:2:63: warning: `max_age` of the feed `a` has no effect: the age of its file is unknown\n"
    );
    assert_eq!(states(&compiled, i64::MAX), [FeedState::Ok]);
}
