//! Rows and cells of a table of data.

use super::super::code;
use super::super::escape::Into;
use super::super::line::Mark;
use super::{Ending, Inside, Walk};
use crate::html::tree::Flags;
use crate::html::{Attribute, Node, NodeId, Tag};

/// The nodes between two items of a list.
const MOST_BETWEEN: usize = 4;
/// The nodes of a cell in which a name of an icon is looked for.
const MOST_LOOKED_AT: usize = 64;

impl Walk<'_> {
    /// A block in a table of data.
    pub(super) fn in_table(&mut self, id: NodeId, node: Node) -> Inside {
        let ending = match node.tag {
            Tag::Tr => {
                self.outside_of_cells();
                Ending::Row
            }
            Tag::Td | Tag::Th => {
                self.outside_of_cells();
                let span = |attribute| {
                    let span = self.tree.attribute(node, attribute)?;
                    span.trim().parse::<usize>().ok()
                };
                // To the end of the group.
                const ALL: usize = 65534;
                let rows =
                    span(Attribute::Rowspan).map_or(1, |rows| if rows == 0 { ALL } else { rows.min(ALL) });
                let columns = span(Attribute::Colspan).unwrap_or(1);
                Ending::Cell { id, is_header: node.tag == Tag::Th, columns, rows }
            }
            Tag::Thead | Tag::Tbody | Tag::Tfoot => {
                self.flush();
                if let Some(table) = &mut self.table {
                    table.is_in_head = node.tag == Tag::Thead;
                    table.is_in_foot = node.tag == Tag::Tfoot;
                }
                Ending::RowGroup
            }
            Tag::Pre | Tag::Listing => {
                self.flush();
                let lines = code::lines(self.tree, id, node).unwrap_or_default();
                for line in lines.lines() {
                    self.line.push_code(line);
                    self.line.blank();
                }
                return Inside::Skip;
            }
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => {
                self.flush();
                self.line.begin(Mark::Strong);
                Ending::Label
            }
            Tag::Li => {
                self.flush();
                let mut before = self.tree.all_before(id).take(MOST_BETWEEN);
                if before.any(|id| self.tree.node(id).tag == Tag::Li) {
                    self.line.end_item();
                }
                Ending::Block
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

    pub(super) fn end_cell(&mut self, id: NodeId, is_header: bool, columns: usize, rows: usize) {
        let mut text = self.line.take();
        if text.is_empty()
            && let Some(name) = self.name_of_icon(id)
        {
            self.line.push(&name);
            text = self.line.take();
        }
        if let Some(table) = &mut self.table {
            table.add_cell(&text, is_header, columns, rows);
        }
    }

    /// The name of an icon that is all that a cell has.
    fn name_of_icon(&self, id: NodeId) -> Option<String> {
        let get = |node, attribute| {
            let name = self.tree.attribute(node, attribute).map(str::trim).filter(|name| !name.is_empty())?;
            Some(name.to_owned())
        };
        self.tree.inside(id).take(MOST_LOOKED_AT).find_map(|(id, node)| match node.tag {
            Tag::Text => None,
            _ if node.flags.has(Flags::HIDDEN) => None,
            Tag::Title => Some(self.tree.all_text(id).trim().to_owned()).filter(|title| !title.is_empty()),
            _ => get(node, Attribute::AriaLabel)
                .or_else(|| get(node, Attribute::Alt))
                .or_else(|| get(node, Attribute::Title)),
        })
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
