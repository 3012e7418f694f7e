//! `Content-Usage` of a response: what the upstream sends, united with the site's statement, in one line.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::read::of_entries;
use super::statement::UsageStatement;
use super::vocabulary::{CATEGORIES, Category};
use crate::http::structured::{self, Entry};
use crate::sort::map_of;

/// The lines of an upstream as one value. Several lines are one list (RFC 9110 5.3); a value may be cut in two only between
/// them.
pub(crate) struct Upstream {
    value: Vec<u8>,
    lines: usize,
}

impl Upstream {
    pub(crate) fn new(lines: &[&[u8]]) -> Self {
        let with_content = lines.iter().map(|line| structured::trimmed(line)).filter(|line| !line.is_empty());
        Self { value: with_content.collect::<Vec<_>>().join(&b", "[..]), lines: lines.len() }
    }
}

/// The line that takes the place of the upstream's; `None`: it stays as it is.
///
/// Members that say the same afterwards stay as they were written, with their parameters, and so do those with labels that
/// nobody here knows. A value that is not a dictionary says nothing (USE-2), and goes where the site says something.
pub(crate) fn united(upstream: &Upstream, own: UsageStatement) -> Option<Box<[u8]>> {
    if own.is_empty() {
        return None;
    }
    let Ok(entries) = structured::dictionary(&upstream.value) else { return Some(own.as_line()) };
    let sum = of_entries(&entries).and(own);
    let last = map_of(entries.iter().enumerate().map(|(at, entry)| (entry.key, at)));
    let kept = entries.iter().enumerate().filter(|(at, entry)| last.get(entry.key) == Some(at));
    let mut members: Vec<Vec<u8>> = kept.map(|(_, entry)| member(entry, sum)).collect();
    let is_missing = |category: &Category| !last.contains_key(category.label.as_bytes());
    let missing = CATEGORIES.iter().enumerate().filter(|(_, category)| is_missing(category));
    members.extend(missing.filter_map(|(place, _)| written(place, sum)));
    let line = members.join(&b", "[..]);
    (upstream.lines != 1 || line != upstream.value).then(|| line.into())
}

/// A member as it stays, or as it has to be.
fn member(entry: &Entry<'_>, sum: UsageStatement) -> Vec<u8> {
    let place = CATEGORIES.iter().position(|category| category.label.as_bytes() == entry.key);
    let is_said = |place: usize| {
        super::preference(&entry.member) == sum.preference(place) || sum.preference(place).is_none()
    };
    match place.filter(|place| !is_said(*place)).and_then(|place| written(place, sum)) {
        Some(changed) => changed,
        None => entry.text.to_vec(),
    }
}

/// The member about a category; `None` if nothing is known of it.
fn written(place: usize, sum: UsageStatement) -> Option<Vec<u8>> {
    let category = CATEGORIES.get(place)?;
    let preference = sum.preference(place)?;
    Some([category.label, "=", preference.token()].concat().into_bytes())
}

impl UsageStatement {
    fn as_line(self) -> Box<[u8]> {
        alloc::format!("{self}").into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::statement;
    use super::*;
    use alloc::string::String;

    fn merged(lines: &[&str], own: &str) -> Option<String> {
        let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        let line = united(&Upstream::new(&lines), statement(own.as_bytes()).unwrap());
        line.map(|line| String::from_utf8(line.into()).unwrap())
    }

    /// USE-8: one line, never twice, never weaker; what we do not know stays.
    #[test]
    fn use_8_the_upstreams_statement_is_united_with_the_sites() {
        for (lines, own, expected) in [
            (&[][..], "train-ai=n", Some("train-ai=n")),
            (&["train-ai=n"], "train-ai=n", None),
            (&["train-ai=n"], "train-ai=y", None),
            (&["train-ai=y"], "train-ai=n", Some("train-ai=n")),
            (&["search=y"], "train-ai=n", Some("search=y, train-ai=n")),
            (&["search=y", "train-ai=n"], "train-ai=n", Some("search=y, train-ai=n")),
            (&["train-ai=y, train-ai=n"], "search=y", Some("train-ai=n, search=y")),
            (
                &["foo=(a b);c=1, train-ai=n;d=\"x, y\""],
                "search=n",
                Some("foo=(a b);c=1, train-ai=n;d=\"x, y\", search=n"),
            ),
            (&["train-ai=y;d"], "train-ai=n", Some("train-ai=n")),
            (&["train-ai"], "train-ai=n", Some("train-ai=n")),
            (&["train-ai"], "search=n", Some("train-ai, search=n")),
            (&["train-ai=n, SEARCH=y"], "search=y", Some("search=y")),
            (&["\u{e9}"], "search=y", Some("search=y")),
            (&["train-ai=n, x=\"a", "b\""], "search=y", Some("train-ai=n, x=\"a, b\", search=y")),
            (&["", "train-ai=n"], "search=y", Some("train-ai=n, search=y")),
            (&["train-ai=n"], "", None),
            (&["nonsense="], "", None),
        ] {
            assert_eq!(merged(lines, own).as_deref(), expected, "{lines:?} {own}");
        }
    }

    /// USE-8: whatever an upstream sends, what it disallows is disallowed afterwards, and what we disallow is.
    #[test]
    fn use_8_a_statement_is_never_weaker() {
        for theirs in UsageStatement::all() {
            for own in UsageStatement::all() {
                let line = theirs.as_line();
                let lines: &[&[u8]] = if theirs.is_empty() { &[] } else { &[&line] };
                let sent = united(&Upstream::new(lines), own).unwrap_or(line.clone());
                assert_eq!(statement(&sent), Ok(theirs.and(own)), "{theirs} / {own}");
            }
        }
        let long = alloc::format!("x=\"{}\", train-ai=n", "x".repeat(64 << 10));
        assert!(merged(&[&long], "search=n").unwrap().ends_with("\", train-ai=n, search=n"));
        let many: String = (0..300).map(|number| alloc::format!(";p{number}")).collect();
        let line = alloc::format!("train-ai=n{many}");
        assert_eq!(merged(&[&line], "search=n"), Some(alloc::format!("{line}, search=n")));
    }
}
