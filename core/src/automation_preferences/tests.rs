use super::*;
use crate::host::RequestHost;
use crate::path_pattern::RequestPath;
use alloc::vec;

fn read(text: &str, strictness: Strictness) -> (Option<PreferencesFile>, Vec<String>) {
    let mut diagnostics = Diagnostics::new("p", strictness);
    let file = PreferencesFile::parse(text.as_bytes(), &mut diagnostics);
    (file, diagnostics.items().iter().map(ToString::to_string).collect())
}

fn lint(text: &str) -> Vec<String> {
    read(text, Strictness::Lint).1
}

fn compiled(text: &str) -> AutomationPreferences {
    read(text, Strictness::Load).0.unwrap().compile()
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
    let request = Request {
        agent: preferences.agent(agent),
        host: RequestHost::new(host.as_bytes()),
        path: RequestPath::new(path.as_bytes()),
        method: method.as_bytes(),
    };
    let verdict = preferences.decide(&request, purposes.iter().map(|name| name.as_bytes()), undeclared)?;
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
    let (_, messages) = read(text, Strictness::Load);
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
    let (file, messages) = read(text, Strictness::Load);
    assert!(file.is_none());
    assert_eq!(
        messages,
        vec!["p:3:3: error: the file holds a control byte, so it is refused as a whole [AUTO-5]"]
    );
    assert!(read("scope: /\0", Strictness::Load).0.is_none());
    let (file, messages) = read("<!doctype html>\n", Strictness::Load);
    assert!(file.is_none() && messages[0].starts_with("p: error: this is HTML, "), "{messages:?}");
    assert!(read("<!-- a remark, as in the draft -->\nscope: /\n\n", Strictness::Load).0.is_some());
    assert!(read("\tscope:\t/\r\nallowed-methods: GET\r\n\r\n", Strictness::Load).0.is_some());
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
    // AUTO-8, AUTO-21 and CONTRACT 2, `undeclared_purpose`
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
    let (file, _) = read(text, Strictness::Load);
    assert_eq!(file.unwrap().purposes().collect::<Vec<_>>(), ["search", "x/y"]);
}

#[test]
fn auto_9_auto_10_groups_need_a_scope_and_end_at_blank_lines() {
    // AUTO-9, AUTO-10, AUTO-20
    let text = "allowed-methods: GET\nuser-agent: a\n \t\nscope: /b\n# comment\n\n\nallowed-methods: GET\nscope: /c\n#\n\
                scope: /d";
    let (file, messages) = read(text, Strictness::Load);
    assert_eq!(file.unwrap().groups.len(), 2);
    assert_eq!(messages, vec!["p:1:1: warning: the group has no usable scope, so it is ignored [AUTO-9]"]);
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
    // A group whose hosts or agents are all unusable holds for none, not for all.
    assert_eq!(decide("scope: /\nhost: a:80\n", "x", "GET a/"), None);
    assert_eq!(decide("scope: /\nuser-agent: 'x'\n", "x", "GET a/"), None);
    assert_eq!(decide("scope: /\nhost: *\nhost: a:80\n", "x", "GET a/"), Some((MethodNotAllowed, 1)));
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
    // AUTO-14: a longer wildcard is no stronger than a shorter one or none.
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
    let (file, messages) = read(&big, Strictness::Load);
    assert!(file.is_none());
    assert_eq!(
        messages,
        ["p: error: the file has 524289 bytes, more than the 524288 that are allowed [AUTO-18]"]
    );

    let long = "a".repeat(LONGEST_LINE);
    let text = format!("scope: /{long}\nscope: /b\nunknown: {long}\n# {long}\n");
    let (file, messages) = read(&text, Strictness::Load);
    assert_eq!(file.unwrap().groups[0].scopes.len(), 1);
    assert_eq!(messages, ["p:1:1: warning: the line is longer than 16384 bytes; it is ignored [AUTO-18]"]);

    let agents = "user-agent: a\n".repeat(600);
    let text = format!("{agents}{}", "scope: /\n".repeat(600));
    let (file, messages) = read(&text, Strictness::Load);
    assert!(file.is_none());
    assert!(messages[0].contains("360000 combinations"), "{messages:?}");
}

#[test]
fn lint_says_what_is_wrong_and_where() {
    let text = "user-agent: Foo Bar, ,?\nscpoe: /\n<!-- x: y -->\nother: 1\nscope\nscope: /a, b, /a\n\
                allowed-methods: GET, BREW, get\nallowed-purposes: a b\n\n\
                scope: /\n\nscope: /\nhost: *.x.example, *.X.example, :80\nallowed-methods:\n\nhost: a\n\n\
                scope: /\nhost: *\nallowed-methods: GET";
    assert_eq!(
        lint(text),
        [
            "p:1:1: warning: the grammar begins a group with a scope; other readers may not find this one [AUTO-20]",
            "p:1:22: error: there is nothing between two commas, or behind the last [AUTO-3]",
            "p:1:13: error: of `Foo Bar`, only the product token `Foo` counts [AUTO-13]",
            "p:1:23: error: `?` begins with no product token [AUTO-13]",
            "p:2:1: error: unknown name `scpoe` is ignored; did you mean `scope`? [AUTO-4]",
            "p:3:1: warning: a comment begins with `#`; this line is ignored as an unknown name [AUTO-2]",
            "p:4:1: warning: unknown name `other` is ignored [AUTO-4]",
            "p:5:1: error: not a `name: value` line; it is ignored [AUTO-3]",
            "p:6:12: error: a path pattern begins with / or *; this one matches no path [AUTO-11]",
            "p:7:23: error: `BREW` is no method that the grammar knows; it is ignored [AUTO-7]",
            "p:7:29: warning: `get` is listed twice [AUTO-6]",
            "p:8:19: error: `a b` is no purpose: a word of visible ASCII characters [AUTO-8]",
            "p:13:33: error: a host is given without a port; it holds for every port [AUTO-12]",
            "p:16:1: warning: the grammar begins a group with a scope; other readers may not find this one [AUTO-20]",
            "p:16:1: error: the group has no usable scope, so it is ignored [AUTO-9]",
            "p:18:1: warning: the grammar has a blank line behind the last group, too [AUTO-20]",
            "p:6:15: warning: the group has the same scope already at 6:8 [AUTO-11]",
            "p:8:1: warning: no purpose is allowed [AUTO-8]",
            "p:10:1: warning: the group has no allowed-methods, so it allows no method [AUTO-6]",
            "p:13:20: warning: the group has the same host already at 13:7 [AUTO-12]",
            "p:14:1: warning: no method is allowed [AUTO-6]",
            "p:12:1: warning: unreachable group: later groups (line 18) hold for all that it holds for [AUTO-14]",
            "p:10:1: warning: unreachable group: later groups (line 18) hold for all that it holds for [AUTO-14]",
        ]
    );
    assert_eq!(lint("scope: /\nallowed-methods: GET\n\n"), Vec::<String>::new());
}

#[test]
fn lint_finds_scopes_that_robots_forbids_anyway() {
    // AUTO-15
    let robots = "User-agent: *\nDisallow: /admin/\nDisallow: /open/\nAllow: /open/*/x\n\
                  User-agent: own\nDisallow: /\nAllow: /admin\n";
    let robots = crate::robots::RobotsFile::parse(
        robots.as_bytes(),
        &mut Diagnostics::new("robots.txt", Strictness::Load),
    );
    for (text, forbidden) in [
        ("scope: /admin/x*y\nuser-agent: other", true),
        ("scope: /admin/x\nuser-agent: other, own", false),
        ("scope: /x\nuser-agent: own", true),
        ("scope: /a\nuser-agent: own", false),
        ("scope: /admin/", false),
        ("scope: /open/\nuser-agent: other", false),
        ("scope: /adm\nuser-agent: other", false),
    ] {
        let (file, _) = read(text, Strictness::Load);
        let mut found = Diagnostics::new("p", Strictness::Lint);
        crate::policy_lint::scopes_forbidden_by_robots(&file.unwrap(), &robots, &mut found);
        assert_eq!(found.warnings() == 1, forbidden, "{text}");
    }
}
