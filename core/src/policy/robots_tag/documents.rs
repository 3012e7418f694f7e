//! The meaning of the rules of a response for a document of it.

use super::{RobotsTag, Rule};

/// The meaning of rules for a document: a copy of the page's text, and longer than any snippet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OnDocuments {
    /// True if they forbid it to the client.
    pub(crate) is_forbidden: bool,
    /// True if they forbid it to some clients only.
    pub(crate) depends_on_agent: bool,
}

impl RobotsTag<'_> {
    /// The meaning of the rules for a document. `token` is the one by which the client is known (TAG-7).
    pub(crate) fn on_documents(&self, token: Option<&str>) -> OnDocuments {
        let is_forbidden_to_all = self.global.iter().any(forbids_document);
        let mut forbidding =
            self.tokens.iter().filter(|token| token.rules.iter().any(forbids_document)).peekable();
        let depends_on_agent = !is_forbidden_to_all && forbidding.peek().is_some();
        let is_own = |name: &[u8]| token.is_some_and(|token| name.eq_ignore_ascii_case(token.as_bytes()));
        let is_forbidden = is_forbidden_to_all || forbidding.any(|token| is_own(&token.name));
        OnDocuments { is_forbidden, depends_on_agent }
    }
}

fn forbids_document(rule: &Rule<'_>) -> bool {
    let is = |name: &str| rule.name.eq_ignore_ascii_case(name.as_bytes());
    match rule.value.as_deref() {
        None => is("noindex") || is("nosnippet") || is("none"),
        Some(value) => is("max-snippet") && value.trim_ascii() == b"0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_7_rules_for_all_and_for_the_client_forbid_documents() {
        for (line, token, is_forbidden, depends_on_agent) in [
            ("", None, false, false),
            ("nofollow, noarchive", None, false, false),
            ("NoIndex", None, true, false),
            ("follow, nosnippet", Some("ExampleBot"), true, false),
            ("none", None, true, false),
            ("max-snippet:0", None, true, false),
            ("max-snippet: 20", None, false, false),
            ("ExampleBot=nosnippet", None, false, true),
            ("ExampleBot=nosnippet", Some("OtherBot"), false, true),
            ("ExampleBot=nosnippet", Some("examplebot"), true, true),
            ("*;nofollow, ExampleBot;max-snippet=0", Some("ExampleBot"), true, true),
            ("noindex; ExampleBot=nosnippet", Some("OtherBot"), true, false),
            ("noindex; ExampleBot=", Some("ExampleBot"), true, false),
        ] {
            let mut tag = RobotsTag::default();
            tag.add_line(line.as_bytes());
            assert_eq!(
                tag.on_documents(token),
                OnDocuments { is_forbidden, depends_on_agent },
                "{line} {token:?}"
            );
        }
    }
}
