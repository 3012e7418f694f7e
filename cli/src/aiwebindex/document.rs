//! `crawlpike aiwebindex document`: a page as markdown or as an AIDocument.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use crawlpike_document::aidocument::{CacheStatus, Fetch, FreshnessPolicy, upgrade};
use crawlpike_document::{Limits, Page, Refusal, TextAmount};
use url::Url;

use super::TOKEN;
use super::crawler::{Crawler, CrawlerArguments};
use crate::failure::{Failure, say};
use crate::{clock, source};

/// Print the markdown or the AIDocument of a page
///
/// Leaves out navigation, footers and advertisements. A page that cannot be read whole gives a warning.
///
/// A page at a URL is fetched as `AIWebIndex/2.0`, after the robots.txt of its server, two seconds before. It is not fetched if
/// robots.txt disallows it for `AIWebIndex`, or cannot be fetched itself. Redirects to other servers are not followed. After
/// 429 or 503, the server is left alone for as long as its Retry-After says, or for a minute.
///
/// The exit status is 0, 1 if there is no page at the URL or none may be fetched, and 2 if an argument or the file is invalid.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike aiwebindex document https://example.com/page
  crawlpike aiwebindex document page.html --url https://example.com/page
  crawlpike aiwebindex document page.html --url https://example.com/page --format json
  crawlpike aiwebindex document page.html --why
      Print whether a gate would send a document of the page, and why not.
  crawlpike aiwebindex document old.json --upgrade
      Print an AIDocument of version 1.0 as one of version 2.0.")]
pub(super) struct Arguments {
    /// The HTML page; `-` is stdin
    #[arg(value_name = "URL|FILE")]
    page: String,
    /// The URL of a page in a file, which makes its links absolute
    #[arg(long, conflicts_with = "upgrade")]
    url: Option<Url>,
    /// The form to print
    #[arg(long, value_enum, default_value_t = Format::Markdown, conflicts_with = "upgrade")]
    format: Format,
    /// Print what a gate would do with the page instead of the document: `made`, or the reason why not
    #[arg(long, conflicts_with_all = ["upgrade", "format"])]
    why: bool,
    /// Read an AIDocument instead of a page, and print it in version 2.0
    #[arg(long)]
    upgrade: bool,
    #[command(flatten)]
    crawler: CrawlerArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Markdown
    Markdown,
    /// An AIDocument 2.0
    Json,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let name = &arguments.page;
    if arguments.upgrade {
        return print_upgraded(name, &source::read_or_stdin(Path::new(name))?);
    }
    // No origin is asked for a page that was stored.
    let stored = Fetch {
        fetched_at: None,
        status_code: None,
        freshness_policy: FreshnessPolicy::CacheFirst,
        cache: CacheStatus::Hit,
        usage: None,
    };
    let (bytes, content_type, url, fetch) = match super::crawler::web_page(name) {
        None => (source::read_or_stdin(Path::new(name))?, None, arguments.url.clone(), stored),
        Some(url) => {
            if arguments.url.is_some() {
                return Err(Failure::because("`--url` is for a page in a file"));
            }
            let url = url.map_err(Failure::because)?;
            let crawler = Crawler::new(&arguments.crawler, false)?;
            match crawler.page(&url, Limits::default().bytes as u64) {
                Ok(page) => {
                    let content_type = page.content_type().map(str::to_owned);
                    let fetched_at = Some(clock::rfc3339(crawlpike_files::now()));
                    let cache = CacheStatus::Miss;
                    let fetch = Fetch { fetched_at, status_code: Some(200), cache, ..stored };
                    (page.bytes, content_type, Some(page.url), fetch)
                }
                Err(reason) => {
                    say(format_args!("{name}: error: {reason}"));
                    return Ok(ExitCode::from(super::NOT_SO));
                }
            }
        }
    };
    let mut page = Page::new(Limits::default());
    page.push(&bytes);
    let document = page.read(content_type.as_deref(), url.as_ref().map(Url::as_str));
    if document.is_cut() {
        say(format_args!("{name}: warning: the page is over a limit, the rest of it is left out"));
    }
    if document.is_forbidden(&[TOKEN]) {
        say(format_args!("{name}: warning: the page forbids such documents in a `meta` element for robots"));
    }
    let TextAmount { seen, kept } = document.text_amount();
    if document.is_thin() {
        say(format_args!(
            "{name}: warning: {kept} of {seen} bytes of text are in the document; a script may load the content, \
             or the page asks for consent first"
        ));
    }
    let mut output = io::stdout().lock();
    if arguments.why {
        let outcome = document.refusal(&[TOKEN]).map_or("made", Refusal::as_str);
        writeln!(output, "{outcome}: {kept} of {seen} bytes of text are in the document")?;
        return Ok(ExitCode::SUCCESS);
    }
    match arguments.format {
        Format::Markdown => output.write_all(document.markdown().as_bytes())?,
        Format::Json => {
            let document = document.to_ai_document(&fetch);
            let document = document.ok_or_else(|| Failure::because("give the URL of the page with --url"))?;
            serde_json::to_writer_pretty(&mut output, &document)?;
            writeln!(output)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print_upgraded(name: &str, bytes: &[u8]) -> Result<ExitCode, Failure> {
    let document = upgrade(bytes).map_err(|error| {
        let (line, column) = error.position.unwrap_or((1, 1));
        say(format_args!("{name}:{line}:{column}: error: {error}"));
        Failure::Reported
    })?;
    let mut output = io::stdout().lock();
    serde_json::to_writer_pretty(&mut output, &document)?;
    writeln!(output)?;
    Ok(ExitCode::SUCCESS)
}
