//! A page as a browser shows it: parts that were streamed in are in their places, and shadow trees have their slots filled.
//!
//! One walk writes the nodes again in their new order. Each part is written once at most, whatever names it, so that parts
//! that name each other or themselves end the walk as all others do.

mod shadows;
mod streamed;

use self::shadows::Shadows;
use self::streamed::Streamed;
use super::tree::Node;
use super::{NodeId, Tag, Tree};
use crate::Limits;

/// A run of siblings that is being written.
#[derive(Clone, Copy, Debug)]
struct Siblings {
    next: NodeId,
    end: NodeId,
    /// The element, in the new order, that they are written into.
    parent: NodeId,
    /// The element ends with these.
    ends_parent: bool,
    /// The shadow tree that they are in.
    shadow: Option<usize>,
    depth: usize,
}

/// The same page with all parts in their places.
pub(super) fn composed<'p>(tree: Tree<'p>, limits: &Limits) -> Tree<'p> {
    let (nodes, is_cut) = {
        let streamed = Streamed::of(&tree);
        let mut walk = Walk {
            tree: &tree,
            streamed,
            shadows: Shadows::of(&tree),
            nodes: Vec::with_capacity(tree.len()),
            open: Vec::new(),
            is_cut: false,
            most_depth: limits.depth,
        };
        walk.all();
        (walk.nodes, walk.is_cut)
    };
    Tree { nodes, is_cut: tree.is_cut || is_cut, ..tree }
}

struct Walk<'t, 'p> {
    tree: &'t Tree<'p>,
    streamed: Streamed,
    shadows: Shadows<'t>,
    nodes: Vec<Node>,
    open: Vec<Siblings>,
    is_cut: bool,
    most_depth: usize,
}

impl Walk<'_, '_> {
    fn all(&mut self) {
        let root = self.tree.node(Tree::ROOT);
        self.nodes.push(root);
        self.open.push(Siblings {
            next: NodeId(1),
            end: root.end,
            parent: Tree::ROOT,
            ends_parent: true,
            shadow: None,
            depth: 1,
        });
        while let Some(siblings) = self.open.last_mut() {
            let current = *siblings;
            if current.next >= current.end {
                self.open.pop();
                if current.ends_parent {
                    self.end(current.parent);
                }
                continue;
            }
            let (id, node) = (current.next, self.tree.node(current.next));
            siblings.next = node.end;
            if let Some(part) = self.streamed.take(id) {
                siblings.next = part.until.max(node.end);
                let segment = self.tree.node(part.segment);
                let next = NodeId(part.segment.0 + 1);
                self.open.push(Siblings { next, end: segment.end, ends_parent: false, ..current });
            } else if self.streamed.is_segment(id) {
                // It is in its place, or nowhere.
            } else {
                self.element(id, node, current);
            }
        }
    }

    fn element(&mut self, id: NodeId, node: Node, current: Siblings) {
        let slotted = current.shadow.filter(|_| node.tag == Tag::Slot);
        if let Some(assigned) = slotted.map(|shadow| self.shadows.take(shadow, self.tree, node))
            && !assigned.is_empty()
        {
            let shadow = slotted.and_then(|shadow| self.shadows.around(shadow));
            let one = |id: NodeId| Siblings {
                next: id,
                end: self.tree.node(id).end,
                ends_parent: false,
                shadow,
                ..current
            };
            self.open.extend(assigned.iter().rev().map(|id| one(*id)));
            return;
        }
        let new = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { parent: current.parent, end: NodeId(new.0 + 1), ..node });
        if node.end.0 == id.0 + 1 {
            return;
        }
        if current.depth >= self.most_depth {
            self.is_cut = true;
            return;
        }
        let inside = Siblings {
            next: NodeId(id.0 + 1),
            end: node.end,
            parent: new,
            ends_parent: true,
            depth: current.depth + 1,
            ..current
        };
        self.open.push(match self.shadows.enter(self.tree, id, current.shadow) {
            Some((template, shadow)) => Siblings {
                next: NodeId(template.0 + 1),
                end: self.tree.node(template).end,
                shadow: Some(shadow),
                ..inside
            },
            None => inside,
        });
    }

    /// Notes where an element ends.
    fn end(&mut self, element: NodeId) {
        let end = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        if let Some(node) = self.nodes.get_mut(element.index()) {
            node.end = end;
        }
    }
}
