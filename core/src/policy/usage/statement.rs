//! Statements of preference, and how they combine.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::{Serialize, Serializer};

use super::vocabulary::{CATEGORIES, Category, PURPOSES};

/// A preference about each category of use: allowed, disallowed or unknown.
///
/// As a text it is what `Content-Usage` says: `train-ai=n, search=y`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsageStatement {
    /// A bit for each of [`CATEGORIES`].
    allowed: u8,
    /// The same; none is in both.
    disallowed: u8,
}

/// A preference about a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preference {
    Allowed,
    Disallowed,
}

/// A preference about a purpose, which may fall into several categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurposeUse {
    /// All of it is disallowed.
    Disallowed,
    /// A part of it is disallowed.
    PartlyDisallowed,
    /// All of it is allowed.
    Allowed,
    /// Nothing is disallowed, and not all of it is allowed.
    NotStated,
}

impl Preference {
    /// The Token that says it.
    pub(crate) const fn token(self) -> &'static str {
        match self {
            Self::Allowed => "y",
            Self::Disallowed => "n",
        }
    }
}

impl UsageStatement {
    /// The number of different statements.
    pub(crate) const COUNT: usize = {
        let (mut count, mut category) = (1, 0);
        while category < CATEGORIES.len() {
            count *= 3;
            category += 1;
        }
        count
    };

    /// The statement about one category alone, by its place in [`CATEGORIES`].
    pub(crate) const fn about(category: usize, preference: Preference) -> Self {
        let bit = 1 << category;
        match preference {
            Preference::Allowed => Self { allowed: bit, disallowed: 0 },
            Preference::Disallowed => Self { allowed: 0, disallowed: bit },
        }
    }

    /// Both statements about the same: the more restrictive preference about each category.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let disallowed = self.disallowed | other.disallowed;
        Self { allowed: (self.allowed | other.allowed) & !disallowed, disallowed }
    }

    /// The statement about what may be either: allowed is what both allow, disallowed what either does.
    #[must_use]
    pub(crate) fn either(self, other: Self) -> Self {
        let disallowed = self.disallowed | other.disallowed;
        Self { allowed: self.allowed & other.allowed, disallowed }
    }

    /// Returns true if nothing is known of any category.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// The preference about a category, by its place in [`CATEGORIES`].
    pub(crate) fn preference(self, category: usize) -> Option<Preference> {
        let has = |set: u8| set & (1 << category) != 0;
        match (has(self.disallowed), has(self.allowed)) {
            (true, _) => Some(Preference::Disallowed),
            (false, true) => Some(Preference::Allowed),
            (false, false) => None,
        }
    }

    /// Its number among all statements, below [`Self::COUNT`].
    pub(crate) fn number(self) -> usize {
        (0..CATEGORIES.len()).rev().fold(0, |number, category| {
            number * 3
                + match self.preference(category) {
                    None => 0,
                    Some(Preference::Allowed) => 1,
                    Some(Preference::Disallowed) => 2,
                }
        })
    }

    /// All statements, in the order of their numbers.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(|mut number| {
            (0..CATEGORIES.len()).fold(Self::default(), |sum, category| {
                let preference = match number % 3 {
                    0 => None,
                    1 => Some(Preference::Allowed),
                    _ => Some(Preference::Disallowed),
                };
                number /= 3;
                preference.map_or(sum, |preference| sum.and(Self::about(category, preference)))
            })
        })
    }

    /// Returns true if there are purposes, and each falls into categories that are all disallowed. A purpose that is not in
    /// [`PURPOSES`] may be anything.
    pub(crate) fn disallows_all<'p>(self, mut purposes: impl Iterator<Item = &'p str>) -> bool {
        let mut any = false;
        purposes.all(|purpose| {
            any = true;
            self.disallows(purpose)
        }) && any
    }

    /// Returns true if the purpose falls into categories that are all disallowed.
    pub fn disallows(self, purpose: &str) -> bool {
        let known = PURPOSES.iter().find(|(known, _)| known.eq_ignore_ascii_case(purpose));
        known.is_some_and(|(_, labels)| labels.iter().all(|label| self.disallows_label(label)))
    }

    /// The preference about a purpose; `None` if it falls into no category.
    pub fn on(self, purpose: &str) -> Option<PurposeUse> {
        let (_, labels) = PURPOSES.iter().find(|(known, _)| known.eq_ignore_ascii_case(purpose))?;
        Some(if self.disallows(purpose) {
            PurposeUse::Disallowed
        } else if self.disallows_part_of(purpose) {
            PurposeUse::PartlyDisallowed
        } else if labels.iter().all(|label| self.on_label(label) == Some(Preference::Allowed)) {
            PurposeUse::Allowed
        } else {
            PurposeUse::NotStated
        })
    }

    /// Returns true if it disallows some of what the purpose falls into.
    pub(crate) fn disallows_part_of(self, purpose: &str) -> bool {
        let known = PURPOSES.iter().find(|(known, _)| known.eq_ignore_ascii_case(purpose));
        known.is_some_and(|(_, labels)| labels.iter().any(|label| self.disallows_label(label)))
    }

    /// Returns true if searching is allowed, which then includes whatever only serves a search that links to the page.
    pub fn allows_search(self) -> bool {
        self.on_label("search") == Some(Preference::Allowed)
    }

    fn disallows_label(self, label: &str) -> bool {
        self.on_label(label) == Some(Preference::Disallowed)
    }

    fn on_label(self, label: &str) -> Option<Preference> {
        self.preference(CATEGORIES.iter().position(|category| category.label == label)?)
    }

    /// The statement as `Content-Signal` has it.
    pub fn signals(self) -> String {
        let signal = |(place, category): (usize, &Category)| {
            let value = if self.preference(place)? == Preference::Allowed { "yes" } else { "no" };
            Some(format!("{}={value}", category.signal))
        };
        CATEGORIES.iter().enumerate().filter_map(signal).collect::<Vec<_>>().join(", ")
    }

    /// The statement as `Content-Usage` has it; `None` if it is empty.
    pub fn text(self) -> Option<String> {
        (!self.is_empty()).then(|| self.to_string())
    }
}

impl fmt::Display for UsageStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        CATEGORIES.iter().enumerate().try_for_each(|(place, category)| {
            let Some(preference) = self.preference(place) else { return Ok(()) };
            write!(f, "{separator}{}={}", category.label, preference.token())?;
            separator = ", ";
            Ok(())
        })
    }
}

impl Serialize for UsageStatement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// USE-4: by label, n before y, and no label falls back to another.
    #[test]
    fn use_4_the_more_restrictive_preference_counts() {
        for one in UsageStatement::all() {
            for other in UsageStatement::all() {
                let both = one.and(other);
                for category in 0..CATEGORIES.len() {
                    let said = [one.preference(category), other.preference(category)];
                    let expected = [Preference::Disallowed, Preference::Allowed]
                        .into_iter()
                        .find(|preference| said.contains(&Some(*preference)));
                    assert_eq!(both.preference(category), expected, "{one} / {other}");
                }
                assert_eq!(one.either(one), one);
                let either = one.either(other);
                for category in 0..CATEGORIES.len() {
                    let is_allowed = [one, other]
                        .iter()
                        .all(|said| said.preference(category) == Some(Preference::Allowed));
                    assert_eq!(either.preference(category) == Some(Preference::Allowed), is_allowed);
                }
            }
        }
    }

    #[test]
    fn each_statement_has_its_number() {
        let numbers = UsageStatement::all().map(UsageStatement::number);
        assert!(numbers.eq(0..UsageStatement::COUNT));
    }

    /// USE-13: all purposes, each known, and each disallowed as a whole.
    #[test]
    fn use_13_only_what_is_known_and_disallowed_as_a_whole_is_disallowed() {
        let of = |category| UsageStatement::about(category, Preference::Disallowed);
        let (training, use_, search) = (of(0), of(1), of(2));
        assert!(
            training.either(search).disallows_part_of("search")
                && training.either(search) == search.either(training)
        );
        assert!(UsageStatement::about(2, Preference::Allowed).allows_search());
        assert!(!search.allows_search() && !UsageStatement::default().allows_search());
        for (statement, purposes, expected) in [
            (training, &["ai-training"][..], true),
            (training, &["AI-Training", "train-ai"], true),
            (training, &["ai-training", "search"], false),
            (training, &["ai-training", "user-fetch"], false),
            (training, &["dataset"], false),
            (training, &[], false),
            (use_, &["ai-search"], false),
            (search, &["ai-search"], false),
            (use_.and(search), &["ai-search", "search"], true),
            (UsageStatement::default(), &["ai-training"], false),
        ] {
            assert_eq!(
                statement.disallows_all(purposes.iter().copied()),
                expected,
                "{statement} {purposes:?}"
            );
        }
        let allowed = UsageStatement::about(2, Preference::Allowed);
        for (statement, purpose, expected) in [
            (training, "AI-Training", Some(PurposeUse::Disallowed)),
            (use_.and(allowed), "ai-search", Some(PurposeUse::PartlyDisallowed)),
            (allowed, "search", Some(PurposeUse::Allowed)),
            (allowed, "ai-search", Some(PurposeUse::NotStated)),
            (training, "user-fetch", None),
        ] {
            assert_eq!(statement.on(purpose), expected, "{statement} {purpose}");
        }
    }
}
