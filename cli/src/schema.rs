//! `crawlpike schema`: the JSON Schema of the configuration document.

use std::io::{self, Write};
use std::process::ExitCode;

use crawlpike_core::Config;

use crate::failure::Failure;

/// Print the JSON Schema of the configuration document
///
/// An editor that has it completes and checks the document while you write. The document can name it:
/// "$schema": "crawlpike.schema.json".
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

/// Runs the command.
pub(crate) fn run(_: &Arguments) -> Result<ExitCode, Failure> {
    let mut output = io::stdout().lock();
    writeln!(output, "{:#}", Config::json_schema())?;
    Ok(ExitCode::SUCCESS)
}
