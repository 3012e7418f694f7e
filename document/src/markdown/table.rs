//! Tables: which hold data, and how those are written.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::ops::Range;

use crate::html::{Attribute, Node, NodeId, Tag, Tree};

/// More columns than this are not read as columns.
const WIDEST: usize = 64;
/// The empty cells for cells that span columns, which a table has beside as many as it has cells, and a row has at most beyond them.
const ROOM_FOR_SPANNED: usize = 1024;
const MOST_SPANNED: usize = 16;
/// A table without headers whose cells have more text than this holds parts of the page.
const LONGEST_CELL: usize = 240;

/// Returns true if a table holds rows of data; otherwise it arranges parts of the page.
pub(crate) fn is_data(tree: &Tree, id: NodeId, node: Node) -> bool {
    let role = tree.attribute(node, Attribute::Role).unwrap_or_default().trim();
    if role.eq_ignore_ascii_case("presentation") || role.eq_ignore_ascii_case("none") {
        return false;
    }
    let (mut rows, mut cells, mut most_cells) = (0_usize, 0_usize, 0_usize);
    let (mut has_headers, mut is_head, mut has_head) = (false, true, false);
    let (mut cell_text, mut longest, mut has_blocks, mut has_parts) = (0, 0, false, false);
    for (_, inner) in tree.inside(id).skip(1) {
        match inner.tag {
            Tag::Tr => {
                has_head |= rows == 1 && is_head && cells >= 2;
                rows += 1;
                cells = 0;
            }
            Tag::Td | Tag::Th => {
                has_headers |= inner.tag == Tag::Th;
                is_head &= inner.tag == Tag::Th || rows > 1;
                cells += 1;
                cell_text = 0;
                most_cells = most_cells.max(cells);
            }
            Tag::Text => {
                cell_text += tree.text(inner).len();
                longest = longest.max(cell_text);
            }
            Tag::Table => return false,
            Tag::Pre | Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 | Tag::Blockquote => {
                has_parts = true;
            }
            Tag::P | Tag::Ul | Tag::Ol | Tag::Div => has_blocks = true,
            _ => {}
        }
    }
    // A row of headings says that the others are data, whatever their cells have.
    let is_plain = !has_parts || has_head && longest <= LONGEST_CELL;
    rows >= 2 && most_cells >= 2 && is_plain && (has_headers || !has_blocks || longest <= LONGEST_CELL)
}

/// The bytes of repeated cells, and their number, that a table has beside as many as it has of its own.
const ROOM_FOR_REPEATED: usize = 16 << 10;
const MOST_REPEATED: usize = 2048;

/// A cell by its number in `ends`; none if it is empty.
type Cell = Option<NonZeroU32>;

/// A cell that goes on in the next rows.
#[derive(Clone, Copy, Debug)]
struct Falling {
    column: usize,
    cell: Cell,
    rows: usize,
}

/// The rows of a table, as far as they have been read.
#[derive(Debug, Default)]
pub(super) struct Table {
    text: String,
    /// The ends of the cells in `text`.
    ends: Vec<u32>,
    /// The cells in the order of the rows; a cell that spans several rows is in each of them.
    cells: Vec<Cell>,
    /// The ends of the rows in `cells`.
    rows: Vec<u32>,
    /// True if the first row has headers, and no other text.
    has_head: bool,
    has_text: bool,
    /// The rows that are being read are the head of the table.
    pub(super) is_in_head: bool,
    /// The rows that are being read are the foot of the table; those that have been read.
    pub(super) is_in_foot: bool,
    foot: Range<usize>,
    /// The empty cells that stand for what the last cell spans.
    spanned: usize,
    spanned_in_row: usize,
    spanned_in_all: usize,
    /// The cells that go on in the row that is being read, by their columns.
    falling: VecDeque<Falling>,
    /// Those that go on in the next row.
    next: VecDeque<Falling>,
    has_own_cells: bool,
    repeated: usize,
    repeated_bytes: usize,
    /// Cells go on in more rows than can be written.
    pub(super) is_cut: bool,
}

impl Table {
    /// The cells of the row that is being read.
    fn cells_in_row(&self) -> usize {
        self.cells.len() - self.rows.last().map_or(0, |end| *end as usize)
    }

    pub(super) fn add_cell(&mut self, text: &str, is_header: bool, columns: usize, rows: usize) {
        if self.rows.is_empty() {
            let is_header = is_header || self.is_in_head;
            self.has_head |= is_header;
            self.has_text |= !is_header && !text.is_empty();
        }
        self.has_own_cells = true;
        for _ in 0..std::mem::take(&mut self.spanned) {
            self.cells.push(None);
        }
        self.repeat_until(false);
        if self.cells_in_row() >= WIDEST {
            // Nothing is lost: the last column has it.
            self.text.push(' ');
            self.text.push_str(text);
            if let Some(end) = self.ends.last_mut() {
                *end = number(self.text.len());
            }
            return;
        }
        self.text.push_str(text);
        self.ends.push(number(self.text.len()));
        let cell = NonZeroU32::new(number(self.ends.len()));
        let column = self.cells_in_row();
        self.cells.push(cell);
        let has_room = self.spanned_in_all < ROOM_FOR_SPANNED + self.ends.len();
        let most = if has_room { WIDEST } else { MOST_SPANNED };
        self.spanned = columns.saturating_sub(1).min(most.saturating_sub(self.spanned_in_row));
        self.spanned_in_row += self.spanned;
        self.spanned_in_all += self.spanned;
        if rows > 1 {
            self.next.push_back(Falling { column, cell, rows: rows - 1 });
            for spanned in 1..=self.spanned {
                self.next.push_back(Falling { column: column + spanned, cell: None, rows: rows - 1 });
            }
        }
    }

    /// Repeats the cells that go on here; at the end of the row all that are left.
    fn repeat_until(&mut self, is_end: bool) {
        while let Some(falling) = self.falling.front().copied() {
            let column = self.cells_in_row();
            if falling.column > column && !is_end || column >= WIDEST {
                return;
            }
            self.falling.pop_front();
            for _ in column..falling.column.min(WIDEST) {
                self.cells.push(None);
            }
            let bytes = self.range(falling.cell).len();
            let has_room = self.repeated < MOST_REPEATED + 2 * self.ends.len()
                && self.repeated_bytes + bytes <= ROOM_FOR_REPEATED + self.text.len();
            if !has_room {
                self.is_cut = true;
                return;
            }
            self.repeated += 1;
            self.repeated_bytes += bytes;
            self.cells.push(falling.cell);
            if falling.rows > 1 {
                self.next.push_back(Falling { rows: falling.rows - 1, ..falling });
            }
        }
    }

    pub(super) fn end_row(&mut self) {
        if self.has_own_cells {
            for _ in 0..std::mem::take(&mut self.spanned).min(self.falling.len()) {
                self.cells.push(None);
            }
            self.repeat_until(true);
            self.rows.push(number(self.cells.len()));
            if self.is_in_foot {
                let first = if self.foot.is_empty() { self.rows.len() - 1 } else { self.foot.start };
                self.foot = first..self.rows.len();
            }
        } else {
            // A row of nothing but what goes on says nothing of its own.
            let falling = self.falling.drain(..).filter(|falling| falling.rows > 1);
            self.next.extend(falling.map(|falling| Falling { rows: falling.rows - 1, ..falling }));
        }
        self.spanned = 0;
        self.spanned_in_row = 0;
        self.has_own_cells = false;
        self.falling.clear();
        std::mem::swap(&mut self.falling, &mut self.next);
    }

    /// Ends a group of rows, in which cells end, too.
    pub(super) fn end_group(&mut self) {
        (self.is_in_head, self.is_in_foot) = (false, false);
        self.falling.clear();
        self.next.clear();
    }

    /// The place of a cell's text.
    fn range(&self, cell: Cell) -> Range<usize> {
        let Some(last) = cell.map(|cell| cell.get() as usize - 1) else { return 0..0 };
        let end = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        last.checked_sub(1).map_or(0, end)..end(last)
    }

    /// The texts of the cells from one number to another.
    fn texts(&self, start: u32, end: u32) -> impl Iterator<Item = &str> {
        let cells = self.cells.get(start as usize..end as usize).unwrap_or_default();
        cells.iter().map(|cell| self.text.get(self.range(*cell)).unwrap_or_default().trim())
    }

    /// The table in markdown.
    pub(super) fn finish(mut self) -> String {
        self.end_row();
        let starts = std::iter::once(&0).chain(&self.rows);
        let rows = starts
            .zip(&self.rows)
            .enumerate()
            .filter(|(_, (start, end))| self.texts(**start, **end).any(|text| !text.is_empty()));
        // Browsers show the foot below all other rows.
        let is_foot = |at: usize| self.foot.contains(&at);
        let body = rows.clone().filter(|(at, _)| !is_foot(*at));
        let mut rows = body.chain(rows.filter(|(at, _)| is_foot(*at))).map(|(_, row)| row).peekable();
        if rows.peek().is_none() {
            return String::new();
        }
        let columns = rows.clone().map(|(start, end)| end - start).max().unwrap_or(0) as usize;
        let mut out =
            String::with_capacity(self.text.len() + self.repeated_bytes + 4 * self.cells.len() + 16);
        // Without headers the first row is an empty one, since markdown has no table without.
        let head = if self.has_head && !self.has_text { rows.next() } else { None };
        let names = head.into_iter().flat_map(|(start, end)| self.texts(*start, *end));
        push_row(&mut out, names.chain(std::iter::repeat("")).take(columns));
        push_row(&mut out, std::iter::repeat_n("---", columns));
        for (start, end) in rows {
            push_row(&mut out, self.texts(*start, *end));
        }
        out
    }
}

fn push_row<'t>(out: &mut String, cells: impl Iterator<Item = &'t str>) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push('|');
    for cell in cells {
        out.push(' ');
        out.push_str(cell);
        out.push_str(if cell.is_empty() { "|" } else { " |" });
    }
}

fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
