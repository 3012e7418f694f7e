//! `automation-preferences.txt` (draft-liao-aipref-autoctl-core-01): which methods and purposes a site allows to
//! automated clients, by host, scope and agent.
//!
//! # Reading
//!
//! The file is refused as a whole, so that the last good one stays, if it holds control bytes other than CR, LF and HTAB,
//! is longer than [`DEFAULT_LIMIT`], or expands to more than [`MOST_COMBINATIONS`]: cutting a list of permissions short
//! could permit more. Everything else is read leniently.
//!
//! * Groups end at a blank line or at the end of the file. A line with a comment is not blank. Within a group the
//!   directives come in any order, and a repeated one adds to the first.
//! * Names are compared without regard to case; unknown names and lines without a colon are ignored.
//! * All values are lists. Since a comma can be part of a path, one in a `scope` separates only if a blank or a `/`
//!   follows.
//! * A value that cannot be read is dropped, and so are all values of a line of more than [`LONGEST_LINE`] bytes. The
//!   directive still restricts: a group of which all scopes, hosts or agents are dropped applies to no request, rather than
//!   to all, and one of which all methods or purposes are dropped allows none.
//! * `host: *` is for all hosts, like no `host` at all. Hosts that are named beside it take precedence as exact ones do. A
//!   port in a host is ignored. The token of a `user-agent` is found as in [`robots`](crate::policy::robots).
//!
//! # Deciding
//!
//! One group decides about a request; a request that is in no group is allowed. Of several, the one with an exact host
//! takes precedence over one with a wildcard or no host; then the one with the longest matching scope; then the one that
//! names the agent over one for all; then the later one. Between wildcard hosts, and between those and none, length
//! does not count. Methods that are not listed are not allowed (`HEAD` is not implied by `GET`, and a group without
//! `allowed-methods` allows none); purposes are restricted if `allowed-purposes` is present.
//!
//! Paths that `robots.txt` disallows stay disallowed: of the two, the more restrictive one holds.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::http::host::HostPattern;
use crate::path::rules::PathRule;
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::position::{Placed, Position};

mod compiled;
mod methods;
mod read;
#[cfg(test)]
mod tests;

pub use compiled::{AccessRequest, Outcome, Undeclared, Verdict};
pub(crate) use compiled::{AutomationPreferences, NamedAgent};
pub(crate) use methods::{Method, MethodSet};
pub(crate) use read::is_known;

/// The largest number of bytes of a file.
pub(crate) const DEFAULT_LIMIT: usize = 512 * 1024;
/// The largest number of bytes of the line of a known directive.
pub(crate) const LONGEST_LINE: usize = 16 * 1024;
/// The largest number of combinations of host, agent and scope of the groups of a file: each is compiled.
pub(crate) const MOST_COMBINATIONS: usize = 1 << 18;

/// An `automation-preferences.txt`, read but not yet compiled.
#[derive(Clone, Debug, Default)]
pub struct PreferencesFile {
    pub(crate) groups: Vec<Group>,
}

/// A value and its place in the file.
pub(crate) type InFile<T> = Placed<T, Position>;

/// A group that applies to some requests.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) position: Position,
    pub(crate) scopes: Vec<InFile<PathRule>>,
    /// The hosts that are named.
    pub(crate) hosts: Vec<InFile<HostPattern>>,
    /// True if the group is for all other hosts, too.
    pub(crate) any_host: bool,
    /// In lower case, `*` for all. `None`: for all agents.
    pub(crate) agents: Option<Vec<InFile<Box<str>>>>,
    /// `None`: no directive allows any.
    pub(crate) methods: Option<InFile<MethodSet>>,
    /// In lower case. `None`: all are allowed.
    pub(crate) purposes: Option<InFile<Vec<Box<str>>>>,
}

impl PreferencesFile {
    /// Reads a file. `None`, with an error in `diagnostics`, if it is refused.
    pub fn parse<S: Strictness>(text: &[u8], diagnostics: &mut Diagnostics<S>) -> Option<Self> {
        read::file(text, DEFAULT_LIMIT, diagnostics)
    }

    /// The purposes that the file names, in lower case; a purpose may be found in a User-Agent by them.
    pub fn purposes(&self) -> impl Iterator<Item = &str> {
        let lists = self.groups.iter().filter_map(|group| group.purposes.as_ref());
        lists.flat_map(|list| &list.value).map(|name| &**name)
    }

    /// Compiles the file: see [`AutomationPreferences`].
    pub fn compile(&self) -> AutomationPreferences {
        AutomationPreferences::new(self)
    }

    fn combinations(&self) -> usize {
        self.groups.iter().map(Group::combinations).fold(0, usize::saturating_add)
    }
}

impl Group {
    fn combinations(&self) -> usize {
        let hosts = self.hosts.len() + usize::from(self.any_host);
        let agents = self.agents.as_ref().map_or(1, Vec::len);
        self.scopes.len().saturating_mul(hosts).saturating_mul(agents)
    }
}
