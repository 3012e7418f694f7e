//! Properties of Robots-Tag: what is written is read back, three syntaxes say the same, and a response that was edited
//! needs no more editing.

use crawlpike_core::internals::RobotsTagSyntax::{self, Draft00, Draft00Abnf, Structured};
use crawlpike_core::internals::policy::RobotsTag;
use proptest::prelude::*;

fn read<'t>(lines: impl IntoIterator<Item = &'t [u8]>) -> RobotsTag<'t> {
    let mut tag = RobotsTag::default();
    lines.into_iter().for_each(|line| _ = tag.add_line(line));
    tag
}

fn write(tag: &RobotsTag<'_>, syntax: RobotsTagSyntax) -> Vec<Vec<u8>> {
    let value = tag.write(syntax);
    if value.is_empty() { Vec::new() } else { vec![value] }
}

fn write_deployed(tag: &RobotsTag<'_>) -> Vec<Vec<u8>> {
    tag.deployed_lines().into_iter().map(Vec::from).collect()
}

/// A rule and how it stands in a list of rules and among parameters.
fn rule() -> impl Strategy<Value = (String, String)> {
    let plain = prop_oneof![
        Just("noindex".to_string()),
        Just("NoSnippet".to_string()),
        Just("none".to_string()),
        "[a-z][a-z0-9._-]{0,5}".prop_filter("of a family with values", |name| !name.starts_with("max-")),
    ];
    prop_oneof![
        3 => plain.prop_map(|name| (name.clone(), name)),
        1 => (0..1000_u32).prop_map(|n| (format!("max-snippet:{n}"), format!("max-snippet={n}"))),
        1 => Just(("max-image-preview: large".to_string(), "max-image-preview=large".to_string())),
        1 => Just(("unavailable_after: Fri, 25 Jun 2010 15:00".to_string(), "unavailable_after=\"Fri, 25 Jun 2010 15:00\"".to_string())),
    ]
}

/// The addressees and their rules. A `*` is there in any case, since the content of a line decides its syntax. No token
/// is called as a rule is: of `*, All` nobody knows whether it names a client or permits everything.
fn facts() -> impl Strategy<Value = Vec<(String, Vec<(String, String)>)>> {
    let rules = || proptest::collection::vec(rule(), 0..4);
    let token = "[A-LN-Z][A-Za-z_-]{0,4}Bot";
    (rules(), proptest::collection::vec((token, rules()), 0..4))
        .prop_map(|(all, tokens)| core::iter::once(("*".to_string(), all)).chain(tokens).collect())
}

/// Bytes out of which lines of every syntax are made, and wrong ones.
fn odd_line() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("noindex"),
        Just("max-snippet"),
        Just("unavailable_after"),
        Just("Fri"),
        Just("25 Jun"),
        Just("Bot"),
        Just("x.y"),
        Just("*"),
        Just(","),
        Just(";"),
        Just("="),
        Just(":"),
        Just("\""),
        Just("\\"),
        Just(" "),
        Just("?1"),
        Just("3"),
        Just("é"),
        Just("\t"),
        Just("-"),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tag_1_tag_2_tag_10_what_is_written_is_read_back(lines in proptest::collection::vec(odd_line(), 1..4)) {
        let tag = read(lines.iter().map(|line| &**line));
        for syntax in [Draft00, Draft00Abnf, Structured] {
            let once = write(&tag, syntax);
            let again = write(&read(once.iter().map(|line| &**line)), syntax);
            prop_assert_eq!(&once, &again, "{}: {:?}", syntax, once.iter().map(|line| String::from_utf8_lossy(line)).collect::<Vec<_>>());
        }
        let once = write_deployed(&tag);
        let again = write_deployed(&read(once.iter().map(|line| &**line)));
        prop_assert_eq!(&once, &again, "{:?}", once.iter().map(|line| String::from_utf8_lossy(line)).collect::<Vec<_>>());
    }

    #[test]
    fn tag_10_the_same_facts_give_the_same_in_all_syntaxes(facts in facts()) {
        let list = |rules: &[(String, String)]| rules.iter().map(|(text, _)| &**text).collect::<Vec<_>>().join(", ");
        let pair = |(token, rules): &(String, Vec<_>)| format!("{token}={};", list(rules));
        let draft_00: String = facts.iter().map(pair).collect();
        let member = |(token, rules): &(String, Vec<(String, String)>)| {
            token.clone() + &rules.iter().map(|(_, parameter)| format!("; {parameter}")).collect::<String>()
        };
        let structured = facts.iter().map(member).collect::<Vec<_>>().join(", ");
        let deployed: Vec<String> = facts.iter().map(|(token, rules)| format!("{token}: {}", list(rules))).collect();
        let expected = read([draft_00.as_bytes()]);
        for (name, other) in [
            ("structured", read([structured.as_bytes()])),
            ("deployed", read(deployed.iter().map(String::as_bytes))),
            ("merged", read(deployed.iter().map(String::as_bytes).chain([draft_00.as_bytes(), structured.as_bytes()]))),
        ] {
            for syntax in [Draft00, Structured] {
                let text = |tag: &RobotsTag<'_>| String::from_utf8(tag.write(syntax)).unwrap();
                prop_assert_eq!(text(&expected), text(&other), "{} as {}: {} / {}", name, syntax, draft_00, structured);
            }
            prop_assert_eq!(expected.deployed_lines(), other.deployed_lines(), "{}", name);
        }
    }
}

#[test]
fn tag_5_long_lines_take_no_longer() {
    // TAG-5: 10 MB of anything: what is read is bounded, and so is what is kept.
    for piece in [
        "a,",
        "a;",
        "=",
        ",",
        ";",
        "a=b;",
        "*;a,",
        "\"",
        "a:b,",
        "unavailable_after: 1,2,",
        "unavailable_after: Fri,",
        "x: y,",
        "*,",
    ] {
        let line = piece.repeat(10_000_000 / piece.len());
        let mut tag = RobotsTag::default();
        let rest = tag.add_line(line.as_bytes()).rest.map_or(0, |rest| rest.line().len());
        assert!(rest > 9_900_000, "{piece}: {rest}");
        assert!(tag.write(Draft00).len() <= 10_000, "{piece}");
    }
    // Thousands of different rules and tokens in each of many lines.
    let many = |line: usize| (0..800).map(|n| format!("r{line}x{n},")).collect::<String>();
    let lines: Vec<String> = (0..40).map(many).collect();
    let tag = read(lines.iter().map(String::as_bytes));
    assert_eq!(tag.deployed_lines()[0].split(|byte| *byte == b',').count(), 40 * 800);
}
