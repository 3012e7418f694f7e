//! Which version of a feed is in force, and why.

use std::collections::HashMap;

use crawlpike_core::{Compiled, FeedState, Identity, NoFiles, Ruleset};

use crate::fixture::{DOCUMENT, MODIFIED, Memory, identity, jafar, said, states};

#[test]
fn a_good_feed_proves_and_condemns() {
    let compiled = Memory::new().load();
    assert_eq!(said(&compiled), "");
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Ok; 2]);
    assert_eq!(identity(&compiled, "11.1.39.255", "ABot/1.0"), Identity::Verified);
    assert_eq!(identity(&compiled, "11.1.40.0", "ABot/1.0"), Identity::Spoofed);
    assert_eq!(identity(&compiled, "::ffff:11.1.0.1", "ABot/1.0"), Identity::Verified);
}

#[test]
fn jafar_9_a_feed_without_prefixes_counts_as_missing() {
    let mut memory = Memory::new();
    memory.put("a.json", jafar(1, 0));
    let compiled = memory.load();
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Missing, FeedState::Ok]);
    assert_eq!(identity(&compiled, "11.1.0.1", "ABot/1.0"), Identity::Unverified);
    assert!(said(&compiled).contains("the feed `a` is missing: it has no prefixes;"), "{}", said(&compiled));
}

#[test]
fn a_missing_feed_condemns_nobody() {
    let mut memory = Memory::new();
    memory.files.remove("a.json");
    let compiled = memory.load();
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Missing, FeedState::Ok]);
    assert_eq!(identity(&compiled, "11.9.0.1", "ABot/1.0"), Identity::Unverified);
    assert_eq!(
        said(&compiled),
        "c.json:5:49: warning: the feed `a` is missing: the file a.json does not exist; it verifies no client, and clients \
         that claim its agents are `unverified`, not `spoofed`\n"
    );
}

#[test]
fn a_broken_first_feed_refuses_the_configuration() {
    let mut memory = Memory::new();
    memory.put("a.json", "<!doctype html><title>502 Bad Gateway</title>");
    let compiled = memory.load();
    assert!(compiled.ruleset.is_none());
    assert!(said(&compiled).contains("a.json: error: this is HTML, not JSON"), "{}", said(&compiled));
    // Nothing is in force that could be kept.
    assert_eq!(said(&compiled).lines().count(), 1, "{}", said(&compiled));
}

#[test]
fn jafar_3_the_last_good_version_stays_in_force() {
    for broken in [
        "<!doctype html><title>502 Bad Gateway</title>".to_string(),
        String::new(),
        jafar(1, 40).replace("1.0", "2.0"),
        jafar(1, 40)[..300].to_string(),
    ] {
        let mut memory = Memory::new();
        memory.load();
        memory.put("a.json", broken.clone());
        let compiled = memory.load();
        assert_eq!(states(&compiled, MODIFIED), [FeedState::Held, FeedState::Ok], "{broken}");
        assert_eq!(identity(&compiled, "11.1.39.1", "ABot/1.0"), Identity::Verified, "{broken}");
        assert_eq!(identity(&compiled, "11.9.0.1", "ABot/1.0"), Identity::Spoofed, "{broken}");
        assert!(said(&compiled).contains("the last good version stays in force"), "{}", said(&compiled));
        assert_eq!(memory.good["a.json"], jafar(1, 40).into_bytes(), "{broken}");
    }
    let mut memory = Memory::new();
    memory.load();
    memory.files.remove("a.json");
    let compiled = memory.load();
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Held, FeedState::Ok]);
    assert_eq!(identity(&compiled, "11.1.39.1", "ABot/1.0"), Identity::Verified);
}

#[test]
fn a_suspicious_version_is_held_until_it_is_accepted() {
    let mut memory = Memory::new();
    memory.load();
    // The two agents' files swapped.
    memory.put("a.json", jafar(2, 50));
    memory.put("b.json", jafar(1, 40));
    let compiled = memory.load();
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Held; 2]);
    assert_eq!(identity(&compiled, "11.1.0.1", "ABot/1.0"), Identity::Verified);
    assert_eq!(identity(&compiled, "11.2.0.1", "ABot/1.0"), Identity::Spoofed);
    let messages = said(&compiled);
    assert!(messages.contains("the files of `a` and `b` are swapped"), "{messages}");

    memory.put("a.json", jafar(1, 4));
    memory.put("b.json", jafar(2, 50));
    assert_eq!(states(&memory.load(), MODIFIED), [FeedState::Held, FeedState::Ok]);
    memory.accepted.push("a".to_string());
    assert_eq!(states(&memory.load(), MODIFIED), [FeedState::Ok; 2]);
    // Once let in, it is the last good one.
    memory.accepted.clear();
    let compiled = memory.load();
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Ok; 2]);
    assert_eq!(identity(&compiled, "11.1.4.1", "ABot/1.0"), Identity::Spoofed);
}

#[test]
fn a_first_feed_that_claims_everything_proves_nobody() {
    let mut memory = Memory::new();
    memory.put("a.json", jafar(1, 1).replace("11.1.0.0/24", "0.0.0.0/0"));
    let compiled = memory.load();
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Held, FeedState::Ok]);
    assert_eq!(identity(&compiled, "11.1.0.1", "ABot/1.0"), Identity::Unverified);
}

#[test]
fn the_limits_of_a_feed_are_those_of_the_document() {
    for (limits, message) in [
        (r#"{ "entries": 39 }"#, "error: more than 39 entries; the feed is refused"),
        (r#"{ "bytes": 1000 }"#, " bytes; the limit is 1000 [JAFAR-1]"),
        (r#"{ "nesting": 2 }"#, "arrays and objects are nested more than 2 levels deep [JAFAR-1]"),
        (
            r#"{ "lines": 2 }"#,
            "c.json:5:71: error: unknown key `feeds[0].limits.lines` (did you mean `line`?)",
        ),
    ] {
        let document = DOCUMENT.replace(r#""max_age": "7d""#, &format!(r#""limits": {limits}"#));
        let compiled = Ruleset::compile("c.json", document.as_bytes(), &Memory::new());
        assert!(compiled.ruleset.is_none());
        assert!(said(&compiled).contains(message), "{}", said(&compiled));
    }
    let document = DOCUMENT.replace(r#""max_age": "7d""#, r#""limits": { "entries": 40, "nesting": 3 }"#);
    let compiled = Ruleset::compile("c.json", document.as_bytes(), &Memory::new());
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Ok; 2]);
}

#[test]
fn any_number_of_lost_entries_hides_no_error() {
    let mut memory = Memory::new();
    let bad = r#"{"ipv4Prefix":"x"},"#.repeat(1000);
    memory.put("a.json", jafar(1, 40).replace(r#""prefixes":["#, &format!(r#""prefixes":[{bad}"#)));
    let compiled = memory.load();
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Incomplete, FeedState::Ok]);
    assert_eq!(compiled.diagnostics.len(), 102);
    assert!(
        said(&compiled).ends_with("a.json: warning: not shown: errors 0, warnings 900\n"),
        "{}",
        said(&compiled)
    );
    // JAFAR-11: nothing is left of it.
    memory.put("a.json", format!(r#"{{"prefixes":[{}]}}"#, bad.trim_end_matches(',')));
    let first =
        Ruleset::compile("c.json", DOCUMENT.as_bytes(), &Memory { good: HashMap::new(), ..memory.clone() });
    assert!(first.ruleset.is_none(), "{}", said(&first));
    let compiled = memory.load();
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Held, FeedState::Ok]);
    // The reason is given once.
    let reason = "is held: a.json: cannot read any of the 1000 entries";
    assert!(said(&compiled).contains(reason), "{}", said(&compiled));
    assert_eq!(said(&compiled).matches("cannot read any of the 1000").count(), 1, "{}", said(&compiled));
    assert!(!said(&compiled).contains("error: "), "{}", said(&compiled));
}

#[test]
fn the_command_that_accepts_a_version_can_be_run_as_it_is_printed() {
    let mut memory = Memory::new();
    memory.load();
    memory.put("a.json", jafar(1, 4));
    memory.put("b.json", "<html>");
    let messages = said(&memory.load());
    let lines: Vec<&str> = messages.lines().collect();
    assert_eq!(
        lines,
        [
            "c.json:5:49: warning: the feed `a` is held: it shrank from 40 to 4 prefixes, by more than 50%; the last \
             good version stays in force; if the new version is right, run `crawlpike compile --config c.json --accept a`",
            // No operator can accept what can't be read.
            "c.json:6:49: warning: the feed `b` is held: b.json: this is HTML, not JSON: the server sent a web page, such as \
             an error or a login; check the URL; the last good version stays in force",
        ]
    );
    // Names that a shell would take apart are quoted; a first version can be accepted, too.
    let document = r#"{ "catalog": "none", "agents": [ { "token": "A", "feeds": ["it's a"] } ],
        "feeds": [ { "name": "it's a", "format": "cidr", "source": "all.txt" } ] }"#;
    memory.put("all.txt", "0.0.0.0/0");
    let compiled = Ruleset::compile("my configs/c.json", document.as_bytes(), &memory);
    let messages = said(&compiled);
    let command = r"run `crawlpike compile --config 'my configs/c.json' --accept 'it'\''s a'`";
    assert!(messages.contains(command), "{messages}");
    // Feeds that are in the document, as in Envoy, or were compiled elsewhere, are changed elsewhere.
    let messages = said(&Compiled::load("c.bin", compiled.store().unwrap()));
    assert!(
        messages.contains("is held: it covers 0.0.0.0/0") && !messages.contains("--accept"),
        "{messages}"
    );
    let inlined = document.replacen('{', r#"{ "files": { "all.txt": { "text": "0.0.0.0/0" } },"#, 1);
    let messages = said(&Ruleset::compile("c.json", inlined.as_bytes(), &NoFiles));
    assert!(
        messages.contains("is held: it covers 0.0.0.0/0") && !messages.contains("--accept"),
        "{messages}"
    );
}

#[test]
fn a_first_version_that_covers_too_much_is_held_unless_it_proves_nobody() {
    let mut memory = Memory::new();
    let bad: Vec<String> = (1..224).map(|n| format!(r#"{{"ipv4Prefix":"{n}.0.0.0/8"}}"#)).collect();
    memory.put(
        "a.json",
        jafar(1, 40).replace(r#""prefixes":["#, &format!(r#""prefixes":[{},"#, bad.join(","))),
    );
    let compiled = memory.load();
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Held, FeedState::Ok]);
    assert!(
        said(&compiled).contains("it covers 87.2% of all IPv4 addresses; the limit"),
        "{}",
        said(&compiled)
    );
    assert_eq!(identity(&compiled, "192.0.2.1", "ABot/1.0"), Identity::Unverified);
    // An operator may think otherwise, and is reminded of it.
    memory.accepted.push("a".to_string());
    assert_eq!(states(&memory.load(), MODIFIED), [FeedState::Ok; 2]);
    memory.accepted.clear();
    let compiled = memory.load();
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Ok; 2]);
    assert!(
        said(&compiled).starts_with("a.json: warning: it covers 87.2% of all IPv4 addresses; the limit"),
        "{}",
        said(&compiled)
    );
    // A cloud's list that proves no agent may be as large as it is.
    let mut memory = Memory { good: HashMap::new(), ..memory };
    let document = DOCUMENT.replace(r#""feeds": ["a"]"#, r#""feeds": []"#);
    assert_eq!(states(&memory.load_document(&document), MODIFIED), [FeedState::Ok; 2]);
    let document = DOCUMENT.replace(r#""max_age": "7d""#, r#""guard": { "cover": "90%" }"#);
    assert_eq!(states(&memory.load_document(&document), MODIFIED), [FeedState::Ok; 2]);
}

#[test]
fn many_small_changes_are_one_large_change() {
    // 240 prefixes that fall to 1, by half each time.
    let counts = [240, 120, 60, 30, 15, 8, 4, 2, 1];
    let shrink = |is_some_days_later: bool| {
        let mut memory = Memory { is_some_days_later, ..Memory::new() };
        let states = counts.map(|count| {
            memory.put("a.json", jafar(1, count));
            let compiled = memory.load();
            (states(&compiled, MODIFIED)[0], said(&compiled))
        });
        (memory, states)
    };
    let (mut memory, in_a_row) = shrink(false);
    let held = in_a_row.iter().filter(|(state, _)| *state == FeedState::Held).count();
    assert_eq!(held, counts.len() - 2, "{in_a_row:?}");
    let why = "the feed `a` is held: since the changes of the last days began, it shrank from 240 to 60 prefixes, \
               by more than 50%";
    assert!(in_a_row[2].1.contains(why), "{}", in_a_row[2].1);
    // Later versions are compared with the one that the operator accepts.
    memory.accepted = vec!["a".into()];
    assert_eq!(states(&memory.load(), MODIFIED)[0], FeedState::Ok);
    memory.accepted.clear();
    memory.put("a.json", jafar(1, 2));
    assert_eq!(states(&memory.load(), MODIFIED)[0], FeedState::Ok);

    // A list that shrinks by a third in some days is let shrink.
    let mut memory = Memory { is_some_days_later: true, ..Memory::new() };
    for count in [240, 170, 125, 90, 65, 47, 34, 25] {
        memory.put("a.json", jafar(1, count));
        let compiled = memory.load();
        assert_eq!(states(&compiled, MODIFIED)[0], FeedState::Ok, "{count}: {}", said(&compiled));
    }
}
