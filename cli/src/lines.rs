//! Reading stdin line by line, so that a command can serve as a coprocess.

use std::io::{self, BufRead, Read, StdoutLock, Write};
use std::process::ExitCode;

use crawlpike_core::{Diagnostic, Position};
use serde_json::json;

use crate::failure::{Failure, UNUSABLE, say};

/// The longest line that is read, in bytes. Longer ones are an error; the lines after them are read.
const LONGEST: usize = 1 << 20;

/// A line of stdin.
pub(crate) struct Line<'a> {
    /// From 1.
    number: u32,
    /// Without its end; `None` if it is longer than [`LONGEST`].
    content: Option<&'a [u8]>,
}

impl Line<'_> {
    /// An error in this line, at a column that counts characters from 1.
    pub(crate) fn error(&self, column: u32, message: impl Into<String>) -> Diagnostic {
        let position = Some(Position { line: self.number, column });
        Diagnostic { position, ..Diagnostic::error("<stdin>", message) }
    }

    /// The error of a line without content.
    fn too_long(&self) -> Diagnostic {
        self.error(1, format!("the line is longer than {LONGEST} bytes"))
    }
}

/// Answers each line of stdin before the next one is read: with what `answer` writes to stdout, or with the error in the line,
/// as JSON, too, if `is_json`.
pub(crate) fn answer_stdin<T>(
    is_json: bool,
    parse: impl Fn(&Line<'_>, &[u8]) -> Result<T, Diagnostic>,
    answer: impl Fn(T, &mut StdoutLock<'static>) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    let mut output = io::stdout().lock();
    let mut status = ExitCode::SUCCESS;
    each(io::stdin().lock(), |line| {
        match line.content.ok_or_else(|| line.too_long()).and_then(|content| parse(line, content)) {
            Ok(asked) => answer(asked, &mut output)?,
            Err(diagnostic) => {
                status = ExitCode::from(UNUSABLE);
                if is_json {
                    writeln!(output, "{}", json!({ "error": diagnostic.to_string() }))?;
                }
                say(diagnostic);
            }
        }
        output.flush()?;
        Ok(())
    })?;
    Ok(status)
}

/// Calls `step` with each line that is not blank, as soon as it is read.
fn each(
    mut input: impl BufRead,
    mut step: impl FnMut(&Line<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // One more than the bound, and the line feed.
    const READ_AT_ONCE: u64 = LONGEST as u64 + 2;
    let mut buffer = Vec::new();
    let mut number = 0;
    loop {
        buffer.clear();
        if input.by_ref().take(READ_AT_ONCE).read_until(b'\n', &mut buffer).map_err(unreadable)? == 0 {
            return Ok(());
        }
        number += 1;
        let is_whole = buffer.last() == Some(&b'\n');
        let content = buffer.strip_suffix(b"\n").unwrap_or(&buffer);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        if content.len() > LONGEST {
            if !is_whole {
                input.skip_until(b'\n').map_err(unreadable)?;
            }
            step(&Line { number, content: None })?;
        } else if !content.trim_ascii().is_empty() {
            step(&Line { number, content: Some(content) })?;
        }
    }
}

fn unreadable(error: io::Error) -> Failure {
    Failure::because(format_args!("cannot read stdin: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(input: &[u8]) -> Vec<(u32, Option<usize>)> {
        let mut seen = Vec::new();
        each(input, |line| {
            seen.push((line.number, line.content.map(<[u8]>::len)));
            Ok(())
        })
        .unwrap();
        seen
    }

    #[test]
    fn blank_lines_are_counted_and_the_last_line_needs_no_end() {
        assert_eq!(lengths(b"a\r\n \n\nbcd"), [(1, Some(1)), (4, Some(3))]);
        assert_eq!(lengths(b""), []);
    }

    #[test]
    fn a_line_over_the_bound_is_skipped_and_the_next_is_read() {
        for excess in [0, 1, 2, 3, 100_000] {
            let input = [vec![b'x'; LONGEST + excess], b"\nab\n".to_vec()].concat();
            let first = (excess == 0).then_some(LONGEST);
            assert_eq!(lengths(&input), [(1, first), (2, Some(2))], "{excess}");
        }
    }
}
