//! The walk through the content, in document order and without recursion.

mod formula;
mod inline;
mod parts;
mod rows;
mod scripts;
mod spans;
mod title;

use self::spans::may_be_word;
use super::blocks::{Blocks, Numbers};
use super::escape::Into;
use super::line::{Line, Mark};
use super::table::{self, Table};
use super::{Heading, Image, Link, Written, code};
use crate::addresses::{Address, Addresses};
use crate::content::Content;
use crate::head::Head;
use crate::html::tree::Flags;
use crate::html::{Attribute, Node, NodeId, Tag, Tree};

pub(crate) use self::inline::CAPTION_DISTANCE;

/// The work at the end of an element.
#[derive(Debug)]
enum Ending {
    Block,
    Mark,
    Link { node: Node, address: Address, text_from: usize },
    Heading { level: u8, id: Option<Box<str>>, text_from: usize },
    Item,
    List,
    ListInList,
    Quote,
    Label,
    Row,
    RowGroup,
    Cell { id: NodeId, is_header: bool, columns: usize, rows: usize },
    Table,
    Caption,
    Figure,
    Text(&'static str),
}

struct Walk<'p> {
    tree: &'p Tree<'p>,
    addresses: &'p Addresses,
    content: &'p Content,
    blocks: Blocks,
    line: Line,
    /// The elements that the walk is in and that end with something, with where they end.
    endings: Vec<(NodeId, Ending)>,
    table: Option<Table>,
    /// The caption of the figure around, which its first image has as its title.
    caption: Option<String>,
    /// The element of that caption.
    caption_of: Option<NodeId>,
    headings: Vec<Heading>,
    links: Vec<Link>,
    images: Vec<Image>,
    /// The end of the last heading that has no more text than headings have.
    short_heading_end: NodeId,
    /// There is no room for more text.
    is_full: bool,
}

/// The nodes of a heading that may have blocks in it.
const MOST_IN_HEADING: usize = 64;

/// Writes the content of a page below its title; its description if there is no content.
pub(crate) fn write(
    tree: &Tree,
    content: &Content,
    addresses: &Addresses,
    head: &Head,
    room: usize,
) -> Written {
    // They are counted before, since growing lists take twice their bytes, and more as they grow.
    let count =
        |is_it: &dyn Fn(Node) -> bool| tree.inside(content.root).filter(|(_, node)| is_it(*node)).count();
    let mut walk = Walk {
        tree,
        addresses,
        content,
        blocks: Blocks::new(room),
        line: Line::new(),
        endings: Vec::new(),
        table: None,
        caption: None,
        caption_of: None,
        headings: Vec::with_capacity(1 + count(&|node| node.tag.heading_level().is_some())),
        links: Vec::with_capacity(count(&|node| {
            node.tag == Tag::A && tree.address(node, Attribute::Href).is_some()
        })),
        images: Vec::with_capacity(count(&|node| node.tag == Tag::Img)),
        short_heading_end: Tree::ROOT,
        is_full: false,
    };
    let title_node = walk.title(head);
    let title_length = walk.blocks.len();
    let mut left_out = content.left_out().iter().copied().peekable();
    let mut skip_to = content.root;
    for (id, node) in tree.inside(content.root) {
        if id < skip_to {
            continue;
        }
        walk.end_before(id);
        while left_out.peek().is_some_and(|other| *other < id) {
            left_out.next();
        }
        let is_left_out = left_out.peek() == Some(&id) || title_node == Some(id);
        if is_left_out {
            walk.leave_out(node);
            skip_to = node.end;
        } else if walk.enter(id, node) == Inside::Skip {
            skip_to = node.end;
        }
        if walk.is_full {
            break;
        }
    }
    walk.end_before(NodeId(u32::MAX));
    walk.flush();
    if walk.blocks.len() == title_length {
        walk.line.push(head.description.as_deref().unwrap_or_default());
        walk.flush();
    }
    Written {
        is_cut: walk.blocks.is_cut || walk.is_full,
        markdown: walk.blocks.finish(),
        headings: walk.headings,
        links: walk.links,
        images: walk.images,
    }
}

fn is_list(tag: Tag) -> bool {
    matches!(tag, Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Walk,
    Skip,
}

impl Walk<'_> {
    fn add_heading(&mut self, level: u8, markdown: &str, text: String, id: Option<Box<str>>) {
        if !text.is_empty() && self.blocks.take_room(text.len()) {
            self.headings.push(Heading { level, text: text.into(), id });
        }
        self.blocks.heading(level, markdown);
    }

    /// The page's name for the place of a heading.
    fn id_of(&self, id: NodeId, node: Node) -> Option<Box<str>> {
        let named = |node: Node| self.tree.attribute(node, Attribute::Id).filter(|id| !id.is_empty());
        let own = named(node);
        let inside = || self.tree.inside(id).skip(1).find_map(|(_, node)| named(node));
        // A section that begins with the heading.
        let around = || {
            named(self.tree.node(node.parent))
                .filter(|_| node.parent.0 + 1 == id.0 && node.parent != Tree::ROOT)
        };
        own.or_else(inside).or_else(around).map(Box::from)
    }

    /// Passes an element that is left out: a block parts the text around it.
    fn leave_out(&mut self, node: Node) {
        if node.tag.parts_words() && !node.flags.has(Flags::HIDDEN) {
            self.part_text();
        }
    }

    /// Parts runs of text; in a heading, words.
    fn part_text(&mut self) {
        if self.is_in_heading() {
            self.line.part_captures();
            self.line.blank();
        } else {
            self.flush();
        }
    }

    /// Ends what ends before a node.
    fn end_before(&mut self, id: NodeId) {
        while self.endings.last().is_some_and(|(end, _)| *end <= id) {
            if let Some((_, ending)) = self.endings.pop() {
                self.end(ending);
            }
        }
    }

    /// Ends a run of text: a paragraph, or a part of a cell.
    fn flush(&mut self) {
        if self.line.into == Into::Cell {
            self.line.part_captures();
            self.line.blank();
        } else {
            let text = self.line.take();
            self.blocks.paragraph(&text);
        }
    }

    fn end(&mut self, ending: Ending) {
        match ending {
            Ending::Block => self.flush(),
            Ending::Mark => self.line.end(),
            Ending::Label => {
                self.line.end();
                self.flush();
            }
            Ending::Text(text) => self.line.push(text),
            Ending::Link { node, address, text_from } => {
                self.line.end();
                let text = Some(self.line.end_capture(text_from)).filter(|text| !text.is_empty());
                let rel =
                    self.tree.attribute(node, Attribute::Rel).map(str::trim).filter(|rel| !rel.is_empty());
                let Address { url, is_internal: internal } = address;
                let bytes = url.len() + text.as_deref().map_or(0, str::len);
                if self.blocks.take_room(bytes) {
                    let text = text.map(String::into_boxed_str);
                    self.links.push(Link { url, text, internal, rel: rel.map(Box::from) });
                }
            }
            Ending::Heading { level, id, text_from } => {
                let markdown = self.line.take();
                let text = self.line.end_capture(text_from);
                self.add_heading(level, &markdown, text, id);
            }
            Ending::Item => {
                self.flush();
                self.blocks.end_item();
            }
            Ending::List => {
                self.flush();
                self.blocks.end_list();
            }
            Ending::ListInList => {
                self.flush();
                self.blocks.end_list();
                self.blocks.end_item();
            }
            Ending::Quote => {
                self.flush();
                self.blocks.end_quote();
            }
            Ending::Row => {
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            Ending::RowGroup => {
                if let Some(table) = &mut self.table {
                    table.end_group();
                }
            }
            Ending::Cell { id, is_header, columns, rows } => self.end_cell(id, is_header, columns, rows),
            Ending::Table => {
                let rest = self.line.take();
                self.line.into = Into::Block;
                self.is_full |= self.table.as_ref().is_some_and(|table| table.is_cut);
                let table = self.table.take().map(Table::finish).unwrap_or_default();
                self.blocks.verbatim(&table);
                self.blocks.paragraph(&rest);
            }
            Ending::Caption => {
                let text = self.line.take();
                self.line.end();
                self.blocks.paragraph(&text);
                self.line.into = Into::Cell;
            }
            Ending::Figure => {
                self.flush();
                self.caption = None;
                self.caption_of = None;
            }
        }
    }

    fn ends_with(&mut self, node: Node, ending: Ending) -> Inside {
        self.endings.push((node.end, ending));
        Inside::Walk
    }

    fn enter(&mut self, id: NodeId, node: Node) -> Inside {
        if may_be_word(node.tag) {
            self.part_words(id, node);
        }
        match node.tag {
            Tag::Text => self.text(self.tree.text(node)),
            Tag::Br => self.line.line_break(),
            Tag::Img => self.image(id, node),
            Tag::Embed => self.embedded(node),
            Tag::Hr if self.line.into == Into::Cell || self.is_in_heading() => self.line.blank(),
            Tag::Hr => {
                self.flush();
                if self.blocks.len() > 0 {
                    self.blocks.verbatim("* * *");
                }
            }
            Tag::Strong | Tag::B => return self.mark(node, Mark::Strong),
            Tag::Em | Tag::I => return self.mark(node, Mark::Emphasis),
            Tag::Del | Tag::S | Tag::Strike => return self.mark(node, Mark::Deleted),
            Tag::A => return self.link(id, node),
            Tag::Code | Tag::Kbd | Tag::Samp | Tag::Tt => return self.code(id, node),
            Tag::Q => {
                self.line.push("“");
                return self.ends_with(node, Ending::Text("”"));
            }
            Tag::Rt => {
                self.line.push("(");
                return self.ends_with(node, Ending::Text(")"));
            }
            Tag::Rp => return Inside::Skip,
            Tag::Sup => return self.superscript(id, node),
            Tag::Sub => return self.subscript(id, node),
            Tag::Math => return self.formula(id, node),
            Tag::Input => self.checkbox(node),
            // In a heading it opens what follows.
            Tag::Button if self.is_in_heading() => {}
            tag if tag.is_inline() => {}
            _ => return self.block(id, node),
        }
        Inside::Walk
    }

    fn is_in_heading(&self) -> bool {
        self.endings.iter().any(|(_, ending)| matches!(ending, Ending::Heading { .. }))
    }

    /// The numbers of the items of a list.
    fn numbers(&self, id: NodeId, node: Node) -> Numbers {
        let is_reversed = self.tree.attribute(node, Attribute::Reversed).is_some();
        let items = || self.tree.children(id).filter(|(_, node)| node.tag == Tag::Li).count();
        let first = || if is_reversed { u32::try_from(items()).unwrap_or(1) } else { 1 };
        Numbers { next: self.number(node, Attribute::Start).unwrap_or_else(first), is_reversed }
    }

    /// A number of an item, if markdown has it.
    fn number(&self, node: Node, attribute: Attribute) -> Option<u32> {
        let number = self.tree.attribute(node, attribute).and_then(|number| number.trim().parse().ok());
        number.filter(|number| *number < 999_000_000)
    }

    /// Returns true if a heading has no more text than headings have. Its blocks are words of it, then.
    fn is_short(&self, id: NodeId, node: Node) -> bool {
        const LONGEST: u32 = 400;
        let nodes = self.tree.inside(id).take(MOST_IN_HEADING);
        let text: u32 = nodes.map(|(_, node)| node.text_length()).sum();
        text <= LONGEST && node.end.index() - id.index() <= MOST_IN_HEADING
    }

    fn block(&mut self, id: NodeId, node: Node) -> Inside {
        if self.caption_of == Some(id) {
            return Inside::Skip;
        }
        if self.line.into == Into::Cell {
            return self.in_table(id, node);
        }
        let is_line = matches!(
            node.tag,
            Tag::Div | Tag::P | Tag::Section | Tag::Center | Tag::Header | Tag::Hgroup | Tag::Address
        );
        if is_line && id < self.short_heading_end {
            self.part_text();
            return Inside::Walk;
        }
        self.flush();
        if let Some(name) = self.tree.name_of_panel(id, node) {
            self.label(&name);
        }
        if node.tag.heading_level().is_some() && self.is_short(id, node) {
            self.short_heading_end = node.end;
        }
        let ending = match node.tag {
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => Ending::Heading {
                level: node.tag.heading_level().unwrap_or(1),
                id: self.id_of(id, node),
                text_from: self.line.begin_capture(),
            },
            Tag::Ul | Tag::Menu | Tag::Dir | Tag::Ol => {
                // Browsers show a list directly in another one below the item before.
                let is_in_list = is_list(self.tree.node(node.parent).tag) && self.blocks.go_on_with_item();
                self.blocks.begin_list((node.tag == Tag::Ol).then(|| self.numbers(id, node)));
                if is_in_list { Ending::ListInList } else { Ending::List }
            }
            Tag::Li => {
                self.blocks.begin_item(self.number(node, Attribute::Value));
                Ending::Item
            }
            Tag::Blockquote if self.tree.note(node).is_none() => {
                self.blocks.begin_quote();
                Ending::Quote
            }
            Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext => {
                if let Some(block) = code::block(self.tree, id, node) {
                    self.blocks.verbatim(&block);
                }
                return Inside::Skip;
            }
            Tag::Dt | Tag::Summary | Tag::Legend | Tag::Caption => {
                self.line.begin(Mark::Strong);
                Ending::Label
            }
            Tag::Table if table::is_data(self.tree, id, node) => {
                self.table = Some(Table::default());
                self.line.into = Into::Cell;
                Ending::Table
            }
            Tag::Figure | Tag::Div if self.caption_of.is_none() && self.is_figure(id, node) => {
                self.figure(id);
                Ending::Figure
            }
            Tag::Figcaption => {
                self.line.begin(Mark::Emphasis);
                Ending::Label
            }
            _ => self.part(id, node),
        };
        self.ends_with(node, ending)
    }
}
