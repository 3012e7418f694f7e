//! The command line of Crawlward: what the gates would decide and why, and what they are given to decide with.
//!
//! Results go to stdout, everything about what is wrong to stderr. A command ends with 2 where it could not do its
//! work; the other codes are said in its help.

mod compile;
mod envoy;
mod explain;
mod failure;
mod lines;
mod lint;
mod lookup;
mod man;
mod request;
mod schema;
mod source;
mod trace;
mod watch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;

/// Access control for automated HTTP clients, at the edge.
#[derive(Debug, Parser)]
#[command(name = "crawlward", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Explain(explain::Arguments),
    Lint(lint::Arguments),
    Lookup(lookup::Arguments),
    Compile(compile::Arguments),
    Envoy(envoy::Arguments),
    Schema(schema::Arguments),
    #[command(hide = true)]
    Man(man::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Lookup(arguments) => lookup::run(&arguments),
        Command::Compile(arguments) => compile::run(&arguments),
        Command::Envoy(arguments) => envoy::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
    };
    done.unwrap_or_else(Failure::report)
}
