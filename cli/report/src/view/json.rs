//! The report as one object of JSON.

use std::io::{self, Write};

use crate::harmless;
use crate::model::Report;

/// Writes the report as JSON, in one line.
///
/// # Errors
///
/// If `output` fails.
pub fn write_json(report: &Report, output: &mut impl Write) -> io::Result<()> {
    harmless::write_json(output, report)?;
    writeln!(output)
}
