use super::*;
use crate::path::request::RequestPath;
use crate::source::diagnostic::Load;
use alloc::string::ToString;
use alloc::vec;

fn robots(text: &[u8]) -> Robots {
    RobotsFile::parse(text, &mut Diagnostics::new("robots.txt", Load)).unwrap().compile()
}

fn decide(text: &str, token: &str, path: &str) -> (bool, Option<u32>) {
    let robots = robots(text.as_bytes());
    let verdict = robots.decide(robots.group_for(token), RequestPath::new(path.as_bytes()));
    (verdict.allowed, verdict.line)
}

#[test]
fn rob_1_groups_are_chosen_by_whole_tokens_without_case() {
    // ROB-1
    let text = "User-agent: ExampleBot/1.0 (x)\nDisallow: /own\n\nuser-AGENT: *\nDisallow: /all\n";
    for token in ["examplebot", "EXAMPLEBOT", "ExampleBot/2.0"] {
        assert_eq!(decide(text, token, "/own"), (false, Some(2)), "{token}");
        assert_eq!(decide(text, token, "/all"), (true, None), "{token}");
    }
    for token in ["Example", "ExampleBot-Image", "OtherBot", "*", ""] {
        assert_eq!(decide(text, token, "/own"), (true, None), "{token}");
        assert_eq!(decide(text, token, "/all"), (false, Some(5)), "{token}");
    }
    assert_eq!(decide("User-agent: A\nDisallow: /", "B", "/"), (true, None));
    assert_eq!(decide("User-agent: MJ12bot\nDisallow: /", "MJ12bot", "/"), (false, Some(2)));
}

#[test]
fn rob_1_all_groups_of_a_token_are_one() {
    // ROB-1: also where the groups share only some of their tokens.
    let text = "User-agent: a\nUser-agent: b\nDisallow: /ab\n\nUser-agent: a\nDisallow: /a1\nAllow: /ab/x\n\
                User-agent: A\nDisallow: /a2\nUser-agent: *\nDisallow: /";
    for (path, line) in [("/ab", 3), ("/a1", 6), ("/ab/x", 7), ("/a2", 9)] {
        assert_eq!(decide(text, "a", path), (line == 7, Some(line)), "{path}");
    }
    assert_eq!(decide(text, "b", "/ab/x"), (false, Some(3)));
    assert_eq!(decide(text, "b", "/a1"), (true, None));
    assert_eq!(decide(text, "c", "/a1"), (false, Some(11)));
}

#[test]
fn rob_1_a_group_without_rules_is_a_group() {
    // ROB-1: `*` counts only where no group has the token.
    assert_eq!(decide("User-agent: *\nDisallow: /\nUser-agent: a", "a", "/"), (true, None));
    assert_eq!(decide("User-agent: a\nDisallow:\nUser-agent: *\nDisallow: /", "a", "/"), (true, None));
    for line in ["User-agent: *x", "User-agent: *\u{FE}", "User-agent: **", "User-agent:"] {
        assert_eq!(decide(&alloc::format!("{line}\nDisallow: /"), "x", "/"), (true, None), "{line}");
    }
    assert_eq!(decide("User-agent: * x\nDisallow: /", "x", "/"), (false, Some(2)));
    assert_eq!(decide("User-agent: !!!\nDisallow: /a\nUser-agent: *\nDisallow: /b", "x", "/a"), (true, None));
}

#[test]
fn rob_2_the_longest_match_wins_and_allow_among_equals() {
    // ROB-2
    for (rules, path, expected) in [
        ("Allow: /a\nDisallow: /ab", "/abc", (false, Some(3))),
        ("Disallow: /ab\nAllow: /a", "/abc", (false, Some(2))),
        ("Disallow: /p\nAllow: /p", "/p", (true, Some(3))),
        ("Disallow: /page\nAllow: /*.htm", "/page.htm", (true, Some(3))),
        ("Allow: /page\nDisallow: /*.html", "/page.html", (false, Some(3))),
        ("Allow: /$\nDisallow: /", "/", (true, Some(2))),
        ("Allow: /$\nDisallow: /", "/page", (false, Some(3))),
        ("Disallow: /%7Ea\nAllow: /~a", "/~ab", (true, Some(3))),
        ("Disallow: /\u{30C4}\nAllow: /%e3%83%84", "/%E3%83%84", (true, Some(3))),
        ("Disallow: /x", "/", (true, None)),
        ("Disallow: /", "", (false, Some(2))),
        ("Disallow: *", "/robots.txt", (true, None)),
        ("Disallow: *", "/robots%2Etxt", (true, None)),
        ("Disallow: /", "/robots.txt.gz", (false, Some(2))),
        ("Disallow: /", "/Robots.txt", (false, Some(2))),
        ("Disallow: /a\nDisallow: /a", "/a", (false, Some(2))),
        // Beyond the RFC: no index.html for the directory.
        ("Allow: /index.html\nDisallow: /", "/", (false, Some(3))),
    ] {
        assert_eq!(decide(&alloc::format!("User-agent: *\n{rules}"), "x", path), expected, "{rules} {path}");
    }
}

#[test]
fn rob_4_only_a_user_agent_line_behind_a_rule_begins_a_group() {
    // ROB-4
    let text = "Disallow: /none\nUser-agent: a\n\nSitemap: https://example.com/s\nCrawl-delay: 1\n# x\n\
                nonsense\nUser-agent: b\nUnknown: x\n\n\nDisallow: /\n";
    for token in ["a", "b"] {
        assert_eq!(decide(text, token, "/none"), (false, Some(12)), "{token}");
    }
    assert_eq!(decide(text, "c", "/none"), (true, None));
    // An empty rule is a rule in this respect.
    assert_eq!(decide("User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /", "a", "/"), (true, None));
}

#[test]
fn rob_4_nothing_but_a_missing_colon_is_guessed() {
    // ROB-4
    for line in ["Disallow /x", " disallow\t/x # c", "DISALLOW : /x", "Disallow:/x", "Disallow /x:y"] {
        assert!(!decide(&alloc::format!("User-agent *\n{line}"), "a", "/x:y").0, "{line}");
    }
    for line in
        ["Disalow: /x", "Dis allow: /x", "Disallow /x y", "Disallow", "Disallow=/x", "Disallow-: /x", "/x"]
    {
        assert!(decide(&alloc::format!("User-agent *\n{line}"), "a", "/x").0, "{line}");
    }
    for name in ["useragent", "user agent", "user-agents", "user_agent"] {
        assert!(decide(&alloc::format!("{name}: *\nDisallow: /"), "a", "/x").0, "{name}");
    }
}

#[test]
fn rob_5_bytes_of_any_kind_survive() {
    // ROB-5
    let text =
        b"\xEF\xBB\xBFUser-agent: *\rDisallow: /a\0b\r\nDisallow: /\xff\xfe\nDisallow: /c\n\r\nAllow: /c/\0";
    let robots = robots(text);
    let decide = |path: &[u8]| {
        let verdict = robots.decide(robots.group_for("x"), RequestPath::new(path));
        (verdict.allowed, verdict.line)
    };
    assert_eq!(decide(b"/a%00b"), (false, Some(2)));
    assert_eq!(decide(b"/a\0b"), (false, Some(2)));
    assert_eq!(decide(b"/%ff%FE"), (false, Some(3)));
    assert_eq!(decide(b"/c/%00"), (true, Some(6)));
}

#[test]
fn rob_5_what_stands_before_the_first_group_loses_nothing() {
    // ROB-5: a byte order mark, whole or in part.
    for mark in [&b"\xEF\xBB\xBF"[..], b"\xEF\xBB", b"\xEF", b""] {
        let text = [mark, b"User-agent: *\rDisallow: /a\r"].concat();
        let robots = robots(&text);
        assert!(!robots.decide(robots.group_for("x"), RequestPath::new(b"/a")).allowed, "{mark:?}");
    }
    // A web page whose lines hold rules, as wrong editors write it; but not one without any.
    let page = "<!doctype html>\n<html><pre>\nUser-agent: *\nDisallow: /a\n</pre></html>\n";
    let mut diagnostics = Diagnostics::new("r", Load);
    assert!(RobotsFile::parse(page.as_bytes(), &mut diagnostics).is_some());
    assert_eq!(decide(page, "x", "/a"), (false, Some(4)));
    let shown: Vec<_> = diagnostics.items().iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["r: warning: the file starts as a web page (HTML); its rules apply [ROB-5]"]);
    for page in [
        "<html><title>404</title></html>",
        "<html>\nUser-agent: *\n",
        "<html>\nDisallow: /\n",
        "<html>\nUser-agent: ?\nDisallow: /\n",
    ] {
        let mut diagnostics = Diagnostics::new("r", Load);
        assert!(RobotsFile::parse(page.as_bytes(), &mut diagnostics).is_none() && diagnostics.has_errors());
    }
}

#[test]
fn rob_5_half_a_mebibyte_counts_and_the_limit_is_between_lines() {
    // ROB-5
    let mut text = b"User-agent: *\n".to_vec();
    while text.len() < 500 * 1024 {
        text.extend_from_slice(b"Disallow: /some/quite/ordinary/path/in/a/file/that/is/long\n");
    }
    text.extend_from_slice(b"Disallow: /last\n");
    let last = robots(&text);
    assert!(!last.decide(last.group_for("x"), RequestPath::new(b"/last")).allowed);

    let text = b"User-agent: *\nDisallow: /ab\nDisallow: /cd\n";
    let mut diagnostics = Diagnostics::new("r", Load);
    let robots = RobotsFile::parse_within(text, 40, &mut diagnostics).unwrap().compile();
    let group = robots.group_for("x");
    assert!(!robots.decide(group, RequestPath::new(b"/ab")).allowed);
    assert!(robots.decide(group, RequestPath::new(b"/cd")).allowed, "a rule cut in two would forbid more");
    let shown: Vec<_> = diagnostics.items().iter().map(ToString::to_string).collect();
    assert_eq!(shown, vec!["r:3:1: warning: the file has more than 40 bytes; ignoring the rest [ROB-5]"]);
}
