//! From nginx's response to the core's edits, and back.

use crawlward_core::response::HEADERS;

use crate::gate;
use crate::nginx::HttpRequest;

/// Makes `Robots-Tag` and `X-Robots-Tag` of a response what they should be.
pub(crate) fn on_headers(request: HttpRequest<'_>) {
    let Some(rules) = gate::response_rules(request) else { return };
    let mut lines: [Vec<&[u8]>; 2] = Default::default();
    for (name, value) in request.response_headers() {
        for (header, lines) in HEADERS.iter().zip(&mut lines) {
            if name.eq_ignore_ascii_case(header.lowercase.as_bytes()) {
                lines.push(value);
            }
        }
    }
    let [robots_tag, x_robots_tag] = &lines;
    for (name, lines) in rules.edits([robots_tag, x_robots_tag]).replaced() {
        // Without memory for it some rules are missing, or are there twice; there is nothing better to do.
        let _ = request.replace_response_header(name, lines);
    }
}
