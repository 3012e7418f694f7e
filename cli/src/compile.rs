//! `crawlpike compile`: the configuration and all its feeds in one file that loads in milliseconds.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crawlpike_files::{Recording, Snapshot};
use flate2::Compression;
use flate2::write::GzEncoder;
use zerocopy::IntoBytes;

use crate::failure::Failure;
use crate::source;

/// Compile a configuration and its feeds into one file
///
/// Every command and both gates take the file in place of the configuration document, and load it in milliseconds. It is
/// for machines of the same byte order, and has a checksum: a file that was cut or altered is refused.
///
/// Prints the state of each feed, and keeps good versions beside their sources, as FILE.last-good. Only users who can read
/// all files that it is made of can read the file.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike compile --config crawlpike.json --output crawlpike.bin
      In nginx.conf: crawlpike_config crawlpike.bin;
  crawlpike compile --config crawlpike.json --output crawlpike.bin.gz --gzip
      The same in a fraction of the bytes, for a ConfigMap of Kubernetes; it takes some milliseconds more to load.
  crawlpike compile --config crawlpike.json --accept googlebot
      Accepts the new version of the feed `googlebot`, which its guard holds; nginx uses it from the next reload on.")]
pub(crate) struct Arguments {
    /// The configuration document
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The file to write, replaced in one step; without it, only the good versions of feeds are kept
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Compress the file by gzip; gates and commands read it directly
    #[arg(long, requires = "output")]
    gzip: bool,
    /// Accept the new version of this feed, even if its guard holds it; can be repeated
    #[arg(long, value_name = "FEED")]
    accept: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Arguments { config, output, gzip, accept } = arguments;
    let (files, snapshot) = (source::files_to_deliver(config).accepting(accept), Snapshot::default());
    let compiled = source::compile_to_keep(config, Recording::new(&files, &snapshot), &snapshot)?;
    let ruleset = compiled.ruleset.as_ref().ok_or(Failure::Reported)?;
    source::check_accepted(ruleset, accept)?;
    if let Some(output) = output {
        source::check_output(output, &snapshot)?;
    }
    source::warn_of_unkept(config, files.keep(&compiled.good_feeds));
    if let Some(output) = output {
        let words =
            compiled.store().ok_or_else(|| Failure::because("the ruleset is too large to be stored"))?;
        if *gzip {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(words.as_bytes())?;
            source::replace(output, &encoder.finish()?, &snapshot)?;
        } else {
            source::replace(output, words.as_bytes(), &snapshot)?;
        }
    }
    let mut stdout = io::stdout().lock();
    for feed in ruleset.feeds(crawlpike_files::now()) {
        writeln!(stdout, "{} {}: {} prefixes, {}", feed.format, feed.name, feed.prefixes, feed.state)?;
    }
    Ok(ExitCode::SUCCESS)
}
