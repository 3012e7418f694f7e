//! Strict checks for those who publish feeds and policies and write configurations.
//!
//! A check reads its file with the very parser that a gate loads it with, strictly, and then looks for what the file
//! says without effect. Loading calls nothing of this module.

use alloc::string::String;
use alloc::vec::Vec;

use crate::feed::guard::{Limits, Proving};
use crate::feed::{self, FeedFormat, ReadOptions, Shape};
use crate::keys::{self, Base64Url, Key};
use crate::policy::automation_preferences::PreferencesFile;
use crate::policy::lines::whole_lines_within;
use crate::policy::robots::RobotsFile;
use crate::source::byte_order_mark::without_byte_order_mark;
use crate::source::diagnostic::{Diagnostic, Diagnostics, LenientLint, Lint, Strictness};
use crate::source::position::Locator;

pub(crate) mod automation_preferences;
mod config;
mod robots;
mod robots_tag;
mod usage;

pub use config::config;

/// The strictness of the check of a feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeedStrictness {
    /// Leniently where the file is JSON as publishers deployed it before there was a specification, which they can't
    /// break.
    #[default]
    Usual,
    /// Each departure from the specification is an error.
    Strict,
    /// Each departure from the specification is a warning; an error means that no gate can use the file.
    Lenient,
}

/// Checks a feed. JSON with a shape of its own never conforms to the specification, so it is checked leniently, too.
pub fn feed(
    format: FeedFormat,
    shape: Option<&Shape>,
    strictness: FeedStrictness,
    name: impl Into<String>,
    bytes: &[u8],
) -> Vec<Diagnostic> {
    let is_lenient = match strictness {
        FeedStrictness::Usual => shape.is_some() || feed::is_of_a_deployed_shape(format, bytes),
        FeedStrictness::Strict => false,
        FeedStrictness::Lenient => true,
    };
    let options = ReadOptions { shape, is_published: true, ..ReadOptions::default() };
    match is_lenient {
        true => feed_as(format, bytes, &options, Diagnostics::new(name, LenientLint)),
        false => feed_as(format, bytes, &options, Diagnostics::new(name, Lint)),
    }
}

fn feed_as<S: Strictness>(
    format: FeedFormat,
    bytes: &[u8],
    options: &ReadOptions<'_>,
    mut diagnostics: Diagnostics<S>,
) -> Vec<Diagnostic> {
    let proving = if format.is_of_ranges() { Proving::Everything } else { Proving::NOTHING };
    let feed = feed::read(format, bytes.into(), options, &mut diagnostics);
    if let Some(why) = feed.and_then(|feed| Limits::default().objection_to_claim(&feed, &proving)) {
        diagnostics.warning(None, None, format_args!("by default, gates hold this feed: {why}"));
    }
    diagnostics.into_items_by_position()
}

/// Checks a directory of the keys by which an agent signs its requests.
pub fn key_directory(name: impl Into<String>, bytes: &[u8]) -> Vec<Diagnostic> {
    let mut diagnostics = Diagnostics::new(name, Lint);
    let keys = keys::read(bytes, &mut diagnostics);
    if keys.as_ref().is_some_and(Vec::is_empty) {
        diagnostics.warning(None, "SIG-7", "no key can be used, so no signature is verified");
    }
    for key in keys.into_iter().flatten().filter(Key::never_holds) {
        let print = Base64Url(&key.thumbprint);
        let message = format_args!("the key {print} never holds: its `exp` is not after its `nbf`");
        diagnostics.warning(None, "SIG-7", message);
    }
    diagnostics.into_items_by_position()
}

/// Checks a `robots.txt`.
///
/// ```
/// use crawlpike_core::lint;
///
/// let found = lint::robots("robots.txt", b"User-agent: *\nAllow: /\nDisalow: /private/\n");
/// assert_eq!(
///     found[0].to_string(),
///     "robots.txt:3:1: error: unknown name \"Disalow\" (did you mean `disallow`?); ignoring the line [ROB-4]"
/// );
/// ```
pub fn robots(name: impl Into<String>, text: &[u8]) -> Vec<Diagnostic> {
    let mut diagnostics = Diagnostics::new(name, Lint);
    read_robots(text, &mut diagnostics);
    diagnostics.into_items_by_position()
}

/// Checks an `automation-preferences.txt`.
pub fn automation_preferences(name: impl Into<String>, text: &[u8]) -> Vec<Diagnostic> {
    let mut diagnostics = Diagnostics::new(name, Lint);
    read_preferences(text, &mut diagnostics);
    diagnostics.into_items_by_position()
}

/// Checks field values of `Robots-Tag` and `X-Robots-Tag`: one a line, with or without the name of the field before it,
/// all of one response.
pub fn robots_tag(name: impl Into<String>, text: &[u8]) -> Vec<Diagnostic> {
    let mut diagnostics = Diagnostics::new(name, Lint);
    robots_tag::fields(text, &mut diagnostics);
    diagnostics.into_items_by_position()
}

fn read_robots(text: &[u8], diagnostics: &mut Diagnostics<Lint>) -> Option<RobotsFile> {
    let file = RobotsFile::parse(text, diagnostics)?;
    encoding(whole_lines_within(text, crate::policy::robots::DEFAULT_LIMIT).0, "ROB-5", diagnostics);
    robots::groups(&file, diagnostics);
    usage::lines(whole_lines_within(text, crate::policy::robots::DEFAULT_LIMIT).0, diagnostics);
    usage::groups(&file, diagnostics);
    Some(file)
}

fn read_preferences(text: &[u8], diagnostics: &mut Diagnostics<Lint>) -> Option<PreferencesFile> {
    let file = PreferencesFile::parse(text, diagnostics)?;
    encoding(text, "AUTO-1", diagnostics);
    automation_preferences::groups(&file, diagnostics);
    Some(file)
}

/// Both policy files are in UTF-8 (RFC 9309, 2.3; the draft's section on location and format).
fn encoding(text: &[u8], requirement: &'static str, diagnostics: &mut Diagnostics<Lint>) {
    let text = without_byte_order_mark(text);
    if let Err(error) = core::str::from_utf8(text) {
        let message = "not UTF-8 from here on; the octets are compared as they are";
        diagnostics.lint_error(Locator::new(text).position(error.valid_up_to()), requirement, message);
    }
}

#[cfg(test)]
mod tests;
