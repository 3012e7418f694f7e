//! The parts around the content that belong to it: the lead, which has prose and stands between the heading of the page and
//! the content, and tables, lists of terms and code beside it.

use super::measure::Measures;
use super::{evidence, faq, root};
use crate::html::tree::Flags;
use crate::html::{Node, NodeId, Tag, Tree};

/// The text outside of links that a block has at least.
const LEAST_BLOCK: u32 = 30;

/// Finds the leads above a content, and the blocks beside it: the outermost element in which one stands, or the content itself,
/// and all in it that is beside the content, its leads and its blocks, in document order.
pub(super) fn around(tree: &Tree, measures: &Measures, content: NodeId) -> (NodeId, Vec<NodeId>) {
    let title = title_before(tree, measures, content);
    let (mut top, mut beside, mut is_in_main) = (None, Vec::new(), false);
    let mut path: Vec<NodeId> = tree.around(content).map(|(id, _)| id).collect();
    while let Some(parent) = path.pop() {
        let child = path.last().copied().unwrap_or(content);
        let leads = title.map(|title| between(tree, measures, parent, child, title)).unwrap_or_default();
        is_in_main |= is_main(tree, tree.node(parent));
        let (blocks, questions) = blocks(tree, measures, parent, child, is_in_main);
        if !leads.is_empty() || !blocks.is_empty() {
            top = top.or(Some(parent));
        }
        if top.is_some() {
            let others = tree.children(parent).map(|(id, _)| id);
            beside.extend(others.filter(|id| {
                *id != child && leads.binary_search(id).is_err() && blocks.binary_search(id).is_err()
            }));
            let leads = leads.iter().filter(|id| blocks.binary_search(id).is_err());
            beside.extend(leads.flat_map(|lead| around_sentences(tree, measures, *lead)));
            beside.extend(questions.iter().flat_map(|id| faq::around(tree, *id)));
        }
    }
    beside.sort_unstable();
    (top.unwrap_or(content), beside)
}

/// Returns true if an element is the main part of the page, or the whole of an article.
fn is_main(tree: &Tree, node: Node) -> bool {
    root::is_main(tree, node) || node.tag == Tag::Article || node.flags.has(Flags::ARTICLE_CLASS)
}

/// The heading of the page before its content, and whether a lead may have it in it.
fn title_before(tree: &Tree, measures: &Measures, content: NodeId) -> Option<(NodeId, bool)> {
    let before = || tree.nodes().take_while(|(id, _)| *id < content).filter(|(_, node)| node.end <= content);
    let heading = before().find(|(_, node)| node.tag == Tag::H1);
    if heading.is_some() || heading_in(tree, Tree::ROOT).is_some() {
        return heading.map(|(id, _)| (id, true));
    }
    // A page without such a heading has its title in another one, which is not left out.
    let (mut title, mut skip_to) = (None, Tree::ROOT);
    for (id, node) in before() {
        if id < skip_to || node.tag == Tag::Text {
            continue;
        }
        if measures.get(id).text == 0 {
            skip_to = node.end;
        } else if matches!(node.tag, Tag::H2 | Tag::H3) {
            title = Some((id, false));
        }
    }
    title
}

/// The sorts of blocks that are content beside the text.
pub(super) const BLOCKS: [Tag; 6] = [Tag::Pre, Tag::Dl, Tag::Table, Tag::Ol, Tag::Details, Tag::Figcaption];

/// The blocks beside a child of an element that are content by what they are, each with the heading right before it; and those of
/// them that only their questions with answers make content.
fn blocks(
    tree: &Tree,
    measures: &Measures,
    parent: NodeId,
    child: NodeId,
    is_in_main: bool,
) -> (Vec<NodeId>, Vec<NodeId>) {
    let (mut blocks, mut questions, mut heading) = (Vec::new(), Vec::new(), None);
    let is_in_text = tree.node(parent).flags.has(Flags::ARTICLE_CLASS);
    for (id, node) in tree.children(parent).filter(|(_, node)| node.tag != Tag::Text) {
        if id == child {
            heading = None;
        } else if node.tag.heading_level().is_some() {
            heading = Some(id);
        } else {
            let is_block = is_in_main
                && measures.get(id).is_text(LEAST_BLOCK)
                && (evidence::has_any(tree, id, &BLOCKS)
                    || is_in_text && matches!(node.tag, Tag::P | Tag::Ul | Tag::Blockquote))
                && !evidence::has_any(tree, id, &[Tag::Form, Tag::Button]);
            let asks = !is_block && measures.get(id).text > 0 && faq::is_one(tree, id);
            if asks {
                questions.push(id);
            }
            if is_block || asks {
                blocks.extend(heading);
                blocks.push(id);
            }
            heading = None;
        }
    }
    (blocks, questions)
}

/// The leads between the heading of the page and a child of an element.
fn between(
    tree: &Tree,
    measures: &Measures,
    parent: NodeId,
    child: NodeId,
    (title, may_have_title): (NodeId, bool),
) -> Vec<NodeId> {
    let content = measures.get(child);
    let is_lead = |(id, node): &(NodeId, Node)| {
        (title < *id || may_have_title && title < node.end)
            // More would be another copy of the content.
            && measures.get(*id).prose < content.prose
            && (has_sentences(measures, *id, heading_in(tree, *id))
                || evidence::has(tree, *id, Tag::Figure)
                || is_short_sentence(tree, measures, *id))
    };
    let before = tree.children(parent).take_while(|(id, _)| *id < child);
    before.filter(is_lead).map(|(id, _)| id).collect()
}

/// Returns true if an element is a short sentence: "Available on Linux only."
fn is_short_sentence(tree: &Tree, measures: &Measures, id: NodeId) -> bool {
    measures.get(id).is_text(LEAST_BLOCK)
        && !evidence::has_any(tree, id, &[Tag::H1, Tag::A, Tag::Form, Tag::Button])
        && is_sentence(tree, id)
}

/// The first heading of the page in an element.
pub(super) fn heading_in(tree: &Tree, id: NodeId) -> Option<NodeId> {
    tree.inside(id).find(|(_, node)| node.tag == Tag::H1).map(|(id, _)| id)
}

/// Returns true if an element has prose beside a heading, and not mostly links.
pub(super) fn has_sentences(measures: &Measures, id: NodeId, heading: Option<NodeId>) -> bool {
    let whole = measures.get(id);
    let measure = heading.map_or(whole, |heading| whole.without(measures.get(heading)));
    measure.prose > 0 && measure.links < measure.text / 2
}

/// The parts of a lead that are not sentences: dates, names, pictures.
pub(super) fn around_sentences(tree: &Tree, measures: &Measures, lead: NodeId) -> Vec<NodeId> {
    // Whatever it ends with.
    const LEAST_PARAGRAPH: u32 = 150;
    let is_block = |node: Node| node.tag != Tag::Text && !node.tag.is_inline();
    let (mut others, mut skip_to) = (Vec::new(), lead);
    for (id, node) in tree.inside(lead) {
        if id < skip_to || !is_block(node) {
            continue;
        }
        if node.tag == Tag::Figure {
            skip_to = node.end;
            continue;
        }
        let is_innermost = !tree.inside(id).skip(1).any(|(_, node)| is_block(node));
        let is_other = measures.get(id).prose == 0 && !is_short_sentence(tree, measures, id);
        let is_text = || measures.get(id).prose >= LEAST_PARAGRAPH || is_sentence(tree, id);
        if is_other || is_innermost && !is_text() {
            others.push(id);
            skip_to = node.end;
        } else if !is_innermost {
            let between = tree.children(id).filter(|(_, node)| node.tag != Tag::Text && node.tag.is_inline());
            others.extend(between.map(|(id, _)| id).filter(|id| !is_sentence(tree, *id)));
        }
    }
    others.sort_unstable();
    others
}

/// Returns true if a text ends like a sentence.
pub(super) fn is_sentence(tree: &Tree, id: NodeId) -> bool {
    last_text(tree, id).is_some_and(|(_, text)| ends_sentence(text))
}

/// The last text in an element, with its node.
pub(super) fn last_text<'t>(tree: &'t Tree, id: NodeId) -> Option<(NodeId, &'t str)> {
    // Few empty elements stand behind it.
    const MOST_BEHIND: usize = 256;
    let nodes = (id.0..tree.node(id).end.0).rev().map(NodeId).take(MOST_BEHIND);
    nodes.map(|id| (id, tree.text(tree.node(id)).trim_end())).find(|(_, text)| !text.is_empty())
}

pub(super) fn ends_sentence(text: &str) -> bool {
    const ENDS: [char; 10] = ['.', '!', '?', '…', ':', '。', '！', '？', '؟', '।'];
    text.trim_end_matches(['"', '”', '“', '’', '\'', '»', ')']).ends_with(ENDS)
}
