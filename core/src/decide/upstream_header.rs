//! The request header with the decision for upstreams, and the headers of a client that could pass for it.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::decide::decision::Decision;
use crate::decide::facts::Facts;
use crate::http::header_name::HeaderName;
use crate::identity::Identity;
use crate::request::Request;
use crate::ruleset::data::Ruleset;

/// The request header with the decision for upstreams.
pub const UPSTREAM_HEADER: HeaderName = HeaderName { sent: "X-Crawlpike", lowercase: "x-crawlpike" };

pub(super) const CONNECTION: &str = "connection";

/// Returns true if a request header has the name of [`UPSTREAM_HEADER`], or one that an upstream may take for it: CGI
/// and its heirs see every character except letters and digits as the same. No client's goes on.
#[inline]
pub fn is_forgery(name: &[u8]) -> bool {
    let ours = UPSTREAM_HEADER.lowercase.as_bytes();
    name.len() == ours.len()
        && name.iter().zip(ours).all(|(byte, ours)| match ours {
            b'-' => !byte.is_ascii_alphanumeric(),
            _ => byte.eq_ignore_ascii_case(ours),
        })
}

/// The value that replaces a request's `Connection` lines that name [`UPSTREAM_HEADER`]: the next hop would remove it
/// (RFC 9110 7.6.1). `None` where none does; empty where nothing is left to say.
pub fn connection_without_ours(request: &impl Request) -> Option<Vec<u8>> {
    let options = || {
        let lines = request.header_lines(CONNECTION);
        lines.flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii)
    };
    if !options().any(is_forgery) {
        return None;
    }
    let others: Vec<&[u8]> = options().filter(|option| !option.is_empty() && !is_forgery(option)).collect();
    Some(others.join(&b", "[..]))
}

/// Room for nearly every `X-Crawlpike`.
const USUAL_LENGTH: usize = 128;

impl Ruleset {
    /// [`Facts::header_value`] of a decision, which needs nothing of the request.
    pub fn header_value(&self, decision: &Decision) -> Option<String> {
        match decision.identity {
            Identity::None => None,
            _ => self.named(decision).header_value(),
        }
    }
}

impl Facts<'_> {
    /// The value of the `X-Crawlpike` request header, an RFC 8941 Dictionary; `None` for people, about which nothing is
    /// set.
    pub fn header_value(&self) -> Option<String> {
        if self.identity == Identity::None {
            return None;
        }
        // Made for every request of automation: without a formatter, in one allocation.
        let mut value = String::with_capacity(USUAL_LENGTH);
        value.push_str("action=");
        value.push_str(self.action.as_str());
        value.push_str(", identity=");
        value.push_str(self.identity.as_str());
        for (key, text) in
            [(", agent=\"", self.agent), (", feed=\"", self.feed), (", service=\"", self.service)]
        {
            let Some(text) = text else { continue };
            // Names of agents and feeds hardly ever have anything to escape.
            let quoted = match is_plain(text) {
                true => Cow::Borrowed(text),
                false if is_structured_string(text) => {
                    Cow::Owned(text.replace('\\', r"\\").replace('"', r#"\""#))
                }
                false => continue,
            };
            value.push_str(key);
            value.push_str(&quoted);
            value.push('"');
        }
        for (key, token) in [(", country=", self.country), (", region=", self.region)] {
            if let Some(token) = token {
                value.push_str(key);
                value.push_str(token);
            }
        }
        Some(value)
    }
}

/// Returns true if RFC 8941 3.3.3 carries the text as it is.
fn is_plain(text: &str) -> bool {
    // Without a way out of the loop, it runs over many bytes at once.
    text.bytes().fold(true, |all, byte| all & matches!(byte, b' '..=b'~') & !matches!(byte, b'"' | b'\\'))
}

/// Returns true if RFC 8941 3.3.3 can carry the text; what can't be carried is left out.
fn is_structured_string(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::facts::tests::NOBODY;
    use crate::request::tests::Asked;

    #[test]
    fn the_header_is_a_structured_dictionary() {
        let facts = Facts {
            identity: Identity::Verified,
            agent: Some("Googlebot"),
            feed: Some("googlebot"),
            country: Some("US"),
            ..NOBODY
        };
        let value = facts.header_value().unwrap();
        assert_eq!(
            value,
            r#"action=allow, identity=verified, agent="Googlebot", feed="googlebot", country=US"#
        );
    }

    #[test]
    fn strings_are_escaped_or_left_out() {
        let facts =
            Facts { identity: Identity::Undeclared, feed: Some(r#"a"\b"#), service: Some("ż"), ..NOBODY };
        assert_eq!(facts.header_value().unwrap(), r#"action=allow, identity=undeclared, feed="a\"\\b""#);
    }

    #[test]
    fn nothing_is_said_about_people() {
        assert_eq!(NOBODY.header_value(), None);
    }

    #[test]
    fn every_spelling_that_upstreams_fold_together_is_a_forgery() {
        for name in [
            "X-Crawlpike",
            "x_crawlpike",
            "X.CRAWLPIKE",
            "x~crawlpike",
            "X+Crawlpike",
            "X'Crawlpike",
            "x\u{7f}crawlpike",
        ] {
            assert!(is_forgery(name.as_bytes()), "{name}");
        }
        for name in
            ["X-Crawlwar", "X-Crawlpikes", "XxCrawlpike", "X0Crawlpike", "X--Crawlpike", "Crawlpike", ""]
        {
            assert!(!is_forgery(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn no_client_has_the_next_hop_remove_our_header() {
        let without = |lines: &[&str]| {
            let headers: Vec<(&str, &str)> = lines.iter().map(|line| ("connection", *line)).collect();
            let request = Asked { headers: &headers, ..Asked::default() };
            connection_without_ours(&request).map(|value| String::from_utf8(value).unwrap())
        };
        for (lines, expected) in [
            (&[][..], None),
            (&["close"], None),
            (&["keep-alive, Upgrade"], None),
            (&["X-Crawlpike"], Some("")),
            (&["close, x-crawlpike"], Some("close")),
            (&["Upgrade,X-CRAWLPIKE ,, te", "x_crawlpike", "close"], Some("Upgrade, te, close")),
        ] {
            assert_eq!(without(lines).as_deref(), expected, "{lines:?}");
        }
    }
}
