//! `robots.txt` (RFC 9309): which rules hold for an agent, and what they say about a path.
//!
//! # Reading
//!
//! * A group begins with one or more `user-agent` lines and goes on to the next `user-agent` line behind a rule. Blank
//!   lines, comments and lines with any other name end nothing (2.2.1). Rules before the first group are ignored.
//! * The token of a `user-agent` line is what its value begins with: letters, `-`, `_` and, beyond the RFC's grammar,
//!   digits, since deployed tokens have them (`MJ12bot`). So `Googlebot/2.1` says `Googlebot`. `*` stands alone.
//! * Tokens are compared whole and without regard to case: `Googlebot-Image` obeys the groups of `Googlebot-Image`,
//!   or else of `*`, never those of `Googlebot`. All groups of a token are one. A group without rules allows all.
//! * Names are not guessed: `disalow` and `useragent` are unknown names. The one exception is the colon: a line of
//!   exactly two words, the first being `user-agent`, `allow` or `disallow`, is read as if it were there.
//! * An empty `allow` or `disallow` has no effect, a path that begins with neither `/` nor `*` matches nothing.
//! * Lines with usage preferences are kept for [`usage`](crate::policy::usage). `content-usage` is a rule of its group, as
//!   draft-ietf-aipref-attach has it; `content-signal` and `license` end nothing. No client is in a group
//!   whose token begins with `__usage_`.
//! * At most [`DEFAULT_LIMIT`] bytes are read, or what the caller sets, in whole lines. Lines have no limit of their
//!   own.
//!
//! # Deciding
//!
//! The longest matching pattern decides, `allow` where two are equally long, in octets of the normal form that
//! [`path_pattern`](crate::path::pattern) describes. Without a match, and for `/robots.txt` itself, all is allowed.
//! Google's parser goes on from there (an `allow` of `/index.html` holds for `/`, a handful of typos count, lines end
//! after 16,663 octets); the RFC does not, and neither does this.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use crate::path::rules::PathRule;
use crate::policy::lines::{self, Directive, Line, Lines, whole_lines_within};
use crate::policy::usage::{StatementLine, UsageRule};
use crate::source::diagnostic::{Diagnostics, Load, Strictness};
use crate::source::position::Position;
use crate::source::quoted::QuotedBytes;
use crate::source::text::{self, Expected};

mod compiled;
mod usage;

pub use compiled::{GroupId, Robots, Verdict};
pub(crate) use usage::License;

/// The number of bytes of a file that count: twice the 500 KiB that RFC 9309, 2.5, asks for at least.
pub(crate) const DEFAULT_LIMIT: usize = 1 << 20;

const DIRECTIVES: [&str; 3] = ["user-agent", "allow", "disallow"];
const USAGE_DIRECTIVES: [&str; 3] = ["content-usage", "content-signal", "license"];
/// Names that others read, so that lint has nothing to say about them.
const OTHERS: [&str; 10] = [
    "sitemap",
    "crawl-delay",
    "host",
    "clean-param",
    "noindex",
    "request-rate",
    "visit-time",
    "content-signal",
    "content-usage",
    "license",
];

/// Returns true if a line is one of a robots.txt. `host` also stands in other files, and so do other values of two names.
pub(crate) fn is_known(line: &Line<'_>) -> bool {
    let is = |directive: &Directive<'_>, known: &str| directive.name.eq_ignore_ascii_case(known.as_bytes());
    let is_rule = |directive: &Directive<'_>| DIRECTIVES.into_iter().any(|known| is(directive, known));
    let is_other = |directive: &Directive<'_>| {
        let name = OTHERS.into_iter().find(|known| is(directive, known));
        let has_url = || directive.value.windows(3).any(|part| part == b"://");
        match name {
            Some("host") | None => false,
            Some("sitemap" | "license") => has_url(),
            Some(_) => true,
        }
    };
    let with_colon = line.directive();
    with_colon.as_ref().is_some_and(|directive| is_rule(directive) || is_other(directive))
        || line.two_words().as_ref().is_some_and(is_rule)
}

/// The product token that a `user-agent` line or an agent's name begins with; empty when there is none.
///
/// ```
/// use crawlpike_core::internals::policy::product_token;
///
/// assert_eq!(product_token("Googlebot/2.1"), "Googlebot");
/// assert_eq!(product_token("*"), "*");
/// ```
pub fn product_token(text: &str) -> &str {
    product_token_in(text.as_bytes())
}

/// As [`product_token`], for the bytes of a file.
pub(crate) fn product_token_in(value: &[u8]) -> &str {
    if let [b'*'] | [b'*', b' ' | b'\t', ..] = value {
        return "*";
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let end = value.iter().position(|byte| !is_part(byte)).unwrap_or(value.len());
    value.get(..end).and_then(|token| core::str::from_utf8(token).ok()).unwrap_or_default()
}

/// A `robots.txt`, read but not yet compiled.
#[derive(Clone, Debug, Default)]
pub struct RobotsFile {
    pub(crate) groups: Vec<Group>,
    /// The `content-signal` lines before the first group, which are for all.
    pub(crate) signals: Vec<StatementLine>,
    /// The `license` lines that can be used.
    pub(crate) licenses: Vec<License>,
}

/// One group as the file has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// The place of its first `user-agent` line.
    pub(crate) position: Option<Position>,
    /// In lower case.
    pub(crate) tokens: BTreeSet<Box<str>>,
    pub(crate) rules: Vec<Rule>,
    /// Its `content-usage` lines.
    pub(crate) usage: Vec<UsageRule>,
    /// Its `content-signal` lines.
    pub(crate) signals: Vec<StatementLine>,
    /// True if a rule has been seen, even an empty one: the next `user-agent` line begins another group.
    closed: bool,
}

/// One `allow` or `disallow`.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) path: PathRule,
    pub(crate) allow: bool,
    pub(crate) position: Position,
}

impl RobotsFile {
    /// Reads at most [`DEFAULT_LIMIT`] bytes of a file. What is odd about it goes to `diagnostics`; `None`, with an error in it,
    /// if it is not a text of lines at all.
    pub fn parse<S: Strictness>(text: &[u8], diagnostics: &mut Diagnostics<S>) -> Option<Self> {
        Self::parse_within(text, DEFAULT_LIMIT, diagnostics)
    }

    /// Reads the whole lines in the first `limit` bytes.
    pub fn parse_within<S: Strictness>(
        text: &[u8],
        limit: usize,
        diagnostics: &mut Diagnostics<S>,
    ) -> Option<Self> {
        let expected = Expected { what: "a robots.txt", requirement: Some("ROB-5") };
        if !text::is_text(text, expected, diagnostics) {
            return None;
        }
        let (within, is_cut) = whole_lines_within(text, limit);
        if text::is_page(text) {
            let (file, _) = Self::of_lines(within, &mut Diagnostics::new("", Load));
            if !file.groups.iter().any(|group| group.closed && !group.tokens.is_empty()) {
                text::report_page(expected, diagnostics);
                return None;
            }
            diagnostics.warning(None, "ROB-5", "the file starts as a web page (HTML); its rules apply");
        }
        let (file, lines) = Self::of_lines(within, diagnostics);
        if is_cut {
            let position = Position { line: lines.saturating_add(1), column: 1 };
            let message = format!("the file has more than {limit} bytes; ignoring the rest");
            diagnostics.lost(position, "ROB-5", message);
        }
        Some(file)
    }

    /// Reads all lines, and counts them.
    fn of_lines<S: Strictness>(text: &[u8], diagnostics: &mut Diagnostics<S>) -> (Self, u32) {
        let mut file = Self::default();
        let mut lines = 0;
        for line in Lines::new(text) {
            file.read(&line, diagnostics);
            lines = line.number;
        }
        (file, lines)
    }

    fn read<S: Strictness>(&mut self, line: &Line<'_>, diagnostics: &mut Diagnostics<S>) {
        if line.is_empty() {
            return;
        }
        let kind = |directive: &Directive<'_>| {
            DIRECTIVES.into_iter().find(|known| directive.name.eq_ignore_ascii_case(known.as_bytes()))
        };
        let with_colon = line.directive();
        let usage = |name: &[u8]| {
            USAGE_DIRECTIVES.into_iter().find(|known| name.eq_ignore_ascii_case(known.as_bytes()))
        };
        if let Some((directive, kind)) = with_colon.and_then(|d| Some((d, usage(d.name)?))) {
            return self.usage_line(line, kind, directive.value, diagnostics);
        }
        let (kind, value) = if let Some((directive, kind)) = with_colon.and_then(|d| Some((d, kind(&d)?))) {
            (kind, directive.value)
        } else if let Some((directive, kind)) = line.two_words().and_then(|d| Some((d, kind(&d)?))) {
            diagnostics.lint_error(
                line.start(),
                "ROB-4",
                format_args!("missing `:` after `{kind}`; reading the line as if it were there"),
            );
            (kind, directive.value)
        } else {
            return unknown(line, with_colon, diagnostics);
        };
        match kind {
            "user-agent" => self.user_agent(line, value, diagnostics),
            kind => self.rule(line, kind == "allow", value, diagnostics),
        }
    }

    fn user_agent<S: Strictness>(&mut self, line: &Line<'_>, value: &[u8], diagnostics: &mut Diagnostics<S>) {
        if self.groups.last().is_none_or(|group| group.closed) {
            self.groups.push(Group { position: Some(line.start()), ..Group::default() });
        }
        let token = product_token_in(value);
        if token.is_empty() {
            diagnostics.lost(
                line.position(value),
                "ROB-1",
                format_args!("no product token in {}; the line names no agent", QuotedBytes(value)),
            );
        } else {
            if token.len() < value.len() {
                partial_token(line.position(value), value, token, diagnostics);
            }
            if let Some(group) = self.groups.last_mut() {
                group.tokens.insert(token.to_ascii_lowercase().into());
            }
        }
    }

    fn rule<S: Strictness>(
        &mut self,
        line: &Line<'_>,
        allow: bool,
        value: &[u8],
        diagnostics: &mut Diagnostics<S>,
    ) {
        let Some(group) = self.groups.last_mut() else {
            diagnostics.lost(
                line.start(),
                "ROB-4",
                "rule before the first `user-agent` line; it applies to no agent",
            );
            return;
        };
        group.closed = true;
        if value.is_empty() {
            if allow {
                diagnostics.lint_warning(line.start(), "ROB-2", "an empty `allow` has no effect");
            }
            return;
        }
        lines::lint_path(value, line.position(value), "ROB-3", diagnostics);
        match PathRule::new(value) {
            Ok(path) => group.rules.push(Rule { path, allow, position: line.start() }),
            Err(error) => {
                let message = format_args!("{}: {error}; ignoring the rule", QuotedBytes(value));
                diagnostics.lost(line.position(value), "ROB-3", message);
            }
        }
    }

    /// Compiles the file: see [`Robots`].
    pub fn compile(&self) -> Robots {
        Robots::new(self)
    }
}

fn unknown<S: Strictness>(
    line: &Line<'_>,
    directive: Option<Directive<'_>>,
    diagnostics: &mut Diagnostics<S>,
) {
    if !diagnostics.is_lint() {
        return;
    }
    let Some(Directive { name, .. }) = directive else {
        return diagnostics.lint_error(line.start(), "ROB-4", "not a `name: value` line; ignoring it");
    };
    if OTHERS.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes())) {
        return;
    }
    let position = line.position(name);
    let shown = QuotedBytes(name);
    let meant = |known| lines::nearest(name, known);
    match (meant(&DIRECTIVES[..]), meant(&OTHERS[..])) {
        (Some(meant), _) => diagnostics.lint_error(
            position,
            "ROB-4",
            format_args!("unknown name {shown} (did you mean `{meant}`?); ignoring the line"),
        ),
        (None, Some(meant)) => diagnostics.lint_warning(
            position,
            "ROB-4",
            format_args!("unknown name {shown} (did you mean `{meant}`?); ignoring the line"),
        ),
        (None, None) => diagnostics.lint_warning(
            position,
            "ROB-4",
            format_args!("unknown name {shown}; ignoring the line"),
        ),
    }
}

/// Says which part of a value is its token. A `*` behind it is taken for a wildcard by its author, but is none.
fn partial_token<S: Strictness>(
    position: Position,
    value: &[u8],
    token: &str,
    diagnostics: &mut Diagnostics<S>,
) {
    let value_shown = QuotedBytes(value);
    let message = format_args!("{value_shown} is not a product token; reading it as `{token}`");
    if token != "*" && value.get(token.len()) == Some(&b'*') {
        diagnostics.lint_error(position, "ROB-1", message);
    } else {
        diagnostics.lint_warning(position, "ROB-1", message);
    }
}

#[cfg(test)]
mod tests;
