//! Sets of tabs without attributes that say which part belongs to which label: the first label is that of the first part.

use super::tree::{Flags, Node};
use super::{Attribute, NodeId, Tag, Tree};

/// Classes that name the labels of a set of tabs.
pub(super) const NAMES: [&str; 7] =
    ["et_pb_tabs_controls", "nav-tabs", "tabbed-labels", "tablist", "tabs", "w-tab-menu", "wds-tabs"];
/// The most tabs of a set.
const MOST: usize = 32;

/// A set of tabs: the element with the labels, and each part with its label.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) labels: NodeId,
    pub(super) parts: Vec<(NodeId, NodeId)>,
}

/// The sets of a page, in document order.
pub(super) fn sets(tree: &Tree<'_>) -> Vec<Set> {
    let named = tree.nodes().filter(|(_, node)| node.flags.has(Flags::NAMED) && names_labels(tree, *node));
    named.filter_map(|(id, _)| set(tree, id)).collect()
}

fn names_labels(tree: &Tree<'_>, node: Node) -> bool {
    let get = |attribute| tree.attribute(node, attribute).unwrap_or_default();
    get(Attribute::Role).trim().eq_ignore_ascii_case("tablist")
        || get(Attribute::Class)
            .split_ascii_whitespace()
            .any(|class| NAMES.iter().any(|name| class.eq_ignore_ascii_case(name)))
}

/// The set whose labels an element has: beside it stand as many parts, or one element that has as many.
fn set(tree: &Tree<'_>, id: NodeId) -> Option<Set> {
    let elements = |id| tree.children(id).filter(|(_, node)| node.tag != Tag::Text).map(|(id, _)| id);
    let labels: Vec<NodeId> = elements(id).take(MOST + 1).collect();
    if !(2..=MOST).contains(&labels.len()) || !labels.iter().all(|label| is_label(tree, *label)) {
        return None;
    }
    let mut beside = tree.after(id).filter(|(_, node)| node.tag != Tag::Text).map(|(id, _)| id);
    let first = beside.next()?;
    let rest: Vec<NodeId> = beside.take(labels.len()).collect();
    let inside: Vec<NodeId> = elements(first).take(labels.len() + 1).collect();
    let is_panel = |id: NodeId| tree.node(id).flags.has(Flags::PANEL);
    let parts: Vec<NodeId> = if inside.len() == labels.len() {
        inside
    } else if is_panel(first) && rest.len() + 1 == labels.len() && rest.iter().all(|id| is_panel(*id)) {
        std::iter::once(first).chain(rest).collect()
    } else {
        return None;
    };
    let tag = tree.node(*parts.first()?).tag;
    let may_be =
        matches!(tag, Tag::Div | Tag::Section | Tag::Article | Tag::Pre | Tag::Table | Tag::Ol | Tag::Ul);
    let are_alike = parts.iter().all(|part| tree.node(*part).tag == tag);
    (may_be && are_alike).then(|| Set { labels: id, parts: parts.into_iter().zip(labels).collect() })
}

/// Returns true if an element is a short text that leads nowhere else.
fn is_label(tree: &Tree<'_>, id: NodeId) -> bool {
    const MOST_NODES: usize = 16;
    const LONGEST: u32 = 60;
    let node = tree.node(id);
    let is_small = node.end.index() - id.index() <= MOST_NODES;
    let text: u32 = tree.inside(id).take(MOST_NODES).map(|(_, node)| node.text_length()).sum();
    let leads_on = |node: Node| {
        tree.attribute(node, Attribute::Href).is_some_and(|href| !href.trim_start().starts_with('#'))
    };
    is_small
        && (1..=LONGEST).contains(&text)
        && !tree.inside(id).take(MOST_NODES).any(|(_, node)| leads_on(node))
}
