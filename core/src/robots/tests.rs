use super::*;
use alloc::string::String;
use alloc::vec;

fn robots(text: &[u8]) -> Robots {
    RobotsFile::parse(text, &mut Diagnostics::new("robots.txt", Strictness::Load)).compile()
}

fn decide(text: &str, token: &str, path: &str) -> (bool, Option<u32>) {
    let robots = robots(text.as_bytes());
    let verdict = robots.decide(robots.group_for(token), RequestPath::new(path.as_bytes()));
    (verdict.allowed, verdict.line)
}

fn lint(text: &str) -> Vec<String> {
    let mut diagnostics = Diagnostics::new("r", Strictness::Lint);
    RobotsFile::parse(text.as_bytes(), &mut diagnostics);
    diagnostics.items().iter().map(ToString::to_string).collect()
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
    let mut diagnostics = Diagnostics::new("r", Strictness::Load);
    let robots = RobotsFile::parse_within(text, 40, &mut diagnostics).compile();
    let group = robots.group_for("x");
    assert!(!robots.decide(group, RequestPath::new(b"/ab")).allowed);
    assert!(robots.decide(group, RequestPath::new(b"/cd")).allowed, "a rule cut in two would forbid more");
    let shown: Vec<_> = diagnostics.items().iter().map(ToString::to_string).collect();
    assert_eq!(shown, vec!["r:3:1: warning: the file is longer than 40 bytes; the rest is ignored [ROB-5]"]);
}

#[test]
fn lint_says_what_is_wrong_and_where() {
    let text = "Disallow: /x\nUser-agent: a/1.0\n  Disalow: /a\nfoo: bar\nDisallow /b\nAllow:\nDisallow: c\njunk\n\
                Allow: /b\nDisallow: /%62\nDisallow: /b\nUser-agent: ?\nDisallow: /\nUser-agent: z\nSitemap: x";
    assert_eq!(
        lint(text),
        vec![
            "r:1:1: error: a rule before the first user-agent line holds for nobody [ROB-4]",
            "r:2:13: warning: of `a/1.0`, only the product token `a` counts [ROB-1]",
            "r:3:3: error: unknown name `Disalow` is ignored; did you mean `disallow`? [ROB-4]",
            "r:4:1: warning: unknown name `foo` is ignored [ROB-4]",
            "r:5:1: error: no colon after `disallow`; it is read as if there were one [ROB-4]",
            "r:6:1: warning: an empty allow has no effect [ROB-2]",
            "r:7:11: error: a path pattern begins with / or *; this one matches no path [ROB-3]",
            "r:8:1: error: not a `name: value` line; it is ignored [ROB-4]",
            "r:12:13: error: `?` begins with no product token; the line matches no agent [ROB-1]",
            "r:5:1: warning: no effect: line 9 allows the same path, and allow wins [ROB-2]",
            "r:10:1: warning: duplicate of line 5 [ROB-2]",
            "r:11:1: warning: duplicate of line 5 [ROB-2]",
            "r:12:1: error: unreachable group: no line of it names an agent [ROB-1]",
            "r:14:1: warning: the group has no rules, so it allows everything [ROB-1]",
        ]
    );
    assert_eq!(
        lint("<HTML>\nUser-agent: *\nDisallow: /\n"),
        vec!["r: error: this is HTML, not a robots.txt: no line of it is a rule [ROB-5]"]
    );
    assert_eq!(lint("<!-- ours -->\nUser-agent: *\nDisallow: /\n").len(), 1);
    let mut diagnostics = Diagnostics::new("r", Strictness::Lint);
    RobotsFile::parse(b"User-agent: *\nDisallow: /\xE9\n", &mut diagnostics);
    assert_eq!(
        diagnostics.items()[0].to_string(),
        "r:2:12: error: the file is not in UTF-8 from here on; its octets are compared as they are [ROB-5]"
    );
    assert_eq!(lint("User-agent: *\nAllow: /\nDisallow:\nSitemap: x\n"), Vec::<String>::new());
}
