//! Questions with their answers, which are content wherever they stand on a page.

use super::rules::is_never_content;
use super::{evidence, leads};
use crate::html::{Attribute, Node, NodeId, Tag, Tree, openable};

/// The questions that there are at least.
const FEWEST: usize = 3;

/// Returns true if an element has several questions as headings, each with an answer, and no more other headings.
pub(super) fn is_one(tree: &Tree, id: NodeId) -> bool {
    const LEAST_ANSWER: usize = 40;
    let (mut headings, mut answers) = (0, 0);
    let (mut is_asked, mut is_answered, mut skip_to) = (false, false, id);
    for (id, node) in tree.inside(id) {
        if id < skip_to {
            continue;
        }
        if is_never_content(node) {
            skip_to = node.end;
        } else if is_heading(tree, id, node) {
            headings += 1;
            is_asked = asks(tree, id);
            is_answered = false;
            skip_to = node.end;
        } else if node.tag == Tag::A {
            // "Read more" behind the first sentences of another page.
            if is_answered && leads_elsewhere(tree, node) && is_alone(tree, id, node) {
                answers -= 1;
                is_answered = false;
            }
            skip_to = node.end;
        } else if is_asked && tree.text(node).trim().len() >= LEAST_ANSWER {
            answers += 1;
            is_asked = false;
            is_answered = true;
        }
    }
    // One is the title of them all.
    answers >= FEWEST && answers * 2 + 1 >= headings
}

/// The rest of an element with questions and answers: all that is beside the innermost one that has them, but for headings and
/// sentences.
pub(super) fn around(tree: &Tree, id: NodeId) -> Vec<NodeId> {
    const MOST_AROUND: usize = 4;
    let (mut others, mut outer) = (Vec::new(), id);
    for _ in 0..MOST_AROUND {
        let Some((inner, _)) = tree.children(outer).find(|(id, _)| is_one(tree, *id)) else { break };
        let is_text = |(id, node): &(NodeId, Node)| {
            node.tag == Tag::Text
                || evidence::has_heading(tree, *id) && !evidence::has(tree, *id, Tag::P)
                || node.tag == Tag::P && leads::is_sentence(tree, *id)
        };
        let beside = tree.children(outer).filter(|(id, _)| *id != inner);
        others.extend(beside.filter(|child| !is_text(child)).map(|(id, _)| id));
        outer = inner;
    }
    others
}

/// Returns true if an element is a heading, or what people press to open a part, with text.
fn is_heading(tree: &Tree, id: NodeId, node: Node) -> bool {
    node.tag.heading_level().is_some()
        || matches!(node.tag, Tag::Summary | Tag::Dt)
        || node.tag == Tag::Button && leads::last_text(tree, id).is_some()
}

/// Returns true if a heading is a question, and does not lead to another page.
fn asks(tree: &Tree, id: NodeId) -> bool {
    const MOST_IN_HEADING: usize = 64;
    let mut inside = tree.inside(id).take(MOST_IN_HEADING).map(|(_, node)| node);
    let last = leads::last_text(tree, id);
    last.is_some_and(|(text, _)| openable::asks(tree, tree.node(text)))
        && !inside.any(|node| node.tag == Tag::A && leads_elsewhere(tree, node))
}

fn leads_elsewhere(tree: &Tree, link: Node) -> bool {
    tree.attribute(link, Attribute::Href).is_some_and(|href| !href.trim_start().starts_with('#'))
}

/// Returns true if no text stands beside an element.
fn is_alone(tree: &Tree, id: NodeId, node: Node) -> bool {
    const MOST_BESIDE: usize = 8;
    let mut beside = tree.children(node.parent).take(MOST_BESIDE).filter(|(other, _)| *other != id);
    beside.all(|(_, node)| tree.text(node).trim().is_empty())
}
