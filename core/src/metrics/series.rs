//! The series of requests: which there are, and how many there may be.
//!
//! The names in them come from the configuration alone, so no client can make up any. But a client can claim every agent
//! at every site. So the series are in groups, each with a bound of its own, and where a group is full, a request is
//! counted in a coarser one: what clients claim never takes the room of what is verified, and no request is lost.

use alloc::string::String;

use super::REQUESTS;
use crate::decide::decision::{Action, Decision};
use crate::identity::Identity;
use crate::ids::{AgentId, Id, SiteId};
use crate::reason::Reason;
use crate::ruleset::data::Ruleset;

/// The longest value of a label in bytes; the rest of a longer name of a site is left out.
pub(super) const LONGEST_VALUE: usize = 255;

/// The label that stands for the name of an agent or a site if there are too many series with names.
const OTHER: &str = "other";

/// The series that share a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesGroup {
    /// Of a verified agent at a site: only those who operate the agent can begin one.
    VerifiedAtSite,
    /// Of an agent at a site, for whoever claims to be that agent.
    ClaimedAtSite,
    /// Of an agent, whatever the site.
    Agent,
    /// Of a site, for clients that claim no agent.
    Site,
    /// Of no agent and no site with a name.
    Total,
}

impl SeriesGroup {
    /// Every group.
    pub const ALL: [Self; 5] =
        [Self::VerifiedAtSite, Self::ClaimedAtSite, Self::Agent, Self::Site, Self::Total];

    /// The largest number of series of the group. The last group has room for one of each combination.
    pub const fn bound(self) -> usize {
        match self {
            Self::VerifiedAtSite | Self::ClaimedAtSite => 2048,
            Self::Agent => 8192,
            Self::Site => 4096,
            Self::Total => Action::ALL.len() * 2 * Reason::ALL.len() * Identity::ALL.len() * 4,
        }
    }
}

/// An agent or a site in a [`Series`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name<I> {
    None,
    Of(I),
    Other,
}

impl<I: Id> Name<I> {
    fn of(id: Option<I>) -> Self {
        id.map_or(Self::None, Self::Of)
    }

    fn is_of_one(self) -> bool {
        matches!(self, Self::Of(_))
    }

    /// Seventeen bits.
    fn key(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Of(id) => id.index() as u64 + 1,
            Self::Other => 0x1_ffff,
        }
    }

    fn value<'r>(self, name_of: impl FnOnce(I) -> Option<&'r str>) -> &'r str {
        match self {
            Self::None => "",
            Self::Of(id) => shortened(name_of(id).unwrap_or_default()),
            Self::Other => OTHER,
        }
    }
}

/// As much of a label's value as is shown.
pub(super) fn shortened(value: &str) -> &str {
    let mut ends = (0..=value.len().min(LONGEST_VALUE)).rev();
    ends.find_map(|end| value.get(..end)).unwrap_or_default()
}

/// The series to which one request adds: a combination of the labels of [`REQUESTS`], in numbers of the ruleset that
/// decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Series {
    pub(super) action: Action,
    pub(super) enforced: bool,
    pub(super) reason: Reason,
    pub(super) identity: Identity,
    pub(super) agent: Name<AgentId>,
    pub(super) site: Name<SiteId>,
}

impl Series {
    /// The series of a decision; `None` if the mode is `off`, which looks at nothing.
    pub fn of(decision: &Decision) -> Option<Self> {
        let Decision { action, enforced, reason, identity, ignored, agent, site, .. } = *decision;
        let (agent, site) = (Name::of(agent), Name::of(site));
        (!ignored).then_some(Self { action, enforced, reason, identity, agent, site })
    }

    /// The group whose bound the series counts towards.
    pub fn group(self) -> SeriesGroup {
        match (self.agent.is_of_one(), self.site.is_of_one()) {
            (true, true) if self.identity == Identity::Verified => SeriesGroup::VerifiedAtSite,
            (true, true) => SeriesGroup::ClaimedAtSite,
            (true, false) => SeriesGroup::Agent,
            (false, true) => SeriesGroup::Site,
            (false, false) => SeriesGroup::Total,
        }
    }

    /// The series in which to count where there is no room for this one, with `other` for a name. `None` for those of
    /// which there is one for each combination of words.
    pub fn coarser(self) -> Option<Self> {
        match self.group() {
            SeriesGroup::VerifiedAtSite | SeriesGroup::ClaimedAtSite | SeriesGroup::Site => {
                Some(Self { site: Name::Other, ..self })
            }
            SeriesGroup::Agent => Some(Self { agent: Name::Other, ..self }),
            SeriesGroup::Total => None,
        }
    }

    /// A number that stands for the series, different for each, as long as the ruleset is the same.
    pub fn key(self) -> u64 {
        let words = self.action as u64 | u64::from(self.enforced) << 3;
        let words = words | (self.reason as u64) << 4 | (self.identity as u64) << 12;
        words | self.agent.key() << 16 | self.site.key() << 33
    }

    /// The labels, with the names of the ruleset that decided.
    pub fn labels(self, ruleset: &Ruleset) -> Labels<'_> {
        Labels {
            action: self.action.as_str(),
            enforced: if self.enforced { "true" } else { "false" },
            reason: self.reason.as_str(),
            identity: self.identity.as_str(),
            agent: self.agent.value(|id| ruleset.agents.get(id).map(|agent| &*agent.token)),
            site: self.site.value(|id| ruleset.sites.get(id).map(|site| &*site.name)),
        }
    }
}

/// The labels of one series of [`REQUESTS`]; empty where there is no agent or no site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Labels<'a> {
    action: &'a str,
    enforced: &'a str,
    reason: &'a str,
    identity: &'a str,
    agent: &'a str,
    site: &'a str,
}

impl<'a> Labels<'a> {
    /// The most bytes that [`Self::joined`] gives: the name of a site is shortened, and that of an agent is a token,
    /// which has [`MAX_TOKEN`](crate::user_agent::MAX_TOKEN) bytes at most.
    pub const LONGEST: usize = 384;

    /// The same where no site has a name.
    pub(super) const LONGEST_WITHOUT_SITE: usize = 128;

    /// The values, in the order of the labels of [`REQUESTS`].
    pub fn values(&self) -> [&'a str; 6] {
        [self.action, self.enforced, self.reason, self.identity, self.agent, self.site]
    }

    /// All values in one text of at most [`Self::LONGEST`] bytes: what a gate can keep and compare across rulesets.
    pub fn joined(&self) -> String {
        self.values().join("\n")
    }

    /// The labels that [`Self::joined`] gave.
    pub fn split(joined: &'a str) -> Option<Self> {
        // Only the last value can have line ends: a name of a site is free text.
        let mut values = joined.splitn(REQUESTS.labels.len(), '\n');
        let mut next = || values.next();
        let [action, enforced, reason] = [next()?, next()?, next()?];
        Some(Self { action, enforced, reason, identity: next()?, agent: next()?, site: next()? })
    }
}
