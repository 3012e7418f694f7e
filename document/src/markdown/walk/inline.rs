//! The contents of a line of text: links, code, images, and the text itself.

use super::super::Image;
use super::super::escape;
use super::super::line::Mark;
use super::{Ending, Inside, Walk, formula, scripts};
use crate::addresses::{destination, pdf_name};
use crate::html::tree::Flags;
use crate::html::{Attribute, Node, NodeId, Tag};

/// The most text in one span of code; what has more is not one.
const LONGEST_CODE: usize = 1000;

/// Marks that lead to the paragraph that they are in, or from a note back to the text.
const MARKS: [&str; 6] = ["¶", "§", "↩", "↩\u{fe0e}", "⤴", "↑"];
/// The nodes between an image and an element that is its title.
pub(crate) const CAPTION_DISTANCE: u32 = 16;
/// The nodes of a figure in which an image is looked for.
const MOST_IN_FIGURE: usize = 256;

/// Of text for which there may be too little room, so many bytes are written at a time.
const PIECE: usize = 256;
/// The bytes that are reserved for the ends of markup, and for the starts of lines.
const ROOM_FOR_MARKS: usize = 512;

impl Walk<'_> {
    /// Returns true if there is no room for a run that goes on with so many bytes, each of which may need a backslash.
    fn is_full_with(&mut self, bytes: usize) -> bool {
        self.is_full |= self.line.len_with_ends() + 2 * bytes + ROOM_FOR_MARKS > self.blocks.room();
        self.is_full
    }

    /// Adds text, as far as there is room for it.
    pub(super) fn text(&mut self, text: &str) {
        let has_room = self.line.len_with_ends() + 2 * text.len() + ROOM_FOR_MARKS <= self.blocks.room();
        if has_room {
            self.line.push(text);
            return;
        }
        let mut rest = text;
        while !rest.is_empty() && !self.is_full_with(PIECE) {
            let end = (1..=PIECE.min(rest.len())).rev().find(|end| rest.is_char_boundary(*end));
            let (piece, after) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, ""));
            self.line.push(piece);
            rest = after;
        }
    }

    pub(super) fn mark(&mut self, node: Node, mark: Mark) -> Inside {
        self.line.begin(mark);
        self.ends_with(node, Ending::Mark)
    }

    pub(super) fn link(&mut self, id: NodeId, node: Node) -> Inside {
        let Some(address) = self.tree.address(node, Attribute::Href) else { return Inside::Walk };
        // A mark behind a heading or a paragraph that leads to it.
        let is_mark = || self.is_in_heading() || MARKS.contains(&self.tree.all_text(id).trim());
        if self.tree.is_permalink(id, node) && is_mark() {
            return Inside::Skip;
        }
        let Some(address) = self.addresses.resolve(address).filter(|_| !self.line.is_in_link()) else {
            return Inside::Walk;
        };
        if self.is_full_with(address.url.len()) {
            return Inside::Skip;
        }
        self.line.begin(Mark::Link(destination(&address.url)));
        let text_from = self.line.begin_capture();
        self.ends_with(node, Ending::Link { node, address, text_from })
    }

    /// Another page, a video or a sound in the page, as a link.
    pub(super) fn embedded(&mut self, node: Node) {
        let Some(address) = self.addresses_of(node).find_map(|address| self.addresses.resolve(address))
        else {
            return;
        };
        let name = [Attribute::Title, Attribute::AriaLabel].into_iter();
        let mut name =
            name.filter_map(|name| self.tree.attribute(node, name)).filter(|name| !name.trim().is_empty());
        let file = || std::str::from_utf8(pdf_name(address.url.as_bytes())?).ok();
        // An address that nobody can resolve has no host.
        let (path, is_whole) = match address.url.split_once("//") {
            Some((before, after)) if before.is_empty() || before.ends_with(':') => (after, true),
            _ => (address.url.split(['?', '#']).next().unwrap_or_default(), false),
        };
        let host = || path.split('/').next().filter(|_| is_whole);
        let last = || path.rsplit('/').find(|part| !part.is_empty());
        let name = name.next().or_else(file).or_else(host).or_else(last);
        let name = name.unwrap_or_default().to_owned();
        if self.is_full_with(address.url.len() + name.len()) {
            return;
        }
        self.part_text();
        self.line.begin(Mark::Link(destination(&address.url)));
        let text_from = self.line.begin_capture();
        self.line.push(&name);
        self.end(Ending::Link { node, address, text_from });
        self.part_text();
    }

    pub(super) fn code(&mut self, id: NodeId, node: Node) -> Inside {
        let mut text = String::new();
        let mut skip_to = id;
        for (id, inner) in self.tree.inside(id) {
            if id < skip_to {
                continue;
            }
            match inner.tag {
                _ if inner.flags.has(Flags::HIDDEN) => skip_to = inner.end,
                Tag::Text => text.push_str(self.tree.text(inner)),
                Tag::Br => text.push('\n'),
                Tag::Sup => text.push_str(scripts::sign(self.tree, id, &text)),
                tag if !tag.is_inline() || tag == Tag::Img => return Inside::Walk,
                _ => {}
            }
            if text.len() > LONGEST_CODE {
                return Inside::Walk;
            }
        }
        if node.end.0 > id.0 + 1 && !self.is_full_with(text.len()) {
            for (number, line) in text.split('\n').enumerate() {
                if number > 0 {
                    self.line.line_break();
                }
                self.line.push_code(line);
            }
        }
        Inside::Skip
    }

    /// A formula, once: as its author wrote it in TeX, if the page says how.
    pub(super) fn formula(&mut self, id: NodeId, node: Node) -> Inside {
        let is_tex = |node: Node| {
            let encoding = self.tree.attribute(node, Attribute::Encoding).unwrap_or_default();
            node.tag == Tag::Annotation && encoding.trim().to_ascii_lowercase().ends_with("tex")
        };
        if self.tree.attribute(node, Attribute::Type).is_some() {
            // A script for MathJax, beside which the page may have the same in MathML.
            if !self.is_behind_formula(id) {
                self.tex(&self.tree.all_text(id));
            }
            return Inside::Skip;
        }
        let annotation = self.tree.inside(id).find(|(_, node)| is_tex(*node));
        let tex = annotation.map(|(id, _)| self.tree.all_text(id)).filter(|tex| !tex.trim().is_empty());
        let stated = self.tree.attribute(node, Attribute::Alttext).filter(|tex| !tex.trim().is_empty());
        let stated = || stated.map(str::to_owned);
        match tex.or_else(stated) {
            Some(tex) => self.tex(&tex),
            None => {
                let text = formula::in_a_line(self.tree, id);
                let is_digit = |c: char| c.is_ascii_digit();
                if self.line.last().is_some_and(is_digit) && text.starts_with(is_digit) {
                    self.line.blank();
                }
                self.text(&text);
                if self.tree.all_text(id).ends_with(' ') {
                    self.line.blank();
                }
            }
        }
        Inside::Skip
    }

    /// Returns true if the element right before has a formula.
    fn is_behind_formula(&self, id: NodeId) -> bool {
        const MOST_LOOKED_AT: usize = 256;
        self.tree.before(id).is_some_and(|before| {
            self.tree.inside(before).take(MOST_LOOKED_AT).any(|(_, node)| node.tag == Tag::Math)
        })
    }

    /// Returns true if an image is a formula, by the names that MediaWiki and others give it.
    fn is_formula(&self, node: Node) -> bool {
        let class = self.tree.attribute(node, Attribute::Class).unwrap_or_default();
        let is_one = |name: &str| name.starts_with("mwe-math-") || matches!(name, "latex" | "tex");
        class.split_ascii_whitespace().any(is_one)
    }

    /// Writes a formula in TeX.
    fn tex(&mut self, tex: &str) {
        let tex = tex.trim();
        // The size that MediaWiki gives all of them.
        let inside = ["{\\displaystyle ", "{\\textstyle "].iter().find_map(|style| tex.strip_prefix(style));
        let tex = inside.and_then(|tex| tex.strip_suffix('}')).unwrap_or(tex);
        let marks = [("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")];
        let inside = |(start, end)| tex.strip_prefix(start)?.strip_suffix(end);
        // A sign of percent at the end of a line takes the line end away.
        let tex = &*marks.into_iter().find_map(inside).unwrap_or(tex).replace("%\n", "");
        if !self.is_full_with(tex.len()) && !tex.trim().is_empty() {
            self.line.push_markup("$");
            self.line.push_code(tex.trim());
            self.line.push_markup("$");
        }
    }

    /// The state of a task.
    pub(super) fn checkbox(&mut self, node: Node) {
        let is_done = self.tree.attribute(node, Attribute::Checked).is_some();
        self.line.push_markup(if is_done { "[x] " } else { "[ ] " });
    }

    /// Returns true if an element is a figure, by what it is or by its name: `wp-caption`.
    pub(super) fn is_figure(&self, id: NodeId, node: Node) -> bool {
        node.tag == Tag::Figure || self.is_named_caption(node) && self.has_image(id)
    }

    fn has_image(&self, id: NodeId) -> bool {
        let mut inside = self.tree.inside(id).take(MOST_IN_FIGURE);
        inside.any(|(_, node)| node.tag == Tag::Img && self.source(node).is_some())
    }

    fn is_named_caption(&self, node: Node) -> bool {
        const NAME: &[u8] = b"caption";
        let class = || self.tree.attribute(node, Attribute::Class).unwrap_or_default();
        matches!(node.tag, Tag::Div | Tag::P | Tag::Td | Tag::Span)
            && node.flags.has(Flags::NAMED)
            && class().as_bytes().windows(NAME.len()).any(|part| part == NAME)
    }

    /// Finds the caption of a figure with an image. That of several figures is text of its own.
    pub(super) fn figure(&mut self, id: NodeId) {
        let is_figure = |node: Node| node.tag == Tag::Figure;
        if !self.has_image(id) || self.tree.inside(id).skip(1).any(|(_, node)| is_figure(node)) {
            return;
        }
        let is_caption =
            |(_, node): &(NodeId, Node)| node.tag == Tag::Figcaption || self.is_named_caption(*node);
        if let Some((caption, _)) = self.tree.inside(id).skip(1).find(is_caption) {
            self.caption_of = Some(caption);
            self.caption = Some(self.tree.all_text(caption));
        }
    }

    fn source(&self, node: Node) -> Option<Box<str>> {
        self.addresses_of(node).find_map(|address| self.addresses.resolve(address)).map(|address| address.url)
    }

    /// The addresses of what an element shows, the best first.
    fn addresses_of(&self, node: Node) -> impl Iterator<Item = &str> {
        // A page that loads images later has a stand-in until then.
        const ADDRESSES: [Attribute; 5] = [
            Attribute::DataSrc,
            Attribute::DataLazySrc,
            Attribute::DataOriginal,
            Attribute::Src,
            Attribute::Data,
        ];
        let addresses = ADDRESSES.into_iter().filter_map(move |attribute| self.tree.address(node, attribute));
        let sets = [Attribute::DataSrcset, Attribute::Srcset].into_iter();
        let sets = sets.filter_map(move |attribute| self.tree.attribute(node, attribute));
        addresses
            .chain(sets.flat_map(|set| set.split(", ").filter_map(|one| one.split_ascii_whitespace().next())))
    }

    /// The text right behind an image that is named as its caption, and is left out as such.
    fn caption_behind(&self, id: NodeId) -> Option<String> {
        let from = id.0 + 1..=id.0 + CAPTION_DISTANCE;
        let mut behind = from.map(NodeId).map(|id| (id, self.tree.node(id)));
        let is_left_out = |id: NodeId| self.content.left_out().binary_search(&id).is_ok();
        let found = behind.find(|(_, node)| node.tag == Tag::Img || self.is_named_caption(*node));
        found
            .filter(|(id, node)| node.tag != Tag::Img && is_left_out(*id))
            .map(|(id, _)| self.tree.all_text(id))
    }

    pub(super) fn image(&mut self, id: NodeId, node: Node) {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let alt = self.tree.attribute(node, Attribute::Alt).map(words).filter(|alt| !alt.is_empty());
        if let Some(tex) = alt.as_deref().filter(|_| self.is_formula(node)) {
            self.tex(tex);
            return;
        }
        let Some(url) = self.source(node) else { return };
        let caption = self.caption.take().or_else(|| self.caption_behind(id));
        let caption = caption.map(|caption| words(&caption)).filter(|caption| !caption.is_empty());
        let bytes = 2 * (url.len() + alt.as_deref().map_or(0, str::len));
        if !self.blocks.take_room(bytes + caption.as_deref().map_or(0, str::len)) {
            return;
        }
        // An image that nobody describes is decoration.
        if alt.is_some() || caption.is_some() {
            let mut markup = "![".to_owned();
            escape::push(
                &mut markup,
                alt.as_deref().or(caption.as_deref()).unwrap_or_default(),
                self.line.into,
            );
            markup.push_str("](");
            markup.push_str(&destination(&url));
            if let Some(caption) = caption.as_deref().filter(|_| alt.is_some()) {
                markup.push_str(" \"");
                let mut escaped = String::new();
                escape::push(&mut escaped, caption, self.line.into);
                markup.push_str(&escaped.replace('"', "\\\""));
                markup.push('"');
            }
            markup.push(')');
            self.line.push_markup(&markup);
        }
        self.images.push(Image { url, alt: alt.map(String::into_boxed_str) });
    }
}
