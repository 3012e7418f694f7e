//! Elements that say by a role what they are: parts of tables and lists, and headings.

use super::tree::Node;
use super::{Attribute, Tag, Tree};

/// The roles, and the elements that have them of their own.
const ROLES: [(&str, Tag); 8] = [
    ("cell", Tag::Td),
    ("columnheader", Tag::Th),
    ("heading", Tag::H2),
    ("list", Tag::Ul),
    ("listitem", Tag::Li),
    ("row", Tag::Tr),
    ("rowheader", Tag::Th),
    ("table", Tag::Table),
];

/// Returns true if a role is one of these.
pub(super) fn is_of_structure(role: &[u8]) -> bool {
    tag(role).is_some()
}

fn tag(role: &[u8]) -> Option<Tag> {
    let role = role.trim_ascii();
    ROLES.iter().find(|(name, _)| role.eq_ignore_ascii_case(name.as_bytes())).map(|(_, tag)| *tag)
}

/// Makes of elements without a meaning of their own what their roles say.
pub(super) fn apply(tree: &mut Tree<'_>) {
    for at in 0..tree.nodes.len() {
        let Some(node) = tree.nodes.get(at).copied() else { return };
        let tag = tag_of(tree, node);
        if let (Some(node), Some(tag)) = (tree.nodes.get_mut(at), tag) {
            node.tag = tag;
        }
    }
}

fn tag_of(tree: &Tree<'_>, node: Node) -> Option<Tag> {
    if !matches!(node.tag, Tag::Div | Tag::Span | Tag::Section | Tag::P | Tag::Other) {
        return None;
    }
    let tag = tree.attribute(node, Attribute::Role).and_then(|role| tag(role.as_bytes()))?;
    let level = || tree.attribute(node, Attribute::AriaLevel).unwrap_or_default().trim();
    Some(match (tag, level()) {
        (Tag::H2, "1") => Tag::H1,
        (Tag::H2, "3") => Tag::H3,
        (Tag::H2, "4") => Tag::H4,
        (Tag::H2, "5") => Tag::H5,
        (Tag::H2, "6") => Tag::H6,
        (tag, _) => tag,
    })
}
