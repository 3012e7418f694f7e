//! The page's own style sheets: the rules that hide elements by their names, and the names that other rules show.

use std::collections::{HashMap, HashSet};

use memchr::{memchr3, memmem};

use super::declarations::{Style, after_comment};
use super::look::Changes;
use super::selector::{Name, Selector};

/// The rules that a sheet keeps, and those of them that one name leads to.
const MOST_RULES: usize = 8192;
const MOST_OF_A_NAME: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Rule {
    selector: Selector,
    style: Style,
}

/// Names, and perhaps some more. Names that are not among them surely are others.
#[derive(Debug)]
pub(crate) struct KnownNames([u64; 256]);

impl Default for KnownNames {
    fn default() -> Self {
        Self([0; 256])
    }
}

impl KnownNames {
    pub(crate) fn add(&mut self, name: Name) {
        let (place, bit) = name.place();
        if let Some(word) = self.0.get_mut(place) {
            *word |= bit;
        }
    }

    fn may_have(&self, name: Name) -> bool {
        let (place, bit) = name.place();
        self.0.get(place).is_some_and(|word| word & bit != 0)
    }
}

/// Rules from all sheets of a page.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    rules: Vec<Rule>,
    /// The rules by one of their names.
    by_name: HashMap<Name, Vec<u32>>,
    /// These names, to be compared at once.
    names: KnownNames,
    /// The names of elements that a rule shows in some state, on some screen, or in some place.
    shown: HashSet<Name>,
    /// The properties that some rule changes for some elements with a name.
    changes: HashMap<Name, Changes>,
    /// These names, to be compared at once.
    changing: KnownNames,
    /// There are more rules than are kept.
    pub(crate) is_cut: bool,
}

impl Sheet {
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.changes.is_empty()
    }

    /// Reads a sheet, which counts always, or else on some screens only, for a page with these names.
    pub(crate) fn read(&mut self, text: &str, is_always: bool, known: &KnownNames) {
        let mut rest = Rest::of(text);
        // For each block of a rule with `@` that is open: true if what it holds counts always.
        let mut open = vec![is_always];
        while !rest.text.is_empty() {
            let (prelude, end) = rest.until([b'{', b'}', b';']);
            let prelude = without_marks(prelude.trim_ascii());
            let is_counting = open.last().copied().unwrap_or(is_always);
            match end {
                Some(b'{') if prelude.starts_with('@') => match counts(prelude) {
                    Some(counts) => open.push(counts && is_counting),
                    None => {
                        rest.block();
                    }
                },
                Some(b'{') => {
                    let block = rest.block();
                    self.rule(prelude, block, is_counting, known);
                }
                Some(b'}') if open.len() > 1 => {
                    open.pop();
                }
                _ => {}
            }
        }
    }

    fn rule(&mut self, selectors: &str, block: &str, is_counting: bool, known: &KnownNames) {
        let mut selectors = selectors
            .as_bytes()
            .split(|byte| *byte == b',')
            .filter_map(|selector| Selector::of(selector, |name| known.may_have(name)))
            .peekable();
        if selectors.peek().is_none() {
            return;
        }
        // Another rule may well give another layout.
        let Style { usual, important } = Style::of(block);
        let style = Style { usual: usual.without_layout(), important: important.without_layout() };
        if style.is_empty() {
            return;
        }
        for selector in selectors {
            if !is_counting || selector.is_conditional {
                self.take_changes(&selector, &style);
            }
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

    /// Takes a rule that counts for some of the elements with a name, or at times.
    fn take_changes(&mut self, selector: &Selector, style: &Style) {
        let Some(name) = selector.names().last() else { return };
        let changes = style.usual.changes().with(style.important.changes());
        if changes == Changes::default() {
            return;
        }
        self.changing.add(name);
        if self.changes.len() < MOST_RULES {
            let known = self.changes.entry(name).or_default();
            *known = known.with(changes);
        } else {
            self.is_cut = true;
        }
    }

    /// The properties that rules may change for an element with these names.
    pub(crate) fn changes(&self, names: &[Name]) -> Changes {
        let names = names.iter().filter(|name| self.changing.may_have(**name));
        let found = names.filter_map(|name| self.changes.get(name));
        found.fold(Changes::default(), |all, one| all.with(*one))
    }

    fn add(&mut self, selector: Selector, style: Style) {
        // Names of elements come first, and lead to many more elements.
        let Some(name) = selector.names().last() else { return };
        self.names.add(name);
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
        let names_of_rules = names.iter().filter(|name| self.names.may_have(**name));
        let found = names_of_rules.filter_map(|name| self.by_name.get(name)).flatten();
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

/// The same without the marks of comments in HTML around a sheet.
fn without_marks(prelude: &str) -> &str {
    // The tokenizer keeps the first two signs of a sheet.
    match ["<!--", "-->", "--"].iter().find_map(|mark| prelude.strip_prefix(mark)) {
        Some(rest) => without_marks(rest.trim_start()),
        None => prelude,
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

/// The part of a sheet that is not read.
#[derive(Debug)]
struct Rest<'t> {
    text: &'t str,
    /// The bytes that are left where the next string or escape begins, and where the next comment does, if they are known.
    quoted: usize,
    comment: usize,
}

impl<'t> Rest<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, quoted: usize::MAX, comment: usize::MAX }
    }

    /// Reads the text before one of some bytes that are in no comment and no string, and that byte.
    fn until(&mut self, ends: [u8; 3]) -> (&'t str, Option<u8>) {
        let [first, second, third] = ends;
        let text = self.text;
        let mut rest = text.as_bytes();
        // The next end counts, unless something before it can hide it.
        let mut next = memchr3(first, second, third, rest);
        while let Some(end) = next {
            match self.after_hiding(rest, end) {
                Some(after) => {
                    let passed = rest.len() - after.len();
                    next = end.checked_sub(passed).or_else(|| memchr3(first, second, third, after));
                    rest = after;
                }
                None => {
                    let at = text.len() - rest.len() + end;
                    self.text = text.get(at + 1..).unwrap_or_default();
                    return (text.get(..at).unwrap_or_default(), rest.get(end).copied());
                }
            }
        }
        self.text = "";
        (text, None)
    }

    /// The text after the first comment, string or escape that begins before an end; `None` if none does.
    fn after_hiding<'r>(&mut self, rest: &'r [u8], end: usize) -> Option<&'r [u8]> {
        let left = |at: Option<usize>| at.map_or(0, |at| rest.len() - at);
        if self.quoted > rest.len() {
            self.quoted = left(memchr3(b'"', b'\'', b'\\', rest));
        }
        if self.comment > rest.len() {
            self.comment = left(memmem::find(rest, b"/*"));
        }
        let at = rest.len() - self.quoted.max(self.comment);
        let (begin, after) = rest.get(at..).filter(|_| at < end)?.split_first()?;
        Some(match begin {
            b'/' => after_comment(after),
            b'\\' => after.get(1..).unwrap_or_default(),
            quote => after_string(after, *quote),
        })
    }

    /// Reads what is in a block whose first brace is read, and its end.
    fn block(&mut self) -> &'t str {
        let (text, mut depth) = (self.text, 1_usize);
        while depth > 0 {
            match self.until([b'{', b'}', b'}']).1 {
                Some(b'{') => depth += 1,
                Some(_) => depth -= 1,
                // The end of the sheet ends all blocks.
                None => return text,
            }
        }
        text.get(..(text.len() - self.text.len()).saturating_sub(1)).unwrap_or_default()
    }
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
