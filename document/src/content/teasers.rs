//! Teasers: what the page of an article says about other pages below the article, with a heading that leads to each.

use super::evidence::sort;
use super::measure::Measures;
use crate::html::{Attribute, Node, NodeId, Tag, Tree};

/// The text outside of links that a teaser has at most.
const MOST_TEXT: u32 = 400;
/// Fewer are not a list of teasers.
const FEWEST: usize = 3;
/// The prose that an article has without its teasers. Where there is less, what looks like teasers may be the content.
const LEAST_PROSE: u32 = 700;
/// The part of that prose that may follow a teaser. A list of things with more text after it belongs to the article.
const SHARE_AFTER: u32 = 10;

/// The link of a teaser is in its heading, or at most so far around it; 1 is the heading itself.
const FURTHEST: usize = 4;

/// An element that may be a teaser, with its heading.
#[derive(Clone, Copy, Debug)]
struct Teaser {
    element: NodeId,
    heading: NodeId,
}

/// The teasers below an article, in document order, none in another.
pub(super) fn find(tree: &Tree, measures: &Measures, root: NodeId) -> Vec<NodeId> {
    let candidates = candidates(tree, measures, root);
    let prose =
        |teasers: &[Teaser]| teasers.iter().map(|teaser| measures.get(teaser.element).prose).sum::<u32>();
    let rest = measures.get(root).prose.saturating_sub(prose(&candidates));
    if candidates.len() < FEWEST || rest < LEAST_PROSE {
        return Vec::new();
    }
    // The text that follows, without teasers, becomes less from one to the next.
    let (mut first, mut end) = (0, candidates.len());
    while first < end {
        let middle = first.midpoint(end);
        let Some([teaser, behind @ ..]) = candidates.get(middle..) else { break };
        let after = prose_after(tree, measures, root, teaser.element).saturating_sub(prose(behind));
        if after > rest / SHARE_AFTER { first = middle + 1 } else { end = middle }
    }
    // A run of things that begins in the text is a part of it, up to the last of them.
    let begins_before =
        |pair: &&[Teaser]| matches!(pair, [before, this] if are_alike(tree, before.element, this.element));
    if let Some(before) = first.checked_sub(1) {
        first += candidates.windows(2).skip(before).take_while(begins_before).count();
    }
    let below = candidates.get(first..).unwrap_or_default();
    // The things that an article itself lists are on many sites.
    let mut hosts = below.iter().map(|teaser| host(address(tree, teaser.heading, FURTHEST)));
    let first_host = hosts.next();
    if !hosts.all(|host| Some(host) == first_host) {
        return Vec::new();
    }
    if below.len() < FEWEST { Vec::new() } else { below.iter().map(|teaser| teaser.element).collect() }
}

/// Returns true if an element stands behind another one, and is of the same sort, as all between are.
fn are_alike(tree: &Tree, one: NodeId, other: NodeId) -> bool {
    let node = tree.node(one);
    let is_alike = |(_, next): (NodeId, Node)| {
        next.tag == Tag::Text || next.tag == node.tag && sort(tree, next) == sort(tree, node)
    };
    tree.node(other).parent == node.parent && tree.after(one).take_while(|(id, _)| *id <= other).all(is_alike)
}

/// The prose that follows an element in another.
pub(super) fn prose_after(tree: &Tree, measures: &Measures, root: NodeId, element: NodeId) -> u32 {
    let mut prose = 0;
    let mut inside = element;
    while inside > root {
        let parent = tree.node(inside).parent;
        let following = tree.children(parent).filter(|(id, _)| *id > inside);
        prose += following.map(|(id, _)| measures.get(id).prose).sum::<u32>();
        inside = parent;
    }
    prose
}

/// The largest elements with one heading, all of which is a link to another page, and with little other text.
fn candidates(tree: &Tree, measures: &Measures, root: NodeId) -> Vec<Teaser> {
    let leads_elsewhere = |(id, node): &(NodeId, Node)| {
        let measure = measures.get(*id);
        let is_link = node.tag.heading_level().is_some() && measure.text > 0 && measure.plain() == 0;
        is_link && !address(tree, *id, FURTHEST).is_none_or(|address| address.contains('#'))
    };
    let headings: Vec<NodeId> = tree.inside(root).filter(leads_elsewhere).map(|(id, _)| id).collect();
    let mut teasers = Vec::new();
    for (place, heading) in headings.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|before| headings.get(before));
        let after = headings.get(place + 1);
        let mut element = *heading;
        loop {
            let around = tree.node(element).parent;
            let has_another = before.is_some_and(|before| *before > around)
                || after.is_some_and(|after| *after < tree.node(around).end);
            if around <= root || has_another || measures.get(around).plain() > MOST_TEXT {
                break;
            }
            element = around;
        }
        if element != *heading {
            teasers.push(Teaser { element, heading: *heading });
        }
    }
    teasers
}

/// The target of the link in a heading, or of the nearest one around it within this distance; 1 is the heading itself.
pub(super) fn address<'t>(tree: &'t Tree<'_>, heading: NodeId, furthest: usize) -> Option<&'t str> {
    const MOST_IN_HEADING: usize = 64;
    let mut inside = tree.inside(heading).take(MOST_IN_HEADING).map(|(_, node)| node);
    let within = inside.find(|node| node.tag == Tag::A);
    let around = || std::iter::successors(Some(tree.node(heading)), |node| Some(tree.node(node.parent)));
    let link = within.or_else(|| around().take(furthest).find(|node| node.tag == Tag::A))?;
    tree.address(link, Attribute::Href)
}

/// The host in an address; empty: that of the page itself.
fn host(address: Option<&str>) -> &str {
    let behind_scheme = address.and_then(|address| address.split_once("//"));
    behind_scheme.and_then(|(_, rest)| rest.split(['/', '?']).next()).unwrap_or_default()
}
