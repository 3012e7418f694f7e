//! The page's own style sheets: the rules that hide elements by their names, and the names that other rules show.

use std::collections::{HashMap, HashSet};

use super::declarations::{Style, after_comment};
use super::selector::{Name, Selector};

/// The rules that a sheet keeps, and those of them that one name leads to.
const MOST_RULES: usize = 8192;
const MOST_OF_A_NAME: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Rule {
    selector: Selector,
    style: Style,
}

/// Rules from all sheets of a page.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    rules: Vec<Rule>,
    /// The rules by one of their names.
    by_name: HashMap<Name, Vec<u32>>,
    /// The names of elements that a rule shows in some state, on some screen, or in some place.
    shown: HashSet<Name>,
    /// There are more rules than are kept.
    pub(crate) is_cut: bool,
}

impl Sheet {
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Reads a sheet, which counts always, or else on some screens only.
    pub(crate) fn read(&mut self, text: &str, is_always: bool) {
        let mut rest = text.as_bytes();
        // For each block of a rule with `@` that is open: true if what it holds counts always.
        let mut open = vec![is_always];
        while !rest.is_empty() {
            let (prelude, end, after) = until(rest, b"{};");
            rest = after;
            let prelude = String::from_utf8_lossy(prelude);
            let prelude = prelude.trim().trim_start_matches("<!--").trim_start_matches("-->").trim();
            let is_counting = open.last().copied().unwrap_or(is_always);
            match end {
                Some(b'{') if prelude.starts_with('@') => match counts(prelude) {
                    Some(counts) => open.push(counts && is_counting),
                    None => rest = after_block(rest),
                },
                Some(b'{') => {
                    let block = rest;
                    rest = after_block(rest);
                    let length = block.len() - rest.len();
                    let block = block.get(..length.saturating_sub(1)).unwrap_or_default();
                    self.rule(prelude, &String::from_utf8_lossy(block), is_counting);
                }
                Some(b'}') if open.len() > 1 => {
                    open.pop();
                }
                _ => {}
            }
        }
    }

    fn rule(&mut self, selectors: &str, block: &str, is_counting: bool) {
        let style = Style::of(block);
        if style.is_empty() {
            return;
        }
        for selector in selectors.split(',').map(Selector::of) {
            let has_several = selector.names().count() > 1;
            if style.may_show() && (selector.is_conditional || has_several || !is_counting) {
                if self.shown.len() < MOST_RULES {
                    self.shown.extend(selector.names());
                } else {
                    self.is_cut = true;
                }
            }
            if is_counting && !selector.is_conditional {
                self.add(selector, style);
            }
        }
    }

    fn add(&mut self, selector: Selector, style: Style) {
        // Names of elements come first, and lead to many more elements.
        let Some(name) = selector.names().last() else { return };
        let known = self.by_name.entry(name).or_default();
        for rule in known.iter() {
            if let Some(rule) = self.rules.get_mut(*rule as usize)
                && rule.selector == selector
            {
                rule.style.add(&style);
                return;
            }
        }
        if self.rules.len() >= MOST_RULES || known.len() >= MOST_OF_A_NAME {
            self.is_cut = true;
            return;
        }
        known.push(u32::try_from(self.rules.len()).unwrap_or(u32::MAX));
        self.rules.push(Rule { selector, style });
    }

    /// The declarations for an element with these names.
    pub(crate) fn style(&self, names: &[Name]) -> Style {
        let found = names.iter().filter_map(|name| self.by_name.get(name)).flatten();
        let rules = found.filter_map(|rule| self.rules.get(*rule as usize));
        let mut rules: Vec<&Rule> =
            rules.filter(|rule| rule.selector.names().all(|name| names.contains(&name))).collect();
        rules.sort_by_key(|rule| rule.selector.weight);
        let mut style = Style::default();
        for rule in rules {
            style.add(&rule.style);
        }
        style
    }

    /// Returns true if a rule may show an element with these names, although others hide it.
    pub(crate) fn may_show(&self, names: &[Name]) -> bool {
        names.iter().any(|name| self.shown.contains(name))
    }
}

/// True if the contents of a rule with `@` count always, false if on some screens only; none if it holds no rules about elements.
fn counts(prelude: &str) -> Option<bool> {
    let prelude = prelude.to_ascii_lowercase();
    let (name, condition) = prelude.split_once([' ', '(']).unwrap_or((&prelude, ""));
    match name {
        "@layer" => Some(true),
        "@media" => Some(matches!(condition.trim(), "all" | "screen" | "only screen")),
        "@supports" | "@container" | "@scope" | "@document" | "@-moz-document" | "@starting-style" => {
            Some(false)
        }
        _ => None,
    }
}

/// The text before one of some bytes that are in no comment and no string, that byte, and the text after it.
fn until<'t>(text: &'t [u8], ends: &[u8]) -> (&'t [u8], Option<u8>, &'t [u8]) {
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        match *byte {
            b'/' if after.first() == Some(&b'*') => rest = after_comment(after),
            b'\\' => rest = after.get(1..).unwrap_or_default(),
            quote @ (b'"' | b'\'') => rest = after_string(after, quote),
            end if ends.contains(&end) => {
                let before = text.get(..text.len() - rest.len()).unwrap_or_default();
                return (before, Some(end), after);
            }
            _ => rest = after,
        }
    }
    (text, None, &[])
}

/// The text after a string whose first quote is read. A line end ends it, too.
fn after_string(text: &[u8], quote: u8) -> &[u8] {
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match *byte {
            b'\\' => rest = after.get(1..).unwrap_or_default(),
            b'\n' => return rest,
            other if other == quote => return rest,
            _ => {}
        }
    }
    rest
}

/// The text after a block whose first brace is read.
fn after_block(text: &[u8]) -> &[u8] {
    let (mut rest, mut depth) = (text, 1_usize);
    while depth > 0 {
        let (_, end, after) = until(rest, b"{}");
        rest = after;
        match end {
            Some(b'{') => depth += 1,
            Some(_) => depth -= 1,
            None => break,
        }
    }
    rest
}
