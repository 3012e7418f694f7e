//! Whatever the configuration and the request are, compiling, deciding and replying never panic, and say the same twice.

#![no_main]

use std::net::IpAddr;

use crawlpike_core::{NoFiles, Overrides, Request, Ruleset, Scheme, decide};
use libfuzzer_sys::fuzz_target;

/// The parts of the input, which the byte 0xFF separates: it is in no UTF-8, so in no document that is read.
struct Input<'a> {
    document: &'a [u8],
    address: Option<IpAddr>,
    host: &'a [u8],
    method: &'a [u8],
    path: &'a [u8],
    user_agent: Option<&'a [u8]>,
    header: Option<&'a [u8]>,
}

impl<'a> Input<'a> {
    fn new(data: &'a [u8]) -> Self {
        let mut parts = data.split(|byte| *byte == 0xFF);
        let mut next = || parts.next();
        Self {
            document: next().unwrap_or_default(),
            address: next().and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()),
            host: next().unwrap_or_default(),
            method: next().unwrap_or_default(),
            path: next().unwrap_or_default(),
            user_agent: next(),
            header: next(),
        }
    }
}

impl Request for Input<'_> {
    fn address(&self) -> Option<IpAddr> {
        self.address
    }

    fn scheme(&self) -> Option<Scheme> {
        Some(Scheme::Https)
    }

    fn authority(&self) -> Option<&[u8]> {
        Some(self.host)
    }

    fn method(&self) -> &[u8] {
        self.method
    }

    fn path(&self) -> &[u8] {
        self.path
    }

    fn user_agent(&self) -> Option<&[u8]> {
        self.user_agent
    }

    fn now(&self) -> i64 {
        0
    }

    /// Two lines, where the input has the byte 0xFE in it, which is in no UTF-8 either.
    fn header_lines<'r>(&'r self, _: &str) -> impl Iterator<Item = &'r [u8]> {
        self.header.into_iter().flat_map(|lines| lines.split(|byte| *byte == 0xFE))
    }
}

fuzz_target!(|data: &[u8]| {
    let request = Input::new(data);
    let Some(ruleset) = Ruleset::compile("c.json", request.document, &NoFiles).ruleset else { return };
    let first = ruleset.site_names().next().and_then(|name| ruleset.site(name));
    for site in [None, first] {
        let overrides = Overrides { mode: None, site, ..Overrides::default() };
        let decision = decide(&ruleset, &request, overrides);
        assert_eq!(decision, decide(&ruleset, &request, overrides));
        let facts = ruleset.describe_with_usage(&decision, &request);
        let _ = (facts.header_value(), facts.rate_key(request.address));
        assert!(!decision.is_answered() || ruleset.reply(&decision, &request, None).is_some());
    }
});
