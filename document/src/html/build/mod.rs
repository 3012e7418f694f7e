//! From tags to the tree.
//!
//! The tree is the standard's in what matters here: implied end tags, scopes, misnested end tags. It differs where the
//! standard moves elements: text in a table stays there, and a misnested end tag never copies formatting.

mod end;
mod meaning;
mod text;

use self::meaning::{Media, Script};
use super::attribute::Attribute;
use super::parts::Parts;
use super::rules::{self, Scope};
use super::token::TagName;
use super::tree::{Flags, Node};
use super::values::{Value, Values};
use super::{NodeId, Tag, Tree};
use crate::Limits;

/// An element that is open.
#[derive(Clone, Copy, Debug)]
struct Open {
    name: TagName,
    /// Its node; none if it is left out with all that is in it.
    node: Option<NodeId>,
    /// The blanks of text in it count.
    is_preformatted: bool,
}

/// A tree that grows.
#[derive(Debug)]
pub(super) struct Builder<'p> {
    nodes: Vec<Node>,
    attributes: Vec<Value>,
    text: Vec<u8>,
    pub(super) values: Values<'p>,
    pub(super) parts: Parts,
    open: Vec<Open>,
    /// The number of open elements, by name.
    counts: [u32; TagName::BUCKETS],
    /// The number of end tags to come for elements that are not open: beyond a limit, or closed before their time.
    owed: [u32; TagName::BUCKETS],
    limits: Limits,
    has_body: bool,
    /// The page has begun its `head`, and has not ended it.
    is_in_head: bool,
    is_cut: bool,
    /// Blanks at this place have no effect.
    is_after_blank: bool,
    /// The style sheet that is being read counts on all screens.
    style_counts: bool,
    /// A browser runs the script that is being read.
    pub(super) script_runs: bool,
    /// The video or the sound whose address is still to come.
    waiting: Option<Media>,
}

impl<'p> Builder<'p> {
    pub(super) fn new(page: &'p str, limits: &Limits) -> Self {
        let page_length = page.len();
        // A page of hostile size has few bytes a node.
        let limits = Limits { nodes: limits.nodes.min(1024 + page_length / 4), ..*limits };
        let mut builder = Self {
            // Enough for most pages, so that growing copies little; growing by doubling ends at the limit.
            nodes: Vec::with_capacity(limits.nodes.div_ceil(32)),
            attributes: Vec::with_capacity(page_length / 128),
            text: Vec::with_capacity(page_length / 8),
            values: Values::of(page),
            parts: Parts::default(),
            open: Vec::new(),
            counts: [0; TagName::BUCKETS],
            owed: [0; TagName::BUCKETS],
            limits,
            has_body: false,
            is_in_head: false,
            is_cut: false,
            is_after_blank: true,
            style_counts: true,
            script_runs: false,
            waiting: None,
        };
        builder.push(TagName::of(Tag::Html), Flags::NONE, &[], true);
        builder
    }

    pub(super) fn finish(&mut self) -> Tree<'p> {
        self.close_to(0);
        self.text.shrink_to_fit();
        self.attributes.shrink_to_fit();
        self.nodes.shrink_to_fit();
        let text = String::from_utf8(std::mem::take(&mut self.text));
        Tree {
            nodes: std::mem::take(&mut self.nodes),
            attributes: std::mem::take(&mut self.attributes),
            text: text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
            values: std::mem::take(&mut self.values),
            parts: std::mem::take(&mut self.parts),
            tabs: Vec::new(),
            is_cut: self.is_cut,
        }
    }

    /// Returns true if the open elements are drawings or formulas, so that names have another meaning.
    pub(super) fn is_foreign(&self) -> bool {
        self.has_open(Tag::Svg) || self.has_open(Tag::Math)
    }

    /// Returns true if a part of a drawing or a formula is HTML.
    fn is_in_html(&self) -> bool {
        self.has_open(Tag::ForeignObject) || self.has_open(Tag::AnnotationXml)
    }

    fn has_open(&self, tag: Tag) -> bool {
        self.count(TagName::of(tag)) > 0
    }

    fn count(&self, name: TagName) -> u32 {
        self.counts.get(name.bucket()).copied().unwrap_or_default()
    }

    fn current(&self) -> Open {
        let none = Open { name: TagName::of(Tag::Html), node: None, is_preformatted: false };
        self.open.last().copied().unwrap_or(none)
    }

    /// Takes a start tag; false if its values are not needed.
    pub(super) fn start(
        &mut self,
        name: TagName,
        mut flags: Flags,
        attributes: &[Value],
        is_self_closing: bool,
    ) -> bool {
        let tag = name.tag;
        self.parts.has_styled |= flags.has(Flags::STYLED);
        let opens =
            |value: &Value| matches!(value.attribute, Attribute::AriaControls | Attribute::PopoverTarget);
        self.parts.has_panels |= attributes.iter().any(opens) || flags.has(Flags::PANEL);
        match tag {
            Tag::Html => {
                if let Some(root) = self.nodes.first_mut().filter(|root| root.length == 0) {
                    root.start = number(self.attributes.len());
                    root.length = number_of(attributes.len());
                    self.attributes.extend_from_slice(attributes);
                    return true;
                }
                return false;
            }
            Tag::Head => {
                self.is_in_head |= !self.has_body;
                return false;
            }
            Tag::Body => {
                self.is_in_head = false;
                if self.has_body {
                    return false;
                }
                self.open_body(flags, attributes);
                return true;
            }
            _ => {}
        }
        if tag == Tag::Dialog && attributes.iter().all(|value| value.attribute != Attribute::Open) {
            flags.add(Flags::HIDDEN);
        }
        // A form among the rows of a table has nothing in it.
        if tag == Tag::Form && self.open.last().is_some_and(|open| rules::is_between_cells(open.name.tag)) {
            return false;
        }
        self.is_in_head &= !rules::is_of_body(tag);
        if !self.has_body {
            let is_in_head_element =
                self.open.iter().any(|open| matches!(open.name.tag, Tag::Template | Tag::Svg));
            if rules::belongs_to_head(tag) {
                flags.add(Flags::IN_HEAD);
            } else if !is_in_head_element {
                self.open_body(Flags::NONE, &[]);
            }
        } else if self.is_in_head && rules::states_something(tag) && !self.is_foreign() {
            // An element that does not belong there has ended `head`, but its author does not know.
            flags.add(Flags::IN_HEAD);
        }
        let is_foreign = self.is_foreign();
        if is_foreign && rules::leaves_foreign(tag) && !self.is_in_html() {
            self.close_outermost(Scope::Table, |open| matches!(open, Tag::Svg | Tag::Math));
        }
        if rules::closes_paragraph(tag) && self.has_open(Tag::P) {
            let link = self.link_in_paragraph();
            self.close_outermost(Scope::Button, |open| open == Tag::P);
            // It goes on around the block.
            if let Some(link) = link {
                self.push_again(link);
            }
        }
        if tag.heading_level().is_some() && self.current().name.tag.heading_level().is_some() {
            self.close_to(self.open.len().saturating_sub(1));
        }
        if let Some((scope, closes)) = rules::closed_by_start(tag) {
            match tag {
                Tag::Li | Tag::Dt | Tag::Dd => self.close_item(closes),
                Tag::A => self.end(name),
                _ => self.close_outermost(scope, closes),
            }
        }
        if tag.parts_words() {
            self.is_after_blank = true;
        }
        if tag == Tag::Source && matches!(self.current().name.tag, Tag::Video | Tag::Audio) {
            return self.add_source(flags, attributes);
        }
        if tag.is_void() {
            let is_kept = matches!(tag, Tag::Img | Tag::Br | Tag::Hr)
                || matches!(tag, Tag::Meta | Tag::Link | Tag::Base) && flags.has(Flags::IN_HEAD);
            let is_kept = is_kept
                || tag == Tag::Input && self.is_task(attributes)
                || tag == Tag::Embed && self.is_embedded(tag, attributes);
            if tag == Tag::Img {
                self.is_after_blank = false;
            }
            return is_kept && self.add_leaf(tag, flags, attributes);
        }
        if is_self_closing && (is_foreign || tag == Tag::Svg) {
            return tag == Tag::Svg
                && self.has_open(Tag::Table)
                && has_name(attributes)
                && self.add_leaf(tag, flags, attributes);
        }
        let mut shown_as = None;
        let is_left_out = match tag {
            Tag::Script => {
                let script = self.script(attributes);
                self.script_runs = script == Script::Program;
                self.parts.has_scripts |= self.script_runs;
                shown_as = (script == Script::Tex).then_some(Tag::Math);
                !matches!(script, Script::JsonLd | Script::Tex)
            }
            // The name of a drawing.
            Tag::Title if self.current().name.tag == Tag::Svg => false,
            _ if self.has_open(Tag::Svg) => true,
            // In a cell it may be all that the cell says.
            Tag::Svg => !self.has_open(Tag::Table),
            Tag::Title => !flags.has(Flags::IN_HEAD) || is_foreign,
            Tag::Noscript => {
                self.parts.has_noscript = true;
                false
            }
            Tag::Head | Tag::Rp => false,
            Tag::Object if self.is_plain_object(attributes) => {
                shown_as = Some(Tag::Span);
                false
            }
            Tag::Template => !self.is_shadow(attributes),
            Tag::Style => {
                self.style_counts = !self.has_open(Tag::Noscript) && self.is_for_screens(attributes);
                true
            }
            _ => tag.is_without_text(),
        };
        // The contents of a template are not a part of the page, but the template may keep a place in it.
        let is_place = tag == Tag::Template && is_left_out && self.is_place(attributes);
        let is_kept = is_place && self.add_leaf(tag, flags, attributes)
            || matches!(tag, Tag::Iframe | Tag::Video | Tag::Audio | Tag::Object)
                && self.is_embedded(tag, attributes)
                && self.add_leaf(Tag::Embed, flags, attributes);
        let added = self.nodes.len();
        if matches!(tag, Tag::Video | Tag::Audio) {
            self.waiting = self.media(attributes).filter(|_| !is_kept);
        }
        let has_node = self.push(name, flags, attributes, !is_left_out);
        if let Some((node, shown_as)) = self.nodes.get_mut(added).zip(shown_as) {
            node.tag = shown_as;
        }
        let waits = matches!(tag, Tag::Video | Tag::Audio) && self.waiting.is_some();
        has_node || is_kept || waits
    }

    fn open_body(&mut self, flags: Flags, attributes: &[Value]) {
        self.has_body = true;
        self.close_to(1);
        self.push(TagName::of(Tag::Body), flags, attributes, true);
    }

    /// Opens an element; false if it has no node.
    fn push(&mut self, name: TagName, flags: Flags, attributes: &[Value], is_kept: bool) -> bool {
        if self.open.len() >= self.limits.depth {
            self.is_cut = true;
            self.owe(name);
            return false;
        }
        let is_kept = is_kept && (self.open.is_empty() || self.current().node.is_some());
        let node = if is_kept { self.add_node(name.tag, flags, attributes) } else { None };
        if is_kept && node.is_none() {
            self.owe(name);
            return false;
        }
        let is_preformatted = self.current().is_preformatted || rules::is_preformatted(name.tag);
        self.open.push(Open { name, node, is_preformatted });
        if let Some(count) = self.counts.get_mut(name.bucket()) {
            *count += 1;
        }
        node.is_some()
    }

    /// The link that is open in the innermost paragraph.
    fn link_in_paragraph(&self) -> Option<NodeId> {
        let inside =
            self.open.iter().rev().take_while(|open| open.name.tag != Tag::P && !open.name.tag.is_special());
        inside.filter(|open| open.name.tag == Tag::A).find_map(|open| open.node)
    }

    /// Opens an element with the attributes of another one once more.
    fn push_again(&mut self, id: NodeId) {
        let Some(other) = self.nodes.get(id.index()).copied() else { return };
        let at = self.nodes.len();
        self.push(TagName::of(other.tag), other.flags, &[], true);
        if let Some(node) = self.nodes.get_mut(at) {
            node.start = other.start;
            node.length = other.length;
        }
    }

    fn owe(&mut self, name: TagName) {
        if let Some(owed) = self.owed.get_mut(name.bucket()) {
            *owed = owed.saturating_add(1);
        }
    }

    fn add_leaf(&mut self, tag: Tag, flags: Flags, attributes: &[Value]) -> bool {
        self.current().node.is_some() && self.add_node(tag, flags, attributes).is_some()
    }

    /// Adds what a video or a sound plays, in its place, if it has not said so itself.
    fn add_source(&mut self, flags: Flags, attributes: &[Value]) -> bool {
        let parent = self.open.iter().rev().nth(1).and_then(|open| open.node);
        let has_address = attributes.iter().any(|value| value.attribute == Attribute::Src);
        let media = self.waiting.filter(|_| has_address && parent.is_some());
        let Some(Media { name }) = media else { return false };
        self.waiting = None;
        let attributes: Vec<Value> = attributes.iter().copied().chain(name).collect();
        let id = self.add_node(Tag::Embed, flags, &attributes);
        if let (Some(parent), Some(node)) = (parent, id.and_then(|id| self.nodes.get_mut(id.index()))) {
            node.parent = parent;
        }
        id.is_some()
    }

    /// Adds an element to the current one, if there is room.
    fn add_node(&mut self, tag: Tag, flags: Flags, attributes: &[Value]) -> Option<NodeId> {
        let id = NodeId(number(self.nodes.len()));
        if self.nodes.len() >= self.limits.nodes {
            self.is_cut = true;
            return None;
        }
        self.nodes.push(Node {
            tag,
            flags,
            parent: self.current().node.unwrap_or(Tree::ROOT),
            end: NodeId(id.0 + 1),
            start: number(self.attributes.len()),
            length: number_of(attributes.len()),
        });
        self.attributes.extend_from_slice(attributes);
        Some(id)
    }
}

/// Returns true if a drawing has a name.
fn has_name(attributes: &[Value]) -> bool {
    attributes.iter().any(|value| matches!(value.attribute, Attribute::AriaLabel | Attribute::Title))
}

impl TagName {
    /// The name of an element with a meaning.
    pub(super) const fn of(tag: Tag) -> Self {
        Self { tag, hash: 0 }
    }
}

/// A number of attributes, which have different names, or of the bytes of a run of text, which is never longer.
fn number_of(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

/// A number in an array that the limit on a page's bytes bounds.
fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
