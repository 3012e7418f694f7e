use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::collections::HashSet;

use serde_json::{Value, json};
use zerocopy::FromZeros;

use super::series::{LONGEST_VALUE, Name, shortened};
use super::*;
use crate::decide::decision::Action;
use crate::decide::judge::decide;
use crate::identity::{Doubt, Identity, NameLookupResult, SignatureResult};
use crate::ids::{Id, SiteId};
use crate::reason::Reason;
use crate::request::Overrides;
use crate::request::tests::Asked;
use crate::response::document::{DocumentForm, DocumentOutcome};
use crate::ruleset::compile::{Files, FoundFile};
use crate::ruleset::data::Ruleset;
use crate::user_agent::MAX_TOKEN;

mod statistics;

/// `dated` was made at 1000; `undated` has no date; `odd` has an entry that can't be read; there is no `none`.
struct TwoFeeds;

impl Files for TwoFeeds {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        let modified = (path == "dated").then_some(1000);
        let second = if path == "odd" { "odd" } else { "198.51.100.0/24" };
        let bytes = format!("192.0.2.0/24\n{second}\n").into_bytes();
        Ok((path != "none").then_some(FoundFile { bytes, modified }))
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

fn asked<'a>(user_agent: &'a str, host: &'a str) -> Asked<'a> {
    Asked { address: Some([203, 0, 113, 9].into()), host, user_agent, ..Asked::default() }
}

fn series(ruleset: &Ruleset, user_agent: &str, host: &str) -> Series {
    Series::of(&decide(ruleset, &asked(user_agent, host), Overrides::default())).unwrap()
}

#[test]
fn a_series_has_the_names_of_its_agent_and_site() {
    let ruleset = ruleset();
    let spoofed = series(&ruleset, "LabBot/1.0", "example.com");
    assert_eq!(
        spoofed.labels(&ruleset).values(),
        ["deny", "false", "spoofed-agent", "spoofed", "LabBot", "example.com"]
    );
    let generic = series(&ruleset, "curl/8", "example.org");
    assert_eq!(generic.labels(&ruleset).values(), ["allow", "false", "allowed", "generic", "", ""]);
    let coarser = spoofed.coarser().unwrap();
    assert_eq!(
        coarser.labels(&ruleset).values(),
        ["deny", "false", "spoofed-agent", "spoofed", "LabBot", "other"]
    );
    let coarsest = coarser.coarser().unwrap();
    assert_eq!(
        coarsest.labels(&ruleset).values(),
        ["deny", "false", "spoofed-agent", "spoofed", "other", "other"]
    );
    assert_eq!(coarsest.coarser(), None);
    assert_eq!(generic.coarser(), None, "what has no name needs no other");
    let of_site = series(&ruleset, "curl/8", "example.com");
    assert_eq!(of_site.coarser().unwrap().labels(&ruleset).values()[4..], ["", "other"]);
}

#[test]
fn what_is_ignored_is_not_counted() {
    let overrides = Overrides { mode: Some(crate::config::Mode::Off), ..Overrides::default() };
    assert_eq!(Series::of(&decide(&ruleset(), &asked("curl/8", "example.com"), overrides)), None);
}

#[test]
fn each_series_has_a_key_of_its_own() {
    let mut keys = HashSet::new();
    fn names<I: Id>() -> [Name<I>; 5] {
        let [first, second, last] = [0, 1, 65_535].map(|index| Name::Of(I::from_index(index).unwrap()));
        [Name::None, first, second, last, Name::Other]
    }
    let mut made = 0;
    for action in Action::ALL {
        for reason in Reason::ALL {
            for identity in Identity::ALL {
                for (agent, site) in names().into_iter().flat_map(|agent| names().map(|site| (agent, site))) {
                    for enforced in [false, true] {
                        let (action, reason, identity) = (*action, *reason, *identity);
                        keys.insert(Series { action, enforced, reason, identity, agent, site }.key());
                        made += 1;
                    }
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
    assert_eq!(labels.values()[5], "one\ntwo");
    assert_eq!(Labels::split(&labels.joined()), Some(labels));
    assert_eq!(Labels::split("allow\nfalse\nallowed"), None);
    let longest = |words: &mut dyn Iterator<Item = &'static str>| words.map(str::len).max().unwrap();
    let words = longest(&mut Action::ALL.iter().map(|word| word.as_str()))
        + longest(&mut Reason::ALL.iter().map(|word| word.as_str()))
        + longest(&mut Identity::ALL.iter().map(|word| word.as_str()));
    assert!(words + MAX_TOKEN + LONGEST_VALUE + "false\n\n\n\n\n".len() <= Labels::LONGEST);
    assert!(words + MAX_TOKEN + "falseother\n\n\n\n\n".len() <= Labels::LONGEST_WITHOUT_SITE);
    assert_eq!(shortened(&"ż".repeat(200)).len(), LONGEST_VALUE - 1);
}

/// Counters of some events.
fn counters() -> Box<Counters> {
    let counters = Counters::new_box_zeroed().unwrap();
    for (times, event) in [
        (7, Event::Error),
        (3, Event::Reload(ReloadResult::Success)),
        (2, Event::Reload(ReloadResult::Partial)),
        (1, Event::Reload(ReloadResult::Failure)),
        (2, Event::Signature(SignatureResult::Expired)),
        (1, Event::NameLookup(NameLookupResult::TimedOut)),
        (5, Event::Doubt(Doubt::PrivateAddress)),
        (1, Event::Document(DocumentForm::AiDocument, DocumentOutcome::Busy)),
    ] {
        (0..times).for_each(|number| assert_eq!(counters.add(event, 1), number == 0));
    }
    counters.add(Event::DocumentBytes(DocumentForm::Markdown, Direction::In), 90_000);
    counters.add(Event::DocumentTime, 1_204);
    counters
}

#[test]
fn the_text_is_that_of_prometheus() {
    let (ruleset, counters, recent) = (ruleset(), counters(), RecentSlots::default());
    let series = series(&ruleset, "LabBot/1.0", "example.net");
    (0..3).for_each(|_| counters.count_request(series, &ruleset, &recent));
    let text = counters.page(&ruleset, 1500, 2000).write(Form::Text);
    let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(
        samples,
        [
            r#"crawlpike_requests_total{action="deny",enforced="false",reason="spoofed-agent",identity="spoofed",agent="LabBot",site="one\ntwo"} 3"#,
            r#"crawlpike_feed_state{feed="a \"b\" \\c",state="ok"} 1"#,
            r#"crawlpike_feed_state{feed="a \"b\" \\c",state="incomplete"} 0"#,
            r#"crawlpike_feed_state{feed="a \"b\" \\c",state="stale"} 0"#,
            r#"crawlpike_feed_state{feed="a \"b\" \\c",state="held"} 0"#,
            r#"crawlpike_feed_state{feed="a \"b\" \\c",state="missing"} 0"#,
            r#"crawlpike_feed_state{feed="other",state="ok"} 1"#,
            r#"crawlpike_feed_state{feed="other",state="incomplete"} 0"#,
            r#"crawlpike_feed_state{feed="other",state="stale"} 0"#,
            r#"crawlpike_feed_state{feed="other",state="held"} 0"#,
            r#"crawlpike_feed_state{feed="other",state="missing"} 0"#,
            r#"crawlpike_feed_prefixes{feed="a \"b\" \\c"} 2"#,
            r#"crawlpike_feed_prefixes{feed="other"} 2"#,
            r#"crawlpike_feed_age_seconds{feed="a \"b\" \\c"} 1000"#,
            "crawlpike_ruleset_loaded_timestamp_seconds 1500",
            "crawlpike_errors_total 7",
            r#"crawlpike_reloads_total{result="success"} 3"#,
            r#"crawlpike_reloads_total{result="partial"} 2"#,
            r#"crawlpike_reloads_total{result="failure"} 1"#,
            r#"crawlpike_signatures_total{result="verified"} 0"#,
            r#"crawlpike_signatures_total{result="bad-signature"} 0"#,
            r#"crawlpike_signatures_total{result="unknown-key"} 0"#,
            r#"crawlpike_signatures_total{result="expired"} 2"#,
            r#"crawlpike_signatures_total{result="not-yet-valid"} 0"#,
            r#"crawlpike_signatures_total{result="not-covered"} 0"#,
            r#"crawlpike_signatures_total{result="malformed"} 0"#,
            r#"crawlpike_signatures_total{result="unsupported"} 0"#,
            r#"crawlpike_signatures_total{result="over-limit"} 0"#,
            r#"crawlpike_signatures_total{result="over-budget"} 0"#,
            r#"crawlpike_name_lookups_total{result="confirmed"} 0"#,
            r#"crawlpike_name_lookups_total{result="refuted"} 0"#,
            r#"crawlpike_name_lookups_total{result="no-name"} 0"#,
            r#"crawlpike_name_lookups_total{result="timed-out"} 1"#,
            r#"crawlpike_name_lookups_total{result="failed"} 0"#,
            r#"crawlpike_name_lookups_total{result="over-limit"} 0"#,
            r#"crawlpike_name_lookups_total{result="backed-off"} 0"#,
            r#"crawlpike_doubts_total{doubt="private-address"} 5"#,
            r#"crawlpike_doubts_total{doubt="6to4"} 0"#,
            r#"crawlpike_doubts_total{doubt="teredo"} 0"#,
            r#"crawlpike_doubts_total{doubt="unknown-address"} 0"#,
            r#"crawlpike_doubts_total{doubt="no-feed"} 0"#,
            r#"crawlpike_doubts_total{doubt="partial-ranges"} 0"#,
            r#"crawlpike_doubts_total{doubt="lacking-feed"} 0"#,
            r#"crawlpike_doubts_total{doubt="feed-state"} 0"#,
            r#"crawlpike_doubts_total{doubt="signature-not-examined"} 0"#,
            r#"crawlpike_doubts_total{doubt="name-not-looked-up"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="made"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="status"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="type"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="size"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="depth"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="private"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="credentials"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="noindex"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="nosnippet"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="no-transform"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="coding"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="thin"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="busy"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="broken"} 0"#,
            r#"crawlpike_documents_total{form="markdown",outcome="gone"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="made"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="status"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="type"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="size"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="depth"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="private"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="credentials"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="noindex"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="nosnippet"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="no-transform"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="coding"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="thin"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="busy"} 1"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="broken"} 0"#,
            r#"crawlpike_documents_total{form="aidocument",outcome="gone"} 0"#,
            r#"crawlpike_document_bytes_total{form="markdown",direction="in"} 90000"#,
            r#"crawlpike_document_bytes_total{form="markdown",direction="out"} 0"#,
            r#"crawlpike_document_bytes_total{form="aidocument",direction="in"} 0"#,
            r#"crawlpike_document_bytes_total{form="aidocument",direction="out"} 0"#,
            "crawlpike_document_microseconds_total 1204",
        ]
    );
    for metric in ALL {
        let (name, help) = (metric.name, metric.help);
        assert!(!help.contains(['\\', '\n']), "{name}: would have to be escaped");
        assert!(text.contains(&format!("# HELP {name} {help}\n# TYPE {name} ")), "{name}");
    }
    assert!(text.ends_with('\n'));
}

#[test]
fn the_json_has_the_same_names_and_the_state_of_each_feed() {
    let ruleset = ruleset();
    let (counters, recent) = (counters(), RecentSlots::default());
    let series = series(&ruleset, "curl/8", "example.com");
    (0..5).for_each(|_| counters.count_request(series, &ruleset, &recent));
    let json = counters.page(&ruleset, 1500, 2000).write(Form::Json);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        json[REQUESTS.name],
        json!([{ "action": "allow", "enforced": "false", "reason": "allowed", "identity": "generic", "agent": "",
                 "site": "example.com", "value": 5 }])
    );
    assert_eq!(json[FEED_AGE.name], json!([{ "feed": "a \"b\" \\c", "value": 1000 }]));
    assert_eq!(json[RULESET_LOADED.name], 1500);
    assert_eq!(json[ERRORS.name], 7);
    assert_eq!(json[RELOADS.name][2], json!({ "result": "failure", "value": 1 }));
    assert_eq!(
        json["feeds"][1],
        json!({ "name": "other", "state": "ok", "why": null, "prefixes": 2, "age": null })
    );
    assert_eq!(json["mode"], "observe");
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION").to_string());
}

#[test]
fn a_reload_without_the_newest_version_of_a_feed_is_no_success() {
    let loaded = |path: &str| {
        let document = format!(
            r#"{{ "catalog": "none", "feeds": [
                 {{ "name": "lab", "format": "cidr", "source": "{path}", "max_age": "1h", "guard": "off" }} ] }}"#
        );
        Ruleset::compile("c.json", document.as_bytes(), &TwoFeeds).ruleset
    };
    let result = |path, now| ReloadResult::of(loaded(path).as_ref(), now);
    assert_eq!(result("dated", 4599), ReloadResult::Success);
    assert_eq!(result("dated", 4600), ReloadResult::Partial, "stale");
    assert_eq!(result("odd", 4600), ReloadResult::Success, "incomplete, but it is the newest one");
    assert_eq!(result("none", 4600), ReloadResult::Partial, "missing");
    assert_eq!(ReloadResult::of(None, 0), ReloadResult::Failure);
}

/// A configuration of this many sites, and the series of `curl` on each.
fn many_sites(count: usize) -> (Ruleset, Vec<Series>) {
    let site = |number| format!(r#"{{ "hosts": ["{number}.test"] }}"#);
    let sites: Vec<String> = (0..count).map(site).collect();
    let document = format!(r#"{{ "catalog": "none", "sites": [ {} ] }}"#, sites.join(","));
    let ruleset = Ruleset::compile("c.json", document.as_bytes(), &crate::NoFiles).ruleset.unwrap();
    let one = series(&ruleset, "curl/8", "0.test");
    let all =
        (0..count).map(|id| Series { site: Name::Of(SiteId::from_index(id).unwrap()), ..one }).collect();
    (ruleset, all)
}

#[test]
fn more_series_than_there_is_room_for_are_counted_as_other() {
    let bound = SeriesGroup::Site.bound();
    let (ruleset, all) = many_sites(bound * 2);
    let (counters, recent) = (counters(), RecentSlots::default());
    for series in all.iter().chain(&all) {
        counters.count_request(*series, &ruleset, &recent);
    }
    let requests = counters.page(&ruleset, 0, 0).requests;
    assert_eq!(requests.len(), bound + 1);
    assert_eq!(requests.values().sum::<u64>(), all.len() as u64 * 2);
    let other = requests["allow\nfalse\nallowed\ngeneric\n\nother"];
    assert_eq!(other, (all.len() + 1 - requests.len()) as u64 * 2);
}

/// 60 sites and 120 agents, of which only the first has a feed: `192.0.2.0/24`.
fn many_agents_and_sites() -> Ruleset {
    let sites: Vec<String> = (0..60).map(|site| format!(r#"{{ "hosts": ["{site}.test"] }}"#)).collect();
    let agents: Vec<String> = (1..120).map(|agent| format!(r#"{{ "token": "Bot{agent}x" }}"#)).collect();
    let document = format!(
        r#"{{ "catalog": "none", "feeds": [ {{ "name": "lab", "format": "cidr", "source": "lab" }} ],
             "agents": [ {{ "token": "Bot0x", "feeds": ["lab"] }}, {} ], "sites": [ {} ],
             "files": {{ "lab": {{ "text": "192.0.2.0/24\n" }} }} }}"#,
        agents.join(","),
        sites.join(",")
    );
    let compiled = Ruleset::compile("c.json", document.as_bytes(), &crate::NoFiles);
    compiled.ruleset.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

/// The series of a client that claims every agent at every site, twice.
fn of_a_liar(ruleset: &Ruleset) -> Vec<Series> {
    let claims = (0..120).flat_map(|agent| (0..60).map(move |site| (agent, site)));
    let of = |(agent, site)| series(ruleset, &format!("Bot{agent}x/1"), &format!("{site}.test"));
    let all: Vec<Series> = claims.map(of).collect();
    [all.clone(), all].concat()
}

#[test]
fn a_client_that_claims_every_agent_at_every_site_blinds_nobody() {
    let ruleset = many_agents_and_sites();
    let (counters, recent) = (counters(), RecentSlots::default());
    for series in of_a_liar(&ruleset) {
        counters.count_request(series, &ruleset, &recent);
    }
    let verified = |site: &str| {
        let asked = Asked { address: Some([192, 0, 2, 1].into()), ..asked("Bot0x/1", site) };
        Series::of(&decide(&ruleset, &asked, Overrides::default())).unwrap()
    };
    for site in 0..60 {
        let site = format!("{site}.test");
        counters.count_request(verified(&site), &ruleset, &recent);
        counters.count_request(series(&ruleset, "curl/8", &site), &ruleset, &recent);
    }
    let requests = counters.page(&ruleset, 0, 0).requests;
    for site in 0..60 {
        // Verified requests, and those that claim nothing, are still counted by site.
        assert_eq!(requests[&format!("allow\nfalse\nallowed\nverified\nBot0x\n{site}.test")], 1);
        assert_eq!(requests[&format!("allow\nfalse\nallowed\ngeneric\n\n{site}.test")], 1);
    }
    // And what is claimed is still counted by agent.
    for agent in 0..120 {
        let name = format!("\nBot{agent}x\n");
        let of_agent = requests.iter().filter(|(labels, _)| labels.contains(&name));
        let verified = if agent == 0 { 60 } else { 0 };
        assert_eq!(of_agent.map(|(_, count)| count).sum::<u64>(), 120 + verified, "{agent}");
    }
}

#[test]
fn totals_are_exact_whoever_counts_at_once() {
    let (ruleset, all) = many_sites(100);
    let counters = counters();
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let (ruleset, all, counters) = (&ruleset, &all, &counters);
            scope.spawn(move || {
                let recent = RecentSlots::default();
                for round in 0..500 {
                    // Each begins elsewhere, so that the same slots are claimed at the same time.
                    for series in all.iter().cycle().skip(worker * round % all.len()).take(all.len()) {
                        counters.count_request(*series, ruleset, &recent);
                    }
                }
            });
        }
    });
    let requests = counters.page(&ruleset, 0, 0).requests;
    assert_eq!(requests.len(), all.len());
    assert!(requests.values().all(|count| *count == 8 * 500), "{requests:?}");
}

#[test]
fn counts_outlive_the_ruleset_and_names_find_their_counts_again() {
    let counters = counters();
    for order in [["a.test", "b.test"], ["b.test", "a.test"]] {
        let [first, second] = order;
        let document = format!(
            r#"{{ "catalog": "none", "sites": [ {{ "hosts": ["{first}"] }}, {{ "hosts": ["{second}"] }} ] }}"#
        );
        let ruleset = Ruleset::compile("c.json", document.as_bytes(), &crate::NoFiles).ruleset.unwrap();
        let recent = RecentSlots::default();
        counters.count_request(series(&ruleset, "curl/8", "a.test"), &ruleset, &recent);
    }
    let page = counters.page(&ruleset(), 0, 0).write(Form::Json);
    let page: Value = serde_json::from_str(&page).unwrap();
    assert_eq!(page[REQUESTS.name].as_array().unwrap().len(), 1);
    assert_eq!(page[REQUESTS.name][0]["value"], 2, "{page}");
    assert_eq!(page[REQUESTS.name][0]["site"], "a.test");
}

#[test]
fn json_is_for_those_who_prefer_it() {
    for (accept, form) in [
        (None, Form::Text),
        (Some("*/*"), Form::Text),
        (Some("application/json"), Form::Json),
        (Some("application/json, */*"), Form::Json),
        (Some("application/json;q=0.5, text/*"), Form::Text),
        (Some("application/*;q=0.9, text/plain;q=0.8"), Form::Json),
        (Some("text/html"), Form::Text),
        // Prometheus 2.
        (
            Some(
                "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,\
                 text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
            ),
            Form::Text,
        ),
    ] {
        assert_eq!(Form::preferred(accept.map(str::as_bytes)), form, "{accept:?}");
    }
    let reply = counters().page(&ruleset(), 0, 0).reply(Some(b"application/json"));
    let headers: Vec<_> = reply.headers().collect();
    assert!(headers.contains(&("Content-Type", "application/json")), "{headers:?}");
    assert!(headers.contains(&("Cache-Control", "no-store")), "{headers:?}");
    assert!(headers.contains(&("Vary", "Accept")), "{headers:?}");
}
