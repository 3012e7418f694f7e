//! The page's own style sheets: the rules that hide elements by their names, and the names that other rules show.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::changes::Changes;
use super::declarations::Style;
use super::rest::{Block, Rest, without_marks};
use super::selector::{Name, Selector, Selectors, joined};
use crate::hash::seeded;
use crate::memo::Memo;

/// The rules that a sheet keeps, and those of them that one name leads to.
const MOST_RULES: usize = 8192;
const MOST_OF_A_NAME: usize = 64;
/// The rules that are compared with one element.
const MOST_OF_AN_ELEMENT: usize = 256;
/// The rules in one another that are read, and the bytes of their selectors.
const MOST_NESTED: usize = 8;
const LONGEST_NESTED: usize = 256 << 10;

/// The place of rules among those of other layers: rules outside of all layers count more, and later layers before earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Layer(u8);

impl Layer {
    const NONE: Self = Self(u8::MAX);
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    layer: Layer,
    selector: Selector,
    style: Style,
}

/// The block that a rule stands in.
#[derive(Clone, Copy, Debug)]
struct Scope {
    /// Its rules count always, not on some screens only.
    is_always: bool,
    layer: Layer,
    /// The rules about elements that it is in.
    depth: usize,
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

/// The page whose sheets are read.
#[derive(Debug)]
struct Page<'p, 'k> {
    /// The names that it has.
    known: &'k KnownNames,
    /// The last blocks of declarations: many rules have the same.
    blocks: Memo<'p, Style>,
    /// The bytes of selectors of rules in others that may still be read.
    nested_left: usize,
}

/// Rules from all sheets of a page.
#[derive(Debug)]
pub(crate) struct Sheet {
    rules: Vec<Rule>,
    /// The rules by one of their names.
    by_name: HashMap<Name, Vec<u32>, FixedState>,
    /// These names, to be compared at once.
    names: KnownNames,
    /// The properties that some rule changes for some elements with a name, in some state, on some screen, or in some place.
    changes: HashMap<Name, Changes, FixedState>,
    /// These names, to be compared at once.
    changing: KnownNames,
    /// The colors that some rule may change for any element.
    anywhere: Changes,
    /// The names of the layers, in their order.
    layers: Vec<Name>,
    /// There are more rules than are kept.
    pub(crate) is_cut: bool,
}

impl Default for Sheet {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            by_name: HashMap::with_hasher(seeded()),
            names: KnownNames::default(),
            changes: HashMap::with_hasher(seeded()),
            changing: KnownNames::default(),
            anywhere: Changes::default(),
            layers: Vec::new(),
            is_cut: false,
        }
    }
}

impl Sheet {
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.changes.is_empty() && self.anywhere == Changes::default()
    }

    /// Returns false if no rule has this name.
    pub(crate) fn may_have(&self, name: Name) -> bool {
        self.names.may_have(name) || self.changing.may_have(name)
    }

    /// Reads the sheets of a page with these names. Each counts always, or else on some screens only.
    pub(crate) fn of<'p>(texts: impl Iterator<Item = (&'p str, bool)>, known: &KnownNames) -> Self {
        let mut sheet = Self::default();
        let mut page = Page { known, blocks: Memo::new(), nested_left: LONGEST_NESTED };
        for (text, is_always) in texts {
            sheet.read(text, is_always, &mut page);
        }
        sheet
    }

    fn read<'p>(&mut self, text: &'p str, is_always: bool, page: &mut Page<'p, '_>) {
        let mut rest = Rest::of(text.as_bytes());
        let outermost = Scope { is_always, layer: Layer::NONE, depth: 0 };
        let mut open = vec![outermost];
        // A semicolon or a brace that nothing needs is the beginning of the next rule, which no browser knows.
        let mut is_broken = false;
        while let Some((prelude, end)) = rest.prelude() {
            let prelude = without_marks(prelude.trim_ascii());
            let scope = open.last().copied().unwrap_or(outermost);
            match end {
                Some(b'{') if is_broken => {
                    rest.block();
                    is_broken = false;
                }
                Some(b'{') if prelude.starts_with(b"@") => match self.inside(prelude, scope) {
                    Some(scope) => open.push(scope),
                    None => {
                        rest.block();
                    }
                },
                Some(b'{') => {
                    let block = rest.block();
                    self.rule(prelude, block, scope, page);
                }
                Some(b'}') if open.len() > 1 => {
                    open.pop();
                    is_broken = false;
                }
                Some(b';') if prelude.starts_with(b"@") && !is_broken => {
                    if prelude.contains(&b'(') && !prelude.contains(&b')') {
                        rest.statement();
                    }
                    self.layers(prelude, scope.layer);
                }
                _ => is_broken = true,
            }
        }
    }

    /// Takes the order of layers from a statement.
    fn layers(&mut self, statement: &[u8], around: Layer) {
        let statement = std::str::from_utf8(statement).unwrap_or_default();
        let names = statement.split_once(|c: char| c.is_ascii_whitespace());
        let names = names.filter(|(name, _)| name.eq_ignore_ascii_case("@layer"));
        for name in names.into_iter().flat_map(|(_, names)| names.split(',')) {
            self.layer(name, around);
        }
    }

    /// The scope of what is in a rule with `@`; none if it holds no rules about elements.
    fn inside(&mut self, prelude: &[u8], around: Scope) -> Option<Scope> {
        let prelude = prelude.to_ascii_lowercase();
        let prelude = std::str::from_utf8(&prelude).unwrap_or_default();
        let is_end = |c: char| c.is_ascii_whitespace() || c == '(';
        let (name, condition) = prelude.split_once(is_end).unwrap_or((prelude, ""));
        let counts = match name {
            "@layer" => return Some(Scope { layer: self.layer(condition, around.layer), ..around }),
            // Rules for print are read, too: they show the parts that people open on a screen.
            "@media" => condition
                .split(',')
                .any(|media| matches!(media.trim(), "" | "all" | "screen" | "only screen")),
            // Browsers differ in what has a name of their own.
            "@supports" => {
                !["not ", "(-"].iter().any(|other| condition.contains(other)) && !condition.starts_with('-')
            }
            "@container" | "@scope" | "@document" | "@-moz-document" | "@starting-style" => false,
            _ => return None,
        };
        Some(Scope { is_always: counts && around.is_always, ..around })
    }

    /// The layer with a name, or without one, in another one.
    fn layer(&mut self, name: &str, around: Layer) -> Layer {
        const MOST: usize = 64;
        if around != Layer::NONE {
            return around;
        }
        let name = name.trim().split('.').next().unwrap_or_default();
        let name = Name::class(&name.to_ascii_lowercase());
        let known = self.layers.iter().position(|other| *other == name && name != Name::class(""));
        let place = known.unwrap_or_else(|| {
            if self.layers.len() < MOST {
                self.layers.push(name);
            }
            self.layers.len() - 1
        });
        Layer(u8::try_from(place).unwrap_or_default())
    }

    /// Reads a rule about elements, and the rules in it.
    fn rule<'p>(&mut self, selectors: &[u8], block: Block<'p>, scope: Scope, page: &mut Page<'p, '_>) {
        self.declarations(selectors, block.text, scope, page);
        if !block.has_others {
            return;
        }
        let inside = Scope { depth: scope.depth + 1, ..scope };
        let mut rest = Rest::of(block.text);
        while let Some((prelude, end)) = rest.prelude() {
            let prelude = prelude.trim_ascii();
            if end != Some(b'{') {
                continue;
            }
            let block = rest.block();
            let is_at_rule = prelude.starts_with(b"@");
            let both = match is_at_rule {
                true => Some(Cow::Borrowed(selectors)),
                false => joined(selectors, prelude, page.nested_left).map(Cow::Owned),
            };
            let left = both.as_ref().and_then(|both| page.nested_left.checked_sub(both.len() + 1));
            let Some((both, left)) = both.zip(left).filter(|_| inside.depth <= MOST_NESTED) else {
                page.nested_left = 0;
                self.is_cut = true;
                return;
            };
            page.nested_left = left;
            let scope = match is_at_rule {
                true => self.inside(prelude, inside),
                false => Some(inside),
            };
            if let Some(scope) = scope {
                self.rule(&both, block, scope, page);
            }
        }
    }

    /// Reads the declarations of a rule.
    fn declarations<'p>(&mut self, selectors: &[u8], block: &'p [u8], scope: Scope, page: &mut Page<'p, '_>) {
        let list = Selectors::of(selectors);
        let names = page.known;
        let known = |selector| Selector::of(selector, |name| names.may_have(name));
        let mut selectors = list.clone().filter_map(known).peekable();
        // Browsers pass over a list with a selector that they cannot read.
        let mut list = list;
        if selectors.peek().is_none() || !list.all(Selector::may_be) {
            return;
        }
        // Another rule may well give another layout.
        let of_block = || Style::of(std::str::from_utf8(block).unwrap_or_default());
        let Style { usual, important } = page.blocks.get(block.trim_ascii(), of_block);
        let style = Style { usual: usual.without_layout(), important: important.without_layout() };
        if style.is_empty() {
            return;
        }
        let changes = Changes::of(&style);
        for selector in selectors {
            let is_sure = scope.is_always && !selector.is_conditional;
            let last = selector.names().next_back();
            if last.is_none() {
                self.anywhere = self.anywhere.with(changes.of_color());
            }
            // A script may give an element with one of several names the others.
            let has_several = selector.names().count() > 1;
            for name in selector.names().filter(|_| !is_sure || has_several) {
                let changes_all = !is_sure && Some(name) == last;
                self.take_changes(name, if changes_all { changes } else { changes.of_sight() });
            }
            if let Some(last) = last.filter(|_| is_sure) {
                self.add(last, Rule { layer: scope.layer, selector, style });
            }
        }
    }

    /// Takes what a rule changes that counts for some of the elements with a name, or at times.
    fn take_changes(&mut self, name: Name, changes: Changes) {
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

    /// The properties that rules may change for an element with these names, one of which may be that of its sort.
    pub(crate) fn changes(&self, names: &[Name], sort: Name) -> Changes {
        let changing = names.iter().filter(|name| self.changing.may_have(**name));
        let changes = changing.filter_map(|name| {
            let changes = *self.changes.get(name)?;
            // Rules about all elements of a sort do not show one of them.
            Some(if *name == sort { changes.of_text() } else { changes })
        });
        changes.fold(self.anywhere, Changes::with)
    }

    /// The properties that rules may change for any element.
    pub(crate) fn anywhere(&self) -> Changes {
        self.anywhere
    }

    /// Adds a rule by one of its names. Names of elements come first, and lead to many more elements.
    fn add(&mut self, name: Name, rule: Rule) {
        rule.selector.names().for_each(|name| self.names.add(name));
        let known = self.by_name.entry(name).or_default();
        let is_full = self.rules.len() >= MOST_RULES || known.len() >= MOST_OF_A_NAME;
        let is_newest = |number: u32| number as usize + 1 == self.rules.len();
        // Between two rules with one selector, another one may count more than the first and less than the second.
        let same = known.iter().rev().copied().find(|number| {
            let other = self.rules.get(*number as usize);
            other.is_some_and(|other| other.selector == rule.selector && other.layer == rule.layer)
        });
        if let Some(number) = same.filter(|number| is_full || is_newest(*number)) {
            if let Some(other) = self.rules.get_mut(number as usize) {
                other.style.add(&rule.style);
            }
        } else if is_full {
            self.is_cut = true;
        } else {
            known.push(u32::try_from(self.rules.len()).unwrap_or(u32::MAX));
            self.rules.push(rule);
        }
    }

    /// The declarations for an element with these names.
    pub(crate) fn style(&self, names: &[Name]) -> Style {
        let names_of_rules = names.iter().filter(|name| self.names.may_have(**name));
        let found = names_of_rules.filter_map(|name| self.by_name.get(name)).flatten();
        let found = found.take(MOST_OF_AN_ELEMENT);
        let rules = found.filter_map(|number| Some((number, self.rules.get(*number as usize)?)));
        let is_about = |rule: &Rule| rule.selector.names().all(|name| names.contains(&name));
        let mut rules: Vec<_> = rules.filter(|(_, rule)| is_about(rule)).collect();
        rules.sort_by_key(|(number, rule)| (rule.layer, rule.selector.weight, **number));
        let mut style = Style::default();
        for (_, rule) in &rules {
            style.usual.add(&rule.style.usual);
        }
        // Of important declarations, those of earlier layers count more.
        rules.sort_by_key(|(number, rule)| (Reverse(rule.layer), rule.selector.weight, **number));
        for (_, rule) in &rules {
            style.important.add(&rule.style.important);
        }
        style
    }
}
