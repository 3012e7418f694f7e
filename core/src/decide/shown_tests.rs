//! A decision as people see it: its steps, its names, its headers and the gate's own response.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::judge::decide_traced;
use super::tests::ruleset;
use crate::decide::step::Step;
use crate::identity::{Doubt, Identity};
use crate::policy::usage::vocabulary::PURPOSES;
use crate::request::tests::{Asked, BROWSER};
use crate::{Files, FoundFile, Overrides, Reason, Reply, Ruleset, decide};

const DOCUMENT: &str = r#"{
  "mode": "enforce", "catalog": "none",
  "agents": [ { "token": "ExampleBot", "purposes": ["training"] }, { "token": "OtherBot" } ],
  "sites": [ { "hosts": ["site.test"], "robots_txt": "robots", "automation_preferences": "preferences",
    "usage": { "rules": [ { "scope": "/", "preferences": "search=y" } ] } } ],
  "files": {
    "robots": { "text": "User-agent: ExampleBot\nDisallow: /closed # now\n\nUser-agent: *\nContent-Usage: train-ai=n\nAllow: /\n" },
    "preferences": { "text": "\n\nuser-agent: OtherBot\nscope: /closed\nallowed-methods: HEAD\n\nscope: /\nallowed-methods: GET\n\n" }
  }
}"#;

fn request(user_agent: &'static str, path: &'static str) -> Asked<'static> {
    Asked { host: "site.test", path, user_agent, ..Asked::default() }
}

/// File, group, line and text of each policy that was asked.
fn policies(user_agent: &'static str, path: &'static str) -> Vec<String> {
    let (ruleset, mut found) = (ruleset(DOCUMENT), Vec::new());
    decide_traced(&ruleset, &request(user_agent, path), Overrides::default(), &mut |step| {
        if let Step::Policy(verdict) = step {
            let group = verdict.group().unwrap_or_default();
            let text = verdict.text().unwrap_or_default();
            found.push(format!("{}: {group}: {:?}: {text}", verdict.file(), verdict.line));
        }
    });
    found
}

#[test]
fn each_policy_is_shown_with_its_group_and_line() {
    assert_eq!(
        policies("ExampleBot/1", "/closed"),
        ["robots: the group of examplebot: Some(2): Disallow: /closed"]
    );
    assert_eq!(
        policies("OtherBot/1", "/closed"),
        [
            "robots: the group of *: Some(6): Allow: /",
            "preferences: the group in line 3: Some(5): allowed-methods: HEAD"
        ]
    );
}

#[test]
fn a_decision_has_details_for_a_log_and_a_header_for_the_application() {
    let ruleset = ruleset(DOCUMENT);
    let shown = |user_agent, path| {
        let decision = decide(&ruleset, &request(user_agent, path), Overrides::default());
        (decision.response_details(), ruleset.header_value(&decision).unwrap_or_default())
    };
    let header = |action, agent| format!("action={action}, identity=unverified, agent=\"{agent}\"");
    assert_eq!(
        shown("ExampleBot/1", "/closed"),
        ("crawlpike_denied[robots-disallowed]".into(), header("deny", "ExampleBot"))
    );
    assert_eq!(shown("OtherBot/1", "/"), ("crawlpike_allowed".into(), header("allow", "OtherBot")));
}

#[test]
fn a_policy_is_answered_with_its_type_its_tag_and_its_lifetime() {
    let ruleset = ruleset(DOCUMENT);
    let request = request("ExampleBot/1", "/robots.txt");
    let decision = decide(&ruleset, &request, Overrides::default());
    let reply = ruleset.reply(&decision, &request, None).unwrap();
    let etag = reply.etag.map(str::to_string).unwrap();
    assert!(reply.body.starts_with(b"User-agent: ExampleBot"));
    let headers = |reply: &Reply<'_>| {
        reply.headers().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>()
    };
    let validated = ["Cache-Control: max-age=3600".to_string(), format!("ETag: {etag}")];
    assert_eq!(headers(&reply)[..1], ["Content-Type: text/plain; charset=utf-8"]);
    assert_eq!(headers(&reply)[1..3], validated);
    let denied = decide(&ruleset, &self::request("ExampleBot/1", "/closed"), Overrides::default());
    let denial = ruleset.reply(&denied, &request, None).unwrap();
    assert_eq!(headers(&denial), ["Content-Type: application/problem+json", "Cache-Control: no-store"]);
    let condition = [("if-none-match", &*etag)];
    let again = Asked { headers: &condition, ..request };
    let reply = ruleset.reply(&decision, &again, None).unwrap();
    assert_eq!((reply.status, &*reply.body, headers(&reply)), (304, &b""[..], validated.into()));
}

/// Files that were modified a thousand seconds after the epoch.
struct Dated;

impl Files for Dated {
    fn read(&self, _path: &str) -> Result<Option<FoundFile>, String> {
        Ok(Some(FoundFile { bytes: b"User-agent: *\nAllow: /\n".to_vec(), modified: Some(1000) }))
    }
}

#[test]
fn a_policy_has_the_date_of_its_file() {
    let document = br#"{ "mode": "enforce", "catalog": "none", "sites": [ { "hosts": ["site.test"], "robots_txt": "robots.txt" } ] }"#;
    let ruleset = Ruleset::compile("c.json", document, &Dated).ruleset.unwrap();
    let request = request("ExampleBot/1", "/robots.txt");
    let decision = decide(&ruleset, &request, Overrides::default());
    let reply = ruleset.reply(&decision, &request, None).unwrap();
    let date = reply.headers().find(|(name, _)| *name == "Last-Modified").map(|(_, value)| value.to_string());
    assert_eq!(date.as_deref(), Some("Thu, 01 Jan 1970 00:16:40 GMT"));
}

/// USE-9.
#[test]
fn the_usage_of_a_page_is_shown_with_its_lines() {
    let ruleset = ruleset(DOCUMENT);
    let request = request("OtherBot/1", "/a");
    let decision = decide(&ruleset, &request, Overrides::default());
    assert_eq!((decision.identity, decision.reason), (Identity::Unverified, Reason::Allowed));
    let parts = ruleset.usage_parts(&decision, &request);
    let parts: Vec<_> =
        parts.iter().map(|part| (part.rule.file, part.rule.line, part.text.as_deref())).collect();
    assert_eq!(parts, vec![("robots", 5, Some("Content-Usage: train-ai=n")), ("c.json", 5, None)]);
    assert!(ruleset.describe(&decision, &request).usage.is_none());
    let usage = ruleset.describe_with_usage(&decision, &request).usage.unwrap();
    assert!(PURPOSES.iter().any(|(word, _)| usage.on(word).is_some()));
}

#[test]
fn a_share_of_the_addresses_and_each_other_spelling_are_steps() {
    let steps_of = |user_agent, document: &str, path: &'static str| {
        let ruleset = ruleset(document);
        let mut found = Vec::new();
        let request = request(user_agent, path);
        decide_traced(&ruleset, &request, Overrides::default(), &mut |step| match step {
            Step::Share { percent, .. } => found.push(format!("{percent}%")),
            Step::Spelling(spelling) => found.push(format!("{spelling:?}")),
            Step::MisplacedToken(token) => found.push(token.into()),
            _ => {}
        });
        found
    };
    let steps = |document: &str, path| steps_of("ExampleBot/1", document, path);
    let of_catalog = r#""agents": { "text": "{\"agents\": [ { \"token\": \"OtherBot\", \"begins\": true } ]}" }, "robots":"#;
    let misplaced = DOCUMENT
        .replace("\"none\"", "\"agents\"")
        .replace("\"robots\":", of_catalog)
        .replace(", { \"token\": \"OtherBot\" }", "");
    assert_eq!(steps_of("OtherBot/1", &misplaced, "/open"), [""; 0]);
    assert_eq!(steps_of("Example/1 OtherBot/1", &misplaced, "/open"), ["OtherBot"]);
    assert_eq!(steps(DOCUMENT, "/open"), [""; 0]);
    assert_eq!(steps(DOCUMENT, "//open"), ["SlashesFirst"]);
    let shared = DOCUMENT.replace("\"hosts\"", "\"enforce_percent\": 7, \"hosts\"");
    assert_eq!(steps(&shared, "/open"), ["7%"]);
}

#[test]
fn the_facts_of_people_are_left_out_unless_they_are_asked_for() {
    let facts = |site: &str, user_agent| {
        let document = DOCUMENT.replace("\"hosts\"", &format!("{site} \"hosts\""));
        let ruleset = ruleset(&document);
        let decision = decide(&ruleset, &request(user_agent, "/"), Overrides::default());
        (ruleset.filter_state(&decision).len(), ruleset.shows_document(&decision))
    };
    let site = r#""filter_state": ["agent", "document"],"#;
    assert_eq!(facts(site, "ExampleBot/1"), (2, true));
    assert_eq!(facts(site, BROWSER), (0, true));
    assert_eq!(facts(r#""filter_state": ["agent"],"#, "ExampleBot/1"), (1, false));
    assert_eq!(facts(r#""filter_state": ["agent", "network"],"#, BROWSER), (2, false));
}

#[test]
fn the_place_of_a_person_is_nobodys_business() {
    let document = r#"{
      "catalog": "none", "feeds": [ { "name": "places", "format": "geofeed", "source": "places" } ],
      "files": { "places": { "text": "192.0.2.0/24,PL,PL-14,Warsaw,\n" } }
    }"#;
    let ruleset = ruleset(document);
    let country = |user_agent| {
        let request = Asked { address: "192.0.2.1".parse().ok(), user_agent, ..Asked::default() };
        let decision = decide(&ruleset, &request, Overrides::default());
        assert_eq!(decision.place.is_some(), ruleset.named(&decision).country.is_some());
        ruleset.named(&decision).country
    };
    assert_eq!([country(BROWSER), country("curl/8")], [None, Some("PL")]);
}

#[test]
fn operators_get_advice_on_private_addresses() {
    let advice = |doubt: Doubt| doubt.advice().unwrap_or_default();
    assert!(advice(Doubt::PrivateAddress).contains("set_real_ip_from"));
    assert_eq!(advice(Doubt::NoFeed), "");
}

/// JAFAR-9.
#[test]
fn of_several_services_the_one_of_the_agent_is_named() {
    let document = r#"{
      "catalog": "none", "feeds": [ { "name": "ranges", "format": "jafar", "source": "ranges" } ],
      "agents": [ { "token": "ExampleBot", "feeds": ["ranges"], "services": ["images"] } ],
      "files": { "ranges": { "text": "{\"prefixes\": [ {\"ipv4Prefix\": \"192.0.2.0/24\", \"service\": \"search\"}, {\"ipv4Prefix\": \"192.0.2.0/24\", \"service\": \"images\"} ]}" } }
    }"#;
    let ruleset = ruleset(document);
    let service = |user_agent| {
        let request = Asked { address: "192.0.2.1".parse().ok(), user_agent, ..Asked::default() };
        let decision = decide(&ruleset, &request, Overrides::default());
        ruleset.named(&decision).service
    };
    assert_eq!([service("ExampleBot/1"), service("curl/8")], [Some("images"), Some("search")]);
}
