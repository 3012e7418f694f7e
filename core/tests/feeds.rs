//! Feeds that are missing, broken, suspicious or old, and rulesets in their compiled form.

use std::collections::HashMap;
use std::net::IpAddr;

use crawlward_core::decision::{Decision, Identity};
use crawlward_core::{
    Compiled, FeedState, Files, FoundFile, NoFiles, Overrides, Request, Ruleset, decide, is_stored,
};

const DOCUMENT: &str = r#"{
  "mode": "enforce",
  "catalog": "none",
  "feeds": [
    { "name": "a", "format": "jafar", "source": "a.json", "max_age": "7d" },
    { "name": "b", "format": "jafar", "source": "b.json" }
  ],
  "agents": [ { "token": "ABot", "feeds": ["a"] }, { "token": "BBot", "feeds": ["b"] } ]
}"#;

/// When the feeds here were made: 2026-01-01.
const MADE: i64 = 1_767_225_600;
const DAY: i64 = 24 * 60 * 60;

/// Prefixes 10.SECOND.0.0/24 to 10.SECOND.(count-1).0/24.
fn jafar(second: u8, count: u8) -> String {
    let prefixes: Vec<String> =
        (0..count).map(|third| format!(r#"{{"ipv4Prefix":"10.{second}.{third}.0/24"}}"#)).collect();
    format!(
        r#"{{"formatVersion":"1.0","synctoken":"1","creationTime":"2026-01-01T00:00:00Z","prefixes":[{}]}}"#,
        prefixes.join(",")
    )
}

#[derive(Clone, Default)]
struct Memory {
    files: HashMap<String, String>,
    good: HashMap<String, Vec<u8>>,
    accepted: Vec<String>,
}

impl Memory {
    fn new() -> Self {
        let mut memory = Self::default();
        memory.put("a.json", jafar(1, 40));
        memory.put("b.json", jafar(2, 50));
        memory
    }

    fn put(&mut self, path: &str, text: impl Into<String>) {
        self.files.insert(path.to_string(), text.into());
    }

    /// Compiles, and keeps what is good, as a host does.
    fn load(&mut self) -> Compiled {
        let compiled = Ruleset::compile("c.json", DOCUMENT.as_bytes(), self);
        for (path, bytes) in &compiled.good_feeds {
            self.good.insert(path.clone(), bytes.clone());
        }
        compiled
    }
}

impl Files for Memory {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        let file = self.files.get(path);
        Ok(file.map(|text| FoundFile { bytes: text.clone().into_bytes(), modified: Some(MADE + DAY) }))
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        self.good.get(path).map(|bytes| FoundFile { bytes: bytes.clone(), modified: Some(MADE) })
    }

    fn accepts(&self, feed: &str) -> bool {
        self.accepted.iter().any(|accepted| accepted == feed)
    }
}

struct Asked {
    address: IpAddr,
    user_agent: &'static str,
    now: i64,
}

impl Request for Asked {
    fn address(&self) -> Option<IpAddr> {
        Some(self.address)
    }

    fn host(&self) -> Option<&[u8]> {
        None
    }

    fn method(&self) -> &[u8] {
        b"GET"
    }

    fn path(&self) -> &[u8] {
        b"/"
    }

    fn user_agent(&self) -> Option<&[u8]> {
        Some(self.user_agent.as_bytes())
    }

    fn now(&self) -> i64 {
        self.now
    }

    fn header(&self, _: &str) -> Option<&[u8]> {
        None
    }
}

fn asked_at(ruleset: &Ruleset, address: &str, user_agent: &'static str, now: i64) -> Decision {
    decide(ruleset, &Asked { address: address.parse().unwrap(), user_agent, now }, Overrides::default())
}

fn identity(compiled: &Compiled, address: &str, user_agent: &'static str) -> Identity {
    asked_at(compiled.ruleset.as_ref().unwrap(), address, user_agent, MADE).identity
}

fn states(compiled: &Compiled, now: i64) -> Vec<FeedState> {
    compiled.ruleset.as_ref().unwrap().feeds(now).map(|feed| feed.state).collect()
}

fn said(compiled: &Compiled) -> String {
    compiled.diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect()
}

#[test]
fn a_good_feed_proves_and_condemns() {
    let compiled = Memory::new().load();
    assert_eq!(said(&compiled), "");
    assert_eq!(states(&compiled, MADE), [FeedState::Ok; 2]);
    assert_eq!(identity(&compiled, "10.1.39.255", "ABot/1.0"), Identity::Verified);
    assert_eq!(identity(&compiled, "10.1.40.0", "ABot/1.0"), Identity::Spoofed);
    assert_eq!(identity(&compiled, "::ffff:10.1.0.1", "ABot/1.0"), Identity::Verified);
}

#[test]
fn jafar_9_an_empty_first_feed_is_usable_and_proves_nobody() {
    let mut memory = Memory::new();
    memory.put("a.json", jafar(1, 0));
    let compiled = memory.load();
    assert_eq!(states(&compiled, MADE), [FeedState::Ok; 2]);
    assert_eq!(identity(&compiled, "10.1.0.1", "ABot/1.0"), Identity::Spoofed);
}

#[test]
fn a_missing_feed_condemns_nobody() {
    let mut memory = Memory::new();
    memory.files.remove("a.json");
    let compiled = memory.load();
    assert_eq!(states(&compiled, MADE), [FeedState::Missing, FeedState::Ok]);
    assert_eq!(identity(&compiled, "10.9.0.1", "ABot/1.0"), Identity::Unverified);
    assert_eq!(
        said(&compiled),
        "c.json:5:49: warning: the feed `a` is missing: there is no file a.json yet; it proves nobody, and nobody who \
         claims its agents is spoofed\n"
    );
}

#[test]
fn a_broken_first_feed_refuses_the_configuration() {
    let mut memory = Memory::new();
    memory.put("a.json", "<!doctype html><title>502 Bad Gateway</title>");
    let compiled = memory.load();
    assert!(compiled.ruleset.is_none());
    assert!(said(&compiled).contains("a.json: error: this is HTML, not JSON"), "{}", said(&compiled));
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
        assert_eq!(states(&compiled, MADE), [FeedState::Held, FeedState::Ok], "{broken}");
        assert_eq!(identity(&compiled, "10.1.39.1", "ABot/1.0"), Identity::Verified, "{broken}");
        assert_eq!(identity(&compiled, "10.9.0.1", "ABot/1.0"), Identity::Spoofed, "{broken}");
        assert!(said(&compiled).contains("the last good version stays in force"), "{}", said(&compiled));
        assert_eq!(memory.good["a.json"], jafar(1, 40).into_bytes(), "{broken}");
    }
    let mut memory = Memory::new();
    memory.load();
    memory.files.remove("a.json");
    let compiled = memory.load();
    assert_eq!(states(&compiled, MADE), [FeedState::Held, FeedState::Ok]);
    assert_eq!(identity(&compiled, "10.1.39.1", "ABot/1.0"), Identity::Verified);
}

#[test]
fn a_suspicious_version_is_held_until_it_is_accepted() {
    let mut memory = Memory::new();
    memory.load();
    // The two agents' files swapped.
    memory.put("a.json", jafar(2, 50));
    memory.put("b.json", jafar(1, 40));
    let compiled = memory.load();
    assert_eq!(states(&compiled, MADE), [FeedState::Held; 2]);
    assert_eq!(identity(&compiled, "10.1.0.1", "ABot/1.0"), Identity::Verified);
    assert_eq!(identity(&compiled, "10.2.0.1", "ABot/1.0"), Identity::Spoofed);
    assert!(
        said(&compiled).contains("it is now that of `b`: were the files swapped?"),
        "{}",
        said(&compiled)
    );

    memory.put("a.json", jafar(1, 4));
    memory.put("b.json", jafar(2, 50));
    assert_eq!(states(&memory.load(), MADE), [FeedState::Held, FeedState::Ok]);
    memory.accepted.push("a".to_string());
    assert_eq!(states(&memory.load(), MADE), [FeedState::Ok; 2]);
    // Once let in, it is the last good one.
    memory.accepted.clear();
    let compiled = memory.load();
    assert_eq!(states(&compiled, MADE), [FeedState::Ok; 2]);
    assert_eq!(identity(&compiled, "10.1.4.1", "ABot/1.0"), Identity::Spoofed);
}

#[test]
fn a_first_feed_that_claims_everything_proves_nobody() {
    let mut memory = Memory::new();
    memory.put("a.json", jafar(1, 1).replace("10.1.0.0/24", "0.0.0.0/0"));
    let compiled = memory.load();
    assert_eq!(states(&compiled, MADE), [FeedState::Held, FeedState::Ok]);
    assert_eq!(identity(&compiled, "10.1.0.1", "ABot/1.0"), Identity::Unverified);
}

#[test]
fn the_limits_of_a_feed_are_those_of_the_document() {
    for (limits, message) in [
        (r#"{ "entries": 39 }"#, "error: over 39 entries: the feed is refused"),
        (r#"{ "bytes": 1000 }"#, "bytes, over the bound of 1000 [JAFAR-1]"),
        (r#"{ "nesting": 2 }"#, "arrays and objects nested over 2 deep [JAFAR-1]"),
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
    assert_eq!(states(&compiled, MADE), [FeedState::Ok; 2]);
}

#[test]
fn any_number_of_lost_entries_hides_no_error() {
    let mut memory = Memory::new();
    let bad = r#"{"ipv4Prefix":"x"},"#.repeat(1000);
    memory.put("a.json", jafar(1, 40).replace(r#""prefixes":["#, &format!(r#""prefixes":[{bad}"#)));
    let compiled = memory.load();
    assert_eq!(states(&compiled, MADE), [FeedState::Ok; 2]);
    assert_eq!(compiled.diagnostics.len(), 101);
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
    assert_eq!(states(&compiled, MADE), [FeedState::Held, FeedState::Ok]);
    let reason = "is held: a.json: error: none of the 1000 entries can be used";
    assert!(said(&compiled).contains(reason), "{}", said(&compiled));
}

#[test]
fn a_stale_feed_neither_proves_nor_condemns() {
    let compiled = Memory::new().load();
    let ruleset = compiled.ruleset.as_ref().unwrap();
    let until = MADE + 7 * DAY;
    for (now, inside, outside) in [
        (until - 1, Identity::Verified, Identity::Spoofed),
        (until, Identity::Unverified, Identity::Unverified),
    ] {
        assert_eq!(asked_at(ruleset, "10.1.0.1", "ABot/1.0", now).identity, inside);
        assert_eq!(asked_at(ruleset, "10.9.0.1", "ABot/1.0", now).identity, outside);
    }
    assert_eq!(
        asked_at(
            ruleset,
            "10.1.0.1",
            "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            until
        )
        .identity,
        Identity::None
    );
    assert_eq!(asked_at(ruleset, "10.2.0.1", "BBot/1.0", until).identity, Identity::Verified);
    assert_eq!(states(&compiled, until), [FeedState::Stale, FeedState::Ok]);
}

#[test]
fn the_compiled_form_decides_as_the_documents_do() {
    let mut memory = Memory::new();
    let compiled = memory.load();
    let words = compiled.store().unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    assert!(is_stored(&bytes) && !is_stored(DOCUMENT.as_bytes()));
    let loaded = Compiled::load("c.bin", words);
    assert_eq!(said(&loaded), "");
    let (documents, stored) = (compiled.ruleset.unwrap(), loaded.ruleset.unwrap());
    for second in 0..4 {
        for third in [0, 39, 40, 49, 50] {
            for user_agent in
                ["ABot/1.0", "BBot", "curl/8", "Mozilla/5.0 (X11; Linux) Gecko/20100101 Firefox/140.0"]
            {
                let address = format!("10.{second}.{third}.7");
                let decision = asked_at(&documents, &address, user_agent, MADE);
                assert_eq!(asked_at(&stored, &address, user_agent, MADE), decision, "{address} {user_agent}");
            }
        }
    }
}

#[test]
fn a_cut_or_altered_compiled_form_is_refused() {
    let words = Memory::new().load().store().unwrap();
    for length in 0..words.len() {
        let loaded = Compiled::load("c.bin", words[..length].to_vec());
        assert!(loaded.ruleset.is_none(), "{length} words");
    }
    for (at, bit) in (0..words.len()).flat_map(|at| [(at, at % 32), (at, 31)]) {
        let mut altered = words.clone();
        altered[at] ^= 1 << bit;
        let loaded = Compiled::load("c.bin", altered);
        assert!(loaded.ruleset.is_none(), "bit {bit} of word {at}");
    }
    // The length of what stands before the table, with some of the padding behind it and without some of its end.
    for length in words[3] - 4..=words[3] + 4 {
        let mut altered = words.clone();
        altered[3] = length;
        assert_eq!(Compiled::load("c.bin", altered).ruleset.is_some(), length == words[3], "{length}");
    }
    let mut longer = words.clone();
    longer.push(0);
    assert_eq!(
        said(&Compiled::load("c.bin", longer)),
        "c.bin: error: the compiled ruleset is cut short or has bytes added\n"
    );
    let mut newer = words;
    newer[1] = 99;
    assert_eq!(
        said(&Compiled::load("c.bin", newer)),
        "c.bin: error: a compiled ruleset of format 99, not 2: compile it with this version\n"
    );
}

#[test]
fn a_geofeed_proves_no_agent() {
    // CONTRACT 1: it says where prefixes are used, by whomever.
    let document = r#"{"feeds":[{"name":"offices","format":"geofeed","source":"g.csv"}],
        "agents":[{"token":"FooBot","feeds":["offices"]}]}"#;
    let compiled = Ruleset::compile("c.json", document.as_bytes(), &NoFiles);
    assert!(compiled.ruleset.is_none());
    assert!(
        said(&compiled).contains("c.json:2:46: error: the geofeed `offices` says"),
        "{}",
        said(&compiled)
    );
}
