//! Blocks whose meaning their names give: notes, panels, titles.

use super::super::line::Mark;
use super::{Ending, Walk};
use crate::html::{Node, NodeId, Tag};

impl Walk<'_> {
    /// A block whose meaning its names give.
    pub(super) fn part(&mut self, id: NodeId, node: Node) -> Ending {
        let note =
            self.tree.note(node).filter(|_| id != self.content.root && !self.is_list_of_notes(id, node));
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

    /// Writes a line that names what follows.
    pub(super) fn label(&mut self, text: &str) {
        self.line.begin(Mark::Strong);
        self.line.push(text);
        self.line.end();
        self.flush();
    }
}
