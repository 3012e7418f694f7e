//! Columns of text.

use std::io::{self, Write};

/// Writes rows with their columns aligned. Control characters are escaped, since a configuration may contain any.
pub(crate) fn write<const N: usize>(output: &mut impl Write, rows: &[[String; N]]) -> io::Result<()> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; N] = std::array::from_fn(width);
    for row in rows {
        let mut line = String::new();
        for (text, width) in row.iter().zip(widths) {
            line.extend(text.chars().map(|character| if character.is_control() { '?' } else { character }));
            line.extend(std::iter::repeat_n(' ', width - text.chars().count() + 2));
        }
        writeln!(output, "{}", line.trim_end())?;
    }
    Ok(())
}
