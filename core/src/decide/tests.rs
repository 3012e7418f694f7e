//! The result of each step, the order of the steps, and the facts that they ask a request for.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use core::net::IpAddr;

use super::judge::*;
use crate::NoFiles;
use crate::config::Mode;
use crate::decide::decision::Action;
use crate::decide::step::Step;
use crate::identity::Identity;
use crate::reason::Reason;
use crate::request::tests::{Asked, BROWSER};
use crate::request::{Overrides, Request};
use crate::ruleset::data::Ruleset;

const GOOD: &str = "192.0.2.1";
const FRIENDLY: &str = "198.51.100.1";
const ABROAD: &str = "203.0.113.1";
const NOWHERE: &str = "8.8.4.4";
const PRIVATE: &str = "10.0.0.5";
const EXEMPT: &str = "198.19.0.7";

/// Every step has something to deny at `strict.test`; at the same paths of `mild.test` only the later ones have.
const DOCUMENT: &str = r#"{
  "mode": "enforce", "catalog": "catalog", "nat64": ["2001:db8:122:344::/64"], "exempt": ["198.19.0.0/24"],
  "feeds": [
    { "name": "good", "format": "cidr", "source": "good" },
    { "name": "friendly", "format": "cidr", "source": "friendly" },
    { "name": "lost", "format": "cidr", "source": "never loaded" },
    { "name": "lab", "format": "cidr", "source": "lab" },
    { "name": "places", "format": "geofeed", "source": "places" }
  ],
  "agents": [
    { "token": "GoodBot", "feeds": ["good"] },
    { "token": "BadBot", "feeds": ["good"], "action": "deny" },
    { "token": "FriendBot", "feeds": ["friendly"], "action": "allow" },
    { "token": "LoneBot" },
    { "token": "LostBot", "feeds": ["good", "lost"] },
    { "token": "HalfBot", "feeds": ["good", "elsewhere"] }
  ],
  "sites": [
    { "hosts": ["strict.test"], "robots_txt": "robots", "automation_preferences": "preferences",
      "unverified": "deny", "undeclared": "deny", "geo": [ { "country": ["AQ"], "action": "deny" } ] },
    { "hosts": ["mild.test"], "robots_txt": "robots", "automation_preferences": "preferences",
      "spoofed": "policy", "geo": [ { "country": ["AQ"], "action": "deny" } ] },
    { "hosts": ["kind.test"], "robots_txt": "robots", "spoofed": "allow", "unverified": "allow" },
    { "hosts": ["plain.test"] },
    { "hosts": ["żółw.test"], "robots_txt": "robots" },
    { "hosts": ["parts.test"], "modes": [ { "scope": "/off", "mode": "off" } ] },
    { "hosts": ["half.test"], "enforce_percent": 50 }
  ],
  "files": {
    "catalog": { "text": "{\"feeds\": [ { \"name\": \"elsewhere\", \"url\": \"https://ranges.test/list.txt\", \"format\": \"cidr\" } ], \"agents\": [ { \"token\": \"Quiet-Extended\", \"control_token\": true } ]}" }, "lab": { "text": "10.9.0.0/16" },
    "good": { "text": "192.0.2.0/24\n203.0.113.0/24\n" }, "friendly": { "text": "198.51.100.0/24\n" }, "places": { "text": "203.0.113.0/24,AQ,,,\n" },
    "robots": { "text": "User-agent: *\nDisallow: /closed\n" },
    "preferences": { "text": "scope: /\nallowed-methods: GET\n\nscope: /search\nallowed-methods: GET\nallowed-purposes: search\n\n" }
  }
}"#;

#[test]
fn a_tunnel_is_for_the_root_of_its_host() {
    let document = r#"{ "mode": "enforce", "catalog": "none",
        "sites": [ { "hosts": ["open.test"], "robots_txt": "part", "automation_preferences": "tunnels",
                     "robots_tag": [ { "scope": "/", "rules": "noindex" } ] },
                   { "hosts": ["closed.test"], "robots_txt": "all" },
                   { "hosts": ["off.test"], "robots_txt": "all", "modes": [ { "scope": "/$", "mode": "off" } ] } ],
        "files": { "part": { "text": "User-agent: *\nDisallow: /a\n" }, "all": { "text": "User-agent: *\nDisallow: /\n" },
                   "tunnels": { "text": "scope: /\nallowed-methods: CONNECT\n\nscope: /a\nallowed-methods: GET\n" } } }"#;
    let ruleset = ruleset(document);
    for (host, action, reason) in [
        ("open.test:443", Action::Allow, Reason::Allowed),
        ("closed.test:443", Action::Deny, Reason::RobotsDisallowed),
        ("off.test:443", Action::Allow, Reason::NotAutomated),
    ] {
        let tunnel = Asked { host, method: "CONNECT", path: "", user_agent: "curl/8", ..Asked::default() };
        let root = Asked { host, method: "CONNECT", path: "/", user_agent: "curl/8", ..Asked::default() };
        let decision = decide(&ruleset, &tunnel, Overrides::default());
        assert_eq!((decision.action, decision.reason), (action, reason), "{host}");
        assert_eq!(decision, decide(&ruleset, &root, Overrides::default()), "{host}");
    }
}

fn request(address: &str, user_agent: &'static str, url: &'static str) -> Asked<'static> {
    let start = url.find('/').unwrap();
    let (host, path) = url.split_at(start);
    Asked { address: address.parse().ok(), host, path, user_agent, ..Asked::default() }
}

pub(super) fn ruleset(document: &str) -> Ruleset {
    let compiled = Ruleset::compile("c.json", document.as_bytes(), &NoFiles);
    compiled.ruleset.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

#[test]
fn each_step_settles_what_it_can_and_the_earlier_one_wins() {
    use Identity::{Generic, None as Nobody, Spoofed, Undeclared, Unverified, Verified};
    use Reason::*;
    let ruleset = ruleset(DOCUMENT);
    let mut reasons = BTreeSet::new();
    for (address, user_agent, url, identity, reason) in [
        // 1. Served resources come before everything else.
        (ABROAD, "BadBot", "strict.test/robots.txt", Verified, Served),
        (NOWHERE, "GoodBot", "strict.test/automation-preferences.txt?x", Spoofed, Served),
        // A resource that is not served is let through, whatever the later steps say.
        (NOWHERE, "GoodBot", "kind.test/automation-preferences.txt", Spoofed, Allowed),
        (NOWHERE, "GoodBot", "plain.test/robots.txt", Spoofed, Allowed),
        (GOOD, "BadBot", "strict.test/.well-known/aiwebindex-verify.txt", Verified, Allowed),
        // 3. People.
        (ABROAD, BROWSER, "mild.test/closed", Undeclared, NotAutomated),
        (NOWHERE, BROWSER, "strict.test/closed", Nobody, NotAutomated),
        // A Host that is none, which people never notice.
        (NOWHERE, "curl/8", "user@strict.test/closed", Generic, InvalidHost),
        (NOWHERE, "GoodBot", "exam%70le/", Spoofed, InvalidHost),
        (FRIENDLY, "FriendBot", "a..test/", Verified, InvalidHost),
        (GOOD, "curl/8", "strict.test,strict.test/", Undeclared, InvalidHost),
        (GOOD, BROWSER, "a..test/", Undeclared, NotAutomated),
        (NOWHERE, BROWSER, "user@strict.test/closed", Nobody, NotAutomated),
        (NOWHERE, "GoodBot", "a;b/robots.txt", Spoofed, Allowed),
        (NOWHERE, "curl/8", "ŻÓŁW.test/closed", Generic, RobotsDisallowed),
        (NOWHERE, "curl/8", "żółwik.test/closed", Generic, InvalidHost),
        // 4. Spoofed, unverified, undeclared, then the agent's action.
        (NOWHERE, "BadBot", "strict.test/closed", Spoofed, SpoofedAgent),
        (NOWHERE, "LoneBot", "strict.test/closed", Unverified, UnverifiedAgent),
        (NOWHERE, "LostBot", "strict.test/closed", Unverified, UnverifiedAgent),
        (GOOD, "LostBot", "strict.test/open", Verified, Allowed),
        (NOWHERE, "HalfBot", "strict.test/closed", Unverified, UnverifiedAgent),
        (GOOD, "HalfBot", "strict.test/open", Verified, Allowed),
        (ABROAD, BROWSER, "strict.test/closed", Undeclared, UndeclaredAgent),
        (NOWHERE, "BadBot", "mild.test/closed", Spoofed, AgentDenied),
        (NOWHERE, "BadBot", "kind.test/closed", Spoofed, Allowed),
        (ABROAD, "BadBot", "mild.test/closed", Verified, AgentDenied),
        (FRIENDLY, "FriendBot", "strict.test/closed", Verified, AgentAllowed),
        (NOWHERE, "FriendBot", "mild.test/closed", Spoofed, RobotsDisallowed),
        (NOWHERE, "LoneBot", "kind.test/closed", Unverified, Allowed),
        // Addresses that say nothing of a claim.
        (PRIVATE, "GoodBot", "mild.test/open", Unverified, Allowed),
        (PRIVATE, "GoodBot", "strict.test/open", Unverified, UnverifiedAgent),
        ("2002:c000:201::1", "GoodBot", "mild.test/open", Unverified, Allowed),
        ("2001:0:c000:201::1", "GoodBot", "mild.test/open", Unverified, Allowed),
        ("10.9.0.1", "GoodBot", "mild.test/open", Spoofed, Allowed),
        // The IPv4 address within a translated one counts.
        ("64:ff9b::192.0.2.1", "GoodBot", "mild.test/open", Verified, Allowed),
        ("64:ff9b::8.8.4.4", "GoodBot", "strict.test/open", Spoofed, SpoofedAgent),
        ("2001:db8:122:344:c0:2:100::", "GoodBot", "mild.test/open", Verified, Allowed),
        // No client sends a control token.
        (GOOD, "Quiet-Extended", "strict.test/open", Spoofed, SpoofedAgent),
        (PRIVATE, "Quiet-Extended", "strict.test/open", Spoofed, SpoofedAgent),
        // An exempt client may say anything.
        (EXEMPT, "BadBot", "user@strict.test/closed", Spoofed, Exempt),
        // A request of HTTP/1.0 is for all other hosts.
        (NOWHERE, "curl/8", "/", Generic, Allowed),
        // 5. Places.
        (ABROAD, "GoodBot", "mild.test/closed", Verified, GeoDenied),
        (ABROAD, "curl/8", "strict.test/closed", Undeclared, GeoDenied),
        // 6. robots.txt.
        (GOOD, "GoodBot", "mild.test/closed", Verified, RobotsDisallowed),
        (NOWHERE, "curl/8", "strict.test/closed", Generic, RobotsDisallowed),
        // 7. automation-preferences.txt.
        (GOOD, "GoodBot", "mild.test/search", Verified, PurposeNotAllowed),
        (GOOD, "GoodBot", "mild.test/open", Verified, Allowed),
        // No site: the defaults.
        (NOWHERE, "GoodBot", "unknown.test/", Spoofed, SpoofedAgent),
        (NOWHERE, "LoneBot", "unknown.test/", Unverified, Allowed),
        (GOOD, BROWSER, "unknown.test/", Undeclared, NotAutomated),
    ] {
        let decision = decide(&ruleset, &request(address, user_agent, url), Overrides::default());
        assert_eq!((decision.identity, decision.reason), (identity, reason), "{user_agent} at {url}");
        reasons.insert(reason.to_string());
    }
    let post = Asked { method: "POST", ..request(GOOD, "GoodBot", "mild.test/search") };
    let decision = decide(&ruleset, &post, Overrides::default());
    assert_eq!(decision.reason, MethodNotAllowed);
    reasons.insert(decision.reason.to_string());
    // The tests of signatures and of usage show them.
    reasons.extend([BadSignature, UsageDisallowed].map(|reason| reason.to_string()));
    let all: BTreeSet<String> = Reason::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(reasons, all, "each reason is shown");
}

#[test]
fn an_override_beats_every_mode_of_the_document() {
    let ruleset = ruleset(DOCUMENT);
    let spoofed = |url, mode, site| {
        let overrides = Overrides { mode, site: ruleset.site(site), ..Overrides::default() };
        let decision = decide(&ruleset, &request(NOWHERE, "GoodBot", url), overrides);
        (decision.identity, decision.is_answered())
    };
    assert_eq!(spoofed("parts.test/off", None, ""), (Identity::None, false));
    assert_eq!(spoofed("parts.test/off", Some(Mode::Enforce), ""), (Identity::Spoofed, true));
    assert_eq!(spoofed("parts.test/off", Some(Mode::Observe), ""), (Identity::Spoofed, false));
    assert_eq!(spoofed("parts.test/on", Some(Mode::Off), ""), (Identity::None, false));
    assert_eq!(spoofed("strict.test/", None, "kind.test"), (Identity::Spoofed, false));
}

#[test]
fn an_invalid_host_is_a_bad_request_whatever_the_operator_makes_of_denials() {
    let ruleset = ruleset(DOCUMENT);
    let status = |url| {
        let request = request(NOWHERE, "GoodBot", url);
        let decision = decide(&ruleset, &request, Overrides::default());
        (decision.status(), ruleset.reply(&decision, &request, Some(404)).map(|reply| reply.status))
    };
    assert_eq!(status("user@strict.test/"), (Some(400), Some(400)));
    assert_eq!(status("strict.test/"), (Some(403), Some(404)));
}

#[test]
fn without_an_address_nothing_is_a_forgery() {
    let ruleset = ruleset(DOCUMENT);
    let decision = decide(&ruleset, &request("a unix socket", "GoodBot", "mild.test/"), Overrides::default());
    assert_eq!((decision.identity, decision.reason), (Identity::Unverified, Reason::Allowed));
}

#[test]
fn a_request_is_asked_for_what_is_needed() {
    let ruleset = ruleset(DOCUMENT);
    let without_sites = self::ruleset(r#"{ "mode": "enforce" }"#);
    let one_for_all = self::ruleset(r#"{ "mode": "enforce", "sites": [ {} ] }"#);
    let off = self::ruleset(r#"{ "mode": "off" }"#);
    let tagged = self::ruleset(r#"{ "sites": [ { "robots_tag": [ { "rules": "noindex" } ] } ] }"#);
    let purpose = "automation-purpose";
    for (ruleset, user_agent, url, facts) in [
        (&off, "curl/8", "any.test/", &[][..]),
        (&without_sites, BROWSER, "any.test/", &["address", "user-agent"]),
        (&without_sites, "curl/8", "any.test/", &["address", "authority", "user-agent"]),
        (&one_for_all, BROWSER, "any.test/", &["address", "user-agent"]),
        // The response's Robots-Tag depends on the path.
        (&tagged, BROWSER, "any.test/", &["address", "path", "user-agent"]),
        (&ruleset, BROWSER, "plain.test/", &["address", "authority", "user-agent"]),
        (&ruleset, BROWSER, "parts.test/off", &["authority", "path"]),
        // The path may be one that the site serves.
        (&ruleset, BROWSER, "kind.test/", &["address", "authority", "path", "user-agent"]),
        (&ruleset, "curl/8", "kind.test/", &["address", "authority", "path", "user-agent"]),
        (
            &ruleset,
            BROWSER,
            "kind.test/robots.txt",
            &["address", "authority", "method", "path", "user-agent"],
        ),
        (&ruleset, "curl/8", "mild.test/closed", &["address", "authority", "path", "user-agent"]),
        (&ruleset, "curl/8", "mild.test/open", &["address", "authority", "method", "path", "user-agent"]),
        // The group for this path says which purposes it allows.
        (
            &ruleset,
            "curl/8",
            "mild.test/search",
            &["address", "authority", purpose, "method", "path", "user-agent"],
        ),
    ] {
        let request = request(NOWHERE, user_agent, url);
        decide(ruleset, &request, Overrides::default());
        assert_eq!(request.facts(), facts, "{user_agent} at {url}");
    }
}

#[test]
fn a_share_of_the_addresses_is_enforced_on() {
    let ruleset = ruleset(DOCUMENT);
    let is_enforced_on = |address: &str| {
        let decision = decide(&ruleset, &request(address, "GoodBot", "half.test/"), Overrides::default());
        assert_eq!(decision.action, Action::Deny);
        decision.enforced
    };
    let addresses = (0..=255_u8).map(|last| IpAddr::from([198, 18, 0, last]).to_string());
    let enforced = addresses.filter(|address| {
        let is_enforced_on_it = is_enforced_on(address);
        assert_eq!(is_enforced_on(&format!("64:ff9b::{address}")), is_enforced_on_it, "{address}");
        is_enforced_on_it
    });
    assert!((96..=160).contains(&enforced.count()));
}

/// SIG-12.
#[test]
fn sig_12_a_signature_verifies_whoever_the_user_agent_is_and_a_wrong_one_is_spoofed() {
    use ed25519_dalek::{Signer, SigningKey};

    use crate::sign::{Statement, key_directory, sign_request};

    let key = SigningKey::from_bytes(&[7; 32]);
    let public = key.verifying_key().to_bytes();
    let document = serde_json::json!({
        "mode": "enforce", "catalog": "first",
        "feeds": [{ "name": "good", "format": "cidr", "source": "good" }],
        "agents": [
            { "token": "SigningBot", "keys": [{ "directory": "https://signer.test", "source": "keys" }] },
            { "token": "GoodBot", "feeds": ["good"] },
        ],
        "sites": [{ "hosts": ["signed.test"] }, { "hosts": ["kind.test"], "spoofed": "policy" }],
        "files": { "good": { "text": "192.0.2.0/24" }, "keys": { "text": key_directory(&[public]) },
            "first": { "text": r#"{ "agents": [ { "token": "FirstBot", "begins": true } ] }"# } },
    });
    let ruleset = ruleset(&document.to_string());
    let of = |address, user_agent, host: &str, signed_host, created| {
        let asked = Asked { host: signed_host, ..Asked::default() };
        let statement =
            Statement { label: "sig1", key: &public, created, expires: created + 60, nonce: Some("n") };
        let headers = sign_request(&asked, "https://signer.test", &["@authority"], &statement, |base| {
            key.sign(base).to_bytes()
        });
        let headers: alloc::vec::Vec<(String, String)> =
            headers.unwrap().into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
        let headers: alloc::vec::Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let address: IpAddr = str::parse(address).unwrap();
        let asked = Asked { address: Some(address), user_agent, host, headers: &headers, ..Asked::default() };
        let mut steps = 0;
        let decision = decide_traced(&ruleset, &asked, Overrides::default(), &mut |step| {
            steps += usize::from(matches!(step, Step::Signature { .. } | Step::MisplacedToken(_)));
        });
        assert_eq!(steps, usize::from(decision.signature().is_some()));
        let facts = ruleset.describe(&decision, &asked);
        let proof = facts.proof.map(|proof| proof.to_string());
        let has_proved = decision.signature() == Some(crate::SignatureResult::Verified);
        assert_eq!(has_proved, proof.as_deref() == Some("signature"));
        (decision.identity, decision.reason, facts.agent.map(ToString::to_string), proof)
    };
    let some = |text: &str| Some(text.to_string());
    let now = Asked::default().now();
    let signed = (Identity::Verified, Reason::Allowed, some("SigningBot"), some("signature"));
    let forged = (Identity::Spoofed, Reason::BadSignature, some("SigningBot"), None);
    for (address, user_agent, host, signed_host, created, expected) in [
        (NOWHERE, BROWSER, "signed.test", "signed.test", now, signed.clone()),
        (NOWHERE, "curl/8", "signed.test", "signed.test", now, signed.clone()),
        (NOWHERE, "SigningBot/1", "signed.test", "signed.test", now, signed.clone()),
        // The agent that the signature proves counts, not the one that the User-Agent claims.
        (NOWHERE, "GoodBot", "signed.test", "signed.test", now, signed.clone()),
        (NOWHERE, "Example/1 FirstBot/1", "signed.test", "signed.test", now, signed.clone()),
        (GOOD, BROWSER, "signed.test", "signed.test", now, signed),
        // The first proof that holds.
        (
            GOOD,
            "GoodBot",
            "signed.test",
            "other.test",
            now,
            (Identity::Verified, Reason::Allowed, some("GoodBot"), some("ip-range")),
        ),
        (NOWHERE, BROWSER, "signed.test", "other.test", now, forged.clone()),
        (NOWHERE, "GoodBot", "signed.test", "other.test", now, forged),
        (
            NOWHERE,
            BROWSER,
            "kind.test",
            "other.test",
            now,
            (Identity::Spoofed, Reason::Allowed, some("SigningBot"), None),
        ),
        // As without a signature.
        (
            NOWHERE,
            BROWSER,
            "signed.test",
            "other.test",
            now - 300,
            (Identity::None, Reason::NotAutomated, None, None),
        ),
        (
            NOWHERE,
            "SigningBot",
            "signed.test",
            "signed.test",
            now - 300,
            (Identity::Unverified, Reason::Allowed, some("SigningBot"), None),
        ),
        (
            NOWHERE,
            "GoodBot",
            "signed.test",
            "signed.test",
            now + 300,
            (Identity::Spoofed, Reason::SpoofedAgent, some("GoodBot"), None),
        ),
    ] {
        assert_eq!(of(address, user_agent, host, signed_host, created), expected, "{user_agent} {created}");
    }
}

#[test]
fn keys_are_checked_when_a_configuration_is_loaded() {
    let messages = |keys: &str, files: &str| {
        let document = format!(
            r#"{{ "catalog": "none", "sites": [ {{}} ], "agents": [ {{ "token": "A", "keys": [ {keys} ] }} ], "files": {{ {files} }} }}"#
        );
        let compiled = Ruleset::compile("c.json", document.as_bytes(), &NoFiles);
        let messages: alloc::vec::Vec<String> =
            compiled.diagnostics.iter().map(ToString::to_string).collect();
        (compiled.ruleset.is_some(), messages.join("\n"))
    };
    let keys = r#"{ "directory": "https://a.test", "source": "k" }"#;
    assert_eq!(messages(keys, r#""k": { "text": "{\"keys\":[]}" }"#), (true, String::new()));
    let (is_compiled, text) = messages(keys, "");
    assert!(is_compiled && text.contains("warning: the file k does not exist, so no signature"), "{text}");
    let (is_compiled, text) = messages(keys, r#""k": { "text": "{}" }"#);
    assert!(!is_compiled && text.contains("k: error: not a key directory"), "{text}");
    let (is_compiled, text) = messages(&keys.replace("https", "http"), "");
    assert!(
        !is_compiled && text.contains("`http://a.test` is not a key directory: use an https URL"),
        "{text}"
    );
}
