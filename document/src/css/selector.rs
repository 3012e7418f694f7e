//! Selectors: simple ones, and of all others the names of the element they are about.

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
                        selector.add(Name::element(&element.to_ascii_lowercase()), 1);
                        rest = after;
                    }
                }
            }
        }
        selector
    }
}

/// The name at the start of a text, and what follows it.
fn name(text: &[u8]) -> (String, &[u8]) {
    let mut name = String::new();
    let mut rest = text;
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
            Some((byte, after)) if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') => {
                name.push(char::from(*byte));
                rest = after;
            }
            Some((byte, _)) if !byte.is_ascii() => {
                let length = rest.iter().take_while(|byte| !byte.is_ascii()).count();
                let (letters, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
                name.push_str(&String::from_utf8_lossy(letters));
                rest = after;
            }
            _ => return (name, rest),
        }
    }
}
