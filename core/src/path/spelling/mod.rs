//! Paths spelled otherwise: `/private/a` as `//private/a`, `/./private/a`, `/x/../private/a`, `/%2e/private/a`,
//! `/private%2Fa` or `/private;x/a`, `/Special:a` as `/Special%3Aa`.
//!
//! Rules are compared with the path as it was sent (RFC 9309), but a server may look for the file under another one:
//! nginx always resolves dot segments and by default merges slashes, Envoy does if its configuration says so. So that no rule is
//! evaded by spelling, a path that is not in resolved form is judged in that form, too, and the strictest of the
//! judgements holds.
//!
//! Resolved, a path has no dot segments (RFC 3986, 5.2.4; `%2e` is a dot) and no empty ones but the last, and ends before
//! a fragment. Whether `..` takes away an empty segment depends on what is done first: `/a//../b` is `/b` where slashes
//! are merged first, as nginx does, and `/a/b` where dot segments are resolved first, as Envoy does. Both are judged.
//!
//! An encoded reserved character is not the character itself (RFC 3986, 2.2): `%2F` is not a separator, and in both forms it is
//! none. But nginx and others decode it before they look for a file. So a path with one is judged in a third form, in which
//! it is decoded; `?` and `#` are not, since they would end the path.
//!
//! Tomcat and other Java servers cut what follows a `;` off each segment, before they resolve dot segments: there
//! `/x/..;/private` is `/private`. So a path with a `;` is judged in a fourth form, without these parameters.
//!
//! Envoy's `normalize_path` and Windows servers read `\` as `/`: so do the second form, and the third, in which `%5C` is one as well.
//! Go reads `#` as data, which nginx passes on and others cut off: so a path with one is judged with `%23` in its place, too.
//!
//! The query is left as it is in all of them.
//!
//! # Patterns
//!
//! A rule whose own path is not resolved (`/wiki/Special%3ASearch`, `/a//b`) would match no resolved path. So there is a
//! resolved form of patterns, too: see [`PathRule`](crate::path::rules::PathRule).

use alloc::vec::Vec;

use memchr::{memchr, memchr_iter, memchr2, memchr2_iter};

mod resolved;

use self::resolved::Resolved;
use crate::path::page::page_of;

/// The way in which a path is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spelling {
    /// As it was sent.
    Sent,
    /// Resolved, slashes merged before dot segments.
    SlashesFirst,
    /// Resolved, dot segments before slashes merged.
    DotsFirst,
    /// Resolved, reserved characters decoded, slashes merged before dot segments.
    Decoded,
    /// As [`Self::Decoded`], but each segment ends before the first `;` in it.
    WithoutParameters,
    /// The page whose markdown is asked for: without `.md`. For sites that serve pages so.
    Page,
    /// With `%23` for each `#` before the query.
    WithFragment,
}

impl Spelling {
    /// The resolved ones.
    pub(crate) const RESOLVED: [Self; 4] =
        [Self::SlashesFirst, Self::DotsFirst, Self::Decoded, Self::WithoutParameters];

    /// A request target in this spelling; see [`LONGEST`] for a longer one.
    pub fn of(self, target: &[u8]) -> Vec<u8> {
        let mut room = [0; LONGEST];
        resolve(target, self, &mut room).to_vec()
    }

    /// The text of a pattern in this spelling; `None` where it is the same, or too long to match any path in it.
    ///
    /// `*` is taken for any other octet, `%2A` and `%24` are left as they are, and the last segment of a pattern without `$`
    /// is not a dot segment, since it may go on.
    pub(crate) fn of_pattern(self, text: &[u8]) -> Option<Vec<u8>> {
        let (body, end) = text.strip_suffix(b"$").map_or((text, &b""[..]), |body| (body, b"$"));
        if is_text_resolved(body) {
            return None;
        }
        // A slash in front, which is taken away again, makes an absolute path of a pattern that begins with `*`.
        let slash: &[u8] = if body.starts_with(b"/") { b"" } else { b"/" };
        let path = [slash, body].concat();
        if path.len() > LONGEST {
            return None;
        }
        let mut room = [0; LONGEST];
        let kind = Kind::Pattern { is_whole: !end.is_empty() };
        let resolved = resolve_as(kind, &path, self, &mut room);
        Some([resolved.strip_prefix(slash)?, end].concat()).filter(|resolved| *resolved != text)
    }

    /// Returns true if this spelling may differ from [`Self::SlashesFirst`].
    pub(super) fn may_differ(self, target: &[u8]) -> bool {
        let path = before_query(target);
        match self {
            Self::Sent | Self::SlashesFirst | Self::Page | Self::WithFragment => false,
            // Dot segments are resolved to something else only behind an empty segment.
            Self::DotsFirst => memchr(b'\\', path).is_some() || path.windows(2).any(|pair| pair == b"//"),
            Self::Decoded => first_reserved(path, Kind::Path).is_some() || has_backslash(path),
            Self::WithoutParameters => first_parameter(path).is_some(),
        }
    }

    fn decodes(self) -> bool {
        matches!(self, Self::Decoded | Self::WithoutParameters)
    }

    /// The length of the separator that a text begins with.
    fn separator(self, text: &[u8], kind: Kind) -> Option<usize> {
        match text {
            [b'/', ..] => Some(1),
            [b'\\', ..] if self == Self::DotsFirst || self.decodes() => Some(1),
            _ if self.decodes() && (is_encoded_backslash(text) || reserved(text, kind) == Some(b'/')) => {
                Some(ENCODED)
            }
            _ => None,
        }
    }
}

/// The largest length of a resolved path, in bytes. Of a longer one, the segments that fit are judged: what RFC 9110
/// (4.1) asks servers to support is 8000.
pub const LONGEST: usize = 8192;

/// Returns true if two octets in a row may begin something that is resolved.
#[inline]
pub(super) fn may_be_odd(here: u8, next: u8) -> bool {
    let after_slash = (here == b'/') & ((next == b'/') | (next == b'.') | (next == b'%'));
    let may_be_reserved = (here == b'%') & matches!(next, b'2'..=b'5');
    after_slash | may_be_reserved | (next == b'#') | (next == b';') | (next == b'\\')
}

/// Returns true if a path, with its query, is the same in every spelling. One that does not begin with `/` is.
#[cold]
pub(super) fn is_resolved(target: &[u8]) -> bool {
    target.first() != Some(&b'/') || is_text_resolved(target)
}

/// Returns true if nothing in the text of a path or a pattern is spelled otherwise in a resolved form.
fn is_text_resolved(text: &[u8]) -> bool {
    let path = before_query(text);
    let is_resolved_at = |at: usize| match path.get(at..).unwrap_or_default() {
        [b'/', rest @ ..] => rest.first() != Some(&b'/') && dots_before_end(rest).is_none(),
        other => reserved(other, Kind::Path).is_none() && !is_encoded_backslash(other),
    };
    memchr(b'#', text).is_none()
        && memchr2(b';', b'\\', path).is_none()
        && memchr2_iter(b'/', b'%', path).all(is_resolved_at)
}

/// Returns true if a pattern has a dot segment. No path has one that a client sends as it should (RFC 3986, 5.2.4).
pub(crate) fn has_dot_segment(pattern: &[u8]) -> bool {
    let path = before_query(pattern);
    let begins_one = |at: usize| {
        let (segment, after) = first_segment(path.get(at + 1..)?, Spelling::Sent, Kind::Path);
        after.and(dots_before_end(segment))
    };
    memchr_iter(b'/', path).any(|slash| begins_one(slash).is_some())
}

/// Returns true if a target has a fragment.
pub(super) fn has_fragment(target: &[u8]) -> bool {
    target.get(before_query(target).len()) == Some(&b'#')
}

/// The path of a target, before query and fragment.
fn before_query(target: &[u8]) -> &[u8] {
    target.get(..memchr2(b'?', b'#', target).unwrap_or(target.len())).unwrap_or_default()
}

/// The kind of text that is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Path,
    Pattern {
        /// True if a path ends where the pattern does.
        is_whole: bool,
    },
}

/// The reserved character that the text begins with, percent-encoded; but for those that would end the path, and in a pattern
/// those that would mean something else there.
fn reserved(text: &[u8], kind: Kind) -> Option<u8> {
    let [b'%', high @ b'2'..=b'5', low, ..] = text else { return None };
    let low = u8::try_from(char::from(*low).to_digit(16)?).ok()?;
    let byte = (high - b'0') << 4 | low;
    let is_decoded = match byte {
        b'*' | b'$' => kind == Kind::Path,
        _ => b":/[]@!&'()+,;=".contains(&byte),
    };
    is_decoded.then_some(byte)
}

const ENCODED: usize = "%2F".len();

fn is_encoded_backslash(text: &[u8]) -> bool {
    matches!(text, [b'%', b'5', b'c' | b'C', ..])
}

fn has_backslash(path: &[u8]) -> bool {
    memchr2_iter(b'\\', b'%', path).any(|at| {
        path.get(at..).is_some_and(|text| text.first() == Some(&b'\\') || is_encoded_backslash(text))
    })
}

/// The first encoded reserved character of a path: where it is, and what it stands for.
fn first_reserved(path: &[u8], kind: Kind) -> Option<(usize, u8)> {
    memchr_iter(b'%', path).find_map(|at| Some((at, reserved(path.get(at..)?, kind)?)))
}

/// The place at which the first parameters of a path begin.
fn first_parameter(path: &[u8]) -> Option<usize> {
    memchr2_iter(b';', b'%', path).find(|at| begins_parameters(path.get(*at..).unwrap_or_default()))
}

fn begins_parameters(text: &[u8]) -> bool {
    text.first() == Some(&b';') || reserved(text, Kind::Path) == Some(b';')
}

/// A path with its query in a spelling, as much as fits of it. One that does not begin with `/` has only one.
///
/// There is always room for a target that is shorter than the room.
pub fn resolve<'r>(target: &'r [u8], spelling: Spelling, room: &'r mut [u8]) -> &'r [u8] {
    resolve_as(Kind::Path, target, spelling, room)
}

/// A path with its query, as much as fits of it.
fn joined<'r>(path: &[u8], query: &[u8], room: &'r mut [u8]) -> &'r [u8] {
    filled(path.iter().chain(query).copied(), room)
}

/// Octets, as many as fit.
fn filled(octets: impl Iterator<Item = u8>, room: &mut [u8]) -> &[u8] {
    let length = room.iter_mut().zip(octets).map(|(place, octet)| *place = octet).count();
    room.get(..length).unwrap_or_default()
}

/// A target without a fragment: its `#` are data.
fn with_fragment<'r>(target: &[u8], room: &'r mut [u8]) -> &'r [u8] {
    let (path, query) = target.split_at(memchr(b'?', target).unwrap_or(target.len()));
    let octets = path.iter().flat_map(|octet| match octet {
        b'#' => b"%23",
        other => core::slice::from_ref(other),
    });
    filled(octets.chain(query).copied(), room)
}

fn resolve_as<'r>(kind: Kind, target: &'r [u8], spelling: Spelling, room: &'r mut [u8]) -> &'r [u8] {
    if spelling == Spelling::Page {
        return page_of(target).map_or(target, |(page, rest)| joined(page, rest, room));
    }
    if spelling == Spelling::WithFragment {
        return with_fragment(target, room);
    }
    let Some(absolute) = target.strip_prefix(b"/").filter(|_| spelling != Spelling::Sent) else {
        return target;
    };
    let absolute = absolute.get(..memchr(b'#', absolute).unwrap_or(absolute.len())).unwrap_or_default();
    let end = memchr(b'?', absolute).unwrap_or(absolute.len());
    let (path, query) = absolute.split_at_checked(end).unwrap_or((absolute, b""));
    let ends_whole = kind != (Kind::Pattern { is_whole: false }) || !query.is_empty();
    let mut resolved = Resolved::new(room, spelling.decodes().then_some(kind));
    let mut rest = Some(path);
    while let Some(text) = rest {
        let (segment, after) = first_segment(text, spelling, kind);
        rest = after;
        let is_last = after.is_none();
        match dots_before_end(segment).filter(|_| !is_last || ends_whole) {
            Some(1) => {}
            Some(_) => resolved.pop(),
            None if segment.is_empty() && !is_last && spelling != Spelling::DotsFirst => {}
            None => {
                resolved.push(segment);
                continue;
            }
        }
        if is_last {
            resolved.push(b"");
        }
    }
    resolved.finish(query)
}

/// The segment that a text begins with, and what follows the slash after it.
fn first_segment(text: &[u8], spelling: Spelling, kind: Kind) -> (&[u8], Option<&[u8]>) {
    let from = |at: usize| text.get(at..).unwrap_or_default();
    let found = (0..text.len()).find_map(|at| Some((at, spelling.separator(from(at), kind)?)));
    let (end, next) = match found {
        Some((at, length)) => (at, Some(at + length)),
        None => (text.len(), None),
    };
    let segment = text.get(..end).unwrap_or_default();
    let parameters = match spelling {
        Spelling::WithoutParameters => first_parameter(segment),
        _ => None,
    };
    match parameters {
        // Parameters end with the segment as it was sent: an encoded slash in them separates nothing.
        Some(at) => {
            let rest = from(at);
            let after = memchr(b'/', rest).and_then(|slash| rest.get(slash + 1..));
            (segment.get(..at).unwrap_or_default(), after)
        }
        None => (segment, next.map(from)),
    }
}

/// The number of dots before the end of the segment, if there is nothing else in it: one or two.
fn dots_before_end(text: &[u8]) -> Option<u8> {
    let mut rest = text;
    for dots in 0..=2 {
        if matches!(rest.first(), None | Some(b'/' | b'?' | b'#')) {
            return (dots > 0).then_some(dots);
        }
        rest = match rest {
            [b'.', rest @ ..] | [b'%', b'2', b'e' | b'E', rest @ ..] => rest,
            _ => return None,
        };
    }
    None
}

#[cfg(test)]
mod tests;
