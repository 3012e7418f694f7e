//! Paths spelled otherwise: `/private/a` as `//private/a`, `/./private/a`, `/x/../private/a`, `/%2e/private/a` or `/private%2Fa`,
//! `/Special:a` as `/Special%3Aa`.
//!
//! Rules are compared with the path as it was sent (RFC 9309), but a server may look for the file under another one:
//! nginx always resolves dot segments and by default merges slashes, Envoy does where it is told to. So that no rule is
//! evaded by spelling, a path that is not in resolved form is judged in that form, too, and the strictest of the
//! judgements holds.
//!
//! Resolved, a path has no dot segments (RFC 3986, 5.2.4; `%2e` is a dot) and no empty ones but the last, and ends before
//! a fragment. Whether `..` takes away an empty segment depends on what is done first: `/a//../b` is `/b` where slashes
//! are merged first, as nginx does, and `/a/b` where dot segments are resolved first, as Envoy does. Both are judged.
//!
//! An encoded reserved character is not the character itself (RFC 3986, 2.2): `%2F` is no separator, and in both forms it is
//! none. But nginx and others decode it before they look for a file. So a path with one is judged in a third form, in which
//! it is decoded; `?` and `#` are not, since they would end the path. The query is left as it is.

use memchr::{memchr, memchr_iter, memchr2, memchr2_iter, memrchr};

use crate::path_pattern::RequestPath;

/// How a path is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// As it was sent.
    Sent,
    /// Resolved, slashes merged before dot segments.
    SlashesFirst,
    /// Resolved, dot segments before slashes merged.
    DotsFirst,
    /// Resolved, reserved characters decoded, slashes merged before dot segments.
    Decoded,
}

/// How long a resolved path can be, in bytes. Of a longer one, the segments that fit are judged: what RFC 9110 (4.1) asks
/// servers to support is 8000.
pub const LONGEST: usize = 8192;

/// Whether a path, with its query, is the same in every form. What does not begin with `/` is.
#[inline]
pub fn is_resolved(target: &[u8]) -> bool {
    // Without a branch, so that the compiler looks at many octets at once; nearly every path shows nothing to look into.
    let next = target.get(1..).unwrap_or_default();
    let is_odd = target.iter().zip(next).fold(false, |is_odd, (here, next)| {
        let after_slash = (*here == b'/') & ((*next == b'/') | (*next == b'.') | (*next == b'%'));
        let may_be_reserved = (*here == b'%') & matches!(*next, b'2'..=b'5');
        is_odd | after_slash | may_be_reserved | (*next == b'#')
    });
    !is_odd || target.first() != Some(&b'/') || is_resolved_on_a_closer_look(target)
}

fn is_resolved_on_a_closer_look(target: &[u8]) -> bool {
    let path = before_query(target);
    let is_resolved_at = |at: usize| match path.get(at..).unwrap_or_default() {
        [b'/', rest @ ..] => rest.first() != Some(&b'/') && dots_before_end(rest).is_none(),
        other => reserved(other).is_none(),
    };
    memchr(b'#', target).is_none() && memchr2_iter(b'/', b'%', path).all(is_resolved_at)
}

/// The path of a target, before query and fragment.
fn before_query(target: &[u8]) -> &[u8] {
    target.get(..memchr2(b'?', b'#', target).unwrap_or(target.len())).unwrap_or_default()
}

/// The reserved character that the text begins with, percent-encoded; but for those that would end the path.
fn reserved(text: &[u8]) -> Option<u8> {
    let [b'%', high @ b'2'..=b'5', low, ..] = text else { return None };
    let low = u8::try_from(char::from(*low).to_digit(16)?).ok()?;
    let byte = (high - b'0') << 4 | low;
    b":/[]@!$&'()*+,;=".contains(&byte).then_some(byte)
}

const ENCODED: usize = "%2F".len();

/// Asks for the judgement of a path as it was sent, and where that is not resolved of the resolved ones, until one is
/// `strictest`. Gives the first of the strictest by `strictness`, with its spelling.
pub(crate) fn strictest<T, S: Ord>(
    target: &[u8],
    mut judge: impl FnMut(RequestPath<'_>, Spelling) -> T,
    strictness: impl Fn(&T) -> S,
    strictest: S,
) -> (T, Spelling) {
    let sent = judge(RequestPath::new(target), Spelling::Sent);
    if is_resolved(target) || strictness(&sent) == strictest {
        return (sent, Spelling::Sent);
    }
    in_resolved_forms(target, sent, &mut judge, strictness, strictest)
}

/// Apart, so that a path in resolved form pays nothing for the room that the others need.
#[cold]
#[inline(never)]
fn in_resolved_forms<T, S: Ord>(
    target: &[u8],
    sent: T,
    judge: &mut impl FnMut(RequestPath<'_>, Spelling) -> T,
    strictness: impl Fn(&T) -> S,
    strictest: S,
) -> (T, Spelling) {
    let mut best = (sent, Spelling::Sent);
    let mut room = [0; LONGEST];
    let mut length = 0;
    for spelling in [Spelling::SlashesFirst, Spelling::DotsFirst, Spelling::Decoded] {
        let resolved = resolve(target, spelling, &mut room);
        let is_another = match spelling {
            // What the first order keeps, the second keeps, too, so those that are equally long are the same.
            Spelling::DotsFirst => resolved.len() != length,
            Spelling::Decoded => first_reserved(before_query(target)).is_some(),
            Spelling::Sent | Spelling::SlashesFirst => true,
        };
        length = resolved.len();
        if !is_another || resolved == target {
            continue;
        }
        let next = judge(RequestPath::new(resolved), spelling);
        if strictness(&next) > strictness(&best.0) {
            best = (next, spelling);
        }
        if strictness(&best.0) == strictest {
            break;
        }
    }
    best
}

/// The first encoded reserved character of a path: where it is, and what it stands for.
fn first_reserved(path: &[u8]) -> Option<(usize, u8)> {
    memchr_iter(b'%', path).find_map(|at| Some((at, reserved(path.get(at..)?)?)))
}

/// A path with its query in a spelling, as much as fits of it. One that does not begin with `/` has only one.
pub fn resolve<'r>(target: &'r [u8], spelling: Spelling, room: &'r mut [u8; LONGEST]) -> &'r [u8] {
    let Some(absolute) = target.strip_prefix(b"/").filter(|_| spelling != Spelling::Sent) else {
        return target;
    };
    let absolute = absolute.get(..memchr(b'#', absolute).unwrap_or(absolute.len())).unwrap_or_default();
    let end = memchr(b'?', absolute).unwrap_or(absolute.len());
    let (path, query) = absolute.split_at_checked(end).unwrap_or((absolute, b""));
    let is_decoded = spelling == Spelling::Decoded;
    let mut resolved = Resolved { room, length: 0, lost: 0, first_lost: b"", is_decoded };
    let mut rest = Some(path);
    while let Some(text) = rest {
        let (segment, after) = first_segment(text, spelling);
        rest = after;
        let is_last = after.is_none();
        match dots_before_end(segment) {
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
fn first_segment(text: &[u8], spelling: Spelling) -> (&[u8], Option<&[u8]>) {
    for at in memchr2_iter(b'/', b'%', text) {
        let (segment, rest) = text.split_at_checked(at).unwrap_or_default();
        let slash = match rest {
            [b'/', ..] => 1,
            _ if spelling == Spelling::Decoded && reserved(rest) == Some(b'/') => ENCODED,
            _ => continue,
        };
        return (segment, rest.get(slash..));
    }
    (text, None)
}

/// The segments of a resolved path, each after a slash.
struct Resolved<'r> {
    room: &'r mut [u8; LONGEST],
    length: usize,
    /// How many segments did not fit, and the first of them.
    lost: usize,
    first_lost: &'r [u8],
    /// Whether reserved characters are decoded in the segments that are pushed.
    is_decoded: bool,
}

impl<'r> Resolved<'r> {
    fn push(&mut self, segment: &'r [u8]) {
        if self.lost == 0 && self.length + 1 + segment.len() <= LONGEST {
            self.append(b"/");
            self.append_segment(segment);
        } else {
            if self.lost == 0 {
                self.first_lost = segment;
            }
            self.lost += 1;
        }
    }

    /// Takes the last segment away; above the root there is nothing.
    fn pop(&mut self) {
        match self.lost.checked_sub(1) {
            Some(fewer) => self.lost = fewer,
            None => {
                let kept = self.room.get(..self.length).unwrap_or_default();
                self.length = memrchr(b'/', kept).unwrap_or(0);
            }
        }
    }

    fn append_segment(&mut self, mut segment: &[u8]) {
        while self.is_decoded
            && let Some((at, byte)) = first_reserved(segment)
        {
            self.append(segment.get(..at).unwrap_or_default());
            self.append(&[byte]);
            segment = segment.get(at + ENCODED..).unwrap_or_default();
        }
        self.append(segment);
    }

    /// Appends as much as fits.
    fn append(&mut self, bytes: &[u8]) {
        let free = self.room.get_mut(self.length..).unwrap_or_default();
        free.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.length += free.len().min(bytes.len());
    }

    /// Appends what does not fit whole, merges slashes, and gives all.
    fn finish(mut self, query: &[u8]) -> &'r [u8] {
        if self.lost > 0 {
            self.append(b"/");
            self.append_segment(self.first_lost);
        }
        self.merge_slashes();
        if self.lost == 0 {
            self.append(query);
        }
        self.room.get(..self.length).unwrap_or_default()
    }

    fn merge_slashes(&mut self) {
        let (mut kept, mut before) = (0, 0);
        for at in 0..self.length {
            let Some(byte) = self.room.get(at).copied() else { break };
            if byte != b'/' || before != b'/' {
                if let Some(to) = self.room.get_mut(kept) {
                    *to = byte;
                }
                kept += 1;
            }
            before = byte;
        }
        self.length = kept;
    }
}

/// How many dots stand before the end of the segment, where there is nothing else in it: one or two.
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
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;

    fn resolved(target: &str, spelling: Spelling) -> String {
        let mut room = [0; LONGEST];
        String::from_utf8(resolve(target.as_bytes(), spelling, &mut room).to_vec()).unwrap()
    }

    #[test]
    fn both_orders_resolve_dots_and_slashes() {
        for (sent, expected) in [
            ("//private", "/private"),
            ("/./private", "/private"),
            ("/x/../private", "/private"),
            ("/%2e/private", "/private"),
            ("/x/.%2E/%2e%2e/../private/", "/private/"),
            ("/a/b/c/./../../g", "/a/g"),
            ("/mid/content=5/../6", "/mid/6"),
            ("/a/.", "/a/"),
            ("/a/..", "/"),
            ("/..", "/"),
            ("//", "/"),
            ("/a//", "/a/"),
            ("/a//b///c", "/a/b/c"),
            ("/a/../?b=/../c//d", "/?b=/../c//d"),
            ("/a#/../b", "/a"),
            ("/a?b#c", "/a?b"),
            ("/...//.a/%2e.b/..%2d", "/.../.a/%2e.b/..%2d"),
        ] {
            assert_eq!(resolved(sent, Spelling::SlashesFirst), expected, "{sent}");
            assert_eq!(resolved(sent, Spelling::DotsFirst), expected, "{sent}");
            assert_eq!(resolved(sent, Spelling::Sent), sent);
            assert!(is_resolved(expected.as_bytes()), "{expected}");
            assert_eq!(is_resolved(sent.as_bytes()), sent == expected, "{sent}");
        }
        for plain in
            ["", "*", "a//b%2F", "?//", "/", "/a", "/a/", "/.a", "/a.", "/%2ea", "/%2", "/a?//../%2F", "/a?#"]
        {
            assert_eq!(is_resolved(plain.as_bytes()), !plain.contains('#'), "{plain}");
        }
    }

    #[test]
    fn the_orders_differ_where_dots_follow_slashes() {
        for (sent, slashes_first, dots_first) in
            [("/a//../b", "/b", "/a/b"), ("/a/.//..", "/", "/a/"), ("//../a///../../b", "/b", "/a/b")]
        {
            assert_eq!(resolved(sent, Spelling::SlashesFirst), slashes_first, "{sent}");
            assert_eq!(resolved(sent, Spelling::DotsFirst), dots_first, "{sent}");
        }
    }

    #[test]
    fn encoded_reserved_characters_are_decoded_in_a_form_of_their_own() {
        for (sent, slashes_first, decoded) in [
            ("/private%2Fa?b%2Fc", "/private%2Fa?b%2Fc", "/private/a?b%2Fc"),
            ("/x%2f..%2F%2e%2fprivate%2f", "/x%2f..%2F%2e%2fprivate%2f", "/private/"),
            ("/a%2F%2F..//%2f/b", "/a%2F%2F../%2f/b", "/b"),
            ("/%2F", "/%2F", "/"),
            ("/a%252F..%2", "/a%252F..%2", "/a%252F..%2"),
            ("/wiki/Special%3aa%3A?b%3A", "/wiki/Special%3aa%3A?b%3A", "/wiki/Special:a:?b%3A"),
            (
                "/%21%24%26%27%28%29%2A%2B%2C%3B%3D%40%5B%5D",
                "/%21%24%26%27%28%29%2A%2B%2C%3B%3D%40%5B%5D",
                "/!$&'()*+,;=@[]",
            ),
            ("/a%3Fb%23c%25d%3Ce%3e%5E", "/a%3Fb%23c%25d%3Ce%3e%5E", "/a%3Fb%23c%25d%3Ce%3e%5E"),
            ("/%3%3A%2%2c%%3b", "/%3%3A%2%2c%%3b", "/%3:%2,%;"),
        ] {
            assert_eq!(resolved(sent, Spelling::SlashesFirst), slashes_first, "{sent}");
            assert_eq!(resolved(sent, Spelling::Decoded), decoded, "{sent}");
            assert!(is_resolved(decoded.as_bytes()), "{decoded}");
            assert_eq!(is_resolved(sent.as_bytes()), sent == decoded, "{sent}");
        }
    }

    #[test]
    fn what_is_judged_of_a_longer_path_is_as_much_as_fits() {
        let long = "x".repeat(LONGEST);
        let cut = |text: &str| String::from(text.get(..LONGEST).unwrap());
        let resolved = |target: String| resolved(&target, Spelling::SlashesFirst);
        assert_eq!(resolved(alloc::format!("//private/{long}/a?b")), cut(&alloc::format!("/private/{long}")));
        assert_eq!(resolved(alloc::format!("//private?{long}")), cut(&alloc::format!("/private?{long}")));
        assert_eq!(resolved(alloc::format!("//{long}/../private/a?b")), "/private/a?b");
        assert_eq!(resolved(alloc::format!("/a/{long}/b/../../c//d")), "/a/c/d");
        let many = "/a/..".repeat(LONGEST);
        assert_eq!(resolved(alloc::format!("{many}/private")), "/private");
        assert_eq!(resolved("/".repeat(LONGEST * 2)), "/");
    }

    #[test]
    fn the_strictest_judgement_counts_and_the_first_of_equals() {
        // A path is judged by whether it is `/b`.
        let judged = |target: &str| {
            let mut asked = Vec::new();
            let judge = |path: RequestPath<'_>, spelling| {
                asked.push(spelling);
                path.is(b"/b").into()
            };
            let (strictness, spelling) = strictest(target.as_bytes(), judge, |judged: &u8| *judged, 1);
            (strictness, spelling, asked)
        };
        use Spelling::{Decoded, DotsFirst, Sent, SlashesFirst};
        assert_eq!(judged("/b"), (1, Sent, alloc::vec![Sent]));
        assert_eq!(judged("/a"), (0, Sent, alloc::vec![Sent]));
        assert_eq!(judged("//a"), (0, Sent, alloc::vec![Sent, SlashesFirst]));
        assert_eq!(judged("//b"), (1, SlashesFirst, alloc::vec![Sent, SlashesFirst]));
        assert_eq!(judged("/b//../c/.."), (0, Sent, alloc::vec![Sent, SlashesFirst, DotsFirst]));
        assert_eq!(judged("/b//../../b"), (1, SlashesFirst, alloc::vec![Sent, SlashesFirst]));
        assert_eq!(judged("/c/..//../b"), (1, SlashesFirst, alloc::vec![Sent, SlashesFirst]));
        assert_eq!(judged("/a%2F../b"), (1, Decoded, alloc::vec![Sent, Decoded]));
        assert_eq!(judged("//a?%2F"), (0, Sent, alloc::vec![Sent, SlashesFirst]));
        assert_eq!(judged("/x//..%2F..%2F/./b"), (1, Decoded, alloc::vec![Sent, SlashesFirst, Decoded]));
    }
}
