//! One line for each cause, instead of one for each feed.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::source::cause::Cause;
use crate::source::diagnostic::{Diagnostic, Severity};

/// Causes with the same remedy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Remedy {
    Fetch,
    Renew,
    SetClock,
}

impl Cause {
    fn remedy(self) -> Remedy {
        match self {
            Self::UnfetchedFeed | Self::UnfetchedKeys => Remedy::Fetch,
            Self::OldFeed => Remedy::Renew,
            Self::FutureFeed => Remedy::SetClock,
        }
    }
}

impl Diagnostic {
    /// The same diagnostics for a reader who wants one line for each cause: those that one remedy mends become one.
    pub fn by_cause(diagnostics: &[Self]) -> Vec<Self> {
        let mut lines = Vec::new();
        let mut summed_up: Vec<(&str, Remedy)> = Vec::new();
        for diagnostic in diagnostics {
            let Some(remedy) = diagnostic.cause.map(Cause::remedy) else {
                lines.push(diagnostic.clone());
                continue;
            };
            let key = (&*diagnostic.file, remedy);
            if summed_up.contains(&key) {
                continue;
            }
            summed_up.push(key);
            let is_alike = |one: &Self| {
                one.file == diagnostic.file && one.cause.is_some_and(|cause| cause.remedy() == remedy)
            };
            let count =
                |cause| diagnostics.iter().filter(|one| is_alike(one) && one.cause == Some(cause)).count();
            let keys = count(Cause::UnfetchedKeys);
            let feeds = diagnostics.iter().filter(|one| is_alike(one)).count() - keys;
            lines.push(match feeds + keys {
                1 => diagnostic.clone(),
                _ => diagnostic.sum_up(remedy, &shown(feeds, keys)),
            });
        }
        lines
    }

    /// One diagnostic in place of all that have the same remedy.
    fn sum_up(&self, remedy: Remedy, subjects: &str) -> Self {
        let message = match remedy {
            Remedy::Fetch => {
                format!("{subjects} have never been fetched, and verify no client: run `crawlpike update`")
            }
            Remedy::Renew => format!(
                "{subjects} are stale, and count as missing: run `crawlpike update`; `crawlpike feeds` lists them"
            ),
            Remedy::SetClock => format!(
                "{subjects} count as missing, because their files have dates in the future: check the clock of this \
                 machine, and run `crawlpike update`; `crawlpike feeds` lists them"
            ),
        };
        Self { severity: Severity::Warning, cause: self.cause, ..Self::error(&*self.file, message) }
    }
}

/// `33 feeds and 6 key directories`.
fn shown(feeds: usize, keys: usize) -> String {
    let directories = if keys == 1 { "directory" } else { "directories" };
    let plural = if feeds == 1 { "" } else { "s" };
    match (feeds, keys) {
        (0, _) => format!("{keys} key {directories}"),
        (_, 0) => format!("{feeds} feed{plural}"),
        _ => format!("{feeds} feed{plural} and {keys} key {directories}"),
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn warning(file: &str, message: &str, cause: Option<Cause>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, cause, ..Diagnostic::error(file, message) }
    }

    fn lines(diagnostics: &[Diagnostic]) -> Vec<String> {
        Diagnostic::by_cause(diagnostics).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_cause_of_many_diagnostics_is_one_line_in_the_place_of_the_first() {
        let diagnostics = [
            warning("c", "first", None),
            warning("c", "a is missing", Some(Cause::UnfetchedFeed)),
            warning("c", "b is stale", Some(Cause::OldFeed)),
            warning("c", "the keys of c are missing", Some(Cause::UnfetchedKeys)),
            warning("c", "d is missing", Some(Cause::UnfetchedFeed)),
            warning("c", "last", None),
            warning("d", "another document", Some(Cause::OldFeed)),
        ];
        assert_eq!(
            lines(&diagnostics),
            [
                "c: warning: first",
                "c: warning: 2 feeds and 1 key directory have never been fetched, and verify no client: run `crawlpike update`",
                "c: warning: b is stale",
                "c: warning: last",
                "d: warning: another document",
            ]
        );
    }

    #[test]
    fn each_remedy_has_its_words() {
        for (cause, expected) in [
            (Cause::UnfetchedKeys, "2 key directories have never been fetched"),
            (Cause::OldFeed, "2 feeds are stale"),
            (Cause::FutureFeed, "dates in the future: check the clock"),
        ] {
            let lines = lines(&[warning("c", "a", Some(cause)), warning("c", "b", Some(cause))]);
            assert!(matches!(&lines[..], [line] if line.contains(expected)), "{lines:?}");
        }
    }
}
