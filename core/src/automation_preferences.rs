//! `automation-preferences.txt` (draft-liao-aipref-autoctl-core-01): which methods and purposes a site allows to
//! automated clients, by host, scope and agent.
//!
//! # Reading
//!
//! The file is refused as a whole, so that the last good one stays, when it holds control bytes other than CR, LF and
//! HTAB, is longer than [`DEFAULT_LIMIT`], or expands to more than [`MOST_COMBINATIONS`]: cutting a list of permissions
//! short could permit more. Everything else is read leniently.
//!
//! * Groups end at a blank line or at the end of the file. A line with a comment is not blank. Within a group the
//!   directives come in any order, and a repeated one adds to the first.
//! * Names are compared without regard to case; unknown names and lines without a colon are ignored.
//! * All values are lists. Since a comma can be part of a path, one in a `scope` separates only where a blank or a `/`
//!   follows.
//! * A value that can't be used is dropped. A group of which all scopes, all hosts or all agents are dropped holds for
//!   nothing, rather than for everything. So does a group without a scope.
//! * `host: *` holds for all hosts, like no `host` at all. The token of a `user-agent` is found as in
//!   [`robots`](crate::robots).
//! * A known directive in a line of more than [`LONGEST_LINE`] bytes is dropped.
//!
//! # Deciding
//!
//! One group decides for a request; a request that is in no group is allowed. Of several, the one with an exact host
//! takes precedence over one with a wildcard or no host; then the one with the longest matching scope; then the one that
//! names the agent over one for all; then the later one. Between wildcard hosts, and between those and none, length is
//! no criterion. Methods that are not listed are not allowed (`HEAD` is not implied by `GET`, and a group without
//! `allowed-methods` allows none); purposes are restricted where `allowed-purposes` is present.
//!
//! What `robots.txt` forbids stays forbidden: whoever combines the two lets the more restrictive one hold.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::diagnostic::{Diagnostics, Position, Strictness};
use crate::host::HostPattern;
use crate::path_pattern::PathPattern;
use crate::policy_lines::{Line, Lines, is_blank, nearest, position_at, shown};
use crate::robots::product_token_in;
use crate::source_text::{self, Expected};

mod compiled;
mod methods;
#[cfg(test)]
mod tests;

pub use compiled::{AgentId, AutomationPreferences, Outcome, Request, Undeclared, Verdict};
pub use methods::{Method, MethodSet};

/// How long a file may be.
pub const DEFAULT_LIMIT: usize = 512 * 1024;
/// How long the line of a known directive may be.
pub const LONGEST_LINE: usize = 16 * 1024;
/// How many combinations of host, agent and scope the groups of a file may have: each is compiled.
pub const MOST_COMBINATIONS: usize = 1 << 18;

const DIRECTIVES: [&str; 5] = ["scope", "host", "user-agent", "allowed-methods", "allowed-purposes"];

/// An `automation-preferences.txt`, read but not yet compiled.
#[derive(Clone, Debug, Default)]
pub struct PreferencesFile {
    pub(crate) groups: Vec<Group>,
}

/// A usable group.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) position: Position,
    pub(crate) scopes: Vec<Placed<PathPattern>>,
    /// `None`: for all hosts.
    pub(crate) hosts: Option<Vec<Placed<HostPattern>>>,
    /// In lower case, `*` for all. `None`: for all agents.
    pub(crate) agents: Option<Vec<Placed<Box<str>>>>,
    pub(crate) methods: Option<Placed<MethodSet>>,
    /// In lower case.
    pub(crate) purposes: Option<Placed<Vec<Box<str>>>>,
}

/// A value, and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) position: Position,
}

impl PreferencesFile {
    /// Reads a file. `None`, with an error in `diagnostics`, when it is refused.
    pub fn parse(text: &[u8], diagnostics: &mut Diagnostics) -> Option<Self> {
        Self::parse_within(text, DEFAULT_LIMIT, diagnostics)
    }

    /// As [`Self::parse`], with another limit.
    pub fn parse_within(text: &[u8], limit: usize, diagnostics: &mut Diagnostics) -> Option<Self> {
        if text.len() > limit {
            let message =
                format!("the file has {} bytes, more than the {limit} that are allowed", text.len());
            diagnostics.error(None, "AUTO-18", message);
            return None;
        }
        let expected = Expected { what: "an automation-preferences.txt", requirement: Some("AUTO-1") };
        if !source_text::is_policy(text, expected, diagnostics) {
            return None;
        }
        let is_control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\r' | b'\n' | b'\t');
        if let Some(offset) = text.iter().position(is_control) {
            let position = position_at(text, offset);
            diagnostics.error(
                position,
                "AUTO-5",
                "the file holds a control byte, so it is refused as a whole",
            );
            return None;
        }
        let mut reader = Reader { diagnostics, file: Self::default(), open: None };
        for line in Lines::new(text) {
            if line.is_blank() {
                reader.end_group();
            } else if !line.is_empty() {
                reader.read(&line);
            }
        }
        if let Some(open) = &reader.open {
            let message = "the grammar has a blank line behind the last group, too";
            reader.diagnostics.lint_warning(open.position, "AUTO-20", message);
        }
        reader.end_group();
        let Reader { file, diagnostics, .. } = reader;
        let combinations = file.groups.iter().map(Group::combinations).fold(0, usize::saturating_add);
        if combinations > MOST_COMBINATIONS {
            let message = format!(
                "the groups have {combinations} combinations of host, agent and scope, over the limit of {MOST_COMBINATIONS}"
            );
            diagnostics.error(None, "AUTO-18", message);
            return None;
        }
        if diagnostics.strictness() == Strictness::Lint {
            crate::policy_lint::encoding(text, "AUTO-1", diagnostics);
            crate::policy_lint::preferences(&file, diagnostics);
        }
        Some(file)
    }

    /// The purposes that the file names, in lower case; a purpose may be found in a User-Agent by them.
    pub fn purposes(&self) -> impl Iterator<Item = &str> {
        self.groups
            .iter()
            .filter_map(|group| group.purposes.as_ref())
            .flat_map(|list| &list.value)
            .map(|name| &**name)
    }

    /// Compiles the file: see [`AutomationPreferences`].
    pub fn compile(&self) -> AutomationPreferences {
        AutomationPreferences::new(self)
    }
}

impl Group {
    fn combinations(&self) -> usize {
        let hosts = self.hosts.as_ref().map_or(1, Vec::len);
        let agents = self.agents.as_ref().map_or(1, Vec::len);
        self.scopes.len().saturating_mul(hosts).saturating_mul(agents)
    }
}

/// A group while its lines are read.
#[derive(Debug)]
struct OpenGroup {
    position: Position,
    scopes: Vec<Placed<PathPattern>>,
    /// `Some` once the directive was seen, whatever became of its values.
    hosts: Option<Vec<Placed<HostPattern>>>,
    /// `host: *` was among the hosts.
    any_host: bool,
    agents: Option<Vec<Placed<Box<str>>>>,
    methods: Option<Placed<MethodSet>>,
    purposes: Option<Placed<Vec<Box<str>>>>,
}

struct Reader<'d> {
    diagnostics: &'d mut Diagnostics,
    file: PreferencesFile,
    open: Option<OpenGroup>,
}

impl Reader<'_> {
    fn end_group(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        let OpenGroup { position, scopes, hosts, any_host, agents, methods, purposes } = open;
        let hosts = if any_host { None } else { hosts };
        let mut useless = |requirement, what| {
            let message = format!("the group has no {what}, so it is ignored");
            self.diagnostics.lost(position, requirement, message);
        };
        if scopes.is_empty() {
            useless("AUTO-9", "usable scope");
        } else if hosts.as_ref().is_some_and(Vec::is_empty) {
            useless("AUTO-12", "usable host");
        } else if agents.as_ref().is_some_and(Vec::is_empty) {
            useless("AUTO-13", "usable user-agent");
        } else {
            self.file.groups.push(Group { position, scopes, hosts, agents, methods, purposes });
        }
    }

    fn read(&mut self, line: &Line<'_>) {
        let directive = line.directive();
        let known = directive.and_then(|directive| {
            DIRECTIVES.into_iter().find(|known| directive.name.eq_ignore_ascii_case(known.as_bytes()))
        });
        let (Some(directive), Some(known)) = (directive, known) else {
            return self.unknown(line);
        };
        let position = line.start();
        if line.len() > LONGEST_LINE {
            let message = format!("the line is longer than {LONGEST_LINE} bytes; it is ignored");
            self.diagnostics.lost(position, "AUTO-18", message);
            return;
        }
        if self.open.is_none() && known != "scope" {
            let message = "the grammar begins a group with a scope; other readers may not find this one";
            self.diagnostics.lint_warning(position, "AUTO-20", message);
        }
        let diagnostics = &mut *self.diagnostics;
        let open = self.open.get_or_insert_with(|| OpenGroup {
            position,
            scopes: Vec::new(),
            hosts: None,
            any_host: false,
            agents: None,
            methods: None,
            purposes: None,
        });
        match known {
            "scope" => {
                let separates =
                    |after: &[u8]| after.first().is_some_and(|next| is_blank(*next) || *next == b'/');
                for (word, position) in values(line, directive.value, separates, diagnostics) {
                    add(&mut open.scopes, PathPattern::new(word), position, "AUTO-11", diagnostics);
                }
            }
            "host" => {
                let hosts = open.hosts.get_or_insert_default();
                for (word, position) in values(line, directive.value, |_| true, diagnostics) {
                    if word == b"*" {
                        open.any_host = true;
                    } else {
                        add(hosts, host(word), position, "AUTO-12", diagnostics);
                    }
                }
            }
            "user-agent" => {
                let agents = open.agents.get_or_insert_default();
                for (word, position) in values(line, directive.value, |_| true, diagnostics) {
                    add(agents, agent(word, position, diagnostics), position, "AUTO-13", diagnostics);
                }
            }
            "allowed-methods" => {
                let methods = open.methods.get_or_insert(Placed { value: MethodSet::default(), position });
                for (word, position) in values(line, directive.value, |_| true, diagnostics) {
                    add_method(&mut methods.value, word, position, diagnostics);
                }
            }
            _ => {
                let purposes = open.purposes.get_or_insert(Placed { value: Vec::new(), position });
                for (word, position) in values(line, directive.value, |_| true, diagnostics) {
                    match purpose(word) {
                        Ok(name) => purposes.value.push(name),
                        Err(message) => diagnostics.lost(position, "AUTO-8", message),
                    }
                }
            }
        }
    }

    fn unknown(&mut self, line: &Line<'_>) {
        if self.diagnostics.strictness() == Strictness::Load {
            return;
        }
        let Some(directive) = line.directive() else {
            let message = "not a `name: value` line; it is ignored";
            return self.diagnostics.lint_error(line.start(), "AUTO-3", message);
        };
        let position = line.position(directive.name);
        let name = shown(directive.name);
        match nearest(directive.name, &DIRECTIVES) {
            Some(meant) => {
                let message = format!("unknown name `{name}` is ignored; did you mean `{meant}`?");
                self.diagnostics.lint_error(position, "AUTO-4", message);
            }
            None if directive.name.starts_with(b"<!--") => {
                let message = "a comment begins with `#`; this line is ignored as an unknown name";
                self.diagnostics.lint_warning(position, "AUTO-2", message);
            }
            None => {
                self.diagnostics.lint_warning(
                    position,
                    "AUTO-4",
                    format!("unknown name `{name}` is ignored"),
                );
            }
        }
    }
}

/// The values of a list that are not empty.
fn values<'a>(
    line: &Line<'a>,
    list: &'a [u8],
    separates: impl Fn(&[u8]) -> bool,
    diagnostics: &mut Diagnostics,
) -> Vec<(&'a [u8], Position)> {
    let mut values = Vec::new();
    if !list.is_empty() {
        for (word, position) in line.words(list, separates) {
            if word.is_empty() {
                diagnostics.lint_error(
                    position,
                    "AUTO-3",
                    "there is nothing between two commas, or behind the last",
                );
            } else {
                values.push((word, position));
            }
        }
    }
    values
}

/// Adds a value to its list, unless it can't be used.
fn add<T, E: ToString>(
    list: &mut Vec<Placed<T>>,
    value: Result<T, E>,
    position: Position,
    requirement: &'static str,
    diagnostics: &mut Diagnostics,
) {
    match value {
        Ok(value) => list.push(Placed { value, position }),
        Err(error) => diagnostics.lost(position, requirement, error.to_string()),
    }
}

fn host(word: &[u8]) -> Result<HostPattern, String> {
    let text = core::str::from_utf8(word).map_err(|_| "the host is not UTF-8".to_string())?;
    HostPattern::new(text).map_err(|error| error.to_string())
}

fn agent(word: &[u8], position: Position, diagnostics: &mut Diagnostics) -> Result<Box<str>, String> {
    let token = product_token_in(word);
    if token.is_empty() {
        return Err(format!("`{}` begins with no product token", shown(word)));
    }
    if token.len() < word.len() {
        let message = format!("of `{}`, only the product token `{token}` counts", shown(word));
        diagnostics.lint_error(position, "AUTO-13", message);
    }
    Ok(token.to_ascii_lowercase().into())
}

fn add_method(methods: &mut MethodSet, word: &[u8], position: Position, diagnostics: &mut Diagnostics) {
    match Method::named(word) {
        Some(method) if methods.contains(method) => {
            diagnostics.lint_warning(position, "AUTO-6", format!("`{}` is listed twice", shown(word)));
        }
        Some(method) => methods.insert(method),
        None => {
            let message = format!("`{}` is no method that the grammar knows; it is ignored", shown(word));
            diagnostics.lost(position, "AUTO-7", message);
        }
    }
}

fn purpose(word: &[u8]) -> Result<Box<str>, String> {
    match core::str::from_utf8(word) {
        Ok(name) if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Ok(name.to_ascii_lowercase().into())
        }
        _ => Err(format!("`{}` is no purpose: a word of visible ASCII characters", shown(word))),
    }
}
