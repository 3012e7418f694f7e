//! JSON that is not in memory as a whole: the document without most items of its long arrays, and those items by themselves,
//! some at a time.

use alloc::string::String;
use alloc::vec::Vec;
use core::str::Utf8Error;

use crate::source::pages::{PAGE, Source};

/// The number of bytes of an array that stay in the document, and of its other items that are read at a time.
const KEPT: usize = 64 << 10;

/// A document without most items of its long arrays.
#[derive(Debug, Default)]
pub(super) struct Thinned {
    pub(super) text: String,
    /// In the order of the text.
    pub(super) cuts: Vec<Cut>,
}

/// Items that are left out: all from one on to the end of their array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The offset in the text at which they would stand: that of the `]`.
    pub(super) at: usize,
    /// Their place in the source.
    pub(super) from: u64,
    pub(super) to: u64,
}

/// The reason why a document cannot be read so.
#[derive(Debug)]
pub(super) enum ThinError {
    Unreadable(String),
    /// Nested too deeply at this offset of the source.
    Nested(u64),
    Encoding(Vec<u8>, Utf8Error),
}

/// True if a byte is inside a string of JSON.
#[derive(Clone, Copy, Debug, Default)]
struct Strings {
    is_inside: bool,
    is_escaped: bool,
}

impl Strings {
    /// Returns true if the byte is outside of strings, and no quotation mark.
    fn is_outside(&mut self, byte: u8) -> bool {
        if self.is_inside {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_inside = false,
                _ => {}
            }
            return false;
        }
        self.is_inside = byte == b'"';
        !self.is_inside
    }
}

/// Reads a document without most items of its long arrays. What is not JSON stays so.
pub(super) fn thin(source: Source<'_>, nesting: usize) -> Result<Thinned, ThinError> {
    let (mut text, mut cuts) = (Vec::new(), Vec::new());
    // The containers that are open: whether each is an array, and where it begins in the text.
    let mut open: Vec<(bool, usize)> = Vec::new();
    // The first item that is left out, and how many containers are open inside such items.
    let mut cut: Option<(u64, usize)> = None;
    let mut strings = Strings::default();
    each_byte(source, 0, source.length(), &mut |offset, byte| {
        let is_outside = strings.is_outside(byte);
        match (byte, &mut cut) {
            (b'[' | b'{', _) if is_outside => {
                match &mut cut {
                    Some((_, inside)) => *inside += 1,
                    None => open.push((byte == b'[', text.len())),
                }
                if open.len() + cut.map_or(0, |(_, inside)| inside) > nesting {
                    return Err(ThinError::Nested(offset));
                }
            }
            (b']' | b'}', Some((_, inside))) if is_outside && *inside > 0 => *inside -= 1,
            (b']' | b'}', ended) if is_outside => {
                if let Some((from, _)) = ended.take() {
                    cuts.push(Cut { at: text.len(), from, to: offset });
                }
                open.pop();
            }
            (b',', None) if is_outside => {
                if let Some((true, start)) = open.last()
                    && text.len() - start > KEPT
                {
                    cut = Some((offset + 1, 0));
                }
            }
            _ => {}
        }
        if cut.is_none() {
            text.push(byte);
        }
        Ok(())
    })?;
    if let Some((from, _)) = cut {
        cuts.push(Cut { at: text.len(), from, to: source.length() });
    }
    let text = String::from_utf8(text).map_err(|error| {
        let why = error.utf8_error();
        ThinError::Encoding(error.into_bytes(), why)
    })?;
    Ok(Thinned { text, cuts })
}

/// Calls `step` with the items that are left out, some at a time, as arrays, each with the offset of its first byte after the
/// bracket. An array without items stands for a comma too many.
pub(super) fn each_group<E>(
    source: Source<'_>,
    cut: Cut,
    step: &mut dyn FnMut(Vec<u8>, u64) -> Result<(), E>,
    unreadable: fn(String) -> E,
) -> Result<(), E> {
    let (mut group, mut start) = (Vec::from(b"["), cut.from);
    let (mut strings, mut inside) = (Strings::default(), 0_usize);
    let mut failed = None;
    let read = each_byte(source, cut.from, cut.to, &mut |offset, byte| {
        let is_outside = strings.is_outside(byte);
        match byte {
            b'[' | b'{' if is_outside => inside += 1,
            b']' | b'}' if is_outside => inside = inside.saturating_sub(1),
            b',' if is_outside && inside == 0 && group.len() > KEPT => {
                let mut whole = core::mem::replace(&mut group, Vec::from(b"["));
                whole.push(b']');
                let at = core::mem::replace(&mut start, offset + 1);
                return step(whole, at).map_err(|error| {
                    failed = Some(error);
                    ThinError::Nested(offset)
                });
            }
            _ => {}
        }
        group.push(byte);
        Ok(())
    });
    match (failed, read) {
        (Some(error), _) => Err(error),
        (None, Err(ThinError::Unreadable(why))) => Err(unreadable(why)),
        _ => {
            group.push(b']');
            step(group, start)
        }
    }
}

/// Calls `step` with each byte in a range, and its offset.
fn each_byte(
    source: Source<'_>,
    from: u64,
    to: u64,
    step: &mut dyn FnMut(u64, u8) -> Result<(), ThinError>,
) -> Result<(), ThinError> {
    let (mut page, mut offset) = (Vec::new(), from);
    while offset < to {
        let most = usize::try_from(to - offset).map_or(PAGE, |rest| rest.min(PAGE));
        source.append(offset, most, &mut page).map_err(ThinError::Unreadable)?;
        for byte in page.drain(..) {
            step(offset, byte)?;
            offset += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::pages::Pages;
    use alloc::format;
    use alloc::string::ToString;
    use serde_json::value::RawValue;

    /// The document as it was, from its parts.
    fn joined(json: &str) -> (String, usize) {
        let source = Source::Bytes(json.as_bytes());
        let thinned = thin(source, 64).unwrap();
        let is_json = |text: &str| serde_json::from_str::<&RawValue>(text).is_ok();
        let was_json = is_json(json);
        assert!(!was_json || is_json(&thinned.text));
        let (mut whole, mut last) = (String::new(), 0);
        for cut in &thinned.cuts {
            whole += thinned.text.get(last..cut.at).unwrap();
            last = cut.at;
            each_group::<String>(
                source,
                *cut,
                &mut |group, at| {
                    // An item is never cut.
                    assert!(group.len() < 4 * KEPT, "{}", group.len());
                    let group = String::from_utf8(group).unwrap();
                    assert!(!was_json || is_json(&group));
                    let items = group.strip_prefix('[').unwrap().strip_suffix(']').unwrap();
                    assert!(json.get(usize::try_from(at).unwrap()..).unwrap().starts_with(items));
                    whole += ",";
                    whole += items;
                    Ok(())
                },
                |why| why,
            )
            .unwrap();
        }
        whole += thinned.text.get(last..).unwrap();
        (whole, thinned.text.len())
    }

    /// A file of so many bytes, of which those from 2 MiB on cannot be read.
    struct Failing(u64);

    impl Pages for Failing {
        fn length(&self) -> u64 {
            self.0
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, String> {
            let rest = (2_u64 << 20).checked_sub(offset).filter(|rest| *rest > 0).ok_or("broken disk")?;
            let count = buffer.len().min(usize::try_from(rest).unwrap());
            buffer.get_mut(..count).unwrap().fill(b'1');
            Ok(count)
        }
    }

    #[test]
    fn a_part_that_cannot_be_read_is_not_left_out() {
        let source = Source::Pages(&Failing(3 << 20));
        let cut = Cut { at: 0, from: 1 << 20, to: 3 << 20 };
        assert_eq!(each_group(source, cut, &mut |_, _| Ok(()), |why| why), Err("broken disk".to_string()));
    }

    #[test]
    fn jafar_20_nothing_is_lost_of_long_arrays() {
        // JAFAR-20
        let items = |count: usize| {
            let all: Vec<String> =
                (0..count).map(|n| format!("{{\"a\": [\"],\\\\\\\"{n}\", {n}]}}")).collect();
            all.join(",\n")
        };
        for json in [
            format!("{{\"x\": [{}], \"y\": [1, [{}]], \"z\": \"\"}}", items(9_000), items(6_000)),
            format!("[{}]", items(12_000)),
            format!("[[{0}], [{0}], [{0}]]", items(6_000)),
            format!("{{\"x\": [{}", items(9_000)),
            format!("[{},]", items(9_000)),
            format!("[{}]", alloc::vec!["\"a,b]\""; 20_000].join(",")),
            format!("[{}]", alloc::vec!["{\"a\":\"[{\",\"b\":\"]}\",\"c\":0}"; 9_000].join(",")),
            format!("[{}]", alloc::vec!["{\"a\":\"[\"}"; 40_000].join(",")),
        ] {
            let (whole, kept) = joined(&json);
            assert!(whole == json, "{} {}", whole.len(), json.len());
            assert!(kept < 3 * KEPT, "{kept}");
        }
        for json in ["", "[", "]]", "{\"a\": [1, 2]}", "\"[\\\"", "[}"] {
            assert_eq!(joined(json), (json.to_string(), json.len()));
        }
        assert!(matches!(thin(Source::Bytes(b"[[[]]]"), 2), Err(ThinError::Nested(2))));
        assert!(matches!(thin(Source::Bytes(b"[\"\xff\"]"), 2), Err(ThinError::Encoding(..))));
    }
}
