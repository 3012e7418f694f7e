use super::*;
use crate::request::tests::Asked;
use crate::{NoFiles, Overrides, decide};
use alloc::format;
use alloc::string::{String, ToString};

const DOCUMENT: &str = r#"{
  "catalog": "none",
  "sites": [
    { "hosts": ["tagged.test"], "modes": [ { "scope": "/off", "mode": "off" } ], "robots_tag": [
        { "scope": "/drafts/", "rules": "noindex; ExampleBot=" },
        { "scope": "/drafts/old", "rules": "nofollow" },
        { "scope": "/*.pdf$", "rules": "ExampleBot=nosnippet" },
        { "scope": "/*draft", "rules": "nofollow" } ] },
    { "hosts": ["list.test"], "robots_tag_syntax": "structured", "robots_tag": [ { "rules": "noindex; ExampleBot=nosnippet" } ] },
    { "hosts": ["bare.test"], "robots_tag": [ { "rules": "ExampleBot=" } ] },
    { "hosts": ["plain.test"] }
  ]
}"#;

fn ruleset() -> Ruleset {
    Ruleset::compile("c.json", DOCUMENT.as_bytes(), &NoFiles).ruleset.unwrap()
}

fn decision(ruleset: &Ruleset, host: &str, path: &str) -> Decision {
    decide(ruleset, &Asked { host, path, ..Asked::default() }, Overrides::default())
}

fn site_value(host: &str, path: &str) -> Option<String> {
    let ruleset = ruleset();
    let decision = decision(&ruleset, host, path);
    ruleset.robots_rules(&decision)?.ready.text().map(str::to_string)
}

fn owned(lines: [&[&str]; 2]) -> [Vec<String>; 2] {
    lines.map(|lines| lines.iter().map(ToString::to_string).collect())
}

/// The lines of a response with these lines afterwards, and whether another pass leaves it alone.
fn edited(host: &str, path: &str, lines: [&[&str]; 2]) -> [Vec<String>; 2] {
    let ruleset = ruleset();
    let decision = decision(&ruleset, host, path);
    let mut response = owned(lines);
    let Some(plan) = ruleset.response_plan(&decision) else { return response };
    assert_eq!(plan.watched(), Some(&ROBOTS[..]));
    assert!(plan.watches(b"x-robots-tag") && !plan.watches(b"x-robots"));
    let edit = |response: &[Vec<String>; 2]| {
        let lines = ROBOTS
            .iter()
            .zip(response)
            .flat_map(|(name, lines)| lines.iter().map(|line| (name.sent.as_bytes(), line.as_bytes())));
        let edits = plan.header_edits(lines);
        assert_eq!(edits.cache_control, None);
        let text = |line: &[u8]| String::from_utf8(line.to_vec()).unwrap();
        edits.robots.map(|lines| lines.map(|lines| lines.iter().map(|line| text(line)).collect::<Vec<_>>()))
    };
    for (lines, new) in edit(&response).into_iter().enumerate() {
        response[lines] = new.unwrap_or_else(|| response[lines].clone());
    }
    assert_eq!(edit(&response), [None, None], "{response:?}");
    response
}

#[test]
fn all_rules_whose_scope_matches_are_united() {
    let value = |path| site_value("tagged.test", path);
    assert_eq!(value("/"), None);
    assert_eq!(value("/drafts/").as_deref(), Some("noindex, nofollow; ExampleBot="));
    assert_eq!(value("/%64rafts/a.pdf").as_deref(), Some("noindex, nofollow; ExampleBot=nosnippet"));
    assert_eq!(value("/a.pdf").as_deref(), Some("ExampleBot=nosnippet"));
    assert_eq!(value("/a.pdf?x"), None);
    assert_eq!(value("/a/draft").as_deref(), Some("nofollow"));
    assert_eq!(value("/off/a.pdf"), None);
    // Whatever the spelling, as many of the rules hold as for any that a server may resolve it to.
    for path in ["//drafts/old", "/drafts/x/../old", "/drafts%2Fold", "/drafts/old/../../.."] {
        assert_eq!(value(path).as_deref(), Some("noindex, nofollow; ExampleBot="), "{path}");
    }
    assert_eq!(site_value("list.test", "/").as_deref(), Some("*;noindex, ExampleBot;nosnippet"));
    assert_eq!(site_value("other.test", "/drafts/"), None);
}

#[test]
fn tag_3_both_headers_say_the_union() {
    let none: [&[&str]; 2] = [&[], &[]];
    let is = |found, expected| assert_eq!(found, owned(expected));
    is(edited("tagged.test", "/a.pdf", none), [&["ExampleBot=nosnippet"], &["ExampleBot: nosnippet"]]);
    is(edited("tagged.test", "/", none), none);
    is(
        edited(
            "tagged.test",
            "/drafts/",
            [&["*;x, ExampleBot;NoSnippet"], &["noindex", "examplebot: nosnippet"]],
        ),
        [&["x, noindex, nofollow; ExampleBot=NoSnippet"], &["x, noindex, nofollow", "ExampleBot: NoSnippet"]],
    );
    is(
        edited("list.test", "/", [&[], &["max-snippet:20"]]),
        [
            &["*;max-snippet=20;noindex, ExampleBot;nosnippet"],
            &["max-snippet:20, noindex", "ExampleBot: nosnippet"],
        ],
    );
    // A site without rules unites what the response says itself, too.
    is(edited("plain.test", "/", [&[], &["noindex"]]), [&["noindex"], &["noindex"]]);
    is(edited("plain.test", "/", [&["ExampleBot="], &[]]), [&["ExampleBot="], &[]]);
    is(
        edited("plain.test", "/", [&["ExampleBot="], &["noindex, ExampleBot: nosnippet"]]),
        [&["noindex; ExampleBot=nosnippet"], &["noindex, ExampleBot: nosnippet"]],
    );
}

#[test]
fn what_says_it_already_is_left_as_it_is() {
    for [robots_tag, x_robots_tag] in [
        [
            &["ExampleBot=nosnippet;  *=noindex,nofollow;"][..],
            &["NOINDEX,nofollow", "examplebot:nosnippet"][..],
        ],
        [&["noindex"], &["NoIndex"]],
        [&[""], &[""]],
    ] {
        let lines = [robots_tag, x_robots_tag];
        assert_eq!(edited("plain.test", "/", lines), owned(lines));
    }
    // The site's syntax takes the place of another.
    let lines: [&[&str]; 2] = [&["noindex; ExampleBot=nosnippet"], &["noindex, examplebot: nosnippet"]];
    assert_eq!(edited("list.test", "/", lines)[0], ["*;noindex, ExampleBot;nosnippet"]);
    // No site, or the mode is off: whatever it says.
    for (host, path) in [("other.test", "/"), ("tagged.test", "/off/a.pdf")] {
        let lines: [&[&str]; 2] = [&["noindex", "noindex"], &["x"]];
        assert_eq!(edited(host, path, lines), owned(lines));
    }
}

#[test]
fn tag_5_the_rest_goes_where_it_came_from() {
    let long = format!("nosnippet, {}", "a".repeat(8192));
    let [robots_tag, x_robots_tag] = edited("plain.test", "/", [&["noindex"], &[&format!("Bot: {long}")]]);
    assert_eq!(robots_tag, ["noindex; Bot=nosnippet"]);
    assert_eq!(x_robots_tag[..2], ["noindex".to_string(), "Bot: nosnippet".to_string()]);
    assert_eq!(x_robots_tag[2..], [format!("Bot: {}", "a".repeat(8192))]);
}

#[test]
fn tag_7_effective_rules() {
    let ruleset = ruleset();
    let decision = decision(&ruleset, "tagged.test", "/drafts/");
    assert_eq!(ruleset.effective_rules(&decision), Some((None, b"noindex, nofollow".to_vec())));
}

#[test]
fn a_token_without_rules_cannot_be_said_in_x_robots_tag() {
    // TAG-6
    let lines = edited("bare.test", "/", [&[], &["OtherBot="]]);
    assert_eq!(lines, owned([&["OtherBot=; ExampleBot="], &[]]));
}

#[test]
fn what_stands_in_a_denials_place_is_stored_nowhere() {
    let document =
        br#"{ "mode": "enforce", "catalog": "none", "agents": [ { "token": "BadBot", "action": "deny" } ],
        "sites": [ { "modes": [ { "scope": "/observed", "mode": "observe" } ],
                     "robots_tag": [ { "scope": "/$", "rules": "noindex" }, { "scope": "/observed", "rules": "noindex" } ] } ] }"#;
    let ruleset = Ruleset::compile("c.json", document, &NoFiles).ruleset.unwrap();
    let edited = |user_agent: &str, path: &str, response: &[(&str, &str)]| {
        let request = Asked { user_agent, path, ..Asked::default() };
        let plan = ruleset.response_plan(&decide(&ruleset, &request, Overrides::default())).unwrap();
        let lines = response.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let edits = plan.header_edits(lines);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let replaced: Vec<String> = edits
            .replaced()
            .map(|(name, lines)| format!("{}: {}", name.sent, text(&lines.join(&b',')[..])))
            .collect();
        let names = response.iter().map(|(name, _)| *name);
        (replaced, names.filter(|name| plan.removes(name.as_bytes())).map(str::to_string).collect::<Vec<_>>())
    };
    let (replaced, _) = edited("BadBot", "/a", &[("X-Note", "no-store")]);
    assert_eq!(replaced, ["Cache-Control: no-store"]);
    let page = [
        ("Cache-Control", "public, max-age=3600"),
        ("cache-control", "s-maxage=9"),
        ("Expires", "Thu, 01 Jan 2032 00:00:00 GMT"),
        ("ETag", "\"a\""),
        ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("Age", "5"),
        ("Surrogate-Control", "max-age=9"),
        ("X-Accel-Expires", "9"),
        ("CDN-Cache-Control", "max-age=9"),
        ("Example-CDN-Cache-Control", "max-age=9"),
        ("X-Cache-Control", "stays"),
        ("Content-Type", "text/html"),
    ];
    let mends = |user_agent: &str, host: &str, path: &str| {
        let request = Asked { user_agent, host, path, ..Asked::default() };
        let decision = decide(&ruleset, &request, Overrides::default());
        ruleset.response_plan(&decision).map(ResponsePlan::only_mends)
    };
    assert_eq!(mends("GoodBot/1", "a.test", "/"), Some(false), "there are rules to be added");
    assert_eq!(mends("BadBot/1", "a.test", "/free"), Some(false), "a denial is stored nowhere");
    assert_eq!(mends("GoodBot/1", "a.test", "/free"), Some(true), "both headers have to say the same");
    let (replaced, removed) = edited("BadBot/1", "/", &page);
    assert_eq!(replaced, ["Robots-Tag: noindex", "X-Robots-Tag: noindex", "Cache-Control: no-store"]);
    assert_eq!(removed, page[2..10].iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let own = [("cache-control", "no-store"), ("robots-tag", "noindex"), ("x-robots-tag", "noindex")];
    assert_eq!(edited("BadBot/1", "/", &own), (Vec::new(), Vec::new()));
    assert_eq!(edited("BadBot/1", "/free", &[("cache-control", "public")]).0, ["Cache-Control: no-store"]);
    // Nobody is denied here.
    for (user_agent, path) in [("BadBot/1", "/observed"), ("GoodBot/1", "/")] {
        let (replaced, removed) = edited(user_agent, path, &page);
        assert_eq!((replaced.len(), removed.len()), (2, 0), "{user_agent} at {path}");
    }
}
