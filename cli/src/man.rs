//! `crawlpike man`: the manual pages, from what `--help` prints.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::failure::Failure;

/// Write the manual pages of this command and its subcommands
///
/// For packages: crawlpike.1, crawlpike-explain.1 and so on.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder to write them to; it must exist
    folder: PathBuf,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let command = crate::Arguments::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, &arguments.folder)
        .map_err(|error| Failure::because(format_args!("{}: {error}", arguments.folder.display())))?;
    Ok(ExitCode::SUCCESS)
}
