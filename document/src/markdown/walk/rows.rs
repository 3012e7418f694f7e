//! Rows and cells of a table of data.

use super::super::escape::Into;
use super::super::line::Mark;
use super::{Ending, Inside, Walk};
use crate::html::{Attribute, Node, Tag};

impl Walk<'_> {
    /// A block in a table of data.
    pub(super) fn in_table(&mut self, node: Node) -> Inside {
        let ending = match node.tag {
            Tag::Tr => {
                self.outside_of_cells();
                Ending::Row
            }
            Tag::Td | Tag::Th => {
                self.outside_of_cells();
                let span =
                    self.tree.attribute(node, Attribute::Colspan).and_then(|span| span.trim().parse().ok());
                Ending::Cell { is_header: node.tag == Tag::Th, span: span.unwrap_or(1) }
            }
            Tag::Caption => {
                self.outside_of_cells();
                self.line.into = Into::Block;
                self.line.begin(Mark::Strong);
                Ending::Caption
            }
            _ => {
                self.flush();
                Ending::Block
            }
        };
        self.ends_with(node, ending)
    }

    /// Text in a table that is in no cell goes before the table.
    fn outside_of_cells(&mut self) {
        let is_in_cell = self.endings.iter().rev().any(|(_, ending)| matches!(ending, Ending::Cell { .. }));
        if !is_in_cell {
            let text = self.line.take();
            self.blocks.paragraph(&text);
        }
    }
}
