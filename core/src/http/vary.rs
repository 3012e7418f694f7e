//! The value of `Vary`.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::http::header_name::HeaderName;

/// The value of `Vary` that names these headers as well. `None` if it does already.
pub(crate) fn vary_on(lines: &[&[u8]], added: &[HeaderName]) -> Option<Box<[u8]>> {
    let names = || lines.iter().flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
    if names().any(|name| name == b"*") {
        return None;
    }
    let missing =
        added.iter().filter(|added| !names().any(|name| added.is(name))).map(|added| added.sent.as_bytes());
    let missing: Vec<&[u8]> = missing.collect();
    if missing.is_empty() {
        return None;
    }
    let all: Vec<&[u8]> = names().filter(|name| !name.is_empty()).chain(missing).collect();
    Some(all.join(&b", "[..]).into())
}
