//! Copies: parts whose text stands right before them, such as those for other screens and slides that go round.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::is_in;
use crate::hash::seeded;
use crate::html::openable::is_panel;
use crate::html::{Node, NodeId, Tag, Tree};

/// The text of a copy, in bytes, and the blocks that it has at least: short text may stand twice on purpose.
const LEAST_TEXT: u32 = 60;
const FEWEST_BLOCKS: u32 = 2;
/// The parts that are remembered.
const MOST_PARTS: usize = 8192;

/// The text up to a place, or of a part: its fingerprint and its amount.
#[derive(Clone, Copy, Debug, Default)]
struct Text {
    hash: u64,
    runs: u32,
    bytes: u32,
}

impl Text {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

    fn push(&mut self, hash: u64, bytes: usize) {
        self.hash = self.hash.wrapping_mul(Self::BASE).wrapping_add(hash);
        self.runs += 1;
        self.bytes = self.bytes.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
    }

    /// The text since an earlier place.
    fn since(self, before: Self) -> Self {
        let runs = self.runs.saturating_sub(before.runs);
        let hash = self.hash.wrapping_sub(before.hash.wrapping_mul(Self::BASE.wrapping_pow(runs)));
        Self { hash, runs, bytes: self.bytes.saturating_sub(before.bytes) }
    }
}

/// An element around the place that is read.
#[derive(Clone, Copy, Debug)]
struct Around {
    id: NodeId,
    node: Node,
    before: Text,
    blocks: u32,
}

/// The copies that were found, in document order, none in another.
#[derive(Debug)]
struct Copies {
    found: Vec<NodeId>,
    around: Vec<Around>,
    text: Text,
    /// For each part, by the fingerprint of its text and the runs in it: the runs up to the end of the last one like it.
    ends: HashMap<(u64, u32), u32, FixedState>,
}

/// The copies in an element, of what is not left out.
pub(super) fn find(tree: &Tree, root: NodeId, left_out: &[NodeId]) -> Vec<NodeId> {
    let mut copies = Copies {
        found: Vec::new(),
        around: Vec::new(),
        text: Text::default(),
        ends: HashMap::with_hasher(seeded()),
    };
    let mut skip_to = root;
    for (id, node) in tree.inside(root) {
        if id < skip_to {
            continue;
        }
        if is_in(tree, left_out, id) {
            skip_to = node.end;
            continue;
        }
        copies.end_before(id);
        let text = tree.text(node).trim();
        if !text.is_empty() {
            // Nobody who writes a part of a page can find text with the fingerprint of another part.
            copies.text.push(copies.ends.hasher().hash_one(text), text.len());
        } else if node.tag != Tag::Text && node.end.0 > id.0 + 1 {
            copies.around.push(Around { id, node, before: copies.text, blocks: 0 });
        }
    }
    copies.end_before(NodeId(u32::MAX));
    copies.found
}

impl Copies {
    /// Ends the elements that end before a node.
    fn end_before(&mut self, id: NodeId) {
        while let Some(ended) = self.around.pop_if(|last| last.node.end <= id) {
            let own = self.text.since(ended.before);
            let blocks = ended.blocks.max(1);
            if let Some(parent) = self.around.last_mut()
                && own.runs > 0
                && !ended.node.tag.is_inline()
            {
                parent.blocks += blocks;
            }
            let is_part = is_part(ended.node) && own.bytes >= LEAST_TEXT && blocks >= FEWEST_BLOCKS;
            if is_part && self.has_before(ended, own) {
                while self.found.pop_if(|inside| *inside > ended.id).is_some() {}
                self.found.push(ended.id);
            }
        }
    }

    /// Returns true if the text of an element stands right before it; remembers the text.
    fn has_before(&mut self, element: Around, own: Text) -> bool {
        let key = (own.hash, own.runs);
        if self.ends.len() >= MOST_PARTS && !self.ends.contains_key(&key) {
            return false;
        }
        self.ends.insert(key, self.text.runs) == Some(element.before.runs)
    }
}

/// Returns true if an element can be a copy: not a part of a table, nor what another tab shows.
fn is_part(node: Node) -> bool {
    let is_of_table =
        matches!(node.tag, Tag::Td | Tag::Th | Tag::Tr | Tag::Thead | Tag::Tbody | Tag::Tfoot | Tag::Table);
    let is_code = matches!(node.tag, Tag::Pre | Tag::Code);
    !node.tag.is_inline() && !is_of_table && !is_code && !is_panel(node)
}
