//! A site's own rules by path, united beforehand: whatever a path matches, what to send is ready.
//!
//! Scopes can overlap, and all that match a path count. Which of them can match together is known when they are compiled:
//! the plain prefixes of a path are those of the longest of them, and each set of scopes with the same rules and `*` or `$`
//! matches or does not. So the unions are numbered, and a path walks to its number.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::RobotsTag;
use crate::config::RobotsTagSyntax;
use crate::path_pattern::{PathPattern, RequestPath};
use crate::path_set::PathSet;
use crate::path_spelling;

/// A site's rules.
#[derive(Clone, Debug)]
pub(crate) struct SiteTags {
    pub(crate) syntax: RobotsTagSyntax,
    /// The plain prefixes, the longest first, with the number of the union for each.
    prefixes: PathSet,
    of_prefix: Vec<u16>,
    /// The other scopes, by what they say, with the number of the union that a match leads to from each number.
    others: Vec<(PathSet, Vec<u16>)>,
    /// By number; the first is that of no rules.
    ready: Vec<ReadyTag>,
}

/// Rules with all that is sent for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadyTag {
    pub(crate) tag: RobotsTag<'static>,
    /// The value of `Robots-Tag`, in the site's syntax; none where there are no rules.
    pub(crate) robots_tag: Vec<Box<[u8]>>,
    /// The values of `X-Robots-Tag`.
    pub(crate) x_robots_tag: Vec<Box<[u8]>>,
    /// `robots_tag` as text.
    pub(crate) text: Option<Box<str>>,
}

/// Scopes that can match together in more ways than are kept ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyWays {
    /// How many are kept.
    pub(crate) most: usize,
}

/// The rules that hold together, by their place among different ones.
type Union = BTreeSet<usize>;

impl SiteTags {
    /// No rules, whatever the path.
    pub(crate) fn none(syntax: RobotsTagSyntax) -> Self {
        Self {
            syntax,
            prefixes: PathSet::default(),
            of_prefix: Vec::new(),
            others: Vec::new(),
            ready: Vec::from([ReadyTag::default()]),
        }
    }

    /// Unites the rules of each scope, which are in the order of the document.
    pub(crate) fn new(
        syntax: RobotsTagSyntax,
        scopes: &[(PathPattern, RobotsTag<'static>)],
    ) -> Result<Self, TooManyWays> {
        let mut unions = Unions::default();
        unions.number(Union::new())?;
        let tags = different(scopes.iter().map(|(_, tag)| tag));
        let of_scope =
            |tag: &RobotsTag<'_>| tags.iter().position(|known| known.is_same(tag)).unwrap_or_default();
        // By their octets: after a prefix come those that it is the beginning of.
        let mut prefixes: BTreeMap<&[u8], (&PathPattern, Union)> = BTreeMap::new();
        let mut by_tag: BTreeMap<usize, Vec<&PathPattern>> = BTreeMap::new();
        for (pattern, tag) in scopes {
            let tag = of_scope(tag);
            match pattern.is_prefix() {
                true => _ = prefixes.entry(pattern.prefix()).or_insert((pattern, Union::new())).1.insert(tag),
                false => by_tag.entry(tag).or_default().push(pattern),
            }
        }
        let mut beginnings: Vec<(&PathPattern, Union)> = Vec::new();
        let mut of_prefix = Vec::new();
        for (prefix, (pattern, mut union)) in prefixes {
            beginnings.truncate(
                beginnings.iter().take_while(|(known, _)| prefix.starts_with(known.prefix())).count(),
            );
            if let Some((_, shorter)) = beginnings.last() {
                union.extend(shorter);
            }
            of_prefix.push((pattern, unions.number(union.clone())?));
            beginnings.push((pattern, union));
        }
        of_prefix.sort_by_key(|(pattern, _)| Reverse(pattern.prefix().len()));
        let mut others = Vec::new();
        for (tag, patterns) in by_tag {
            let known = unions.list.clone();
            let mut next = Vec::new();
            for union in known {
                next.push(unions.number(union.into_iter().chain([tag]).collect())?);
            }
            others.push((PathSet::new(patterns), next));
        }
        let ready = unions
            .list
            .iter()
            .map(|union| ReadyTag::new(syntax, union.iter().filter_map(|tag| tags.get(*tag).copied())));
        Ok(Self {
            syntax,
            prefixes: PathSet::new(of_prefix.iter().map(|(pattern, _)| *pattern)),
            of_prefix: of_prefix.into_iter().map(|(_, number)| number).collect(),
            others,
            ready: ready.collect(),
        })
    }

    /// The number of the rules for a path; `target` gives it, and is asked only where it matters. Of a path that can be
    /// spelled otherwise, the spelling with the most rules counts.
    pub(crate) fn find<'t>(&self, target: impl FnOnce() -> &'t [u8]) -> u16 {
        if self.ready.len() < 2 {
            return 0;
        }
        let rules = |number: &u16| self.ready(*number).map_or(0, |ready| ready.tag.rule_count());
        path_spelling::strictest(target(), |path, _| self.find_as_spelled(path), rules, usize::MAX).0
    }

    fn find_as_spelled(&self, path: RequestPath<'_>) -> u16 {
        let prefix = self.prefixes.first_match(path).and_then(|found| self.of_prefix.get(found as usize));
        self.others.iter().fold(prefix.copied().unwrap_or_default(), |number, (scopes, next)| {
            match next.get(usize::from(number)) {
                Some(next) if scopes.first_match(path).is_some() => *next,
                _ => number,
            }
        })
    }

    /// What is sent for a number.
    pub(crate) fn ready(&self, number: u16) -> Option<&ReadyTag> {
        self.ready.get(usize::from(number))
    }
}

impl ReadyTag {
    fn new<'t>(syntax: RobotsTagSyntax, tags: impl Iterator<Item = &'t RobotsTag<'static>>) -> Self {
        let mut tag = RobotsTag::default();
        tags.for_each(|other| tag.add(other));
        let value = tag.write(syntax);
        Self {
            robots_tag: (!value.is_empty()).then(|| value.clone().into()).into_iter().collect(),
            x_robots_tag: tag.deployed_lines(),
            text: String::from_utf8(value).ok().filter(|text| !text.is_empty()).map(Into::into),
            tag: tag.into_owned(),
        }
    }
}

/// The unions that can hold, each with a number.
#[derive(Default)]
struct Unions {
    list: Vec<Union>,
    numbers: BTreeMap<Union, u16>,
}

impl Unions {
    /// How many are kept ready for a site.
    const MOST: usize = 4096;

    fn number(&mut self, union: Union) -> Result<u16, TooManyWays> {
        if let Some(known) = self.numbers.get(&union) {
            return Ok(*known);
        }
        let number = u16::try_from(self.list.len()).ok().filter(|_| self.list.len() < Self::MOST);
        let number = number.ok_or(TooManyWays { most: Self::MOST })?;
        self.list.push(union.clone());
        self.numbers.insert(union, number);
        Ok(number)
    }
}

/// Each tag once.
fn different<'t>(tags: impl Iterator<Item = &'t RobotsTag<'static>>) -> Vec<&'t RobotsTag<'static>> {
    let mut different: Vec<&RobotsTag<'static>> = Vec::new();
    for tag in tags {
        if !different.iter().any(|known| known.is_same(tag)) {
            different.push(tag);
        }
    }
    different
}
