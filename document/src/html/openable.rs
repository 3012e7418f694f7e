//! The parts of a page that people can open, so that what hides them hides nothing.

use std::collections::HashMap;

use super::tree::{Flags, Node};
use super::{Attribute, NodeId, Tag, Tree};

/// The nodes of a part, and of what opens it, that are looked at.
const MOST_LOOKED_AT: usize = 64;
/// The nodes of what opens a part, and the bytes of its text: a few words.
const LARGEST_OPENER: usize = MOST_LOOKED_AT / 2;
const LONGEST_OPENER: u32 = 200;
/// The fewest bytes of text outside of links that a part has: a sentence.
const LEAST_TEXT: u32 = 60;

/// The parts of a page that people can open, and the elements that name them.
#[derive(Debug, Default)]
pub(super) struct Openable<'t> {
    /// By the ids of the parts: the element that opens it.
    controls: HashMap<&'t str, NodeId>,
    /// The elements by the ids with which parts name them.
    names: HashMap<&'t str, Option<NodeId>>,
}

impl<'t> Openable<'t> {
    pub(super) fn of(tree: &'t Tree<'_>) -> Self {
        let mut openable = Self::default();
        if !tree.parts.has_panels {
            return openable;
        }
        for (id, node) in tree.nodes().filter(|(_, node)| node.tag != Tag::Text) {
            let get = |attribute| tree.attribute(node, attribute).unwrap_or_default();
            let controls = [Attribute::AriaControls, Attribute::PopoverTarget].into_iter().map(get);
            for name in controls.flat_map(str::split_ascii_whitespace) {
                openable.controls.entry(name).or_insert(id);
            }
            if is_panel(node)
                && let Some(name) = get(Attribute::AriaLabelledby).split_ascii_whitespace().next()
            {
                openable.names.insert(name, None);
            }
        }
        for (id, node) in tree.nodes().filter(|(_, node)| node.tag != Tag::Text) {
            if let Some(name) = tree.attribute(node, Attribute::Id)
                && let Some(first @ None) = openable.names.get_mut(name)
            {
                *first = Some(id);
            }
        }
        openable
    }

    /// Returns true if people can open an element, or the only one in it: a tab, an answer, what follows "read more".
    pub(super) fn has(&self, tree: &Tree<'_>, id: NodeId, node: Node) -> bool {
        if !tree.parts.has_panels {
            return false;
        }
        let is_controlled =
            |node| tree.attribute(node, Attribute::Id).is_some_and(|id| self.controls.contains_key(id));
        let is_it = |node: Node| node.flags.has(Flags::NAMED) && (is_panel(node) || is_controlled(node));
        if is_it(node) {
            return true;
        }
        if !node.flags.has(Flags::STYLED) && !node.flags.has(Flags::HIDDEN) {
            return false;
        }
        let mut children = tree.children(id).filter(|(_, node)| node.text_length() != 1);
        let only = children.next().filter(|_| children.next().is_none());
        only.is_some_and(|(_, node)| is_it(node))
    }

    /// The panels and the elements that name them, in document order.
    pub(super) fn tabs(&self, tree: &Tree<'_>) -> Vec<(NodeId, NodeId)> {
        if !tree.parts.has_panels {
            return Vec::new();
        }
        let panels = tree.nodes().filter(|(_, node)| is_panel(*node));
        let named = panels.filter_map(|(id, node)| {
            let get = |attribute| tree.attribute(node, attribute).unwrap_or_default();
            let label = get(Attribute::AriaLabelledby).split_ascii_whitespace().next();
            let label = label.and_then(|label| self.names.get(label).copied().flatten());
            let control = || self.controls.get(get(Attribute::Id)).copied();
            Some((id, label.or_else(control)?))
        });
        named.collect()
    }
}

/// Returns true if an element is what a tab shows.
pub(crate) fn is_panel(node: Node) -> bool {
    node.flags.has(Flags::PANEL)
}

/// Returns true if an element has text, and is called a pane, or is right after what people press to open it, or a question: by
/// itself, or as all that the element around it has.
fn is_opened(tree: &Tree<'_>, id: NodeId) -> bool {
    const PANES: [&str; 3] = ["tab-pane", "tabpanel", "tabs-panel"];
    let is_pane = class(tree, id).split_ascii_whitespace().any(|class| PANES.contains(&class));
    (is_pane || opener(tree, id).is_some_and(|opener| opens(tree, opener, id)))
        && !has_dialog(tree, id)
        && length_of_text(tree, id) >= LEAST_TEXT
}

/// The parts of a page that are called like one that is opened, right after an element that is called like what opens that: short
/// answers among long ones.
#[derive(Debug, Default)]
pub(super) struct Alike<'t>(Vec<((&'t str, &'t str), bool)>);

impl<'t> Alike<'t> {
    /// The names of parts and of what opens them that are looked for.
    const MOST: usize = 16;

    /// Returns true if an element is opened, or called like one that is.
    pub(super) fn is_opened(&mut self, tree: &'t Tree<'_>, id: NodeId) -> bool {
        is_opened(tree, id) || self.has(tree, id)
    }

    fn has(&mut self, tree: &'t Tree<'_>, id: NodeId) -> bool {
        let Some(opener_of_it) = opener(tree, id).filter(|opener| may_open(tree, *opener)) else {
            return false;
        };
        let (part, opened_by) = (class(tree, id), class(tree, opener_of_it));
        let is_named = !part.is_empty() && !opened_by.is_empty();
        if !is_named || has_dialog(tree, id) || length_of_text(tree, id) == 0 {
            return false;
        }
        if let Some((_, known)) = self.0.iter().find(|(known, _)| *known == (part, opened_by)) {
            return *known;
        }
        if self.0.len() >= Self::MOST {
            return false;
        }
        let is_it = |id| {
            class(tree, id) == part
                && opener(tree, id).is_some_and(|opener| class(tree, opener) == opened_by)
                && is_opened(tree, id)
        };
        let has = tree.nodes().any(|(id, node)| node.flags.has(Flags::NAMED) && is_it(id));
        self.0.push(((part, opened_by), has));
        has
    }
}

fn class<'t>(tree: &'t Tree<'_>, id: NodeId) -> &'t str {
    tree.attribute(tree.node(id), Attribute::Class).unwrap_or_default().trim()
}

/// The element right before a part, or before the element of which it is all.
fn opener(tree: &Tree<'_>, id: NodeId) -> Option<NodeId> {
    const MOST_AROUND: usize = 3;
    let before = |id: NodeId| tree.element_before(id).map(|(id, _)| id);
    let is_only = |id: NodeId| before(id).is_none() && tree.next_element(id).is_none();
    let around = |id: &NodeId| Some(tree.node(*id).parent).filter(|_| is_only(*id));
    std::iter::successors(Some(id), around).take(MOST_AROUND).find_map(before)
}

fn has_dialog(tree: &Tree<'_>, id: NodeId) -> bool {
    tree.inside(id).take(MOST_LOOKED_AT).any(|(_, node)| is_dialog(tree, node))
}

/// Returns true if an element is what people press to open a part, or a question where both have a class.
fn opens(tree: &Tree<'_>, opener: NodeId, part: NodeId) -> bool {
    let get = |node, attribute| tree.attribute(node, attribute).unwrap_or_default().trim();
    let are_named = [part, opener].iter().all(|id| !class(tree, *id).is_empty());
    let is_pressed = |node: Node| {
        is_button(tree, node)
            || !get(node, Attribute::AriaExpanded).is_empty()
            || get(node, Attribute::Tabindex) == "0"
    };
    let opens = |node: Node| is_pressed(node) || are_named && asks(tree, node);
    may_open(tree, opener) && tree.inside(opener).take(MOST_LOOKED_AT).any(|(_, node)| opens(node))
}

/// Returns true if an element has a few words, and neither leads elsewhere nor takes input.
fn may_open(tree: &Tree<'_>, opener: NodeId) -> bool {
    let is_other = |node: Node| match node.tag {
        Tag::A => tree.address(node, Attribute::Href).is_some_and(|href| !href.starts_with('#')),
        tag => matches!(tag, Tag::Form | Tag::Input | Tag::Label | Tag::Select | Tag::Textarea),
    };
    let inside = || tree.inside(opener).take(MOST_LOOKED_AT).map(|(_, node)| node);
    let text: u32 = inside().map(Node::text_length).sum();
    tree.node(opener).end.index() - opener.index() <= LARGEST_OPENER
        && (2..=LONGEST_OPENER).contains(&text)
        && !inside().any(is_other)
}

/// The bytes of text of an element outside of links, buttons and forms.
fn length_of_text(tree: &Tree<'_>, id: NodeId) -> u32 {
    let (mut text, mut skip_to) = (0, id);
    for (id, node) in tree.inside(id).take(MOST_LOOKED_AT) {
        if matches!(node.tag, Tag::A | Tag::Button | Tag::Form) {
            skip_to = node.end;
        }
        if id >= skip_to {
            text += node.text_length();
        }
    }
    text
}

fn is_dialog(tree: &Tree<'_>, node: Node) -> bool {
    let role = || tree.attribute(node, Attribute::Role).unwrap_or_default().trim().to_ascii_lowercase();
    node.tag == Tag::Dialog || role().ends_with("dialog")
}

/// Returns true if an element is a button, by what it is or by its role.
pub(crate) fn is_button(tree: &Tree<'_>, node: Node) -> bool {
    let role = || tree.attribute(node, Attribute::Role).unwrap_or_default().trim();
    node.tag == Tag::Button || node.flags.has(Flags::NAMED) && role().eq_ignore_ascii_case("button")
}

/// Returns true if a run of text ends with a question.
pub(crate) fn asks(tree: &Tree<'_>, node: Node) -> bool {
    tree.text(node).trim_end().ends_with(['?', '？', '؟'])
}
