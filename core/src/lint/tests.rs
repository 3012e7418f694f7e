//! The messages of lint, and their places.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::automation_preferences::scopes_forbidden_by_robots;
use crate::policy::automation_preferences::PreferencesFile;
use crate::policy::robots::RobotsFile;
use crate::source::diagnostic::{Diagnostic, Diagnostics, Lint, Load};

fn shown(found: Vec<Diagnostic>) -> Vec<String> {
    found.iter().map(ToString::to_string).collect()
}

fn robots(text: &str) -> Vec<String> {
    shown(super::robots("r", text.as_bytes()))
}

fn preferences(text: &str) -> Vec<String> {
    shown(super::automation_preferences("p", text.as_bytes()))
}

#[test]
fn what_is_wrong_with_a_robots_txt_is_said_where_it_is() {
    let text = "Disallow: /x\nUser-agent: a/1.0\n  Disalow: /a\nfoo: bar\nDisallow /b\nAllow:\nDisallow: c\njunk\n\
                Allow: /b\nDisallow: /%62\nDisallow: /b\nUser-agent: ?\nDisallow: /\nUser-agent: z\nSitemap: x";
    assert_eq!(
        robots(text),
        vec![
            "r:1:1: error: rule before the first `user-agent` line; it applies to no agent [ROB-4]",
            "r:2:13: warning: \"a/1.0\" is not a product token; reading it as `a` [ROB-1]",
            "r:3:3: error: unknown name \"Disalow\" (did you mean `disallow`?); ignoring the line [ROB-4]",
            "r:4:1: warning: unknown name \"foo\"; ignoring the line [ROB-4]",
            "r:5:1: error: missing `:` after `disallow`; reading the line as if it were there [ROB-4]",
            "r:5:1: warning: no effect: line 9 allows the same path [ROB-2]",
            "r:6:1: warning: an empty `allow` has no effect [ROB-2]",
            "r:7:11: error: \"c\": a path must start with `/` or `*`; ignoring the rule [ROB-3]",
            "r:8:1: error: not a `name: value` line; ignoring it [ROB-4]",
            "r:10:1: warning: no effect: line 9 allows the same path [ROB-2]",
            "r:11:1: warning: no effect: line 9 allows the same path [ROB-2]",
            "r:12:1: error: the group names no agent; it applies to no client [ROB-1]",
            "r:12:13: error: no product token in \"?\"; the line names no agent [ROB-1]",
            "r:14:1: warning: the group has no rules; it allows everything [ROB-1]",
        ]
    );
    assert_eq!(
        robots("<HTML>\nUser-agent: *\n"),
        vec!["r: error: this is HTML, not a robots.txt: it has no rules [ROB-5]"]
    );
    assert_eq!(
        robots("User-agent: Foobot*\nUser-agent: *\nDisallow: /a\n"),
        ["r:1:13: error: \"Foobot*\" is not a product token; reading it as `Foobot` [ROB-1]"]
    );
    assert_eq!(robots("<!-- ours -->\nUser-agent: *\nDisallow: /\n").len(), 1);
    assert_eq!(
        super::robots("r", b"User-agent: *\nDisallow: /\xE9\n")[0].to_string(),
        "r:2:12: error: not UTF-8 from here on; the octets are compared as they are [ROB-5]"
    );
    assert_eq!(robots("User-agent: *\nAllow: /\nDisallow:\nSitemap: x\n"), Vec::<String>::new());
}

#[test]
fn what_is_wrong_with_an_automation_preferences_txt_is_said_where_it_is() {
    let text = "user-agent: Foo Bar, ,?\nscpoe: /\n<!-- x: y -->\nother: 1\nscope\nscope: /a, b, /a\n\
                allowed-methods: GET, BREW, get\nallowed-purposes: a b\n\n\
                scope: /\n\nscope: /\nhost: *.x.example, *.X.example, :80\nallowed-methods:\n\nhost: a\n\n\
                scope: /\nhost: *\nallowed-methods: GET";
    assert_eq!(
        preferences(text),
        [
            "p:1:1: warning: the group does not start with `scope`, as the grammar requires; other readers may ignore it [AUTO-20]",
            "p:1:13: error: \"Foo Bar\" is not a product token; reading it as `Foo` [AUTO-13]",
            "p:1:22: error: empty value in the list [AUTO-3]",
            "p:1:23: error: no product token in \"?\" [AUTO-13]",
            "p:2:1: error: unknown name \"scpoe\" (did you mean `scope`?); ignoring the line [AUTO-4]",
            "p:3:1: warning: a comment starts with `#`; ignoring the line as an unknown name [AUTO-2]",
            "p:4:1: warning: unknown name \"other\"; ignoring the line [AUTO-4]",
            "p:5:1: error: not a `name: value` line; ignoring it [AUTO-3]",
            "p:6:12: error: \"b\": a path must start with `/` or `*` [AUTO-11]",
            "p:6:15: warning: duplicate scope, first at 6:8 [AUTO-11]",
            "p:7:23: error: unknown method \"BREW\"; ignoring it [AUTO-7]",
            "p:7:29: warning: duplicate method \"get\" [AUTO-6]",
            "p:8:1: warning: the list is empty; the group allows no purpose [AUTO-8]",
            "p:8:19: error: invalid purpose \"a b\": a purpose is a word of visible ASCII characters [AUTO-8]",
            "p:10:1: warning: the group has no `allowed-methods`; it allows no method [AUTO-6]",
            "p:10:1: warning: no effect: later groups (line 18) apply to all requests of this one [AUTO-14]",
            "p:12:1: warning: no effect: later groups (line 18) apply to all requests of this one [AUTO-14]",
            "p:13:20: warning: duplicate host, first at 13:7 [AUTO-12]",
            "p:13:33: error: \":80\": the host is empty [AUTO-12]",
            "p:14:1: warning: the list is empty; the group allows no method [AUTO-6]",
            "p:16:1: warning: the group does not start with `scope`, as the grammar requires; other readers may ignore it [AUTO-20]",
            "p:16:1: error: the group has no valid `scope`; it applies to no request [AUTO-9]",
            "p:18:1: warning: missing blank line after the last group; the grammar requires it [AUTO-20]",
        ]
    );
    assert_eq!(preferences("scope: /\nallowed-methods: GET\n\n"), Vec::<String>::new());
}

#[test]
fn auto_15_scopes_that_robots_forbids_anyway_are_found() {
    let robots = "User-agent: *\nDisallow: /admin/\nDisallow: /open/\nAllow: /open/*/x\n\
                  User-agent: own\nDisallow: /\nAllow: /admin\n";
    let robots = RobotsFile::parse(robots.as_bytes(), &mut Diagnostics::new("robots.txt", Load)).unwrap();
    for (text, forbidden) in [
        ("scope: /admin/x*y\nuser-agent: other", true),
        ("scope: /admin/x\nuser-agent: other, own", false),
        ("scope: /x\nuser-agent: own", true),
        ("scope: /a\nuser-agent: own", false),
        ("scope: /admin/", false),
        ("scope: /open/\nuser-agent: other", false),
        ("scope: /adm\nuser-agent: other", false),
    ] {
        let file = PreferencesFile::parse(text.as_bytes(), &mut Diagnostics::new("p", Load)).unwrap();
        let mut found = Diagnostics::new("p", Lint);
        scopes_forbidden_by_robots(&file, &robots, &mut found);
        assert_eq!(found.warnings() == 1, forbidden, "{text}");
    }
}

#[test]
fn tag_1_a_comma_before_a_token_makes_a_rule_of_it() {
    // TAG-1
    let tag = |text: &str| shown(super::robots_tag("t", text.as_bytes()));
    assert_eq!(
        tag("noindex, ExampleBot=nofollow, x"),
        [
            "t:1:10: error: \"ExampleBot=nofollow\" is read as a rule, not as a token with rules: write `;` before a token, not `,` [TAG-1]",
            "t:1:31: warning: unknown rule \"x\"; relaying it, but crawlers may ignore it [TAG-4]",
        ]
    );
    assert_eq!(tag("noindex, ExampleBot=").len(), 1);
    for right in ["noindex; ExampleBot=nofollow", "noindex, max-snippet=20", "*;noindex, ExampleBot;nofollow"]
    {
        assert_eq!(tag(right), [""; 0], "{right}");
    }
}

#[test]
fn rob_2_rules_that_a_shorter_one_decides_are_redundant() {
    // ROB-2
    let useless = |rules: &str| {
        let found = robots(&format!("User-agent: *\n{rules}\n"));
        found.iter().map(|line| line.split(':').nth(1).unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        robots("User-agent: *\nDisallow: /a/\nDisallow: /a/b\n"),
        ["r:3:1: warning: redundant: line 2 disallows everything that this rule disallows [ROB-2]"]
    );
    for (rules, lines) in [
        ("Disallow: /a\nDisallow: /ab\nDisallow: /abc", &["3", "4"][..]),
        ("Disallow: /ab\nDisallow: /a", &["2"]),
        ("Disallow: /a\nAllow: /a/b\nDisallow: /a/b/c\nAllow: /a/b/d", &["5"]),
        ("Disallow: /a\nAllow: /a/b\nDisallow: /a/c", &["4"]),
        ("Allow: /\nDisallow: /a\nAllow: /b", &["4"]),
        ("Disallow: /a**\nDisallow: /ab", &["3"]),
        // One that may decide between them, by its wildcard or by its length.
        ("Disallow: /a\nAllow: /*.css$\nDisallow: /a/assets", &[]),
        ("Disallow: /a\nAllow: /*c\nDisallow: /a/b", &[]),
        ("Disallow: /a\nAllow: /*\nDisallow: /a/b", &[]),
        ("Disallow: /a\nAllow: /*b\nDisallow: /ab", &["4"]),
        ("Disallow: /a\nAllow: /*bcde\nDisallow: /ab", &["4"]),
        ("Disallow: /a$\nDisallow: /ab", &[]),
        ("Disallow: /a\nDisallow: /a*b", &[]),
        ("Disallow: /a\nDisallow: /b", &[]),
        // Some of the agents obey another group, too.
        ("Disallow: /a\nDisallow: /ab\nUser-agent: *\nUser-agent: x\nAllow: /*b", &[]),
    ] {
        assert_eq!(useless(rules), lines, "{rules}");
    }
}

#[test]
fn rob_7_rules_that_match_no_path_are_found() {
    // ROB-7: what a client resolves before it sends a path. All else can be matched as it is written.
    assert_eq!(
        robots("User-agent: *\nDisallow: /a/../b\n"),
        [
            "r:2:11: warning: \"/a/../b\" has no effect: clients resolve `.` and `..` segments before they send a path [ROB-3]"
        ]
    );
    for dead in ["/./a", "/a/%2e%2E/b", "/*/./x"] {
        assert_eq!(robots(&format!("User-agent: *\nAllow: {dead}\n")).len(), 1, "{dead}");
        assert_eq!(preferences(&format!("scope: {dead}\nallowed-methods: GET\n\n")).len(), 1, "{dead}");
    }
    for live in
        ["/.well-known/", "/a/..", "/a/...", "/a..b/", "/?x=/../y", "/a//b", "/a%2F..%2Fb", "/x/..;/y"]
    {
        assert_eq!(robots(&format!("User-agent: *\nDisallow: {live}\n")), [""; 0], "{live}");
    }
}
