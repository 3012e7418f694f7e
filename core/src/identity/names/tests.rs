//! The agents that a lookup can verify, the names that count, and the results that are remembered.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::net::IpAddr;
use core::sync::atomic::Ordering::Relaxed;

use super::cache::{LONGEST, LONGEST_REFUTED, NameCache, PLACES, SETS, SHORTEST};
use super::*;
use crate::ids::Id;
use crate::request::tests::{Asked, BROWSER};
use crate::{Decision, Identity, NoFiles, Overrides, Proof, Reason, decide};

const DOCUMENT: &str = r#"{
  "mode": "enforce", "catalog": "none",
  "feeds": [
    { "name": "lab", "format": "cidr", "source": "lab" },
    { "name": "lost", "format": "cidr", "source": "never loaded" } ],
  "agents": [
    { "token": "NameBot", "rdns": ["Crawl.Example.COM.", "crawl.example.net"], "action": "allow" },
    { "token": "OtherBot", "rdns": ["other.example"] },
    { "token": "LabBot", "feeds": ["lab"], "rdns": ["example.org"] },
    { "token": "PartialBot", "feeds": ["lab"], "ranges": "partial", "rdns": ["example.org"] },
    { "token": "LostBot", "feeds": ["lost"], "rdns": ["example.org"] },
    { "token": "PlainBot", "rdns": [] } ],
  "sites": [ { "hosts": ["example.com"], "unverified": "deny" } ],
  "files": { "lab": { "text": "198.51.100.0/24\n" } }
}"#;

fn ruleset(document: &str) -> Ruleset {
    Ruleset::compile("c.json", document.as_bytes(), &NoFiles).ruleset.unwrap()
}

fn asked<'a>(address: &str, user_agent: &'a str) -> Asked<'a> {
    Asked { address: address.parse().ok(), user_agent, ..Asked::default() }
}

fn decided(ruleset: &Ruleset, request: &Asked<'_>, name: Option<NameFact>) -> Decision {
    decide(ruleset, request, Overrides { name, ..Overrides::default() })
}

fn lookup(ruleset: &Ruleset, request: &Asked<'_>) -> Option<NameLookup> {
    ruleset.name_lookup(&decided(ruleset, request, None), request, None)
}

fn name_bot() -> NameLookup {
    lookup(&ruleset(DOCUMENT), &asked("192.0.2.1", "NameBot/1.0")).unwrap()
}

#[test]
fn lookups_for_one_address_and_the_same_names_are_one() {
    let ruleset = ruleset(DOCUMENT);
    let asks = |address, user_agent| lookup(&ruleset, &asked(address, user_agent)).unwrap();
    assert!(name_bot().asks_as(&asks("192.0.2.1", "NameBot/2.0")));
    assert!(!name_bot().asks_as(&asks("192.0.2.2", "NameBot/1.0")));
    assert!(!name_bot().asks_as(&asks("192.0.2.1", "OtherBot/1.0")));
}

// RDNS-2
#[test]
fn only_those_are_looked_up_whom_it_can_verify() {
    let ruleset = ruleset(DOCUMENT);
    for (address, user_agent, expected) in [
        ("192.0.2.1", "NameBot/1.0", true),
        ("2001:db8::1", "NameBot/1.0", true),
        ("192.0.2.1", "PartialBot", true),
        ("192.0.2.1", "LostBot", true),
        // People, other automation, and who claims nobody with names.
        ("192.0.2.1", BROWSER, false),
        ("192.0.2.1", "curl/8.9", false),
        ("192.0.2.1", "PlainBot", false),
        // A range has verified them, or all ranges are known and have not.
        ("198.51.100.1", "PartialBot", false),
        ("198.51.100.1", "LabBot", false),
        ("192.0.2.1", "LabBot", false),
        ("a unix socket", "NameBot/1.0", false),
    ] {
        assert_eq!(
            lookup(&ruleset, &asked(address, user_agent)).is_some(),
            expected,
            "{address} {user_agent}"
        );
    }
    // If the mode is `off`, the client is not identified.
    let off = Overrides { mode: Some(crate::Mode::Off), ..Overrides::default() };
    let request = asked("192.0.2.1", "NameBot/1.0");
    assert!(ruleset.name_lookup(&decide(&ruleset, &request, off), &request, None).is_none());
}

// JAFAR-19, RDNS-1
#[test]
fn a_name_verifies_one_agent_at_one_address_and_the_lack_of_it_condemns_nobody() {
    let ruleset = ruleset(DOCUMENT);
    let request = asked("192.0.2.1", "NameBot/1.0");
    let lookup = lookup(&ruleset, &request).unwrap();
    let confirmed = lookup.fact(NameOutcome::Confirmed);
    let decision = decided(&ruleset, &request, Some(confirmed));
    assert_eq!((decision.identity, decision.proof()), (Identity::Verified, Some(Proof::Rdns)));
    assert_eq!(decision.reason, Reason::AgentAllowed);
    assert!(ruleset.name_lookup(&decision, &request, Some(&confirmed)).is_none());
    for outcome in [NameOutcome::Refuted, NameOutcome::Unknown, NameOutcome::Unasked] {
        let fact = lookup.fact(outcome);
        let decision = decided(&ruleset, &request, Some(fact));
        assert_eq!((decision.identity, decision.proof()), (Identity::Unverified, None), "{outcome}");
        assert_eq!(decision.reason, Reason::UnverifiedAgent);
        // Nobody is looked up twice.
        assert!(ruleset.name_lookup(&decision, &request, Some(&fact)).is_none());
    }
    let mapped = asked("::ffff:192.0.2.1", "NameBot/1.0");
    assert_eq!(decided(&ruleset, &mapped, Some(confirmed)).identity, Identity::Verified);
    for (address, user_agent) in [("192.0.2.2", "NameBot/1.0"), ("192.0.2.1", "OtherBot")] {
        let other = asked(address, user_agent);
        let decision = decided(&ruleset, &other, Some(confirmed));
        assert_eq!(decision.identity, Identity::Unverified, "{address} {user_agent}");
        assert!(ruleset.name_lookup(&decision, &other, Some(&confirmed)).is_some());
    }
    // All ranges are known and say otherwise.
    let spoofed = asked("192.0.2.1", "LabBot");
    assert_eq!(decided(&ruleset, &spoofed, Some(confirmed)).identity, Identity::Spoofed);
}

// RDNS-1
#[test]
fn names_are_compared_by_labels() {
    let lookup = name_bot();
    let candidate = |name: &[u8]| lookup.candidates([name].into_iter()).next();
    let long = format!("{}.crawl.example.com", [&*"a".repeat(63); 3].join("."));
    for (name, expected) in [
        ("a.crawl.example.com", "a.crawl.example.com"),
        ("A-1.b_2.CRAWL.example.COM.", "a-1.b_2.crawl.example.com"),
        ("crawl.example.net", "crawl.example.net"),
        (&*long, &*long),
    ] {
        assert_eq!(candidate(name.as_bytes()).as_deref(), Some(expected), "{name}");
    }
    let too_long = format!("{}.crawl.example.com", [&*"a".repeat(63); 4].join("."));
    let long_label = format!("{}.crawl.example.com", "a".repeat(64));
    for name in [
        "notcrawl.example.com",
        "a.crawl.example.com.evil.example",
        "a.other.example",
        "example.com",
        "crawl.example.com..",
        ".crawl.example.com",
        "a..crawl.example.com",
        "a b.crawl.example.com",
        "a\0.crawl.example.com",
        "ż.crawl.example.com",
        "a.crawl.example.com:53",
        "[::1].crawl.example.com",
        ".",
        "",
        &too_long,
        &long_label,
    ] {
        assert_eq!(candidate(name.as_bytes()), None, "{name:?}");
    }
    assert_eq!(candidate(b"\xff.crawl.example.com"), None);
}

// RDNS-2
#[test]
fn no_more_names_and_addresses_are_looked_at_than_an_agent_needs() {
    let lookup = name_bot();
    let names = vec![&b"a.crawl.example.com"[..]; 10_000];
    assert_eq!(lookup.candidates(names.into_iter()).count(), MOST_NAMES);
    let (own, other) = (lookup.address(), IpAddr::from([192, 0, 2, 2]));
    let with_own_at = |place: usize| {
        let addresses = (0..100_000).map(move |at| if at == place { own } else { other });
        lookup.is_confirmed_by(addresses)
    };
    assert!(with_own_at(0) && with_own_at(MOST_ADDRESSES - 1) && !with_own_at(MOST_ADDRESSES));
    assert!(lookup.is_confirmed_by(["::ffff:192.0.2.1".parse().unwrap()].into_iter()));
    assert!(!lookup.is_confirmed_by([].into_iter()));
}

#[test]
fn a_configuration_says_which_names_count() {
    let messages = |rdns: &str| -> Vec<String> {
        let document = format!(
            r#"{{ "mode": "observe", "catalog": "none", "agents": [ {{ "token": "A", "rdns": [{rdns}] }} ] }}"#
        );
        let compiled = Ruleset::compile("c.json", document.as_bytes(), &NoFiles);
        compiled.diagnostics.iter().map(ToString::to_string).collect()
    };
    assert_eq!(messages(r#""example.com", "EXAMPLE.net.""#), [""; 0]);
    for (text, why) in [
        ("*.example.com", "write it without the leading `*.` or `.`: all names below a domain count"),
        (".example.com", "write it without the leading `*.` or `.`: all names below a domain count"),
        ("żółw.example", "write it in ASCII, as DNS has it: labels in Unicode start with `xn--` there"),
        ("a..example", "it is not a domain name"),
        ("", "it is not a domain name"),
        ("com", "it is a top-level domain, in which anybody can have a name"),
        ("com.", "it is a top-level domain, in which anybody can have a name"),
    ] {
        let expected = format!("c.json:1:78: error: `{text}` in `rdns`: {why} [RDNS-1]");
        assert_eq!(messages(&format!("{text:?}")), [expected]);
    }
    // The catalog has those of its agents, and the configuration can have others, or none.
    let domains = |agents: &str| -> Vec<String> {
        let ruleset = ruleset(&format!(r#"{{ "agents": [{agents}] }}"#));
        ruleset.domains_of("Baiduspider").map(Into::into).collect()
    };
    assert_eq!(domains(""), ["baidu.com", "baidu.jp"]);
    assert_eq!(domains(r#"{ "token": "Baiduspider", "rdns": ["b.example"] }"#), ["b.example"]);
    assert_eq!(domains(r#"{ "token": "Baiduspider", "rdns": [] }"#), [""; 0]);
}

const NOW: i64 = 1_800_000_000;

fn cache() -> Box<NameCache> {
    NameCache::empty().unwrap()
}

fn at(address: u128) -> NameLookup {
    let domains = Arc::new(Domains::new(vec!["crawl.example.com".into()]));
    NameLookup {
        agent: AgentId::from_index(0).unwrap(),
        address: IpAddr::from(address.to_be_bytes()),
        domains,
    }
}

// RDNS-2
#[test]
fn what_came_of_a_lookup_is_remembered_for_a_while() {
    let cache = cache();
    let lookup = name_bot();
    assert_eq!(cache.get(&lookup, NOW), None);
    let lives = [
        (NameOutcome::Confirmed, 0, SHORTEST),
        (NameOutcome::Confirmed, 600, 600),
        (NameOutcome::Confirmed, i64::MAX, LONGEST),
        (NameOutcome::Refuted, i64::MIN, SHORTEST),
        (NameOutcome::Refuted, i64::MAX, LONGEST_REFUTED),
        (NameOutcome::Unknown, i64::MAX, SHORTEST),
    ];
    for (outcome, ttl, life) in lives {
        cache.put(&lookup, outcome, NOW.saturating_add(ttl), NOW);
        assert_eq!(cache.get(&lookup, NOW), Some(outcome));
        assert_eq!(cache.get(&lookup, NOW + life), Some(outcome), "{outcome} {ttl}");
        assert_eq!(cache.get(&lookup, NOW + life + 1), None, "{outcome} {ttl}");
    }
    // The clock was ahead, and is set back.
    cache.put(&lookup, NameOutcome::Confirmed, NOW, NOW + 2 * LONGEST);
    assert_eq!(cache.get(&lookup, NOW), None);
    // Another address, and other domains.
    cache.put(&lookup, NameOutcome::Confirmed, NOW, NOW);
    assert_eq!(cache.get(&at(7), NOW), None);
    cache.put(&at(7), NameOutcome::Refuted, NOW, NOW);
    assert_eq!(cache.get(&at(1 << 100 | 7), NOW), None);
    let other = Domains::new(vec!["other.example".into()]);
    assert_eq!(cache.get(&NameLookup { domains: Arc::new(other), ..lookup.clone() }, NOW), None);
    // The same domains in the next ruleset, in which the agent can have another number.
    let same = Domains::new(vec!["crawl.example.net".into(), "crawl.example.com".into()]);
    let next = NameLookup { domains: Arc::new(same), ..lookup };
    assert_eq!(cache.get(&next, NOW), Some(NameOutcome::Confirmed));
}

// RDNS-2
#[test]
fn whoever_merely_claims_an_agent_drives_out_no_confirmed_one() {
    let cache = cache();
    let agents: Vec<NameLookup> = (0..400).map(at).collect();
    for agent in &agents {
        cache.put(agent, NameOutcome::Confirmed, NOW + LONGEST, NOW);
    }
    for other in (1000..21_000).map(at) {
        cache.put(&other, NameOutcome::Refuted, NOW + LONGEST, NOW);
        assert_eq!(cache.get(&other, NOW), Some(NameOutcome::Refuted));
    }
    assert!(agents.iter().all(|agent| cache.get(agent, NOW) == Some(NameOutcome::Confirmed)));
    // Those that are over make room first.
    for later in (200_000..200_000 + SETS * PLACES / 4).map(|number| at(number as u128)) {
        cache.put(&later, NameOutcome::Refuted, NOW, NOW + LONGEST_REFUTED + 1);
    }
    assert!(agents.iter().all(|agent| cache.get(agent, NOW) == Some(NameOutcome::Confirmed)));
}

// RDNS-2
#[test]
fn what_was_confirmed_once_makes_room_when_it_is_over() {
    let cache = cache();
    for confirmed in (0..SETS * PLACES).map(|number| at(number as u128)) {
        cache.put(&confirmed, NameOutcome::Confirmed, NOW, NOW);
    }
    let later = NOW + SHORTEST + 1;
    let refuted: Vec<_> = (0..SETS * PLACES / 16).map(|number| at(1 << 64 | number as u128)).collect();
    refuted.iter().for_each(|lookup| cache.put(lookup, NameOutcome::Refuted, later, later));
    let kept = refuted.iter().filter(|lookup| cache.get(lookup, later).is_some()).count();
    assert!(kept * 100 > refuted.len() * 99, "{kept} of {}", refuted.len());
}

#[test]
fn an_entry_that_two_wrote_at_once_is_empty() {
    let cache = cache();
    let lookup = name_bot();
    cache.put(&lookup, NameOutcome::Refuted, NOW + 200, NOW);
    for entry in cache.words_of(&lookup) {
        for bit in 0..64 {
            entry.fetch_xor(1 << bit, Relaxed);
            assert_eq!(cache.get(&lookup, NOW), None);
            entry.fetch_xor(1 << bit, Relaxed);
        }
    }
    assert_eq!(cache.get(&lookup, NOW), Some(NameOutcome::Refuted));
}
