//! `crawlpike report`: logs in, reports out. The numbers themselves are compared with those of a generated log by
//! `tests/tests/report.rs`.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
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

/// USE-13: the purposes that an agent is known for, against what robots.txt prefers about the path.
#[test]
fn use_13_requests_are_counted_by_purpose_and_preference() {
    let folder = folder();
    folder.write(
        "robots.txt",
        "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /open/ train-ai=y, search=y\n",
    );
    let requests =
        [("/", "GPTBot/1"), ("/a", "GPTBot/1"), ("/open/", "GPTBot/1"), ("/open/b", CLAIM), ("/", CLAIM)];
    let lines = requests.map(|(path, user_agent)| line(GOOGLEBOT, path, user_agent));
    folder.write("access.log", lines.concat() + &line("192.0.2.2", "/", FIREFOX));
    let usage = |agent: &str| row(&json(&report(&folder, &["--json"])), agent)["usage"].clone();
    let expected = |purpose: &str, [disallowed, allowed, not_stated]: [u64; 3]| {
        serde_json::json!([{ "purpose": purpose, "disallowed": disallowed, "partly_disallowed": 0, "allowed": allowed,
                             "not_stated": not_stated }])
    };
    assert_eq!(usage("GPTBot"), expected("ai-training", [2, 1, 0]));
    assert_eq!(usage("Googlebot"), expected("search", [0, 1, 1]));
    let done = report(&folder, &["--html", "report.html"]);
    done.prints("2 requests are for a purpose that the usage preferences of the path disallow, most of them ai-training of GPTBot.");
    done.prints("GPTBot     ai-training           2        0        1           0\n");
    assert!(folder.read("report.html").contains("<h2>Purposes and usage preferences</h2>"));
    // Nothing is shown where nothing is preferred.
    folder.write("robots.txt", "User-agent: *\nDisallow: /private/\n");
    assert_eq!(usage("GPTBot"), serde_json::json!([]));
}

#[test]
fn requests_for_documents_are_counted_by_form_if_the_log_has_their_accept() {
    let folder = folder();
    folder
        .write("crawlpike.json", r#"{ "sites": [ { "name": "all", "aiwebindex": { "document": true } } ] }"#);
    folder.write("access.log", log());
    report(&folder, &[]).prints(
        "- Sites offer documents to 9 requests, but the log does not show who wants one: log the Accept",
    );
    let line = |accept: &str, status: u16| {
        format!("192.0.2.1 \"GET / HTTP/1.1\" {status} \"curl/8\" \"{accept}\"\n")
    };
    let requests = [
        ("text/markdown", 200),
        ("text/markdown", 200),
        ("text/markdown", 404),
        ("text/html", 200),
        ("-", 200),
        ("application/vnd.aiwebindex+json", 200),
    ];
    folder.write("access.log", requests.map(|(accept, status)| line(accept, status)).concat());
    let format = ["--log-format", "$remote_addr \"$request\" $status \"$http_user_agent\" \"$http_accept\""];
    let found = json(&report(&folder, &[&format[..], &["--json"]].concat()));
    let outcomes = serde_json::json!({ "aidocument": 1, "markdown": 2, "status": 1 });
    assert_eq!(
        found["documents"],
        serde_json::json!({ "offered": 6, "with_accept": 5, "outcomes": outcomes })
    );
    let done = report(&folder, &[&format[..], &["--html", "report.html"]].concat());
    done.prints("- 4 requests prefer a document to the page.").prints("       1  the page: status\n");
    assert!(folder.read("report.html").contains("<h2>Requests for documents</h2>"));
}

/// Networks as long as the configuration says, their systems, and the paths that are costly.
#[test]
fn limits_count_by_the_facts_of_the_configuration() {
    let folder = folder();
    folder.write("as.tsv", "203.0.113.0\t203.0.113.255\t64500\tUS\tSWARM\n");
    folder.write(
        "crawlpike.json",
        r#"{ "networks": [ { "name": "as", "format": "iptoasn", "source": "as.tsv" } ], "network_bits": { "v4": 28 },
             "sites": [ { "name": "all", "costly": [ "/*/blame/" ] } ] }"#,
    );
    let requests = [("/a/blame/b", 1), ("/a/blame/c", 15), ("/a/blame/d", 16), ("/a", 1)];
    folder.write(
        "access.log",
        requests.map(|(path, host)| line(&format!("203.0.113.{host}"), path, FIREFOX)).concat(),
    );
    let refused = |limit: &str| {
        let done = report(&folder, &["--limit", limit, "--json"]);
        let limits = json(done.ends(0))["limits"].clone();
        (limits["limits"][0]["requests"].clone(), limits["limits"][0]["refused"].clone(), limits)
    };
    for (limit, requests, refused_requests) in [
        ("key=network rate=1r/s", 4, 2),
        ("key=network rate=1r/s paths=costly", 3, 1),
        ("key=asn rate=1r/s", 4, 3),
        ("key=crowd_key,asn rate=1r/s paths=costly", 3, 1),
        ("key=as_kind rate=1r/s", 0, 0),
    ] {
        let (all, some, _) = refused(limit);
        assert_eq!((all, some), (requests.into(), refused_requests.into()), "{limit}");
    }
    let (.., limits) = refused("key=asn rate=1r/s");
    assert_eq!(
        limits["limits"][0]["systems"]["items"],
        serde_json::json!([{ "value": "64500", "requests": 3 }])
    );
    let network = &limits["networks"]["networks"][0];
    assert_eq!((&network["network"], &network["as_name"]), (&"203.0.113.0/28".into(), &"SWARM".into()));
    report(&folder, &["--limit", "key=as_kind rate=1r/s"])
        .prints("- The limit `key=as_kind rate=1r/s` counts no request: no client has its key, or no path is costly.\n");
}

/// Two limits at once: on everybody's network, and on the crowd's, in which no verified agent is.
#[test]
fn limits_show_whom_they_would_have_refused() {
    let folder = folder();
    let at = |time: &str, address: &str, user_agent: &str| {
        format!("{address} [{time}] \"GET /costly/a HTTP/1.1\" 200 \"{user_agent}\"\n")
    };
    // In a second 4 requests of a swarm, of which the log has the first one last, and 3 of a verified agent; one a minute later.
    let swarm = [".300", ".200", ".100", ".000"].into_iter().zip(1..);
    let swarm =
        swarm.map(|(part, host)| at(&format!("1795331112{part}"), &format!("203.0.113.{host}"), FIREFOX));
    let verified = [".000"; 3].map(|part| at(&format!("1795331112{part}"), GOOGLEBOT, CLAIM));
    let log = swarm.chain(verified).chain([at("1795331172.000", "203.0.113.1", FIREFOX)]);
    folder.write("access.log", log.collect::<String>());
    let arguments = [
        "--log-format",
        "$remote_addr [$msec] \"$request\" $status \"$http_user_agent\"",
        "--limit",
        "key=network rate=1r/s burst=1",
        "--limit",
        "key=crowd_key rate=1r/s",
    ];
    let found = json(&report(&folder, &[&arguments[..], &["--json"]].concat()));
    let [all, crowd] = [0, 1].map(|place| &found["limits"]["limits"][place]);
    assert_eq!((&all["requests"], &all["refused"]), (&8.into(), &3.into()));
    assert_eq!((&crowd["requests"], &crowd["refused"]), (&5.into(), &3.into()));
    let kind = |limit: &Value, identity: &str| {
        let kinds = limit["kinds"].as_array().unwrap();
        kinds.iter().find(|row| row["identity"] == identity).map(|row| row["refused"].clone())
    };
    assert_eq!((kind(all, "none"), kind(all, "verified")), (Some(2.into()), Some(1.into())));
    assert_eq!((kind(crowd, "none"), kind(crowd, "verified")), (Some(3.into()), None));
    let worst = serde_json::json!({ "start": "2026-11-22T07:05:00Z", "requests": 7, "refused": 3 });
    assert_eq!(all["worst_minute"], worst);
    let network = &found["limits"]["networks"]["networks"][0];
    let folder_of_paths = serde_json::json!({ "value": "/costly/", "requests": 5 });
    assert_eq!(network["paths"]["items"][0], folder_of_paths);
    assert_eq!((&network["network"], &network["requests"]), (&"203.0.113.0/24".into(), &5.into()));
    assert_eq!(
        (&network["refused"], &network["addresses"]["count"]),
        (&serde_json::json!([2, 3]), &4.into())
    );
    assert_eq!((&found["limits"]["late"], &found["limits"]["whole_seconds"]), (&0.into(), &0.into()));

    let done = report(&folder, &[&arguments[..], &["--html", "report.html"]].concat());
    done.prints("- The limit `key=network rate=1r/s burst=1` refuses 3 of 8 requests (38 %), from 3 addresses: 1 verified, 2 people-like.");
    done.prints("203.0.113.0/24");
    let page = folder.read("report.html");
    assert!(
        page.contains("<svg viewBox=\"0 0 1000 300\" role=\"img\" aria-labelledby=\"limit-1-t limit-1-d\">")
    );
    for (limit, expected) in
        [("key=network", "`rate` is missing"), ("key=network rate=5", "column 13: invalid rate `5`")]
    {
        report(&folder, &["--limit", limit]).ends(2).says(expected);
    }
    // Times in whole seconds, and a log that is rotated: the older one has the name behind.
    folder.write("access.log", line("192.0.2.1", "/", FIREFOX).replace(":12 ", ":13 "));
    folder.write("access.log.1", line("192.0.2.2", "/", FIREFOX));
    let arguments = ["report", "--config", "crawlpike.json", "access.log", "access.log.1", "--limit"];
    let done = folder.run(&[&arguments[..], &["key=network rate=1r/s", "--json"]].concat());
    let limits = &json(&done)["limits"];
    assert_eq!((&limits["limits"][0]["refused"], &limits["late"]), (&0.into(), &0.into()));
    assert_eq!(limits["whole_seconds"], 2);
}

#[test]
fn logs_may_be_compressed_in_folders_and_on_stdin() {
    let folder = folder();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(log().as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    fs::create_dir_all(folder.path("logs/old")).unwrap();
    folder.write("logs/access.log", log());
    folder.write("logs/old/access.log.2", &gzip);
    folder.write("logs/error.log", "2026/11/22 07:05:12 [error] 1#1: *1 open() failed\n");
    let requests = |done: Done| {
        done.ends(0);
        json(&done)["total"]["requests"].clone()
    };
    let arguments = |logs| ["report", "--config", "crawlpike.json", "--json", logs];
    assert_eq!(requests(folder.run(&arguments("logs"))), 18);
    assert_eq!(requests(folder.run_with(&arguments("-"), &gzip)), 9);
    assert_eq!(requests(folder.run_with(&arguments("-"), log())), 9);
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
fn what_cannot_be_read_has_an_exit_status() {
    let folder = folder();
    folder.write("access.log", log());
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(log().repeat(1_000).as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    folder.write("cut.gz", &gzip[..gzip.len() / 2]);
    folder.write("other.log", "hello\nworld\n");
    for (logs, expected) in [
        (&["missing.log", "access.log"][..], "missing.log: error: cannot be read"),
        (&["access.log", "cut.gz"], "cut.gz: error: cannot be read"),
        (&["other.log"], "no line matches the log format"),
    ] {
        folder
            .run(&[&["report", "--config", "crawlpike.json"], logs].concat())
            .ends(2)
            .says(expected)
            .prints("requests");
    }
    for (arguments, expected) in [
        (["--log-format", "$remote_addr"], "the format lacks $http_user_agent"),
        (["--since", "yesterday"], "expected a date"),
        (["--diff", "missing.json"], "missing.json"),
    ] {
        report(&folder, &arguments).ends(2).says(expected);
    }
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
