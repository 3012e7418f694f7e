//! Parts that came after their places: which goes where.

use std::collections::{HashMap, HashSet};

use super::super::parts::Boundary;
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
        let moves = &tree.parts.moves;
        let mut streamed = Self { parts: HashMap::new(), segments: HashSet::new() };
        if moves.is_empty() {
            return streamed;
        }
        let names = moves.iter().flat_map(|one| [one.target, one.segment]);
        let mut elements: HashMap<&str, Option<NodeId>> =
            names.map(|name| (tree.values.at(name), None)).collect();
        for (id, node) in tree.nodes().filter(|(_, node)| node.tag != Tag::Text) {
            if let Some(name) = tree.attribute(node, Attribute::Id)
                && let Some(first @ None) = elements.get_mut(name)
            {
                *first = Some(id);
            }
        }
        let ends = ends(&tree.parts.boundaries);
        for one in moves {
            let element = |name| elements.get(tree.values.at(name)).copied().flatten();
            let (Some(target), Some(segment)) = (element(one.target), element(one.segment)) else { continue };
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
