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
        name.fold(Self::empty(sort), |name, c| name.with(u32::from(c)))
    }

    const fn empty(sort: u8) -> Self {
        Self(0xcbf2_9ce4_8422_2325).with(sort as u32)
    }

    /// The name with one more character: FNV-1a.
    const fn with(self, character: u32) -> Self {
        Self((self.0 ^ character as u64).wrapping_mul(0x0000_0100_0000_01b3))
    }

    const fn of_state(name: &str) -> Self {
        let (bytes, mut at) = (name.as_bytes(), 0);
        let mut state = Self::empty(b'.');
        while at < bytes.len() {
            #[expect(clippy::indexing_slicing, reason = "within the bounds that the loop checks")]
            {
                state = state.with(bytes[at] as u32);
            }
            at += 1;
        }
        state
    }

    /// The name at the start of a text, and what follows it.
    fn read(sort: u8, text: &[u8]) -> (Self, &[u8]) {
        let (mut read, mut rest) = (Self::empty(sort), text);
        while let Some((byte, after)) = rest.split_first() {
            if !is_plain(*byte) {
                if *byte == b'\\' || !byte.is_ascii() {
                    let (name, after) = name(text);
                    return (Self::of(sort, name.chars()), after);
                }
                break;
            }
            read = read.with(u32::from(*byte));
            rest = after;
        }
        (read, rest)
    }
}

/// Classes that scripts give to an element which people open, or which comes into view.
const STATES: [Name; 14] = [
    Name::of_state("active"),
    Name::of_state("animated"),
    Name::of_state("current"),
    Name::of_state("expanded"),
    Name::of_state("in"),
    Name::of_state("in-view"),
    Name::of_state("loaded"),
    Name::of_state("on"),
    Name::of_state("open"),
    Name::of_state("opened"),
    Name::of_state("selected"),
    Name::of_state("show"),
    Name::of_state("shown"),
    Name::of_state("visible"),
];

const LONGEST_STATE: usize = "animated".len();

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

    /// Reads a selector, of which the last element counts; none if it has a name that is not known.
    pub(super) fn of(text: &[u8], is_known: impl Fn(Name) -> bool) -> Option<Self> {
        let mut selector = Self::default();
        let mut rest = text.trim_ascii();
        let last = last_element(rest);
        if let Some((last, has_others)) = last {
            selector.is_conditional = has_others;
            rest = last;
        }
        while let Some((byte, after)) = rest.split_first() {
            match *byte {
                b'.' | b'#' => {
                    let is_state = after.starts_with(b"is-") || after.starts_with(b"js-");
                    let (name, others) = Name::read(*byte, after);
                    let is_short = after.len() - others.len() <= LONGEST_STATE;
                    rest = others;
                    if is_known(name) || last.is_none() {
                        selector.add(name, if *byte == b'.' { 16 } else { 256 });
                    } else if is_state || is_short && STATES.contains(&name) {
                        selector.is_conditional = true;
                    } else {
                        return None;
                    }
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
        (!selector.has_none() && selector.names().all(is_known)).then_some(selector)
    }

    fn has_none(&self) -> bool {
        self.names.iter().all(Option::is_none)
    }
}

/// The last element of a selector, and whether others stand before it, if both are clear from the bytes at its end.
fn last_element(selector: &[u8]) -> Option<(&[u8], bool)> {
    // A blank may be the end of an escape.
    if memchr::memchr(b'\\', selector).is_some() {
        return None;
    }
    let Some(at) = selector.iter().rposition(|byte| sort_of(*byte) > Sort::PLAIN) else {
        return Some((selector, false));
    };
    let (others, last) = selector.split_at_checked(at + 1)?;
    others.last().filter(|end| sort_of(**end) == Sort::ENDS).map(|_| (last, true))
}

/// The sorts of bytes in selectors.
struct Sort;

impl Sort {
    /// A part of a name.
    const NAME: u8 = 0;
    /// Any other that stands for itself.
    const PLAIN: u8 = 1;
    /// The end of an element that others stand behind.
    const ENDS: u8 = 2;
    /// A byte that may hide such an end, or end what does.
    const HIDES: u8 = 3;

    const OF: [u8; 256] = {
        let mut sorts = [Self::PLAIN; 256];
        let mut byte = 0;
        while byte < 256 {
            #[expect(clippy::indexing_slicing, reason = "evaluated when it is compiled")]
            {
                sorts[byte] = match byte as u8 {
                    b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' => Self::NAME,
                    b'>' | b'+' | b'~' | b' ' | b'\n' | b'\t' | b'\r' => Self::ENDS,
                    b'[' | b']' | b'(' | b')' | b'/' | b'"' | b'\'' => Self::HIDES,
                    _ => Self::PLAIN,
                };
            }
            byte += 1;
        }
        sorts
    };
}

fn sort_of(byte: u8) -> u8 {
    Sort::OF.get(usize::from(byte)).copied().unwrap_or(Sort::PLAIN)
}

/// Returns true if a byte is in names as it is.
fn is_plain(byte: u8) -> bool {
    sort_of(byte) == Sort::NAME
}

/// The name at the start of a text, and what follows it.
fn name(text: &[u8]) -> (Cow<'_, str>, &[u8]) {
    let plain = text.iter().position(|byte| !is_plain(*byte)).unwrap_or(text.len());
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
            Some((byte, after)) if is_plain(*byte) => {
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
