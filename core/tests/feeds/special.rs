//! Special-purpose prefixes: a publisher cannot claim them, an operator can.

use crawlpike_core::{FeedState, Identity};

use crate::fixture::{MODIFIED, Memory, identity, said, states};

/// A configuration with one list, which is published or kept by hand.
fn document(is_published: bool) -> String {
    let url = if is_published { r#""url": "https://a.example/","# } else { "" };
    format!(
        r#"{{ "catalog": "none", "feeds": [ {{ "name": "a", "format": "cidr", {url} "source": "a.txt" }} ],
            "agents": [ {{ "token": "ABot", "feeds": ["a"] }} ] }}"#
    )
}

#[test]
fn special_purpose_prefixes_of_a_publisher_verify_nobody() {
    let mut memory = Memory::new();
    let special = "10.0.0.0/8\n127.0.0.0/8\n100.64.0.0/10\n64:ff9b::/96\n2002::/16\n::/96\n::ffff:10.0.0.0/104\n2001::/32\nfc00::/16\n";
    memory.put("a.txt", format!("20.0.0.0/16\n{special}192.0.0.0/8\n"));
    let compiled = memory.load_document(&document(true));
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Ok]);
    for address in
        ["10.0.0.1", "127.0.0.1", "100.64.0.1", "2002:808:808::1", "2001::1", "fc00::1", "192.168.0.1"]
    {
        assert_eq!(identity(&compiled, address, "ABot/1.0"), Identity::Unverified, "{address}");
    }
    // A prefix with others in it verifies the rest, and the feed is whole.
    for (address, expected) in [
        ("20.0.0.1", Identity::Verified),
        ("192.1.0.1", Identity::Verified),
        ("64:ff9b::20.0.0.1", Identity::Verified),
        ("64:ff9b::8.8.8.8", Identity::Spoofed),
        ("::7f00:1", Identity::Spoofed),
        ("21.0.0.1", Identity::Spoofed),
    ] {
        assert_eq!(identity(&compiled, address, "ABot/1.0"), expected, "{address}");
    }
    let said = said(&compiled);
    assert_eq!(said.lines().count(), 9, "{said}");
    let line = "a.txt:2:1: warning: 10.0.0.0/8 is special-purpose (private use); in a feed with a `url` it verifies nobody\n";
    assert!(said.starts_with(line), "{said}");
    assert!(
        said.contains("a.txt:5:1: warning: 64:ff9b::/96 is special-purpose (translation of IPv4 (NAT64)); "),
        "{said}"
    );
}

#[test]
fn special_purpose_prefixes_in_a_list_by_hand_verify() {
    let mut memory = Memory::new();
    memory.put("a.txt", "10.0.0.0/8\n192.0.0.0/8\nfc00::/16\n");
    let compiled = memory.load_document(&document(false));
    for address in ["10.0.0.1", "192.168.0.1", "fc00::1"] {
        assert_eq!(identity(&compiled, address, "ABot/1.0"), Identity::Verified, "{address}");
    }
    assert_eq!(said(&compiled), "");
}

#[test]
fn a_list_of_special_purpose_prefixes_alone_is_one_without_prefixes() {
    let mut memory = Memory::new();
    memory.put("a.txt", "10.0.0.0/8\n");
    let compiled = memory.load_document(&document(true));
    assert_eq!(states(&compiled, MODIFIED), [FeedState::Missing]);
    assert_eq!(identity(&compiled, "21.0.0.1", "ABot/1.0"), Identity::Unverified);
}
