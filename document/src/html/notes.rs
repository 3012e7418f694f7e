//! Notes, warnings and the like, as pages name them.

use super::tree::{Flags, Node};
use super::{Attribute, NodeId, Tag, Tree};

/// The kinds of notes, by the words in classes and roles that name them.
const KINDS: [(&str, &str); 23] = [
    ("alert", "Alert"),
    ("attention", "Attention"),
    ("bug", "Bug"),
    ("caution", "Caution"),
    ("danger", "Danger"),
    ("deprecated", "Deprecated"),
    ("error", "Error"),
    ("example", "Example"),
    ("failure", "Failure"),
    ("hint", "Hint"),
    ("important", "Important"),
    ("info", "Info"),
    ("information", "Info"),
    ("note", "Note"),
    ("notice", "Notice"),
    ("question", "Question"),
    ("seealso", "See also"),
    ("success", "Success"),
    ("summary", "Summary"),
    ("tip", "Tip"),
    ("todo", "To do"),
    ("warn", "Warning"),
    ("warning", "Warning"),
];

/// Words that name a note without its kind.
const PLAIN: [&str; 5] = ["admonition", "callout", "footnote", "endnote", "quote"];

/// The names of parts of a note: `admonition-content`, `callout__title`.
const PARTS: [&str; 10] =
    ["title", "heading", "content", "body", "icon", "inner", "link", "label", "text", "list"];

/// A note beside the text that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// True if the page names it as a note, by more than the element.
    pub(crate) is_named: bool,
    /// Its kind, if the page says so.
    pub(crate) kind: Option<&'static str>,
}

/// Returns true if a class may name a note.
pub(super) fn may_be_note(class: &[u8]) -> bool {
    let mut part = 0_u32;
    class.iter().any(|byte| {
        part = part << 8 | u32::from(*byte);
        LETTERS.get(place(part)) == Some(&part)
    })
}

/// Four letters of each name, each in its place, so that one of them is compared.
const LETTERS: [u32; PLACES] = {
    const NAMES: [&[u8; 4]; 8] = [b"admo", b"aler", b"call", b"cust", b"hint", b"quot", b"teca", b"uenc"];
    let mut letters = [0; PLACES];
    let mut at = 0;
    while at < NAMES.len() {
        #[expect(clippy::indexing_slicing, reason = "evaluated when it is compiled")]
        {
            let part = u32::from_be_bytes(*NAMES[at]);
            assert!(letters[place(part)] == 0, "each has a place of its own");
            letters[place(part)] = part;
        }
        at += 1;
    }
    letters
};
const PLACES: usize = 16;
const MULTIPLIER: u32 = 0x1e2f_eb89;

/// The place of four letters: the first bits of a product that is another for each name.
const fn place(part: u32) -> usize {
    (part.wrapping_mul(MULTIPLIER) >> 28) as usize
}

/// Returns true if a role names a note.
pub(super) fn is_role_of_note(role: &[u8]) -> bool {
    let role = role.trim_ascii();
    let starts =
        |name: &str| role.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
    role.eq_ignore_ascii_case(b"alert") || role.eq_ignore_ascii_case(b"note") || starts("doc-")
}

impl Tree<'_> {
    /// The note that a block is, if it is one.
    pub(crate) fn note(&self, node: Node) -> Option<Note> {
        let is_block = matches!(
            node.tag,
            Tag::Div | Tag::Aside | Tag::Section | Tag::Details | Tag::P | Tag::Blockquote
        );
        let is_aside = node.tag == Tag::Aside;
        if !is_block || !is_aside && !node.flags.has(Flags::NOTE) {
            return None;
        }
        let class = self.attribute(node, Attribute::Class).unwrap_or_default();
        let role = self.attribute(node, Attribute::Role).unwrap_or_default().trim();
        let sort = self.attribute(node, Attribute::EpubType).unwrap_or_default();
        let names = || class.split_ascii_whitespace().chain(sort.split_ascii_whitespace());
        let is_container = |name: &str| {
            let has = |word: &str| words(name).any(|other| other.eq_ignore_ascii_case(word));
            let is_one = ["admonition", "callout", "notecard", "confluence-information-macro"]
                .iter()
                .any(|sort| name.contains(sort));
            let is_one = is_one || has("alert") || has("hint") || name == "custom-block";
            let has_kind = || kind_in(name).is_some();
            let is_named_aside = is_aside && (has_kind() || PLAIN.into_iter().any(has));
            // `blockquote-tag-note`, of mdBook.
            let is_named_quote = node.tag == Tag::Blockquote && has_kind();
            (is_one || is_named_aside || is_named_quote) && !is_of_part(name)
        };
        let role_kind = match role.to_ascii_lowercase().as_str() {
            "alert" => Some(Some("Alert")),
            "note" => Some(Some("Note")),
            "doc-tip" => Some(Some("Tip")),
            "doc-notice" => Some(Some("Notice")),
            "doc-footnote" | "doc-endnote" | "doc-example" | "doc-pullquote" | "doc-qna" => Some(None),
            _ => None,
        };
        let is_named = role_kind.is_some() || names().any(is_container);
        if !is_named && !is_aside {
            return None;
        }
        // `alert alert-danger` is a danger.
        let by_name = names().filter_map(kind_in).min_by_key(|kind| match *kind {
            "Alert" => 2,
            "Info" => 1,
            _ => 0,
        });
        let kind = by_name.filter(|_| is_named).or(role_kind.flatten());
        Some(Note { is_named, kind })
    }

    /// The kind of a note, unless it has no text, or its text begins with that word, or with another kind and a colon in
    /// one that is an alert of any kind: `alert-info` with "Note: …".
    pub(crate) fn kind_to_name(&self, id: NodeId, note: Note) -> Option<&'static str> {
        const FIRST_NODES: usize = 64;
        const LONGEST_KIND: usize = 12;
        let kind = note.kind?;
        let visible = self.inside(id).take(FIRST_NODES);
        let mut skip_to = id;
        let mut start = String::new();
        for (id, node) in visible {
            if id >= skip_to && node.flags.has(Flags::HIDDEN) {
                skip_to = node.end;
            }
            if id >= skip_to && start.len() < LONGEST_KIND {
                let is_before = |c: char| !c.is_alphanumeric() && (c != ':' || start.is_empty());
                let text = self.text(node).trim_start_matches(is_before);
                start.extend(text.chars().take(LONGEST_KIND));
            }
        }
        let begins_with =
            |word: &str| start.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        let has_colon_behind =
            |word: &str| start.get(word.len()..).is_some_and(|rest| rest.trim_start().starts_with(':'));
        let is_any = matches!(kind, "Alert" | "Info");
        let is_said = begins_with(kind)
            || is_any && KINDS.iter().any(|(_, other)| begins_with(other) && has_colon_behind(other));
        (!is_said && !start.is_empty()).then_some(kind)
    }

    /// Returns true if a block is the title of a note.
    pub(crate) fn is_title_of_note(&self, node: Node) -> bool {
        let class = || self.attribute(node, Attribute::Class).unwrap_or_default();
        let is_one = |name: &str| {
            let is_title = name.contains("title") || name.contains("heading");
            is_title
                && ["admonition", "callout", "alert", "blockquote"].iter().any(|sort| name.contains(sort))
        };
        node.flags.has(Flags::NOTE) && class().split_ascii_whitespace().any(is_one)
    }
}

/// The words of a name: `admonition-title_2`, `admonitionTitle`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let parts = name.split(['-', '_']).filter(|part| !part.is_empty());
    parts.flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let end = rest.char_indices().skip(1).find(|(_, c)| c.is_uppercase() && !first.is_uppercase());
            let (word, after) = rest.split_at_checked(end.map_or(rest.len(), |(at, _)| at))?;
            rest = after;
            Some(word)
        })
    })
}

fn kind_in(name: &str) -> Option<&'static str> {
    let kind =
        |word: &str| KINDS.iter().find(|(named, _)| word.eq_ignore_ascii_case(named)).map(|(_, kind)| *kind);
    // The last word is the most precise one: `alert-danger`.
    words(name).filter_map(kind).last()
}

fn is_of_part(name: &str) -> bool {
    words(name).any(|word| PARTS.iter().any(|part| word.eq_ignore_ascii_case(part)))
}
