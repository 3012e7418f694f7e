//! The command line of Crawlpike: it explains what the gates decide, and prepares what they decide with.
//!
//! Results go to stdout, warnings and errors to stderr. The exit status of a command that could not do its work is 2; its
//! help has the others.
//!
//! No policy belongs here: `crawlpike-core` decides, compiles and checks, `gate/files` reads and watches files, and `report`, beside
//! this folder, judges access logs.

mod agents;
mod aiwebindex;
mod catalog;
mod clock;
mod compile;
mod completions;
mod dns;
mod doctor;
mod document;
mod envoy;
mod explain;
mod failure;
mod feeds;
mod http;
mod import;
mod init;
mod lines;
mod lint;
mod lookup;
mod man;
mod names;
mod nginx_conf;
mod publish;
mod random;
mod report;
mod request;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod sign;
mod source;
mod table;
mod trace;
mod update;
mod usage;
mod watch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Access control for automated HTTP clients, at the edge
#[derive(Debug, Parser)]
#[command(name = "crawlpike", version)]
struct Arguments {
    /// Print all warnings and errors, also those that others sum up
    #[arg(short, long, global = true)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Arguments),
    Explain(explain::Arguments),
    Agents(agents::Arguments),
    Feeds(feeds::Arguments),
    Lint(lint::Arguments),
    Doctor(doctor::Arguments),
    Lookup(lookup::Arguments),
    Usage(usage::Arguments),
    Update(update::Arguments),
    Compile(compile::Arguments),
    Envoy(envoy::Arguments),
    #[cfg(feature = "serve")]
    Serve(serve::Arguments),
    Report(report::Arguments),
    Publish(publish::Arguments),
    Aiwebindex(aiwebindex::Arguments),
    Sign(sign::Arguments),
    Import(import::Arguments),
    Schema(schema::Arguments),
    Completions(completions::Arguments),
    #[command(hide = true)]
    Man(man::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.verbose {
        failure::be_verbose();
    }
    let done = match arguments.command {
        Command::Init(arguments) => init::run(&arguments),
        Command::Agents(arguments) => agents::run(&arguments),
        Command::Feeds(arguments) => feeds::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Lookup(arguments) => lookup::run(&arguments),
        Command::Usage(arguments) => usage::run(&arguments),
        Command::Update(arguments) => update::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Compile(arguments) => compile::run(&arguments),
        Command::Envoy(arguments) => envoy::run(&arguments),
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => serve::run(arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Publish(arguments) => publish::run(&arguments),
        Command::Aiwebindex(arguments) => aiwebindex::run(&arguments),
        Command::Sign(arguments) => sign::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
    };
    done.unwrap_or_else(|failure| failure.report())
}
