//! Blocks whose meaning their names give: notes, panels, titles.

use super::super::line::Mark;
use super::{Ending, Walk};
use crate::html::{Node, NodeId, Tag};

impl Walk<'_> {
    /// A block whose meaning its names give.
    pub(super) fn part(&mut self, id: NodeId, node: Node) -> Ending {
        let is_apart = |id, node| {
            id != self.content.root && !self.is_list_of_notes(id, node) && !self.is_all_of_note(id)
        };
        let note = self.tree.note(node).filter(|_| is_apart(id, node));
        if let Some(note) = note {
            self.blocks.begin_quote();
            if let Some(kind) = self.tree.kind_to_name(id, note) {
                self.label(kind);
            }
            return Ending::Quote;
        }
        if self.tree.is_title_of_note(node) {
            self.line.begin(Mark::Strong);
            return Ending::Label;
        }
        Ending::Block
    }

    /// Returns true if an `aside` holds others, as that of all footnotes.
    fn is_list_of_notes(&self, id: NodeId, node: Node) -> bool {
        node.tag == Tag::Aside
            && self.tree.first_element(id).is_some_and(|(_, first)| first.tag == Tag::Aside)
    }

    /// Returns true if an element is all that a note of some kind has in it.
    fn is_all_of_note(&self, id: NodeId) -> bool {
        const MOST_AROUND: usize = 3;
        const MOST_BESIDE: usize = 8;
        let mut inside = id;
        for (around, node) in self.tree.around(id).take(MOST_AROUND) {
            let is_nothing = |(other, node): (NodeId, Node)| other == inside || self.tree.is_blank(node);
            let mut beside = self.tree.children(around).take(MOST_BESIDE);
            if around == self.content.root || !beside.all(is_nothing) {
                return false;
            }
            if let Some(note) = self.tree.note(node) {
                return note.kind.is_some() && !self.is_list_of_notes(around, node);
            }
            inside = around;
        }
        false
    }

    /// Writes a line that names what follows.
    pub(super) fn label(&mut self, text: &str) {
        self.line.begin(Mark::Strong);
        self.line.push(text);
        self.line.end();
        self.flush();
    }
}
