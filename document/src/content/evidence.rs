//! The contents of a part, for words that also name parts of the content: `related-work`, `share-price`, `comment-policy`.

use std::collections::HashMap;

use super::measure::Measures;
use super::rules::{Hits, Suspect};
use crate::html::{Attribute, Node, NodeId, Tag, Tree};

/// The elements in a part, and the suspects in it, that are looked at.
const MOST_LOOKED_AT: usize = 256;
/// A part with a button and less text outside of links than this is for clicking.
const LEAST_TEXT: u32 = 100;
/// One part in so many of the text is in links if a part leads elsewhere.
const SHARE_OF_LINKS: u32 = 4;

/// The rules that need evidence, as sets of bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubtful {
    /// Words for parts that lead elsewhere.
    pub(super) leading: Hits,
    /// Words for what readers say.
    pub(super) talk: Hits,
}

/// Takes back the rules that what a part holds does not bear out.
pub(super) fn weigh(tree: &Tree, measures: &Measures, doubtful: Doubtful, suspects: &mut Vec<Suspect>) {
    let mut alike: HashMap<(NodeId, &str), u32> = HashMap::new();
    for suspect in suspects.iter().filter(|suspect| suspect.hits & doubtful.talk != 0) {
        *alike.entry(name(tree, suspect.id)).or_default() += 1;
    }
    for at in 0..suspects.len() {
        let Some(suspect) = suspects.get(at).copied() else { continue };
        let mut hits = suspect.hits;
        if hits & doubtful.leading != 0 && !leads_elsewhere(tree, measures, suspect.id) {
            hits &= !doubtful.leading;
        }
        if hits & doubtful.talk != 0 {
            let end = tree.node(suspect.id).end;
            let inside = suspects.iter().skip(at + 1).take_while(|other| other.id < end).take(MOST_LOOKED_AT);
            let mut comments =
                inside.filter(|other| other.hits & doubtful.talk != 0 && measures.get(other.id).prose > 0);
            let has_alike = alike.get(&name(tree, suspect.id)).is_some_and(|count| *count > 1);
            if !has_alike && comments.next().is_none() && !has(tree, suspect.id, Tag::Form) {
                hits &= !doubtful.talk;
            }
        }
        if let Some(suspect) = suspects.get_mut(at) {
            suspect.hits = hits;
        }
    }
    suspects.retain(|suspect| suspect.hits != 0);
}

/// Returns true if a part is there for its links or its form.
fn leads_elsewhere(tree: &Tree, measures: &Measures, id: NodeId) -> bool {
    let measure = measures.get(id);
    let is_short = measure.plain() < LEAST_TEXT;
    let mut inside = tree.inside(id).take(MOST_LOOKED_AT);
    measure.links >= measure.text / SHARE_OF_LINKS && measure.links > 0
        || inside.any(|(_, node)| node.tag == Tag::Form || is_short && node.tag == Tag::Button)
}

/// Returns true if an element has a heading in it, among its first nodes, or is one.
pub(super) fn has_heading(tree: &Tree, id: NodeId) -> bool {
    const FIRST_NODES: usize = 64;
    tree.inside(id).take(FIRST_NODES).any(|(_, node)| node.tag.heading_level().is_some())
}

/// Returns true if an element has one of a sort in it, among those that are looked at.
pub(super) fn has(tree: &Tree, id: NodeId, tag: Tag) -> bool {
    has_any(tree, id, &[tag])
}

/// Returns true if an element has one of several sorts in it, among those that are looked at.
pub(super) fn has_any(tree: &Tree, id: NodeId, tags: &[Tag]) -> bool {
    let counts =
        |(id, node): (NodeId, Node)| tags.contains(&node.tag) && !tree.is_button_behind_words(id, node);
    tree.inside(id).take(MOST_LOOKED_AT).any(counts)
}

/// Returns true if an element is a link to another page, not to a place on this one or to a script.
pub(super) fn is_link(tree: &Tree, node: Node) -> bool {
    let leads_elsewhere =
        |href: &str| !href.is_empty() && !href.starts_with('#') && !href.starts_with("javascript:");
    node.tag == Tag::A
        && tree.attribute(node, Attribute::Href).is_some_and(|href| leads_elsewhere(href.trim_start()))
}

/// Returns true if an element has a link, a form or a button in it.
pub(super) fn has_controls(tree: &Tree, id: NodeId) -> bool {
    has_any(tree, id, &[Tag::A, Tag::Form, Tag::Button])
}

/// Returns true if an element stands in one of several things beside each other.
pub(super) fn is_of_several(tree: &Tree, id: NodeId) -> bool {
    const FEWEST: usize = 3;
    const MOST_BESIDE: usize = 64;
    let thing = tree.node(tree.node(id).parent);
    let sort = sort(tree, thing);
    if sort.is_none() && thing.tag != Tag::Li {
        return false;
    }
    let beside = tree.children(thing.parent).take(MOST_BESIDE).map(|(_, node)| node);
    let is_alike = |node: &Node| node.tag == thing.tag && self::sort(tree, *node) == sort;
    beside.filter(is_alike).take(FEWEST).count() == FEWEST
}

/// The first class of an element; the others say what is special about one of several.
pub(super) fn sort<'t>(tree: &'t Tree, node: Node) -> Option<&'t [u8]> {
    const LONGEST: usize = 64;
    let class = tree.attribute(node, Attribute::Class)?.as_bytes();
    let class = class.get(..LONGEST).unwrap_or(class);
    class.split(u8::is_ascii_whitespace).find(|name| !name.is_empty())
}

/// The name of an element among its siblings.
fn name<'t>(tree: &'t Tree, id: NodeId) -> (NodeId, &'t str) {
    let node = tree.node(id);
    (node.parent, tree.attribute(node, Attribute::Class).unwrap_or_default())
}
