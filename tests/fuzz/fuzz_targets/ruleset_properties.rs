//! Properties of every accepted ruleset, from any source.

use std::net::IpAddr;

use crawlpike_core::{Overrides, PlainRequest, Ruleset, Scheme, decide};

/// Addresses inside and outside the feeds of the seeds.
pub const ADDRESSES: [&str; 7] =
    ["192.0.2.1", "198.51.100.9", "10.1.2.3", "255.255.255.255", "2001:db8::1", "2a00::1", "::"];

/// Everything that the ruleset says of a few clients, as text. Ends without a panic, whatever the ruleset.
pub fn said(ruleset: &Ruleset, more_addresses: impl Iterator<Item = IpAddr>) -> String {
    let mut said = String::new();
    let fixed = ADDRESSES.iter().filter_map(|address| address.parse().ok());
    for address in fixed.chain(more_addresses) {
        for finding in ruleset.lookup(address) {
            said += &format!("{finding}\n");
        }
        for (text, now) in [("ABot/1.0", 0), ("BBot", i64::MAX), ("curl/8", 1), ("Mozilla/5.0", -1)] {
            let request = PlainRequest {
                address: Some(address),
                scheme: Some(Scheme::Https),
                authority: Some(b"example.com"),
                path: b"/private/a?b",
                user_agent: Some(text.as_bytes()),
                now,
                ..PlainRequest::default()
            };
            let decision = decide(ruleset, &request, Overrides::default());
            said += &format!("{:?}\n", ruleset.describe_with_usage(&decision, &request));
            said += &format!("{:?}\n", ruleset.reply(&decision, &request, None));
        }
    }
    for feed in ruleset.feeds(i64::MAX) {
        said += &format!("{feed:?}\n");
    }
    said
}
