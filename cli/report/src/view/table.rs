//! Tables for terminals.

use std::io::{self, Write};

use crate::harmless::harmless;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// A table whose first row is its heading.
#[derive(Debug)]
pub(super) struct Table<const N: usize> {
    pub(super) columns: [Align; N],
    pub(super) rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(super) fn new(columns: [(&str, Align); N]) -> Self {
        Self {
            columns: columns.map(|(_, align)| align),
            rows: vec![columns.map(|(heading, _)| heading.to_string())],
        }
    }

    pub(super) fn push(&mut self, row: [String; N]) {
        self.rows.push(row.map(|cell| harmless(&cell)));
    }

    /// Writes the table with at most `width` columns of text for each line, as far as the cells can be cut for that: the
    /// widest columns of text first.
    pub(super) fn write(&self, width: usize, output: &mut impl Write) -> io::Result<()> {
        const SHORTEST: usize = 12;
        let longest =
            |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let mut widths: [usize; N] = std::array::from_fn(longest);
        let excess = |widths: &[usize; N]| {
            (widths.iter().sum::<usize>() + 2 * N.saturating_sub(1)).saturating_sub(width)
        };
        while excess(&widths) > 0 {
            let texts = (0..N).filter(|at| self.columns[*at] == Align::Left && widths[*at] > SHORTEST);
            let Some(widest) = texts.max_by_key(|at| widths[*at]) else { break };
            widths[widest] -= 1;
        }
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, width), align) in row.iter().zip(widths).zip(self.columns) {
                let cell = cut(cell, width);
                let padding = width - cell.chars().count();
                let (before, after) = if align == Align::Right { (padding, 0) } else { (0, padding) };
                line.extend(std::iter::repeat_n(' ', before));
                line.push_str(&cell);
                line.extend(std::iter::repeat_n(' ', after + 2));
            }
            writeln!(output, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A text, cut to so many characters.
pub(super) fn cut(cell: &str, width: usize) -> String {
    if cell.chars().count() <= width {
        return cell.to_string();
    }
    cell.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Writes a paragraph whose first line starts with `mark`, wrapped.
pub(super) fn paragraph(mark: &str, text: &str, width: usize, output: &mut impl Write) -> io::Result<()> {
    let indent = mark.chars().count();
    let mut line = mark.to_string();
    let mut is_empty = true;
    for word in harmless(text).split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            writeln!(output, "{line}")?;
            line = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    writeln!(output, "{line}")
}
