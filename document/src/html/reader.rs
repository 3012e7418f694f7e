//! The tokenizer's calls, and the states that elements with raw text put it in.

use html5gum::{Emitter, Error, State, Tokenizer};

use super::build::Builder;
use super::input::Input;
use super::token::Token;
use super::{Tag, Tree, compose, noscript, roles, view};
use crate::Limits;

/// Reads a page, as people see it.
pub(crate) fn parse<'p>(page: &'p str, limits: &Limits) -> Tree<'p> {
    let tree = tree_of(page, limits);
    let mut tree = if tree.parts.is_in_order() { tree } else { compose::composed(tree, limits) };
    if tree.parts.has_roles {
        roles::apply(&mut tree);
    }
    if !tree.parts.is_plain() {
        view::view(&mut tree);
    }
    if tree.parts.has_noscript {
        noscript::show(&mut tree);
    }
    tree
}

/// Reads a page, as its source has it.
pub(super) fn tree_of<'p>(page: &'p str, limits: &Limits) -> Tree<'p> {
    let reader = Reader {
        builder: Builder::new(page, limits),
        token: Token::new(),
        raw: None,
        is_self_closing: false,
        is_line_end_ignored: false,
        begins_style: false,
        comment: Comment::default(),
        tree: None,
    };
    // The one token that comes out is the tree.
    let mut tokens = Tokenizer::new_with_emitter(Input::new(page), reader);
    tokens.next().and_then(Result::ok).unwrap_or_default()
}

/// The first bytes of a comment: enough for those that have a meaning.
#[derive(Debug, Default)]
struct Comment {
    bytes: [u8; 3],
    length: usize,
}

impl Comment {
    fn push(&mut self, more: &[u8]) {
        for byte in more.iter().take(self.bytes.len()) {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = *byte;
            }
            self.length += 1;
        }
    }

    /// True for the end of what React streams in, false for its start.
    fn is_end_of_boundary(&self) -> Option<bool> {
        match self.bytes.get(..self.length)? {
            b"$" | b"$?" | b"$!" | b"$~" | b"&" => Some(false),
            b"/$" | b"/&" => Some(true),
            _ => None,
        }
    }
}

struct Reader<'p> {
    builder: Builder<'p>,
    token: Token<'p>,
    /// The element whose content is raw text.
    raw: Option<Tag>,
    is_self_closing: bool,
    /// A line end here belongs to the source, not to the text: it follows `<pre>`.
    is_line_end_ignored: bool,
    /// The next characters are the first ones of a style sheet.
    begins_style: bool,
    /// The start of the comment that is being read.
    comment: Comment,
    tree: Option<Tree<'p>>,
}

impl<'p> Emitter for Reader<'p> {
    type Token = Tree<'p>;

    fn set_last_start_tag(&mut self, _: Option<&[u8]>) {}

    fn emit_eof(&mut self) {
        let parts = &mut self.builder.parts;
        parts.products = self.token.products;
        parts.has_roles = self.token.has_roles;
        parts.has_panels |= self.token.has_tabs;
        self.tree = Some(self.builder.finish());
    }

    fn emit_error(&mut self, _: Error) {}

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn pop_token(&mut self) -> Option<Tree<'p>> {
        self.tree.take()
    }

    fn emit_string(&mut self, mut characters: &[u8]) {
        if std::mem::take(&mut self.is_line_end_ignored) {
            characters = characters.strip_prefix(b"\n").unwrap_or(characters);
        }
        if self.raw == Some(Tag::Script) && self.builder.script_runs {
            self.builder.parts.read_script(characters, &self.builder.values);
        }
        if self.raw == Some(Tag::Style) {
            self.begins_style &= !self.builder.style(characters, self.begins_style);
        }
        self.builder.text(characters);
    }

    fn init_start_tag(&mut self) {
        self.is_self_closing = false;
        self.token.begin(false, &self.builder.values);
    }

    fn init_end_tag(&mut self) {
        self.token.begin(true, &self.builder.values);
    }

    fn init_comment(&mut self) {
        self.comment = Comment::default();
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.is_line_end_ignored = false;
        self.token.end(&mut self.builder.values);
        let name = self.token.name();
        self.raw = None;
        if self.token.is_end {
            self.builder.end(name);
            return None;
        }
        let is_foreign = self.builder.is_foreign();
        if !self.builder.start(name, self.token.flags, &self.token.attributes, self.is_self_closing) {
            self.token.discard(&mut self.builder.values);
        }
        if is_foreign {
            return None;
        }
        let state = match name.tag {
            Tag::Title | Tag::Textarea => State::RcData,
            Tag::Script => State::ScriptData,
            Tag::Style | Tag::Iframe | Tag::Xmp | Tag::Noembed | Tag::Noframes => State::RawText,
            Tag::Plaintext => State::PlainText,
            tag => {
                self.is_line_end_ignored = matches!(tag, Tag::Pre | Tag::Listing);
                return None;
            }
        };
        self.raw = Some(name.tag);
        self.begins_style = name.tag == Tag::Style;
        Some(state)
    }

    fn emit_current_comment(&mut self) {
        if let Some(is_end) = self.comment.is_end_of_boundary() {
            self.builder.boundary(is_end);
        }
    }

    fn emit_current_doctype(&mut self) {}

    fn set_self_closing(&mut self) {
        self.is_self_closing = true;
    }

    fn set_force_quirks(&mut self) {}

    fn push_tag_name(&mut self, name: &[u8]) {
        self.token.push_name(name);
    }

    fn push_comment(&mut self, more: &[u8]) {
        self.comment.push(more);
    }

    fn push_doctype_name(&mut self, _: &[u8]) {}

    fn init_doctype(&mut self) {}

    fn init_attribute(&mut self) {
        self.token.begin_attribute(&mut self.builder.values);
    }

    fn init_attribute_value(&mut self) {
        self.token.begin_value();
    }

    fn push_attribute_name(&mut self, name: &[u8]) {
        self.token.push_attribute_name(name);
    }

    fn push_attribute_value(&mut self, value: &[u8]) {
        self.token.push_value(&mut self.builder.values, value);
    }

    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.raw.is_some_and(|raw| self.token.ends(raw))
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.builder.is_foreign()
    }
}
