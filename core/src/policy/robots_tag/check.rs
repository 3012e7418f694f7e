//! Reads field values and reports what is wrong with them: rules that nobody knows, repetitions, what can't be read.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::line::{LIMIT, Part, Syntax};
use super::read;
use super::{RobotsTag, Rule, known};
use crate::config::RobotsTagSyntax;
use crate::policy::lines::nearest;
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::position::Position;
use crate::source::quoted::QuotedBytes;

/// Reads the rules of a configuration for a site that writes them in this syntax; `place` gives the place of a part of them.
pub(crate) fn rules<'t, S: Strictness>(
    text: &'t str,
    syntax: RobotsTagSyntax,
    place: &mut dyn FnMut(&[u8]) -> Option<Position>,
    diagnostics: &mut Diagnostics<S>,
) -> RobotsTag<'t> {
    Checker::default().line(text.as_bytes(), place, diagnostics);
    let mut tag = RobotsTag::default();
    let whole = tag.add_line(text.as_bytes()).rest.is_none();
    let written = tag.write(syntax);
    let mut again = RobotsTag::default();
    again.add_line(&written);
    let message = if tag.is_empty() && whole {
        String::from("no rule; write, for example, \"noindex, nosnippet; ExampleBot=noindex\"")
    } else if !whole {
        format!("the rules have more than the {LIMIT} bytes that crawlers must read")
    } else if !again.is_same(&tag) {
        format!("these rules cannot be written in the syntax `{syntax}`")
    } else {
        return tag;
    };
    diagnostics.error(place(text.as_bytes()), "TAG-1", message);
    tag
}

/// Checks the lines of one response.
#[derive(Default)]
pub(crate) struct Checker {
    /// In lint, the tokens so far in lower case, and each rule with its token; and where they are.
    known: BTreeMap<(Vec<u8>, Vec<u8>), Option<Position>>,
}

impl Checker {
    /// Checks a line, and gives its syntax.
    pub(crate) fn line<S: Strictness>(
        &mut self,
        value: &[u8],
        place: &mut dyn FnMut(&[u8]) -> Option<Position>,
        diagnostics: &mut Diagnostics<S>,
    ) -> Syntax {
        let mut whom = Vec::from(b"*");
        let line = read::line(value, &mut |part| match part {
            Part::All => whom = Vec::from(b"*"),
            Part::Token { name, text } => {
                whom = name.to_ascii_lowercase();
                if !known::is_token(&name) {
                    let message = "is not a product token: those have letters, digits, `-` and `_`";
                    diagnostics.error(place(text), "TAG-1", format_args!("{} {message}", QuotedBytes(&name)));
                }
                if diagnostics.is_lint() {
                    self.note((whom.clone(), Vec::new()), "token", place(text), diagnostics);
                }
            }
            Part::Rule { rule, text } => {
                check_rule(&rule, text, place, diagnostics);
                if diagnostics.is_lint() {
                    let value = rule.value.as_deref().unwrap_or_default();
                    let rule = [&rule.name, &b"="[..], value].concat().to_ascii_lowercase();
                    self.note((whom.clone(), rule), "rule", place(text), diagnostics);
                }
            }
        });
        if line.rest.is_some() {
            diagnostics.lint_warning(
                place(value),
                "TAG-5",
                format_args!(
                    "the value has more than {LIMIT} bytes; crawlers need not read the rest, and it is only relayed"
                ),
            );
        }
        line.syntax
    }

    fn note<S: Strictness>(
        &mut self,
        found: (Vec<u8>, Vec<u8>),
        what: &str,
        position: Option<Position>,
        diagnostics: &mut Diagnostics<S>,
    ) {
        match self.known.get(&found) {
            Some(Some(Position { line, column })) => diagnostics.lint_warning(
                position,
                "TAG-3",
                format_args!("duplicate {what}, first at {line}:{column}; merging them"),
            ),
            _ => _ = self.known.insert(found, position),
        }
    }
}

fn check_rule<S: Strictness>(
    rule: &Rule<'_>,
    text: &[u8],
    place: &mut dyn FnMut(&[u8]) -> Option<Position>,
    diagnostics: &mut Diagnostics<S>,
) {
    let Rule { name, value } = rule;
    let shown = QuotedBytes(name);
    let is_known =
        known::VALUED.iter().chain(&known::PLAIN).any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    if !read::is_rule_name(name) {
        let message =
            format_args!("{shown} is neither a rule nor a token with rules, such as `ExampleBot=noindex`");
        diagnostics.error(place(text), "TAG-1", message);
    } else if known::is_plain(name) && value.is_some() {
        diagnostics.lint_warning(place(text), "TAG-4", format_args!("the rule {shown} has no value"));
    } else if known::is_valued(name) && value.as_ref().is_none_or(|value| value.is_empty()) {
        diagnostics.lint_warning(place(text), "TAG-4", format_args!("the rule {shown} needs a value"));
    } else if !is_known && read::looks_like_head(text) {
        let message = format_args!(
            "{} is read as a rule, not as a token with rules: write `;` before a token, not `,`",
            QuotedBytes(text)
        );
        diagnostics.lost(place(text), "TAG-1", message);
    } else if !is_known {
        let names: Vec<&str> = known::PLAIN.iter().chain(&known::VALUED).copied().collect();
        match nearest(name, &names) {
            Some(near) => {
                let message = format_args!("unknown rule {shown} (did you mean `{near}`?); relaying it");
                diagnostics.warning(place(text), "TAG-4", message);
            }
            None => diagnostics.lint_warning(
                place(text),
                "TAG-4",
                format_args!("unknown rule {shown}; relaying it, but crawlers may ignore it"),
            ),
        }
    }
}
