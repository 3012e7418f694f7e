//! The policies of a site: robots.txt, automation-preferences.txt, Robots-Tag and usage preferences.

pub(crate) mod answer;
pub(crate) mod automation_preferences;
pub(crate) mod lines;
pub(crate) mod robots;
pub(crate) mod robots_tag;
pub(crate) mod usage;

/// The kinds of policies that are files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PolicyKind {
    /// robots.txt.
    Robots,
    /// automation-preferences.txt.
    AutomationPreferences,
}
