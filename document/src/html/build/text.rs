//! Text: which blanks of it count, and where it is left out.

use super::super::tree::Flags;
use super::super::{Tag, Tree, rules};
use super::{Builder, number, number_of};

impl Builder<'_> {
    /// Adds characters with one space for each run of blanks.
    fn flowing(&mut self, characters: &[u8]) {
        const WORD: usize = size_of::<u64>();
        // Between two tags there is often nothing else.
        let mut rest = characters.trim_ascii_start();
        if rest.len() < characters.len() {
            self.flowing_bytes(b" ");
        }
        while !rest.is_empty() {
            // Nearly all words of prose are.
            let is_kept = |word: &&[u8; WORD]| {
                let is_kept = is_kept(u64::from_le_bytes(**word), self.is_after_blank);
                if is_kept {
                    self.is_after_blank = word.ends_with(b" ");
                }
                is_kept
            };
            let kept = rest.as_chunks().0.iter().take_while(is_kept).count() * WORD;
            let (kept, others) = rest.split_at_checked(kept).unwrap_or((rest, &[]));
            self.text.extend_from_slice(kept);
            let (word, after) = others.split_at_checked(WORD).unwrap_or((others, &[]));
            self.flowing_bytes(word);
            rest = after;
        }
    }

    fn flowing_bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
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

    /// Returns true if text in the current place is kept.
    fn keeps_text(&self) -> bool {
        self.open.last().is_some_and(|open| open.node.is_some() && open.name.tag != Tag::Svg)
    }

    /// Takes characters.
    pub(in crate::html) fn text(&mut self, characters: &[u8]) {
        if !self.keeps_text() {
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
        if self.current().is_preformatted {
            self.text.extend(characters.iter().filter(|byte| **byte != 0));
            self.is_after_blank = false;
        } else {
            self.flowing(characters);
        }
        self.add_text(start);
    }

    /// Adds the text from this place on to the last run, or as further runs.
    fn add_text(&mut self, mut start: usize) {
        let parent = self.current().node.unwrap_or(Tree::ROOT);
        while start < self.text.len() {
            let length = self.text.len() - start;
            // A stand-in for a part ends where the part ends.
            let is_parted =
                self.parts.boundaries.last().is_some_and(|last| last.at.index() == self.nodes.len());
            let last = self
                .nodes
                .last_mut()
                .filter(|last| last.tag == Tag::Text && last.parent == parent && !is_parted);
            let joined =
                last.and_then(|last| Some((u16::try_from(length).ok()?.checked_add(last.length)?, last)));
            if let Some((joined, last)) = joined {
                last.length = joined;
                return;
            }
            let Some(id) = self.add_node(Tag::Text, Flags::NONE, &[]) else {
                self.text.truncate(start);
                return;
            };
            let end = self.end_of_run(start);
            if let Some(node) = self.nodes.get_mut(id.index()) {
                node.start = number(start);
                node.length = number_of(end - start);
            }
            start = end;
        }
    }

    /// The end of a run of text that starts here: that of the text, or between two characters, so that its length can be kept.
    fn end_of_run(&self, start: usize) -> usize {
        let furthest = start.saturating_add(usize::from(u16::MAX));
        let is_start = |at: &usize| self.text.get(*at).is_none_or(|byte| !matches!(byte, 0x80..=0xbf));
        let end = (furthest.saturating_sub(3)..=furthest).rev().find(is_start);
        end.unwrap_or(furthest).min(self.text.len())
    }
}

/// Returns true if text keeps all of these bytes as they are: visible characters, with single spaces between them. It may be
/// false for bytes that it keeps.
fn is_kept(bytes: u64, is_after_blank: bool) -> bool {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGHS: u64 = ONES << 7;
    // The usual tests of all bytes in a word at a time, for one below a space and for spaces. They may also find a byte
    // after one that they are for.
    let below_space = bytes.wrapping_sub(ONES * 0x20) & !bytes & HIGHS;
    let others = bytes ^ (ONES * 0x20);
    let spaces = others.wrapping_sub(ONES) & !others & HIGHS;
    let before = spaces << 8 | if is_after_blank { 0x80 } else { 0 };
    below_space == 0 && spaces & before == 0
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}
