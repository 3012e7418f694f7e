//! The syntaxes of a field line, and the result of reading one.

use alloc::borrow::Cow;
use alloc::boxed::Box;

use super::Rule;

/// The number of bytes of a field value that are read: what draft-00 asks for at least. Whole members within them
/// count.
pub(super) const LIMIT: usize = 8 * 1024;

/// The syntax of a field line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Rules for all and nothing else, which is the same as deployed and in draft-00.
    Plain,
    /// As `X-Robots-Tag` is deployed: `googlebot: noindex, nofollow`.
    Deployed,
    /// As in draft-00: `noindex; ExampleBot=nosnippet`.
    Draft00,
    /// Something of both, which is neither.
    Mixed,
    /// As in later drafts, an RFC 8941 list: `*;noindex, ExampleBot;nosnippet`.
    Structured,
}

/// The result of reading a field line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRead<'a> {
    /// The syntax.
    pub syntax: Syntax,
    /// The text past [`LIMIT`], with the member that does not end before it.
    pub rest: Option<Rest<'a>>,
}

/// The text of a line that was not read, to be relayed as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest<'a> {
    /// The token that stands earlier in the line and that these rules are for, with what parts it from them.
    pub(super) token: Option<(&'a [u8], &'static [u8])>,
    pub(super) text: &'a [u8],
}

impl Rest<'_> {
    /// A line of its own that means what the text meant where it stood.
    pub fn line(&self) -> Box<[u8]> {
        let (token, separator) = self.token.unwrap_or_default();
        [token, separator, self.text].concat().into()
    }
}

/// A part of a line, with its text where that is a slice of the line.
pub(super) enum Part<'a> {
    /// The rules that follow are for all.
    All,
    /// The rules that follow, if any, are for a token.
    Token { name: Cow<'a, [u8]>, text: &'a [u8] },
    /// A rule.
    Rule { rule: Rule<'a>, text: &'a [u8] },
}
