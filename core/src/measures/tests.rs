use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use std::collections::HashSet;

use serde_json::{Value, json};

use super::*;
use crate::compile::{Files, FoundFile};
use crate::decide::{Overrides, decide};
use crate::user_agent::MAX_TOKEN;

/// `dated` was made at 1000; `undated` has no date.
struct TwoFeeds;

impl Files for TwoFeeds {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        let modified = (path == "dated").then_some(1000);
        Ok(Some(FoundFile { bytes: b"192.0.2.0/24\n198.51.100.0/24\n".to_vec(), modified }))
    }
}

fn ruleset() -> Ruleset {
    let document = br#"{
        "mode": "observe", "catalog": "none",
        "feeds": [ { "name": "a \"b\" \\c", "format": "cidr", "source": "dated", "guard": "off" },
                   { "name": "other", "format": "cidr", "source": "undated", "guard": "off" } ],
        "agents": [ { "token": "LabBot", "feeds": ["other"] } ],
        "sites": [ { "hosts": ["example.com"] }, { "name": "one\ntwo", "hosts": ["example.net"] } ]
    }"#;
    let compiled = Ruleset::compile("c.json", document, &TwoFeeds);
    compiled.ruleset.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

/// A request with this User-Agent to this host.
struct Asked(&'static str, &'static str);

impl crate::Request for Asked {
    fn address(&self) -> Option<core::net::IpAddr> {
        Some([203, 0, 113, 9].into())
    }

    fn host(&self) -> Option<&[u8]> {
        Some(self.1.as_bytes())
    }

    fn method(&self) -> &[u8] {
        b"GET"
    }

    fn path(&self) -> &[u8] {
        b"/"
    }

    fn user_agent(&self) -> Option<&[u8]> {
        Some(self.0.as_bytes())
    }

    fn now(&self) -> i64 {
        2000
    }

    fn header(&self, _: &str) -> Option<&[u8]> {
        None
    }
}

fn series(ruleset: &Ruleset, user_agent: &'static str, host: &'static str) -> Series {
    Series::of(&decide(ruleset, &Asked(user_agent, host), Overrides::default())).unwrap()
}

#[test]
fn a_series_has_the_names_of_its_agent_and_site() {
    let ruleset = ruleset();
    let spoofed = series(&ruleset, "LabBot/1.0", "example.com");
    assert_eq!(
        spoofed.labels(&ruleset).values(),
        ["deny", "spoofed-agent", "spoofed", "LabBot", "example.com"]
    );
    let generic = series(&ruleset, "curl/8", "example.org");
    assert_eq!(generic.labels(&ruleset).values(), ["allow", "allowed", "generic", "", ""]);
    assert_eq!(
        spoofed.in_others().labels(&ruleset).values(),
        ["deny", "spoofed-agent", "spoofed", "other", "other"]
    );
    assert_eq!(generic.in_others(), generic, "what has no name needs no other");
}

#[test]
fn what_is_ignored_is_not_counted() {
    let overrides = Overrides { mode: Some(crate::config::Mode::Off), site: None };
    assert_eq!(Series::of(&decide(&ruleset(), &Asked("curl/8", "example.com"), overrides)), None);
}

#[test]
fn each_series_has_a_key_of_its_own() {
    let mut keys = HashSet::new();
    let names = [Name::None, Name::Of(0), Name::Of(1), Name::Of(u16::MAX), Name::Other];
    let mut made = 0;
    for action in Action::ALL {
        for reason in Reason::ALL {
            for identity in Identity::ALL {
                for (agent, site) in names.iter().flat_map(|agent| names.map(|site| (*agent, site))) {
                    let series =
                        Series { action: *action, reason: *reason, identity: *identity, agent, site };
                    keys.insert(series.key());
                    made += 1;
                }
            }
        }
    }
    assert_eq!(keys.len(), made);
}

#[test]
fn joined_labels_are_bounded_and_come_apart_again() {
    let ruleset = ruleset();
    let series = series(&ruleset, "LabBot/1.0", "example.net");
    let labels = series.labels(&ruleset);
    assert_eq!(labels.values()[4], "one\ntwo");
    assert_eq!(Labels::split(&labels.joined()), Some(labels));
    assert_eq!(Labels::split("allow\nallowed"), None);
    let longest = |words: &mut dyn Iterator<Item = &'static str>| words.map(str::len).max().unwrap();
    let words = longest(&mut Action::ALL.iter().map(|word| word.as_str()))
        + longest(&mut Reason::ALL.iter().map(|word| word.as_str()))
        + longest(&mut Identity::ALL.iter().map(|word| word.as_str()));
    assert!(words + MAX_TOKEN + LONGEST_VALUE + "\n\n\n\n".len() <= Labels::LONGEST);
    assert_eq!(shortened(&"ż".repeat(200)).len(), LONGEST_VALUE - 1);
}

fn page<'a>(ruleset: &'a Ruleset, requests: Vec<(Labels<'a>, u64)>) -> Page<'a> {
    let reloads = alloc::vec![(ReloadResult::Success, 3), (ReloadResult::Failure, 1)];
    Page { ruleset, loaded: 1500, now: 2000, requests, errors: 7, reloads }
}

#[test]
fn the_text_is_that_of_prometheus() {
    let ruleset = ruleset();
    let labels = series(&ruleset, "LabBot/1.0", "example.net").labels(&ruleset);
    let text = page(&ruleset, alloc::vec![(labels, 1), (labels, 2)]).write(Form::Text);
    let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(
        samples,
        [
            r#"crawlward_requests_total{action="deny",reason="spoofed-agent",identity="spoofed",agent="LabBot",site="one\ntwo"} 3"#,
            r#"crawlward_feed_prefixes{feed="a \"b\" \\c"} 2"#,
            r#"crawlward_feed_prefixes{feed="other"} 2"#,
            r#"crawlward_feed_age_seconds{feed="a \"b\" \\c"} 1000"#,
            "crawlward_ruleset_loaded_timestamp_seconds 1500",
            "crawlward_errors_total 7",
            r#"crawlward_reloads_total{result="success"} 3"#,
            r#"crawlward_reloads_total{result="failure"} 1"#,
        ]
    );
    for metric in [REQUESTS, FEED_PREFIXES, FEED_AGE, RULESET_LOADED, ERRORS, RELOADS] {
        let (name, help) = (metric.name, metric.help);
        assert!(!help.contains(['\\', '\n']), "{name}: would have to be escaped");
        assert!(text.contains(&format!("# HELP {name} {help}\n# TYPE {name} ")), "{name}");
    }
    assert!(text.ends_with('\n'));
}

#[test]
fn the_json_has_the_same_names_and_the_state_of_each_feed() {
    let ruleset = ruleset();
    let labels = series(&ruleset, "curl/8", "example.com").labels(&ruleset);
    let json: Value =
        serde_json::from_str(&page(&ruleset, alloc::vec![(labels, 5)]).write(Form::Json)).unwrap();
    assert_eq!(
        json[REQUESTS.name],
        json!([{ "action": "allow", "reason": "allowed", "identity": "generic", "agent": "",
                 "site": "example.com", "value": 5 }])
    );
    assert_eq!(json[FEED_AGE.name], json!([{ "feed": "a \"b\" \\c", "value": 1000 }]));
    assert_eq!(json[RULESET_LOADED.name], 1500);
    assert_eq!(json[ERRORS.name], 7);
    assert_eq!(json[RELOADS.name][1], json!({ "result": "failure", "value": 1 }));
    assert_eq!(
        json["feeds"][1],
        json!({ "name": "other", "state": "ok", "why": null, "prefixes": 2, "age": null })
    );
    assert_eq!(json["mode"], "observe");
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION").to_string());
}
