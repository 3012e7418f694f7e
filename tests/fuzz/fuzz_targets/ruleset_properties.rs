//! Properties of every accepted ruleset, from any source.

use std::net::IpAddr;

use crawlpike_core::{Overrides, Request, Ruleset, Scheme, decide};

/// A request from an address, which claims an agent or not.
struct Asked<'a> {
    address: IpAddr,
    text: &'a [u8],
    now: i64,
}

impl Request for Asked<'_> {
    fn address(&self) -> Option<IpAddr> {
        Some(self.address)
    }

    fn scheme(&self) -> Option<Scheme> {
        Some(Scheme::Https)
    }

    fn authority(&self) -> Option<&[u8]> {
        Some(b"example.com")
    }

    fn method(&self) -> &[u8] {
        b"GET"
    }

    fn path(&self) -> &[u8] {
        b"/private/a?b"
    }

    fn user_agent(&self) -> Option<&[u8]> {
        Some(self.text)
    }

    fn now(&self) -> i64 {
        self.now
    }

    fn header_lines<'r>(&'r self, _: &str) -> impl Iterator<Item = &'r [u8]> {
        std::iter::empty()
    }
}

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
            let request = Asked { address, text: text.as_bytes(), now };
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
