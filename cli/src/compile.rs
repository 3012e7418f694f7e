//! `crawlward compile`: the configuration and all its feeds in one file that loads in milliseconds.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crawlward_host::FilesBeside;
use zerocopy::IntoBytes;

use crate::failure::Failure;
use crate::source;

/// Compile a configuration and all its feeds into one file, which every command and both gates take in its place
///
/// The file is for machines of this one's byte order, and carries a checksum: a cut or altered one is refused. Each feed
/// is listed with its state; versions that are good are kept beside their sources, as FILE.last-good.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlward compile --config crawlward.json --output crawlward.bin
      In nginx.conf: crawlward_config crawlward.bin;
  crawlward compile --config crawlward.json --output crawlward.bin --accept googlebot
      Lets in the version of the feed `googlebot` that its guard holds.")]
pub(crate) struct Arguments {
    /// The configuration document
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The file to write, replaced in one step by a rename
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Let the new version of a feed in, whatever its guard says; repeatable
    #[arg(long, value_name = "FEED")]
    accept: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    source::check_output(&arguments.config, &arguments.output)?;
    let files = FilesBeside::new(&arguments.config).accepting(&arguments.accept);
    let compiled = source::compile(&arguments.config, &files)?;
    let (Some(ruleset), Some(words)) = (&compiled.ruleset, compiled.store()) else {
        return Err(Failure::Because("the ruleset is too large to be stored".to_string()));
    };
    source::check_accepted(ruleset, &arguments.accept)?;
    source::keep(&arguments.config, &compiled.good_feeds);
    crawlward_host::replace(&arguments.output, words.as_bytes()).map_err(|error| {
        Failure::Because(format!("{} can't be written: {error}", arguments.output.display()))
    })?;
    let mut output = io::stdout().lock();
    for feed in ruleset.feeds(crawlward_host::now()) {
        writeln!(output, "{} {}: {} prefixes, {}", feed.format, feed.name, feed.prefixes, feed.state)?;
    }
    Ok(ExitCode::SUCCESS)
}
