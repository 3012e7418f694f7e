//! `crawlward aiwebindex`: the forms of pages that agents read.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};
use crawlward_document::aidocument::{CacheStatus, Fetch, FreshnessPolicy, upgrade};
use crawlward_document::{Document, Limits, Page};
use url::Url;

use crate::failure::{Failure, say};
use crate::source;

/// The agent of AIWebIndex, whose rules a page can state by name.
const TOKEN: &str = "AIWebIndex";

/// Show the forms of pages that agents read
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Document(DocumentArguments),
}

/// Print the markdown or the AIDocument of a page
///
/// Leaves out navigation, footers and advertisements. A page that cannot be read whole gives a warning. The exit status is
/// 0, or 2 if an argument or the file is invalid.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlward aiwebindex document page.html --url https://example.com/page
  crawlward aiwebindex document page.html --url https://example.com/page --format json
  crawlward aiwebindex document old.json --upgrade
      Print an AIDocument of version 1.0 as one of version 2.0.")]
struct DocumentArguments {
    /// The HTML page; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The URL of the page, which makes its links absolute
    #[arg(long, required_if_eq("format", "json"), conflicts_with = "upgrade")]
    url: Option<Url>,
    /// The form to print
    #[arg(long, value_enum, default_value_t = Format::Markdown, conflicts_with = "upgrade")]
    format: Format,
    /// Read an AIDocument instead of a page, and print it in version 2.0
    #[arg(long)]
    upgrade: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Markdown
    Markdown,
    /// An AIDocument 2.0
    Json,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Command::Document(arguments) = &arguments.command;
    let bytes = read(&arguments.file)?;
    let name = arguments.file.display();
    let mut output = io::stdout().lock();
    if arguments.upgrade {
        let document = upgrade(&bytes).map_err(|error| {
            let (line, column) = error.position.unwrap_or((1, 1));
            say(format_args!("{name}:{line}:{column}: error: {error}"));
            Failure::Reported
        })?;
        serde_json::to_writer_pretty(&mut output, &document)?;
        writeln!(output)?;
        return Ok(ExitCode::SUCCESS);
    }
    let document = page(&bytes, arguments);
    if document.is_cut() {
        say(format_args!("{name}: warning: the page is over a limit, the rest of it is left out"));
    }
    if document.is_forbidden(&[TOKEN]) {
        say(format_args!("{name}: warning: the page forbids such documents in a `meta` element for robots"));
    }
    match arguments.format {
        Format::Markdown => output.write_all(document.markdown().as_bytes())?,
        Format::Json => {
            // No origin was asked: the page was stored.
            let fetch = Fetch {
                fetched_at: None,
                status_code: None,
                freshness_policy: FreshnessPolicy::CacheFirst,
                cache: CacheStatus::Hit,
            };
            let document = document.to_ai_document(&fetch);
            let document = document.ok_or_else(|| Failure::because("`--url` must have a host"))?;
            serde_json::to_writer_pretty(&mut output, &document)?;
            writeln!(output)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    if file != Path::new("-") {
        return source::read(file);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn page(bytes: &[u8], arguments: &DocumentArguments) -> Document {
    let mut page = Page::new(Limits::default());
    page.push(bytes);
    page.read(None, arguments.url.as_ref().map(Url::as_str))
}
