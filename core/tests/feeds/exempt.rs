//! Addresses that are exempt: which lists count, and what is said of them.

use crawlpike_core::{Compiled, Identity, NoFiles, Reason, Ruleset};

use crate::fixture::{DAY, MODIFIED, Memory, asked_at, jafar, said};

const DOCUMENT: &str = r#"{
  "mode": "enforce", "catalog": "none",
  "feeds": [
    { "name": "a", "format": "jafar", "source": "a.json", "max_age": "7d" },
    { "name": "b", "format": "jafar", "source": "b.json" }
  ],
  "agents": [ { "token": "BBot", "feeds": ["b"], "action": "deny" } ],
  "exempt": [ "192.0.2.0/28", { "feed": "a" } ],
  "sites": [ { "hosts": ["shop.test"], "exempt": ["198.51.100.7"] }, {} ]
}"#;

fn reason(compiled: &Compiled, address: &str, now: i64) -> (Reason, Identity) {
    let decision = asked_at(compiled.ruleset.as_ref().unwrap(), address, "BBot/1.0", now);
    (decision.reason, decision.identity)
}

#[test]
fn a_list_exempts_whatever_a_client_says_in_the_compiled_form_too() {
    let mut memory = Memory::new();
    let compiled = memory.load_document(DOCUMENT);
    assert_eq!(said(&compiled), "", "the feed `a` verifies no agent, but it has a use");
    let loaded = Compiled::load("c.bin", compiled.store().unwrap());
    for compiled in [&compiled, &loaded] {
        for (address, expected) in [
            ("192.0.2.1", (Reason::Exempt, Identity::Spoofed)),
            ("192.0.2.16", (Reason::SpoofedAgent, Identity::Spoofed)),
            ("11.1.0.1", (Reason::Exempt, Identity::Spoofed)),
            ("11.2.0.1", (Reason::AgentDenied, Identity::Verified)),
            ("198.51.100.7", (Reason::SpoofedAgent, Identity::Spoofed)),
        ] {
            assert_eq!(reason(compiled, address, MODIFIED), expected, "{address}");
        }
        let ruleset = compiled.ruleset.as_ref().unwrap();
        let shown = |address: &str| -> Vec<String> {
            let exemptions = ruleset.exemptions(address.parse().unwrap(), MODIFIED);
            exemptions.iter().map(ToString::to_string).collect()
        };
        assert_eq!(shown("192.0.2.1"), ["192.0.2.0/28"]);
        assert_eq!(shown("11.1.0.1"), [r#"11.1.0.0/24 feed="a""#]);
        assert_eq!(shown("198.51.100.7"), [r#"198.51.100.7/32 site="shop.test""#]);
        assert_eq!(shown("198.51.100.8"), [""; 0]);
        assert_eq!(ruleset.lookup("192.0.2.1".parse().unwrap()).count(), 0, "a list is not a feed");
        assert_eq!(ruleset.feeds(MODIFIED).count(), 2);
        assert_eq!(ruleset.feeds(MODIFIED).filter(|feed| feed.exempts).count(), 1);
    }
}

#[test]
fn a_feed_that_exempts_keeps_its_last_good_version_until_it_is_stale() {
    let mut memory = Memory::new();
    memory.load_document(DOCUMENT);
    memory.put("a.json", "<html>");
    let compiled = memory.load_document(DOCUMENT);
    assert_eq!(reason(&compiled, "11.1.0.1", MODIFIED).0, Reason::Exempt);
    assert!(said(&compiled).contains("warning: the feed `a` is held"), "{}", said(&compiled));
    assert_eq!(reason(&compiled, "11.1.0.1", MODIFIED + 8 * DAY).0, Reason::SpoofedAgent);
    let stale = compiled.ruleset.as_ref().unwrap().feeds(MODIFIED + 8 * DAY).next().unwrap().to_string();
    assert!(stale.ends_with("; it neither exempts nor verifies any client"), "{stale}");
}

#[test]
fn a_feed_that_is_missing_or_claims_too_much_exempts_nobody() {
    let mut memory = Memory::default();
    memory.put("b.json", jafar(2, 50));
    let compiled = memory.load_document(DOCUMENT);
    assert_eq!(reason(&compiled, "11.1.0.1", MODIFIED).0, Reason::SpoofedAgent);
    let messages = said(&compiled);
    assert!(messages.contains("warning: the feed `a` is missing"), "{messages}");
    assert!(messages.contains("; it neither exempts nor verifies any client"), "{messages}");
    // The guard holds a first version to what a feed that verifies agents may claim.
    memory.put("a.json", jafar(1, 1).replace("11.1.0.0/24", "10.0.0.0/7"));
    let compiled = memory.load_document(DOCUMENT);
    assert_eq!(reason(&compiled, "11.1.0.1", MODIFIED).0, Reason::SpoofedAgent, "{}", said(&compiled));
}

#[test]
fn what_cannot_be_exempt_or_is_hardly_meant_is_said_where_it_stands() {
    let said = |exempt: &str| {
        let document = format!(
            r#"{{ "catalog": "catalog", "nat64": ["2001:db8:64::/96"],
  "feeds": [ {{ "name": "places", "format": "geofeed", "source": "p" }}, {{ "name": "monitors", "format": "cidr", "source": "m" }} ],
  "exempt": [ {exempt} ],
  "agents": [ {{ "token": "ABot", "feeds": ["monitors"] }} ],
  "files": {{ "p": {{ "text": "192.0.2.0/24,AQ,,,\n" }}, "m": {{ "text": "192.0.2.0/24\n" }},
    "catalog": {{ "text": "{{\"agents\":[],\"feeds\":[{{\"name\":\"uptimes\",\"url\":\"https://uptimes.test/ip.json\"}}]}}" }} }} }}"#
        );
        said(&Ruleset::compile("c.json", document.as_bytes(), &NoFiles)).trim_end().to_string()
    };
    for fine in [
        r#""10.0.0.0/8""#,
        r#""fc00::/7""#,
        r#""192.0.2.1""#,
        r#""::ffff:10.0.0.0/104""#,
        r#"{ "feed": "monitors" }"#,
    ] {
        assert_eq!(said(fine), "", "{fine}");
    }
    for (exempt, expected) in [
        (
            r#""192.0.2.1/24""#,
            "c.json:3:15: error: `192.0.2.1/24` in `exempt`: host bits are set; write 192.0.2.0/24",
        ),
        (r#""monitors""#, "c.json:3:15: error: `monitors` in `exempt`: not an IP address"),
        (
            "5",
            r#"c.json:3:15: error: `exempt[0]`: expected a prefix such as "192.0.2.0/24", or { "feed": NAME }, found the number 5"#,
        ),
        (
            r#"{ "fed": "x" }"#,
            "c.json:3:15: error: `exempt[0]`: missing key `feed`\nc.json:3:17: error: unknown key `exempt[0].fed` (did you mean `feed`?)",
        ),
        (
            r#""0.0.0.0/0""#,
            "c.json:3:15: warning: `0.0.0.0/0` in `exempt` is wide: whoever sends from there is never denied",
        ),
        (
            r#""2000::/3""#,
            "c.json:3:15: warning: `2000::/3` in `exempt` is wide: whoever sends from there is never denied",
        ),
        (
            r#""64:ff9b::c000:200/120", "2001:db8:64::/96""#,
            "c.json:3:15: warning: `64:ff9b::c000:200/120` in `exempt` has no effect: a client behind NAT64 has its IPv4 address; \
             write that prefix\nc.json:3:40: warning: `2001:db8:64::/96` in `exempt` has no effect: a client behind NAT64 has its \
             IPv4 address; write that prefix",
        ),
        (
            r#"{ "feed": "places" }"#,
            "c.json:3:25: error: the geofeed `places` cannot exempt clients: it says where prefixes are used, not whose they are",
        ),
        (r#"{ "feed": "monitor" }"#, "c.json:3:25: error: unknown feed `monitor` (did you mean `monitors`?)"),
        (
            r#"{ "feed": "uptimes" }"#,
            "c.json:3:25: error: this document lacks the feed `uptimes` of the catalog; add to `feeds`: { \"name\": \"uptimes\", \
             \"format\": \"jafar\", \"source\": \"feeds/uptimes.json\", \"url\": \"https://uptimes.test/ip.json\" }",
        ),
        (
            r#"{ "feed": "uptime" }"#,
            "c.json:3:25: error: unknown feed `uptime`; did you mean `uptimes` of the catalog? This document lacks it; add to \
             `feeds`: { \"name\": \"uptimes\", \"format\": \"jafar\", \"source\": \"feeds/uptimes.json\", \"url\": \
             \"https://uptimes.test/ip.json\" }",
        ),
        (r#"{ "feed": "zzz" }"#, "c.json:3:25: error: unknown feed `zzz` (known: places, monitors)"),
    ] {
        assert_eq!(said(exempt), expected, "{exempt}");
    }
}
