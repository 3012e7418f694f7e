//! The meaning of the rules of a response for a document of it.

use super::{RobotsTag, Rule};

/// The meaning of rules for a document: a copy of the page's text, and longer than any snippet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OnDocuments {
    /// The sort of rule that forbids it to the client.
    pub(crate) forbidden: Option<Forbidden>,
    /// True if they forbid it to some clients only.
    pub(crate) depends_on_agent: bool,
}

/// The sort of a rule that forbids a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forbidden {
    /// The page must not be found.
    Index,
    /// No text of the page may be shown.
    Snippet,
}

impl RobotsTag<'_> {
    /// The meaning of the rules for a document. `token` is the one by which the client is known (TAG-7).
    pub(crate) fn on_documents(&self, token: Option<&str>) -> OnDocuments {
        let forbidden_to_all = self.global.iter().find_map(forbidden);
        let mut forbidding = self
            .tokens
            .iter()
            .filter_map(|token| Some((token, token.rules.iter().find_map(forbidden)?)))
            .peekable();
        let depends_on_agent = forbidden_to_all.is_none() && forbidding.peek().is_some();
        let is_own = |name: &[u8]| token.is_some_and(|token| name.eq_ignore_ascii_case(token.as_bytes()));
        let to_own = || forbidding.find(|(token, _)| is_own(&token.name)).map(|(_, forbidden)| forbidden);
        OnDocuments { forbidden: forbidden_to_all.or_else(to_own), depends_on_agent }
    }
}

fn forbidden(rule: &Rule<'_>) -> Option<Forbidden> {
    let is = |name: &str| rule.name.eq_ignore_ascii_case(name.as_bytes());
    match rule.value.as_deref() {
        None if is("noindex") || is("none") => Some(Forbidden::Index),
        None if is("nosnippet") => Some(Forbidden::Snippet),
        Some(value) if is("max-snippet") && value.trim_ascii() == b"0" => Some(Forbidden::Snippet),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_7_rules_for_all_and_for_the_client_forbid_documents() {
        const INDEX: Option<Forbidden> = Some(Forbidden::Index);
        const SNIPPET: Option<Forbidden> = Some(Forbidden::Snippet);
        for (line, token, forbidden, depends_on_agent) in [
            ("", None, None, false),
            ("nofollow, noarchive", None, None, false),
            ("NoIndex", None, INDEX, false),
            ("follow, nosnippet", Some("ExampleBot"), SNIPPET, false),
            ("none", None, INDEX, false),
            ("max-snippet:0", None, SNIPPET, false),
            ("max-snippet: 20", None, None, false),
            ("ExampleBot=nosnippet", None, None, true),
            ("ExampleBot=nosnippet", Some("OtherBot"), None, true),
            ("ExampleBot=nosnippet", Some("examplebot"), SNIPPET, true),
            ("*;nofollow, ExampleBot;max-snippet=0", Some("ExampleBot"), SNIPPET, true),
            ("noindex; ExampleBot=nosnippet", Some("OtherBot"), INDEX, false),
            ("noindex; ExampleBot=", Some("ExampleBot"), INDEX, false),
        ] {
            let mut tag = RobotsTag::default();
            tag.add_line(line.as_bytes());
            assert_eq!(
                tag.on_documents(token),
                OnDocuments { forbidden, depends_on_agent },
                "{line} {token:?}"
            );
        }
    }
}
