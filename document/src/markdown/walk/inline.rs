//! The contents of a line of text: links, code, images, and the text itself.

use super::super::Image;
use super::super::escape;
use super::super::line::Mark;
use super::{Ending, Inside, Walk, formula};
use crate::addresses::destination;
use crate::html::tree::Flags;
use crate::html::{Attribute, Node, NodeId, Tag};

/// The most text in one span of code; what has more is not one.
const LONGEST_CODE: usize = 1000;

/// The most text of a power.
const LONGEST_POWER: usize = 16;

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
        // A mark behind a heading that leads to the heading.
        if self.is_in_heading() && self.tree.is_permalink(id, node) {
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
            node.tag == Tag::Annotation && encoding.to_ascii_lowercase().contains("tex")
        };
        let annotation = self.tree.inside(id).find(|(_, node)| is_tex(*node));
        let tex = annotation.map(|(id, _)| self.tree.all_text(id)).filter(|tex| !tex.trim().is_empty());
        let stated = || self.tree.attribute(node, Attribute::Alttext).map(str::to_owned);
        match tex.or_else(stated) {
            Some(tex) => self.tex(&tex),
            None => {
                let text = formula::in_a_line(self.tree, id);
                self.text(&text);
                if self.tree.all_text(id).ends_with(' ') {
                    self.line.blank();
                }
            }
        }
        Inside::Skip
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

    /// A power or the number of a note is not a further digit, nor is an exponent a factor.
    pub(super) fn superscript(&mut self, id: NodeId, node: Node) -> Inside {
        // The end of a word: XIXe, 2o, 1a.
        const ORDINALS: [&str; 4] = ["e", "o", "a", "è"];
        let is_inner = self.tree.node(node.parent).tag == Tag::Sup;
        let before = self.line.last().filter(|last| !last.is_whitespace());
        if is_inner || before.is_none() {
            return Inside::Walk;
        }
        let text = self.tree.all_text(id);
        let text = text.trim();
        let is_sign = |c: char| matches!(c, '-' | '+' | '\u{2212}');
        let term = text.trim_start_matches(is_sign);
        let is_term = !term.is_empty() && term.len() <= LONGEST_POWER;
        let is_number = term.bytes().all(|byte| byte.is_ascii_digit());
        let is_letter = term.chars().count() == 1 && term.chars().all(char::is_alphabetic);
        let is_expression = term.starts_with(char::is_alphanumeric)
            && term.contains(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '\u{2212}' | '*' | '/'))
            && !is_number;
        let is_fraction = || self.tree.text(self.tree.node(node.end)).starts_with(['/', '\u{2044}']);
        if !is_term || !is_number && !is_letter && !is_expression {
            return Inside::Walk;
        }
        if is_fraction() {
            // 1 1/2
            if before.is_some_and(char::is_numeric) {
                self.line.blank();
            }
            return Inside::Walk;
        }
        let is_counted = |c: char| c.is_numeric() || c.is_uppercase() || c == 'n';
        if ORDINALS.contains(&text) && before.is_some_and(is_counted) {
            return Inside::Walk;
        }
        self.line.push_markup("^");
        if !is_expression {
            return Inside::Walk;
        }
        self.line.push("(");
        self.ends_with(node, Ending::Text(")"))
    }

    /// An index beside digits is not a further digit.
    pub(super) fn subscript(&mut self, id: NodeId, node: Node) {
        let is_digit = |c: char| c.is_ascii_digit();
        let text = self.tree.all_text(id);
        let is_after_digit = self.line.last().is_some_and(is_digit);
        let is_before_digit = self.tree.text(self.tree.node(node.end)).starts_with(is_digit);
        if text.trim().starts_with(is_digit) && (is_after_digit || is_before_digit) {
            self.line.push_markup("\\_");
        }
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
        matches!(node.tag, Tag::Div | Tag::P)
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
        // A page that loads images later has a stand-in until then.
        const ADDRESSES: [Attribute; 4] =
            [Attribute::DataSrc, Attribute::DataLazySrc, Attribute::DataOriginal, Attribute::Src];
        let addresses = ADDRESSES.into_iter().filter_map(|attribute| self.tree.address(node, attribute));
        let first_of_set = |attribute| {
            let set = self.tree.attribute(node, attribute)?;
            // Of a value that was cut, the first address is whole.
            set.split_ascii_whitespace().next().map(|first| first.trim_end_matches(','))
        };
        let sets = [Attribute::DataSrcset, Attribute::Srcset].into_iter().filter_map(first_of_set);
        addresses.chain(sets).find_map(|address| self.addresses.resolve(address)).map(|address| address.url)
    }

    pub(super) fn image(&mut self, node: Node) {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let alt = self.tree.attribute(node, Attribute::Alt).map(words).filter(|alt| !alt.is_empty());
        if let Some(tex) = alt.as_deref().filter(|_| self.is_formula(node)) {
            self.tex(tex);
            return;
        }
        let Some(url) = self.source(node) else { return };
        let caption =
            self.caption.take().map(|caption| words(&caption)).filter(|caption| !caption.is_empty());
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
