//! Properties of the robots matcher: it agrees with a straightforward model, and reads whatever it is given.

#[path = "model/robots.rs"]
mod model;

use crawlpike_core::internals::RequestPath;
use crawlpike_core::internals::policy::RobotsFile;
use crawlpike_core::internals::{Diagnostics, Load};
use proptest::prelude::*;

fn decide(text: &[u8], agent: &str, path: &[u8]) -> (bool, Option<u32>) {
    let file = RobotsFile::parse(text, &mut Diagnostics::new("robots.txt", Load));
    let robots = file.expect("it is text").compile();
    let verdict = robots.decide(robots.group_for(agent), RequestPath::new(path));
    (verdict.allowed, verdict.line)
}

/// Few letters, so that patterns and paths meet; all that is special about them.
fn odd_path() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => "/?[ab/?*$%2AaE9é4 .]{0,14}",
        1 => "/(a|b|/|[?*:@/]|%3A|%2f|%40|%3F|%26){0,8}\\$?"
    ]
}

fn odd_line() -> impl Strategy<Value = String> {
    let end = prop_oneof![4 => Just("\n"), 1 => Just("\r"), 1 => Just("\r\n"), 1 => Just(" # x\n\n")];
    let name = prop_oneof![
        2 => Just("User-agent:"), 4 => Just("Allow:"), 6 => Just("disallow: "), 1 => Just("ALLOW "), 1 => Just("Disalow:"),
        1 => Just("\tuser-agent\t"), 1 => Just("sitemap:"), 1 => Just(""), 1 => Just("Content-Usage:"), 1 => Just("content-signal:")
    ];
    let agent = prop_oneof![
        Just("a".to_string()),
        Just("B/2".to_string()),
        Just("* x".to_string()),
        Just("__usage_x".to_string()),
        odd_path()
    ];
    (name, odd_path(), agent, end).prop_map(|(name, path, agent, end)| {
        let value = if name.to_ascii_lowercase().contains("user") { agent } else { path };
        format!("{name}{value}{end}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rob_1_to_rob_5_agree_with_the_model(
        lines in proptest::collection::vec(odd_line(), 0..40),
        paths in proptest::collection::vec(odd_path(), 1..8),
    ) {
        // ROB-1, ROB-2, ROB-3, ROB-4, ROB-5
        let text = lines.concat();
        for path in &paths {
            for agent in ["a", "b", "other", "*", "__usage_x"] {
                prop_assert_eq!(
                    decide(text.as_bytes(), agent, path.as_bytes()),
                    model::decide(text.as_bytes(), agent, path.as_bytes()),
                    "{:?} {} {:?}", text, agent, path
                );
            }
        }
    }

    #[test]
    fn rob_3_agrees_with_the_model_in_large_groups(
        patterns in proptest::collection::vec("/[ab/*]{0,8}\\$?", 10..200),
        paths in proptest::collection::vec("/[ab/]{0,20}", 1..20),
    ) {
        // ROB-2, ROB-3: enough wildcards that they are found by their grams.
        let rule = |(index, pattern): (usize, &String)| {
            format!("{}: {pattern}\n", if index % 3 == 0 { "Allow" } else { "Disallow" })
        };
        let text = "User-agent: *\n".to_string() + &patterns.iter().enumerate().map(rule).collect::<String>();
        for path in &paths {
            let (ours, expected) = (decide(text.as_bytes(), "x", path.as_bytes()), model::decide(text.as_bytes(), "x", path.as_bytes()));
            prop_assert_eq!(ours, expected, "{:?} {:?}", text, path);
        }
    }
}

#[test]
fn rob_5_hostile_files_are_read() {
    // ROB-5, AUTO-18: what must not take long or fail; bounds on steps are tested beside the matchers.
    let line = |name: &str, byte: u8, length: usize| [name.as_bytes(), &vec![byte; length], b"\n"].concat();
    let ten_megabytes = 10 << 20;
    for (text, allowed) in [
        (line("User-agent: *\nDisallow: /a\nDisallow: /", b'x', ten_megabytes), false),
        (line("User-agent: *\nDisallow: /a\n", 0, ten_megabytes), false),
        ([b"User-agent: *\nDisallow: /a\nAllow: ".to_vec(), b"/%".repeat(500_000)].concat(), false),
        ([b"User-agent: *\n".to_vec(), b"Disallow: /a\0%\n".repeat(60_000)].concat(), true),
        ([b"User-agent: *\nDisallow: /a\n".to_vec(), b"\r\n\n\r".repeat(2_500_000)].concat(), false),
        (b"User-agent: a\nDisallow: /a\n".repeat(30_000), true),
        (b"User-agent: *\nDisallow: /a\n".repeat(30_000), false),
        ([b"User-agent: *\n".to_vec(), b"Disallow: /*a*a*a*a*a*b\n".repeat(40_000)].concat(), true),
    ] {
        assert_eq!(decide(&text, "x", b"/aaa").0, allowed);
    }
}
