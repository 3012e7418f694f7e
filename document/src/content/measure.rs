//! How much text the parts of a page have, and of what sort.

use crate::html::{Attribute, Node, NodeId, Tag, Tree};

/// The text of an element and all that is in it, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measure {
    /// All text.
    pub(super) text: u32,
    /// Text of links.
    pub(super) links: u32,
    /// Text of blocks that read like prose.
    pub(super) prose: u32,
}

/// A run of text shorter than this is a label, a caption or a link rather than prose.
const SHORTEST_PROSE: u32 = 50;

/// A run of text directly in a block.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    text: u32,
    links: u32,
}

impl Run {
    /// What of the run reads like prose.
    fn prose(self) -> u32 {
        if self.text >= SHORTEST_PROSE && self.links < self.text / 2 { self.text - self.links } else { 0 }
    }
}

/// An element around the place that is measured.
#[derive(Clone, Copy, Debug)]
struct Around {
    end: NodeId,
    /// The block that text here is a run of.
    block: NodeId,
    is_link: bool,
}

/// The measures of all elements.
#[derive(Debug)]
pub(super) struct Measures(Vec<Measure>);

impl Measures {
    /// The measure of an element.
    pub(super) fn get(&self, id: NodeId) -> Measure {
        self.0.get(id.index()).copied().unwrap_or_default()
    }

    /// Measures a tree without the elements that are left out, each with all that is in it.
    pub(super) fn of(tree: &Tree, mut is_left_out: impl FnMut(NodeId, Node) -> bool) -> Self {
        let mut measures = vec![Measure::default(); tree.len()];
        let mut runs = vec![Run::default(); tree.len()];
        let outside = Around { end: NodeId(u32::MAX), block: Tree::ROOT, is_link: false };
        let mut around: Vec<Around> = Vec::new();
        let mut skip_to = Tree::ROOT;
        for (id, node) in tree.nodes() {
            if id < skip_to {
                continue;
            }
            if is_left_out(id, node) {
                skip_to = node.end;
                continue;
            }
            while around.last().is_some_and(|around| around.end <= id) {
                around.pop();
            }
            let Around { block, is_link, .. } = around.last().copied().unwrap_or(outside);
            if node.tag == Tag::Text {
                // A blank alone is no text.
                let text = u32::try_from(tree.text(node).len()).unwrap_or(u32::MAX);
                let text = if text == 1 { 0 } else { text };
                let links = if is_link { text } else { 0 };
                if let Some(measure) = measures.get_mut(node.parent.index()) {
                    measure.text += text;
                    measure.links += links;
                }
                if let Some(run) = runs.get_mut(block.index()) {
                    run.text += text;
                    run.links += links;
                }
            } else if node.end.0 > id.0 + 1 {
                let is_link =
                    is_link || node.tag == Tag::A && tree.attribute(node, Attribute::Href).is_some();
                let block = if node.tag.is_inline() { block } else { id };
                around.push(Around { end: node.end, block, is_link });
            }
        }
        // From the last to the first: what an element has is complete before it is added to that around it.
        for (index, run) in runs.iter().enumerate().rev() {
            let Some(measure) = measures.get_mut(index) else { continue };
            measure.prose += run.prose();
            let Measure { text, links, prose } = *measure;
            let parent = tree.node(NodeId(u32::try_from(index).unwrap_or(u32::MAX))).parent;
            if let Some(around) = measures.get_mut(parent.index()).filter(|_| index > 0) {
                around.text += text;
                around.links += links;
                around.prose += prose;
            }
        }
        Self(measures)
    }
}
