//! The compiled form: for an agent, a host and a path, the one group that decides.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{Group, Method, MethodSet, Placed, PreferencesFile};
use crate::host::{HostIndex, HostPattern, RequestHost};
use crate::path_pattern::{PathPattern, RequestPath};
use crate::path_set::PathSet;
use crate::robots::product_token;

/// An agent as one file sees it: see [`AutomationPreferences::agent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentId(Option<u32>);

/// What a decision depends on, the purposes apart.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Who asks.
    pub agent: AgentId,
    /// The host that is asked for.
    pub host: RequestHost<'a>,
    /// Path and query.
    pub path: RequestPath<'a>,
    /// The method as received.
    pub method: &'a [u8],
}

/// What a restriction to some purposes means for a client without any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undeclared {
    /// It has none of the allowed purposes.
    Deny,
    /// It is not restricted.
    Allow,
}

/// What the deciding group says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The method and every purpose are allowed.
    Allowed,
    /// The group does not list the method.
    MethodNotAllowed,
    /// The group restricts purposes, and the client has another one, or none.
    PurposeNotAllowed,
}

/// An outcome and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What is decided.
    pub outcome: Outcome,
    /// The first line of the deciding group.
    pub group: u32,
    /// The line of the deciding directive: of the scope where the request is allowed or the group lists no methods at
    /// all, else of `allowed-methods` or `allowed-purposes`.
    pub line: u32,
}

/// A compiled `automation-preferences.txt`: immutable, decides without allocation.
///
/// ```
/// use crawlward_core::automation_preferences::{Outcome, PreferencesFile, Request, Undeclared};
/// use crawlward_core::diagnostic::{Diagnostics, Strictness};
/// use crawlward_core::host::RequestHost;
/// use crawlward_core::path_pattern::RequestPath;
///
/// let text = b"scope: /\nallowed-methods: GET, HEAD\n\nscope: /api/\nuser-agent: ExampleBot\nallowed-methods: POST\n\n";
/// let mut diagnostics = Diagnostics::new("automation-preferences.txt", Strictness::Load);
/// let file = PreferencesFile::parse(text, &mut diagnostics).ok_or("refused")?;
/// let preferences = file.compile();
/// let mut request = Request {
///     agent: preferences.agent("examplebot"),
///     host: RequestHost::new(b"example.com"),
///     path: RequestPath::new(b"/api/orders"),
///     method: b"POST",
/// };
/// let outcome = |request: &Request| {
///     let verdict = preferences.decide(request, core::iter::empty(), Undeclared::Deny);
///     verdict.map(|verdict| (verdict.outcome, verdict.line))
/// };
/// assert_eq!(outcome(&request), Some((Outcome::Allowed, 4)));
/// request.path = RequestPath::new(b"/orders");
/// assert_eq!(outcome(&request), Some((Outcome::MethodNotAllowed, 2)));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AutomationPreferences {
    groups: Box<[Permissions]>,
    /// Tokens in lower case, sorted; an [`AgentId`] is a place in it.
    agents: Box<[Box<str>]>,
    hosts: HostIndex,
    /// What `hosts` leads to, and first the scopes of groups for all hosts.
    host_scopes: Box<[HostScopes]>,
}

/// What a group permits.
#[derive(Clone, Debug)]
struct Permissions {
    line: u32,
    methods: Option<(MethodSet, u32)>,
    /// Sorted.
    purposes: Option<(Box<[Box<str>]>, u32)>,
}

/// The scopes of all groups with one host.
#[derive(Clone, Debug, Default)]
struct HostScopes {
    /// By agent, sorted.
    named: Box<[(u32, ScopeSet)]>,
    /// Of groups for all agents.
    all: ScopeSet,
}

/// Scopes of several groups.
#[derive(Clone, Debug, Default)]
struct ScopeSet {
    paths: PathSet,
    /// In the order of `paths`.
    scopes: Box<[Scope]>,
}

#[derive(Clone, Copy, Debug)]
struct Scope {
    length: u32,
    group: u32,
    line: u32,
}

impl Scope {
    /// Among scopes of equal hosts and agents: the longest, then the latest.
    fn precedence(&self) -> impl Ord + use<> {
        (Reverse(self.length), Reverse(self.group), self.line)
    }
}

impl AutomationPreferences {
    pub(super) fn new(file: &PreferencesFile) -> Self {
        let agents = named_agents(file);
        let named_hosts = file.groups.iter().filter_map(|group| group.hosts.as_ref()).flatten();
        let named_hosts: BTreeSet<&HostPattern> = named_hosts.map(|host| &host.value).collect();
        let hosts: BTreeMap<&HostPattern, u32> = named_hosts.into_iter().zip(1..).collect();
        let mut builders: Vec<HostBuilder<'_>> = Vec::new();
        builders.resize_with(hosts.len() + 1, HostBuilder::default);
        for (group, index) in file.groups.iter().zip(0..) {
            let places: Vec<u32> = match &group.hosts {
                Some(names) => names.iter().filter_map(|host| hosts.get(&host.value).copied()).collect(),
                None => [0].into(),
            };
            for place in places {
                if let Some(builder) = builders.get_mut(place as usize) {
                    builder.add(group, index, &agents);
                }
            }
        }
        Self {
            groups: file.groups.iter().map(Permissions::new).collect(),
            agents,
            hosts: HostIndex::new(hosts),
            host_scopes: builders.into_iter().map(HostBuilder::build).collect(),
        }
    }

    /// The agent with this product token, compared without regard to case.
    pub fn agent(&self, token: &str) -> AgentId {
        AgentId(place_of(&self.agents, product_token(token)))
    }

    /// The verdict of the group that takes precedence for this request; `None` where no group holds for it.
    ///
    /// `purposes` are those of the client, as declared or as known of its agent; each has to be allowed.
    pub fn decide<'p>(
        &self,
        request: &Request<'_>,
        purposes: impl IntoIterator<Item = &'p [u8]>,
        undeclared: Undeclared,
    ) -> Option<Verdict> {
        let scope = self.deciding_scope(request)?;
        let group = self.groups.get(scope.group as usize)?;
        let (outcome, line) = group.judge(request.method, purposes, undeclared);
        Some(Verdict { outcome, group: group.line, line: line.unwrap_or(scope.line) })
    }

    fn deciding_scope(&self, request: &Request<'_>) -> Option<Scope> {
        let best_of = |place: u32| self.host_scopes.get(place as usize)?.best(request);
        if let Some((_, scope)) = self.hosts.exact(request.host).and_then(best_of) {
            return Some(scope);
        }
        let candidates = core::iter::once(0).chain(self.hosts.wildcards(request.host)).filter_map(best_of);
        // The longest scope, then the named agent, then the later group.
        let (_, scope) = candidates.min_by_key(|(for_all, scope)| {
            (Reverse(scope.length), *for_all, Reverse(scope.group), scope.line)
        })?;
        Some(scope)
    }
}

fn named_agents(file: &PreferencesFile) -> Box<[Box<str>]> {
    let named = file.groups.iter().filter_map(|group| group.agents.as_ref()).flatten();
    let mut agents: Vec<Box<str>> =
        named.map(|agent| agent.value.clone()).filter(|token| **token != *"*").collect();
    agents.sort_unstable();
    agents.dedup();
    agents.into()
}

fn place_of(agents: &[Box<str>], token: &str) -> Option<u32> {
    let place = agents
        .binary_search_by(|known| known.bytes().cmp(token.bytes().map(|byte| byte.to_ascii_lowercase())));
    place.ok().and_then(|place| u32::try_from(place).ok())
}

/// The scopes of one host while they are collected.
#[derive(Default)]
struct HostBuilder<'f> {
    named: BTreeMap<u32, Vec<(Scope, &'f PathPattern)>>,
    all: Vec<(Scope, &'f PathPattern)>,
}

impl<'f> HostBuilder<'f> {
    fn add(&mut self, group: &'f Group, index: u32, agents: &[Box<str>]) {
        let scopes = group.scopes.iter().map(|Placed { value, position }| {
            (Scope { length: value.length(), group: index, line: position.line }, value)
        });
        match &group.agents {
            None => self.all.extend(scopes),
            Some(names) => {
                for name in names {
                    match place_of(agents, &name.value) {
                        Some(agent) => self.named.entry(agent).or_default().extend(scopes.clone()),
                        None => self.all.extend(scopes.clone()),
                    }
                }
            }
        }
    }

    fn build(self) -> HostScopes {
        HostScopes {
            named: self.named.into_iter().map(|(agent, scopes)| (agent, ScopeSet::new(scopes))).collect(),
            all: ScopeSet::new(self.all),
        }
    }
}

impl HostScopes {
    /// The scope that takes precedence for this host, and whether it is one for all agents.
    fn best(&self, request: &Request<'_>) -> Option<(bool, Scope)> {
        let named = request.agent.0.and_then(|agent| {
            let place = self.named.binary_search_by_key(&agent, |(agent, _)| *agent).ok()?;
            self.named.get(place)?.1.best(request.path)
        });
        let all = self.all.best(request.path);
        match (named, all) {
            (Some(named), Some(all)) if all.length > named.length => Some((true, all)),
            (Some(named), _) => Some((false, named)),
            (None, all) => all.map(|scope| (true, scope)),
        }
    }
}

impl ScopeSet {
    fn new(mut scopes: Vec<(Scope, &PathPattern)>) -> Self {
        scopes.sort_by_cached_key(|(scope, _)| scope.precedence());
        Self {
            paths: PathSet::new(scopes.iter().map(|(_, pattern)| *pattern)),
            scopes: scopes.into_iter().map(|(scope, _)| scope).collect(),
        }
    }

    fn best(&self, path: RequestPath<'_>) -> Option<Scope> {
        self.scopes.get(self.paths.first_match(path)? as usize).copied()
    }
}

impl Permissions {
    fn new(group: &Group) -> Self {
        let purposes = group.purposes.as_ref().map(|Placed { value, position }| {
            let mut purposes = value.clone();
            purposes.sort_unstable();
            (purposes.into_boxed_slice(), position.line)
        });
        Self {
            line: group.position.line,
            methods: group.methods.as_ref().map(|methods| (methods.value, methods.position.line)),
            purposes,
        }
    }

    /// The outcome and the line of its directive, if it has one.
    fn judge<'p>(
        &self,
        method: &[u8],
        purposes: impl IntoIterator<Item = &'p [u8]>,
        undeclared: Undeclared,
    ) -> (Outcome, Option<u32>) {
        let method = Method::of_request(method);
        let (methods, line) =
            self.methods.map_or((MethodSet::default(), None), |(set, line)| (set, Some(line)));
        if !method.is_some_and(|method| methods.contains(method)) {
            return (Outcome::MethodNotAllowed, line);
        }
        let Some((allowed, line)) = &self.purposes else {
            return (Outcome::Allowed, None);
        };
        let is_allowed = |purpose: &[u8]| {
            let lower = || purpose.iter().map(u8::to_ascii_lowercase);
            allowed.binary_search_by(|known| known.bytes().cmp(lower())).is_ok()
        };
        let mut purposes = purposes.into_iter().peekable();
        let is_allowed = match purposes.peek() {
            Some(_) => purposes.all(is_allowed),
            None => undeclared == Undeclared::Allow,
        };
        if is_allowed { (Outcome::Allowed, None) } else { (Outcome::PurposeNotAllowed, Some(*line)) }
    }
}
