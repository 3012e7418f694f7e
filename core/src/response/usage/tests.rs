use super::*;
use crate::request::tests::Asked;
use crate::{NoFiles, Overrides, decide};
use alloc::string::String;

const DOCUMENT: &str = r#"{
  "mode": "enforce", "catalog": "none",
  "feeds": [ { "name": "lab", "format": "cidr", "source": "lab" } ],
  "agents": [ { "token": "OwnBot", "feeds": ["lab"] } ],
  "sites": [
    { "hosts": ["sends.test"], "robots_txt": "robots", "spoofed": "policy", "unverified": "policy",
      "usage": { "send": true, "license": "https://a.example/l.xml" } },
    { "hosts": ["licensed.test"], "usage": { "send": true, "license": "https://a.example/l.xml" } },
    { "hosts": ["silent.test"], "robots_txt": "robots", "usage": { "rules": [ { "preferences": "search=n" } ] } } ],
  "files": { "lab": { "text": "192.0.2.0/24" },
    "robots": { "text": "User-agent: *\nDisallow: /closed\nContent-Usage: train-ai=n\n\nUser-agent: OwnBot\nContent-Usage: train-ai=y\n" } }
}"#;

/// The lines that replace those of a response, by header.
fn edited(request: &Asked<'_>, response: &[(&str, &str)]) -> Vec<(&'static str, Vec<String>)> {
    let ruleset = Ruleset::compile("c.json", DOCUMENT.as_bytes(), &NoFiles).ruleset.unwrap();
    let decision = decide(&ruleset, request, Overrides::default());
    let Some(plan) = ruleset.response_plan(&decision) else { return Vec::new() };
    let lines = response.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    let edits = plan.header_edits(lines);
    let text = |lines: &[Box<[u8]>]| -> Vec<String> {
        lines.iter().map(|line| String::from_utf8(line.to_vec()).unwrap()).collect()
    };
    if let Some(watched) = plan.watched() {
        let is_watched = |name: &str| watched.iter().any(|header| header.sent == name);
        assert!(edits.replaced().all(|(name, _)| is_watched(name.sent)), "what is changed is watched");
    }
    edits.replaced().map(|(name, lines)| (name.sent, text(lines))).collect()
}

fn asked<'a>(host: &'a str, user_agent: &'a str) -> Asked<'a> {
    Asked { host, user_agent, path: "/a", ..Asked::default() }
}

const LINK: &str = "<https://a.example/l.xml>; rel=\"license\"; type=\"application/rsl+xml\"";

/// USE-8, USE-10.
#[test]
fn use_8_responses_say_what_the_site_prefers() {
    let person = asked("sends.test", "Mozilla/5.0 Firefox/128.0");
    let usage = ("Content-Usage", Vec::from([String::from("train-ai=n")]));
    let link = ("Link", Vec::from([String::from(LINK)]));
    assert_eq!(edited(&person, &[]), [usage.clone(), link.clone()]);
    // A statement that is there already stays.
    let said =
        [("content-usage", "train-ai=n"), ("LINK", "<https://a.example/l.xml>;REL=License, </b>; rel=next")];
    assert!(edited(&person, &said).is_empty());
    // A link to the same page for something else says nothing of a licence, nor does one beside it.
    let other = "<https://a.example/l.xml>; rel=next, </b>; rel=license";
    assert_eq!(
        edited(&person, &[("Link", other)]),
        [usage.clone(), ("Link", [other.into(), LINK.into()].into())]
    );
    let upstream = [("Content-Usage", "search=y"), ("Content-Usage", "train-ai=y"), ("Link", LINK)];
    assert_eq!(edited(&person, &upstream), [("Content-Usage", ["search=y, train-ai=n".into()].into())]);
    // A site without a statement leaves that of the upstream alone.
    let licensed = asked("licensed.test", "");
    assert_eq!(edited(&licensed, &[("Content-Usage", "nonsense=")]), [link]);
    // Nothing where the site does not send it.
    assert!(edited(&asked("silent.test", ""), &[]).is_empty());
}

/// USE-8: the verified agent alone gets what its own group says.
#[test]
fn use_8_a_verified_agent_gets_its_own_statement() {
    let headers = |address: &str, response: &[(&str, &str)]| {
        let request = Asked { address: Some(address.parse().unwrap()), ..asked("sends.test", "OwnBot/1.0") };
        edited(&request, response)
    };
    let own = ("Content-Usage", Vec::from([String::from("train-ai=y")]));
    let link = ("Link", Vec::from([String::from(LINK)]));
    let vary = |line: &str| ("Vary", Vec::from([String::from(line)]));
    assert_eq!(headers("192.0.2.1", &[]), [own.clone(), link.clone(), vary("User-Agent")]);
    assert_eq!(
        headers("192.0.2.1", &[("Vary", "Accept")]),
        [own.clone(), link.clone(), vary("Accept, User-Agent")]
    );
    assert_eq!(headers("192.0.2.1", &[("Vary", "user-agent")]), [own, link.clone()]);
    let for_all = ("Content-Usage", Vec::from([String::from("train-ai=n")]));
    assert_eq!(headers("198.51.100.1", &[]), [for_all, link]);
}

/// Nothing of the page is in a denial.
#[test]
fn a_denial_says_nothing_of_usage() {
    let denied = Asked { path: "/closed", ..asked("sends.test", "curl/8") };
    assert!(edited(&denied, &[]).iter().all(|(name, _)| *name == "Cache-Control"));
}

/// USE-10: a document states what the response states, and nothing where that is nothing.
#[test]
fn use_10_a_document_states_what_its_response_does() {
    // The agent's own group states nothing.
    const NOTHING: &str = r#"{
      "catalog": "none",
      "feeds": [ { "name": "lab", "format": "cidr", "source": "lab" } ],
      "agents": [ { "token": "OwnBot", "feeds": ["lab"] } ],
      "sites": [ { "robots_txt": "robots", "usage": { "send": true } } ],
      "files": { "lab": { "text": "192.0.2.0/24" },
        "robots": { "text": "User-agent: *\nContent-Usage: train-ai=n\n\nUser-agent: OwnBot\nDisallow: /b\n" } } }"#;
    let stated = |document: &str, request: &Asked<'_>, upstream: &[&[u8]]| {
        let ruleset = Ruleset::compile("c.json", document.as_bytes(), &NoFiles).ruleset.unwrap();
        let decision = decide(&ruleset, request, Overrides::default());
        let rules = ruleset.usage_rules(&decision).expect("a site that sends");
        rules.of_document(DocumentForm::AiDocument, upstream)
    };
    let preferences = |preferences: &str, licenses: &[&str]| {
        let licenses = licenses.iter().map(|url| String::from(*url)).collect();
        Some(DocumentUsage { preferences: Some(preferences.into()), licenses })
    };
    let own = Asked { address: "192.0.2.1".parse().ok(), ..asked("a.test", "OwnBot/1.0") };
    assert_eq!(stated(NOTHING, &own, &[]), None);
    assert_eq!(stated(NOTHING, &own, &[b"search=n"]), preferences("search=n", &[]));
    let person = asked("sends.test", "Mozilla/5.0 Firefox/128.0");
    let license = ["https://a.example/l.xml"];
    assert_eq!(stated(DOCUMENT, &person, &[]), preferences("train-ai=n", &license));
    let both = preferences("search=n, train-ai=n", &license);
    assert_eq!(stated(DOCUMENT, &person, &[b"search=n", b"train-ai=y"]), both);
}
