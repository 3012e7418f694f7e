//! Lists of headers in the form of the ABI: their number, the sizes of each name and value, then each name and each value,
//! both followed by a NUL. Numbers are words of the virtual machine, which `usize` is.

use std::iter;

const WORD: usize = size_of::<usize>();

/// The headers of a request or a response, parsed where they are: copying each would cost more than deciding.
#[derive(Debug)]
pub struct HeaderMap(Vec<u8>);

impl HeaderMap {
    /// `None` where the bytes are anything else than a list of headers.
    pub(crate) fn new(bytes: Vec<u8>) -> Option<Self> {
        let (sizes, texts) = split(&bytes)?;
        let whole = words(sizes).try_fold(0_usize, |sum, size| sum.checked_add(size)?.checked_add(1))?;
        (whole == texts.len()).then_some(Self(bytes))
    }

    /// The lines, as name and value; names are in lower case.
    pub fn lines(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        // `new` checked that there are such parts.
        let (sizes, mut texts) = split(&self.0).unwrap_or_default();
        let mut sizes = words(sizes);
        let mut text = move || {
            let (text, rest) = texts.split_at_checked(sizes.next()?)?;
            texts = rest.get(1..)?;
            Some(text)
        };
        iter::from_fn(move || Some((text()?, text()?)))
    }

    /// The value of a header's first line, by its lower-case name.
    pub(crate) fn get(&self, name: &str) -> Option<&[u8]> {
        self.lines().find(|(header, _)| *header == name.as_bytes()).map(|(_, value)| value)
    }
}

/// The sizes, and the names and values.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    // A map without headers is given as no bytes.
    let Some((count, rest)) = bytes.split_first_chunk() else {
        return bytes.is_empty().then_some((&[], &[]));
    };
    rest.split_at_checked(usize::from_le_bytes(*count).checked_mul(2 * WORD)?)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes.chunks_exact(WORD).filter_map(|bytes| bytes.first_chunk().copied()).map(usize::from_le_bytes)
}

/// A list of headers, as the host reads it.
pub(crate) fn serialize(headers: &[(&[u8], &[u8])]) -> Vec<u8> {
    let texts = || headers.iter().flat_map(|(name, value)| [name, value]);
    let mut bytes = headers.len().to_le_bytes().to_vec();
    bytes.extend(texts().flat_map(|text| text.len().to_le_bytes()));
    for text in texts() {
        bytes.extend_from_slice(text);
        bytes.push(0);
    }
    bytes
}
