//! Lists of links in the content that lead elsewhere.

use std::collections::HashMap;

use super::measure::{Measure, Measures};
use super::things::Things;
use super::{Claim, evidence, leads};
use crate::html::{Attribute, Node, NodeId, Tag, Tree};
use crate::markdown::is_data;

/// Lists of links are content if less than so many tenths of the content are prose.
const PROSE_BESIDE_LISTS: u32 = 3;
/// On a page that does not say what it is, they are also content if they are more than one part in so many of the text,
/// and less than so many tenths are prose.
const SHARE_OF_LISTS: u32 = 4;
const PROSE_BESIDE_MANY: u32 = 6;
/// The pieces of code that a technical page has at least.
const FEWEST_CODE: usize = 3;

/// The lists of links in an element that are not what it is about, in document order, none in another. Those of things
/// are what a page that lists them is about, and the ingredients of a recipe may be links.
pub(super) fn find(
    tree: &Tree,
    measures: &Measures,
    root: NodeId,
    claim: Claim,
    things: &Things,
) -> Vec<NodeId> {
    let whole = measures.get(root);
    if claim == Claim::Recipe || whole.prose < whole.text / 10 * PROSE_BESIDE_LISTS {
        return Vec::new();
    }
    let (mut lists, mut skip_to) = (Vec::new(), NodeId(root.0 + 1));
    for (id, node) in tree.inside(root) {
        if id < skip_to {
            continue;
        }
        let measure = measures.get(id);
        let is_list = is_list_of_links(node, measure) || is_choice_of_numbers(tree, id, node, measure);
        if is_list
            && measure.text <= whole.text / 2
            && !things.has_one_in(tree, id)
            && !has_data(tree, measures, id)
        {
            lists.push(id);
            skip_to = node.end;
        } else if is_whole(tree, id, node) {
            skip_to = node.end;
        }
    }
    let is_technical = !lists.is_empty() && is_technical(tree, root);
    lists.retain(|id| {
        let is_of_manual = || is_index(tree, *id) || is_described(tree, measures, *id);
        let is_kept = is_contents(tree, *id)
            || is_heading_of_text(tree, measures, *id)
            || is_name_of_post(tree, measures, *id)
            || is_list(tree.node(*id).tag)
                && (is_announced_in_text(tree, measures, *id) || is_address(tree, *id))
            || is_end_of_item(tree, measures, *id)
            || is_author(tree, *id);
        !(is_kept || is_technical && is_of_manual())
    });
    let prose = prose_beside(tree, measures, root, &lists);
    let is_between = |id: NodeId| {
        let outer = with_link(tree, id);
        let beside = prose.get(&tree.node(outer).parent).copied().flatten();
        let tag = tree.node(id).tag;
        let is_text = is_list(tag)
            || outer != id
            || is_headed(tree, id)
            || tag == Tag::P
                && (is_sentence_around_links(tree, id)
                    || is_address(tree, id)
                    || announcement(tree, id).is_some());
        is_text && beside.is_some_and(|(first, last)| first < id && id < last)
    };
    lists.retain(|id| !is_between(*id));
    let text: u32 = lists.iter().map(|id| measures.get(*id).text).sum();
    let has_much = text > whole.text / SHARE_OF_LISTS && whole.prose < whole.text / 10 * PROSE_BESIDE_MANY;
    if claim == Claim::None && has_much { Vec::new() } else { lists }
}

/// Returns true if an element is a table of data, or has one in it, with text beside its links: what they are worth.
fn has_data(tree: &Tree, measures: &Measures, id: NodeId) -> bool {
    const MOST_LOOKED_AT: usize = 64;
    const SHARE_BESIDE_LINKS: u32 = 10;
    let mut tables = tree.inside(id).take(MOST_LOOKED_AT).filter(|(_, node)| node.tag == Tag::Table);
    tables.next().is_some_and(|(id, node)| {
        let measure = measures.get(id);
        measure.plain() > measure.text / SHARE_BESIDE_LINKS && is_data(tree, id, node)
    })
}

/// Returns true if no part of an element goes without the others: the text of a heading, the cells of a table, a note.
fn is_whole(tree: &Tree, id: NodeId, node: Node) -> bool {
    node.tag.heading_level().is_some()
        || node.tag == Tag::Table && is_data(tree, id, node)
        || tree.note(node).is_some()
}

/// A block, or the link that it is a part of.
fn with_link(tree: &Tree, id: NodeId) -> NodeId {
    let parent = tree.node(id).parent;
    if tree.node(parent).tag == Tag::A { parent } else { id }
}

/// The first and the last element with prose beside lists, by the element around.
fn prose_beside(
    tree: &Tree,
    measures: &Measures,
    root: NodeId,
    lists: &[NodeId],
) -> HashMap<NodeId, Option<(NodeId, NodeId)>> {
    let mut prose: HashMap<_, _> =
        lists.iter().map(|id| (tree.node(with_link(tree, *id)).parent, None)).collect();
    if !prose.is_empty() {
        for (id, node) in tree.inside(root).filter(|(id, _)| measures.get(*id).prose > 0) {
            if let Some(beside) = prose.get_mut(&node.parent) {
                *beside = Some((beside.map_or(id, |(first, _)| first), id));
            }
        }
    }
    prose
}

/// Returns true if a paragraph ends like a sentence behind its links: "See … for the details."
fn is_sentence_around_links(tree: &Tree, id: NodeId) -> bool {
    let is_in_link =
        |text| tree.around(text).take_while(|(around, _)| *around > id).any(|(_, node)| node.tag == Tag::A);
    let first_text = || tree.inside(id).find(|(_, node)| !tree.text(*node).trim().is_empty());
    leads::last_text(tree, id).is_some_and(|(at, text)| {
        // Titles, too, end with a question mark.
        let is_statement =
            || text.ends_with(['.', '。']) && first_text().is_some_and(|(at, _)| !is_in_link(at));
        leads::ends_sentence(text) && (!is_in_link(at) || is_statement())
    })
}

/// Returns true if a block stands right behind a heading.
fn is_headed(tree: &Tree, id: NodeId) -> bool {
    tree.element_before(id).is_some_and(|(_, node)| node.tag.heading_level().is_some())
}

/// Returns true if the links of a block are addresses to read: `https://…`, `10.1000/182`, `name@example.com`.
fn is_address(tree: &Tree, id: NodeId) -> bool {
    let links = tree.inside(id).filter(|(_, node)| node.tag == Tag::A).map(|(id, _)| tree.all_text(id));
    let is_one = |text: String| {
        let text = text.trim();
        text.contains(['.', '@']) && !text.contains(char::is_whitespace)
    };
    let mut are = links.map(is_one);
    are.next() == Some(true) && are.all(|is_one| is_one)
}

/// The text right before a part, if it announces it: "The code is at:"
fn announcement(tree: &Tree, id: NodeId) -> Option<NodeId> {
    const MOST_BETWEEN: u32 = 4;
    let mut before = (id.0.saturating_sub(MOST_BETWEEN)..id.0).rev().map(NodeId);
    let text = |id: NodeId| tree.text(tree.node(id)).trim();
    before.find(|id| !text(*id).is_empty()).filter(|id| text(*id).ends_with([':', '：']))
}

/// Returns true if a sentence announces a list, or a label in an item: no heading, and no label like "**You may also like:**".
fn is_announced_in_text(tree: &Tree, measures: &Measures, id: NodeId) -> bool {
    const LEAST_SENTENCE: u32 = 20;
    const LEAST_LABEL: u32 = 4;
    const MOST_TO_ITEM: usize = 2;
    let Some(text) = announcement(tree, id) else { return false };
    let mut is_bold = false;
    let block = tree.around(text).find(|(_, node)| {
        is_bold |= matches!(node.tag, Tag::Strong | Tag::B);
        !node.tag.is_inline()
    });
    let is_item = |(_, node): (NodeId, Node)| node.tag == Tag::Li;
    let is_in_item = tree.around(id).take(MOST_TO_ITEM).any(is_item);
    let least = if is_in_item { LEAST_LABEL } else { LEAST_SENTENCE };
    block.is_some_and(|(block, node)| {
        let is_label = node.tag.heading_level().is_some() || is_bold;
        measures.get(block).plain() >= least && (is_in_item || !is_label)
    })
}

/// Returns true if a part is a heading, and text follows it.
fn is_heading_of_text(tree: &Tree, measures: &Measures, id: NodeId) -> bool {
    const LEAST_TEXT: u32 = 20;
    let node = tree.node(id);
    let is_text = |(id, node): (NodeId, Node)| {
        let is_block = matches!(node.tag, Tag::P | Tag::Div | Tag::Section | Tag::Ul | Tag::Ol);
        is_block && measures.get(id).is_text(LEAST_TEXT)
    };
    let mut headings = tree.inside(id).filter(|(_, node)| node.tag.heading_level().is_some());
    let only = headings.next().filter(|_| headings.next().is_none());
    let is_all = |(heading, _): (NodeId, Node)| measures.get(heading).text == measures.get(id).text;
    node.tag == Tag::Div && only.is_some_and(is_all) && tree.next_element(id).is_some_and(is_text)
}

/// Returns true if a part is one link, and the part right behind it describes where that leads, as in a table.
fn is_described(tree: &Tree, measures: &Measures, id: NodeId) -> bool {
    const LEAST_TEXT: u32 = 12;
    const LONGEST_LABEL: u32 = 80;
    let node = tree.node(id);
    let links = || tree.inside(id).filter(|(_, node)| node.tag == Tag::A).take(2).count();
    let describes =
        |(id, other): (NodeId, Node)| other.tag == node.tag && measures.get(id).is_text(LEAST_TEXT);
    node.tag == Tag::Div
        && measures.get(id).text <= LONGEST_LABEL
        && links() == 1
        && tree.next_element(id).is_some_and(describes)
}

/// Returns true if a part is one link, and the one right behind it is what somebody says, as in each of several posts.
fn is_name_of_post(tree: &Tree, measures: &Measures, id: NodeId) -> bool {
    const LONGEST_NAME: u32 = 40;
    let is_post = |(body, _)| {
        let body = measures.get(body);
        body.prose > 0 && body.is_text(LONGEST_NAME)
    };
    measures.get(id).text <= LONGEST_NAME
        && tree.next_element(id).is_some_and(is_post)
        && evidence::is_of_several(tree, id)
}

/// Returns true if a paragraph with one link, or with text beside its links, is a part of an item that has prose.
fn is_end_of_item(tree: &Tree, measures: &Measures, id: NodeId) -> bool {
    const LEAST_TEXT: u32 = 4;
    let node = tree.node(id);
    let links = tree.inside(id).filter(|(_, node)| node.tag == Tag::A);
    node.tag == Tag::P
        && tree.node(node.parent).tag == Tag::Li
        && measures.get(node.parent).prose > 0
        && (measures.get(id).plain() >= LEAST_TEXT || links.take(2).count() == 1)
}

/// Returns true if a page calls a part the author of something.
fn is_author(tree: &Tree, id: NodeId) -> bool {
    let property = tree.attribute(tree.node(id), Attribute::Itemprop).unwrap_or_default();
    property.split_ascii_whitespace().any(|property| matches!(property, "author" | "creator"))
}

/// Returns true if a page calls a list of links to other pages its contents: `toc`, `toctree`.
fn is_contents(tree: &Tree, id: NodeId) -> bool {
    let class = tree.attribute(tree.node(id), Attribute::Class).unwrap_or_default();
    let is_named = class.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.starts_with("toc"));
    let leads_on = |(_, node): (NodeId, Node)| {
        tree.attribute(node, Attribute::Href).is_some_and(|href| !href.contains('#'))
    };
    is_named && tree.inside(id).any(leads_on)
}

/// Returns true if an element has code in several places: it is about a language or a program.
fn is_technical(tree: &Tree, root: NodeId) -> bool {
    let code = tree.inside(root).filter(|(_, node)| matches!(node.tag, Tag::Pre | Tag::Code));
    code.take(FEWEST_CODE).count() == FEWEST_CODE
}

/// Returns true if a list of links on a technical page says what else to read there: a list as such, or a section with a heading.
fn is_index(tree: &Tree, id: NodeId) -> bool {
    let tag = tree.node(id).tag;
    is_list(tag) || tag == Tag::P || tag == Tag::Section && evidence::has_heading(tree, id)
}

fn is_list(tag: Tag) -> bool {
    matches!(tag, Tag::Ul | Tag::Ol | Tag::Dl | Tag::Table)
}

/// Returns true if a block lets people choose one of several numbers, such as the version of a manual.
fn is_choice_of_numbers(tree: &Tree, id: NodeId, node: Node, measure: Measure) -> bool {
    const MOST_TEXT: u32 = 200;
    const MOST_BESIDE: u32 = 120;
    const MOST_LOOKED_AT: usize = 128;
    const MOST_IN_NUMBER: u32 = 8;
    const FEWEST: u32 = 4;
    const MOST_OTHERS: u32 = 2;
    if node.tag != Tag::Div || measure.links == 0 || measure.text > MOST_TEXT || measure.plain() > MOST_BESIDE
    {
        return false;
    }
    let (mut numbers, mut others) = (0, 0);
    let inside = tree.inside(id).take(MOST_LOOKED_AT);
    for (id, node) in inside.filter(|(_, node)| evidence::is_link(tree, *node)) {
        if node.end.0 - id.0 > MOST_IN_NUMBER {
            return false;
        }
        let text = tree.all_text(id);
        match text.trim() {
            "" => {}
            text if text.chars().all(|c| c.is_ascii_digit() || c == '.') => numbers += 1,
            _ => others += 1,
        }
    }
    numbers >= FEWEST && others <= MOST_OTHERS
}

/// Returns true if a block has little else than links.
fn is_list_of_links(node: Node, measure: Measure) -> bool {
    let is_block = matches!(
        node.tag,
        Tag::Ul
            | Tag::Ol
            | Tag::Dl
            | Tag::Div
            | Tag::Section
            | Tag::P
            | Tag::Table
            | Tag::Center
            | Tag::Figure
    );
    is_block && measure.text > 0 && measure.links > measure.text / 3 * 2 && measure.prose < measure.text / 4
}
