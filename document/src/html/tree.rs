//! The tree: all nodes in document order in one array.
//!
//! Every node knows where its content ends, so walking and skipping need no pointers. Text is a slice of one string, and
//! the values of attributes are slices of the page.

use std::ops::Range;

use super::parts::Parts;
use super::values::{Value, Values};
use super::{Attribute, Tag};
use crate::html::attribute::LONGEST_VALUE;

/// The number of a node; its content has the numbers after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub(crate) u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An element or a run of text. Hostile pages have one for each four bytes, so it is small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) tag: Tag,
    pub(crate) flags: Flags,
    /// The node that this one is in; the root is in itself.
    pub(crate) parent: NodeId,
    /// The number after that of the last node inside.
    pub(crate) end: NodeId,
    /// Of text: where it starts. Of elements: the number of the first attribute.
    pub(super) start: u32,
    /// Of text: its bytes; longer text is several runs. Of elements: the number of attributes.
    pub(super) length: u16,
}

const _: () = assert!(size_of::<Node>() == 16);

impl Node {
    /// The bytes of a run of text.
    pub(crate) fn text_length(self) -> u32 {
        if self.tag == Tag::Text { u32::from(self.length) } else { 0 }
    }

    /// Returns true if the node with this number is an element with nothing in it, which says nothing by itself.
    pub(crate) fn is_nothing(self, id: NodeId) -> bool {
        let is_empty = self.end.0 == id.0 + 1;
        is_empty && matches!(self.tag, Tag::Div | Tag::I | Tag::Li | Tag::Other | Tag::Span)
    }
}

/// The properties that a start tag gives its element, beyond its name and attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    pub(crate) const NONE: Self = Self(0);
    /// People cannot see the element.
    pub(crate) const HIDDEN: Self = Self(1);
    /// The element is in `head`.
    pub(crate) const IN_HEAD: Self = Self(2);
    /// The page names a part of itself with the element: `class`, `id` or `role`.
    pub(crate) const NAMED: Self = Self(4);
    /// The page may name the element as a note beside the text, or as a part of one.
    pub(crate) const NOTE: Self = Self(8);
    /// The page says that the element is the text of an article.
    pub(crate) const ARTICLE_BODY: Self = Self(16);
    /// The element has a class that publishing systems give to the text of an article.
    pub(crate) const ARTICLE_CLASS: Self = Self(32);
    /// The element is what a tab shows.
    pub(crate) const PANEL: Self = Self(128);
    /// The element has declarations of its own that may hide its text.
    pub(crate) const STYLED: Self = Self(64);

    pub(crate) fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    pub(crate) fn add(&mut self, flag: Self) {
        *self = self.with(flag);
    }

    pub(crate) fn set(&mut self, flag: Self, is_set: bool) {
        self.0 = if is_set { self.0 | flag.0 } else { self.0 & !flag.0 };
    }

    pub(crate) const fn with(self, flag: Self) -> Self {
        Self(self.0 | flag.0)
    }
}

/// A page.
#[derive(Debug, Default)]
pub(crate) struct Tree<'p> {
    pub(super) nodes: Vec<Node>,
    pub(super) attributes: Vec<Value>,
    pub(super) text: String,
    pub(super) values: Values<'p>,
    pub(super) parts: Parts,
    /// The panels that tabs show, in document order, each with the element that names it.
    pub(super) tabs: Vec<(NodeId, NodeId)>,
    /// The page has more than the limits permit: elements or text beyond them are missing.
    pub(crate) is_cut: bool,
}

impl Tree<'_> {
    /// Returns true if the page has scripts that a browser runs.
    pub(crate) fn has_scripts(&self) -> bool {
        self.parts.has_scripts
    }

    /// Returns true if the page calls one of its elements a product. One that does so with several lists them.
    pub(crate) fn has_one_product(&self) -> bool {
        self.parts.products == 1
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The element around everything.
    pub(crate) const ROOT: NodeId = NodeId(0);

    /// The node with a number; text without a character if there is none.
    pub(crate) fn node(&self, id: NodeId) -> Node {
        const NONE: Node = Node {
            tag: Tag::Text,
            flags: Flags::NONE,
            parent: NodeId(0),
            end: NodeId(u32::MAX),
            start: 0,
            length: 0,
        };
        self.nodes.get(id.index()).copied().unwrap_or(NONE)
    }

    /// The nodes in document order.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (NodeId, Node)> + '_ {
        (0..).map(NodeId).zip(&self.nodes).map(|(id, node)| (id, *node))
    }

    /// The nodes inside an element and the element itself, in document order.
    pub(crate) fn inside(&self, id: NodeId) -> impl Iterator<Item = (NodeId, Node)> + '_ {
        self.range(id.0..self.node(id).end.0)
    }

    /// The nodes from a place on, in document order.
    pub(crate) fn from(&self, id: NodeId) -> impl Iterator<Item = (NodeId, Node)> + '_ {
        self.range(id.0..u32::MAX)
    }

    fn range(&self, range: Range<u32>) -> impl Iterator<Item = (NodeId, Node)> + '_ {
        let nodes = self.nodes.get(range.start as usize..(range.end as usize).min(self.nodes.len()));
        range.map(NodeId).zip(nodes.unwrap_or_default()).map(|(id, node)| (id, *node))
    }

    /// The children of an element.
    pub(crate) fn children(&self, id: NodeId) -> impl Iterator<Item = (NodeId, Node)> + '_ {
        self.siblings(NodeId(id.0 + 1), self.node(id).end)
    }

    /// The sibling before a node.
    pub(crate) fn before(&self, id: NodeId) -> Option<NodeId> {
        let parent = self.node(id).parent;
        let last = NodeId(id.0.checked_sub(1)?);
        let around = std::iter::once(last).chain(self.around(last).map(|(id, _)| id));
        around.take_while(|other| *other > parent).find(|other| self.node(*other).parent == parent)
    }

    /// Returns true if a node is a run of a few blanks; nobody writes more between two elements.
    pub(crate) fn is_blank(&self, node: Node) -> bool {
        const MOST: u32 = 64;
        node.tag == Tag::Text && node.text_length() <= MOST && self.text(node).trim().is_empty()
    }

    /// The element beside a node that is the nearest before it.
    pub(crate) fn element_before(&self, id: NodeId) -> Option<(NodeId, Node)> {
        // Perhaps behind blanks.
        const MOST_BETWEEN: usize = 3;
        let mut before = self.all_before(id).take(MOST_BETWEEN).map(|id| (id, self.node(id)));
        before.find(|(_, node)| node.tag != Tag::Text)
    }

    /// The siblings before a node, from the nearest.
    pub(crate) fn all_before(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.before(id), |id| self.before(*id))
    }

    /// The siblings after a node.
    pub(crate) fn after(&self, id: NodeId) -> impl Iterator<Item = (NodeId, Node)> + '_ {
        let node = self.node(id);
        self.siblings(node.end, self.node(node.parent).end)
    }

    /// The first element in another one.
    pub(crate) fn first_element(&self, id: NodeId) -> Option<(NodeId, Node)> {
        self.children(id).find(|(_, node)| node.tag != Tag::Text)
    }

    /// The next element beside a node.
    pub(crate) fn next_element(&self, id: NodeId) -> Option<(NodeId, Node)> {
        self.after(id).find(|(_, node)| node.tag != Tag::Text)
    }

    fn siblings(&self, first: NodeId, end: NodeId) -> impl Iterator<Item = (NodeId, Node)> + '_ {
        let mut next = first;
        std::iter::from_fn(move || {
            let node = *self.nodes.get(next.index()).filter(|_| next < end)?;
            let this = next;
            next = node.end;
            Some((this, node))
        })
    }

    /// The elements around a node, from the innermost.
    pub(crate) fn around(&self, id: NodeId) -> impl Iterator<Item = (NodeId, Node)> + '_ {
        let parent = |id: NodeId| (id != Self::ROOT).then(|| self.node(id).parent);
        std::iter::successors(parent(id), move |id| parent(*id)).map(|id| (id, self.node(id)))
    }

    /// The text of a text node.
    pub(crate) fn text(&self, node: Node) -> &str {
        if node.tag != Tag::Text {
            return "";
        }
        let start = node.start as usize;
        self.text.get(start..start + usize::from(node.length)).unwrap_or_default()
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, node: Node, attribute: Attribute) -> Option<&str> {
        let value = self.values_of(node).iter().find(|value| value.attribute == attribute)?;
        self.values.text(*value)
    }

    /// The attributes of an element.
    pub(super) fn values_of(&self, node: Node) -> &[Value] {
        let start = node.start as usize;
        let values = self.attributes.get(start..start + usize::from(node.length));
        values.filter(|_| node.tag != Tag::Text).unwrap_or_default()
    }

    /// The text of the tab that shows a panel, or what the panel calls itself.
    pub(crate) fn name_of_panel(&self, id: NodeId, node: Node) -> Option<String> {
        const LONGEST: usize = 120;
        const MOST_NODES: usize = 64;
        if self.tabs.is_empty() && !node.flags.has(Flags::PANEL) {
            return None;
        }
        let at = self.tabs.binary_search_by_key(&id, |(panel, _)| *panel).ok();
        let tab = at.and_then(|at| self.tabs.get(at)).map(|(_, tab)| *tab);
        let text = tab.map(|tab| {
            let mut skip_to = tab;
            let texts = self.inside(tab).take(MOST_NODES).map(|(id, node)| {
                // The label itself stands elsewhere.
                if id > tab && id >= skip_to && node.flags.has(Flags::HIDDEN) {
                    skip_to = node.end;
                }
                if id < skip_to { "" } else { self.text(node) }
            });
            texts.flat_map(str::chars).take(LONGEST).collect::<String>()
        });
        let label = || {
            let label = self.attribute(node, Attribute::AriaLabel).filter(|_| node.flags.has(Flags::PANEL));
            label.map(str::to_owned)
        };
        let text = text.filter(|text| !text.trim().is_empty()).or_else(label)?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
    }

    /// The value of an attribute that is an address, without the blanks around it, unless it may have been cut.
    pub(crate) fn address(&self, node: Node, attribute: Attribute) -> Option<&str> {
        let value = self.attribute(node, attribute).filter(|value| value.len() < LONGEST_VALUE - 3)?;
        Some(value.trim_matches(|c: char| c.is_ascii_whitespace())).filter(|value| !value.is_empty())
    }
}

impl Tree<'_> {
    /// All text inside an element, without what people cannot see or read.
    pub(crate) fn all_text(&self, id: NodeId) -> String {
        let mut text = String::new();
        let mut skip_to = id;
        for (id, node) in self.inside(id) {
            if id < skip_to {
                continue;
            }
            if node.tag == Tag::Text {
                text.push_str(if node.flags.has(Flags::HIDDEN) { "" } else { self.text(node) });
            } else if node.flags.has(Flags::HIDDEN) || node.tag.is_without_text() && node.tag != Tag::Title {
                skip_to = node.end;
            } else if !node.tag.is_inline() || node.tag == Tag::Br {
                text.push(' ');
            }
        }
        text
    }

    /// The text of a heading.
    pub(crate) fn heading_text(&self, id: NodeId) -> String {
        let is_mark = |(id, node): &(NodeId, Node)| {
            self.is_permalink(*id, *node) || self.is_button_behind_words(*id, *node)
        };
        let marks = self.inside(id).filter(is_mark);
        let mark = marks.map(|(id, _)| self.all_text(id)).next().unwrap_or_default();
        let text = self.all_text(id);
        let text = text.trim();
        text.strip_suffix(mark.trim())
            .or_else(|| text.strip_prefix(mark.trim()))
            .unwrap_or(text)
            .trim()
            .to_owned()
    }

    /// Returns true if an element of a heading is a mark that leads to the heading itself.
    pub(crate) fn is_permalink(&self, id: NodeId, node: Node) -> bool {
        if node.tag != Tag::A
            || !self.attribute(node, Attribute::Href).is_some_and(|href| href.trim_start().starts_with('#'))
        {
            return false;
        }
        let text = self.all_text(id);
        text.trim().chars().count() <= 2 && !text.chars().any(char::is_alphanumeric)
    }

    /// Returns true if an element is a button behind the words of a heading and says nothing of what it opens, as one that copies
    /// a link.
    pub(crate) fn is_button_behind_words(&self, id: NodeId, node: Node) -> bool {
        const MOST_BEFORE: usize = 16;
        let opens = [Attribute::AriaControls, Attribute::AriaExpanded];
        let has_words = |(_, node): (NodeId, Node)| node.tag == Tag::Text && !self.is_blank(node);
        let mut before = self.inside(node.parent).take(MOST_BEFORE).take_while(|(other, _)| *other < id);
        node.tag == Tag::Button
            && self.node(node.parent).tag.heading_level().is_some()
            && opens.into_iter().all(|attribute| self.attribute(node, attribute).is_none())
            && before.any(has_words)
    }
}
