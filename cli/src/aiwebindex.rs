//! `crawlpike aiwebindex`: the forms of pages that agents read, and the proof of who owns a domain.

mod crawler;
mod document;
mod token;
mod verify;

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;

/// The agent of AIWebIndex, whose rules a page can state by name.
const TOKEN: &str = "AIWebIndex";

/// The text before a token where it is published.
const PROOF: &str = "aiwi-verify=";

/// The exit status if a domain is not verified, or if there is no page.
const NOT_SO: u8 = 1;

/// Show the forms of pages that agents read, and prove who owns a domain
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Document(document::Arguments),
    Token(token::Arguments),
    Verify(verify::Arguments),
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::Document(arguments) => document::run(arguments),
        Command::Token(arguments) => token::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
    }
}
