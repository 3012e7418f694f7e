//! The things that are fetched: feeds, policies and directories of keys.

use crawlpike_core::{FeedFormat, KeySubscription, PolicyKind, PolicySubscription, Subscription};
use url::{Origin, Url};

use crate::http::{Reach, RedirectRules, is_at};
use crate::update::{keys, policy};

/// A feed, a policy or a directory that is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Origins that it may come from beside that of its URL, as the operator wrote them.
    pub(super) origins: Vec<&'a str>,
}

/// The kind of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Feed(FeedFormat),
    Policy(PolicyKind),
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

impl Subject<'_> {
    /// The private addresses that its URL may lead to.
    pub(super) fn reach(&self) -> Reach {
        let written = |advice| Reach::Written { origins: self.origins(), advice };
        match self.kind {
            Kind::Feed(_) => Reach::AtUrl,
            Kind::Policy(_) => written(
                "if you mean that server, write its address into the URL, or list its origin in `policy_origins`",
            ),
            Kind::Directory { .. } => written("if you mean that server, write its address into the URL"),
        }
    }

    /// The redirects that are followed. Whoever could redirect a policy elsewhere would choose what we publish, and of a
    /// directory, who is verified [SIG-7].
    pub(super) fn redirects(&self) -> RedirectRules {
        match self.kind {
            Kind::Feed(_) => RedirectRules::ANYWHERE,
            Kind::Directory { .. } => RedirectRules::NONE,
            Kind::Policy(_) => {
                let origins = self.origins();
                RedirectRules::checked(RedirectRules::MOST, move |first, to| {
                    let is_listed = is_at(first, to) || origins.contains(&to.origin());
                    let origin = to.origin().ascii_serialization();
                    (!is_listed).then(|| {
                        format!("it redirects to {to}, of another origin; if that is right, list {origin} in `policy_origins`")
                    })
                })
            }
        }
    }

    fn origins(&self) -> Vec<Origin> {
        self.origins.iter().filter_map(|text| Url::parse(text).ok()).map(|url| url.origin()).collect()
    }
}

impl<'a> From<Subscription<'a>> for Subject<'a> {
    fn from(feed: Subscription<'a>) -> Self {
        let Subscription { name, format, url, source, bytes, max_age } = feed;
        Self { kind: Kind::Feed(format), name, url, source, bytes, max_age, origins: Vec::new() }
    }
}

impl<'a> From<PolicySubscription<'a>> for Subject<'a> {
    fn from(policy: PolicySubscription<'a>) -> Self {
        let PolicySubscription { policy, url, source, bytes, origins } = policy;
        Self { kind: Kind::Policy(policy), name: source, url, source, bytes, max_age: None, origins }
    }
}

impl<'a> From<KeySubscription<'a>> for Subject<'a> {
    fn from(directory: KeySubscription<'a>) -> Self {
        let KeySubscription { url, is_well_known, source, bytes } = directory;
        let kind = Kind::Directory { is_well_known };
        Self { kind, name: source, url, source, bytes, max_age: None, origins: Vec::new() }
    }
}
