//! Buttons that are headings of the text that they open.

use super::evidence;
use crate::html::openable;
use crate::html::tree::Flags;
use crate::html::{Attribute, Node, NodeId, Tag, Tree};

/// The nodes between a button and what it opens.
const MOST_BETWEEN: usize = 16;
/// The elements around a button that are looked at.
const MOST_AROUND: usize = 3;

/// Returns true if a button is the heading of a text that it opens: it asks a question, is or has a heading, or stands right
/// before what it says that it controls.
pub(super) fn is_heading(tree: &Tree, id: NodeId, node: Node) -> bool {
    if !openable::is_button(tree, node) {
        return false;
    }
    let is_in_heading =
        || tree.node(node.parent).tag.heading_level().is_some() && !tree.is_button_behind_words(id, node);
    let asks = || tree.inside(id).any(|(_, node)| openable::asks(tree, node));
    // An image that people can enlarge, or what a cell of a table says.
    let mut around = tree.around(id).take(MOST_AROUND).map(|(_, node)| node.tag);
    let is_shown = around.any(|tag| {
        tag == Tag::Figure && evidence::has(tree, id, Tag::Img) || matches!(tag, Tag::Td | Tag::Th)
    });
    is_shown
        || is_in_heading()
        || evidence::has_heading(tree, id)
        || evidence::has(tree, id, Tag::P)
        || evidence::has(tree, id, Tag::Div) && heads_text(tree, id)
        || opens_text(tree, node)
        || alternates(tree, id)
        || asks()
}

/// Returns true if a button stands right before a part with a paragraph, and another one of its class does so beside it.
fn alternates(tree: &Tree, id: NodeId) -> bool {
    let class = |id: NodeId| tree.attribute(tree.node(id), Attribute::Class).unwrap_or_default();
    let opens = |id: NodeId| {
        let part = tree.next_element(id);
        part.filter(|(part, node)| node.tag == Tag::Div && evidence::has(tree, *part, Tag::P))
    };
    let is_other = |other: NodeId| tree.node(other).tag == Tag::Button && class(other) == class(id);
    let Some((part, _)) = opens(id).filter(|_| tree.node(id).tag == Tag::Button) else { return false };
    let after = tree.next_element(part);
    let mut before = tree.all_before(id).take(4);
    after.is_some_and(|(next, _)| is_other(next) && opens(next).is_some()) || before.any(is_other)
}

/// Returns true if a button is the first element of a part, and text follows it there.
fn heads_text(tree: &Tree, id: NodeId) -> bool {
    let is_first = tree.first_element(tree.node(id).parent).is_some_and(|(first, _)| first == id);
    let opens = |(part, _)| evidence::has(tree, part, Tag::P);
    is_first && tree.next_element(id).is_some_and(opens)
}

/// Returns true if a button says that it controls an element right after it, and that has a paragraph.
fn opens_text(tree: &Tree, button: Node) -> bool {
    let opened = tree.attribute(button, Attribute::AriaControls).map(str::trim);
    let is_opened =
        |node: &Node| node.flags.has(Flags::NAMED) && tree.attribute(*node, Attribute::Id) == opened;
    let mut after = tree.from(button.end).take(MOST_BETWEEN);
    opened.is_some() && after.any(|(id, node)| is_opened(&node) && evidence::has(tree, id, Tag::P))
}
