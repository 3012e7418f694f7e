use super::*;
use crate::http::host::RequestHost;
use crate::path::request::RequestPath;
use crate::source::diagnostic::{Lint, Load};
use alloc::string::{String, ToString};
use alloc::{format, vec};

fn read(text: &str, strictness: impl Strictness) -> (Option<PreferencesFile>, Vec<String>) {
    let mut diagnostics = Diagnostics::new("p", strictness);
    let file = PreferencesFile::parse(text.as_bytes(), &mut diagnostics);
    (file, diagnostics.items().iter().map(ToString::to_string).collect())
}

fn compiled(text: &str) -> AutomationPreferences {
    read(text, Load).0.unwrap().compile()
}

/// `METHOD host/path` by an agent: the outcome and its line.
fn decide(text: &str, agent: &str, request: &str) -> Option<(Outcome, u32)> {
    decide_for(text, agent, request, &[], Undeclared::Allow)
}

fn decide_for(
    text: &str,
    agent: &str,
    request: &str,
    purposes: &[&str],
    undeclared: Undeclared,
) -> Option<(Outcome, u32)> {
    let preferences = compiled(text);
    let (method, url) = request.split_once(' ').unwrap();
    let (host, path) = url.split_at(url.find('/').unwrap());
    let request = AccessRequest {
        agent: preferences.agent(agent),
        host: RequestHost::new(host.as_bytes()),
        path: RequestPath::new(path.as_bytes()),
        method: method.as_bytes(),
    };
    let verdict = preferences.decide(&request, || purposes.iter().map(|name| name.as_bytes()), undeclared)?;
    Some((verdict.outcome, verdict.line))
}

use Outcome::{Allowed, MethodNotAllowed, PurposeNotAllowed};

#[test]
fn auto_2_auto_4_comments_and_unknown_lines_are_ignored() {
    // AUTO-2, AUTO-3, AUTO-4, AUTO-10: the sample of the draft, with its pseudo-comments.
    let text = "<!-- Automation preferences for example.com -->\n<!-- Version: 1.0 -->\n\n\
                <!-- Group 1: whole site -->\n SCOPE\t:/ # all\n# between\nuser-agent: *\nhost: example.com\n\
                Allowed-Methods: GET ,HEAD# two\nrate-limit: 5\nallowed-purposes: P1, P2\n\n\
                scope: /admin/\nuser-agent: ExampleBot\nhost: example.com\nallowed-methods: GET\nallowed-purposes: P1";
    let (_, messages) = read(text, Load);
    assert_eq!(messages, Vec::<String>::new());
    assert_eq!(decide(text, "x", "HEAD example.com/a"), Some((Allowed, 5)));
    assert_eq!(decide(text, "x", "POST example.com/a"), Some((MethodNotAllowed, 9)));
    assert_eq!(decide(text, "ExampleBot", "HEAD example.com/admin/"), Some((MethodNotAllowed, 16)));
    assert_eq!(decide(text, "x", "HEAD example.com/admin/"), Some((Allowed, 5)));
    assert_eq!(decide(text, "x", "POST example.org/a"), None);
}

#[test]
fn auto_5_control_bytes_refuse_the_file() {
    // AUTO-5
    let text = "scope: /\nallowed-methods: GET\r# \u{1}\n";
    let (file, messages) = read(text, Load);
    assert!(file.is_none());
    assert_eq!(messages, vec!["p:3:3: error: control character; the whole file is refused [AUTO-5]"]);
    assert!(read("scope: /\0", Load).0.is_none());
    let (file, messages) = read("<!doctype html>\n", Load);
    assert!(file.is_none() && messages[0].starts_with("p: error: this is HTML, "), "{messages:?}");
    assert!(read("<!-- a remark, as in the draft -->\nscope: /\n\n", Load).0.is_some());
    assert!(read("\tscope:\t/\r\nallowed-methods: GET\r\n\r\n", Load).0.is_some());
}

#[test]
fn auto_6_auto_7_only_listed_methods_are_allowed() {
    // AUTO-6, AUTO-7
    let text = "scope: /\nallowed-methods: get, Post, FOO\nallowed-methods: PUT\n\nscope: /none\n\nscope: /empty\n\
                allowed-methods:\n";
    for (request, expected) in [
        ("GET h/", (Allowed, 1)),
        ("POST h/", (Allowed, 1)),
        ("PUT h/", (Allowed, 1)),
        ("HEAD h/", (MethodNotAllowed, 2)),
        ("get h/", (MethodNotAllowed, 2)),
        ("FOO h/", (MethodNotAllowed, 2)),
        ("GET h/none", (MethodNotAllowed, 5)),
        ("GET h/empty", (MethodNotAllowed, 8)),
    ] {
        assert_eq!(decide(text, "x", request), Some(expected), "{request}");
    }
}

#[test]
fn auto_8_purposes_are_restricted_where_they_are_listed() {
    // AUTO-8, AUTO-21, and the key `undeclared_purpose` of a site
    let text = "scope: /\nallowed-methods: GET\nallowed-purposes: Search, x/y\n\nscope: /free\nallowed-methods: GET\n\n\
                scope: /nobody\nallowed-methods: GET\nallowed-purposes:\n";
    let deny = |request, purposes: &[&str]| decide_for(text, "x", request, purposes, Undeclared::Deny);
    assert_eq!(deny("GET h/", &["SEARCH"]), Some((Allowed, 1)));
    assert_eq!(deny("GET h/", &["search", "X/y"]), Some((Allowed, 1)));
    assert_eq!(deny("GET h/", &["search", "train"]), Some((PurposeNotAllowed, 3)));
    assert_eq!(deny("GET h/", &["sear"]), Some((PurposeNotAllowed, 3)));
    assert_eq!(deny("GET h/", &[]), Some((PurposeNotAllowed, 3)));
    assert_eq!(deny("PUT h/", &["train"]), Some((MethodNotAllowed, 2)));
    assert_eq!(deny("GET h/free", &["train"]), Some((Allowed, 5)));
    assert_eq!(deny("GET h/nobody", &["search"]), Some((PurposeNotAllowed, 10)));
    assert_eq!(decide(text, "x", "GET h/"), Some((Allowed, 1)));
    let (file, _) = read(text, Load);
    assert_eq!(file.unwrap().purposes().collect::<Vec<_>>(), ["search", "x/y"]);
}

#[test]
fn auto_9_auto_10_groups_need_a_scope_and_end_at_blank_lines() {
    // AUTO-9, AUTO-10, AUTO-20
    let text = "allowed-methods: GET\nuser-agent: a\n \t\nscope: /b\n# comment\n\n\nallowed-methods: GET\nscope: /c\n#\n\
                scope: /d";
    let (file, messages) = read(text, Load);
    assert_eq!(file.unwrap().groups.len(), 2);
    assert_eq!(
        messages,
        vec!["p:1:1: warning: the group has no valid `scope`; it applies to no request [AUTO-9]"]
    );
    assert_eq!(decide(text, "a", "GET h/"), None);
    assert_eq!(decide(text, "a", "GET h/b"), Some((MethodNotAllowed, 4)));
    assert_eq!(decide(text, "a", "GET h/c"), Some((Allowed, 9)));
    assert_eq!(decide(text, "a", "GET h/d"), Some((Allowed, 11)));
}

#[test]
fn auto_11_scopes_are_path_patterns_and_commas_can_be_part_of_them() {
    // AUTO-11
    let text = "scope: /a,b, /c*d$,/~e, /x y, z\nallowed-methods: GET\n\n";
    for path in ["/a,b", "/a%2Cb/x", "/c/d", "/%7Ee", "/x%20y"] {
        let expected = (path != "/a%2Cb/x").then_some((Allowed, 1));
        assert_eq!(decide(text, "x", &format!("GET h{path}")), expected, "{path}");
    }
    for path in ["/a", "/c/d/", "/A,b", "/z"] {
        assert_eq!(decide(text, "x", &format!("GET h{path}")), None, "{path}");
    }
    let text = "\u{feff}scope: /a\rallowed-methods: GET\r\rscope: /b\r";
    assert_eq!(decide(text, "x", "GET h/a"), Some((Allowed, 1)));
    assert_eq!(decide(text, "x", "GET h/b"), Some((MethodNotAllowed, 4)));
}

#[test]
fn auto_12_auto_13_hosts_and_agents_select() {
    // AUTO-12, AUTO-13
    let text = "scope: /\nhost: bücher.example, *.example.com\nuser-agent: Foo, Bar/2.0\nuser-agent: baz\n\
                allowed-methods: GET\n\n";
    for host in ["xn--bcher-kva.example", "Bücher.example:8080", "a.b.example.com."] {
        for agent in ["foo", "BAR", "Baz/1"] {
            assert_eq!(decide(text, agent, &format!("GET {host}/")), Some((Allowed, 1)), "{host} {agent}");
        }
        assert_eq!(decide(text, "fo", &format!("GET {host}/")), None, "{host}");
    }
    assert_eq!(decide(text, "foo", "GET example.com/"), None);
    assert_eq!(decide(text, "foo", "GET /"), None);
    // A group whose hosts or agents are all invalid holds for none, not for all.
    assert_eq!(decide("scope: /\nhost: a/b\n", "x", "GET a/"), None);
    assert_eq!(decide("scope: /\nuser-agent: 'x'\n", "x", "GET a/"), None);
    assert_eq!(decide("scope: /\nhost: *\nhost: a/b\n", "x", "GET a/"), Some((MethodNotAllowed, 1)));
    assert_eq!(read("scope: /\nuser-agent: ExampleBot\nallowed-methods: GET\n\n", Lint).1, [""; 0]);
    // A port is ignored.
    for host in ["a:80", "*, a:80", "A.:8080", "a:"] {
        assert_eq!(
            decide(&format!("scope: /\nhost: {host}\n"), "x", "GET a:1/"),
            Some((MethodNotAllowed, 1))
        );
    }
}

#[test]
fn auto_12_a_host_beside_an_asterisk_stays_exact() {
    // AUTO-12, AUTO-14: of two groups for the host, the one that names it takes precedence, whatever else it is for.
    for hosts in ["*, example.com", "example.com, *", "*\nhost: example.com:443"] {
        let text = format!(
            "scope: /\nhost: {hosts}\nallowed-methods: GET\n\nscope: /long/\nallowed-methods: POST\n\n"
        );
        assert_eq!(decide(&text, "x", "GET example.com/long/").map(|(outcome, _)| outcome), Some(Allowed));
        assert_eq!(
            decide(&text, "x", "GET other.example/long/").map(|(outcome, _)| outcome),
            Some(MethodNotAllowed)
        );
        assert_eq!(decide(&text, "x", "GET other.example/").map(|(outcome, _)| outcome), Some(Allowed));
    }
}

#[test]
fn auto_22_a_line_over_the_limit_makes_no_group_wider() {
    // AUTO-22: the values are dropped, and the directive still restricts.
    let long = |directive: &str| format!("{directive}: y,{}", "x,".repeat(LONGEST_LINE / 2));
    let group = |line: &str| format!("scope: /\n{line}\nallowed-methods: GET\n\n");
    let decide = |text: &str| decide_for(text, "x", "GET h/", &["x"], Undeclared::Allow);
    assert_eq!(decide(&group("# no other")), Some((Allowed, 1)));
    assert_eq!(decide(&group(&long("allowed-purposes"))), Some((PurposeNotAllowed, 2)));
    assert_eq!(decide(&group(&long("user-agent"))), None);
    assert_eq!(decide(&group(&long("host"))), None);
    assert_eq!(decide(&format!("scope: /\n{}\n", long("allowed-methods"))), Some((MethodNotAllowed, 2)));
    assert_eq!(decide(&format!("{}\nallowed-methods: GET\n", long("scope"))), None);
    // Values in another line of the directive still count.
    assert_eq!(decide(&group(&format!("{}\nuser-agent: x", long("user-agent")))), Some((Allowed, 1)));
    assert_eq!(decide(&group(&format!("{}\nhost: h", long("host")))), Some((Allowed, 1)));
}

#[test]
fn a_web_page_counts_where_it_holds_groups() {
    // AUTO-1, ROB-5
    let page = "<!DOCTYPE html>\n<pre>\n\nscope: /\nallowed-methods: GET\n\n</pre>\n";
    let (file, messages) = read(page, Load);
    assert_eq!(file.unwrap().groups.len(), 1);
    assert_eq!(messages, ["p: warning: the file starts as a web page (HTML); its groups apply [AUTO-1]"]);
    for page in ["<html>\nscope:/\u{0}", "<html>\n\nallowed-methods: GET\n"] {
        assert!(read(page, Load).0.is_none(), "{page}");
    }
}

/// One group for the table of AUTO-14: each criterion stronger or weaker.
fn group(exact_host: bool, long_scope: bool, named_agent: bool, weak_host: &str) -> String {
    let host = if exact_host { "host: www.example.com\n" } else { weak_host };
    let scope = if long_scope { "/a/b" } else { "/a" };
    let agent = if named_agent { "bot" } else { "*" };
    format!("scope: {scope}\n{host}user-agent: {agent}\nallowed-methods: GET\n\n")
}

#[test]
fn auto_14_every_pair_of_criteria_in_both_orders() {
    // AUTO-14: for every two of the eight kinds of group, in both orders, the first criterion in which they differ
    // decides; where they don't differ, the later group does. With a wildcard and with no host as the weaker one.
    let kinds = || (0..8_u8).map(|bits| (bits & 4 != 0, bits & 2 != 0, bits & 1 != 0));
    for weak_host in ["", "host: *.example.com\n", "host: *\n", "host: *.com\n"] {
        for first in kinds() {
            for second in kinds() {
                let texts = [first, second].map(|(host, scope, agent)| group(host, scope, agent, weak_host));
                let second_line = u32::try_from(texts[0].lines().count() + 1).unwrap();
                // Tuples of booleans compare criterion by criterion; equal ones leave it to the order.
                let expected = if second >= first { second_line } else { 1 };
                let text = texts.concat();
                let verdict = decide(&text, "bot", "GET www.example.com/a/b/c");
                assert_eq!(verdict, Some((Allowed, expected)), "{first:?} {second:?}\n{text}");
            }
        }
    }
}

#[test]
fn auto_14_between_weak_hosts_the_other_criteria_decide() {
    // AUTO-14: a longer wildcard is not stronger than a shorter one or none.
    let text = "scope: /\nhost: *.b.example\nallowed-methods: GET\n\nscope: /a\nallowed-methods: GET\n\n\
                scope: /\nhost: *.example\nuser-agent: bot\nallowed-methods: GET\n\n";
    assert_eq!(decide(text, "bot", "GET x.b.example/a"), Some((Allowed, 5)));
    assert_eq!(decide(text, "bot", "GET x.b.example/"), Some((Allowed, 8)));
    assert_eq!(decide(text, "cat", "GET x.b.example/"), Some((Allowed, 1)));
    // An exact host counts only where one of its groups holds.
    let text = "scope: /x\nhost: a.example\n\nscope: /y\nhost: a.example\nuser-agent: bot\n\nscope: /\nallowed-methods: GET\n\n";
    assert_eq!(decide(text, "cat", "GET a.example/y"), Some((Allowed, 8)));
    assert_eq!(decide(text, "bot", "GET a.example/y"), Some((MethodNotAllowed, 4)));
}

#[test]
fn auto_18_sizes_are_limited() {
    // AUTO-18
    let big = "# \n".repeat(DEFAULT_LIMIT / 3 + 1);
    let (file, messages) = read(big.split_at(DEFAULT_LIMIT).0, Load);
    assert!(file.is_some(), "{messages:?}");
    let (file, messages) = read(&big, Load);
    assert!(file.is_none());
    assert_eq!(messages, ["p: error: the file has 524289 bytes; the limit is 524288 [AUTO-18]"]);

    let long = "a".repeat(LONGEST_LINE);
    let text = format!("scope: /{long}\nscope: /b\nunknown: {long}\n# {long}\n");
    let (file, messages) = read(&text, Load);
    assert_eq!(file.unwrap().groups[0].scopes.len(), 1);
    assert_eq!(
        messages,
        ["p:1:1: warning: the line has 16392 bytes; the limit is 16384; ignoring its values [AUTO-18]"]
    );

    let longest = format!("scope: /{}\n", "a".repeat(LONGEST_LINE - "scope: /".len()));
    assert_eq!(read(&longest, Load).1, [""; 0]);

    let side = 1 << (MOST_COMBINATIONS.ilog2() / 2);
    let text = format!("{}{}", "user-agent: a\n".repeat(side), "scope: /\n".repeat(side));
    assert_eq!(read(&text, Load).0.map(|file| file.combinations()), Some(MOST_COMBINATIONS));
    let agents = "user-agent: a\n".repeat(600);
    let text = format!("{agents}{}", "scope: /\n".repeat(600));
    let (file, messages) = read(&text, Load);
    assert!(file.is_none());
    assert!(messages[0].contains("360000 combinations"), "{messages:?}");
}
