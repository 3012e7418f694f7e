//! Patterns without `*`: a compressed trie.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::{NONE, offset};
use crate::path::normal_form::NormalOctets;

/// A pattern without `*`, while the trie is built.
pub(super) struct Key<'p> {
    pub(super) octets: &'p [u8],
    /// True if the path ends where the pattern does.
    pub(super) exact: bool,
    pub(super) index: u32,
}

/// The patterns without `*`, as a radix tree whose nodes lie in one array, the children of a node side by side.
#[derive(Clone, Debug, Default)]
pub(super) struct Trie {
    nodes: Box<[Node]>,
    /// The first octet of the label of each node, apart so that a search for a child stays within a cache line or two.
    first: Box<[u8]>,
    labels: Box<[u8]>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Its part of `labels`, empty for the root alone.
    label_start: u32,
    label_end: u32,
    children_start: u32,
    children_end: u32,
    /// The first pattern that is a prefix and ends here.
    prefix: u32,
    /// The first pattern that ends here and wants the path to end, too.
    exact: u32,
}

impl Trie {
    /// Builds the trie breadth first from sorted keys; a stack would be as deep as a hostile file wants.
    pub(super) fn new(keys: &[Key<'_>]) -> Self {
        let (mut nodes, mut first, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        // For each node, the keys below it and how many of their octets lie above it; the root has an empty label.
        let mut pending = vec![(keys, 0)];
        while let Some((below, above)) = pending.get(nodes.len()).copied() {
            let depth = if nodes.is_empty() { 0 } else { common_prefix(below) };
            let label = below.first().and_then(|key| key.octets.get(above..depth)).unwrap_or_default();
            let label_start = offset(labels.len());
            labels.extend_from_slice(label);
            first.push(label.first().copied().unwrap_or_default());
            let (ends, mut deeper) = below.split_at(below.partition_point(|key| key.octets.len() == depth));
            let least = |exact: bool| {
                ends.iter().filter(|key| key.exact == exact).map(|key| key.index).min().unwrap_or(NONE)
            };
            let children_start = offset(pending.len());
            while let Some(octet) = deeper.first().and_then(|key| key.octets.get(depth)) {
                let same = deeper.partition_point(|key| key.octets.get(depth) == Some(octet));
                let (child, others) = deeper.split_at(same);
                pending.push((child, depth));
                deeper = others;
            }
            nodes.push(Node {
                label_start,
                label_end: offset(labels.len()),
                children_start,
                children_end: offset(pending.len()),
                prefix: least(false),
                exact: least(true),
            });
        }
        Self { nodes: nodes.into(), first: first.into(), labels: labels.into() }
    }

    pub(super) fn first_match(&self, mut octets: impl NormalOctets) -> u32 {
        let mut best = NONE;
        let mut node = self.nodes.first();
        while let Some(here) = node {
            best = best.min(here.prefix);
            let Some(octet) = octets.next() else {
                return best.min(here.exact);
            };
            let children = here.children_start as usize..here.children_end as usize;
            let found = self.first.get(children).unwrap_or_default().binary_search(&octet);
            node = found.ok().and_then(|child| self.nodes.get(here.children_start as usize + child));
            let label = node.map(|node| node.label_start as usize + 1..node.label_end as usize);
            let label = label.and_then(|label| self.labels.get(label)).unwrap_or_default();
            if !octets.skip_literal(label) {
                return best;
            }
        }
        best
    }
}

/// The number of octets with which all of the sorted keys begin.
fn common_prefix(keys: &[Key<'_>]) -> usize {
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else {
        return 0;
    };
    first.octets.iter().zip(last.octets).take_while(|(a, b)| a == b).count()
}
