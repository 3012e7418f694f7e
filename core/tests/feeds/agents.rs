//! Which agents feeds prove, and who is spoofed.

use crawlpike_core::{Compiled, FeedState, Identity, NoFiles, Overrides, Ruleset, decide};

use crate::fixture::{DOCUMENT, MODIFIED, Memory, identity, jafar, request_at, said, states};

#[test]
fn jafar_23_a_feed_that_cannot_be_read_whole_proves_and_condemns_nobody() {
    // JAFAR-23
    let mut memory = Memory::new();
    memory.put("a.json", jafar(1, 40).replace("11.1.7.0/24", "11.1.7.9/24"));
    let compiled = memory.load();
    let loaded = Compiled::load("c.bin", compiled.store().unwrap());
    for compiled in [&compiled, &loaded] {
        let messages = said(compiled);
        assert!(
            messages.contains(
                "warning: the feed `a` is incomplete: 1 entry cannot be read; clients that claim its agents from other \
                 addresses are `unverified`, not `spoofed`"
            ),
            "{messages}"
        );
        assert!(!messages.contains("--accept"), "{messages}");
        assert_eq!(identity(compiled, "11.1.39.255", "ABot/1.0"), Identity::Verified);
        assert_eq!(identity(compiled, "11.1.7.1", "ABot/1.0"), Identity::Unverified);
        assert_eq!(identity(compiled, "11.9.0.1", "ABot/1.0"), Identity::Unverified);
        assert_eq!(identity(compiled, "11.9.0.1", "BBot/1.0"), Identity::Spoofed);
        let ruleset = compiled.ruleset.as_ref().unwrap();
        let doubts: Vec<String> =
            ruleset.doubts("ABot", None, MODIFIED).iter().map(ToString::to_string).collect();
        assert_eq!(doubts, ["the feed `a` is incomplete: 1 entry cannot be read"]);
        assert!(ruleset.doubts("BBot", None, MODIFIED).is_empty());
    }
    // It is still the last good version where a newer one is held.
    memory.put("a.json", jafar(1, 3));
    let compiled = memory.load();
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Held, FeedState::Ok]);
    assert_eq!(identity(&compiled, "11.9.0.1", "ABot/1.0"), Identity::Unverified);
}

#[test]
fn jafar_23_bare_addresses_lose_nobody() {
    // JAFAR-20, JAFAR-23: 99 bare addresses and one prefix.
    let mut memory = Memory::new();
    let bare: Vec<String> = (0..99).map(|n| format!(r#"{{"ipv4Prefix":"11.7.0.{n}"}}"#)).collect();
    memory.put("a.json", format!(r#"{{"prefixes":[{{"ipv4Prefix":"11.1.0.0/24"}},{}]}}"#, bare.join(",")));
    let compiled = memory.load();
    assert_eq!(said(&compiled), "");
    for (address, expected) in [
        ("11.7.0.98", Identity::Verified),
        ("11.1.0.7", Identity::Verified),
        ("11.7.0.99", Identity::Spoofed),
    ] {
        assert_eq!(identity(&compiled, address, "ABot/1.0"), expected, "{address}");
    }
}

#[test]
fn an_agent_with_partial_ranges_is_never_spoofed() {
    let mut memory = Memory::new();
    let document = DOCUMENT.replace(r#""token": "ABot","#, r#""token": "ABot", "ranges": "partial","#);
    let compiled = memory.load_document(&document);
    assert_eq!(identity(&compiled, "11.1.0.1", "ABot/1.0"), Identity::Verified);
    assert_eq!(identity(&compiled, "11.9.0.1", "ABot/1.0"), Identity::Unverified);
    assert_eq!(identity(&compiled, "11.9.0.1", "BBot/1.0"), Identity::Spoofed);
    let ruleset = compiled.ruleset.as_ref().unwrap();
    let doubts: Vec<String> =
        ruleset.doubts("ABot", None, MODIFIED).iter().map(ToString::to_string).collect();
    assert_eq!(doubts, ["it also runs outside its published ranges"]);

    // The catalog says so of Claude Code's token, and the document can say otherwise.
    let feed = r#"{ "name": "anthropic", "format": "jafar", "source": "a.json",
        "url": "https://claude.com/crawling/bots.json" }"#;
    for (agents, expected) in [
        ("", Identity::Unverified),
        (r#"{ "token": "Claude-User", "ranges": "complete" }"#, Identity::Spoofed),
    ] {
        let compiled = memory.load_document(&format!(r#"{{ "feeds": [ {feed} ], "agents": [ {agents} ] }}"#));
        assert_eq!(said(&compiled), "");
        let code = "Claude-User (claude-code/2.1.0; +https://support.anthropic.com/)";
        assert_eq!(identity(&compiled, "11.1.0.1", code), Identity::Verified);
        assert_eq!(identity(&compiled, "192.0.2.1", code), expected);
        assert_eq!(identity(&compiled, "192.0.2.1", "ClaudeBot/1.0"), Identity::Spoofed);
    }
}

#[test]
fn jafar_18_each_service_of_a_prefix_proves() {
    // JAFAR-18: as AWS lists them, first for AMAZON.
    let mut memory = Memory::new();
    let entry = |prefix: &str, service: &str| {
        format!(r#"{{"ip_prefix":"{prefix}","region":"us-east-1","service":"{service}"}}"#)
    };
    let prefixes = [
        entry("11.1.0.0/24", "AMAZON"),
        entry("11.1.1.0/24", "AMAZON"),
        entry("11.1.0.0/24", "S3"),
        entry("11.1.0.0/24", "EC2"),
    ];
    memory.put("a.json", format!(r#"{{"syncToken":"1","prefixes":[{}]}}"#, prefixes.join(",")));
    let document = DOCUMENT.replace(r#""feeds": ["a"]"#, r#""feeds": ["a"], "services": ["EC2"]"#);
    let compiled = memory.load_document(&document);
    let loaded = Compiled::load("c.bin", compiled.store().unwrap());
    for compiled in [&compiled, &loaded] {
        assert_eq!(said(compiled), "");
        assert_eq!(identity(compiled, "11.1.0.7", "ABot/1.0"), Identity::Verified);
        assert_eq!(identity(compiled, "11.1.1.7", "ABot/1.0"), Identity::Spoofed);
        let ruleset = compiled.ruleset.as_ref().unwrap();
        let found: Vec<String> =
            ruleset.lookup("11.1.0.7".parse().unwrap()).map(|finding| finding.to_string()).collect();
        assert_eq!(
            found,
            [
                r#"a 11.1.0.0/24 service="AMAZON""#,
                r#"a 11.1.0.0/24 service="S3""#,
                r#"a 11.1.0.0/24 service="EC2""#
            ]
        );
        // The service that proved the agent; of a client without a claim, the first one.
        for (user_agent, service) in [("ABot/1.0", "EC2"), ("curl/8", "AMAZON")] {
            let request = request_at("11.1.0.7", user_agent, MODIFIED);
            let decision = decide(ruleset, &request, Overrides::default());
            assert_eq!(ruleset.describe(&decision, &request).service, Some(service));
        }
    }
}

#[test]
fn a_feed_that_proves_no_agent_or_unexpected_ones_is_pointed_out() {
    const GPTBOT: &str = "https://openai.com/gptbot.json";
    const GOOGLEBOT: &str = "https://developers.google.com/static/crawling/ipranges/common-crawlers.json";
    let moved = "https://developers.google.com/static/search/apis/ipranges/googlebot.json";
    let gptbot = |url: &str| format!(r#""name": "openai", "url": "{url}""#);
    for (feed, agents, expected) in [
        (r#""name": "partners""#.into(), "", Some("verifies no agent: no agent lists it in `feeds`")),
        (r#""name": "partners""#.into(), r#"{ "token": "P", "feeds": ["partners"] }"#, None),
        (r#""name": "openai-gptbot""#.into(), "", None),
        (gptbot(GPTBOT), "", None),
        (
            gptbot("https://example.com/gptbot.json"),
            "",
            Some("verifies no agent: no agent lists it in `feeds`, and its `url` is not in the catalog"),
        ),
        (gptbot("https://example.com/gptbot.json"), r#"{ "token": "GPTBot", "feeds": ["openai"] }"#, None),
        (
            gptbot("http://openai.com/gptbot.json/"),
            "",
            Some(
                "verifies no agent: its `url` is not in the catalog; did you mean https://openai.com/gptbot.json?",
            ),
        ),
        (
            gptbot("https://www.OpenAI.com/gptbot.json"),
            r#"{ "token": "X", "feeds": ["openai"] }"#,
            Some(
                "verifies only agents that list it: its `url` is not in the catalog; did you mean https://openai.com/gptbot.json?",
            ),
        ),
        // The old URL is as good as the new one.
        (gptbot(moved), "", None),
        (gptbot(GOOGLEBOT), r#"{ "token": "Googlebot", "feeds": ["openai"] }"#, None),
        // A name and a URL that mean different agents.
        (
            gptbot(GOOGLEBOT),
            r#"{ "token": "GPTBot", "feeds": ["openai"] }"#,
            Some(
                "verifies `GPTBot` by its name and `Google-CloudVertexBot` and 9 others by its `url`; check which",
            ),
        ),
        (
            format!(r#""name": "google-googlebot", "url": "{GPTBOT}""#),
            "",
            Some(
                "verifies `Google-CloudVertexBot` and 9 others by its name and `GPTBot` by its `url`; check which",
            ),
        ),
    ] {
        let document = format!(
            r#"{{ "agents": [ {agents} ], "feeds": [
  {{ "format": "cidr", "source": "f.txt", {feed} }} ], "files": {{ "f.txt": {{ "text": "192.0.2.0/24" }} }} }}"#
        );
        let compiled = Ruleset::compile("c.json", document.as_bytes(), &NoFiles);
        let loaded = Compiled::load("c.bin", compiled.store().unwrap());
        let messages = said(&compiled);
        assert_eq!(said(&loaded), messages, "at every load");
        match expected {
            None => assert_eq!(messages, "", "{feed} {agents}"),
            Some(expected) => {
                assert_eq!(messages.lines().count(), 1, "{messages}");
                assert!(messages.starts_with("c.json:2:50: warning: the feed `"), "{messages}");
                assert!(messages.contains(expected), "{messages}");
            }
        }
    }
    // Geofeeds prove no agent by nature.
    let places = r#"{ "feeds": [ { "name": "g", "format": "geofeed", "source": "f", "url": "https://openai.com/gptbot.json" } ],
        "files": { "f": { "text": "192.0.2.0/24,PL,,," } } }"#;
    let compiled = Ruleset::compile("c.json", places.as_bytes(), &NoFiles);
    assert_eq!(said(&compiled), "");
    assert_eq!(identity(&compiled, "192.0.2.1", "GPTBot/1.0"), Identity::Unverified);
}

#[test]
fn a_geofeed_proves_no_agent() {
    // A geofeed says where a prefix is used, not which agent uses it.
    let document = r#"{"feeds":[{"name":"offices","format":"geofeed","source":"g.csv"}],
        "agents":[{"token":"FooBot","feeds":["offices"]}]}"#;
    let compiled = Ruleset::compile("c.json", document.as_bytes(), &NoFiles);
    assert!(compiled.ruleset.is_none());
    assert!(
        said(&compiled).contains("c.json:2:46: error: the geofeed `offices` cannot verify an agent"),
        "{}",
        said(&compiled)
    );
}
