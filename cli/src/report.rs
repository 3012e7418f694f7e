//! `crawlpike report`: the decisions of a configuration about the requests of access logs.

use std::fs;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use crawlpike_report::{
    Job, Limit, LineReader, Options, Report, Stop, parse_time, sources, write_csv, write_html, write_json,
    write_text,
};
use rustix::termios::tcgetwinsize;
use signal_hook::consts::SIGINT;
use signal_hook::flag::{register, register_conditional_shutdown};

use crate::failure::{Failure, UNUSABLE, say};
use crate::source;

/// The exit status if the other configuration changes a decision.
const CHANGED: u8 = 1;

/// The exit status after SIGINT, as shells have it: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;

/// Report what a configuration would have done to the requests of access logs
///
/// Reads access logs and decides each request as the gates would. Shows for each agent how many requests are verified, and
/// what is denied by which rule; and impostors, unknown agents, and requests that no policy covers.
///
/// Without a format, each line may be in nginx's `combined` format (or one that begins like it), in Envoy's default format,
/// or a JSON object with the keys of docs/report.md. Logs may be compressed by gzip or zstd.
///
/// Feeds and policies count as they are now, also for old requests.
///
/// After SIGINT (Ctrl-C), it prints the report of what it has read until then, marked as partial; a second one ends it at once.
///
/// The exit status is 0, or 1 if --diff finds a change, or 2 if an argument, a configuration or a log cannot be read, or 130 after
/// SIGINT. A report is printed all the same if some logs can be read.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike report --config crawlpike.json /var/log/nginx
  crawlpike report --config crawlpike.json --since 24h --agent GPTBot access.log
  crawlpike report --config crawlpike.json --log-format '$remote_addr \"$request\" $status \"$http_user_agent\"' access.log
  crawlpike report --config crawlpike.json --html report.html access.log
  crawlpike report --config crawlpike.json --limit 'key=network rate=5r/s burst=20 paths=costly' --limit 'key=address rate=1r/s' access.log
  crawlpike report --config crawlpike.json --diff new.json access.log.gz
  zcat access.log.*.gz | crawlpike report --config crawlpike.json --json -")]
pub(crate) struct Arguments {
    /// The configuration document, or a file that `crawlpike compile` wrote
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Another configuration: show only what it decides differently
    #[arg(long, value_name = "FILE")]
    diff: Option<PathBuf>,
    /// A format of nginx: the text of a log_format, or the whole directive; can be repeated
    #[arg(long = "log-format", value_name = "FORMAT")]
    log_formats: Vec<String>,
    /// A format of Envoy: a format string, or the object of a json_format; can be repeated
    #[arg(long = "envoy-format", value_name = "FORMAT")]
    envoy_formats: Vec<String>,
    /// The host of requests for which the log has none [default: none, which is the site without `hosts`]
    #[arg(long, value_name = "HOST")]
    default_host: Option<String>,
    /// Only requests from this time on: 2026-11-22, 2026-11-22T03:00:00Z, or a duration before now such as 24h or 7d
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<i64>,
    /// Only requests for this host
    #[arg(long)]
    host: Option<String>,
    /// Only requests that claim this agent, or of this unknown agent; with details
    #[arg(long, value_name = "TOKEN")]
    agent: Option<String>,
    /// A limit, such as 'key=network rate=5r/s burst=20 paths=costly': show the requests that nginx's limit_req would have refused; can be
    /// repeated
    #[arg(long = "limit", value_name = "LIMIT", conflicts_with = "diff")]
    limits: Vec<Limit>,
    /// Cut addresses to their networks: /24 and /48
    #[arg(long)]
    anonymize: bool,
    /// Print the report as one JSON object
    #[arg(long)]
    json: bool,
    /// Print a table of agents and decisions in CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Write the report as a page of HTML with plots, in one file that loads and runs nothing
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print a JSON object for each request instead of a report
    #[arg(long, conflicts_with_all = ["json", "csv", "diff"])]
    events: bool,
    /// The number of rows of a table in the terminal
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    top: usize,
    /// The number of threads that read lines [default: one for each core]
    #[arg(long, value_name = "NUMBER")]
    threads: Option<usize>,
    /// Logs, folders with logs, or - for stdin
    #[arg(required = true, value_name = "ACCESS_LOG")]
    logs: Vec<PathBuf>,
}

fn since(text: &str) -> Result<i64, String> {
    let ago = || {
        let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            "w" => 604_800,
            _ => return None,
        };
        let duration = number.parse::<u32>().ok().map(i64::from)?.checked_mul(seconds)?;
        crawlpike_files::now().checked_sub(duration)
    };
    let error = "expected a date, a time such as 2026-11-22T03:00:00Z, or a duration such as 24h or 7d";
    ago().or_else(|| parse_time(text)).ok_or_else(|| error.to_string())
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.limits.len() > Options::LIMITS {
        return Err(Failure::because(format_args!("at most {} limits can be compared", Options::LIMITS)));
    }
    let ruleset = source::ruleset(&arguments.config)?;
    let other = arguments.diff.as_deref().map(source::ruleset).transpose()?;
    let reader = LineReader::of(&arguments.log_formats, &arguments.envoy_formats, ruleset.purpose_header());
    let reader = reader.map_err(Failure::because)?;
    let options = Options {
        default_host: arguments.default_host.clone(),
        since: arguments.since,
        host: arguments.host.clone(),
        agent: arguments.agent.clone(),
        limits: arguments.limits.clone(),
        anonymize: arguments.anonymize,
    };
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let job = Job {
        ruleset: &ruleset,
        other: other.as_ref(),
        reader: &reader,
        options: &options,
        sources: &sources(&arguments.logs),
        now: crawlpike_files::now(),
        threads: arguments.threads.unwrap_or_else(cores),
        stop: stop_on_interrupt()?,
    };
    let mut events = arguments.events.then(|| BufWriter::new(io::stdout()));
    let report = job.run(events.as_mut().map(|events| events as &mut (dyn Write + Send)))?;
    for (name, first) in report.duplicate_logs() {
        say(format_args!("{name}: warning: the same file as {first}, which counts once"));
    }
    let mut has_failed = false;
    for (name, error) in report.unreadable_logs() {
        has_failed = true;
        say(format_args!("{name}: error: cannot be read: {error}"));
    }
    if report.matches_no_line() {
        has_failed = true;
        let advice = "give the format with --log-format or --envoy-format";
        say(format_args!("crawlpike: error: no line matches the log format; {advice}"));
    }
    if arguments.events {
        // Events have no place for other lines.
        report.warning().iter().for_each(say);
    } else {
        print(arguments, &report)?;
    }
    if let Some(path) = &arguments.html {
        let mut page = Vec::new();
        write_html(&report, &mut page)?;
        let written = fs::write(path, page);
        written
            .map_err(|error| Failure::because(format_args!("cannot write {}: {error}", path.display())))?;
    }
    Ok(if report.is_partial() {
        say("crawlpike: interrupted; the report has only what had been read until then");
        ExitCode::from(INTERRUPTED)
    } else if has_failed {
        ExitCode::from(UNUSABLE)
    } else if report.has_changes() {
        ExitCode::from(CHANGED)
    } else {
        ExitCode::SUCCESS
    })
}

/// A flag that SIGINT sets. A second SIGINT ends the process.
fn stop_on_interrupt() -> Result<Stop, Failure> {
    let stop = Stop::default();
    register_conditional_shutdown(SIGINT, INTERRUPTED.into(), stop.flag())?;
    register(SIGINT, stop.flag())?;
    Ok(stop)
}

/// The number of characters in a line of the terminal.
fn width() -> usize {
    const USUAL: usize = 80;
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 => size.ws_col.into(),
        _ => USUAL,
    }
}

fn print(arguments: &Arguments, report: &Report) -> Result<(), Failure> {
    let stdout = io::stdout();
    // No terminal is so wide that a table for it could not be read in a file.
    let width = if stdout.is_terminal() { width() } else { usize::MAX };
    let mut output = BufWriter::new(stdout.lock());
    if arguments.json {
        write_json(report, &mut output)?;
    } else if arguments.csv {
        write_csv(report, &mut output)?;
    } else {
        write_text(report, width, arguments.top, &mut output)?;
    }
    output.flush()?;
    Ok(())
}
