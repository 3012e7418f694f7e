use super::*;
use crate::policy::robots::{Robots, RobotsFile};
use crate::source::diagnostic::{Lint, Load};
use alloc::string::{String, ToString};

fn robots(text: &str) -> Robots {
    RobotsFile::parse(text.as_bytes(), &mut Diagnostics::new("robots.txt", Load)).unwrap().compile()
}

fn usage(text: &str, token: &str, path: &str) -> String {
    let robots = robots(text);
    let (group, path) = (robots.group_for(token), RequestPath::new(path.as_bytes()));
    let statement = robots.usage(group, path);
    let mut sum = UsageStatement::default();
    robots.tell_usage_lines(group, path, &mut |line| sum = sum.and(line.statement));
    assert_eq!(sum, statement, "the lines say what the statement says");
    statement.to_string()
}

/// USE-9.
#[test]
fn use_9_of_the_lines_that_say_the_same_the_first_one_counts() {
    let robots = robots(
        "User-agent: *\nContent-Signal: search=yes\nContent-Signal: ai-train=no\nContent-Signal: search=yes\n",
    );
    let (path, mut lines) = (RequestPath::new(b"/"), Vec::new());
    robots.tell_usage_lines(robots.group_for("x"), path, &mut |said| lines.push(said.line));
    assert_eq!(lines, [2, 3]);
}

/// USE-14: the table of draft-ietf-aipref-attach-05, 3.4.
#[test]
fn use_14_the_drafts_table() {
    let text = "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: train-ai=n\n\
                Content-Usage: /ai-ok/ train-ai=y\n\nUser-Agent: ExampleBot\nAllow: /\nContent-Usage: train-ai=y\n";
    for (path, expected) in [("/test", "train-ai=n"), ("/never/test", ""), ("/ai-ok/test", "train-ai=y")] {
        assert_eq!(usage(text, "OtherBot", path), expected, "{path}");
        assert_eq!(usage(text, "ExampleBot", path), "train-ai=y", "{path}");
    }
}

/// USE-5, USE-6: three errors of a published reader among them: paths that add up, labels in any case, lines outside groups.
#[test]
fn use_6_the_longest_path_counts() {
    for (rules, path, expected) in [
        // Not the sum of all that match.
        ("Content-Usage: train-ai=n\nContent-Usage: /a search=n", "/a", "search=n"),
        ("Content-Usage: /a/b search=n\nContent-Usage: /a train-ai=n", "/a/b", "search=n"),
        ("Content-Usage: /a train-ai=n\nContent-Usage: /a/b", "/a/b/c", ""),
        ("Content-Usage: train-ai=n\nContent-Usage: / train-ai=y", "/x", "train-ai=y"),
        ("Content-Usage: / train-ai=n\nContent-Usage: train-ai=y", "/x", "train-ai=n"),
        // Those of equal length are one.
        (
            "Content-Usage: /a train-ai=y\nContent-Usage: /a train-ai=n, search=y",
            "/a",
            "train-ai=n, search=y",
        ),
        ("Content-Usage: /%61 train-ai=y\nContent-Usage: /a train-ai=n", "/a", "train-ai=n"),
        ("Content-Usage: /*b train-ai=y\nContent-Usage: /ab train-ai=n", "/ab", "train-ai=n"),
        ("Content-Usage: /ab$ train-ai=y\nContent-Usage: /ab* train-ai=n", "/ab", "train-ai=n"),
        ("Content-Usage: train-ai=y\nContent-Usage: train-ai=n", "/", "train-ai=n"),
        // By octets of the encoded path.
        ("Content-Usage: /\u{e9} train-ai=n\nContent-Usage: /*x train-ai=y", "/%C3%A9x", "train-ai=n"),
        // Labels as they are written.
        ("Content-Usage: Train-AI=n", "/", ""),
        ("Content-Usage: train-ai=N", "/", ""),
        // Blanks, comments, the case of the name.
        ("\t CONTENT-usage \t:\t /a\t\t train-ai=n \t# search=n", "/a", "train-ai=n"),
        ("Content-Usage:train-ai=n#", "/a", "train-ai=n"),
        ("Content-Usage train-ai=n", "/a", ""),
        ("Content-Usage: *a train-ai=n", "/a", ""),
        ("Content-Usage:", "/a", ""),
        // A rule that cannot be read hides shorter ones.
        ("Content-Usage: train-ai=n\nContent-Usage: /a nonsense=", "/a", ""),
        // Allow and Disallow in between, and nothing of what is disallowed.
        (
            "Content-Usage: train-ai=n\nDisallow: /a\nContent-Usage: /a/b search=n\nAllow: /a/b/c",
            "/a/b/c",
            "search=n",
        ),
        ("Content-Usage: train-ai=n\nDisallow: /a\nContent-Signal: ai-train=no", "/a", ""),
    ] {
        assert_eq!(usage(&format!("User-agent: *\n{rules}"), "x", path), expected, "{rules} {path}");
    }
}

/// USE-7.
#[test]
fn use_7_lines_outside_groups_mean_nothing() {
    assert_eq!(usage("Content-Usage: train-ai=n\nUser-agent: *\nAllow: /", "x", "/"), "");
    assert_eq!(usage("Content-Usage: train-ai=n", "x", "/"), "");
    // It is a rule, so the next line begins another group.
    let text = "User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /";
    assert_eq!((usage(text, "a", "/"), usage(text, "b", "/")), ("train-ai=n".into(), String::new()));
    // Groups of a token are one.
    let text = "User-agent: a\nContent-Usage: train-ai=n\n\nUser-agent: a\nUser-agent: b\nContent-Usage: search=n\n\
                Content-Usage: /x search=y\n";
    assert_eq!(usage(text, "a", "/"), "train-ai=n, search=n");
    assert_eq!((usage(text, "a", "/x"), usage(text, "b", "/x")), ("search=y".into(), "search=y".into()));
    assert_eq!(usage(text, "c", "/"), "");
}

/// USE-9: above all groups, in one, and in several.
#[test]
fn use_9_signals_count_above_groups_and_in_them() {
    let text = "Content-Signal: ai-train=no\nUser-agent: *\nContent-Signal: search=yes,ai-input=no,use=reference\n\
                Allow: /\nUser-agent: a\nAllow: /\ncontent-signal: ai-train=yes";
    assert_eq!(usage(text, "x", "/p"), "train-ai=n, ai-use=n, search=y");
    assert_eq!(usage(text, "a", "/p"), "train-ai=n");
    // It is not a rule: no group ends.
    let text = "User-agent: a\nContent-Signal: ai-train=no\nUser-agent: b\nAllow: /";
    assert_eq!((usage(text, "a", "/"), usage(text, "b", "/")), ("train-ai=n".into(), "train-ai=n".into()));
    // The most restrictive of both notations.
    let text = "User-agent: *\nContent-Signal: ai-train=yes, search=no\nContent-Usage: train-ai=n, search=y";
    assert_eq!(usage(text, "x", "/"), "train-ai=n, search=n");
}

/// USE-11: no client is in such a group, whatever it calls itself.
#[test]
fn use_11_reserved_groups_are_no_agents() {
    let text = "User-agent: __usage_train\nDisallow: /\nContent-Usage: train-ai=n\n\nUser-agent: a\n\
                User-agent: __USAGE_Search\nDisallow: /a\n\nUser-agent: *\nDisallow: /star\n";
    let robots = robots(text);
    for token in ["__usage_train", "__USAGE_TRAIN", "__usage_search", "__usage_", "x"] {
        let group = robots.group_for(token);
        assert_eq!(robots.token_of(group), Some("*"), "{token}");
        assert!(robots.decide(group, RequestPath::new(b"/a")).allowed, "{token}");
        assert_eq!(usage(text, token, "/"), "", "{token}");
    }
    assert!(!robots.decide(robots.group_for("a"), RequestPath::new(b"/a")).allowed);
    assert!(robots.groups().all(|(token, _)| !token.starts_with("__usage_")));
    let reserved: Vec<_> = robots.reserved_groups().iter().map(|(token, line)| (&**token, *line)).collect();
    assert_eq!(reserved, [("__usage_train", 1), ("__usage_search", 5)]);
}

/// USE-10.
#[test]
fn use_10_licenses_stand_anywhere() {
    let text = "License: https://a.example/1.xml\nUser-agent: *\nlicense:\thttp://b.example/2.xml # x\nAllow: /\n\
                License: /relative.xml\nLicense: https://a.example/1.xml\nLicense:\n";
    let read = robots(text);
    let licenses: Vec<_> = read.licenses().iter().map(|license| (&*license.url, license.line)).collect();
    assert_eq!(licenses, [("https://a.example/1.xml", 1), ("http://b.example/2.xml", 3)]);
    assert!(!read.states_usage());
    let many: String = (0..20).map(|number| format!("License: https://a.example/{number}\n")).collect();
    assert_eq!(robots(&many).licenses().len(), MOST_LICENSES);
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    let text = "Content-Usage: train-ai=n\nUser-agent: *\nContent-Usage: /a  Train-AI=n\nLicense: x.xml\n";
    let mut diagnostics = Diagnostics::new("r", Lint);
    RobotsFile::parse(text.as_bytes(), &mut diagnostics).unwrap();
    let shown: Vec<_> = diagnostics.items().iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "r:1:1: error: `content-usage` before the first `user-agent` line; it applies to no agent [USE-7]",
            "r:3:20: error: \"Train-AI=n\" is not a Dictionary (RFC 9651); it states nothing [USE-2]",
            "r:4:10: error: \"x.xml\": not an absolute URL that begins with `https://` or `http://`; ignoring the line \
             [USE-10]",
        ]
    );
}

/// 10,000 rules, of which a request looks at few.
#[test]
fn many_rules_cost_no_more_than_their_statements() {
    let mut text = String::from("User-agent: *\n");
    for number in 0..10_000 {
        let says = ["train-ai=n", "search=y", "ai-use=n, search=n"][number % 3];
        text.push_str(&format!("Content-Usage: /path/{number}/ {says}\n"));
    }
    let robots = robots(&text);
    let group = robots.group_for("x");
    let path = RequestPath::new(b"/path/9998/x");
    let (steps, statement) = crate::path::pattern::steps::of(|| robots.usage(group, path));
    assert_eq!(statement.to_string(), "ai-use=n, search=n");
    assert!(steps < 200, "{steps}");
}
