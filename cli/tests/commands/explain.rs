use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::fixture::{CONFIG, Done, Folder, GOOGLEBOT, WARNING};

const EXPLAIN: [&str; 3] = ["explain", "--config", "crawlpike.json"];

pub(crate) fn explain(folder: &Folder, arguments: &[&str]) -> Done {
    folder.run(&[&EXPLAIN[..], arguments].concat())
}

pub(crate) fn decision(folder: &Folder, arguments: &[&str]) -> Value {
    let done = explain(folder, &[arguments, &["--json"]].concat());
    done.ends(0).says_only(WARNING);
    serde_json::from_str(&done.stdout).unwrap()
}

#[test]
fn the_json_decision_has_every_key_in_its_documented_order() {
    let done = explain(
        &Folder::new(),
        &["--json", "--ip", GOOGLEBOT, "--host", "www.example.com:443", "--user-agent", "Googlebot/2.1"],
    );
    done.ends(0).says_only(WARNING);
    assert_eq!(
        done.stdout,
        concat!(
            r#"{"action":"allow","status":null,"reason":"allowed","identity":"verified","agent":"Googlebot","#,
            r#""feed":"googlebot","service":null,"country":null,"region":null,"city":null,"site":"example.com","#,
            r#""purpose":null,"rule":null,"robots_tag":null,"usage":null,"proof":"ip-range","enforced":true,"#,
            r#""facts":{"network":"66.249.66.0/24","asn":null,"as_name":null,"as_kind":null,"costly":false,"browser":"unknown","#,
            r#""fingerprint":null,"crowd_key":null},"document":null}"#,
            "\n"
        )
    );
}

#[test]
fn the_form_of_the_page_is_shown_or_why_it_stays_as_it_is() {
    let folder = Folder::new();
    folder.write(
        "crawlpike.json",
        CONFIG.replace(r#""hosts""#, r#""aiwebindex": { "document": { "md_paths": true } }, "hosts""#),
    );
    let document = |arguments: &[&str]| {
        let request = ["--ip", GOOGLEBOT, "--host", "example.com"];
        let decision = decision(&folder, &[&request, arguments].concat());
        decision["document"].clone()
    };
    const MARKDOWN: [&str; 2] = ["--accept", "text/markdown"];
    let with = |more: &[&'static str]| document(&[&MARKDOWN, more].concat());
    assert_eq!(document(&[]), "not-preferred");
    assert_eq!(document(&["--accept", "text/html"]), "not-preferred");
    assert_eq!(document(&["--header", "Accept: text/markdown"]), "markdown");
    assert_eq!(document(&["--path", "/a.md"]), "markdown");
    assert_eq!(document(&["--accept", "application/vnd.aiwebindex+json"]), "aidocument");
    assert_eq!(document(&["--accept", "*/*", "--path", "/a.md"]), "markdown");
    for (arguments, expected) in [
        (&[][..], "markdown"),
        (&["--method", "HEAD"], "markdown"),
        (&["--response-header", "Cache-Control: private"], "private"),
        (&["--response-header", "X-Robots-Tag: noindex"], "noindex"),
        (&["--response-header", "Content-Type: image/png"], "type"),
        (&["--response-header", "Content-Length: 99999999"], "size"),
        (&["--response-header", "Content-Length: 0"], "broken"),
        (&["--header", "Cookie: a=b"], "credentials"),
    ] {
        assert_eq!(with(arguments), expected, "{arguments:?}");
    }
    assert_eq!(with(&["--method", "POST"]), Value::Null);
    let request = ["--ip", GOOGLEBOT, "--host", "example.com", "--accept", "text/markdown"];
    explain(&folder, &request).prints("document  markdown, unless the page itself prevents it");
    let more = ["--response-header", "Cache-Control: private"];
    explain(&folder, &[&request[..], &more].concat())
        .prints("document  none: private, so the page is sent as it is\n");
    let elsewhere = ["--ip", "::1", "--host", "example.org"];
    assert!(!explain(&folder, &elsewhere).stdout.contains("\ndocument "));
    explain(&folder, &[&elsewhere[..], &["--accept", "text/markdown"]].concat())
        .prints("document  none: no document is offered for this request\n");
    let line = r#"{"ip":"192.0.2.1","host":"example.com","headers":{"Accept":"text/markdown"}}"#;
    let done = folder.run_with(&[&EXPLAIN[..], &["--stdin"]].concat(), line);
    done.ends(0).prints(r#","document":"markdown"}"#);
}

#[test]
fn a_missing_and_an_empty_user_agent_are_both_automation() {
    let folder = Folder::new();
    for user_agent in [&[][..], &["--user-agent", ""], &["--user-agent", "curl/8"]] {
        let decision = decision(&folder, &[&["--ip", "192.0.2.1"], user_agent].concat());
        assert_eq!(decision["identity"], "generic", "{user_agent:?}");
    }
    assert_eq!(
        decision(&folder, &["--ip", "::1", "--user-agent", "Mozilla/5.0 Firefox/140"])["identity"],
        "none"
    );
}

#[test]
fn headers_can_stand_for_the_options_and_each_line_of_the_purpose_counts() {
    let folder = Folder::new();
    let headers = ["Host: example.com", "USER-AGENT:Googlebot", "automation-purpose: search"];
    let headers: Vec<&str> = headers.into_iter().flat_map(|line| ["--header", line]).collect();
    let by_headers = decision(&folder, &[&["--ip", GOOGLEBOT], &headers[..]].concat());
    let by_options = decision(
        &folder,
        &["--ip", GOOGLEBOT, "--host", "example.com", "--user-agent", "Googlebot", "--purpose", "search"],
    );
    assert_eq!(by_headers, by_options);
    assert_eq!(by_options["purpose"], "search");
    let both = ["--ip", GOOGLEBOT, "--purpose", "search", "--header", "Automation-Purpose: training"];
    assert_eq!(decision(&folder, &both)["purpose"], "search, training");
}

#[test]
fn the_purpose_is_sent_in_the_configured_header() {
    let folder = Folder::new();
    folder.write("crawlpike.json", r#"{ "purpose_header": "X-Why" }"#);
    explain(&folder, &["--ip", "::1", "--purpose", "search", "--json"]).prints(r#""purpose":"search""#);
}

#[test]
fn a_bad_line_is_answered_with_its_place_and_the_next_is_read() {
    let long = "x".repeat((1 << 20) + 1);
    let header = r#"{"ip":"::1","user_agent":"a\nb"}"#;
    let good = json!({ "ip": GOOGLEBOT, "user_agent": null, "headers": { "User-Agent": "Googlebot" } });
    let input =
        [r#"{"ip":"::1","hots":"é"}"#, "{", r#"{"ip":"1.2.3"}"#, "{}", &long, header, "", &good.to_string()];
    let done = Folder::new().run_with(&[&EXPLAIN[..], &["--stdin"]].concat(), input.join("\n"));
    done.ends(2);
    let answers: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors: Vec<&str> = answers[..6].iter().map(|answer| answer["error"].as_str().unwrap()).collect();
    assert!(errors[0].starts_with("<stdin>:1:18: error: unknown field `hots`"), "{errors:#?}");
    assert_eq!(
        errors[1..],
        [
            "<stdin>:2:1: error: EOF while parsing an object",
            "<stdin>:3:13: error: invalid IP address syntax",
            "<stdin>:4:2: error: missing field `ip`",
            "<stdin>:5:1: error: the line is longer than 1048576 bytes",
            "<stdin>:6:32: error: a header value cannot contain the byte 0x0a",
        ]
    );
    assert_eq!((answers.len(), &answers[6]["identity"]), (7, &"verified".into()));
    done.says_only(&format!("{WARNING}{}\n", errors.join("\n")));
}

#[test]
fn a_coprocess_is_answered_at_once() {
    let folder = Folder::new();
    let mut child = folder.command(&[&EXPLAIN[..], &["--stdin"]].concat()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..3 {
        stdin.write_all(b"{\"ip\":\"::1\"}\n").unwrap();
        let mut answer = String::new();
        stdout.read_line(&mut answer).unwrap();
        assert!(answer.starts_with("{\"action\":\"allow\""), "{answer}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = Folder::new();
    let mut child = folder.command(&[&EXPLAIN[..], &["--stdin"]].concat()).spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(b"{\"ip\":\"::1\"}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), WARNING);
}

#[test]
fn wrong_arguments_and_configurations_end_with_2() {
    let folder = Folder::new();
    for arguments in [
        &[][..],
        &["--ip", "192.0.2.256"],
        &["--ip", "::1", "--stdin"],
        &["--ip", "::1", "--method", "GET /"],
        &["--ip", "::1", "--header", "no colon"],
        &["--ip", "::1", "--header", "bad name: x"],
        &["--ip", "::1", "--user-agent", "a\r\nb"],
        &["--ip", "::1", "--mode", "off"],
    ] {
        explain(&folder, arguments).ends(2).prints_only("").says("error: ");
    }
    folder.write("crawlpike.json", "{\n  \"mdoe\": \"enforce\",\n  \"feeds\": 5\n}");
    explain(&folder, &["--ip", "::1"]).ends(2).prints_only("").says_only(
        "crawlpike.json:2:3: error: unknown key `mdoe` (did you mean `mode`?)\n\
         crawlpike.json:3:12: error: `feeds`: expected an array, found the number 5\n",
    );
    folder.run(&["explain", "--config", "nowhere.json", "--ip", "::1"]).ends(2).says_only("nowhere.json: error: cannot be read: No such file or directory (os error 2); `crawlpike init` creates a \
         configuration; in a container, mount its folder\n");
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let config = CONFIG.replace(r#""hosts""#, r#""robots_txt": "robots.txt", "hosts""#);
    for name in ["googlebot.json", "robots.txt", "crawlpike.json"] {
        let folder = Folder::new();
        folder.write("crawlpike.json", &config);
        folder.write("robots.txt", "");
        folder.make_pipe(name);
        explain(&folder, &["--ip", "::1"]).ends(2).says("not a regular file");
    }
}

#[test]
fn help_shows_examples() {
    for command in ["explain", "lint", "lookup", "envoy"] {
        Folder::new()
            .run(&[command, "--help"])
            .ends(0)
            .prints(&format!("Examples:\n  crawlpike {command} --"));
    }
}
