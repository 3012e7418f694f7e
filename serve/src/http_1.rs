//! HTTP/1 (RFC 9112), as far as questions and their answers need it.
//!
//! A proxy passes on what its client sent, and the gates decide about any octets. Libraries refuse some of them, such as `<` in a
//! target or a control in a cookie, which would refuse the client. So heads are read here, and as they are.

mod head;

use std::io;
use std::time::SystemTime;

use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, sink};

pub(crate) use head::Head;

use crate::check::Header;
use crate::unclear::Unclear;

/// The largest head of a request, in bytes. Proxies let a client send less.
const MOST_HEAD: usize = 128 << 10;

/// The room for what is read at once: for most heads, that is enough.
const STEP: usize = 2 << 10;

/// The most that is read of what comes after the last request.
const MOST_REST: u64 = 1 << 20;

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
    received: Vec<u8>,
    /// The place in `received` behind the last head.
    start: usize,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Http1<S> {
    pub(crate) const fn new(stream: S) -> Self {
        Self { stream, received: Vec::new(), start: 0 }
    }

    /// Returns true if no request has begun.
    pub(crate) fn is_idle(&self) -> bool {
        self.unread().is_empty()
    }

    /// The bytes of the next head. `None`: the peer sends no more. If this is dropped before it is done, nothing is lost.
    pub(crate) async fn head(&mut self) -> Option<Result<Vec<u8>, Unclear>> {
        let mut seen = 0;
        loop {
            // Empty lines before a request are to be ignored (2.2).
            self.start += self.unread().iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            match end_of_head(self.unread(), seen) {
                Some(end) if end <= MOST_HEAD => {
                    let head = self.unread().iter().take(end).copied().collect();
                    self.start += end;
                    return Some(Ok(head));
                }
                None if self.unread().len() <= MOST_HEAD => {}
                _ => return Some(Err(Unclear::Size(MOST_HEAD))),
            }
            self.received.drain(..self.start);
            self.start = 0;
            seen = self.received.len();
            self.received.reserve(STEP);
            // Whatever the reason is, there is nobody to be answered.
            self.stream.read_buf(&mut self.received).await.ok().filter(|length| *length > 0)?;
        }
    }

    fn unread(&self) -> &[u8] {
        self.received.get(self.start..).unwrap_or_default()
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
