//! The meaning of each syntax, the detection of the syntax of a line, and the text that is written.

use super::*;
use crate::config::RobotsTagSyntax::{self, Draft00, Draft00Abnf, Structured};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

fn tag<'t>(lines: &[&'t str]) -> RobotsTag<'t> {
    let mut tag = RobotsTag::default();
    lines.iter().for_each(|line| _ = tag.add_line(line.as_bytes()));
    tag
}

fn written(lines: &[&str], syntax: RobotsTagSyntax) -> String {
    String::from_utf8(tag(lines).write(syntax)).unwrap()
}

fn draft_00(line: &str) -> String {
    written(&[line], Draft00)
}

fn deployed(line: &str) -> Vec<String> {
    let lines = tag(&[line]).deployed_lines();
    lines.into_iter().map(|line| String::from_utf8(line.into()).unwrap()).collect()
}

fn syntax(line: &str) -> Syntax {
    RobotsTag::default().add_line(line.as_bytes()).syntax
}

#[test]
fn tag_1_pairs_of_tokens_and_rules() {
    let expected = "noindex, nosnippet; ExampleBot=";
    for line in [
        "noindex, nosnippet; ExampleBot=",
        "*=noindex, nosnippet; ExampleBot=;",
        "noindex,nosnippet;ExampleBot=",
        " noindex ,, nosnippet;;\tExampleBot =",
        "*= noindex; * = nosnippet; ExampleBot=",
        "ExampleBot=; noindex; nosnippet",
    ] {
        assert_eq!(draft_00(line), expected, "{line}");
        assert_eq!(syntax(line), Syntax::Draft00, "{line}");
    }
    // TAG-9
    assert_eq!(written(&[expected], Draft00Abnf), "noindex, nosnippet; ExampleBot=;");
    assert_eq!(written(&[expected], Structured), "*;noindex;nosnippet, ExampleBot");
    assert_eq!(draft_00(""), "");
    assert_eq!(draft_00("; ,"), "");
}

#[test]
fn tag_2_what_is_deployed() {
    assert_eq!(draft_00("googlebot: noindex, nofollow"), "googlebot=noindex, nofollow");
    assert_eq!(draft_00("googlebot:noindex"), "googlebot=noindex");
    assert_eq!(
        draft_00("googlebot: unavailable_after: 25 Jun 2010"),
        "googlebot=unavailable_after: 25 Jun 2010"
    );
    assert_eq!(draft_00("noindex, otherbot: nofollow, nosnippet"), "noindex; otherbot=nofollow, nosnippet");
    assert_eq!(
        draft_00("max-snippet: 20, max-image-preview:large"),
        "max-snippet:20, max-image-preview:large"
    );
    assert_eq!(draft_00("googlebot: new-rule"), "googlebot=new-rule");
    // A rule with a value that nobody knows, and one of a known family.
    assert_eq!(draft_00("new-rule:3, max-new:3"), "new-rule:3, max-new:3");
    assert_eq!(
        deployed("noindex; GoogleBot=max-snippet:20; Other="),
        ["noindex", "GoogleBot: max-snippet:20"]
    );
    for (line, expected) in [
        ("noindex, max-snippet:20", Syntax::Plain),
        ("googlebot: noindex", Syntax::Deployed),
        ("googlebot: noindex; x", Syntax::Mixed),
        ("max-snippet=20", Syntax::Draft00),
    ] {
        assert_eq!(syntax(line), expected, "{line}");
    }
}

#[test]
fn tag_2_dates_with_commas_and_colons() {
    for date in [
        "25 Jun 2010 15:00:00 PST",
        "Fri, 25 Jun 2010 15:00:00 GMT",
        "Friday, 25-Jun-10 15:00:00 PST",
        "Friday, June 25, 2010 15:00",
        "2010-06-25T15:00:00+02:00",
    ] {
        let rule = format!("unavailable_after: {date}");
        assert_eq!(draft_00(&format!("{rule}, noindex")), format!("{rule}, noindex"));
        assert_eq!(
            draft_00(&format!("noindex,{rule},Bot: nosnippet")),
            format!("noindex, {rule}; Bot=nosnippet")
        );
        assert_eq!(deployed(&format!("bot: {rule}")), [format!("bot: {rule}")]);
        let structured = written(&[&rule, "max-snippet:-1"], Structured);
        assert_eq!(structured, format!("*;unavailable_after=\"{date}\";max-snippet=-1"));
        assert_eq!(draft_00(&structured), format!("{rule}, max-snippet:-1"));
    }
}

#[test]
fn tag_3_tag_4_everything_once_in_its_first_spelling() {
    let lines = ["NoIndex; ExampleBot=a", "examplebot: A, nosnippet", "*;NOINDEX;nofollow, EXAMPLEBOT;b"];
    assert_eq!(written(&lines, Draft00), "NoIndex, nofollow; ExampleBot=a, nosnippet, b");
    // Rules that nobody knows.
    assert_eq!(draft_00("x-new, noai, two words, x.y:z"), "x-new, noai, two words, x.y:z");
    // Different values are different rules.
    assert_eq!(draft_00("max-snippet:20, MAX-SNIPPET: 20, max-snippet:50"), "max-snippet:20, max-snippet:50");
    assert_eq!(
        written(&["max-snippet:20, max-snippet:50"], Structured),
        "*;max-snippet=20, *;max-snippet=50"
    );
}

#[test]
fn tag_5_whole_members_within_the_limit_count() {
    let filled = |length: usize| format!("noindex, {}", "a".repeat(length - "noindex, ".len()));
    let rest = |line: &str| {
        let mut tag = RobotsTag::default();
        let rest =
            tag.add_line(line.as_bytes()).rest.map(|rest| String::from_utf8(rest.line().into()).unwrap());
        (String::from_utf8(tag.write(Draft00)).unwrap(), rest)
    };
    for length in [8191, 8192] {
        assert_eq!(rest(&filled(length)), (filled(length), None));
        assert_eq!(
            rest(&format!("{}, nosnippet", filled(length))),
            (filled(length), Some("nosnippet".to_string()))
        );
    }
    let long = "a".repeat(8193 - "noindex, ".len());
    assert_eq!(rest(&filled(8193)), ("noindex".to_string(), Some(long.clone())));
    // A part that is cut off is still for the clients that it was for.
    assert_eq!(
        rest(&format!("Bot={}", filled(8193))),
        ("Bot=noindex".to_string(), Some(format!("Bot={long}")))
    );
    assert_eq!(
        rest(&format!("Bot: {}", filled(8193))),
        ("Bot=noindex".to_string(), Some(format!("Bot: {long}")))
    );
    let (read, left) = rest(&format!("noindex; Bot={}", "a".repeat(8192)));
    assert_eq!((&*read, left.unwrap().len()), ("noindex", 8196));
    // A date is a member, too.
    let date = format!("{}, unavailable_after: Fri, 25 Jun 2010", filled(8165));
    assert_eq!(date.find(" 25"), Some(8190), "the date begins before the limit");
    assert_eq!(rest(&date), (filled(8165), Some("unavailable_after: Fri, 25 Jun 2010".to_string())));
    // A list keeps its whole members, with all their parameters.
    let member = |length: usize| format!("*;noindex, Bot;{}", "a".repeat(length - "*;noindex, Bot;".len()));
    assert_eq!(rest(&member(8192)).1, None);
    let cut = format!("Bot;{}", "a".repeat(8193 - "*;noindex, Bot;".len()));
    assert_eq!(rest(&member(8193)), ("noindex".to_string(), Some(cut)));
    assert_eq!(rest(&format!("{}, Other;nosnippet", member(8192))).1.as_deref(), Some("Other;nosnippet"));
    // Wherever the limit cuts the last member, the others are those of a list.
    for last in ["a;x=?0", "a;x=\"y\"", "a;x=y", "a;x=-1", "a ; x", "\"a\""] {
        for cut in 0..last.len() {
            let line = format!("*;noindex, {}, {last}", "b".repeat(8193 - "*;noindex, , ".len() - cut));
            let (read, left) = rest(&line);
            assert!(read.starts_with("noindex; bbb"), "{last} {cut}");
            assert_eq!(left.as_deref(), Some(last), "{cut}");
        }
    }
    let one = "b".repeat(10_000);
    assert_eq!(rest(&one), (String::new(), Some(one.clone())));
}

#[test]
fn tag_6_tag_7_a_token_without_rules_takes_nothing_away() {
    for line in ["noindex; ExampleBot=", "*;noindex, ExampleBot"] {
        let tag = tag(&[line]);
        assert_eq!(tag.effective(Some("examplebot")), b"noindex");
        assert_eq!(tag.effective(Some("Other")), b"noindex");
        assert_eq!(tag.write(Draft00), b"noindex; ExampleBot=");
    }
    let tag = tag(&["nosnippet, noindex; ExampleBot=nofollow, NOINDEX"]);
    assert_eq!(tag.effective(Some("ExampleBot")), b"nofollow, NOINDEX, nosnippet");
    assert_eq!(tag.effective(None), b"nosnippet, noindex");
    let two = self::tag(&["FirstBot=noindex; ExampleBot=nofollow"]);
    assert_eq!(two.effective(Some("ExampleBot")), b"nofollow");
}

#[test]
fn tag_10_lists_are_told_from_pairs() {
    for line in [
        "*;nosnippet, ExampleBot;noindex",
        "*;nosnippet,ExampleBot ; noindex",
        "*;nosnippet, ExampleBot;noindex,",
        "*; nosnippet=?1;nofollow=?0, \"ExampleBot\";NOINDEX",
    ] {
        assert_eq!(syntax(line), Syntax::Structured, "{line}");
        assert_eq!(draft_00(line).to_ascii_lowercase(), "nosnippet; examplebot=noindex", "{line}");
    }
    for line in [
        "noindex; examplebot=nosnippet",
        "noindex; nosnippet",
        "noai; examplebot=new",
        "new; examplebot=nosnippet",
        "new; examplebot=",
        "noindex, nosnippet",
        "*=noindex; a=nosnippet",
        // A list that ends where it must go on.
        "*;noindex;",
        "*;noindex, a;",
        "*;noindex;x=",
        "*;max-snippet=#",
    ] {
        assert_ne!(syntax(line), Syntax::Structured, "{line}");
    }
    assert_eq!(syntax("*;max-snippet=*"), Syntax::Structured);
    assert_eq!(draft_00("ExampleBot;noindex"), "ExampleBot=noindex");
    assert_eq!(
        draft_00("ExampleBot;max-snippet=20;max-image-preview=large"),
        "ExampleBot=max-snippet:20, max-image-preview:large"
    );
    assert_eq!(draft_00(r#"a;x="say \"\\\"""#), r#"a=x:say "\""#);
    // A comma ends all but a date.
    assert_eq!(draft_00("noindex, 25"), "noindex, 25");
    assert_eq!(draft_00("a=*, noindex"), "a=*, noindex");
    // Rules that only one syntax can state are left out of the others.
    assert_eq!(draft_00(r#"*;x="a; b";y="c, d";noindex"#), "noindex");
    assert_eq!(written(&["noindex, two words"], Structured), "*;noindex");
    // Tokens that look like rules, and tokens without any.
    assert_eq!(written(&["noindex=nosnippet"], Structured), "\"noindex\";nosnippet");
    assert_eq!(written(&["ExampleBot="], Structured), "*, ExampleBot");
}

#[test]
fn what_would_be_read_as_something_else_is_not_an_item() {
    let rule = |name: &'static str| Rule { name: name.as_bytes().into(), value: None };
    let is_item = |text: &'static str| read::is_item(text.as_bytes(), &rule(text), false);
    assert!(is_item("noindex") && is_item("two words"));
    for text in ["", " noindex", "noindex ", "a;b", "noindex, 25"] {
        assert!(!is_item(text), "{text}");
    }
    assert!(!read::is_item(b"noindex", &rule("nofollow"), false));
    let of_bot = Rule { value: Some(b"noindex".into()), ..rule("bot") };
    for text in ["bot: noindex", "bot=noindex"] {
        assert!(
            !read::is_item(text.as_bytes(), &of_bot, true) && read::is_item(text.as_bytes(), &of_bot, false)
        );
    }
    assert!(!read::is_item(b"*", &rule("*"), true) && read::is_item(b"*", &rule("*"), false));
}

#[test]
fn whether_lines_say_just_that_and_once() {
    let whole = tag(&["noindex; Bot=nosnippet; Bare="]);
    let says = |lines: &[&str], bare| tag(lines).says_once(&whole, bare);
    assert!(says(&["Bot=nosnippet; noindex; Bare="], true));
    assert!(says(&["noindex", "Bot: nosnippet"], false));
    assert!(!says(&["noindex", "Bot: nosnippet"], true), "the token without rules");
    assert!(!says(&["noindex", "noindex", "Bot: nosnippet"], false));
    assert!(!says(&["noindex", "Bot: nosnippet", "Bot: nosnippet"], false));
    assert!(!says(&["noindex, nosnippet"], false), "for all is more than for one");
    assert!(!says(&["noindex"], false));
    let two = tag(&["noindex, nofollow"]);
    assert!(!tag(&["noindex", "nofollow"]).says_once(&two, true), "two lines for all");
}

fn messages(site: &str) -> Vec<String> {
    let document = format!("{{\n  \"sites\": [{{\n    {site}\n  }}]\n}}");
    let compiled = crate::Ruleset::compile("c.json", document.as_bytes(), &crate::NoFiles);
    compiled.diagnostics.iter().map(ToString::to_string).collect()
}

#[test]
fn the_rules_of_a_site_are_checked_where_they_stand() {
    assert_eq!(
        messages(r#""robots_tag": [{"scope": "/a", "rules": "noindex, x-new; ExampleBot="}]"#),
        [""; 0]
    );
    assert_eq!(
        messages(
            r#""robots_tag": [{"scope": "a", "rules": "noidnex, two words"}, {"rules": ""}, {"rules": "é"}]"#
        ),
        [
            "c.json:3:30: error: `a`: a path must start with `/` or `*`",
            "c.json:3:45: warning: unknown rule \"noidnex\" (did you mean `noindex`?); relaying it [TAG-4]",
            "c.json:3:54: error: \"two words\" is neither a rule nor a token with rules, such as `ExampleBot=noindex` [TAG-1]",
            "c.json:3:78: error: no rule; write, for example, \"noindex, nosnippet; ExampleBot=noindex\" [TAG-1]",
            "c.json:3:92: error: 'é' is not allowed in a header field; use printable ASCII [TAG-1]",
        ]
    );
    // A value that only a list can carry, where a list is not what is sent.
    let rules = r#""robots_tag": [{"rules": "*;x=\"a;b\""}]"#;
    assert_eq!(
        messages(rules),
        ["c.json:3:31: error: these rules cannot be written in the syntax `draft-00` [TAG-1]"]
    );
    assert_eq!(messages(&format!(r#""robots_tag_syntax": "structured", {rules}"#)), [""; 0]);
    assert!(messages(r#""robots_tag_syntax": "draft-01""#)[0].contains("unknown value `draft-01`"));
    let long = format!(r#""robots_tag": [{{"rules": "{}"}}]"#, "a".repeat(8193));
    assert_eq!(
        messages(&long),
        ["c.json:3:31: error: the rules have more than the 8192 bytes that crawlers must read [TAG-1]"]
    );
}

#[test]
fn scopes_may_overlap_in_thousands_of_ways_but_not_more() {
    let site = |count: usize| {
        let rule = |n: usize| format!(r#"{{"scope": "/*.{n}$", "rules": "x-{n}"}}"#);
        format!(r#""robots_tag": [{}]"#, (0..count).map(rule).collect::<Vec<_>>().join(","))
    };
    assert_eq!(messages(&site(12)), [""; 0]);
    assert!(messages(&site(13))[0].contains("in more than 4096 ways"));
    // Scopes that nest: each is united with all above it, up to a bound on what that takes.
    let nested = |depth: usize| {
        let rule = |n: usize| format!(r#"{{"scope": "/{}", "rules": "rule-{n:04}"}}"#, "a/".repeat(n));
        format!(r#""robots_tag": [{}]"#, (0..depth).map(rule).collect::<Vec<_>>().join(","))
    };
    assert_eq!(messages(&nested(400)), [""; 0]);
    let found = messages(&nested(3000));
    assert!(
        found.len() == 1 && found[0].contains("have more than 1048576 bytes in all combinations"),
        "{found:?}"
    );
    // Scopes side by side below each other's parents take no more than they have.
    let beside = |n: usize| format!(r#"{{"scope": "/{n}/", "rules": "rule-{}"}}"#, n % 7);
    let beside = (0..20_000).map(beside).collect::<Vec<_>>().join(",");
    assert_eq!(messages(&format!(r#""robots_tag": [{{"rules": "noindex"}},{beside}]"#)), [""; 0]);
    // Any number of scopes with the same rules.
    let same = site(2000).replace("x-", "x");
    let same = (0..2000).fold(same, |site, n| site.replace(&format!("\"x{n}\""), "\"noindex\""));
    assert_eq!(messages(&same), [""; 0]);
}
