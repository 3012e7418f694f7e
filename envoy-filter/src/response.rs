//! The response on its way back: from what it says of crawlers to the core's edits, and back to Envoy.
//!
//! The host gives a header's first line only. So each name is asked for by itself, which most responses answer with
//! nothing, and only where one is there the whole map is fetched for the other lines.

use crawlward_core::Ruleset;
use crawlward_core::decision::Decision;
use crawlward_core::response::HEADERS;

use crate::host_calls::{self, HeaderMap, Headers, Refused};

/// Makes `Robots-Tag` and `X-Robots-Tag` of a response what they should be.
pub(crate) fn edit(ruleset: &Ruleset, decision: &Decision) -> Result<(), Refused> {
    let Some(rules) = ruleset.response_rules(decision) else { return Ok(()) };
    let is_there = |name| host_calls::header(Headers::Response, name).is_some();
    let map = match HEADERS.iter().any(|header| is_there(header.lowercase)) {
        true => Some(host_calls::all_headers(Headers::Response)?),
        false => None,
    };
    let [robots_tag, x_robots_tag] = HEADERS.map(|header| {
        let lines = map.iter().flat_map(HeaderMap::lines);
        let of_header = lines.filter(|(name, _)| *name == header.lowercase.as_bytes());
        of_header.map(|(_, value)| value).collect::<Vec<&[u8]>>()
    });
    for (header, lines) in rules.edits([&robots_tag, &x_robots_tag]).replaced() {
        let Some((first, others)) = lines.split_first() else {
            host_calls::remove_header(Headers::Response, header.lowercase)?;
            continue;
        };
        host_calls::replace_header(Headers::Response, header.lowercase, first)?;
        for line in others {
            host_calls::add_header(Headers::Response, header.lowercase, line)?;
        }
    }
    Ok(())
}
