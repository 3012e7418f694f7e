//! `crawlpike completions`: the commands and options for the completion of a shell.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::failure::Failure;

/// Print the completions of a shell
///
/// The packages install them. For another installation, write them where your shell looks for them, such as
/// ~/.local/share/bash-completion/completions/crawlpike.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut crate::Arguments::command(), "crawlpike", &mut script);
    io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
