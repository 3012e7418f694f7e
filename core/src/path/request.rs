//! The path and query of a request, ready to be compared with any number of patterns.

use core::cell::OnceCell;

use crate::octets::filled_up;
use crate::path::normal_form::{Octets, Plain, are_plain, is_plain};
use crate::path::page::page_of;
use crate::path::spelling::{self, LONGEST, Spelling, resolve};

/// A path with its query, in one spelling.
#[derive(Clone, Copy, Debug)]
pub struct RequestPath<'a> {
    raw: &'a [u8],
    /// True if it is its own normal form.
    is_normal: bool,
    spelling: Spelling,
    /// The same path in spellings that are less resolved.
    less_resolved: &'a [RequestPath<'a>],
}

impl<'a> RequestPath<'a> {
    /// The request target as received (`/a?b=c`); the empty one is `/`.
    pub fn new(raw: &'a [u8]) -> Self {
        let raw = non_empty(raw);
        // Almost every path is in normal form already, and compares faster when that is known.
        let is_normal = are_plain(raw);
        Self { raw, is_normal, spelling: Spelling::Sent, less_resolved: &[] }
    }

    /// The spelling of the path.
    pub(crate) fn spelling(&self) -> Spelling {
        self.spelling
    }

    /// The same path in spellings that are less resolved, as it was sent among them.
    pub(crate) fn less_resolved(&self) -> &'a [RequestPath<'a>] {
        self.less_resolved
    }

    /// The octets of the normal form.
    pub(crate) fn octets(&self) -> PathOctets<'a> {
        if self.is_normal {
            PathOctets::Plain(Plain(self.raw))
        } else {
            PathOctets::Encoded(Octets::new(self.raw))
        }
    }

    /// Returns true if this path is `other` in normal form.
    pub fn is(&self, other: &[u8]) -> bool {
        if self.is_normal { self.raw == other } else { Octets::new(self.raw).eq(other.iter().copied()) }
    }
}

/// The two ways to read a [`RequestPath`], apart so that loops are compiled for each.
pub(crate) enum PathOctets<'a> {
    /// The path is its own normal form.
    Plain(Plain<'a>),
    /// The path is normalised while it is read.
    Encoded(Octets<'a>),
}

/// The target of a request: its path with the query as sent, and whether a server may take it for another one.
///
/// It is looked through when that is first asked for, and once. Then whoever judges paths is lent each spelling of it.
#[derive(Clone, Debug)]
pub struct RequestTarget<'a> {
    raw: &'a [u8],
    /// True if it asks for the markdown of a page, which is then judged as well.
    asks_for_page: bool,
    looks: OnceCell<Looks>,
}

/// The result of a look at all octets of a target.
#[derive(Clone, Copy, Debug)]
struct Looks {
    /// True if the target is its own normal form.
    is_normal: bool,
    /// True if it is the same in every spelling.
    is_resolved: bool,
}

impl Looks {
    const ENCODED: u8 = 1;
    const ODD: u8 = 2;

    fn of(raw: &[u8]) -> Self {
        let mut found = [0; BLOCK];
        // The last octet has no next one.
        let last = raw.last().map_or(0, |last| u8::from(!is_plain(*last)) * Self::ENCODED);
        let (pairs, mut start) = (raw.len().saturating_sub(1), 0);
        while start < pairs {
            match raw.get(start..).and_then(<[u8]>::first_chunk).or(raw.last_chunk()) {
                Some(block) => Self::note(block, &mut found),
                // Of a short path, filled up with octets that are never noted.
                None => Self::note(&filled_up(raw, b'a'), &mut found),
            }
            start += BLOCK;
        }
        let found = found.iter().fold(last, |all, found| all | found);
        let is_resolved = found & Self::ODD == 0 || spelling::is_resolved(raw);
        Self { is_normal: found & Self::ENCODED == 0, is_resolved }
    }

    /// Notes what is found in a block, for each octet that has a next one. Without a branch, so that the compiler looks at many
    /// octets at once.
    #[inline]
    fn note(block: &[u8; BLOCK + 1], found: &mut [u8; BLOCK]) {
        let pairs = block.iter().zip(block.get(1..).unwrap_or_default());
        for (found, (here, next)) in found.iter_mut().zip(pairs) {
            *found |= u8::from(!is_plain(*here)) * Self::ENCODED;
            *found |= u8::from(spelling::may_be_odd(*here, *next)) * Self::ODD;
        }
    }
}

/// Pairs of octets that are looked at at once.
const BLOCK: usize = 16;

impl<'a> RequestTarget<'a> {
    /// A request target as received; the empty one is `/`.
    pub fn new(raw: &'a [u8]) -> Self {
        Self { raw: non_empty(raw), asks_for_page: false, looks: OnceCell::new() }
    }

    /// The same on a site where a path with `.md` added asks for the markdown of a page, if it is one.
    pub(crate) fn with_md_paths(self, are_there: bool) -> Self {
        Self { asks_for_page: are_there && page_of(self.raw).is_some(), ..self }
    }

    fn looks(&self) -> Looks {
        *self.looks.get_or_init(|| Looks::of(self.raw))
    }

    /// The path as it was sent.
    pub fn sent(&self) -> RequestPath<'a> {
        RequestPath {
            raw: self.raw,
            is_normal: self.looks().is_normal,
            spelling: Spelling::Sent,
            less_resolved: &[],
        }
    }

    /// Returns true if it is the same in every spelling.
    pub fn is_resolved(&self) -> bool {
        self.looks().is_resolved
    }

    /// Returns true if the part before the query is `other` in normal form, as it was sent.
    pub(crate) fn is_before_query(&self, other: &[u8]) -> bool {
        // Most paths differ in what follows the slash, unless that is encoded.
        let second = self.raw.get(1);
        if second != other.get(1) && second != Some(&b'%') {
            return false;
        }
        Octets::new(self.raw).take_while(|octet| *octet != b'?').eq(other.iter().copied())
    }

    /// Asks for the judgement of the path as it was sent, where that is not resolved of the resolved ones, and where it asks
    /// for the markdown of a page of the page's, until one is `strictest`. Gives the first of the strictest by `strictness`, with its spelling.
    pub(crate) fn strictest<T, S: Ord>(
        &self,
        mut judge: impl FnMut(RequestPath<'_>) -> T,
        strictness: impl Fn(&T) -> S,
        strictest: S,
    ) -> (T, Spelling) {
        let sent = judge(self.sent());
        let is_alone = self.is_resolved() && !self.asks_for_page;
        if is_alone || strictness(&sent) == strictest {
            return (sent, Spelling::Sent);
        }
        let mut best = (sent, Spelling::Sent);
        let mut goes_on = |path: RequestPath<'_>| {
            let judged = judge(path);
            if strictness(&judged) > strictness(&best.0) {
                best = (judged, path.spelling());
            }
            strictness(&best.0) < strictest
        };
        if !self.is_resolved() {
            self.each_resolved(&mut goes_on);
        }
        if self.asks_for_page {
            self.each_of(Spelling::Page, &mut goes_on);
        }
        if spelling::has_fragment(self.raw) {
            self.each_of(Spelling::WithFragment, &mut goes_on);
        }
        best
    }

    /// Lends the path that a server may take the target for, in each spelling of that, until `goes_on` is false.
    #[cold]
    #[inline(never)]
    fn each_of(&self, spelling: Spelling, goes_on: &mut dyn FnMut(RequestPath<'_>) -> bool) {
        let mut room = [0; LONGEST];
        let other = RequestTarget::new(resolve(self.raw, spelling, &mut room));
        if goes_on(RequestPath { spelling, ..other.sent() }) && !other.is_resolved() {
            other.each_resolved(goes_on);
        }
    }

    /// Lends the path in each resolved spelling in which it is another one, until `goes_on` is false.
    ///
    /// Apart, so that a path in resolved form pays nothing for the room that the others need.
    #[cold]
    #[inline(never)]
    fn each_resolved(&self, goes_on: &mut dyn FnMut(RequestPath<'_>) -> bool) {
        // Most paths are short, and room has to be cleared before use.
        const SHORT: usize = 256;
        if self.raw.len() < SHORT {
            self.each_resolved_in([&mut [0; SHORT], &mut [0; SHORT]], goes_on);
        } else {
            self.each_resolved_in([&mut [0; LONGEST], &mut [0; LONGEST]], goes_on);
        }
    }

    fn each_resolved_in(
        &self,
        [first_room, room]: [&mut [u8]; 2],
        goes_on: &mut dyn FnMut(RequestPath<'_>) -> bool,
    ) {
        let sent = [self.sent()];
        let slashes_first = RequestPath {
            spelling: Spelling::SlashesFirst,
            less_resolved: &sent,
            ..RequestPath::new(resolve(self.raw, Spelling::SlashesFirst, first_room))
        };
        if slashes_first.raw != self.raw && !goes_on(slashes_first) {
            return;
        }
        let less_resolved = [self.sent(), slashes_first];
        for spelling in Spelling::RESOLVED {
            if !spelling.may_differ(self.raw) {
                continue;
            }
            let resolved = resolve(self.raw, spelling, room);
            let path = RequestPath { spelling, less_resolved: &less_resolved, ..RequestPath::new(resolved) };
            if resolved != self.raw && resolved != slashes_first.raw && !goes_on(path) {
                return;
            }
        }
    }
}

fn non_empty(raw: &[u8]) -> &[u8] {
    if raw.is_empty() { b"/" } else { raw }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn the_strictest_judgement_counts_and_the_first_of_equals() {
        // A path is judged by whether it is `/b`.
        let judged = |target: &str| {
            let mut asked = Vec::new();
            let judge = |path: RequestPath<'_>| {
                asked.push(path.spelling());
                path.is(b"/b").into()
            };
            let (strictness, spelling) =
                RequestTarget::new(target.as_bytes()).strictest(judge, |judged: &u8| *judged, 1);
            (strictness, spelling, asked)
        };
        use Spelling::{Decoded, DotsFirst, Sent, SlashesFirst, WithFragment, WithoutParameters};
        assert_eq!(judged("/b"), (1, Sent, alloc::vec![Sent]));
        assert_eq!(judged("/a"), (0, Sent, alloc::vec![Sent]));
        assert_eq!(judged("//a"), (0, Sent, alloc::vec![Sent, SlashesFirst]));
        assert_eq!(judged("//b"), (1, SlashesFirst, alloc::vec![Sent, SlashesFirst]));
        assert_eq!(judged("/x//../b"), (1, SlashesFirst, alloc::vec![Sent, SlashesFirst]));
        assert_eq!(judged("/b//../c/.."), (0, Sent, alloc::vec![Sent, SlashesFirst, DotsFirst]));
        assert_eq!(judged("/b//../../b"), (1, SlashesFirst, alloc::vec![Sent, SlashesFirst]));
        assert_eq!(judged("/c/..//../b"), (1, SlashesFirst, alloc::vec![Sent, SlashesFirst]));
        assert_eq!(judged("/a%2F../b"), (1, Decoded, alloc::vec![Sent, Decoded]));
        assert_eq!(judged("//a?%2F;"), (0, Sent, alloc::vec![Sent, SlashesFirst]));
        assert_eq!(judged("/x//..%2F..%2F/./b"), (1, Decoded, alloc::vec![Sent, SlashesFirst, Decoded]));
        assert_eq!(judged("/x/..;/b"), (1, WithoutParameters, alloc::vec![Sent, WithoutParameters]));
        assert_eq!(
            judged("/x/#/..%2F../b"),
            (1, Decoded, alloc::vec![Sent, SlashesFirst, WithFragment, Decoded])
        );
        assert_eq!(judged("/b;"), (1, WithoutParameters, alloc::vec![Sent, WithoutParameters]));
        assert_eq!(judged("/x%5C../b"), (1, Decoded, alloc::vec![Sent, Decoded]));
        assert_eq!(judged("/x%5Cb"), (0, Sent, alloc::vec![Sent, Decoded]));
        assert_eq!(judged("/b%3b"), (1, WithoutParameters, alloc::vec![Sent, Decoded, WithoutParameters]));
    }

    #[test]
    fn two_octets_can_be_odd() {
        for odd in ["//", "/.", "/#", "/;", "/\\"] {
            assert!(!RequestTarget::new(odd.as_bytes()).is_resolved(), "{odd}");
        }
        assert!(["/", "/a", "/%"].iter().all(|plain| RequestTarget::new(plain.as_bytes()).is_resolved()));
    }

    #[test]
    fn long_paths_are_resolved_as_a_whole() {
        let long = alloc::format!("/{}", "a".repeat(1000));
        let judge = |path: RequestPath<'_>| path.is(long.as_bytes());
        let doubled = alloc::format!("/{long}");
        let (is_denied, spelling) =
            RequestTarget::new(doubled.as_bytes()).strictest(judge, |denied: &bool| *denied, true);
        assert_eq!((is_denied, spelling), (true, Spelling::SlashesFirst));
    }

    #[test]
    fn nothing_is_asked_after_the_strictest_judgement() {
        let asked = |target: &str, denied: Spelling| {
            let mut asked = Vec::new();
            let judge = |path: RequestPath<'_>| {
                asked.push(path.spelling());
                path.spelling() == denied
            };
            RequestTarget::new(target.as_bytes()).strictest(judge, |denied: &bool| *denied, true);
            asked
        };
        use Spelling::{Sent, SlashesFirst, WithFragment};
        assert_eq!(asked("//a", Sent), [Sent]);
        assert_eq!(asked("/x/#/..%2F../b", WithFragment), [Sent, SlashesFirst, WithFragment]);
    }

    #[test]
    fn the_markdown_of_a_page_is_judged_as_the_page_as_well() {
        let spellings = |target: &str, is_on: bool| {
            let mut asked = Vec::new();
            let target = RequestTarget::new(target.as_bytes());
            let target = target.with_md_paths(is_on);
            let judge = |path: RequestPath<'_>| {
                asked.push(path.spelling());
                path.is(b"/b?c").into()
            };
            let (strictness, spelling) = target.strictest(judge, |judged: &u8| *judged, 1);
            (strictness, spelling, asked)
        };
        use Spelling::{Page, Sent, SlashesFirst};
        assert_eq!(spellings("/b.md?c", true), (1, Page, alloc::vec![Sent, Page]));
        assert_eq!(spellings("/b.md?c", false), (0, Sent, alloc::vec![Sent]));
        assert_eq!(spellings("/b?c", true), (1, Sent, alloc::vec![Sent]));
        assert_eq!(spellings("/c.md", true), (0, Sent, alloc::vec![Sent, Page]));
        // The page's path is resolved as well.
        assert_eq!(
            spellings("/.//b.md?c", true),
            (1, SlashesFirst, alloc::vec![Sent, SlashesFirst, Page, SlashesFirst])
        );
        let long = alloc::format!("/{}.md?c", "b".repeat(2 * LONGEST));
        assert_eq!(spellings(&long, true).0, 0);
    }

    #[test]
    fn a_target_is_lent_in_less_resolved_spellings() {
        let target = RequestTarget::new(b"//a%3A");
        let judge = |path: RequestPath<'_>| {
            path.less_resolved().iter().map(RequestPath::spelling).collect::<Vec<_>>()
        };
        let (found, spelling) = target.strictest(judge, Vec::len, 2);
        assert_eq!(
            (found, spelling),
            (alloc::vec![Spelling::Sent, Spelling::SlashesFirst], Spelling::Decoded)
        );
    }

    #[test]
    fn the_part_before_the_query_is_compared_in_normal_form() {
        for (target, is_it) in [
            ("/robots.txt", true),
            ("/robots.txt?a", true),
            ("/%72obots.txt?%72", true),
            ("/robots.txt/", false),
            ("/robots.tx", false),
            ("/robots.txt%3F", false),
            ("//robots.txt", false),
            ("/robots.txt;a", false),
            ("", false),
        ] {
            assert_eq!(
                RequestTarget::new(target.as_bytes()).is_before_query(b"/robots.txt"),
                is_it,
                "{target}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_look_at_many_octets_finds_what_is_at_each(
            raw in prop_oneof!["/[ab/.%2;#? ]{0,70}", "/[a/]{0,70}[ .;%/]?"].prop_map(String::into_bytes),
        ) {
            let is_odd = raw.windows(2).any(|pair| spelling::may_be_odd(pair[0], pair[1]));
            let target = RequestTarget::new(&raw);
            prop_assert_eq!(target.looks().is_normal, are_plain(&raw));
            prop_assert_eq!(target.is_resolved(), !is_odd || spelling::is_resolved(&raw));
        }
    }
}
