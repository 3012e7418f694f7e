//! Texts that stand alone in a User-Agent, found by their first word.
//!
//! A text stands alone where neither the character before it nor the one after it continues a word. So its first word is a
//! whole word of the User-Agent. A filter of first words rules out nearly all words of a browser's User-Agent at once; each
//! of the others leads to the few texts that begin with it.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use hashbrown::HashTable;

use super::lists::Sign;
use super::phrases::begins_with;
use super::window_filter::{WindowFilter, key_of_word};
use super::words::{Word, continues_word, words};
use crate::hash;
use crate::sort::sort_by;

/// The meaning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The token with this index.
    Token(usize),
    Sign(Sign),
}

/// The token that a User-Agent claims: the longest one, of equally long ones the first, of equal ones that of the lowest
/// index.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Claim(Option<(usize, Reverse<(usize, usize)>)>);

impl Claim {
    /// Notes a token that stands alone at a place.
    pub(super) fn note(&mut self, place: &Range<usize>, token: usize) {
        self.0 = self.0.max(Some((place.len(), Reverse((place.start, token)))));
    }

    /// The index of the token.
    pub(super) fn token(self) -> Option<usize> {
        self.0.map(|(_, Reverse((_, token)))| token)
    }
}

/// Texts in any ASCII case.
#[derive(Clone, Debug)]
pub(super) struct Vocabulary {
    first_words: WindowFilter,
    /// The number of bytes of the shortest first word.
    pub(super) shortest: usize,
    /// The texts by the hash of their first word.
    groups: HashTable<Group>,
}

/// The texts whose first words have one hash, as the same word has.
#[derive(Clone, Debug)]
struct Group {
    hash: u64,
    /// Sorted.
    texts: Vec<Entry>,
}

/// A text as it is compiled.
#[derive(Clone, Copy)]
struct Text<'a> {
    /// The text before the first word.
    before: &'a str,
    /// The number of bytes of the first word.
    word: usize,
    /// The text from the first word on.
    rest: &'a str,
}

impl<'a> Text<'a> {
    /// `None` if it has no word.
    fn new(text: &'a str) -> Option<Self> {
        let Word { start, length } = words(text.as_bytes(), 0..text.len(), 1).next()?;
        let (before, rest) = text.split_at_checked(start)?;
        Some(Self { before, word: length, rest })
    }

    /// The rest in lower case.
    fn folded(&self) -> impl Iterator<Item = u8> {
        self.rest.bytes().map(|byte| byte.to_ascii_lowercase())
    }
}

/// A text, compiled.
#[derive(Clone, Debug)]
struct Entry {
    /// The text before the first word.
    before: Box<str>,
    /// The rest.
    text: Box<str>,
    /// The longest text before this one in its group that this one begins with.
    shorter: Option<usize>,
    meaning: Meaning,
}

impl Entry {
    /// The range in which this text stands alone, if its first word starts here.
    #[inline]
    fn place(&self, user_agent: &[u8], start: usize) -> Option<Range<usize>> {
        let place = start.checked_sub(self.before.len())?..start + self.text.len();
        let is_before = || {
            user_agent.get(place.start..start) == Some(self.before.as_bytes())
                && !place.start.checked_sub(1).and_then(|at| user_agent.get(at)).is_some_and(continues)
        };
        let here = user_agent.get(start..place.end)?;
        let text = self.text.as_bytes();
        // Nearly all clients send the usual case, which is compared faster.
        let is_here = here == text || here.eq_ignore_ascii_case(text);
        let is_whole = is_here && !user_agent.get(place.end).is_some_and(continues);
        (is_whole && (self.before.is_empty() || is_before())).then_some(place)
    }

    /// Returns true if this text comes before the other one, or is equal.
    fn is_up_to(&self, other: &[u8]) -> bool {
        self.text.bytes().map(|byte| byte.to_ascii_lowercase()).le(other.iter().map(u8::to_ascii_lowercase))
    }
}

fn continues(byte: &u8) -> bool {
    continues_word(*byte)
}

impl Vocabulary {
    /// Compiles tokens and signs. What has no word is never found.
    pub(super) fn new<'a>(tokens: impl IntoIterator<Item = &'a str>, signs: &[(Sign, &[&'a str])]) -> Self {
        let tokens = tokens.into_iter().enumerate().map(|(index, token)| (token, Meaning::Token(index)));
        let signs =
            signs.iter().flat_map(|(sign, names)| names.iter().map(|name| (*name, Meaning::Sign(*sign))));
        let mut texts: Vec<(Text<'_>, Meaning)> =
            tokens.chain(signs).filter_map(|(text, meaning)| Some((Text::new(text)?, meaning))).collect();
        sort_by(&mut texts, |(one, _), (other, _)| one.folded().cmp(other.folded()));
        // A claim counts more than a sign, so a sign that is a token, too, is never asked for. It comes after the token.
        texts.dedup_by(|(later, meaning), (text, _)| {
            matches!(meaning, Meaning::Sign(_))
                && later.before == text.before
                && later.folded().eq(text.folded())
        });
        let mut this = Self {
            first_words: WindowFilter::new(),
            shortest: texts.iter().map(|(text, _)| text.word).min().unwrap_or(usize::MAX),
            groups: HashTable::new(),
        };
        for (text, meaning) in texts {
            this.insert(text, meaning);
        }
        this
    }

    /// Adds a text that is not before those that were added before.
    fn insert(&mut self, Text { before, word, rest }: Text<'_>, meaning: Meaning) {
        self.first_words.insert(key_of_word(rest.as_bytes(), Word { start: 0, length: word }));
        let hash = hash::of_folded(rest.as_bytes().get(..word).unwrap_or_default());
        let entry = self.groups.entry(hash, |group| group.hash == hash, |group| group.hash);
        let group = &mut entry.or_insert(Group { hash, texts: Vec::new() }).into_mut().texts;
        let mut shorter = group.len().checked_sub(1);
        while let Some(entry) = shorter.and_then(|at| group.get(at))
            && !begins_with(rest.as_bytes(), &entry.text)
        {
            shorter = entry.shorter;
        }
        group.push(Entry { before: before.into(), text: rest.into(), shorter, meaning });
    }

    /// Calls a function with the place and the meaning of each text that stands alone in the User-Agent and whose first word
    /// is this one.
    #[inline]
    pub(super) fn each_at(&self, user_agent: &[u8], word: Word, found: impl FnMut(Range<usize>, Meaning)) {
        if self.first_words.may_contain(key_of_word(user_agent, word)) {
            self.each_of_group(user_agent, word, found);
        }
    }

    #[inline(never)]
    fn each_of_group(&self, user_agent: &[u8], word: Word, mut found: impl FnMut(Range<usize>, Meaning)) {
        let start = word.start;
        let hash = hash::of_folded(user_agent.get(word.range()).unwrap_or_default());
        let group = self.groups.find(hash, |group| group.hash == hash);
        let Some(Group { texts: group, .. }) = group else { return };
        let rest = user_agent.get(start..).unwrap_or_default();
        // All texts that begin here are the last one that is not greater than what is here, and those that it begins with. In
        // a group of one, that is the one.
        let others = group.get(1..).unwrap_or_default();
        let last = others.partition_point(|entry| entry.is_up_to(rest));
        let mut next = Some(last);
        while let Some(entry) = next.and_then(|at| group.get(at)) {
            if let Some(place) = entry.place(user_agent, start) {
                found(place, entry.meaning);
            }
            next = entry.shorter;
        }
    }

    /// The index of the token that the User-Agent claims.
    pub(super) fn longest_token(&self, user_agent: &[u8]) -> Option<usize> {
        let mut claim = Claim::default();
        for word in words(user_agent, 0..user_agent.len(), self.shortest) {
            self.each_at(user_agent, word, |place, meaning| match meaning {
                Meaning::Token(token) => claim.note(&place, token),
                Meaning::Sign(_) => {}
            });
        }
        claim.token()
    }

    /// The number of bytes of memory that it takes.
    pub(super) fn memory_usage(&self) -> usize {
        let of_entry = |entry: &Entry| size_of::<Entry>() + entry.before.len() + entry.text.len();
        let entries = self.groups.iter().flat_map(|group| &group.texts).map(of_entry).sum::<usize>();
        size_of::<WindowFilter>() + self.groups.allocation_size() + entries
    }
}
