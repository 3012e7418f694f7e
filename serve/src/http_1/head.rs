//! The head of a request, octet by octet.

use crate::unclear::Unclear;

/// The head of a request.
#[derive(Debug)]
pub(crate) struct Head<'h> {
    pub(crate) method: &'h [u8],
    pub(crate) target: &'h [u8],
    /// The lines of the headers, with names in lower case.
    pub(crate) headers: Vec<(&'h str, &'h [u8])>,
    /// True if no other request follows. Proxies send no body, so none is read to find its end.
    pub(crate) is_last: bool,
}

impl<'h> Head<'h> {
    /// Reads a head, whose names become lower case where they are.
    pub(crate) fn read(bytes: &'h mut [u8]) -> Result<Self, Unclear> {
        for line in bytes.split_mut(|byte| *byte == b'\n').skip(1) {
            line.split_mut(|byte| *byte == b':').take(1).for_each(<[u8]>::make_ascii_lowercase);
        }
        Self::of_lower_case(bytes).ok_or(Unclear::Head)
    }

    fn of_lower_case(bytes: &'h [u8]) -> Option<Self> {
        let lines = bytes.split(|byte| *byte == b'\n');
        let mut lines =
            lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).filter(|line| !line.is_empty());
        let mut first = lines.next()?.splitn(2, |byte| *byte == b' ');
        let (method, rest) = (first.next()?, first.next()?);
        let mut rest = rest.rsplitn(2, |byte| *byte == b' ');
        let (version, target) = (rest.next()?, rest.next()?);
        let is_known = matches!(version, b"HTTP/1.1" | b"HTTP/1.0");
        if !is_known || method.is_empty() || target.is_empty() {
            return None;
        }
        let headers: Vec<(&str, &[u8])> = lines.map(header).collect::<Option<_>>()?;
        let is_last = version == b"HTTP/1.0" || headers.iter().any(|(name, value)| ends(name, value));
        Some(Self { method, target, headers, is_last })
    }

    /// The value of the first line of a header.
    pub(crate) fn value(&self, name: &str) -> Option<&'h [u8]> {
        self.headers.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
    }
}

/// The name and the value of a line.
fn header(line: &[u8]) -> Option<(&str, &[u8])> {
    let mut parts = line.splitn(2, |byte| *byte == b':');
    let (name, value) = (str::from_utf8(parts.next()?).ok()?, parts.next()?);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    is_name.then_some((name, value.trim_ascii()))
}

/// Returns true if no other request follows the one with this header.
fn ends(name: &str, value: &[u8]) -> bool {
    match name {
        "connection" => {
            value.split(|byte| *byte == b',').any(|word| word.trim_ascii().eq_ignore_ascii_case(b"close"))
        }
        "content-length" => value != b"0",
        "transfer-encoding" => true,
        _ => false,
    }
}
