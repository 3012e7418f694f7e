//! Columns of text.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::failure::Failure;

/// Writes rows with their columns aligned. Control characters are escaped, since a configuration may contain any.
fn write<const N: usize>(output: &mut impl Write, rows: &[[String; N]]) -> io::Result<()> {
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

/// Prints rows to stdout: as JSON, an object a line, or as a table of these cells.
pub(crate) fn print<R: Serialize, const N: usize>(
    rows: &[R],
    is_json: bool,
    cells: impl Fn(&R) -> [String; N],
) -> Result<ExitCode, Failure> {
    let mut output = io::stdout().lock();
    if is_json {
        for row in rows {
            serde_json::to_writer(&mut output, row)?;
            writeln!(output)?;
        }
    } else {
        write(&mut output, &rows.iter().map(cells).collect::<Vec<_>>())?;
    }
    Ok(ExitCode::SUCCESS)
}
