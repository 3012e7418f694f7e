//! Texts that a part of a User-Agent may begin with, found at a cost that hardly depends on how many they are.

use super::window_filter::WindowFilter;

/// A list of texts, in any ASCII case.
#[derive(Debug)]
pub(super) struct Phrases<const N: usize> {
    list: [&'static str; N],
    /// The first bytes of each.
    beginnings: WindowFilter,
    /// The index of the first text with each [`initial`], and of the next text with the same one; [`NONE`] after the
    /// last one.
    first: [u8; INITIALS],
    next: [u8; N],
}

const INITIALS: usize = 32;
const NONE: u8 = u8::MAX;

/// A number for the first byte of a text. The lowest bits of a letter are the same in both cases.
const fn initial(byte: u8) -> usize {
    byte as usize % INITIALS
}

impl<const N: usize> Phrases<N> {
    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; `get` is not const")]
    pub(super) const fn new(list: [&'static str; N]) -> Self {
        assert!(N < NONE as usize, "texts are numbered in a byte");
        let mut phrases =
            Self { list, beginnings: WindowFilter::new(), first: [NONE; INITIALS], next: [NONE; N] };
        let mut index = N;
        while index > 0 {
            index -= 1;
            let text = list[index].as_bytes();
            phrases.beginnings.insert_beginning(text);
            phrases.next[index] = phrases.first[initial(text[0])];
            phrases.first[initial(text[0])] = index as u8;
        }
        phrases
    }

    /// Returns true if the text begins with one of them.
    pub(super) fn begins(&self, text: &[u8]) -> bool {
        self.beginnings.may_begin(text) && self.candidates(text).any(|phrase| begins_with(text, phrase))
    }

    /// The texts with the same initial.
    fn candidates(&self, text: &[u8]) -> impl Iterator<Item = &'static str> {
        let head = text.first().and_then(|first| self.first.get(initial(*first)));
        let indices = core::iter::successors(head, |index| self.next.get(usize::from(**index)));
        indices.map_while(|index| self.list.get(usize::from(*index)).copied())
    }
}

/// Returns true if the text begins with the other one, in any ASCII case.
pub(super) fn begins_with(text: &[u8], beginning: &str) -> bool {
    let beginning = beginning.as_bytes();
    // Nearly all clients send the usual case, which is compared faster.
    text.starts_with(beginning)
        || text.get(..beginning.len()).is_some_and(|part| part.eq_ignore_ascii_case(beginning))
}

/// Returns true if the text ends with the other one, in any ASCII case.
pub(super) fn ends_with(text: &[u8], ending: &str) -> bool {
    let end = text.len().checked_sub(ending.len()).and_then(|start| text.get(start..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(ending.as_bytes()))
}
