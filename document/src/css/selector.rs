//! Selectors: simple ones, and of all others the names of the element they are about.

use std::borrow::Cow;

use super::declarations::{after_comment, escaped};

/// A number for a name; names of classes, ids and elements never have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name(u64);

impl Name {
    pub(crate) fn class(name: &str) -> Self {
        Self::of(b'.', name.chars())
    }

    pub(crate) fn id(name: &str) -> Self {
        Self::of(b'#', name.chars())
    }

    /// The place of the name among 256 words of bits.
    pub(super) fn place(self) -> (usize, u64) {
        // The product has the best bits at its end.
        let bits = self.0 ^ self.0 >> 32;
        ((bits >> 6 & 0xff) as usize, 1 << (bits & 0x3f))
    }

    pub(crate) fn element(name: &str) -> Self {
        Self::of(b'<', name.chars())
    }

    fn of(sort: u8, name: impl Iterator<Item = char>) -> Self {
        // FNV-1a.
        let step = |hash: u64, value: u32| (hash ^ u64::from(value)).wrapping_mul(0x0000_0100_0000_01b3);
        Self(name.fold(step(0xcbf2_9ce4_8422_2325, u32::from(sort)), |hash, c| step(hash, u32::from(c))))
    }
}

/// The most names in a selector that is kept.
const MOST_NAMES: usize = 4;

/// A selector of one element by its names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Selector {
    names: [Option<Name>; MOST_NAMES],
    /// Its weight beside others.
    pub(super) weight: u16,
    /// It depends on more than these names: on other elements, attributes or states.
    pub(super) is_conditional: bool,
}

impl Selector {
    pub(super) fn names(&self) -> impl Iterator<Item = Name> {
        self.names.into_iter().flatten()
    }

    fn add(&mut self, name: Name, weight: u16) {
        match self.names.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(name),
            None => self.is_conditional = true,
        }
        self.weight = self.weight.saturating_add(weight);
    }

    /// Reads a selector, of which the last element counts.
    pub(super) fn of(text: &str) -> Self {
        let mut selector = Self::default();
        let mut rest = text.trim().as_bytes();
        if !rest.iter().any(|byte| matches!(byte, b'[' | b'(' | b'\\' | b'/')) {
            let combinator = rest
                .iter()
                .rposition(|byte| matches!(byte, b'>' | b'+' | b'~' | b' ' | b'\n' | b'\t' | b'\r'));
            selector.is_conditional = combinator.is_some();
            rest = combinator.and_then(|at| rest.get(at + 1..)).unwrap_or(rest);
        }
        while let Some((byte, after)) = rest.split_first() {
            match *byte {
                b'.' => {
                    let (name, after) = name(after);
                    selector.add(Name::of(b'.', name.chars()), 16);
                    rest = after;
                }
                b'#' => {
                    let (name, after) = name(after);
                    selector.add(Name::of(b'#', name.chars()), 256);
                    rest = after;
                }
                b'/' if after.first() == Some(&b'*') => rest = after_comment(after),
                b'*' => rest = after,
                // Another element stands before the one that it is about.
                b'>' | b'+' | b'~' | b' ' | b'\n' | b'\t' | b'\r' => {
                    selector = Self { is_conditional: true, ..Self::default() };
                    rest = after;
                }
                b'[' | b'(' => {
                    selector.is_conditional = true;
                    let end = if *byte == b'[' { b']' } else { b')' };
                    let length = after.iter().position(|byte| *byte == end).map_or(after.len(), |at| at + 1);
                    rest = after.get(length..).unwrap_or_default();
                }
                b':' => {
                    selector.is_conditional = true;
                    rest = name(after.strip_prefix(b":").unwrap_or(after)).1;
                }
                _ => {
                    let (element, after) = name(rest);
                    if element.is_empty() {
                        selector.is_conditional = true;
                        rest = rest.get(1..).unwrap_or_default();
                    } else {
                        let letters = element.chars().map(|letter| letter.to_ascii_lowercase());
                        selector.add(Name::of(b'<', letters), 1);
                        rest = after;
                    }
                }
            }
        }
        selector
    }
}

/// The name at the start of a text, and what follows it.
fn name(text: &[u8]) -> (Cow<'_, str>, &[u8]) {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let plain = text.iter().position(|byte| !is_plain(byte)).unwrap_or(text.len());
    let (plain, mut rest) = text.split_at_checked(plain).unwrap_or((text, &[]));
    let plain = str::from_utf8(plain).unwrap_or_default();
    if rest.first().is_none_or(|byte| byte.is_ascii() && *byte != b'\\') {
        return (plain.into(), rest);
    }
    let mut name = plain.to_owned();
    loop {
        match rest.split_first() {
            Some((b'\\', after)) => {
                let digits = after.iter().take(6).take_while(|byte| byte.is_ascii_hexdigit()).count();
                let (character, left) = match (digits, after.split_first()) {
                    (0, Some((first, left))) => (char::from(*first), left),
                    _ => escaped(after),
                };
                name.push(character);
                rest = left;
            }
            Some((byte, after)) if is_plain(byte) => {
                name.push(char::from(*byte));
                rest = after;
            }
            Some((byte, _)) if !byte.is_ascii() => {
                let length = rest.iter().take_while(|byte| !byte.is_ascii()).count();
                let (letters, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
                name.push_str(&String::from_utf8_lossy(letters));
                rest = after;
            }
            _ => return (name.into(), rest),
        }
    }
}
