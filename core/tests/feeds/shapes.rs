//! The source of the shape of a feed: the configuration, the catalog, or the file itself.

use crawlpike_core::Identity;

use crate::fixture::{Memory, identity, said};

const PAGE: &str = r#"<html><pre>{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}</pre></html>"#;

/// A configuration with one feed.
fn with_feed(members: &str) -> String {
    format!(
        r#"{{"mode":"enforce","sites":[{{}}],
"feeds":[{{"name":"f","source":"f.json",{members}}}],
"agents":[{{"token":"FBot","feeds":["f"]}}]}}"#
    )
}

fn with_file(content: &str) -> Memory {
    let mut memory = Memory::default();
    memory.put("f.json", content);
    memory
}

#[test]
fn jafar_20_the_catalog_knows_the_shape_of_a_feed_by_its_url() {
    // JAFAR-20
    for url in ["https://developer.amazon.com/amazonbot/ip-addresses/", "https://example.com/ips"] {
        let document = with_feed(&format!(r#""format":"jafar","url":"{url}""#));
        let compiled = with_file(PAGE).load_document(&document);
        assert_eq!(compiled.ruleset.is_some(), url.contains("amazonbot"), "{}", said(&compiled));
        if compiled.ruleset.is_some() {
            for (address, expected) in [("192.0.2.7", Identity::Verified), ("203.0.113.7", Identity::Spoofed)]
            {
                assert_eq!(identity(&compiled, address, "Amazonbot/0.1"), expected);
            }
        }
    }
    // The configuration has the last word.
    let own = with_feed(
        r#""format":"jafar","url":"https://developer.amazon.com/amazonbot/ip-addresses/","shape":"prefixes[]""#,
    );
    let compiled = with_file(PAGE).load_document(&own);
    assert!(said(&compiled).contains("this is HTML, not JSON"), "{}", said(&compiled));
}

#[test]
fn jafar_20_a_shape_of_the_configuration_is_checked() {
    // JAFAR-20
    for (members, message) in [
        (
            r#""format":"jafar","shape":"a[""#,
            "c.json:2:65: error: `feeds[0].shape`: \"a[\": `]` is missing; expected a path such as `prefixes[].cidr`",
        ),
        (
            r#""format":"jafar","shape":7"#,
            "c.json:2:65: error: `feeds[0].shape`: expected a string, found the number 7",
        ),
        (
            r#""format":"cidr","shape":"a[]""#,
            "c.json:2:64: error: `shape` is for the format `jafar`; remove it [JAFAR-20]",
        ),
    ] {
        let compiled = with_file("{}").load_document(&with_feed(members));
        assert!(compiled.ruleset.is_none() && said(&compiled).contains(message), "{}", said(&compiled));
    }
    // One that fits is used.
    let compiled = with_file(r#"{"data":[{"range":"192.0.2.0/24"}]}"#)
        .load_document(&with_feed(r#""format":"jafar","shape":"data[].range""#));
    assert_eq!(identity(&compiled, "192.0.2.7", "FBot/1"), Identity::Verified);
}
