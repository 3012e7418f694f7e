//! The few forms of User-Agents that people's browsers send. Automation sends anything.

use memchr::{memchr, memchr2_iter};

use super::known_parts::after_comment;
use super::lists::{DEVICES, ENGINES, NETSCAPE_PLATFORMS, OTHER_BROWSERS, OTHER_ENGINES};
use super::phrases::{begins_with, ends_with};
use super::words::words;
#[cfg(test)]
use crate::path::pattern::steps;

/// Returns true if browsers send texts of this form, whatever the names in it.
pub(super) fn has_form_of_browser(text: &[u8]) -> bool {
    let Some(rest) = without_mozilla(text) else {
        return OTHER_BROWSERS.begins(text) || has_name(text, |name| OTHER_ENGINES.begins(name));
    };
    // Google's services, and others since, put their name here.
    if find(rest, "like Gecko;").is_some() {
        return false;
    }
    let (comment, after) = first_comment(rest);
    if [" AppleWebKit/", " Gecko/", " like Gecko"].iter().any(|engine| begins_with(after, engine)) {
        return true;
    }
    let compatible = begins_with(comment, "compatible");
    !rest.starts_with(b"5") && NETSCAPE_PLATFORMS.begins(comment)
        || has_name(rest, |name| ENGINES.begins(name) || !compatible && DEVICES.begins(name))
}

/// Returns true if a name ends in "browser", or begins a rest of the text for which `begins` holds.
fn has_name(text: &[u8], begins: impl Fn(&[u8]) -> bool) -> bool {
    words(text, 0..text.len(), 1).any(|word| {
        text.get(word.start..).is_some_and(&begins)
            || text.get(word.range()).is_some_and(|name| ends_with(name, "browser"))
    })
}

/// The text after `Mozilla/`, which some phones send in small letters or without the slash.
fn without_mozilla(text: &[u8]) -> Option<&[u8]> {
    let (product, rest) = text.split_at_checked("Mozilla".len())?;
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix(b"/").unwrap_or(rest).trim_ascii_start();
    (product.eq_ignore_ascii_case(b"Mozilla") && rest.first()?.is_ascii_digit()).then_some(rest)
}

/// The text between the first parenthesis and the one that closes it, and the text after that.
pub(super) fn first_comment(text: &[u8]) -> (&[u8], &[u8]) {
    #[cfg(test)]
    steps::add(text.len());
    let start = memchr(b'(', text).map_or(text.len(), |at| at + 1);
    let inside = text.get(start..).unwrap_or_default();
    let after = after_comment(inside).unwrap_or_default();
    let comment = inside.get(..inside.len() - after.len()).unwrap_or_default();
    (comment.strip_suffix(b")").unwrap_or(comment), after)
}

/// The place at which the part first occurs in the text, in any ASCII case.
pub(super) fn find(text: &[u8], part: &str) -> Option<usize> {
    #[cfg(test)]
    steps::add(text.len());
    let first = part.bytes().next()?;
    memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text)
        .find(|at| text.get(*at..).is_some_and(|rest| begins_with(rest, part)))
}
