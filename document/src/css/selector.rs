//! Selectors: simple ones, and of all others the names of the element they are about.

use std::borrow::Cow;

use super::declarations::{after_comment, escaped};

/// A number for a name; names of classes, ids and elements never have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name(u64);

impl Name {
    pub(crate) const fn class(name: &str) -> Self {
        Self::of(b'.', name.as_bytes())
    }

    pub(crate) const fn id(name: &str) -> Self {
        Self::of(b'#', name.as_bytes())
    }

    pub(crate) const fn element(name: &str) -> Self {
        Self::of(b'<', name.as_bytes())
    }

    /// The place of the name among 256 words of bits.
    pub(super) fn place(self) -> (usize, u64) {
        ((self.0 >> 6 & 0xff) as usize, 1 << (self.0 & 0x3f))
    }

    const fn of(sort: u8, name: &[u8]) -> Self {
        let (mut number, mut rest) = (mixed(name.len() as u64, sort as u64), name);
        while let Some((eight, after)) = rest.split_first_chunk() {
            number = mixed(number, u64::from_le_bytes(*eight));
            rest = after;
        }
        let mut last = 0;
        while let [byte, after @ ..] = rest {
            last = last << 8 | *byte as u64;
            rest = after;
        }
        Self(mixed(number, last))
    }
}

/// Both numbers in one: the two halves of a product.
const fn mixed(number: u64, other: u64) -> u64 {
    const MULTIPLIER: u128 = 0x9e37_79b9_7f4a_7c15;
    let product = (number ^ other ^ 0xcbf2_9ce4_8422_2325) as u128 * MULTIPLIER;
    product as u64 ^ (product >> 64) as u64
}

/// Classes that scripts give to an element which people open, or which comes into view.
const STATES: [Name; 14] = [
    Name::class("active"),
    Name::class("animated"),
    Name::class("current"),
    Name::class("expanded"),
    Name::class("in"),
    Name::class("in-view"),
    Name::class("loaded"),
    Name::class("on"),
    Name::class("open"),
    Name::class("opened"),
    Name::class("selected"),
    Name::class("show"),
    Name::class("shown"),
    Name::class("visible"),
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
    pub(super) fn names(&self) -> impl DoubleEndedIterator<Item = Name> + use<> {
        self.names.into_iter().flatten()
    }

    fn add(&mut self, name: Name, weight: u16) {
        match self.names.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(name),
            None => self.is_conditional = true,
        }
        self.weight = self.weight.saturating_add(weight);
    }

    /// Returns false if a text surely cannot be a selector outside of other rules.
    pub(super) fn may_be(text: &[u8]) -> bool {
        let text = text.trim_ascii();
        let begins = |byte: &u8| !matches!(byte, b'0'..=b'9' | b'>' | b'+' | b'~');
        let ends = |byte: &u8| !matches!(byte, b'>' | b'+' | b'~' | b'.' | b'#' | b':');
        text.first().is_some_and(begins) && text.last().is_some_and(ends)
    }

    /// Reads a selector, of which the last element counts; none if it has a name that is not known, or is about no element. One
    /// without names is about any element.
    pub(super) fn of(text: &[u8], is_known: impl Fn(Name) -> bool) -> Option<Self> {
        let text = text.trim_ascii();
        let end = split_last(text)?;
        if is_beside_elements(end) {
            return None;
        }
        // Most selectors are about elements that the page does not have.
        let last = LastName::of(text, end);
        let is_last_known = last.is_some_and(|last| is_known(last.name));
        if last.is_some_and(|last| !is_last_known && !is_state(last.written, last.name)) {
            return None;
        }
        let (mut rest, weight) = without_page(text);
        let mut selector = Self { weight, ..Self::default() };
        if let Some(last) = last.filter(|_| is_last_known)
            && let Some(is_conditional) = last.is_conditional(rest)
        {
            selector.add(last.name, last.weight);
            return Some(Self { is_conditional, ..selector });
        }
        let last = last_element(rest);
        if let Some((last, has_others)) = last {
            selector.is_conditional = has_others;
            rest = last;
        }
        let (mut is_any, mut is_in_is) = (false, false);
        while let Some((byte, after)) = rest.split_first() {
            match *byte {
                b')' if is_in_is => {
                    is_in_is = false;
                    rest = after;
                }
                b'.' | b'#' => {
                    let (written, others) = name(after);
                    let name = Name::of(*byte, &written);
                    rest = others;
                    let is_known = is_known(name);
                    if !is_known && is_state(&written, name) {
                        selector.is_conditional = true;
                    } else if is_known || last.is_none() {
                        selector.add(name, if *byte == b'.' { LastName::CLASS } else { LastName::ID });
                    } else {
                        return None;
                    }
                }
                b'/' if after.first() == Some(&b'*') => rest = after_comment(after),
                b'*' => {
                    is_any = true;
                    rest = after;
                }
                // Another element stands before the one that it is about.
                b'>' | b'+' | b'~' | b' ' | b'\n' | b'\t' | b'\r' => {
                    selector = Self { is_conditional: true, ..Self::default() };
                    is_any = false;
                    rest = after;
                }
                b'[' | b'(' => {
                    (selector.is_conditional, is_any) = (true, false);
                    let end = if *byte == b'[' { b']' } else { b')' };
                    let length = after.iter().position(|byte| *byte == end).map_or(after.len(), |at| at + 1);
                    rest = after.get(length..).unwrap_or_default();
                }
                b':' => {
                    let (state, others) = name(after.strip_prefix(b":").unwrap_or(after));
                    if is_beside_elements((b":", &state)) || after.starts_with(b":") {
                        return None;
                    }
                    match &*state {
                        b"is" | b"where" if has_one_element(others) => {
                            is_in_is = true;
                            rest = others.get(1..).unwrap_or_default();
                        }
                        b"root" => {
                            selector.add(Name::element("html"), LastName::CLASS);
                            rest = others;
                        }
                        _ => {
                            (selector.is_conditional, is_any) = (true, false);
                            rest = others;
                        }
                    }
                }
                _ => {
                    let (element, after) = name(rest);
                    if element.is_empty() {
                        selector.is_conditional = true;
                        rest = rest.get(1..).unwrap_or_default();
                    } else {
                        selector.add(Name::of(b'<', &lower(element)), LastName::ELEMENT);
                        rest = after;
                    }
                }
            }
        }
        ((is_any || !selector.has_none()) && selector.names().all(is_known)).then_some(selector)
    }

    fn has_none(&self) -> bool {
        self.names.iter().all(Option::is_none)
    }
}

/// The selectors of a list.
#[derive(Clone, Debug)]
pub(super) struct Selectors<'t>(Option<&'t [u8]>);

impl<'t> Selectors<'t> {
    pub(super) fn of(list: &'t [u8]) -> Self {
        Self(Some(list))
    }
}

impl<'t> Iterator for Selectors<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        let list = self.0?;
        let Some(length) = first(list) else {
            self.0 = None;
            return Some(list);
        };
        self.0 = list.get(length + 1..);
        list.get(..length)
    }
}

/// The length of the first selector of a list, if others follow.
fn first(list: &[u8]) -> Option<usize> {
    let (mut at, mut comma) = (0, 0);
    loop {
        if comma <= at {
            comma = at + memchr::memchr(b',', list.get(at..)?)?;
        }
        match memchr::memchr3(b'(', b'[', b'\\', list.get(at..comma)?) {
            Some(before) => at = after_hiding(list, at + before),
            None => return Some(comma),
        }
    }
}

/// The place after an escape, or after brackets and all that is in them.
fn after_hiding(list: &[u8], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0_usize);
    while let Some(byte) = list.get(at) {
        match byte {
            b'\\' => at += 1,
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

/// The selectors of a rule in another one, each with one of those around; none if they have more bytes than that.
pub(super) fn joined(around: &[u8], inside: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    for inside in Selectors::of(inside).map(<[u8]>::trim_ascii) {
        for around in Selectors::of(around).map(<[u8]>::trim_ascii) {
            let places = memchr::memchr_iter(b'&', inside).count();
            let length = inside.len() + (places + 1).saturating_mul(around.len() + 1);
            if length > most.saturating_sub(all.len()) {
                return None;
            }
            if places == 0 {
                all.extend([around, inside].join(&b' '));
            } else if is_joined_by_text(around, inside) {
                all.extend(inside.split(|byte| *byte == b'&').collect::<Vec<_>>().join(around));
            }
            all.push(b',');
        }
    }
    all.pop();
    Some(all)
}

/// Returns true if a selector in another one is that of its text with the other one for each `&`: it has no name of an element
/// right beside one.
fn is_joined_by_text(around: &[u8], inside: &[u8]) -> bool {
    let is_of_name = |byte: Option<&u8>| byte.is_some_and(|byte| is_plain(*byte) || !byte.is_ascii());
    let parts = || inside.split(|byte| *byte == b'&');
    let is_before_name = parts().skip(1).any(|after| is_of_name(after.first()));
    let is_behind_name = parts().rev().skip(1).any(|before| is_of_name(before.last()));
    !(is_before_name || is_behind_name && is_of_name(around.first()) || inside.contains(&b'\\'))
}

/// Returns true if a selector with this end is about what is beside the text of elements: the name at its end is that of a
/// pseudo-element.
fn is_beside_elements((others, written): (&[u8], &[u8])) -> bool {
    others.ends_with(b"::")
        || others.ends_with(b":") && matches!(written, b"before" | b"after" | b"first-letter" | b"first-line")
}

/// Returns true if the arguments at the start of a text are names of one element.
fn has_one_element(text: &[u8]) -> bool {
    let names = text.strip_prefix(b"(").unwrap_or_default();
    let is_of_name = |byte: &u8| is_plain(*byte) || matches!(byte, b'.' | b'#');
    let length = names.iter().take_while(|byte| is_of_name(byte)).count();
    length > 0 && names.get(length) == Some(&b')')
}

/// Returns true if a name is that of a state.
fn is_state(written: &[u8], name: Name) -> bool {
    written.starts_with(b"is-")
        || written.starts_with(b"js-")
        || written.len() <= LONGEST_STATE && STATES.contains(&name)
}

/// The selector without `html` and `body` before it, which are around every element, and their weight.
fn without_page(selector: &[u8]) -> (&[u8], u16) {
    let (mut rest, mut weight) = (selector, 0);
    for name in [&b"html"[..], b"body"] {
        let root = || behind(rest, b":root").filter(|_| name == b"html");
        let after = behind(rest, name).or_else(root).unwrap_or_default();
        let next = after.trim_ascii_start();
        // Every `body` is directly in `html`.
        let body = next.strip_prefix(b">").map(<[u8]>::trim_ascii_start);
        let next = body.filter(|body| name == b"html" && behind(body, b"body").is_some()).unwrap_or(next);
        // Directly in it, or beside it, are few.
        if next.len() < after.len() && !matches!(next.first(), None | Some(b'>' | b'+' | b'~')) {
            rest = next;
            weight += LastName::ELEMENT;
        }
    }
    (rest, weight)
}

/// The rest of a text that begins with a name.
fn behind<'t>(text: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let (start, after) = text.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then_some(after)
}

/// The name that the last element of a selector has at its end, perhaps before a state (`a:hover`).
#[derive(Clone, Copy, Debug)]
struct LastName<'t> {
    written: &'t [u8],
    name: Name,
    weight: u16,
    /// The bytes of the selector behind it, and behind the dot or the hash before it.
    length: usize,
    /// A state stands behind the name.
    has_state: bool,
}

impl<'t> LastName<'t> {
    /// The name; none unless it is clear from the bytes at the end of the selector, of which those of a name come in two.
    fn of(selector: &[u8], (others, written): (&'t [u8], &'t [u8])) -> Option<Self> {
        let has_state = others.ends_with(b":");
        let (others, written) = match others {
            [.., b'\\', b':'] => return None,
            [before @ .., b':', b':'] | [before @ .., b':'] => split_last(before)?,
            _ => (others, written),
        };
        let (sort, weight, before) = match others {
            [.., b'\\', b'.' | b'#'] => return None,
            [before @ .., b'.'] => (b'.', Self::CLASS, before),
            [before @ .., b'#'] => (b'#', Self::ID, before),
            [.., end] if sort_of(*end) != Sort::ENDS || is_escaped(others) => return None,
            _ if written.is_empty() || written.iter().any(u8::is_ascii_uppercase) => return None,
            before => (b'<', Self::ELEMENT, before),
        };
        let length = selector.len() - before.len();
        Some(Self { written, name: Name::of(sort, written), weight, length, has_state })
    }

    /// Returns true if a selector with this last name has more than the name: others before it, or a state; none if its own
    /// element has more before the name.
    fn is_conditional(self, selector: &[u8]) -> Option<bool> {
        match selector.get(..selector.len().checked_sub(self.length)?)? {
            [] => Some(self.has_state),
            before @ [.., end] => (sort_of(*end) == Sort::ENDS && !is_escaped(before)).then_some(true),
        }
    }

    const ID: u16 = 256;
    const CLASS: u16 = 16;
    const ELEMENT: u16 = 1;
}

/// Returns true if the last byte of a text may be part of an escape, which has at most eight.
fn is_escaped(text: &[u8]) -> bool {
    const ONES: u64 = u64::MAX / 0xff;
    match text.last_chunk() {
        Some(last) => {
            let others = u64::from_le_bytes(*last) ^ (ONES * u64::from(b'\\'));
            others.wrapping_sub(ONES) & !others & (ONES << 7) != 0
        }
        None => text.contains(&b'\\'),
    }
}

/// The bytes of a name at the end of a selector, and those before it.
fn split_last(selector: &[u8]) -> Option<(&[u8], &[u8])> {
    selector.split_at_checked(selector.iter().rposition(|byte| !is_plain(*byte)).map_or(0, |at| at + 1))
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
fn name(text: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    let plain = text.iter().position(|byte| !is_plain(*byte)).unwrap_or(text.len());
    let (plain, mut rest) = text.split_at_checked(plain).unwrap_or((text, &[]));
    if rest.first().is_none_or(|byte| byte.is_ascii() && *byte != b'\\') {
        return (plain.into(), rest);
    }
    let mut name = plain.to_owned();
    while let Some((byte, after)) = rest.split_first() {
        rest = match byte {
            b'\\' if after.first().is_some_and(u8::is_ascii_hexdigit) => {
                let (character, after) = escaped(after);
                name.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
                after
            }
            b'\\' => {
                name.extend(after.first());
                after.get(1..).unwrap_or_default()
            }
            byte if is_plain(*byte) || !byte.is_ascii() => {
                name.push(*byte);
                after
            }
            _ => break,
        };
    }
    (name.into(), rest)
}

/// A name in lower case.
fn lower(mut name: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if name.iter().any(u8::is_ascii_uppercase) {
        name.to_mut().make_ascii_lowercase();
    }
    name
}
