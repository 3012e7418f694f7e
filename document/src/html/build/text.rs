//! Text: which blanks of it count, and where it is left out.

use super::super::tree::Flags;
use super::super::{Tag, Tree, rules};
use super::{Builder, Open, number};

/// What text in the current place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextUse {
    /// Text in which a run of blanks is one.
    Flowing,
    /// Text whose blanks count.
    Preformatted,
    /// Text of an element that is left out.
    LeftOut,
}

impl Builder<'_> {
    pub(super) fn see_text_use(&mut self) {
        let is_preformatted = || {
            [Tag::Pre, Tag::Listing, Tag::Xmp, Tag::Plaintext, Tag::Script]
                .into_iter()
                .any(|tag| self.has_open(tag))
        };
        self.text_use = match self.open.last() {
            Some(Open { node: None, .. }) | None => TextUse::LeftOut,
            Some(_) if is_preformatted() => TextUse::Preformatted,
            Some(_) => TextUse::Flowing,
        };
    }

    /// Takes characters.
    pub(in crate::html) fn text(&mut self, characters: &[u8]) {
        if self.text_use == TextUse::LeftOut {
            return;
        }
        let is_all_blank = || characters.iter().all(|byte| is_blank(*byte));
        if !self.has_body && !matches!(self.current().name.tag, Tag::Title | Tag::Script) {
            if is_all_blank() {
                return;
            }
            self.open_body(Flags::NONE, &[]);
        }
        if rules::is_made_of_elements(self.current().name.tag) && is_all_blank() {
            return;
        }
        let start = self.text.len();
        if self.text_use == TextUse::Preformatted {
            self.text.extend(characters.iter().filter(|byte| **byte != 0));
            self.is_after_blank = false;
        } else {
            for &byte in characters {
                if is_blank(byte) {
                    if !self.is_after_blank {
                        self.text.push(b' ');
                    }
                    self.is_after_blank = true;
                } else if byte != 0 {
                    self.text.push(byte);
                    self.is_after_blank = false;
                }
            }
        }
        let length = self.text.len() - start;
        if length == 0 {
            return;
        }
        let parent = self.current().node.unwrap_or(Tree::ROOT);
        let last = self.nodes.last_mut().filter(|last| last.tag == Tag::Text && last.parent == parent);
        if let Some(last) = last {
            last.length = last.length.saturating_add(number(length));
        } else if let Some(id) = self.add_node(Tag::Text, Flags::NONE, &[]) {
            if let Some(node) = self.nodes.get_mut(id.index()) {
                node.start = number(start);
                node.length = number(length);
            }
        } else {
            self.text.truncate(start);
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}
