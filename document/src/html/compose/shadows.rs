//! Shadow trees that a page declares, and what fills their slots.

use std::collections::HashMap;

use super::super::tree::Node;
use super::super::{Attribute, NodeId, Tag, Tree};

/// A shadow tree that is being written.
#[derive(Debug)]
struct Shadow<'t> {
    /// The children of the host by the names of their slots, until a slot takes them.
    children: HashMap<&'t str, Vec<NodeId>>,
    /// The shadow tree that the host is in.
    around: Option<usize>,
}

/// The shadow trees of a page.
#[derive(Debug)]
pub(super) struct Shadows<'t> {
    /// The templates by their hosts.
    templates: HashMap<NodeId, NodeId>,
    written: Vec<Shadow<'t>>,
}

impl<'t> Shadows<'t> {
    pub(super) fn of(tree: &'t Tree<'_>) -> Self {
        let mut templates = HashMap::new();
        if tree.parts.has_shadows {
            for (id, node) in tree.nodes().filter(|(_, node)| is_shadow(tree, *node)) {
                // An element has one shadow tree.
                templates.entry(node.parent).or_insert(id);
            }
        }
        Self { templates, written: Vec::new() }
    }

    /// The template that an element shows in the place of its children, and the number of the shadow tree.
    pub(super) fn enter(
        &mut self,
        tree: &'t Tree<'_>,
        host: NodeId,
        around: Option<usize>,
    ) -> Option<(NodeId, usize)> {
        let template = if self.templates.is_empty() { None } else { self.templates.remove(&host) }?;
        let mut children: HashMap<&str, Vec<NodeId>> = HashMap::new();
        for (id, node) in tree.children(host).filter(|(_, node)| !is_shadow(tree, *node)) {
            let slot = tree.attribute(node, Attribute::Slot).unwrap_or_default();
            children.entry(slot).or_default().push(id);
        }
        self.written.push(Shadow { children, around });
        Some((template, self.written.len() - 1))
    }

    /// The children of the host that a slot shows: of slots with one name, the first one has them.
    pub(super) fn take(&mut self, shadow: usize, tree: &Tree<'_>, slot: Node) -> Vec<NodeId> {
        let name = tree.attribute(slot, Attribute::Name).unwrap_or_default();
        let shadow = self.written.get_mut(shadow);
        shadow.and_then(|shadow| shadow.children.remove(name)).unwrap_or_default()
    }

    /// The shadow tree around another one's host.
    pub(super) fn around(&self, shadow: usize) -> Option<usize> {
        self.written.get(shadow).and_then(|shadow| shadow.around)
    }
}

fn is_shadow(tree: &Tree<'_>, node: Node) -> bool {
    node.tag == Tag::Template && tree.attribute(node, Attribute::ShadowRootMode).is_some()
}
