//! Parts that a page keeps in `noscript`, and otherwise loads later by a script: images and text.

use memchr::memmem;

use super::tree::Flags;
use super::{Attribute, Node, NodeId, Tag, Tree};

/// Text below this says that the page needs scripts, or counts its readers.
const ENOUGH: usize = 250;
/// Text that speaks of scripts and is shorter than this says that the page needs them.
const EXCUSE: usize = 1_000;
/// A run of text that is at least as long is not in two places by chance.
const LONG: usize = 40;
/// The parts that are looked for in the rest of the page.
const MOST: usize = 64;

/// Shows the parts that the page has nowhere else: the element is then one as any other.
pub(super) fn show(tree: &mut Tree<'_>) {
    let parts: Vec<NodeId> = tree.nodes().filter(|(_, node)| is_closed(*node)).map(|(id, _)| id).collect();
    let mut looked_for = 0;
    for id in parts {
        let stand_in = stand_in(tree, id);
        let tag = match stand_in {
            Some(_) => Tag::Span,
            None if is_image(tree, id) => Tag::Span,
            None if looked_for < MOST && is_text(tree, id, &mut looked_for) => Tag::Div,
            None => continue,
        };
        if let Some(node) = tree.nodes.get_mut(id.index()) {
            node.tag = tag;
        }
        if let Some(node) = stand_in.and_then(|image| tree.nodes.get_mut(image.index())) {
            node.flags.add(Flags::HIDDEN);
        }
    }
}

fn is_closed(node: Node) -> bool {
    node.tag == Tag::Noscript && !node.flags.has(Flags::IN_HEAD)
}

/// The image before a part that stands in for the one in it.
fn stand_in(tree: &Tree<'_>, id: NodeId) -> Option<NodeId> {
    let is_blank = |node: Node| node.tag == Tag::Text && tree.text(node).trim().is_empty();
    let before = (id.0.saturating_sub(2)..id.0).rev().map(NodeId).find(|id| !is_blank(tree.node(*id)))?;
    let image = Some(tree.node(before)).filter(|node| node.tag == Tag::Img)?;
    let mut inside = tree.inside(id).map(|(_, node)| node);
    let own = inside.find(|node| node.tag == Tag::Img)?;
    let has_text = tree.inside(id).any(|(_, node)| node.tag == Tag::Text && !is_blank(node));
    let alt = |node| tree.attribute(node, Attribute::Alt).unwrap_or_default().trim();
    // An image with its later address needs no other.
    let waits = tree.attribute(image, Attribute::DataSrc).is_none()
        && tree.address(own, Attribute::Src).is_some_and(|address| !is_drawn(address));
    let is_empty = tree.address(image, Attribute::Src).is_none_or(is_drawn);
    (waits && !has_text && (is_empty || !alt(own).is_empty() && alt(own) == alt(image))).then_some(before)
}

/// Returns true if a part is an image that is described, and no image stands before it.
fn is_image(tree: &Tree<'_>, id: NodeId) -> bool {
    let is_blank = |node: Node| node.tag == Tag::Text && tree.text(node).trim().is_empty();
    let before = (id.0.saturating_sub(2)..id.0).rev().map(|id| tree.node(NodeId(id)));
    let mut inside = tree.inside(id).skip(1).map(|(_, node)| node).filter(|node| !is_blank(*node));
    let only = inside.next().filter(|node| node.tag == Tag::Img && inside.next().is_none());
    let is_described = |node| tree.attribute(node, Attribute::Alt).is_some_and(|alt| !alt.trim().is_empty());
    only.is_some_and(is_described) && !before.into_iter().any(|node| node.tag == Tag::Img)
}

/// Returns true if an address is an image by itself, as those that stand in for others are.
fn is_drawn(address: &str) -> bool {
    address.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// Returns true if a part has text that the page has nowhere else.
fn is_text(tree: &Tree<'_>, id: NodeId, looked_for: &mut usize) -> bool {
    let texts = || tree.inside(id).map(|(_, node)| tree.text(node));
    let length: usize = texts().map(|text| text.trim().len()).sum();
    let speaks_of_scripts = || texts().any(|text| text.to_ascii_lowercase().contains("javascript"));
    if length < ENOUGH || length < EXCUSE && speaks_of_scripts() {
        return false;
    }
    let Some(longest) = texts().map(str::trim).max_by_key(|text| text.len()) else { return false };
    *looked_for += 1;
    longest.len() < LONG || memmem::find_iter(tree.text.as_bytes(), longest).nth(1).is_none()
}
