//! Lists of headers in the form of the ABI: their number, the sizes of each name and value, then each name and each value,
//! both followed by a NUL. Numbers are words of the virtual machine, which `usize` is.

use std::iter;

use crate::rooms::HostBytes;

const WORD: usize = size_of::<usize>();

/// The headers of a request or a response, parsed where they are: copying each would cost more than deciding.
#[derive(Debug)]
pub struct HeaderMap(HostBytes);

/// The place of a value among the headers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    start: usize,
    end: usize,
}

impl HeaderMap {
    /// Shows each line on the way, by its name and the place of its value. `None` where the bytes are anything else than a
    /// list of headers.
    pub(crate) fn new(bytes: HostBytes, mut show: impl FnMut(&[u8], Place)) -> Option<Self> {
        let (sizes, texts) = split(&bytes)?;
        let mut start: usize = 0;
        for line in sizes.chunks_exact(2 * WORD) {
            let (name, value) = line.split_first_chunk()?;
            let end = start.checked_add(usize::from_le_bytes(*name))?;
            let name = texts.get(start..end)?;
            start = end.checked_add(1)?;
            let end = start.checked_add(usize::from_le_bytes(*value.first_chunk()?))?;
            // The NUL of the last value ends the bytes.
            (end < texts.len()).then_some(())?;
            show(name, Place { start, end });
            start = end.checked_add(1)?;
        }
        (start == texts.len()).then_some(Self(bytes))
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

    /// The value at a place that [`Self::new`] has shown.
    pub(crate) fn value(&self, place: Place) -> Option<&[u8]> {
        let (_, texts) = split(&self.0)?;
        texts.get(place.start..place.end)
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
