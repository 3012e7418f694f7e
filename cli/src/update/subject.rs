//! The things that are fetched: feeds, policies and directories of keys.

use crawlpike_core::{FeedFormat, KeySubscription, Policy, PolicySubscription, Subscription};

use crate::update::{keys, policy};

/// A feed, a policy or a directory that is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subject<'a> {
    pub(super) kind: Kind,
    /// The name of a feed, the file of a policy or of a directory.
    pub(super) name: &'a str,
    pub(super) url: &'a str,
    /// Its file, relative to the document.
    pub(super) source: &'a str,
    /// The most bytes that it may have.
    pub(super) bytes: usize,
    /// The greatest age that it may reach, in seconds.
    pub(super) max_age: Option<i64>,
}

/// The kind of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Feed(FeedFormat),
    Policy(Policy),
    /// A directory of keys.
    Directory {
        /// True if its URL is the well-known one of its origin.
        is_well_known: bool,
    },
}

impl Kind {
    /// For messages and JSON.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Feed(_) => "feed",
            Self::Policy(_) => "policy",
            Self::Directory { .. } => "directory",
        }
    }

    /// For how many seconds an answer is fresh at most, if that is less than for any.
    pub(super) fn longest_fresh(self) -> i64 {
        match self {
            Self::Feed(_) => i64::MAX,
            Self::Policy(_) => policy::FRESH,
            Self::Directory { .. } => keys::FRESH,
        }
    }

    /// For how many seconds a publisher is left alone at most after failures, if that is less than for any.
    pub(super) fn longest_pause(self) -> i64 {
        match self {
            Self::Feed(_) | Self::Policy(_) => i64::MAX,
            Self::Directory { .. } => keys::LONGEST_PAUSE,
        }
    }
}

impl<'a> From<Subscription<'a>> for Subject<'a> {
    fn from(feed: Subscription<'a>) -> Self {
        let Subscription { name, format, url, source, bytes, max_age } = feed;
        Self { kind: Kind::Feed(format), name, url, source, bytes, max_age }
    }
}

impl<'a> From<PolicySubscription<'a>> for Subject<'a> {
    fn from(policy: PolicySubscription<'a>) -> Self {
        let PolicySubscription { policy, url, source, bytes } = policy;
        Self { kind: Kind::Policy(policy), name: source, url, source, bytes, max_age: None }
    }
}

impl<'a> From<KeySubscription<'a>> for Subject<'a> {
    fn from(directory: KeySubscription<'a>) -> Self {
        let KeySubscription { url, is_well_known, source, bytes } = directory;
        Self { kind: Kind::Directory { is_well_known }, name: source, url, source, bytes, max_age: None }
    }
}
