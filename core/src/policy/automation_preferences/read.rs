//! Reads the lines of an `automation-preferences.txt`.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Group, InFile, LONGEST_LINE, MOST_COMBINATIONS, Method, MethodSet, PreferencesFile};
use crate::http::host::HostPattern;
use crate::path::rules::PathRule;
use crate::policy::lines::{self, Line, Lines, is_blank};
use crate::policy::robots::product_token_in;
use crate::source::byte_order_mark::without_byte_order_mark;
use crate::source::diagnostic::{Diagnostics, Load, Strictness};
use crate::source::position::{Locator, Placed, Position};
use crate::source::quoted::QuotedBytes;
use crate::source::text::{self, Expected};

const DIRECTIVES: [&str; 5] = ["scope", "host", "user-agent", "allowed-methods", "allowed-purposes"];

/// Returns true if a line is one of an automation-preferences.txt. `host` also stands in other files.
pub(crate) fn is_known(line: &Line<'_>) -> bool {
    let is = |name: &[u8], known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    let known = |name: &[u8]| DIRECTIVES.into_iter().any(|known| known != "host" && is(name, known));
    line.directive().is_some_and(|directive| known(directive.name))
}

/// Reads a file of at most `limit` bytes. `None` after an error.
pub(super) fn file<S: Strictness>(
    text: &[u8],
    limit: usize,
    diagnostics: &mut Diagnostics<S>,
) -> Option<PreferencesFile> {
    if text.len() > limit {
        let message = format!("the file has {} bytes; the limit is {limit}", text.len());
        diagnostics.error(None, "AUTO-18", message);
        return None;
    }
    let expected = Expected { what: "an automation-preferences.txt", requirement: Some("AUTO-1") };
    if !text::is_text(text, expected, diagnostics) {
        return None;
    }
    let text = without_byte_order_mark(text);
    let is_control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\r' | b'\n' | b'\t');
    if let Some(offset) = text.iter().position(is_control) {
        let position = Locator::new(text).position(offset);
        diagnostics.error(position, "AUTO-5", "control character; the whole file is refused");
        return None;
    }
    if text::is_page(text) {
        if groups(text, &mut Diagnostics::new("", Load)).groups.is_empty() {
            text::report_page(expected, diagnostics);
            return None;
        }
        diagnostics.warning(None, "AUTO-1", "the file starts as a web page (HTML); its groups apply");
    }
    let file = groups(text, diagnostics);
    let combinations = file.combinations();
    if combinations > MOST_COMBINATIONS {
        let message = format!(
            "the groups have {combinations} combinations of host, agent and scope; the limit is {MOST_COMBINATIONS}"
        );
        diagnostics.error(None, "AUTO-18", message);
        return None;
    }
    Some(file)
}

fn groups<S: Strictness>(text: &[u8], diagnostics: &mut Diagnostics<S>) -> PreferencesFile {
    let mut reader = Reader { diagnostics, file: PreferencesFile::default(), open: None };
    for line in Lines::new(text) {
        if line.is_blank() {
            reader.end_group();
        } else if !line.is_empty() {
            reader.line(&line);
        }
    }
    if let Some(open) = &reader.open {
        let message = "missing blank line after the last group; the grammar requires it";
        reader.diagnostics.lint_warning(open.position, "AUTO-20", message);
    }
    reader.end_group();
    reader.file
}

/// A group while its lines are read. A list is `Some` once its directive was seen, whatever became of its values.
#[derive(Debug)]
struct OpenGroup {
    position: Position,
    scopes: Vec<InFile<PathRule>>,
    hosts: Option<Vec<InFile<HostPattern>>>,
    /// `host: *` was among the hosts.
    any_host: bool,
    agents: Option<Vec<InFile<Box<str>>>>,
    methods: Option<InFile<MethodSet>>,
    purposes: Option<InFile<Vec<Box<str>>>>,
}

impl OpenGroup {
    fn new(position: Position) -> Self {
        Self {
            position,
            scopes: Vec::new(),
            hosts: None,
            any_host: false,
            agents: None,
            methods: None,
            purposes: None,
        }
    }
}

struct Reader<'d, S> {
    diagnostics: &'d mut Diagnostics<S>,
    file: PreferencesFile,
    open: Option<OpenGroup>,
}

impl<S: Strictness> Reader<'_, S> {
    fn end_group(&mut self) {
        let Some(open) = self.open.take() else { return };
        let OpenGroup { position, scopes, hosts, any_host, agents, methods, purposes } = open;
        let any_host = any_host || hosts.is_none();
        // Names that were dropped are not replaced by all.
        let hosts = hosts.unwrap_or_default();
        let mut ignored = |requirement, what| {
            let message = format!("the group has no valid {what}; it applies to no request");
            self.diagnostics.lost(position, requirement, message);
        };
        if scopes.is_empty() {
            ignored("AUTO-9", "`scope`");
        } else if hosts.is_empty() && !any_host {
            ignored("AUTO-12", "`host`");
        } else if agents.as_ref().is_some_and(Vec::is_empty) {
            ignored("AUTO-13", "`user-agent`");
        } else {
            self.file.groups.push(Group { position, scopes, hosts, any_host, agents, methods, purposes });
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        let directive = line.directive();
        let known = directive.and_then(|directive| {
            DIRECTIVES.into_iter().find(|known| directive.name.eq_ignore_ascii_case(known.as_bytes()))
        });
        let (Some(directive), Some(known)) = (directive, known) else {
            return self.unknown(line);
        };
        let position = line.start();
        if self.open.is_none() && known != "scope" {
            let message =
                "the group does not start with `scope`, as the grammar requires; other readers may ignore it";
            self.diagnostics.lint_warning(position, "AUTO-20", message);
        }
        let mut value = directive.value;
        if line.len() > LONGEST_LINE {
            let message = format!(
                "the line has {} bytes; the limit is {LONGEST_LINE}; ignoring its values",
                line.len()
            );
            self.diagnostics.lost(position, "AUTO-18", message);
            // The directive counts: without it, the group could apply to more requests, or allow more (AUTO-22).
            value = b"";
        }
        let open = self.open.get_or_insert_with(|| OpenGroup::new(position));
        let diagnostics = &mut *self.diagnostics;
        match known {
            "scope" => {
                let separates =
                    |after: &[u8]| after.first().is_some_and(|next| is_blank(*next) || *next == b'/');
                for (word, position) in values(line, value, separates, diagnostics) {
                    lines::lint_path(word, position, "AUTO-11", diagnostics);
                    let scope = PathRule::new(word).map_err(|error| invalid(word, error));
                    add(&mut open.scopes, scope, position, "AUTO-11", diagnostics);
                }
            }
            "host" => {
                let hosts = open.hosts.get_or_insert_default();
                for (word, position) in values(line, value, |_| true, diagnostics) {
                    if word == b"*" {
                        open.any_host = true;
                    } else {
                        let host = host(word, position, diagnostics);
                        add(hosts, host, position, "AUTO-12", diagnostics);
                    }
                }
            }
            "user-agent" => {
                let agents = open.agents.get_or_insert_default();
                for (word, position) in values(line, value, |_| true, diagnostics) {
                    let agent = agent(word, position, diagnostics);
                    add(agents, agent, position, "AUTO-13", diagnostics);
                }
            }
            "allowed-methods" => {
                let methods = open.methods.get_or_insert(Placed { value: MethodSet::default(), position });
                for (word, position) in values(line, value, |_| true, diagnostics) {
                    add_method(&mut methods.value, word, position, diagnostics);
                }
            }
            _ => {
                let purposes = open.purposes.get_or_insert(Placed { value: Vec::new(), position });
                for (word, position) in values(line, value, |_| true, diagnostics) {
                    match purpose(word) {
                        Ok(name) => purposes.value.push(name),
                        Err(message) => diagnostics.lost(position, "AUTO-8", message),
                    }
                }
            }
        }
    }

    fn unknown(&mut self, line: &Line<'_>) {
        if !self.diagnostics.is_lint() {
            return;
        }
        let Some(directive) = line.directive() else {
            let message = "not a `name: value` line; ignoring it";
            return self.diagnostics.lint_error(line.start(), "AUTO-3", message);
        };
        let position = line.position(directive.name);
        let name = QuotedBytes(directive.name);
        match lines::nearest(directive.name, &DIRECTIVES) {
            Some(meant) => self.diagnostics.lint_error(
                position,
                "AUTO-4",
                format_args!("unknown name {name} (did you mean `{meant}`?); ignoring the line"),
            ),
            None if directive.name.starts_with(b"<!--") => {
                let message = "a comment starts with `#`; ignoring the line as an unknown name";
                self.diagnostics.lint_warning(position, "AUTO-2", message);
            }
            None => self.diagnostics.lint_warning(
                position,
                "AUTO-4",
                format_args!("unknown name {name}; ignoring the line"),
            ),
        }
    }
}

/// The values of a list that are not empty.
fn values<'a, S: Strictness>(
    line: &Line<'a>,
    list: &'a [u8],
    separates: impl Fn(&[u8]) -> bool,
    diagnostics: &mut Diagnostics<S>,
) -> Vec<(&'a [u8], Position)> {
    let mut values = Vec::new();
    if !list.is_empty() {
        for (word, position) in line.words(list, separates) {
            if word.is_empty() {
                diagnostics.lint_error(position, "AUTO-3", "empty value in the list");
            } else {
                values.push((word, position));
            }
        }
    }
    values
}

/// Adds a value to its list, unless it is invalid.
fn add<T, S: Strictness>(
    list: &mut Vec<InFile<T>>,
    value: Result<T, String>,
    position: Position,
    requirement: &'static str,
    diagnostics: &mut Diagnostics<S>,
) {
    match value {
        Ok(value) => list.push(Placed { value, position }),
        Err(message) => diagnostics.lost(position, requirement, message),
    }
}

fn invalid(word: &[u8], why: impl core::fmt::Display) -> String {
    format!("{}: {why}", QuotedBytes(word))
}

fn host<S: Strictness>(
    word: &[u8],
    position: Position,
    diagnostics: &mut Diagnostics<S>,
) -> Result<HostPattern, String> {
    let text = core::str::from_utf8(word).map_err(|_| invalid(word, "not valid UTF-8"))?;
    let (host, has_port) = HostPattern::with_any_port(text).map_err(|error| invalid(word, error))?;
    if has_port {
        diagnostics.lint_warning(
            position,
            "AUTO-12",
            format_args!("the port in {} has no effect: a host covers all ports", QuotedBytes(word)),
        );
    }
    Ok(host)
}

fn agent<S: Strictness>(
    word: &[u8],
    position: Position,
    diagnostics: &mut Diagnostics<S>,
) -> Result<Box<str>, String> {
    let token = product_token_in(word);
    if token.is_empty() {
        return Err(format!("no product token in {}", QuotedBytes(word)));
    }
    if token.len() < word.len() {
        diagnostics.lint_error(
            position,
            "AUTO-13",
            format_args!("{} is not a product token; reading it as `{token}`", QuotedBytes(word)),
        );
    }
    Ok(token.to_ascii_lowercase().into())
}

fn add_method<S: Strictness>(
    methods: &mut MethodSet,
    word: &[u8],
    position: Position,
    diagnostics: &mut Diagnostics<S>,
) {
    let name = QuotedBytes(word);
    match Method::named(word) {
        Some(method) if methods.contains(method) => {
            diagnostics.lint_warning(position, "AUTO-6", format_args!("duplicate method {name}"));
        }
        Some(method) => methods.insert(method),
        None => {
            diagnostics.lost(position, "AUTO-7", format_args!("unknown method {name}; ignoring it"));
        }
    }
}

fn purpose(word: &[u8]) -> Result<Box<str>, String> {
    match core::str::from_utf8(word) {
        Ok(name) if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Ok(name.to_ascii_lowercase().into())
        }
        _ => Err(format!(
            "invalid purpose {}: a purpose is a word of visible ASCII characters",
            QuotedBytes(word)
        )),
    }
}
