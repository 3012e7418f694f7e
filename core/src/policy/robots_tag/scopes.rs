//! A site's own rules by path, united beforehand: whatever a path matches, what to send is ready.
//!
//! Scopes can overlap, and all that match a path count. Which of them can match together is known when they are compiled:
//! the plain prefixes of a path are those of the longest of them, and each set of scopes with the same rules and `*` or `$`
//! matches or does not. So the unions are numbered, and a path walks to its number.
//!
//! # Cost
//!
//! Scopes that nest, and scopes with `*` or `$`, have unions that grow with each. So the unions of a site are bounded, in
//! number by [`MOST_WAYS`] and in size by [`MOST_BYTES`]; within that, compiling takes time in proportion to the scopes and
//! to the unions, and memory in proportion to what is sent.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;

use super::RobotsTag;
use crate::config::RobotsTagSyntax;
use crate::path::pattern::PathPattern;
use crate::path::request::{RequestPath, RequestTarget};
use crate::path::set::PathSet;
use crate::sort::sort_by_key;

/// In how many ways the scopes of a site may match together.
const MOST_WAYS: usize = 4096;

/// The largest number of bytes of the rules of all these ways together, each counted in every way that it is in.
const MOST_BYTES: usize = 1 << 20;

/// A site's rules.
#[derive(Clone, Debug)]
pub(crate) struct SiteTags {
    pub(crate) syntax: RobotsTagSyntax,
    /// The rules of the scopes, different ones once.
    tags: Box<[RobotsTag<'static>]>,
    /// The plain prefixes, the longest first, with the union for each.
    prefixes: PathSet,
    of_prefix: Box<[UnionId]>,
    /// The other scopes, by what they say, with the union that a match leads to from each union.
    others: Box<[(PathSet, Box<[UnionId]>)]>,
    /// By [`UnionId`].
    ready: Box<[ReadyTag]>,
}

/// The place of a tag among the different ones of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TagId(u16);

/// The rules of a site that hold together, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UnionId(u16);

impl UnionId {
    /// No rules.
    pub(crate) const NONE: Self = Self(0);
}

/// Rules that hold together, with the lines that are sent for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadyTag {
    tags: Box<[TagId]>,
    rule_count: usize,
    /// The value of `Robots-Tag`, in the site's syntax; none if there are no rules.
    pub(crate) robots_tag: Vec<Box<[u8]>>,
    /// The values of `X-Robots-Tag`.
    pub(crate) x_robots_tag: Vec<Box<[u8]>>,
}

/// Scopes that overlap too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooManyUnions {
    Ways,
    Bytes,
}

impl fmt::Display for TooManyUnions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ways => {
                write!(f, "the scopes in `robots_tag` can match together in more than {MOST_WAYS} ways")
            }
            Self::Bytes => write!(
                f,
                "the rules in `robots_tag` have more than {MOST_BYTES} bytes in all combinations of their scopes"
            ),
        }
    }
}

impl SiteTags {
    /// No rules, whatever the path.
    pub(crate) fn none(syntax: RobotsTagSyntax) -> Self {
        Self {
            syntax,
            tags: Box::default(),
            prefixes: PathSet::default(),
            of_prefix: Box::default(),
            others: Box::default(),
            ready: [ReadyTag::default()].into(),
        }
    }

    /// Unites the rules of each scope, which are in the order of the document.
    pub(crate) fn new(
        syntax: RobotsTagSyntax,
        scopes: Vec<(PathPattern, RobotsTag<'static>)>,
    ) -> Result<Self, TooManyUnions> {
        let (patterns, tags) = different(scopes)?;
        let mut unions = Unions::new(tags.iter().map(|tag| tag.write(syntax).len() + b", ".len()));
        // By their octets: after a prefix come those that it is the beginning of.
        let mut prefixes: BTreeMap<&[u8], (&PathPattern, Vec<TagId>)> = BTreeMap::new();
        let mut by_tag: BTreeMap<TagId, Vec<&PathPattern>> = BTreeMap::new();
        for (pattern, tag) in &patterns {
            match pattern.is_prefix() {
                true => prefixes.entry(pattern.prefix()).or_insert((pattern, Vec::new())).1.push(*tag),
                false => by_tag.entry(*tag).or_default().push(pattern),
            }
        }
        let mut beginnings: Vec<(&[u8], UnionId)> = Vec::new();
        let mut of_prefix = Vec::new();
        for (prefix, (pattern, tags)) in prefixes {
            while beginnings.pop_if(|(shorter, _)| !prefix.starts_with(shorter)).is_some() {}
            let mut union = beginnings.last().map_or(UnionId::NONE, |(_, union)| *union);
            for tag in tags {
                union = unions.with(union, tag)?;
            }
            of_prefix.push((pattern, union));
            beginnings.push((prefix, union));
        }
        sort_by_key(&mut of_prefix, |(pattern, _)| Reverse(pattern.prefix().len()));
        let mut others = Vec::new();
        for (tag, patterns) in by_tag {
            let known = unions.ids();
            let next: Result<_, _> = known.into_iter().map(|union| unions.with(union, tag)).collect();
            others.push((PathSet::new(patterns), next?));
        }
        Ok(Self {
            syntax,
            prefixes: PathSet::new(of_prefix.iter().map(|(pattern, _)| *pattern)),
            of_prefix: of_prefix.into_iter().map(|(_, union)| union).collect(),
            others: others.into(),
            ready: unions.list.into_iter().map(|union| ReadyTag::new(syntax, &tags, union)).collect(),
            tags,
        })
    }

    /// The rules for a path; `target` gives it, and is asked only where it matters. Of a path that can be spelled otherwise,
    /// the spelling with the most rules counts.
    pub(crate) fn find<'t>(&self, target: impl FnOnce() -> &'t RequestTarget<'t>) -> UnionId {
        if self.ready.len() < 2 {
            return UnionId::NONE;
        }
        let rules = |union: &UnionId| self.ready(*union).map_or(0, |ready| ready.rule_count);
        target().strictest(|path| self.find_as_spelled(path), rules, usize::MAX).0
    }

    fn find_as_spelled(&self, path: RequestPath<'_>) -> UnionId {
        let prefix = self.prefixes.first_match(path).and_then(|found| self.of_prefix.get(found as usize));
        self.others.iter().fold(prefix.copied().unwrap_or(UnionId::NONE), |union, (scopes, next)| match next
            .get(usize::from(union.0))
        {
            Some(next) if scopes.first_match(path).is_some() => *next,
            _ => union,
        })
    }

    /// The lines that are sent for a union.
    pub(crate) fn ready(&self, union: UnionId) -> Option<&ReadyTag> {
        self.ready.get(usize::from(union.0))
    }

    /// Adds the rules of a union to others.
    pub(crate) fn add_to<'a, 'o: 'a>(&'o self, sum: &mut RobotsTag<'a>, ready: &ReadyTag) {
        add(sum, &self.tags, &ready.tags);
    }
}

impl ReadyTag {
    fn new(syntax: RobotsTagSyntax, tags: &[RobotsTag<'static>], union: Box<[TagId]>) -> Self {
        let mut sum = RobotsTag::default();
        add(&mut sum, tags, &union);
        let value = sum.write(syntax);
        Self {
            rule_count: sum.rule_count(),
            robots_tag: (!value.is_empty()).then(|| value.into()).into_iter().collect(),
            x_robots_tag: sum.deployed_lines(),
            tags: union,
        }
    }

    /// The value of `Robots-Tag` as text; `None` if there are no rules.
    pub(crate) fn text(&self) -> Option<&str> {
        core::str::from_utf8(self.robots_tag.first()?).ok()
    }
}

fn add<'a, 'o: 'a>(sum: &mut RobotsTag<'a>, tags: &'o [RobotsTag<'static>], union: &[TagId]) {
    union.iter().filter_map(|TagId(place)| tags.get(usize::from(*place))).for_each(|tag| sum.add(tag));
}

/// The unions that can hold, each with a number.
struct Unions {
    /// The number of bytes of each tag, by [`TagId`].
    lengths: Vec<usize>,
    /// By [`UnionId`]; sorted, so that rules stay in the order of the document.
    list: Vec<Box<[TagId]>>,
    ids: BTreeMap<Box<[TagId]>, UnionId>,
    /// The union that a union and one more tag make, so that it is looked for once.
    sums: BTreeMap<(UnionId, TagId), UnionId>,
    bytes: usize,
}

impl Unions {
    fn new(lengths: impl Iterator<Item = usize>) -> Self {
        let mut ids = BTreeMap::new();
        ids.insert(Box::default(), UnionId::NONE);
        Self {
            lengths: lengths.collect(),
            list: [Box::default()].into(),
            ids,
            sums: BTreeMap::new(),
            bytes: 0,
        }
    }

    fn ids(&self) -> Vec<UnionId> {
        (0..).map(UnionId).take(self.list.len()).collect()
    }

    /// The union of another one and a tag.
    fn with(&mut self, union: UnionId, tag: TagId) -> Result<UnionId, TooManyUnions> {
        if let Some(sum) = self.sums.get(&(union, tag)) {
            return Ok(*sum);
        }
        let tags = self.list.get(usize::from(union.0)).map(|tags| &**tags).unwrap_or_default();
        let sum = match tags.binary_search(&tag) {
            Ok(_) => union,
            Err(at) => {
                let (before, after) = tags.split_at_checked(at).unwrap_or((tags, &[]));
                let tags: Box<[TagId]> = [before, &[tag], after].concat().into();
                self.number(tags)?
            }
        };
        self.sums.insert((union, tag), sum);
        Ok(sum)
    }

    fn number(&mut self, tags: Box<[TagId]>) -> Result<UnionId, TooManyUnions> {
        if let Some(known) = self.ids.get(&tags) {
            return Ok(*known);
        }
        let number = u16::try_from(self.list.len()).ok().filter(|_| self.list.len() < MOST_WAYS);
        let id = UnionId(number.ok_or(TooManyUnions::Ways)?);
        let lengths = tags.iter().filter_map(|TagId(place)| self.lengths.get(usize::from(*place)));
        self.bytes = self.bytes.saturating_add(lengths.sum());
        if self.bytes > MOST_BYTES {
            return Err(TooManyUnions::Bytes);
        }
        self.list.push(tags.clone());
        self.ids.insert(tags, id);
        Ok(id)
    }
}

/// The patterns with the numbers of their tags, and the tags, of which those that say the same are one.
#[expect(clippy::type_complexity, reason = "two lists, taken apart at once")]
fn different(
    scopes: Vec<(PathPattern, RobotsTag<'static>)>,
) -> Result<(Vec<(PathPattern, TagId)>, Box<[RobotsTag<'static>]>), TooManyUnions> {
    let mut ids: BTreeMap<Vec<Vec<u8>>, TagId> = BTreeMap::new();
    let (mut patterns, mut tags) = (Vec::with_capacity(scopes.len()), Vec::new());
    for (pattern, tag) in scopes {
        let statements = tag.statements();
        let id = match ids.get(&statements) {
            Some(known) => *known,
            None => {
                // Each of them is a way by itself.
                let place = u16::try_from(tags.len()).ok().filter(|_| tags.len() < MOST_WAYS);
                let id = TagId(place.ok_or(TooManyUnions::Ways)?);
                ids.insert(statements, id);
                tags.push(tag);
                id
            }
        };
        patterns.push((pattern, id));
    }
    Ok((patterns, tags.into()))
}
