//! The choice of the version of a feed that is in force: the newest one, the last good one, or none.
//!
//! The compiler uses it for versions in files, and a fetcher can use it for versions from the network. A [`Candidate`]
//! has the versions of one feed. [`Candidate::objection`] compares its newest version with
//! the last good one and with other feeds; [`Candidate::choose`] then says which version counts.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::feed::change::Change;
use crate::feed::extent::Extent;
use crate::feed::guard::{Guard, Limits, Proving};
use crate::feed::state::FeedState;
use crate::feed::{Feed, FeedFormat, ReadOptions, read};
use crate::source::diagnostic::{Diagnostic, Diagnostics, Load, Severity};
use crate::source::pages::Content;
use crate::source::position::Position;

/// The requirements of the configuration for each version of a feed.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The feed's name.
    pub name: &'a str,
    /// The format in which it is written.
    pub format: FeedFormat,
    /// The way to read it.
    pub options: ReadOptions<'a>,
    /// The limits on what a version may claim and change.
    pub guard: &'a Guard,
    /// The part of the feed that verifies agents.
    pub proving: &'a Proving<'a>,
}

impl Terms<'_> {
    /// A warning if the last good version exceeds a limit that it could not exceed as a new version.
    fn warning_of_known(&self, version: &Version) -> Option<Diagnostic> {
        let limits = self.guard.0.as_ref()?;
        let claim = limits.objection_to_claim(&version.content, self.proving)?;
        let message = format!("{claim}; it stays in force because it is the last good version");
        Some(Diagnostic { severity: Severity::Warning, ..Diagnostic::error(&*version.name, message) })
    }
}

/// A readable version of a feed.
#[derive(Clone, Debug)]
pub struct Version {
    /// The content of the file.
    pub file: Content,
    /// When the version was last known to be current, in seconds since the Unix epoch.
    pub current_at: Option<i64>,
    /// The content of the feed.
    pub content: Feed,
    /// The entries that were skipped.
    pub warnings: Vec<Diagnostic>,
    /// The name of the file in diagnostics.
    name: String,
}

impl Version {
    /// Reads a version. `name` is that of the file in diagnostics.
    ///
    /// # Errors
    ///
    /// The diagnostics that make the version unusable. The last error is the main reason.
    pub fn read(
        file: impl Into<Content>,
        current_at: Option<i64>,
        name: &str,
        terms: &Terms<'_>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let file = file.into();
        let mut diagnostics = Diagnostics::new(name, Load);
        let content = read(terms.format, file.as_source(), &terms.options, &mut diagnostics);
        let diagnostics = diagnostics.into_items();
        match content {
            Some(content) => Ok(Self { file, current_at, content, warnings: diagnostics, name: name.into() }),
            None => Err(diagnostics),
        }
    }

    fn extent(&self) -> Extent<'_> {
        Extent::of(&self.content)
    }
}

/// The reason why a feed has no newest version.
#[derive(Clone, Debug)]
pub enum Unavailable {
    /// The file with this name does not exist.
    Missing(String),
    /// The file is unusable. The last error is the main reason.
    Unusable(Vec<Diagnostic>),
}

/// The versions of a feed.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    terms: Terms<'a>,
    newest: Result<Version, Unavailable>,
    /// `None` if there is none, or if the newest version has the same bytes.
    last_good: Option<Version>,
    /// The version that was good before the changes of the last days, if the newest one is to be compared with it.
    earlier: Option<Content>,
    /// True if the newest version is the last good one.
    is_known: bool,
}

/// The version of a feed that is in force, and the state that the feed is in.
#[derive(Clone, Debug)]
pub struct Choice {
    /// `None`, or one without prefixes: the feed verifies and condemns nobody.
    pub version: Option<Version>,
    /// True if the version becomes the last good one: it is new, and not an empty first one, unless an operator accepts that.
    pub is_new: bool,
    /// The feed's state.
    pub state: FeedState,
    /// The reason why the state is not `ok`.
    pub why: Option<String>,
    /// Other warnings about the newest version.
    pub warnings: Vec<Diagnostic>,
}

impl<'a> Candidate<'a> {
    /// The versions of a feed: the newest one, and the last good one with the time when it was last known to be current.
    pub fn new(
        terms: Terms<'a>,
        newest: Result<Version, Unavailable>,
        last_good: Option<(Content, Option<i64>)>,
    ) -> Self {
        let newest_file = newest.as_ref().ok().map(|version| &version.file);
        let is_same = |file: &Content| newest_file.is_some_and(|newest| newest.is_same_as(file));
        let is_known = last_good.as_ref().is_some_and(|(file, _)| is_same(file));
        let last_good = last_good
            .filter(|_| !is_known)
            .and_then(|(file, current_at)| Version::read(file, current_at, terms.name, &terms).ok());
        Self { terms, newest, last_good, earlier: None, is_known }
    }

    /// A feed whose only version is known to be good.
    pub(crate) fn of_good(terms: Terms<'a>, version: Version) -> Self {
        Self { terms, newest: Ok(version), last_good: None, earlier: None, is_known: true }
    }

    /// The same feed without its newest version, unless there is no other good one: what was good before counts as the last
    /// good version.
    pub(crate) fn without_newest(self) -> Self {
        let Self { terms, newest, last_good, .. } = self;
        let last_good = last_good.or(newest.ok());
        let newest = Err(Unavailable::Missing(String::new()));
        Self { terms, newest, last_good, earlier: None, is_known: false }
    }

    /// The same feed with another newest version, such as a fetcher has. What was good before counts as the last good
    /// version.
    #[must_use]
    pub fn renewed(self, newest: Result<Version, Unavailable>) -> Self {
        let Self { terms, newest: former, last_good, .. } = self;
        let last_good = last_good.or(former.ok());
        let is_known = match (&newest, &last_good) {
            (Ok(newest), Some(good)) => newest.file.is_same_as(&good.file),
            _ => false,
        };
        Self { terms, newest, last_good: last_good.filter(|_| !is_known), earlier: None, is_known }
    }

    /// The same feed with the version that was good before the changes of the last days.
    pub(crate) fn with_earlier(self, earlier: Option<Content>) -> Self {
        Self { earlier, ..self }
    }

    /// Returns true if the newest version is another one than the last good version.
    pub(crate) fn is_changed(&self) -> bool {
        self.newest.is_ok() && self.last_good.is_some()
    }

    /// The feed's name.
    pub fn name(&self) -> &'a str {
        self.terms.name
    }

    /// The differences between the newest version and the last good one, if there are both.
    pub fn change(&self) -> Option<Change> {
        let (new, good) = (self.newest.as_ref().ok()?, self.last_good.as_ref()?);
        Some(Change::between(&good.content, &new.content))
    }

    /// Returns true if the newest version has no prefixes, and the last good one is not so, too.
    pub fn became_empty(&self) -> bool {
        let is_empty = |version: &Version| version.content.is_empty();
        let is_new = !self.is_known && !self.last_good.as_ref().is_some_and(is_empty);
        is_new && self.newest.as_ref().is_ok_and(is_empty)
    }

    /// The last good version, or else the newest one. New versions of other feeds are compared with it.
    pub(crate) fn good(&self) -> Option<&Version> {
        self.last_good.as_ref().or(self.newest.as_ref().ok())
    }

    /// The reason why the newest version must be held until an operator accepts it. The last good version is never
    /// held. `others` are the feeds that must differ from this one.
    pub fn objection<'o>(&self, others: impl Iterator<Item = &'o Self> + Clone) -> Option<String>
    where
        'a: 'o,
    {
        let limits = self.terms.guard.0.as_ref().filter(|_| !self.is_known)?;
        let new = self.newest.as_ref().ok()?;
        limits.objection_to_claim(&new.content, self.terms.proving).or_else(|| {
            let good = self.last_good.as_ref()?;
            let (new_extent, good_extent) = (new.extent(), good.extent());
            if let Some(other) = equal(new_extent, good_extent, others.clone()) {
                return Some(self.mix_up(other));
            }
            let went_back = good.content.created.zip(new.content.created).filter(|(good, new)| new < good);
            let objection = match went_back {
                Some(_) => "its creationTime is earlier than that of the last good version".into(),
                None => limits
                    .objection_to_change(new_extent, good_extent)
                    .or_else(|| self.objection_since(limits, new_extent))?,
            };
            let alike = alike(new_extent, good_extent, others);
            Some(alike.map_or(objection, |other| self.mix_up(other)))
        })
    }

    /// The limit that the changes of the last days exceed together.
    fn objection_since(&self, limits: &Limits, new: Extent<'_>) -> Option<String> {
        let earlier = self.earlier.clone()?;
        let earlier = Version::read(earlier, None, self.terms.name, &self.terms).ok()?;
        let objection = limits.objection_to_change(new, earlier.extent())?;
        Some(format!("since the changes of the last days began, {objection}"))
    }

    /// The objection to a newest version that looks like another feed.
    fn mix_up(&self, other: &Self) -> String {
        let (name, own) = (other.name(), self.name());
        let is_swapped = match (&other.newest, &self.last_good) {
            (Ok(others), Some(good)) => others.extent().has_the_prefixes_of(good.extent()),
            _ => false,
        };
        match is_swapped {
            true => format!("the files of `{own}` and `{name}` are swapped"),
            false => format!("it has the prefixes of `{name}`; check whether the files are swapped"),
        }
    }

    /// The version in force, given an objection to the newest one. `is_accepted`: an operator accepts the newest one.
    ///
    /// # Errors
    ///
    /// The reason why the newest version is unusable, if there is no other one.
    pub fn choose(self, objection: Option<String>, is_accepted: bool) -> Result<Choice, Vec<Diagnostic>> {
        let Self { terms, newest, last_good, is_known, .. } = self;
        let has_good = last_good.is_some();
        let instead = |state, why, warnings| Choice {
            version: last_good,
            is_new: false,
            state,
            why: Some(why),
            warnings,
        };
        match (newest, objection) {
            (Ok(mut version), None) => {
                let mut warnings = core::mem::take(&mut version.warnings);
                warnings.extend(terms.warning_of_known(&version).filter(|_| is_known));
                let unreadable = version.content.unreadable;
                let is_empty = version.content.is_empty();
                let (state, why) = match unreadable {
                    // No agent is without addresses, so this proves and condemns nobody.
                    _ if is_empty => (FeedState::Missing, Some("it has no prefixes".into())),
                    0 => (FeedState::Ok, None),
                    _ => (FeedState::Incomplete, Some(unreadable_entries(unreadable))),
                };
                let is_new = !is_known && (has_good || !is_empty || is_accepted);
                Ok(Choice { version: Some(version), is_new, state, why, warnings })
            }
            (Ok(version), Some(objection)) => Ok(instead(FeedState::Held, objection, version.warnings)),
            (Err(Unavailable::Missing(file)), _) if has_good => {
                Ok(instead(FeedState::Held, format!("the file {file} no longer exists"), Vec::new()))
            }
            (Err(Unavailable::Missing(file)), _) => {
                Ok(instead(FeedState::Missing, format!("the file {file} does not exist"), Vec::new()))
            }
            (Err(Unavailable::Unusable(diagnostics)), _) if has_good => {
                let (reason, warnings) = main_reason(diagnostics);
                Ok(instead(FeedState::Held, reason, warnings))
            }
            (Err(Unavailable::Unusable(diagnostics)), _) => Err(diagnostics),
        }
    }
}

impl Choice {
    /// The same choice, if a fetcher holds a newer version for this reason.
    pub(crate) fn beside_held(self, why: Option<String>) -> Self {
        match why {
            Some(why) if self.version.is_some() && self.state != FeedState::Held => {
                Self { state: FeedState::Held, why: Some(why), ..self }
            }
            _ => self,
        }
    }
}

/// The feed that a new version equals, unless the last good version has the same prefixes.
fn equal<'o, 'a: 'o>(
    new: Extent<'_>,
    good: Extent<'_>,
    mut others: impl Iterator<Item = &'o Candidate<'a>>,
) -> Option<&'o Candidate<'a>> {
    if new.prefixes() == 0 || new.has_the_prefixes_of(good) {
        return None;
    }
    others.find(|other| other.good().is_some_and(|version| version.extent().has_the_prefixes_of(new)))
}

/// The feed that has most prefixes of a new version, unless the last good version has most of them, too.
fn alike<'o, 'a: 'o>(
    new: Extent<'_>,
    good: Extent<'_>,
    mut others: impl Iterator<Item = &'o Candidate<'a>>,
) -> Option<&'o Candidate<'a>> {
    let has_most = |extent: Extent<'_>| {
        let most = new.prefixes() / 2;
        extent.prefixes() > most && new.in_common(extent).prefixes > most
    };
    if has_most(good) {
        return None;
    }
    others.find(|other| other.good().is_some_and(|version| has_most(version.extent())))
}

fn unreadable_entries(count: usize) -> String {
    if count == 1 { "1 entry cannot be read".into() } else { format!("{count} entries cannot be read") }
}

/// The last error with its position, and the other diagnostics as warnings, because another version is in force.
pub(crate) fn main_reason(mut diagnostics: Vec<Diagnostic>) -> (String, Vec<Diagnostic>) {
    let last = diagnostics.iter().rposition(|one| one.severity == Severity::Error);
    let reason = match last.map(|last| diagnostics.remove(last)) {
        Some(Diagnostic { file, position: Some(Position { line, column }), message, .. }) => {
            format!("{file}:{line}:{column}: {message}")
        }
        Some(Diagnostic { file, position: None, message, .. }) => format!("{file}: {message}"),
        None => "it cannot be used".into(),
    };
    let as_warning = |one| Diagnostic { severity: Severity::Warning, ..one };
    (reason, diagnostics.into_iter().map(as_warning).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_a_fetcher_holds_shows_beside_the_one_in_force() {
        let options = ReadOptions::default();
        let (guard, proving) = (&Guard::default(), &Proving::Everything);
        let terms = Terms { name: "f", format: FeedFormat::Cidr, options, guard, proving };
        let shown = |state, why: Option<&str>, is_there| {
            let version = Version::read(b"192.0.2.0/24\n".to_vec(), None, "f", &terms).ok();
            let version = version.filter(|_| is_there);
            let choice =
                Choice { version, is_new: false, state, why: Some("old".into()), warnings: Vec::new() };
            let choice = choice.beside_held(why.map(Into::into));
            (choice.state, choice.why)
        };
        let (new, old) = (Some("new".into()), Some("old".into()));
        assert_eq!(shown(FeedState::Ok, Some("new"), true), (FeedState::Held, new));
        assert_eq!(shown(FeedState::Ok, None, true), (FeedState::Ok, old.clone()));
        assert_eq!(shown(FeedState::Held, Some("new"), true), (FeedState::Held, old.clone()));
        assert_eq!(shown(FeedState::Missing, Some("new"), false), (FeedState::Missing, old));
    }
}
