use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use crate::fixture::{CONFIG, Done, Folder, GOOGLEBOT, WARNING};

const EXPLAIN: [&str; 3] = ["explain", "--config", "crawlward.json"];

fn explain(folder: &Folder, arguments: &[&str]) -> Done {
    folder.run(&[&EXPLAIN[..], arguments].concat())
}

fn decision(folder: &Folder, arguments: &[&str]) -> Value {
    let done = explain(folder, &[arguments, &["--json"]].concat());
    assert_eq!((done.status, &*done.stderr), (0, WARNING));
    serde_json::from_str(&done.stdout).unwrap()
}

#[test]
fn the_json_decision_has_every_key_in_the_order_of_the_contract() {
    let done = explain(
        &Folder::new(),
        &["--json", "--ip", GOOGLEBOT, "--host", "www.example.com:443", "--user-agent", "Googlebot/2.1"],
    );
    assert_eq!((done.status, &*done.stderr), (0, WARNING));
    assert_eq!(
        done.stdout,
        concat!(
            r#"{"action":"allow","status":null,"reason":"allowed","identity":"verified","agent":"Googlebot","#,
            r#""feed":"googlebot","service":null,"country":null,"region":null,"city":null,"site":"example.com","#,
            r#""purpose":null,"rule":null,"robots_tag":null,"proof":"ip-range","enforced":true}"#,
            "\n"
        )
    );
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
fn a_user_agent_need_not_be_utf_8() {
    let mut arguments: Vec<OsString> = EXPLAIN.map(OsString::from).into();
    arguments.extend(["--json", "--ip", GOOGLEBOT, "--user-agent"].map(OsString::from));
    arguments.push(OsStr::from_bytes(b"caf\xe9 Googlebot/2.1").into());
    let done = Folder::new().run(&arguments);
    assert_eq!(done.status, 0, "{done:?}");
    assert!(done.stdout.contains(r#""identity":"verified""#), "{done:?}");
}

#[test]
fn headers_can_stand_for_the_options_and_of_repeated_ones_the_first_counts() {
    let folder = Folder::new();
    let by_headers = decision(
        &folder,
        &[
            "--ip",
            GOOGLEBOT,
            "--header",
            "Host: example.com",
            "--header",
            "USER-AGENT:Googlebot",
            "--header",
            "automation-purpose: search",
        ],
    );
    let by_options = decision(
        &folder,
        &["--ip", GOOGLEBOT, "--host", "example.com", "--user-agent", "Googlebot", "--purpose", "search"],
    );
    assert_eq!(by_headers, by_options);
    assert_eq!(by_options["purpose"], "search");
    let both = ["--ip", GOOGLEBOT, "--purpose", "search", "--header", "Automation-Purpose: training"];
    assert_eq!(decision(&folder, &both)["purpose"], "search");
}

#[test]
fn the_purpose_is_sent_in_the_configured_header() {
    let folder = Folder::new();
    folder.write("crawlward.json", r#"{ "purpose_header": "X-Why" }"#);
    let done = explain(&folder, &["--ip", "::1", "--purpose", "search", "--json"]);
    assert!(done.stdout.contains(r#""purpose":"search""#), "{done:?}");
}

#[test]
fn an_explanation_tells_each_step() {
    let done = explain(
        &Folder::new(),
        &["--ip", "192.0.2.1", "--host", "a.example.com", "--user-agent", "Googlebot"],
    );
    assert_eq!(done.status, 0);
    assert_eq!(
        done.stdout,
        "\
deny with 403: spoofed-agent, identity spoofed, agent Googlebot

request   GET /
site      example.com
mode      enforce
address   192.0.2.1
          in no feed
claim     Googlebot, proven by googlebot
identity  spoofed: all feeds of Googlebot are usable, and no prefix in them proves it for the address
setting   `spoofed` is `deny`, says the site
action    deny, spoofed-agent: The User-Agent claims an agent whose operator does not publish this address as the agent's.
"
    );
}

#[test]
fn an_explanation_names_no_stale_feed_as_a_proof() {
    let folder = Folder::new();
    let config = folder.read("crawlward.json");
    folder.write(
        "crawlward.json",
        config.replace(r#""googlebot.json" }"#, r#""googlebot.json", "max_age": "1d" }"#),
    );
    let done = explain(&folder, &["--ip", GOOGLEBOT, "--host", "example.com", "--user-agent", "Googlebot"]);
    let lines: Vec<&str> = done.stdout.lines().filter(|line| line.contains("Googlebot")).collect();
    assert_eq!(
        lines,
        [
            "allow: allowed, identity unverified, agent Googlebot",
            "claim     Googlebot, none of whose feeds is usable",
            "identity  unverified: Googlebot has a feed that is not usable, and no other proves it for the address",
        ]
    );
    assert!(done.stderr.contains("the feed `googlebot` is stale: "), "{done:?}");
}

#[test]
fn an_explanation_shows_the_rules_of_the_policies() {
    let folder = Folder::new();
    folder.write(
        "crawlward.json",
        r#"{ "mode": "enforce",
  "feeds": [
    { "name": "googlebot", "format": "jafar", "source": "googlebot.json" },
    { "name": "places", "format": "geofeed", "source": "places.csv" }
  ],
  "agents": [ { "token": "Googlebot", "feeds": ["googlebot"] } ],
  "sites": [ { "name": "shop", "robots_txt": "robots.txt", "automation_preferences": "prefs.txt",
    "modes": [ { "scope": "/shop/", "mode": "observe" } ], "enforce_percent": 100,
    "geo": [ { "country": ["US"], "action": "policy" } ] } ] }"#,
    );
    folder.write("places.csv", "66.249.66.0/24,US,US-CA,,\n");
    folder.write(
        "robots.txt",
        "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /shop/  # all\nDisallow: /shop/cart\n",
    );
    folder.write("prefs.txt", "scope: /shop/\nallowed-methods: GET\n\n");
    let ask = |arguments: &[&str]| {
        let done = explain(&folder, &[&["--ip", GOOGLEBOT, "--user-agent", "Googlebot"], arguments].concat());
        assert_eq!(done.status, 0, "{}", done.stderr);
        done.stdout
    };
    assert_eq!(
        ask(&["--path", "/shop/a", "--method", "POST"]),
        "\
deny with 403: method-not-allowed, identity verified, agent Googlebot; not enforced: the request passes

request   POST /shop/a
site      shop
mode      observe, set by the site for /shop/
address   66.249.66.1
          in googlebot 66.249.66.0/27
          in places 66.249.66.0/24 country=\"US\" region=\"US-CA\"
claim     Googlebot, proven by googlebot
identity  verified: the address is in a prefix of googlebot that proves Googlebot
agent     its action is `policy`: the site's policy decides
place     US-CA: a rule of the site says policy
policy    robots.txt, the group of googlebot: line 5, `Allow: /shop/`, says allow, allowed
policy    prefs.txt, the group in line 1: line 2, `allowed-methods: GET`, says deny, method-not-allowed
          robots.txt allows it in line 5; prefs.txt is stricter, and the stricter of the two holds
action    deny, method-not-allowed: This site's /automation-preferences.txt does not allow the method here. (prefs.txt:2)
"
    );
    let forbidden = ask(&["--path", "/shop/cart?x"]);
    assert!(
        forbidden.contains("policy    robots.txt, the group of googlebot: line 6, `Disallow: /shop/cart`, says deny, robots-disallowed\naction "),
        "{forbidden}"
    );
    let unrestricted = ask(&["--path", "/other"]);
    assert!(
        unrestricted.contains("policy    robots.txt, the group of googlebot: no rule matches the path, so it is allowed\npolicy    prefs.txt: no group holds for the request\n"),
        "{unrestricted}"
    );
    let spelled = ask(&["--path", "/shop//%2e/cart"]);
    assert!(
        spelled.contains(
            "says allow, allowed
policy    prefs.txt, the group in line 1: line 1, `scope: /shop/`, says allow, allowed
path      a server may take it for /shop/cart, so that is judged, too
policy    robots.txt, the group of googlebot: line 6, `Disallow: /shop/cart`, says deny, robots-disallowed
action    deny"
        ),
        "{spelled}"
    );
    let elsewhere = ask(&["--path", "/shop/../shop-2"]);
    assert!(
        elsewhere.contains("\nmode      enforce, the stricter one: a server may take the path for /shop-2\n"),
        "{elsewhere}"
    );
    let undeclared = explain(&folder, &["--ip", GOOGLEBOT, "--user-agent", "curl/8"]).stdout;
    assert!(undeclared.contains("whatever `undeclared` says\n"), "{undeclared}");
}

#[test]
fn an_explanation_tells_what_is_not_carried_out_and_why() {
    let folder = Folder::new();
    folder.write("crawlward.json", folder.read("crawlward.json").replace("enforce", "observe"));
    let spoofed = ["--ip", "192.0.2.1", "--user-agent", "Googlebot"];
    let observed = explain(&folder, &spoofed).stdout;
    assert!(
        observed.starts_with("deny with 403: spoofed-agent, identity spoofed, agent Googlebot; not enforced"),
        "{observed}"
    );
    let readable = explain(&folder, &[&spoofed[..], &["--path", "/robots.txt?x"]].concat()).stdout;
    assert!(
        readable
            .contains("\n          spoofed-agent does not count: this path is never denied\naction    allow"),
        "{readable}"
    );
    folder.write("crawlward.json", folder.read("crawlward.json").replace("observe", "off"));
    let off = explain(&folder, &spoofed).stdout;
    assert!(off.ends_with("The mode is `off`: requests are not looked at.\n"), "{off}");
}

#[test]
fn each_line_of_stdin_is_answered() {
    let lines = [
        json!({ "ip": GOOGLEBOT, "host": "example.com", "method": "GET", "path": "/a?b", "user_agent": "Googlebot",
                "purpose": null, "headers": { "accept": "text/markdown" } })
        .to_string(),
        String::new(),
        json!({ "ip": GOOGLEBOT, "user_agent": null, "headers": { "User-Agent": "Googlebot" } }).to_string(),
        json!({ "ip": "::ffff:192.0.2.1", "user_agent": "Googlebot" }).to_string(),
    ];
    let done = Folder::new().run_with(&[&EXPLAIN[..], &["--stdin"]].concat(), lines.join("\n"));
    assert_eq!((done.status, &*done.stderr), (0, WARNING));
    let answers: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let identities: Vec<&Value> = answers.iter().map(|answer| &answer["identity"]).collect();
    assert_eq!(identities, ["verified", "verified", "spoofed"]);
    assert_eq!(answers[0]["site"], "example.com");
}

#[test]
fn a_bad_line_is_answered_with_its_place_and_the_next_is_read() {
    let long = "x".repeat((1 << 20) + 1);
    let header = r#"{"ip":"::1","user_agent":"a\nb"}"#;
    let input =
        [r#"{"ip":"::1","hots":"é"}"#, "{", r#"{"ip":"1.2.3"}"#, "{}", &long, header, r#"{"ip":"::1"}"#];
    let done = Folder::new().run_with(&[&EXPLAIN[..], &["--stdin"]].concat(), input.join("\n"));
    assert_eq!(done.status, 2);
    let answers: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors: Vec<&str> = answers[..6].iter().map(|answer| answer["error"].as_str().unwrap()).collect();
    assert!(errors[0].starts_with("<stdin>:1:18: error: unknown field `hots`"), "{errors:#?}");
    assert_eq!(
        errors[1..],
        [
            "<stdin>:2:1: error: EOF while parsing an object",
            "<stdin>:3:13: error: invalid IP address syntax",
            "<stdin>:4:2: error: missing field `ip`",
            "<stdin>:5:1: error: the line is over 1048576 bytes long",
            "<stdin>:6:32: error: a header value can't hold the byte 0x0a",
        ]
    );
    assert_eq!(answers[6]["identity"], "generic");
    assert_eq!(done.stderr, format!("{WARNING}{}\n", errors.join("\n")));
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
        let done = explain(&folder, arguments);
        assert_eq!((done.status, &*done.stdout), (2, ""), "{arguments:?}");
        assert!(done.stderr.contains("error: "), "{done:?}");
    }
    folder.write("crawlward.json", "{\n  \"mdoe\": \"enforce\",\n  \"feeds\": 5\n}");
    let done = explain(&folder, &["--ip", "::1"]);
    assert_eq!((done.status, &*done.stdout), (2, ""));
    assert_eq!(
        done.stderr,
        "crawlward.json:2:3: error: unknown key `mdoe` (did you mean `mode`?)\n\
         crawlward.json:3:12: error: `feeds`: expected an array, found the number 5\n"
    );
    let done = folder.run(&["explain", "--config", "nowhere.json", "--ip", "::1"]);
    assert_eq!(done.status, 2);
    assert_eq!(done.stderr, "nowhere.json: error: can't be read: No such file or directory (os error 2)\n");
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let config = CONFIG.replace(r#""hosts""#, r#""robots_txt": "robots.txt", "hosts""#);
    for name in ["googlebot.json", "robots.txt", "crawlward.json"] {
        let folder = Folder::new();
        folder.write("crawlward.json", &config);
        folder.write("robots.txt", "");
        folder.make_pipe(name);
        let done = explain(&folder, &["--ip", "::1"]);
        assert_eq!(done.status, 2, "{name}");
        assert!(done.stderr.contains("not a regular file"), "{name}: {}", done.stderr);
    }
}

#[test]
fn help_shows_examples() {
    for command in ["explain", "lint", "lookup", "envoy"] {
        let done = Folder::new().run(&[command, "--help"]);
        assert_eq!(done.status, 0);
        assert!(done.stdout.contains(&format!("Examples:\n  crawlward {command} --")), "{}", done.stdout);
    }
}

#[test]
fn tag_7_the_rules_for_a_response_are_summed_up_for_the_client() {
    let folder = Folder::new();
    let rules = r#""robots_tag": [ { "scope": "/drafts/", "rules": "noindex; GoogleBot=nosnippet" } ]"#;
    let site = format!(r#"{{ "hosts": ["example.com", "*.example.com"], {rules} }}"#);
    folder.write("crawlward.json", CONFIG.replace(r#"{ "hosts": ["example.com", "*.example.com"] }"#, &site));
    let response = |path: &str, user_agent: &str| {
        let request =
            ["--ip", GOOGLEBOT, "--host", "example.com", "--path", path, "--user-agent", user_agent];
        let done = explain(&folder, &request);
        done.stdout.split_once("\nresponse  ").map(|(_, response)| response.to_string())
    };
    let value = "Robots-Tag: noindex; GoogleBot=nosnippet\n";
    assert_eq!(
        response("/drafts/", "Googlebot/2.1"),
        Some(format!("{value}          to Googlebot it says nosnippet, noindex\n"))
    );
    assert_eq!(
        response("/drafts/", "OtherBot/1.0 (+https://example.org)"),
        Some(format!("{value}          to Googlebot it says nosnippet, noindex\n"))
    );
    assert_eq!(
        response("/drafts/", "GPTBot/1.0"),
        Some(format!("{value}          to GPTBot it says noindex\n"))
    );
    assert_eq!(response("/", "Googlebot/2.1"), None);
    let decided = decision(&folder, &["--ip", "192.0.2.1", "--host", "example.com", "--path", "/drafts/a"]);
    assert_eq!(decided["robots_tag"], "noindex; GoogleBot=nosnippet");
}
