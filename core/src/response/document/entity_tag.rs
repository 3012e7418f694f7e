//! Entity tags of documents.
//!
//! A document has the tag of the page that it was made of, with a mark: `W/"abc;md=s;0.1.0"` is that of the markdown of `"abc"`.
//! The mark has the form, whether the page's tag is strong or weak, and the version, because another version may make another
//! document of the page. So the condition of a request leads back to the page's tag. If a page has no tag, that of the
//! document is a hash of it (`g`). An AIDocument states the site's preferences about usage, too: `;aidoc=s-5f0c3d1a8e2b4c67;`
//! has a hash of them.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use twox_hash::XxHash3_64;

use super::form::DocumentForm;
use crate::http::representation::EntityTags;
use crate::response::usage::DocumentUsage;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The documents of which each page has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edition {
    pub(super) form: DocumentForm,
    /// A hash of what the site states about usage in the document.
    usage: Option<u64>,
}

impl Edition {
    pub(super) fn new(form: DocumentForm, usage: Option<&DocumentUsage>) -> Self {
        let text =
            |usage: &DocumentUsage| [usage.preferences.as_slice(), &usage.licenses].concat().join("\n");
        Self { form, usage: usage.map(|usage| XxHash3_64::oneshot(text(usage).as_bytes())) }
    }

    /// The end of the tags of its documents.
    fn mark(self, origin: Origin) -> Vec<u8> {
        let name = match self.form {
            DocumentForm::Markdown => "md",
            DocumentForm::AiDocument => "aidoc",
        };
        let usage = self.usage.map(|hash| format!("-{hash:016x}")).unwrap_or_default();
        format!(";{name}={}{usage};{VERSION}\"", origin.letter()).into_bytes()
    }
}

/// The parts of the tag of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The strong tag of the page.
    Strong,
    /// The weak tag of the page.
    Weak,
    /// The document.
    Generated,
}

impl Origin {
    const fn letter(self) -> char {
        match self {
            Self::Strong => 's',
            Self::Weak => 'w',
            Self::Generated => 'g',
        }
    }
}

/// The tag of the document that is made of the page with this tag. `None` if that is not a valid tag.
pub(super) fn of_document(edition: Edition, page: &[u8]) -> Option<Box<[u8]>> {
    let page = page.trim_ascii();
    let (is_weak, tag) = EntityTags::new(page)
        .next()
        .filter(|(is_weak, tag)| tag.len() + 2 * usize::from(*is_weak) == page.len())?;
    let origin = if is_weak { Origin::Weak } else { Origin::Strong };
    Some([b"W/", tag.strip_suffix(b"\"")?, &edition.mark(origin)].concat().into())
}

/// The tag of a document whose page has none.
pub(super) fn of_content(edition: Edition, content: &[u8]) -> Box<[u8]> {
    let hash = format!("W/\"{:016x}", XxHash3_64::oneshot(content));
    [hash.as_bytes(), &edition.mark(Origin::Generated)].concat().into()
}

/// The meaning of a request's `If-None-Match` for documents in an edition.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Condition {
    /// The value for the origin: the tags of the pages.
    pub(super) of_pages: Option<Vec<u8>>,
    /// Tags that were generated, which the origin does not know.
    pub(super) generated: Vec<Box<[u8]>>,
}

impl Condition {
    /// Tags of anything else are left out: the client has it in another edition, or made by another version.
    pub(super) fn of(edition: Edition, if_none_match: &[u8]) -> Self {
        if if_none_match.trim_ascii() == b"*" {
            return Self { of_pages: Some(b"*".to_vec()), generated: Vec::new() };
        }
        let marks =
            [Origin::Strong, Origin::Weak, Origin::Generated].map(|origin| (origin, edition.mark(origin)));
        let mut condition = Self::default();
        for (_, tag) in EntityTags::new(if_none_match) {
            let known = marks.iter().find_map(|(origin, mark)| Some((*origin, tag.strip_suffix(&**mark)?)));
            let Some((origin, start)) = known else { continue };
            if origin == Origin::Generated {
                condition.generated.push([b"W/", tag].concat().into());
                continue;
            }
            let list = condition.of_pages.get_or_insert_default();
            if !list.is_empty() {
                list.extend_from_slice(b", ");
            }
            list.extend_from_slice(if origin == Origin::Weak { b"W/" } else { b"" });
            list.extend_from_slice(start);
            list.push(b'"');
        }
        condition
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    const MARKDOWN: Edition = Edition { form: DocumentForm::Markdown, usage: None };
    const AI_DOCUMENT: Edition = Edition { form: DocumentForm::AiDocument, usage: None };

    fn stating(preferences: &str) -> Edition {
        let usage = DocumentUsage { preferences: Some(preferences.into()), licenses: Vec::new() };
        Edition::new(DocumentForm::AiDocument, Some(&usage))
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn the_tag_of_a_document_leads_back_to_that_of_the_page() {
        let of = |edition, page: &str| of_document(edition, page.as_bytes()).map(|tag| text(&tag));
        assert_eq!(of(MARKDOWN, r#""abc""#), Some(format!(r#"W/"abc;md=s;{VERSION}""#)));
        assert_eq!(of(AI_DOCUMENT, r#" W/"a,b" "#), Some(format!(r#"W/"a,b;aidoc=w;{VERSION}""#)));
        for none in ["", "abc", "\"abc", "\"a\", \"b\"", "w/\"abc\"", "W/abc"] {
            assert_eq!(of(MARKDOWN, none), None, "{none}");
        }
        for page in [r#""abc""#, r#"W/"a,b""#, r#""""#, r#"W/"""#, r#""a;md=s;0.0.1""#] {
            for edition in [MARKDOWN, AI_DOCUMENT, stating("train-ai=n")] {
                let tag = of_document(edition, page.as_bytes()).unwrap();
                let back = Condition::of(edition, &tag);
                assert_eq!(
                    (back.of_pages.as_deref().map(text).as_deref(), &*back.generated),
                    (Some(page), &[][..])
                );
            }
        }
    }

    #[test]
    fn a_condition_keeps_the_tags_of_its_form() {
        let of = |list: String| Condition::of(MARKDOWN, list.as_bytes());
        let tag = |page: &str| text(&of_document(MARKDOWN, page.as_bytes()).unwrap());
        let other = text(&of_document(AI_DOCUMENT, b"\"abc\"").unwrap());
        assert_eq!(of(r#""abc", W/"abc""#.into()), Condition::default());
        assert_eq!(of(other.clone()), Condition::default());
        assert_eq!(of("W/\"abc;md=s;0.0.0\"".into()), Condition::default());
        assert_eq!(of(" * ".into()).of_pages.as_deref(), Some(&b"*"[..]));
        let list = format!(r#""abc", {}, {other}, {}"#, tag(r#""a""#), tag(r#"W/"b""#));
        assert_eq!(of(list).of_pages.map(|list| text(&list)).as_deref(), Some(r#""a", W/"b""#));
        let generated = of_content(MARKDOWN, b"text");
        let condition = of(text(&generated));
        assert_eq!((condition.of_pages, condition.generated), (None, [generated].to_vec()));
    }

    #[test]
    fn a_tag_with_other_preferences_is_left_out() {
        for other in [AI_DOCUMENT, stating("train-ai=n")] {
            let generated = of_content(other, b"text");
            for tag in [of_document(other, b"\"abc\"").unwrap(), generated] {
                assert_eq!(
                    Condition::of(stating("train-ai=y"), &tag),
                    Condition::default(),
                    "{}",
                    text(&tag)
                );
            }
        }
    }
}
