//! Robots-Tag: what crawlers may do with a response that they may fetch (draft-illyes-repext).
//!
//! A field value names *rules* (`noindex`, `max-snippet:20`), each for all crawlers or for one product token. Three ways
//! to write that are in use, and each is read; see [`Syntax`]. The content of a line decides which one it is in:
//!
//! | written | read as |
//! |---|---|
//! | `noindex, nosnippet; ExampleBot=` | draft-00: `;` between tokens, `,` between rules |
//! | `googlebot: noindex, max-snippet:20` | as deployed in `X-Robots-Tag`: a token before a colon |
//! | `*;noindex, ExampleBot;nosnippet` | later drafts: an RFC 8941 list of tokens, whose parameters are rules |
//!
//! Rules restrict, so merging is a union: of lines, of tokens (without regard to case), of rules (likewise; the first
//! spelling stays). A token without rules takes nothing away from what holds for all. Rules that nobody here knows are
//! kept like any other.
//!
//! # Cost
//!
//! Reading takes one pass over at most [`LIMIT`] bytes of a line, and memory in proportion to them.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::sort::sort_by;

mod check;
mod documents;
mod known;
mod line;
mod read;
mod scopes;
mod structured;
mod write;

pub(crate) use self::check::{Checker, rules};
pub(crate) use self::documents::{Forbidden, OnDocuments};
use self::line::Part;
pub(crate) use self::line::{LineRead, Syntax};
pub(crate) use self::scopes::{ReadyTag, SiteTags, UnionId};

/// The rules of a response: rules for all, and rules by product token.
///
/// ```
/// use crawlpike_core::internals::RobotsTagSyntax;
/// use crawlpike_core::internals::policy::RobotsTag;
///
/// let mut tag = RobotsTag::default();
/// tag.add_line(b"noindex; ExampleBot=");
/// tag.add_line(b"examplebot: NOSNIPPET, nosnippet");
/// assert_eq!(tag.write(RobotsTagSyntax::Draft00), b"noindex; ExampleBot=NOSNIPPET");
/// assert_eq!(tag.write(RobotsTagSyntax::Structured), b"*;noindex, ExampleBot;nosnippet");
/// assert_eq!(tag.deployed_lines(), [&b"noindex"[..], b"ExampleBot: NOSNIPPET"].map(Box::from));
/// ```
#[derive(Clone, Debug, Default)]
pub struct RobotsTag<'a> {
    /// The rules for all.
    global: Vec<Rule<'a>>,
    /// In the order in which they first came.
    tokens: Vec<TokenRules<'a>>,
    /// The places of tokens and rules, by their content.
    places: HashTable<Place>,
    hasher: DefaultHashBuilder,
    /// True if a token or a rule came again.
    repeats: bool,
}

/// A product token with its own rules.
#[derive(Clone, Debug)]
struct TokenRules<'a> {
    name: Cow<'a, [u8]>,
    rules: Vec<Rule<'a>>,
}

/// A rule as it was first spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule<'a> {
    pub(crate) name: Cow<'a, [u8]>,
    /// The text after a colon: `20` in `max-snippet:20`.
    pub(crate) value: Option<Cow<'a, [u8]>>,
}

impl Rule<'_> {
    fn is(&self, other: &Rule<'_>) -> bool {
        let is_same_value = match (&self.value, &other.value) {
            (None, None) => true,
            (Some(value), Some(other)) => value.eq_ignore_ascii_case(other),
            _ => false,
        };
        is_same_value && self.name.eq_ignore_ascii_case(&other.name)
    }

    /// The same without a copy.
    fn borrowed(&self) -> Rule<'_> {
        Rule {
            name: Cow::Borrowed(&self.name),
            value: self.value.as_ref().map(|value| Cow::Borrowed(&**value)),
        }
    }

    fn into_owned(self) -> Rule<'static> {
        Rule {
            name: Cow::Owned(self.name.into_owned()),
            value: self.value.map(|value| Cow::Owned(value.into_owned())),
        }
    }
}

/// The clients that a rule is for: all, or the token with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whom {
    All,
    Token(u32),
}

/// The place of a token, or, with the number of a rule, of one of its rules.
#[derive(Clone, Copy, Debug)]
struct Place {
    whom: Whom,
    rule: Option<u32>,
}

impl<'a> RobotsTag<'a> {
    /// Adds the statements of a field line. Returns its syntax.
    pub fn add_line(&mut self, value: &'a [u8]) -> LineRead<'a> {
        let mut whom = None;
        read::line(value, &mut |part| match part {
            Part::All => whom = None,
            Part::Token { name, .. } => whom = Some(self.begin(name)),
            Part::Rule { rule, .. } => {
                let whom = *whom.get_or_insert_with(|| {
                    // Rules for all that stand in two places were not merged by whoever wrote them.
                    self.repeats |= !self.global.is_empty();
                    Whom::All
                });
                self.add_rule(whom, rule);
            }
        })
    }

    /// Adds what another tag says.
    pub fn add<'o: 'a>(&mut self, other: &'o RobotsTag<'_>) {
        for rule in &other.global {
            self.add_rule(Whom::All, rule.borrowed());
        }
        for token in &other.tokens {
            let whom = self.begin(Cow::Borrowed(&token.name));
            for rule in &token.rules {
                self.add_rule(whom, rule.borrowed());
            }
        }
    }

    /// Returns true if there is neither a rule nor a token.
    pub fn is_empty(&self) -> bool {
        self.global.is_empty() && self.tokens.is_empty()
    }

    /// The same, independent of the lines that it was read from.
    pub fn into_owned(self) -> RobotsTag<'static> {
        let owned = |rules: Vec<Rule<'_>>| rules.into_iter().map(Rule::into_owned).collect();
        let tokens = self
            .tokens
            .into_iter()
            .map(|token| TokenRules { name: Cow::Owned(token.name.into_owned()), rules: owned(token.rules) });
        RobotsTag {
            tokens: tokens.collect(),
            global: owned(self.global),
            places: self.places,
            hasher: self.hasher,
            repeats: self.repeats,
        }
    }

    /// Returns true if the lines that were added say each thing once, and just what `whole` says; tokens without rules
    /// only where `with_bare_tokens` asks for them.
    pub(crate) fn says_once(&self, whole: &RobotsTag<'_>, with_bare_tokens: bool) -> bool {
        !self.repeats
            && self.rule_count() == whole.rule_count()
            && (!with_bare_tokens || self.tokens.len() == whole.tokens.len())
            && whole.contains(self)
    }

    /// All statements, each with its addressee, in lower case and sorted: equal for tags that say the same.
    fn statements(&self) -> Vec<Vec<u8>> {
        let mut statements = Vec::new();
        let mut state = |token: &[u8], rules: &[Rule<'_>]| {
            let token = token.to_ascii_lowercase();
            for Rule { name, value } in rules {
                // Parts that no token and no rule holds separate them; a rule without a value differs from one with an
                // empty value.
                let value = value.as_ref().map(|value| [b"\n", &**value].concat());
                let rule = [&**name, value.as_deref().unwrap_or_default()].concat().to_ascii_lowercase();
                statements.push([&*token, b"\n", &*rule].concat());
            }
            statements.push(token);
        };
        if !self.global.is_empty() {
            state(b"*", &self.global);
        }
        self.tokens.iter().for_each(|token| state(&token.name, &token.rules));
        sort_by(&mut statements, Ord::cmp);
        statements
    }

    /// Returns true if both say the same, in whatever order.
    fn is_same(&self, other: &RobotsTag<'_>) -> bool {
        self.contains(other) && other.contains(self)
    }

    fn contains(&self, other: &RobotsTag<'_>) -> bool {
        let has_all =
            |whom, rules: &[Rule<'_>]| rules.iter().all(|rule| self.find_rule(whom, rule).is_some());
        has_all(Whom::All, &other.global)
            && other
                .tokens
                .iter()
                .all(|token| self.find_token(&token.name).is_some_and(|whom| has_all(whom, &token.rules)))
    }

    /// The number of rules, each counted for all it is for.
    fn rule_count(&self) -> usize {
        self.lists().map(<[_]>::len).sum()
    }

    /// All lists of rules.
    fn lists(&self) -> impl Iterator<Item = &[Rule<'a>]> {
        core::iter::once(&*self.global).chain(self.tokens.iter().map(|token| &*token.rules))
    }

    /// The token with this name, which is noted where it is new.
    fn begin(&mut self, name: Cow<'a, [u8]>) -> Whom {
        if let Some(known) = self.find_token(&name) {
            self.repeats = true;
            return known;
        }
        let whom = Whom::Token(number(self.tokens.len()));
        self.tokens.push(TokenRules { name, rules: Vec::new() });
        self.note(Place { whom, rule: None });
        whom
    }

    fn add_rule(&mut self, whom: Whom, rule: Rule<'a>) {
        if self.find_rule(whom, &rule).is_some() {
            self.repeats = true;
            return;
        }
        let rules = match whom {
            Whom::All => Some(&mut self.global),
            Whom::Token(token) => self.tokens.get_mut(token as usize).map(|token| &mut token.rules),
        };
        if let Some(rules) = rules {
            let place = Place { whom, rule: Some(number(rules.len())) };
            rules.push(rule);
            self.note(place);
        }
    }

    fn note(&mut self, place: Place) {
        let Self { global, tokens, places, hasher, .. } = self;
        let hash = |place: &Place| match content(global, tokens, *place) {
            Some((name, None)) => hash_of(hasher, name, None),
            Some((_, Some(rule))) => hash_of(hasher, &[], Some((place.whom, rule))),
            None => 0,
        };
        places.insert_unique(hash(&place), place, hash);
    }

    fn find_token(&self, name: &[u8]) -> Option<Whom> {
        let is_it = |place: &Place| {
            let content = content(&self.global, &self.tokens, *place);
            content.is_some_and(|(known, rule)| rule.is_none() && known.eq_ignore_ascii_case(name))
        };
        self.places.find(hash_of(&self.hasher, name, None), is_it).map(|place| place.whom)
    }

    fn find_rule(&self, whom: Whom, rule: &Rule<'_>) -> Option<Place> {
        let is_it = |place: &Place| {
            let content = content(&self.global, &self.tokens, *place);
            place.whom == whom && content.and_then(|(_, known)| known).is_some_and(|known| known.is(rule))
        };
        self.places.find(hash_of(&self.hasher, &[], Some((whom, rule))), is_it).copied()
    }
}

/// The name of the token and the rule at a place.
fn content<'t, 'a>(
    global: &'t [Rule<'a>],
    tokens: &'t [TokenRules<'a>],
    place: Place,
) -> Option<(&'t [u8], Option<&'t Rule<'a>>)> {
    let (name, rules) = match place.whom {
        Whom::All => (&b"*"[..], global),
        Whom::Token(token) => tokens.get(token as usize).map(|token| (&*token.name, &*token.rules))?,
    };
    match place.rule {
        None => Some((name, None)),
        Some(rule) => rules.get(rule as usize).map(|rule| (name, Some(rule))),
    }
}

/// The hash of a token, or of a rule and its addressee, without regard to case.
fn hash_of(hasher: &DefaultHashBuilder, token: &[u8], rule: Option<(Whom, &Rule<'_>)>) -> u64 {
    let mut hasher = hasher.build_hasher();
    let mut write = |text: &[u8]| {
        text.iter().for_each(|byte| hasher.write_u8(byte.to_ascii_lowercase()));
        // Of no text, so that parts can't run into each other.
        hasher.write_u8(0);
    };
    write(token);
    if let Some((whom, rule)) = rule {
        write(&rule.name);
        write(rule.value.as_deref().unwrap_or_default());
        hasher.write_u32(match whom {
            Whom::All => u32::MAX,
            Whom::Token(token) => token,
        });
    }
    hasher.finish()
}

/// A number in a list whose length a field line bounds.
fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
