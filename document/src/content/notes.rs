//! Notes that stand in the text: by what they hold and where they are, not by their names.

use std::collections::BTreeMap;

use super::evidence::sort;
use super::measure::Measures;
use super::rules::is_never_content;
use crate::html::{NodeId, Tag, Tree};

/// The text outside of links that a block beside a note has at least.
const LEAST_TEXT: u32 = 20;
/// The elements in a note that are looked at.
const MOST_LOOKED_AT: usize = 256;

/// A part that may be a note in the text.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    id: NodeId,
    is_named: bool,
    /// The part itself, or the element around that holds nothing else.
    outer: NodeId,
}

/// The notes that stand in the text, in document order.
pub(super) fn find(tree: &Tree, measures: &Measures) -> Vec<NodeId> {
    let candidates = candidates(tree, measures);
    if candidates.is_empty() {
        return Vec::new();
    }
    // The first and the last block beside notes, by the element around: text, and parts of the same sort as theirs.
    let place = |id: NodeId| {
        let node = tree.node(id);
        let part = if is_block_of_text(node.tag) { None } else { sort(tree, node) };
        (node.parent, part)
    };
    let parents = candidates.iter().map(|one| (tree.node(one.outer).parent, None));
    let parts = candidates.iter().map(|one| place(one.outer));
    let mut text: BTreeMap<_, Option<(NodeId, NodeId)>> =
        parents.chain(parts).map(|place| (place, None)).collect();
    for (id, node) in tree.nodes() {
        let is_text = is_block_of_text(node.tag);
        if !is_text && (node.tag != Tag::Div || measures.get(id).prose == 0) {
            continue;
        }
        let at = place(id);
        let Some(blocks) = text.get_mut(&at).filter(|_| is_text || at.1.is_some()) else { continue };
        let measure = measures.get(id);
        if measure.plain() >= LEAST_TEXT && measure.links <= measure.text / 2 {
            *blocks = Some((blocks.map_or(id, |(first, _)| first), id));
        }
    }
    let mut notes: Vec<NodeId> = Vec::new();
    for one in candidates {
        let parent = tree.node(one.outer).parent;
        // True if blocks stand before the note, and true if others stand behind it.
        let sides = |at| {
            let blocks = text.get(&at).copied().flatten();
            blocks.map_or((false, false), |(first, last)| (first < one.outer, last > one.outer))
        };
        let (is_behind, is_before) = sides((parent, None));
        // An alert above the parts of a page is about the site.
        let is_between_parts = || sides(place(one.outer)) == (true, true);
        let is_in_note = notes.binary_search(&parent).is_ok();
        // A part that nobody calls a note and that ends the text is about the author or the site.
        if is_in_note || is_before || one.is_named && (is_behind || is_between_parts()) {
            notes.push(one.id);
        }
    }
    notes
}

fn candidates(tree: &Tree, measures: &Measures) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut skip_to = Tree::ROOT;
    for (id, node) in tree.nodes() {
        if id < skip_to || node.tag == Tag::Text {
            continue;
        }
        if is_never_content(node) {
            skip_to = node.end;
            continue;
        }
        let Some(note) = tree.note(node) else { continue };
        let measure = measures.get(id);
        let has_controls =
            || tree.inside(id).take(MOST_LOOKED_AT).any(|(_, node)| matches!(node.tag, Tag::Form | Tag::Nav));
        if measure.text > 0 && measure.links <= measure.text / 2 && !has_controls() {
            // The list of all footnotes is one, too.
            let is_named = note.is_named || holds_named(tree, id);
            candidates.push(Candidate { id, is_named, outer: outermost(tree, measures, id) });
        }
    }
    candidates
}

/// Returns true if the first element in a part is a named note.
fn holds_named(tree: &Tree, id: NodeId) -> bool {
    tree.first_element(id).and_then(|(_, first)| tree.note(first)).is_some_and(|note| note.is_named)
}

/// The outermost element that holds nothing but this one.
fn outermost(tree: &Tree, measures: &Measures, id: NodeId) -> NodeId {
    const MOST: usize = 3;
    let text = measures.get(id).text;
    let mut outer = id;
    for _ in 0..MOST {
        let parent = tree.node(outer).parent;
        if parent == Tree::ROOT || tree.node(parent).tag == Tag::Body || measures.get(parent).text != text {
            break;
        }
        outer = parent;
    }
    outer
}

fn is_block_of_text(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::P
            | Tag::Ul
            | Tag::Ol
            | Tag::Dl
            | Tag::Pre
            | Tag::Table
            | Tag::Blockquote
            | Tag::Figure
            | Tag::Text
    )
}

/// Returns true if an element is among these.
pub(super) fn has(notes: &[NodeId], id: NodeId) -> bool {
    notes.binary_search(&id).is_ok()
}
