//! Parts that came after their places: which goes where.

use std::collections::{HashMap, HashSet};

use super::super::parts::Boundary;
use super::super::tree::Flags;
use super::super::{Attribute, NodeId, Tag, Tree};

/// A part, and where what stood in for it ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) segment: NodeId,
    pub(super) until: NodeId,
}

/// The parts by the places that they go to.
#[derive(Debug)]
pub(super) struct Streamed {
    parts: HashMap<NodeId, Part>,
    segments: HashSet<NodeId>,
}

impl Streamed {
    pub(super) fn of(tree: &Tree<'_>) -> Self {
        let mut streamed = Self { parts: HashMap::new(), segments: HashSet::new() };
        let moves = if tree.parts.is_without_calls() { by_names(tree) } else { by_calls(tree) };
        if moves.is_empty() {
            return streamed;
        }
        let ends = ends(&tree.parts.boundaries);
        for (target, segment) in moves {
            let is_place = tree.node(target).tag == Tag::Template;
            // The first call that takes a part takes it away.
            if !is_place || target == segment || streamed.parts.contains_key(&target) {
                continue;
            }
            if streamed.segments.insert(segment) {
                let until = ends.get(&(target, tree.node(target).parent)).copied().unwrap_or(target);
                streamed.parts.insert(target, Part { segment, until });
            }
        }
        streamed
    }

    /// The part that goes to a place, the first time that somebody asks.
    pub(super) fn take(&mut self, place: NodeId) -> Option<Part> {
        if self.parts.is_empty() { None } else { self.parts.remove(&place) }
    }

    /// Returns true if an element only holds a part that goes elsewhere.
    pub(super) fn is_segment(&self, id: NodeId) -> bool {
        self.segments.contains(&id)
    }
}

/// The places and their parts, as the calls of scripts name them.
fn by_calls(tree: &Tree<'_>) -> Vec<(NodeId, NodeId)> {
    let moves = &tree.parts.moves;
    let names = moves.iter().flat_map(|one| [one.target, one.segment]);
    let elements = elements(tree, names.map(|name| tree.values.at(name)));
    let element = |name| elements.get(tree.values.at(name)).copied().flatten();
    moves.iter().filter_map(|one| Some((element(one.target)?, element(one.segment)?))).collect()
}

/// The places and their parts by their names alone: `S:1` goes to `B:1` or `P:1`.
fn by_names(tree: &Tree<'_>) -> Vec<(NodeId, NodeId)> {
    let places = || tree.parts.places.iter().map(|place| tree.values.at(*place));
    let segments: Vec<String> =
        places().map(|place| format!("S{}", place.get(1..).unwrap_or_default())).collect();
    let elements = elements(tree, places().chain(segments.iter().map(String::as_str)));
    let element = |name| elements.get(name).copied().flatten();
    let is_hidden = |id: &NodeId| tree.node(*id).flags.has(Flags::HIDDEN);
    let pairs = places().zip(&segments);
    pairs
        .filter_map(|(place, segment)| Some((element(place)?, element(segment).filter(is_hidden)?)))
        .collect()
}

/// The first element with each of some ids.
fn elements<'t>(
    tree: &'t Tree<'_>,
    names: impl Iterator<Item = &'t str>,
) -> HashMap<&'t str, Option<NodeId>> {
    let mut elements: HashMap<&str, Option<NodeId>> = names.map(|name| (name, None)).collect();
    if elements.is_empty() {
        return elements;
    }
    for (id, node) in tree.nodes().filter(|(_, node)| node.tag != Tag::Text) {
        if let Some(name) = tree.attribute(node, Attribute::Id)
            && let Some(first @ None) = elements.get_mut(name)
        {
            *first = Some(id);
        }
    }
    elements
}

/// The places after the comments that end what stands in for a part, by the place after the comment that begins it and the
/// element around.
fn ends(boundaries: &[Boundary]) -> HashMap<(NodeId, NodeId), NodeId> {
    let mut ends = HashMap::new();
    let mut open: Vec<&Boundary> = Vec::new();
    for boundary in boundaries {
        // A boundary that began in an element inside this one has no end.
        while open.pop_if(|last| last.parent > boundary.parent).is_some() {}
        if !boundary.is_end {
            open.push(boundary);
        } else if let Some(start) = open.pop_if(|last| last.parent == boundary.parent) {
            ends.insert((start.at, start.parent), boundary.at);
        }
    }
    ends
}
