//! `crawlpike report`: logs in, reports out. The numbers themselves are compared with those of a generated log by
//! `tests/tests/report.rs`.

mod counts;
mod input;

use std::io::Write;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::fixture::{Done, Folder, GOOGLEBOT};

const CLAIM: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/// A folder with a configuration that denies impostors, and `/private/` to all robots.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: /private/\n");
    folder.write("crawlpike.json", config("enforce", "robots.txt"));
    folder
}

fn config(mode: &str, robots_txt: &str) -> String {
    format!(
        r#"{{ "mode": "{mode}",
  "feeds": [ {{ "name": "googlebot", "format": "jafar", "source": "googlebot.json" }} ],
  "agents": [ {{ "token": "Googlebot", "feeds": ["googlebot"] }} ],
  "sites": [ {{ "name": "bare", "hosts": ["bare.test"] }}, {{ "name": "all", "robots_txt": "{robots_txt}" }} ] }}"#
    )
}

fn line(address: &str, path: &str, user_agent: &str) -> String {
    format!(
        "{address} - - [22/Nov/2026:07:05:12 +0000] \"GET {path} HTTP/1.1\" 200 100 \"-\" \"{user_agent}\"\n"
    )
}

/// Nine requests: of Googlebot three verified, one of them private, and two spoofed; two of curl; two of a person.
fn log() -> String {
    [
        line(GOOGLEBOT, "/", CLAIM),
        line(GOOGLEBOT, "/a?x=1", CLAIM),
        line(GOOGLEBOT, "/private/b", CLAIM),
        line("203.0.113.9", "/", CLAIM),
        line("203.0.113.10", "/", CLAIM),
        line("192.0.2.1", "/a", "curl/8.5.0"),
        line("192.0.2.1", "/private/a", "curl/8.5.0"),
        line("192.0.2.2", "/", FIREFOX),
        line("192.0.2.2", "/private/", FIREFOX),
    ]
    .concat()
}

/// The report of `access.log` by `crawlpike.json`, with these arguments besides.
fn report(folder: &Folder, arguments: &[&str]) -> Done {
    folder.run(&[&["report", "--config", "crawlpike.json", "access.log"], arguments].concat())
}

fn json(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

fn row<'a>(report: &'a Value, name: &str) -> &'a Value {
    let rows = report["agents"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {report}"))
}

#[test]
fn the_report_shows_the_decisions_for_each_agent() {
    let folder = folder();
    folder.write("access.log", log());
    let done = report(&folder, &[]);
    done.ends(0);
    for expected in [
        "- 9 requests from 2026-11-22 07:05 UTC to 2026-11-22 07:05 UTC. 78 % of them are automated.",
        "- 40 % of the requests that claim Googlebot (2 of 5) are not from its published ranges.",
        "- The configuration denies 57 % of the automated requests: 4, with 400 B sent.",
        "2  robots-disallowed  robots.txt:2  all",
        "2  203.0.113.0/24  Googlebot",
        "curl",
    ] {
        done.prints(expected);
    }
    let report = json(&report(&folder, &["--json"]));
    let googlebot = row(&report, "Googlebot");
    assert_eq!(googlebot["requests"], 5);
    assert_eq!(googlebot["bytes"], 500);
    assert_eq!(googlebot["identities"], serde_json::json!({ "spoofed": 2, "verified": 3 }));
    assert_eq!(googlebot["proofs"], serde_json::json!({ "ip-range": 3 }));
    assert_eq!(googlebot["denied"]["requests"], 3);
    assert_eq!(googlebot["addresses"], serde_json::json!({ "count": 3, "exact": true }));
    assert_eq!(googlebot["paths"]["items"][0], serde_json::json!({ "value": "/", "requests": 3 }));
    assert_eq!(googlebot["paths"]["items"][1]["value"], "/a", "queries are left out");
    assert_eq!(googlebot["statuses"][0], serde_json::json!({ "status": 200, "requests": 5 }));
    assert_eq!(googlebot["first"], "2026-11-22T07:05:12Z");
    assert_eq!(report["total"]["automated"]["requests"], 7);
    assert_eq!(report["input"]["without_host"], 9);
}

#[test]
fn options_choose_requests() {
    let folder = folder();
    let mut log = log();
    log.push_str("{\"time\":\"2026-11-23T00:00:00Z\",\"address\":\"192.0.2.1\",\"host\":\"Bare.test:80\",\"request\":\"GET / HTTP/1.1\",\"status\":200,\"user_agent\":\"curl/8\"}\n");
    folder.write("access.log", log);
    let report = |arguments: &[&str]| json(&report(&folder, &[&["--json"], arguments].concat()));
    let requests = |arguments: &[&str]| report(arguments)["total"]["requests"].clone();
    assert_eq!(requests(&[]), 10);
    assert_eq!(requests(&["--since", "2026-11-22T23:00:00Z"]), 1);
    assert_eq!(requests(&["--since", "2026-11-22"]), 10);
    assert_eq!(requests(&["--host", "bare.test"]), 1);
    assert_eq!(requests(&["--default-host", "example.com", "--host", "example.com"]), 9);
    assert_eq!(requests(&["--agent", "googlebot"]), 5);
    assert_eq!(requests(&["--agent", "curl"]), 3);
    let uncovered = &report(&[])["uncovered"];
    assert_eq!(uncovered["requests"], 1, "the site has no policy");
    assert_eq!(uncovered["hosts"]["items"][0]["value"], "Bare.test:80");
    let clients = |arguments: &[&str]| row(&report(arguments), "Googlebot")["clients"]["items"].to_string();
    assert!(clients(&[]).contains("203.0.113.9"));
    assert!(!clients(&["--anonymize"]).contains("203.0.113.9"));
    assert!(clients(&["--anonymize"]).contains("203.0.113.0/24"));
}

#[test]
fn most_are_more_than_half() {
    let folder = folder();
    let fact = |agents: &[&str]| {
        folder.write(
            "access.log",
            agents.iter().map(|agent| line("192.0.2.1", "/", agent)).collect::<String>(),
        );
        report(&folder, &[])
    };
    fact(&["a/1", "a/1", "b/1"])
        .prints("- 3 requests are from automation that claims no known agent, most of them from a.");
    fact(&["a/1", "a/1", "b/1", "c/1"])
        .prints("- 4 requests are from automation that claims no known agent, 2 of them from a.");
}

#[test]
fn a_wrong_date_is_left_out_of_the_plots() {
    let folder = folder();
    let day = |day: usize| line("192.0.2.1", "/", "curl/8").replace("22/", &format!("{:02}/", day % 30 + 1));
    let wrong = line("192.0.2.1", "/", "curl/8").replace("2026", "1999");
    folder.write("access.log", (0..200).map(day).chain([wrong]).collect::<String>());
    let done = report(&folder, &["--json", "--html", "report.html"]);
    let timeline = &json(&done)["timeline"];
    assert_eq!((&timeline["seconds"], &timeline["left_out"]), (&21_600.into(), &1.into()));
    assert!(folder.read("report.html").contains("1 requests have times so far from all others"));
}

#[test]
fn the_difference_between_two_configurations_has_an_exit_status() {
    let folder = folder();
    folder.write("access.log", log());
    folder.write(
        "robots2.txt",
        "# a comment moves the line, which changes nothing\nUser-agent: *\nDisallow: /private/\n",
    );
    folder.write("same.json", config("enforce", "robots2.txt"));
    folder.write("robots3.txt", "User-agent: Googlebot\nDisallow:\n");
    folder.write("other.json", config("enforce", "robots3.txt"));
    let diff = |other: &str| report(&folder, &["--diff", other, "--json"]);
    let same = diff("same.json");
    assert_eq!((same.status, json(&same)["changes"].clone()), (0, serde_json::json!([])));
    let other = diff("other.json");
    other.ends(1);
    let changes = json(&other)["changes"].clone();
    let summary: Vec<String> = changes
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            let of = |side: &str| format!("{} {}", change[side]["action"], change[side]["reason"]);
            format!("{} {} {} -> {}", change["requests"], change["who"], of("before"), of("after"))
        })
        .collect();
    let expected = [
        r#"1 "unknown agents" "deny" "robots-disallowed" -> "allow" "allowed""#,
        r#"1 "Googlebot" "deny" "robots-disallowed" -> "allow" "allowed""#,
    ];
    assert_eq!(summary, expected);
    report(&folder, &["--diff", "other.json"]).prints("Changes with the other configuration");
}

#[test]
fn every_request_is_an_event_in_the_order_of_the_log() {
    let folder = folder();
    let lines: String = (0..30_000).map(|number| line(GOOGLEBOT, &format!("/{number}"), CLAIM)).collect();
    folder.write("access.log", lines);
    let done = report(&folder, &["--events", "--anonymize"]);
    done.ends(0);
    let events: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 30_000);
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["path"], format!("/{number}"));
    }
    let event = &events[0];
    assert_eq!(event["client"], "66.249.66.0/24");
    assert_eq!(event["identity"], "verified");
    assert_eq!(event["agent"], "Googlebot");
    assert_eq!(event["rule_file"], Value::Null);
    assert_eq!(event["time"], "2026-11-22T07:05:12Z");
}

/// Binary, cut, mixed, endless, not UTF-8, out of order, forged: readable lines count, and the others are reported.
#[test]
fn bad_input_is_counted_and_reported_and_never_executed() {
    let folder = folder();
    let forged = "\u{1b}[2J\u{1b}]0;owned\u{7}=1+1,<script>alert(1)</script>\u{202e}bot";
    let mut log = log().into_bytes();
    log.extend_from_slice(&[0, 1, 2, 255, 254, b'\n']);
    log.extend_from_slice(b"192.0.2.1 - - [22/Nov/20\n");
    log.extend(std::iter::repeat_n(b'x', 3 << 20));
    log.push(b'\n');
    log.extend_from_slice(line("192.0.2.9", &format!("/{forged}"), forged).as_bytes());
    log.extend_from_slice(b"192.0.2.9 - - [01/Jan/2020:00:00:00 +0000] \"GET /caf\xe9 HTTP/1.1\" 200 1 \"-\" \"caf\xe9bot/1\"\n");
    log.extend_from_slice(
        b"192.0.2.9 - - [01/Jan/2020:00:00:00 +0000] \"\\x16\\x03\\x01\" 400 150 \"-\" \"-\"\r\n\n",
    );
    folder.write("access.log", &log);
    for more in [&[][..], &["--json"], &["--csv"], &["--events"], &["--agent", "-"]] {
        let done = report(&folder, more);
        done.ends(0);
        let is_harmful = |character: char| {
            (character.is_control() && !"\r\n".contains(character)) || character == '\u{202e}'
        };
        assert!(!done.stdout.chars().chain(done.stderr.chars()).any(is_harmful), "{more:?}: {done:?}");
    }
    let report = json(&report(&folder, &["--json"]));
    let input = &report["input"];
    assert_eq!(input["requests"], 11);
    assert_eq!(input["unreadable"], 2);
    assert_eq!(input["too_long"], 1);
    assert_eq!(input["without_request"], 1);
    assert_eq!(input["lines"], 16);
    let example = |why: &str| {
        let examples = input["examples"].as_array().unwrap();
        examples.iter().find(|example| example["why"] == why).unwrap()["line"].clone()
    };
    assert_eq!(
        [example("unreadable"), example("too-long"), example("without-request")],
        [10, 12, 15].map(Value::from)
    );
    assert_eq!(report["first"], "2020-01-01T00:00:00Z", "lines need no order");
}

#[test]
fn the_number_of_threads_changes_no_number() {
    let folder = folder();
    let lines: String =
        (0..40_000).map(|number| line(GOOGLEBOT, &format!("/{}", number % 50), CLAIM)).collect();
    folder.write("access.log", lines);
    let report = |threads: &str| {
        let mut report = json(&report(&folder, &["--json", "--threads", threads]));
        report["generated"] = Value::Null;
        report
    };
    assert_eq!(report("1"), report("7"));
}

#[test]
fn an_interrupted_report_has_what_was_read_and_says_so() {
    // Much more than a pipe holds.
    const LINES: usize = 40_000;
    let folder = folder();
    let text = line("192.0.2.1", "/a", "curl/8.5.0").repeat(LINES);
    for (form, words) in
        [(&["--json"][..], "\"partial\":true"), (&[], "- This report is partial: it was interrupted")]
    {
        let arguments = [&["report", "--config", "crawlpike.json", "--threads", "1", "-"], form].concat();
        let mut child = folder.command(&arguments).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(text.as_bytes()).unwrap();
        // Not a whole line, and not the end.
        pipe.write_all(b"192.0.2.1 - - [22/Nov").unwrap();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let done = Done::from(child.wait_with_output().unwrap());
        done.ends(130)
            .prints(words)
            .says("crawlpike: interrupted; the report has only what had been read until then\n");
        if form.is_empty() {
            continue;
        }
        let report = json(&done);
        let requests = report["total"]["requests"].as_u64().unwrap() as usize;
        assert!((LINES / 2..=LINES).contains(&requests), "{requests}");
        assert_eq!(
            (&report["input"]["unreadable"], &report["input"]["files"][0]["error"]),
            (&0.into(), &Value::Null)
        );
        drop(pipe);
    }
}

#[test]
fn a_report_that_nobody_interrupts_is_whole() {
    let folder = folder();
    folder.write("access.log", log());
    assert_eq!(json(&report(&folder, &["--json"]))["partial"], false);
}

#[test]
fn a_log_of_private_addresses_begins_with_the_remedy() {
    let folder = folder();
    let first = |log: String| {
        folder.write("access.log", log);
        let done = report(&folder, &[]);
        done.ends(0).stdout.lines().next().unwrap().to_string()
    };
    let advice =
        "If a proxy is in front, have the server log the client's real address; `crawlpike doctor` says how.";
    let proxied = [line("10.0.0.5", "/", CLAIM), line("10.0.0.5", "/", FIREFOX)].concat();
    assert_eq!(
        first(proxied.clone()),
        format!(
            "- 2 of 2 requests come from private addresses, which neither verify nor refute a claim. {advice}"
        )
    );
    assert_eq!(
        first(log() + &proxied),
        format!(
            "- 1 request claims an agent from a private address, which neither verifies nor refutes the claim. {advice}"
        )
    );
    // A visitor from the own network does not mean that there is a proxy.
    assert!(first(log() + &line("10.0.0.5", "/", FIREFOX)).starts_with("- 10 requests from "));
}
