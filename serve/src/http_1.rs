//! HTTP/1 (RFC 9112), as far as questions and their answers need it.
//!
//! A proxy passes on what its client sent, and the gates decide about any octets. Libraries refuse some of them, such as `<` in a
//! target or a control in a cookie, which would refuse the client. So heads are read here, and as they are.

use std::io;
use std::mem;
use std::time::SystemTime;

use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, sink};

use crate::check::Header;
use crate::unclear::Unclear;

/// The largest head of a request, in bytes. Proxies let a client send less.
const MOST_HEAD: usize = 128 << 10;

/// The room for what is read at once: for most heads, that is enough.
const STEP: usize = 2 << 10;

/// The most that is read of what comes after the last request.
const MOST_REST: u64 = 1 << 20;

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

/// An answer. Its headers get names in lower case, as scripts of proxies expect them, and one that HTTP cannot carry is left out.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<Header>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// A reply with plain text.
    pub(crate) fn text(status: u16, text: impl Into<Vec<u8>>) -> Self {
        let kind = (b"content-type".to_vec(), b"text/plain; charset=utf-8".to_vec());
        Self { status, headers: vec![kind], body: text.into() }
    }

    fn bytes(&self, has_body: bool, is_last: bool) -> Vec<u8> {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let date = httpdate::fmt_http_date(SystemTime::now());
        let length = self.body.len();
        let mut bytes =
            format!("HTTP/1.1 {status}\r\ndate: {date}\r\ncontent-length: {length}\r\n").into_bytes();
        for (name, value) in &self.headers {
            if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
                bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
            }
        }
        bytes.extend(if is_last { &b"connection: close\r\n\r\n"[..] } else { b"\r\n" });
        bytes.extend(self.body.iter().filter(|_| has_body));
        bytes
    }
}

/// A connection.
pub(crate) struct Http1<S> {
    stream: S,
    /// The bytes beyond the last head.
    unread: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Http1<S> {
    pub(crate) const fn new(stream: S) -> Self {
        Self { stream, unread: Vec::new() }
    }

    /// Returns true if no request has begun.
    pub(crate) fn is_idle(&self) -> bool {
        self.unread.is_empty()
    }

    /// The bytes of the next head. `None`: the peer sends no more. If this is dropped before it is done, nothing is lost.
    pub(crate) async fn head(&mut self) -> Option<Result<Vec<u8>, Unclear>> {
        let mut seen = 0;
        loop {
            // Empty lines before a request are to be ignored (2.2).
            let empty = self.unread.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            self.unread.drain(..empty);
            match end_of_head(&self.unread, seen) {
                Some(end) if end <= MOST_HEAD => {
                    let rest = self.unread.split_off(end);
                    return Some(Ok(mem::replace(&mut self.unread, rest)));
                }
                None if self.unread.len() <= MOST_HEAD => {}
                _ => return Some(Err(Unclear::Size(MOST_HEAD))),
            }
            seen = self.unread.len();
            self.unread.reserve(STEP);
            // Whatever the reason is, there is nobody to be answered.
            self.stream.read_buf(&mut self.unread).await.ok().filter(|length| *length > 0)?;
        }
    }

    /// Sends an answer; `has_body` is false for one to HEAD.
    pub(crate) async fn send(&mut self, reply: &Reply, has_body: bool, is_last: bool) -> io::Result<()> {
        self.stream.write_all(&reply.bytes(has_body, is_last)).await
    }

    /// Ends the connection after its last answer, which a peer that still sends would lose otherwise (9.6).
    pub(crate) async fn close(mut self) -> io::Result<()> {
        self.stream.shutdown().await?;
        copy(&mut self.stream.take(MOST_REST), &mut sink()).await.map(drop)
    }
}

/// The end of the first head, behind its empty line. No line before `seen` is followed by an empty one that ends there.
fn end_of_head(bytes: &[u8], seen: usize) -> Option<usize> {
    // The empty line may have begun.
    let from = seen.saturating_sub(2);
    let mut ends =
        bytes.iter().enumerate().skip(from).filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    ends.find_map(|end| match bytes.get(end..)? {
        [b'\n', ..] => Some(end + 1),
        [b'\r', b'\n', ..] => Some(end + 2),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
