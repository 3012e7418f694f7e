//! The forms of a page, and which one a client prefers.

use crate::http::accept::Preference;

/// A form of a page that agents read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentForm {
    /// The page's markdown.
    Markdown,
    /// The AIDocument 2.0 of the page.
    AiDocument,
}

impl DocumentForm {
    /// Every form. Of forms that a client wants alike, it gets the first.
    pub const ALL: [Self; 2] = [Self::Markdown, Self::AiDocument];

    /// The name in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::AiDocument => "aidocument",
        }
    }

    /// The media type, without parameters.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::AiDocument => "application/vnd.aiwebindex+json",
        }
    }

    /// The value of `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::AiDocument => "application/vnd.aiwebindex+json",
        }
    }

    /// The form that a client prefers to HTML, by the value of its `Accept`.
    pub(crate) fn preferred(accept: &[u8]) -> Option<Self> {
        if is_of_browser(accept) {
            return None;
        }
        let of = |form: Self| Preference::of(form.media_type(), Some(accept));
        let [first, second] = Self::ALL;
        let form = if of(second) > of(first) { second } else { first };
        let preference = of(form);
        (preference.weight > 0 && preference > of_html(accept)).then_some(form)
    }
}

/// The weight that a client gives to the page as it is.
fn of_html(accept: &[u8]) -> Preference {
    let of = |media_type| Preference::of(media_type, Some(accept));
    of(HTML).max(of(XHTML))
}

/// Returns true if a client takes a page as it is.
pub(super) fn takes_html(accept: &[u8]) -> bool {
    of_html(accept).weight > 0
}

/// Returns true if a client names the media type of pages, as browsers do when they ask for one.
pub(super) fn names_html(accept: &[u8]) -> bool {
    accept.windows(HTML.len()).any(|window| window.eq_ignore_ascii_case(HTML.as_bytes()))
}

const HTML: &str = "text/html";
const XHTML: &str = "application/xhtml+xml";

/// Returns true if HTML comes first with the full weight, which no other type can have more of. Nearly all requests are
/// such.
fn is_of_browser(accept: &[u8]) -> bool {
    accept.strip_prefix(HTML.as_bytes()).is_some_and(|rest| matches!(rest, [] | [b',', ..]))
        || accept == b"*/*"
}

/// Returns true if a `Content-Type` is that of a page.
pub(super) fn is_html(content_type: &[u8]) -> bool {
    let media_type = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    [HTML, XHTML].iter().any(|known| media_type.eq_ignore_ascii_case(known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use DocumentForm::{AiDocument, Markdown};

    #[test]
    fn the_client_gets_the_form_that_it_prefers() {
        const DOCUMENT: &str = "application/vnd.aiwebindex+json";
        for (accept, expected) in [
            ("", None),
            ("*/*", None),
            ("text/*", None),
            ("text/html", None),
            ("TEXT/HTML, text/markdown", None),
            ("application/*", None),
            ("image/*, application/json", None),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", None),
            ("text/markdown", Some(Markdown)),
            ("Text/Markdown;charset=utf-8", Some(Markdown)),
            (DOCUMENT, Some(AiDocument)),
            // Of equal weights, the type that is listed first.
            ("text/markdown, text/html", Some(Markdown)),
            ("text/html, text/markdown", None),
            ("text/html;q=0.9, text/markdown;q=0.9", None),
            ("text/markdown, application/vnd.aiwebindex+json", Some(Markdown)),
            ("application/vnd.aiwebindex+json, text/markdown", Some(AiDocument)),
            ("application/xhtml+xml, text/markdown", None),
            // A type that is named beats a wildcard.
            ("*/*, text/markdown", Some(Markdown)),
            ("text/*, text/markdown", Some(Markdown)),
            ("*/*, text/html, text/markdown", None),
            // Weights come first.
            ("text/html;q=0.8, text/markdown", Some(Markdown)),
            ("text/markdown;q=0.8, text/html", None),
            ("text/markdown;q=0.5, application/vnd.aiwebindex+json;q=0.6, text/html;q=0.1", Some(AiDocument)),
            ("text/markdown;q=0.1, */*;q=0.2", None),
            ("text/markdown;q=0, */*", None),
            ("text/markdown;q=0", None),
            // HTML is refused, and something else is taken.
            ("text/html;q=0, text/*", Some(Markdown)),
        ] {
            assert_eq!(DocumentForm::preferred(accept.as_bytes()), expected, "{accept}");
        }
    }

    #[test]
    fn pages_are_html() {
        for page in ["text/html", "Text/HTML; charset=utf-8", "application/xhtml+xml", "text/html ;a"] {
            assert!(is_html(page.as_bytes()), "{page}");
        }
        for other in ["", "text/plain", "text/html5", "application/xml", "text/markdown"] {
            assert!(!is_html(other.as_bytes()), "{other}");
        }
    }
}
