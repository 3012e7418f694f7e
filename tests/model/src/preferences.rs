//! automation-preferences.txt: draft-liao-aipref-autoctl-core-01; "automation-preferences.txt" in docs/robots-and-preferences.md.

use crate::host::{HostPattern, host_name};
use crate::lines::{lines, product_token, trim};
use crate::path::{Path, Pattern};

/// "All values in a line over 16 KiB are dropped."
const LONGEST_LINE: usize = 16 * 1024;

/// 4: the methods of the grammar.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"];

/// A directive with a list of values, and the line of the first one. An empty list restricts to nothing.
type Listed<T> = Option<(u32, Vec<T>)>;

#[derive(Clone, Debug, Default)]
struct Group {
    /// Each with its line.
    scopes: Listed<(Pattern, u32)>,
    hosts: Listed<HostPattern>,
    agents: Listed<String>,
    methods: Listed<String>,
    purposes: Listed<String>,
}

/// An automation-preferences.txt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Preferences {
    groups: Vec<Group>,
}

/// The verdict of the file on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No group applies.
    NoGroup,
    /// The group with the scope on this line allows it.
    Allowed(u32),
    /// 3.2: the method is not listed.
    Method(u32),
    /// 3.3: a purpose is not listed.
    Purpose(u32),
}

/// The facts of a request that the file speaks of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// The token of the agent, or `*`.
    pub agent: &'a str,
    /// As sent.
    pub host: &'a str,
    /// As sent.
    pub method: &'a str,
    /// The purposes, declared or known.
    pub purposes: &'a [String],
    /// `undeclared_purpose` of the site: true if it is `allow`.
    pub allows_undeclared: bool,
}

fn is_usable<T>(values: &Listed<T>) -> bool {
    values.as_ref().is_none_or(|(_, values)| !values.is_empty())
}

fn add<T>(to: &mut Listed<T>, line: u32, values: impl IntoIterator<Item = T>) {
    to.get_or_insert_with(|| (line, Vec::new())).1.extend(values);
}

impl Preferences {
    /// 3.4, 4: groups that end at a blank line.
    pub(crate) fn read(text: &[u8]) -> Self {
        let mut groups = vec![Group::default()];
        for line in lines(text, &[]) {
            if line.is_blank {
                groups.push(Group::default());
                continue;
            }
            let group = groups.last_mut().expect("there is one");
            let value = if line.length > LONGEST_LINE { b"" } else { line.value };
            let items = || value.split(|octet| *octet == b',').map(trim).filter(|item| !item.is_empty());
            let text = |item: &[u8]| String::from_utf8(item.to_vec()).ok();
            match line.name.to_ascii_lowercase().as_slice() {
                b"scope" => {
                    let patterns = scopes(value).into_iter().filter_map(Pattern::new);
                    add(&mut group.scopes, line.number, patterns.map(|pattern| (pattern, line.number)));
                }
                b"host" => add(
                    &mut group.hosts,
                    line.number,
                    items().filter_map(text).filter_map(|item| HostPattern::new(&item)),
                ),
                b"user-agent" => add(&mut group.agents, line.number, items().filter_map(product_token)),
                b"allowed-methods" => {
                    let known =
                        |item: String| METHODS.into_iter().find(|method| item.eq_ignore_ascii_case(method));
                    add(
                        &mut group.methods,
                        line.number,
                        items().filter_map(text).filter_map(known).map(str::to_owned),
                    );
                }
                b"allowed-purposes" => {
                    add(&mut group.purposes, line.number, items().filter_map(text));
                }
                _ => {}
            }
        }
        // "A group needs a scope. Without one it is ignored."
        let has_scope = |group: &Group| group.scopes.as_ref().is_some_and(|(_, scopes)| !scopes.is_empty());
        // "If a group names hosts or agents and none of them can be used, the group applies to no request."
        groups.retain(|group| has_scope(group) && is_usable(&group.hosts) && is_usable(&group.agents));
        Self { groups }
    }

    /// All purposes that the file names.
    pub(crate) fn purposes(&self) -> impl Iterator<Item = &str> {
        self.groups
            .iter()
            .filter_map(|group| group.purposes.as_ref())
            .flat_map(|(_, purposes)| purposes)
            .map(String::as_str)
    }

    /// The verdict on one spelling of the path.
    pub(crate) fn decide_spelling(&self, asked: &Asked<'_>, path: &Path, spelling: usize) -> Verdict {
        // 3.4: exact host; longest scope; exact token; the later group.
        let mut best: Option<((bool, usize, bool), u32, &Group)> = None;
        for group in &self.groups {
            let Some((specificity, scope)) = group.specificity(asked, path, spelling) else { continue };
            if best.is_none_or(|(most, ..)| specificity >= most) {
                best = Some((specificity, scope, group));
            }
        }
        let Some((_, scope, group)) = best else { return Verdict::NoGroup };
        // 3.2: "If a group omits the directive, all HTTP methods are considered disallowed."
        let is_allowed =
            |(_, methods): &(u32, Vec<String>)| methods.iter().any(|method| method == asked.method);
        if !group.methods.as_ref().is_some_and(is_allowed) {
            return Verdict::Method(group.methods.as_ref().map_or(scope, |(line, _)| *line));
        }
        if let Some((line, allowed)) = &group.purposes {
            let is_allowed =
                |purpose: &String| allowed.iter().any(|known| known.eq_ignore_ascii_case(purpose));
            let is_undeclared = asked.purposes.is_empty() && !asked.allows_undeclared;
            if is_undeclared || !asked.purposes.iter().all(is_allowed) {
                return Verdict::Purpose(*line);
            }
        }
        Verdict::Allowed(scope)
    }
}

impl Group {
    /// The first three criteria of 3.4, if the group applies, and the line of its scope.
    fn specificity(
        &self,
        asked: &Asked<'_>,
        path: &Path,
        spelling: usize,
    ) -> Option<((bool, usize, bool), u32)> {
        let host = host_name(asked.host);
        let hosts = self.hosts.as_ref().map(|(_, hosts)| hosts);
        let is_exact_host = hosts.is_some_and(|hosts| hosts.iter().any(|pattern| pattern.is_exactly(&host)));
        let has_host = hosts.is_none_or(|hosts| hosts.iter().any(|pattern| pattern.matches(&host)));
        let agents = self.agents.as_ref().map(|(_, agents)| agents);
        let is_named = agents.is_some_and(|agents| {
            agents.iter().any(|token| token != "*" && token.eq_ignore_ascii_case(asked.agent))
        });
        let has_agent = is_named || agents.is_none_or(|agents| agents.iter().any(|token| token == "*"));
        let (_, scopes) = self.scopes.as_ref()?;
        let matching =
            scopes.iter().filter_map(|(scope, line)| Some((scope.matches(path, spelling)?, *line)));
        let (longest, line) = matching.reduce(|best, scope| if scope.0 > best.0 { scope } else { best })?;
        (has_host && has_agent).then_some(((is_exact_host, longest, is_named), line))
    }
}

/// "A comma is a separator only if a blank or a `/` follows."
fn scopes(value: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut start = 0;
    for (place, octet) in value.iter().enumerate() {
        if *octet == b',' && matches!(value.get(place + 1), Some(b' ' | b'\t' | b'/')) {
            found.push(trim(&value[start..place]));
            start = place + 1;
        }
    }
    found.push(trim(&value[start..]));
    found
}
