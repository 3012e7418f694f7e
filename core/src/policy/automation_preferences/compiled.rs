//! The compiled form: for an agent, a host and a path, the one group that decides.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{Group, Method, MethodSet, Placed, PreferencesFile};
use crate::http::host::{HostPattern, RequestHost};
use crate::http::host_index::HostIndex;
use crate::path::request::RequestPath;
use crate::path::rules::{PathRule, PathRules, Said};
use crate::policy::robots::product_token;
use crate::sort::{sort_and_dedup, sort_by};

/// An agent as a file names it, or that it names none such: see [`AutomationPreferences::agent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedAgent(Option<TokenId>);

/// The place of a token among those of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TokenId(u32);

/// The place of a host among those of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HostId(u32);

/// The place of a group in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GroupId(u32);

/// The facts on which a decision depends, the purposes apart.
#[derive(Clone, Copy, Debug)]
pub struct AccessRequest<'a> {
    /// The agent that asks.
    pub agent: NamedAgent,
    /// The host that is asked for.
    pub host: RequestHost<'a>,
    /// Path and query.
    pub path: RequestPath<'a>,
    /// The method as received.
    pub method: &'a [u8],
}

/// The meaning of a restriction to some purposes for a client without any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undeclared {
    /// It has none of the allowed purposes.
    Deny,
    /// It is not restricted.
    Allow,
}

/// The outcome that the deciding group gives.
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
    /// The outcome.
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
/// use crawlpike_core::internals::policy::{AccessRequest, Outcome, PreferencesFile, Undeclared};
/// use crawlpike_core::internals::{Diagnostics, Load, RequestHost, RequestPath};
///
/// let text = b"scope: /\nallowed-methods: GET, HEAD\n\nscope: /api/\nuser-agent: ExampleBot\nallowed-methods: POST\n\n";
/// let mut diagnostics = Diagnostics::new("automation-preferences.txt", Load);
/// let file = PreferencesFile::parse(text, &mut diagnostics).ok_or("refused")?;
/// let preferences = file.compile();
/// let mut request = AccessRequest {
///     agent: preferences.agent("examplebot"),
///     host: RequestHost::new(b"example.com"),
///     path: RequestPath::new(b"/api/orders"),
///     method: b"POST",
/// };
/// let outcome = |request: &AccessRequest| {
///     let verdict = preferences.decide(request, core::iter::empty, Undeclared::Deny);
///     verdict.map(|verdict| (verdict.outcome, verdict.line))
/// };
/// assert_eq!(outcome(&request), Some((Outcome::Allowed, 4)));
/// request.path = RequestPath::new(b"/orders");
/// assert_eq!(outcome(&request), Some((Outcome::MethodNotAllowed, 2)));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AutomationPreferences {
    /// By [`GroupId`].
    groups: Box<[Permissions]>,
    /// By [`TokenId`]: in lower case, sorted.
    tokens: Box<[Box<str>]>,
    hosts: HostIndex<HostId>,
    /// By [`HostId`].
    of_host: Box<[HostScopes]>,
    /// Of the groups for all hosts.
    of_all_hosts: HostScopes,
}

/// The permissions of a group.
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
    named: Box<[(TokenId, PathRules<Scope>)]>,
    /// Of groups for all agents.
    all: PathRules<Scope>,
}

/// A scope of a group. Of equally long scopes the one of the later group takes precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Scope {
    group: Reverse<GroupId>,
    line: u32,
}

impl AutomationPreferences {
    pub(super) fn new(file: &PreferencesFile) -> Self {
        let tokens = named_tokens(file);
        // Inserted one by one: to collect a map or a set brings a sort of its own, which is kilobytes of a Wasm filter.
        let mut hosts: BTreeMap<&HostPattern, HostId> = BTreeMap::new();
        for host in file.groups.iter().flat_map(|group| &group.hosts) {
            hosts.insert(&host.value, HostId(0));
        }
        hosts.values_mut().zip(0..).for_each(|(id, place)| *id = HostId(place));
        let mut of_host: Vec<ScopeCollector<'_>> = Vec::new();
        of_host.resize_with(hosts.len(), ScopeCollector::default);
        let mut of_all_hosts = ScopeCollector::default();
        for (group, id) in file.groups.iter().zip((0..).map(GroupId)) {
            // A host that is named twice is one.
            let ids = group.hosts.iter().filter_map(|host| hosts.get(&host.value));
            let mut places: BTreeSet<u32> = BTreeSet::new();
            ids.for_each(|HostId(place)| _ = places.insert(*place));
            for place in places {
                if let Some(collector) = of_host.get_mut(place as usize) {
                    collector.add(group, id, &tokens);
                }
            }
            if group.any_host {
                of_all_hosts.add(group, id, &tokens);
            }
        }
        Self {
            groups: file.groups.iter().map(Permissions::new).collect(),
            tokens,
            hosts: HostIndex::new(hosts),
            of_host: of_host.into_iter().map(ScopeCollector::compile).collect(),
            of_all_hosts: of_all_hosts.compile(),
        }
    }

    /// The agent with this product token, compared without regard to case.
    pub fn agent(&self, token: &str) -> NamedAgent {
        NamedAgent(find_token(&self.tokens, product_token(token)))
    }

    /// The product tokens that the file names, in lower case, each with the agent that it stands for.
    pub(crate) fn agents(&self) -> impl Iterator<Item = (&str, NamedAgent)> {
        self.tokens.iter().zip((0..).map(TokenId)).map(|(token, id)| (&**token, NamedAgent(Some(id))))
    }

    /// The verdict of the group that takes precedence for this request; `None` where no group holds for it.
    ///
    /// `purposes` gives those of the client, as declared or as known of its agent; each has to be allowed. It is asked only
    /// where the group says which are.
    pub fn decide<'p, P: IntoIterator<Item = &'p [u8]>>(
        &self,
        request: &AccessRequest<'_>,
        purposes: impl FnOnce() -> P,
        undeclared: Undeclared,
    ) -> Option<Verdict> {
        let scope = self.deciding_scope(request)?;
        let group = self.groups.get(scope.group.0.0 as usize)?;
        let (outcome, line) = group.judge(request.method, purposes, undeclared);
        Some(Verdict { outcome, group: group.line, line: line.unwrap_or(scope.line) })
    }

    fn deciding_scope(&self, request: &AccessRequest<'_>) -> Option<Scope> {
        let of = |HostId(place): HostId| self.of_host.get(place as usize)?.decide(request);
        let exact = self.hosts.exact(request.host).and_then(of);
        let others =
            || self.hosts.wildcards(request.host).filter_map(of).chain(self.of_all_hosts.decide(request));
        Some(exact.or_else(|| others().min())?.scope)
    }
}

/// Scopes of equal hosts in their order of precedence: the longest, then one for the named agent, then that of the later
/// group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    length: Reverse<u32>,
    is_for_all: bool,
    scope: Scope,
}

impl Candidate {
    fn new(said: Said<Scope>, is_for_all: bool) -> Self {
        Self { length: Reverse(said.length()), is_for_all, scope: said.what }
    }
}

impl HostScopes {
    fn decide(&self, request: &AccessRequest<'_>) -> Option<Candidate> {
        let named = request.agent.0.and_then(|token| {
            let place = self.named.binary_search_by_key(&token, |(token, _)| *token).ok()?;
            self.named.get(place)?.1.decide(request.path)
        });
        let named = named.map(|said| Candidate::new(said, false));
        let all = self.all.decide(request.path).map(|said| Candidate::new(said, true));
        named.into_iter().chain(all).min()
    }
}

fn named_tokens(file: &PreferencesFile) -> Box<[Box<str>]> {
    let named = file.groups.iter().filter_map(|group| group.agents.as_ref()).flatten();
    let mut tokens: Vec<Box<str>> =
        named.map(|agent| agent.value.clone()).filter(|token| **token != *"*").collect();
    sort_and_dedup(&mut tokens);
    tokens.into()
}

fn find_token(tokens: &[Box<str>], token: &str) -> Option<TokenId> {
    let lower = || token.bytes().map(|byte| byte.to_ascii_lowercase());
    let place = tokens.binary_search_by(|known| known.bytes().cmp(lower())).ok()?;
    u32::try_from(place).ok().map(TokenId)
}

/// The scopes of one host while they are collected.
#[derive(Default)]
struct ScopeCollector<'f> {
    named: BTreeMap<TokenId, Vec<(&'f PathRule, Scope)>>,
    all: Vec<(&'f PathRule, Scope)>,
}

impl<'f> ScopeCollector<'f> {
    fn add(&mut self, group: &'f Group, id: GroupId, tokens: &[Box<str>]) {
        let scopes = group
            .scopes
            .iter()
            .map(|Placed { value, position }| (value, Scope { group: Reverse(id), line: position.line }));
        match &group.agents {
            None => self.all.extend(scopes),
            Some(names) => {
                for name in names {
                    match find_token(tokens, &name.value) {
                        Some(token) => self.named.entry(token).or_default().extend(scopes.clone()),
                        None => self.all.extend(scopes.clone()),
                    }
                }
            }
        }
    }

    fn compile(self) -> HostScopes {
        HostScopes {
            named: self.named.into_iter().map(|(token, scopes)| (token, PathRules::new(scopes))).collect(),
            all: PathRules::new(self.all),
        }
    }
}

impl Permissions {
    fn new(group: &Group) -> Self {
        let purposes = group.purposes.as_ref().map(|Placed { value, position }| {
            let mut purposes = value.clone();
            sort_by(&mut purposes, Ord::cmp);
            (purposes.into_boxed_slice(), position.line)
        });
        Self {
            line: group.position.line,
            methods: group.methods.as_ref().map(|methods| (methods.value, methods.position.line)),
            purposes,
        }
    }

    /// The outcome and the line of its directive, if it has one.
    fn judge<'p, P: IntoIterator<Item = &'p [u8]>>(
        &self,
        method: &[u8],
        purposes: impl FnOnce() -> P,
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
        let mut purposes = purposes().into_iter().peekable();
        let is_allowed = match purposes.peek() {
            Some(_) => purposes.all(is_allowed),
            None => undeclared == Undeclared::Allow,
        };
        if is_allowed { (Outcome::Allowed, None) } else { (Outcome::PurposeNotAllowed, Some(*line)) }
    }
}
