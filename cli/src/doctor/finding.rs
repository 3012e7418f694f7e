//! The findings of checks, each with the command or the line of a configuration that mends it.

use serde::Serialize;

/// The gravity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Gravity {
    /// For information, also about what could not be checked.
    Note,
    /// It works, and somebody should have a look.
    Warning,
    /// It does not work.
    Fault,
}

impl Gravity {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Fault => "fault",
        }
    }
}

/// A finding.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) gravity: Gravity,
    /// The file, with a line if there is one.
    pub(crate) place: Option<String>,
    pub(crate) what: String,
    /// A command, or lines of a configuration.
    pub(crate) remedy: Option<String>,
}

impl Finding {
    fn new(gravity: Gravity, what: impl Into<String>) -> Self {
        Self { gravity, place: None, what: what.into(), remedy: None }
    }

    pub(crate) fn fault(what: impl Into<String>) -> Self {
        Self::new(Gravity::Fault, what)
    }

    pub(crate) fn warning(what: impl Into<String>) -> Self {
        Self::new(Gravity::Warning, what)
    }

    pub(crate) fn note(what: impl Into<String>) -> Self {
        Self::new(Gravity::Note, what)
    }

    pub(crate) fn at(self, place: impl Into<String>) -> Self {
        Self { place: Some(place.into()), ..self }
    }

    pub(crate) fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

/// `33 feeds`, or `the feed `x`` if it is only one.
pub(super) fn feeds(names: &[&str]) -> String {
    match names {
        [only] => format!("the feed `{only}`"),
        [first, second] => format!("the feeds `{first}` and `{second}`"),
        [first, second, others @ ..] => {
            format!("{} feeds (`{first}`, `{second}` and {} more)", names.len(), others.len())
        }
        [] => "no feed".into(),
    }
}

/// `is`, or `are`.
pub(super) fn verb<'a>(names: &[&str], one: &'a str, many: &'a str) -> &'a str {
    if names.len() == 1 { one } else { many }
}
