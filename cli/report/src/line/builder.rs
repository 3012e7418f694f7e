//! From the fields of a line to the request that it is about.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use crawlpike_core::{Scheme, is_token_byte};

use super::names::{Field, Meaning, REWRITTEN};
use super::record::{Record, Text};
use super::{escape, moment};

/// The reason why a line does not describe a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// No format reads it.
    Unreadable,
    /// The server answered before it had a request, as nginx does with 408 and some 400. A gate never sees these.
    NoRequest,
    /// It is longer than the limit.
    TooLong,
}

/// A value as a line has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'l> {
    Text(Text<'l>),
    Number(f64),
}

/// The way in which values are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// As [`escape::undo`] reads it.
    Backslash,
    /// Not at all, or it has been undone.
    None,
}

/// The fields of a line, in any order.
#[derive(Debug)]
pub(crate) struct Builder<'l> {
    values: [Option<(u8, Value<'l>)>; Field::COUNT],
    escape: Escape,
}

impl<'l> Builder<'l> {
    pub(crate) fn new(escape: Escape) -> Self {
        Self { values: [const { None }; Field::COUNT], escape }
    }

    /// Takes a value, unless a source of it that is preferred has one.
    pub(crate) fn put(&mut self, (field, rank): Meaning, value: Value<'l>) {
        // That no upstream was asked is of use.
        if is_none(&value) && field != Field::UpstreamStatus {
            return;
        }
        let slot = &mut self.values[field as usize];
        if slot.as_ref().is_none_or(|(before, _)| *before < rank) {
            *slot = Some((rank, value));
        }
    }

    /// The request.
    pub(crate) fn finish(mut self) -> Result<Record<'l>, Fault> {
        let address = self.address()?;
        // A number can be something else, such as how long the response took.
        let is_number = matches!(self.values[Field::Time as usize], Some((_, Value::Number(_))));
        let (time, milliseconds) = match self.text(Field::Time).map(|text| (moment::parse(&text), text)) {
            Some((time @ Some(_), text)) => (time, moment::milliseconds(&text)),
            Some((None, _)) if !is_number => return Err(Fault::Unreadable),
            _ => (None, None),
        };
        let status = match self.take(Field::Status) {
            Some(value) => Some(whole(&value).ok_or(Fault::Unreadable)?),
            None => None,
        };
        let status = status.map(u16::try_from).transpose().map_err(|_| Fault::Unreadable)?;
        if self.is_refused_by_nginx(status) {
            return Err(Fault::NoRequest);
        }
        let bytes = match self.take(Field::Bytes) {
            Some(value) => whole(&value).ok_or(Fault::Unreadable)?,
            None => 0,
        };
        let scheme = match self.text(Field::Scheme).as_deref() {
            Some(b"https") => Some(Scheme::Https),
            Some(b"http") => Some(Scheme::Http),
            _ => None,
        };
        let user_agent = self.text(Field::UserAgent);
        let purpose = self.text(Field::Purpose);
        let accept = self.text(Field::Accept);
        let mut is_rewritten = matches!(self.values[Field::Target as usize], Some((REWRITTEN, _)));
        if is_rewritten && self.values[Field::RequestLine as usize].is_some() {
            // The gates decide by the path that was sent.
            self.take(Field::Target);
            is_rewritten = false;
        }
        let (method, target, authority) = self.request()?;
        Ok(Record {
            address,
            time,
            milliseconds,
            scheme,
            authority,
            method,
            target,
            is_rewritten,
            user_agent,
            purpose,
            accept,
            status,
            bytes,
        })
    }

    fn take(&mut self, field: Field) -> Option<Value<'l>> {
        self.values[field as usize].take().map(|(_, value)| value)
    }

    fn text(&mut self, field: Field) -> Option<Text<'l>> {
        match (self.take(field)?, self.escape) {
            (Value::Text(Cow::Borrowed(text)), Escape::Backslash) => Some(escape::undo(text)),
            (Value::Text(text), _) => Some(text),
            (Value::Number(number), _) => Some(Cow::Owned(number.to_string().into_bytes())),
        }
    }

    fn address(&mut self) -> Result<Option<IpAddr>, Fault> {
        let (direct, forwarded) = (self.text(Field::Address), self.text(Field::ForwardedFor));
        let text = match (&direct, &forwarded) {
            (Some(direct), _) => &**direct,
            (None, Some(list)) => list.rsplit(|byte| *byte == b',').next().unwrap_or_default().trim_ascii(),
            (None, None) => return Ok(None),
        };
        // A client on a unix socket, in nginx's words and in Envoy's.
        if text.starts_with(b"unix:") || text.starts_with(b"/") {
            return Ok(None);
        }
        let text = std::str::from_utf8(text).map_err(|_| Fault::Unreadable)?;
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let address = bare.parse().or_else(|_| text.parse().map(|with_port: SocketAddr| with_port.ip()));
        address.map(Some).map_err(|_| Fault::Unreadable)
    }

    /// Returns true if nginx refused the request before any gate saw it. An upstream and a gate can send the same statuses, and
    /// only nginx logs request lines.
    fn is_refused_by_nginx(&mut self, status: Option<u16>) -> bool {
        let upstream = self.take(Field::UpstreamStatus);
        let was_asked = upstream.as_ref().is_some_and(|status| !is_none(status));
        if was_asked || self.take(Field::Action).is_some() {
            return false;
        }
        match status {
            Some(400 | 414) => upstream.is_some(),
            Some(408 | 494) => self.values[Field::RequestLine as usize].is_some(),
            _ => false,
        }
    }

    /// The method, the target and the host.
    fn request(&mut self) -> Result<(Text<'l>, Text<'l>, Option<Text<'l>>), Fault> {
        let authority = self.text(Field::Authority);
        let line = self.text(Field::RequestLine);
        let (method, target) = match (self.text(Field::Method), self.text(Field::Target), line) {
            (Some(method), Some(target), _) => (method, target),
            (Some(method), None, None) if *method == *b"CONNECT" => (method, Cow::default()),
            (_, _, Some(line)) => split(line).ok_or(Fault::NoRequest)?,
            _ => return Err(Fault::NoRequest),
        };
        // `PRI * HTTP/2.0` opens a connection.
        if method.is_empty() || *method == *b"PRI" || !method.iter().copied().all(is_token_byte) {
            return Err(Fault::NoRequest);
        }
        if *method == *b"CONNECT" {
            let authority = authority.or(Some(target).filter(|target| !target.is_empty()));
            return Ok((method, Cow::default(), authority));
        }
        // The host of an absolute target counts, whatever the Host header says.
        match absolute(&target) {
            Some((start, end)) => {
                let host = Some(part(&target, start, end));
                let path = part(&target, end, target.len());
                let path = if path.starts_with(b"/") { path } else { Cow::Owned([b"/", &*path].concat()) };
                Ok((method, path, host))
            }
            None => Ok((method, target, authority)),
        }
    }
}

/// Returns true for what servers write instead of a value.
fn is_none(value: &Value<'_>) -> bool {
    matches!(value, Value::Text(text) if text.is_empty() || **text == *b"-")
}

/// A number without sign and fraction.
fn whole(value: &Value<'_>) -> Option<u64> {
    match value {
        Value::Text(text) => std::str::from_utf8(text).ok()?.parse().ok(),
        Value::Number(number) if (0.0..9e15).contains(number) => Some(*number as u64),
        Value::Number(_) => None,
    }
}

/// The method and the target of `GET /path HTTP/1.1`.
fn split(line: Text<'_>) -> Option<(Text<'_>, Text<'_>)> {
    let space = memchr::memchr(b' ', &line)?;
    let end = memchr::memmem::rfind(&line, b" HTTP/").filter(|end| *end > space).unwrap_or(line.len());
    let target = part(&line, space + 1, end);
    (!target.is_empty()).then(|| (part(&line, 0, space), target))
}

/// The start and the end of the authority in `http://host/path`.
fn absolute(target: &[u8]) -> Option<(usize, usize)> {
    if target.starts_with(b"/") {
        return None;
    }
    let scheme = memchr::memmem::find(target, b"://")?;
    let is_http = |text: &[u8]| text.eq_ignore_ascii_case(b"http") || text.eq_ignore_ascii_case(b"https");
    let rest = target.get(scheme + 3..).filter(|_| target.get(..scheme).is_some_and(is_http))?;
    let length = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    Some((scheme + 3, scheme + 3 + length))
}

fn part<'l>(text: &Text<'l>, start: usize, end: usize) -> Text<'l> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(start..end).unwrap_or_default()),
        Cow::Owned(text) => Cow::Owned(text.get(start..end).unwrap_or_default().to_vec()),
    }
}
