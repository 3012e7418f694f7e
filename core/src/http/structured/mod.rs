//! Structured fields (RFC 9651), as far as message signatures and usage preferences need them: dictionaries, read in place
//! and written in their canonical form.
//!
//! Everything borrows from the header, so that reading a signature allocates nothing. The crate `sfv` needs std, keeps what it
//! reads in maps; it adds 73 KB to a `.wasm` where this module adds 26, and takes
//! 1.7 times as many instructions for a Signature-Input that is read and written. It is the reference of the tests. For
//! signatures, departures from the RFC make it stricter: no value has more than 16 parameters, repeated ones included, and no
//! inner list more than 64 items. [`dictionary()`] has no such limits, and refuses all that the RFC refuses.

use alloc::vec::Vec;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet};

mod read;
mod whole;
mod write;

use read::Reader;
pub(crate) use write::{Unwritable, Write};

/// The text is not a structured field, or this reader is too strict for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// The largest numbers in one value.
#[derive(Clone, Copy, Debug)]
struct Most {
    parameters: usize,
    items: usize,
}

impl Most {
    /// In a signature's headers, where each parameter is compared with the others.
    const OF_SIGNATURES: Self = Self { parameters: Parameters::MOST, items: InnerList::MOST };
    /// For a text whose length is the only limit.
    const ANY: Self = Self { parameters: usize::MAX, items: usize::MAX };
}

/// A value without parameters (3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bare<'a> {
    Integer(i64),
    /// The text between the quotes, with its backslashes.
    String(&'a [u8]),
    Token(&'a [u8]),
    /// The text between the colons.
    Bytes(&'a [u8]),
    Boolean(bool),
    /// A decimal, a date or a display string, as it is written.
    Other(&'a [u8]),
}

/// Parameters (3.1.2), which were read once already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters<'a>(&'a [u8]);

/// A value with its parameters (3.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'a> {
    pub(crate) value: Bare<'a>,
    pub(crate) parameters: Parameters<'a>,
}

/// Items in parentheses, with parameters (3.1.1), which were read once already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InnerList<'a> {
    items: &'a [u8],
    pub(crate) parameters: Parameters<'a>,
}

/// The value of a dictionary's member (3.2).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Member<'a> {
    Item(Item<'a>),
    List(InnerList<'a>),
}

/// A member of a dictionary as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) member: Member<'a>,
    /// The text of both.
    pub(crate) text: &'a [u8],
}

/// The members of a dictionary in a text, in their order, repeated ones, too. Reads all that the RFC permits, and refuses
/// all that it does not, in bytes and display strings as well.
pub(crate) fn dictionary(text: &[u8]) -> Result<Vec<Entry<'_>>, Malformed> {
    let entries = Members::new(text, Most::ANY).map(|entry| entry.and_then(whole::checked));
    entries.collect()
}

/// The members of a dictionary in the lines of a header, in their order, repeated ones, too.
pub(crate) fn members<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
) -> impl Iterator<Item = Result<(&'a [u8], Member<'a>), Malformed>> {
    let entries = lines.flat_map(|line| Members::new(line, Most::OF_SIGNATURES));
    entries.map(|entry| entry.map(|entry| (entry.key, entry.member)))
}

/// The member of a dictionary with this key, if there is one: of several, the last.
pub(crate) fn member<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
    key: &[u8],
) -> Result<Option<Member<'a>>, Malformed> {
    let mut found = None;
    for read in members(lines) {
        let (name, value) = read?;
        if name == key {
            found = Some(value);
        }
    }
    Ok(found)
}

/// The one item in the lines of a header.
pub(crate) fn item<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> Result<Item<'a>, Malformed> {
    let line = lines.next().ok_or(Malformed)?;
    let mut reader = Reader(trimmed(line), Most::OF_SIGNATURES);
    let item = reader.item()?;
    if reader.0.is_empty() && lines.next().is_none() { Ok(item) } else { Err(Malformed) }
}

/// A line without the blanks around its content.
pub(crate) fn trimmed(mut line: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = line {
        line = rest;
    }
    line
}

/// The members of a dictionary in one line.
struct Members<'a> {
    reader: Reader<'a>,
    is_done: bool,
}

impl<'a> Members<'a> {
    fn new(line: &'a [u8], most: Most) -> Self {
        let line = trimmed(line);
        Self { reader: Reader(line, most), is_done: line.is_empty() }
    }

    fn read(&mut self) -> Result<Entry<'a>, Malformed> {
        let reader = &mut self.reader;
        let start = reader.0;
        let key = reader.key()?;
        let member = match reader.takes(b'=') {
            true if reader.0.first() == Some(&b'(') => Member::List(reader.inner_list()?),
            true => Member::Item(reader.item()?),
            false => Member::Item(Item { value: Bare::Boolean(true), parameters: reader.parameters()? }),
        };
        let text = reader.since(start);
        reader.skip(|byte| matches!(byte, b' ' | b'\t'));
        self.is_done = reader.0.is_empty();
        if !self.is_done {
            if !reader.takes(b',') {
                return Err(Malformed);
            }
            reader.skip(|byte| matches!(byte, b' ' | b'\t'));
            // A comma at the end.
            if reader.0.is_empty() {
                return Err(Malformed);
            }
        }
        Ok(Entry { key, member, text })
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<Entry<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let read = self.read();
        self.is_done |= read.is_err();
        Some(read)
    }
}

impl<'a> Parameters<'a> {
    /// Each key once, where it is first, with its last value.
    pub(crate) fn iter(self) -> impl Iterator<Item = (&'a [u8], Bare<'a>)> {
        self.written().enumerate().filter_map(move |(place, (key, value))| {
            let is_same = |(other, _): &(&[u8], Bare<'_>)| *other == key;
            let is_repeated = self.written().take(place).any(|earlier| is_same(&earlier));
            let last = self.written().skip(place + 1).filter(is_same).last();
            (!is_repeated).then(|| last.unwrap_or((key, value)))
        })
    }

    /// All parameters, repeated ones, too.
    fn written(self) -> impl Iterator<Item = (&'a [u8], Bare<'a>)> {
        let mut reader = Reader(self.0, Most::ANY);
        core::iter::from_fn(move || reader.parameter().ok().flatten())
    }

    pub(crate) fn get(self, key: &str) -> Option<Bare<'a>> {
        self.iter().find(|(name, _)| *name == key.as_bytes()).map(|(_, value)| value)
    }

    /// The largest number of members.
    const MOST: usize = 16;
}

impl<'a> InnerList<'a> {
    /// The largest number of items.
    const MOST: usize = 64;

    pub(crate) fn items(self) -> impl Iterator<Item = Item<'a>> + Clone {
        let mut reader = Reader(self.items, Most::ANY);
        core::iter::from_fn(move || {
            reader.skip(|byte| byte == b' ');
            if reader.0.is_empty() { None } else { reader.item().ok() }
        })
    }
}

/// The octets of a byte sequence, if there are as many as this. Readers are not to insist on padding (4.2.7).
pub(crate) fn decode<const N: usize>(base64: &[u8]) -> Option<[u8; N]> {
    let mut decoded = [0; N];
    (LENIENT.decode_slice(base64, &mut decoded) == Ok(N)).then_some(decoded)
}

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
