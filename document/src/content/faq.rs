//! Questions with their answers, which are content wherever they stand on a page.

use super::rules::is_never_content;
use super::{evidence, leads};
use crate::html::{Node, NodeId, Tag, Tree, openable};

/// The questions that there are at least.
const FEWEST: usize = 3;

/// Returns true if an element has several questions as headings, each with an answer, and at most as many other headings, beside a
/// title.
pub(super) fn is_one(tree: &Tree, id: NodeId) -> bool {
    let (headings, answers) = count(tree, id);
    answers >= FEWEST && answers * 2 + 1 >= headings
}

/// The headings in an element, and how many of them are questions with an answer.
fn count(tree: &Tree, id: NodeId) -> (usize, usize) {
    const LEAST_ANSWER: usize = 40;
    let (mut headings, mut answers) = (0, 0);
    let (mut is_asked, mut is_answered, mut skip_to) = (false, false, id);
    for (id, node) in tree.inside(id) {
        if id < skip_to {
            continue;
        }
        let is_button = node.tag == Tag::Button;
        let is_heading = node.tag.heading_level().is_some() || matches!(node.tag, Tag::Summary | Tag::Dt);
        let asks = (is_heading || is_button) && asks(tree, id);
        if is_never_content(node) {
            skip_to = node.end;
        } else if is_heading || asks {
            headings += 1;
            is_asked = asks;
            is_answered = false;
            skip_to = node.end;
        } else if is_button || node.tag == Tag::A {
            // "Read more" behind the first sentences of another page.
            if is_answered && evidence::is_link(tree, node) && is_alone(tree, id, node) {
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
    (headings, answers)
}

/// The rest of an element with questions and answers: all that is beside the only part that has them, but for headings, sentences
/// and blocks that are content beside the text.
pub(super) fn around(tree: &Tree, id: NodeId) -> Vec<NodeId> {
    const MOST_AROUND: usize = 4;
    let (mut others, mut outer) = (Vec::new(), id);
    for _ in 0..MOST_AROUND {
        let mut parts = tree.children(outer).map(|(id, _)| id).filter(|id| count(tree, *id).1 > 0);
        let Some(only) = parts.next().filter(|_| parts.next().is_none()) else { break };
        let is_text = |(id, node): &(NodeId, Node)| {
            let is_heading = evidence::has_heading(tree, *id) && !evidence::has(tree, *id, Tag::P);
            node.tag == Tag::Text
                || is_heading && !evidence::has_controls(tree, *id)
                || node.tag == Tag::P && leads::is_sentence(tree, *id)
                || evidence::has_any(tree, *id, &leads::BLOCKS)
        };
        let beside = tree.children(outer).filter(|(id, _)| *id != only);
        others.extend(beside.filter(|child| !is_text(child)).map(|(id, _)| id));
        outer = only;
    }
    others
}

/// Returns true if a heading is a question, and does not lead to another page.
fn asks(tree: &Tree, id: NodeId) -> bool {
    const MOST_IN_HEADING: usize = 64;
    let mut inside = tree.inside(id).take(MOST_IN_HEADING).map(|(_, node)| node);
    let last = leads::last_text(tree, id);
    last.is_some_and(|(text, _)| openable::asks(tree, tree.node(text)))
        && !inside.any(|node| evidence::is_link(tree, node))
}

/// Returns true if no text stands beside an element.
fn is_alone(tree: &Tree, id: NodeId, node: Node) -> bool {
    const MOST_BESIDE: usize = 8;
    let mut beside = tree.children(node.parent).take(MOST_BESIDE).filter(|(other, _)| *other != id);
    beside.all(|(_, node)| node.tag != Tag::Text || tree.is_blank(node))
}
