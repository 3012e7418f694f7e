//! `crawlpike aiwebindex document`: a page as markdown or as an AIDocument.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use clap::builder::NonEmptyStringValueParser;
use crawlpike_core::{Diagnostic, DocumentOutcome, Position, Severity};
use crawlpike_document::aidocument::{AiDocument, CacheStatus, Fetch, FreshnessPolicy, Upgraded, upgrade};
use crawlpike_document::{Document, Limits, Refusal, TextAmount, read};
use url::Url;

use super::crawler::{Crawler, CrawlerArguments, FetchedPage, web_page};
use super::{NOT_SO, TOKEN};
use crate::failure::{Failure, say};
use crate::http::web_url;
use crate::{clock, source};

/// Print the markdown or the AIDocument of a page
///
/// Leaves out navigation, footers and advertisements. If a gate would not send a document of the page, a warning says why.
///
/// With a URL, the command fetches the robots.txt of the server, as `AIWebIndex/2.0`, and two seconds later the page. It does not
/// fetch the page if robots.txt disallows it for `AIWebIndex`, or cannot be fetched. It does not follow redirects to other
/// servers. After 429 or 503, it waits for as long as Retry-After says, or for a minute, and asks again.
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
      Print an AIDocument of version 1.0 or 2.x as one of version 2.0.")]
pub(super) struct Arguments {
    /// The HTML page; `-` is stdin
    #[arg(value_name = "URL|FILE", value_parser = NonEmptyStringValueParser::new())]
    page: String,
    /// The URL of a page in a file, which makes its links absolute
    #[arg(long, conflicts_with = "upgrade", value_parser = web_url)]
    url: Option<Url>,
    /// The form to print
    #[arg(long, value_enum, default_value_t = Format::Markdown, conflicts_with = "upgrade")]
    format: Format,
    /// Instead of the document, print what a gate would do with the page: `made`, or the reason why not
    #[arg(long, conflicts_with_all = ["upgrade", "format"])]
    why: bool,
    /// Read an AIDocument of version 1.0 or 2.x instead of a page, and print it in version 2.0
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

/// The most warnings about a document that are shown.
const WARNINGS: usize = 100;

/// A page, and what is known of it beside its bytes.
struct Input {
    bytes: Vec<u8>,
    content_type: Option<String>,
    url: Option<Url>,
    fetch: Fetch,
    /// The reason why a gate would send the page as it is, if the head of the answer has one.
    refusal: Option<DocumentOutcome>,
}

/// A reason why a gate would send the page as it is.
struct Objection {
    /// The word for it, as in metrics.
    outcome: &'static str,
    reason: String,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.upgrade {
        return print_upgraded(&arguments.page);
    }
    let input = match web_page(&arguments.page) {
        None => read_file(arguments)?,
        Some(url) => match fetch(arguments, &url.map_err(Failure::because)?)? {
            Ok(input) => input,
            Err(reason) => {
                say(format_args!("{}: error: {reason}", arguments.page));
                return Ok(ExitCode::from(NOT_SO));
            }
        },
    };
    let limits = Limits::default();
    let within = input.bytes.get(..limits.bytes).unwrap_or(&input.bytes);
    let document = read(within, &limits, input.content_type.as_deref(), input.url.as_ref().map(Url::as_str));
    let objections = input.objections(&document, &limits);
    let mut output = io::stdout().lock();
    if arguments.why {
        match objections.first() {
            Some(Objection { outcome, reason }) => writeln!(output, "{outcome}: {reason}")?,
            None => {
                writeln!(output, "{}: {}", DocumentOutcome::Made.as_str(), shown(document.text_amount()))?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let name = source::shown(Path::new(&arguments.page));
    for Objection { reason, .. } in &objections {
        say(format_args!("{name}: warning: {reason}"));
    }
    match arguments.format {
        Format::Markdown => output.write_all(document.markdown().as_bytes())?,
        Format::Json => {
            let document = document.to_ai_document(&input.fetch);
            let document = document.ok_or_else(|| Failure::because("give the URL of the page with --url"))?;
            print_json(&document, &mut output)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read_file(arguments: &Arguments) -> Result<Input, Failure> {
    let path = Path::new(&arguments.page);
    let bytes = source::read_or_stdin(path)?;
    if let Some(reason) = not_html(&bytes) {
        return Err(source::report(path, reason));
    }
    // No origin is asked for a page that was stored.
    let fetch = Fetch {
        fetched_at: None,
        status_code: None,
        freshness_policy: FreshnessPolicy::CacheFirst,
        cache: CacheStatus::Hit,
        usage: None,
    };
    Ok(Input { bytes, content_type: None, url: arguments.url.clone(), fetch, refusal: None })
}

/// The page at a URL, or the reason why there is none.
fn fetch(arguments: &Arguments, url: &Url) -> Result<Result<Input, String>, Failure> {
    if arguments.url.is_some() {
        return Err(Failure::because("`--url` is for a page in a file"));
    }
    let crawler = Crawler::new(&arguments.crawler, false)?;
    Ok(crawler.page(url, Limits::default().bytes as u64).map(|FetchedPage { content, refusal }| {
        let fetch = Fetch {
            fetched_at: Some(clock::rfc3339(crawlpike_files::now())),
            status_code: Some(200),
            freshness_policy: FreshnessPolicy::CacheFirst,
            cache: CacheStatus::Miss,
            usage: None,
        };
        let content_type = content.content_type().map(str::to_owned);
        Input { bytes: content.bytes, content_type, url: Some(content.url), fetch, refusal }
    }))
}

/// The reason why a file is not HTML, by its first bytes.
fn not_html(bytes: &[u8]) -> Option<&'static str> {
    const BEGINNING: usize = 1024;
    let is_utf_16 = [&b"\xff\xfe"[..], b"\xfe\xff", b"\0<"].iter().any(|start| bytes.starts_with(start));
    let is_binary = bytes.iter().take(BEGINNING).any(|byte| *byte == 0);
    match bytes.trim_ascii_start() {
        text if text.starts_with(b"%PDF-") => Some("this is a PDF file, not HTML"),
        text if text.starts_with(b"\x1f\x8b") => Some("this is compressed by gzip; decompress it first"),
        text if is_binary && !is_utf_16 && !text.starts_with(b"<") => Some("this is a binary file, not HTML"),
        _ => None,
    }
}

impl Input {
    /// The reasons why a gate would send the page as it is, the one that it would name first.
    fn objections(&self, document: &Document, limits: &Limits) -> Vec<Objection> {
        let mut found = Vec::new();
        let mut add = |outcome, reason: String| found.push(Objection { outcome, reason });
        match self.refusal {
            Some(outcome @ DocumentOutcome::NoTransform) => {
                add(
                    outcome.as_str(),
                    "the page forbids such documents by `Cache-Control: no-transform`".into(),
                );
            }
            Some(outcome @ (DocumentOutcome::NoIndex | DocumentOutcome::NoSnippet)) => {
                add(outcome.as_str(), "the page forbids such documents in a header for robots".into());
            }
            // The bytes show it as well.
            _ => {}
        }
        if self.bytes.len() > limits.bytes {
            let reason = format!("the page has more than {} bytes; the rest of it is left out", limits.bytes);
            add(DocumentOutcome::Size.as_str(), reason);
        }
        if self.bytes.is_empty() {
            add(DocumentOutcome::Broken.as_str(), "the page is empty".into());
            return found;
        }
        if let Some(refusal) = document.refusal(&[TOKEN]).filter(|_| document.is_forbidden(&[TOKEN])) {
            let reason = "the page forbids such documents in a `meta` element for robots";
            add(refusal.as_str(), reason.into());
        }
        if document.is_cut() {
            let reason = format!(
                "the page is over a limit ({} elements, {} levels, or those of style sheets, tables and markdown); the rest of it is left \
                 out",
                limits.nodes, limits.depth
            );
            add(Refusal::Depth.as_str(), reason);
        }
        if document.is_thin() {
            let reason = format!(
                "{}; a script may load the content, or the page asks for consent first",
                shown(document.text_amount())
            );
            add(Refusal::Thin.as_str(), reason);
        }
        found
    }
}

fn shown(TextAmount { seen, kept }: TextAmount) -> String {
    format!("{kept} of {seen} bytes of text are in the document")
}

fn print_upgraded(name: &str) -> Result<ExitCode, Failure> {
    if web_page(name).is_some() {
        return Err(Failure::because("`--upgrade` reads a file; save the document at this URL in one"));
    }
    let path = Path::new(name);
    let bytes = source::read_or_stdin(path)?;
    if bytes.trim_ascii_start().starts_with(b"<") {
        let reason = "this is HTML, not an AIDocument; to convert a page, leave out `--upgrade`";
        return Err(source::report(path, reason));
    }
    let name = source::shown(path);
    let Upgraded { document, warnings } = upgrade(&bytes).map_err(|error| {
        let position = error.position.map(|(line, column)| Position { line, column });
        say(Diagnostic { position, ..Diagnostic::error(&*name, error.to_string()) });
        Failure::Reported
    })?;
    let more = warnings.len().saturating_sub(WARNINGS);
    let more = (more > 0).then(|| format!("not shown: warnings {more}"));
    for warning in warnings.into_iter().take(WARNINGS).chain(more) {
        say(Diagnostic { severity: Severity::Warning, ..Diagnostic::error(&*name, warning) });
    }
    print_json(&document, &mut io::stdout().lock())?;
    Ok(ExitCode::SUCCESS)
}

fn print_json(document: &AiDocument, output: &mut impl Write) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *output, document)?;
    writeln!(output)?;
    Ok(())
}
