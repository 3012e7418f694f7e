//! The amount of text in the parts of a page, by its sort.

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

impl Measure {
    fn add(&mut self, other: Self) {
        self.text += other.text;
        self.links += other.links;
        self.prose += other.prose;
    }

    /// The measure of what is left without a part.
    pub(super) fn without(self, part: Self) -> Self {
        Self {
            text: self.text.saturating_sub(part.text),
            links: self.links.saturating_sub(part.links),
            prose: self.prose.saturating_sub(part.prose),
        }
    }

    /// Returns true if so much of the text is in no link, and most of all.
    pub(super) fn is_text(self, least: u32) -> bool {
        self.plain() >= least && self.links < self.text / 4
    }

    /// The text that is in no link.
    pub(super) fn plain(self) -> u32 {
        self.text.saturating_sub(self.links)
    }
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
    /// The part of the run that reads like prose.
    fn prose(self) -> u32 {
        if self.text >= SHORTEST_PROSE && self.links < self.text / 2 { self.text - self.links } else { 0 }
    }
}

/// An element around the place that is measured.
#[derive(Clone, Copy, Debug)]
struct Around {
    id: NodeId,
    end: NodeId,
    /// The rank, among the blocks around, of the one that text here is a run of.
    block: usize,
    is_link: bool,
    inside: Measure,
    run: Run,
}

/// Returns true if a link leads to another place; the address of a person or a telephone number is text.
fn leads_elsewhere(href: &str) -> bool {
    !["mailto:", "tel:"]
        .iter()
        .any(|scheme| href.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// The measures of all elements.
#[derive(Debug)]
pub(super) struct Measures(Vec<Measure>);

impl Measures {
    /// The measure of an element.
    pub(super) fn get(&self, id: NodeId) -> Measure {
        self.0.get(id.index()).copied().unwrap_or_default()
    }

    fn set(&mut self, id: NodeId, measure: Measure) {
        if let Some(place) = self.0.get_mut(id.index()) {
            *place = measure;
        }
    }

    /// Measures a tree without the elements that are never content, each with all that is in it.
    pub(super) fn of(tree: &Tree, is_left_out: impl Fn(Node) -> bool) -> Self {
        let mut measures = Self(vec![Measure::default(); tree.len()]);
        let mut around: Vec<Around> = Vec::new();
        let mut skip_to = Tree::ROOT;
        for (id, node) in tree.nodes() {
            if id < skip_to {
                continue;
            }
            if is_left_out(node) {
                skip_to = node.end;
                continue;
            }
            measures.end_before(id, &mut around);
            if node.tag == Tag::Text {
                // A blank alone is not text.
                let text = if node.text_length() == 1 { 0 } else { node.text_length() };
                let Some(parent) = around.last_mut() else { continue };
                let links = if parent.is_link { text } else { 0 };
                parent.inside.text += text;
                parent.inside.links += links;
                let block = parent.block;
                if let Some(block) = around.get_mut(block) {
                    block.run.text += text;
                    block.run.links += links;
                }
            } else if node.end.0 > id.0 + 1 {
                let parent = around.last();
                let is_link = parent.is_some_and(|parent| parent.is_link)
                    || node.tag == Tag::A
                        && tree.attribute(node, Attribute::Href).is_some_and(leads_elsewhere);
                let block =
                    parent.map_or(0, |parent| if node.tag.is_inline() { parent.block } else { around.len() });
                let (inside, run) = (Measure::default(), Run::default());
                around.push(Around { id, end: node.end, block, is_link, inside, run });
            }
        }
        measures.end_before(NodeId(u32::MAX), &mut around);
        measures
    }

    /// Ends the elements that end before a node: what each has is also in the one around it.
    fn end_before(&mut self, id: NodeId, around: &mut Vec<Around>) {
        while let Some(ended) = around.pop_if(|last| last.end <= id) {
            let mut inside = ended.inside;
            inside.prose += ended.run.prose();
            self.set(ended.id, inside);
            if let Some(parent) = around.last_mut() {
                parent.inside.add(inside);
            }
        }
    }

    /// Takes elements, in document order, out of the measures of all around them.
    pub(super) fn without(&mut self, tree: &Tree, left_out: &[NodeId]) {
        for id in left_out.iter().copied() {
            let taken = self.get(id);
            self.set(id, Measure::default());
            let mut inside = id;
            while inside != Tree::ROOT {
                inside = tree.node(inside).parent;
                self.set(inside, self.get(inside).without(taken));
            }
        }
    }
}
