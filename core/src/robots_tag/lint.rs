//! What the author of a field value should know: rules that nobody knows, repetitions, what can't be read.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::read::{self, LIMIT, Part, Syntax};
use super::{RobotsTag, Rule, known};
use crate::config::RobotsTagSyntax;
use crate::diagnostic::{Diagnostics, Position};
use crate::policy_lines::{Lines, nearest, shown};

/// Checks a file of field values: one a line, with or without the name of the field before it, all of one response.
pub fn file(text: &[u8], diagnostics: &mut Diagnostics) {
    let mut said = Said::default();
    for line in Lines::new(text).filter(|line| !line.is_empty()) {
        let (name, value) = match line.directive() {
            Some(field) if field.name.eq_ignore_ascii_case(b"robots-tag") => (Name::RobotsTag, field.value),
            Some(field) if field.name.eq_ignore_ascii_case(b"x-robots-tag") => {
                (Name::XRobotsTag, field.value)
            }
            _ => (Name::None, line.content()),
        };
        let mut place = |part: &[u8]| Some(line.position(part));
        let syntax = said.check(value, &mut place, diagnostics);
        let advice = match (name, syntax) {
            (Name::RobotsTag, Syntax::Deployed | Syntax::Mixed) => {
                "in `Robots-Tag` a token stands before `=`, and `;` before the next one: `noindex; ExampleBot=nosnippet`"
            }
            (Name::XRobotsTag, Syntax::Draft00 | Syntax::Mixed | Syntax::Structured) => {
                "the crawlers of today read `X-Robots-Tag` as `noindex, nosnippet` or, for one token, `ExampleBot: noindex`"
            }
            _ => continue,
        };
        diagnostics.lint_warning(place(value), "TAG-2", advice);
    }
}

enum Name {
    None,
    RobotsTag,
    XRobotsTag,
}

/// Reads the rules of a configuration for a site that writes them in this syntax; `place` tells where a part of them is.
pub(crate) fn rules<'t>(
    text: &'t str,
    syntax: RobotsTagSyntax,
    place: &mut dyn FnMut(&[u8]) -> Option<Position>,
    diagnostics: &mut Diagnostics,
) -> RobotsTag<'t> {
    Said::default().check(text.as_bytes(), place, diagnostics);
    let mut tag = RobotsTag::default();
    let whole = tag.add_line(text.as_bytes()).rest.is_none();
    let written = tag.write(syntax);
    let mut again = RobotsTag::default();
    again.add_line(&written);
    let message = if tag.is_empty() && whole {
        String::from("there is no rule: write, for example, `noindex, nosnippet; ExampleBot=noindex`")
    } else if !whole {
        format!("longer than the {LIMIT} bytes that crawlers have to read")
    } else if !again.is_same(&tag) {
        format!("there is no way to write this in the syntax `{syntax}`")
    } else {
        return tag;
    };
    diagnostics.error(place(text.as_bytes()), "TAG-1", message);
    tag
}

/// What was said so far, in lower case: tokens, and with a rule what is said of them.
#[derive(Default)]
struct Said(BTreeMap<(Vec<u8>, Vec<u8>), Option<Position>>);

impl Said {
    fn check(
        &mut self,
        value: &[u8],
        place: &mut dyn FnMut(&[u8]) -> Option<Position>,
        diagnostics: &mut Diagnostics,
    ) -> Syntax {
        let mut whom = Vec::from(b"*");
        let line = read::line(value, &mut |part| match part {
            Part::All => whom = Vec::from(b"*"),
            Part::Token { name, text } => {
                whom = name.to_ascii_lowercase();
                if !known::is_token(&name) {
                    let message = format!(
                        "`{}` is no product token: those have letters, digits, `-` and `_`",
                        shown(&name)
                    );
                    diagnostics.error(place(text), "TAG-1", message);
                }
                self.note((whom.clone(), Vec::new()), "the token", place(text), diagnostics);
            }
            Part::Rule { rule, text } => {
                check_rule(&rule, text, place, diagnostics);
                let value = rule.value.as_deref().unwrap_or_default();
                let rule = [&rule.name, &b"="[..], value].concat().to_ascii_lowercase();
                self.note((whom.clone(), rule), "the rule", place(text), diagnostics);
            }
        });
        if line.rest.is_some() {
            let message =
                format!("longer than {LIMIT} bytes: crawlers need not read the rest, and it is only relayed");
            diagnostics.lint_warning(place(value), "TAG-5", message);
        }
        line.syntax
    }

    fn note(
        &mut self,
        said: (Vec<u8>, Vec<u8>),
        what: &str,
        position: Option<Position>,
        diagnostics: &mut Diagnostics,
    ) {
        match self.0.get(&said) {
            Some(Some(Position { line, column })) => {
                let message = format!("duplicate: {what} is at {line}:{column} already; they are merged");
                diagnostics.lint_warning(position, "TAG-3", message);
            }
            _ => _ = self.0.insert(said, position),
        }
    }
}

fn check_rule(
    rule: &Rule<'_>,
    text: &[u8],
    place: &mut dyn FnMut(&[u8]) -> Option<Position>,
    diagnostics: &mut Diagnostics,
) {
    let Rule { name, value } = rule;
    let shown = shown(name);
    let is_known =
        known::VALUED.iter().chain(&known::PLAIN).any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    if !read::is_rule_name(name) {
        let message = format!("`{shown}` is neither a rule nor a token with rules (`ExampleBot=noindex`)");
        diagnostics.error(place(text), "TAG-1", message);
    } else if known::is_plain(name) && value.is_some() {
        diagnostics.lint_warning(place(text), "TAG-4", format!("the rule `{shown}` has no value"));
    } else if known::is_valued(name) && value.as_ref().is_none_or(|value| value.is_empty()) {
        diagnostics.lint_warning(place(text), "TAG-4", format!("the value is missing: `{shown}:…`"));
    } else if !is_known {
        let names: Vec<&str> = known::PLAIN.iter().chain(&known::VALUED).copied().collect();
        match nearest(name, &names) {
            Some(near) => {
                let message = format!("unknown rule `{shown}`, which is relayed: did you mean `{near}`?");
                diagnostics.warning(place(text), "TAG-4", message);
            }
            None => {
                let message = format!(
                    "unknown rule `{shown}`: it is relayed, and crawlers that don't know it ignore it"
                );
                diagnostics.lint_warning(place(text), "TAG-4", message);
            }
        }
    }
}
