//! The canonical forms of structured fields (RFC 9651, 4.1).

use core::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Bare, InnerList, Item, Member, Parameters};

/// The canonical form of a value is not what is written, and is not implemented: a decimal, a date, a display string, or bytes
/// whose base64 has more than one spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unwritable;

/// A receiver that takes a text piece by piece.
pub(crate) trait Write {
    fn write(&mut self, bytes: &[u8]);
}

impl<F: FnMut(&[u8])> Write for F {
    fn write(&mut self, bytes: &[u8]) {
        self(bytes);
    }
}

/// Lets numbers be formatted into a [`Write`].
struct Formatted<'w, W>(&'w mut W);

impl<W: Write> fmt::Write for Formatted<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

impl Bare<'_> {
    /// Writes the value in canonical form (4.1.3.1).
    pub(crate) fn write(self, to: &mut impl Write) -> Result<(), Unwritable> {
        match self {
            Self::Integer(number) => {
                fmt::Write::write_fmt(&mut Formatted(to), format_args!("{number}"))
                    .map_err(|_| Unwritable)?;
            }
            // Characters that must be escaped are, and no others may be.
            Self::String(text) => {
                to.write(b"\"");
                to.write(text);
                to.write(b"\"");
            }
            Self::Token(text) => to.write(text),
            Self::Bytes(text) if is_canonical(text) => {
                to.write(b":");
                to.write(text);
                to.write(b":");
            }
            Self::Boolean(value) => to.write(if value { b"?1" } else { b"?0" }),
            Self::Bytes(_) | Self::Other(_) => return Err(Unwritable),
        }
        Ok(())
    }
}

/// Returns true if base64 is as it would be written: padded, and without bits that stand for nothing.
fn is_canonical(base64: &[u8]) -> bool {
    let mut chunks = base64.chunks(4);
    // The engine refuses all but the canonical form. Chunk by chunk, so that no length has to be reserved.
    let mut decoded = [0; 3];
    let is_right = |chunk: &[u8], decoded: &mut [u8]| STANDARD.decode_slice(chunk, decoded).ok();
    let last = chunks.next_back().unwrap_or_default();
    chunks.all(|chunk| is_right(chunk, &mut decoded) == Some(3)) && is_right(last, &mut [0; 3]).is_some()
}

impl Parameters<'_> {
    /// Writes the parameters in their canonical form (4.1.1.2).
    pub(crate) fn write(self, to: &mut impl Write) -> Result<(), Unwritable> {
        self.iter().try_for_each(|(key, value)| {
            to.write(b";");
            to.write(key);
            if value != Bare::Boolean(true) {
                to.write(b"=");
                value.write(to)?;
            }
            Ok(())
        })
    }
}

impl InnerList<'_> {
    /// Writes the list with its parameters in canonical form (4.1.1.1).
    pub(crate) fn write(self, to: &mut impl Write) -> Result<(), Unwritable> {
        to.write(b"(");
        for (place, item) in self.items().enumerate() {
            if place > 0 {
                to.write(b" ");
            }
            item.write(to)?;
        }
        to.write(b")");
        self.parameters.write(to)
    }
}

impl Item<'_> {
    /// Writes the item with its parameters in canonical form (4.1.3).
    pub(crate) fn write(self, to: &mut impl Write) -> Result<(), Unwritable> {
        self.value.write(to)?;
        self.parameters.write(to)
    }
}

impl Member<'_> {
    /// Writes the member's value in canonical form.
    pub(crate) fn write(self, to: &mut impl Write) -> Result<(), Unwritable> {
        match self {
            Self::Item(item) => item.write(to),
            Self::List(list) => list.write(to),
        }
    }
}
