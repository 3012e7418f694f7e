//! `crawlpike usage`: what a robots.txt says may be done with a page.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crawlpike_core::{FileUsage, UsageStatement};
use serde_json::json;

use crate::failure::{Failure, say};
use crate::source;

/// The meaning of `search=y` beside other preferences.
pub(crate) const SEARCH_NOTE: &str = "search=y allows whatever only serves a search that links to the page, also if the rest is disallowed [USE-12]";

/// Show what a robots.txt prefers about the usage of a path
///
/// Prints the statement for the agent, in the form of Content-Usage, and the lines that it comes from. The exit status is 0
/// whatever is preferred, and 2 if the file is not a robots.txt.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike usage robots.txt --path /news/today
  crawlpike usage robots.txt --path / --agent GPTBot --json")]
pub(crate) struct Arguments {
    /// The robots.txt
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The path and the query, as a client sends them
    #[arg(long)]
    path: OsString,
    /// The product token of the agent [default: any agent that no group names]
    #[arg(long, value_name = "TOKEN", default_value = "*", hide_default_value = true)]
    agent: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let text = source::read(&arguments.file)?;
    let name = arguments.file.display().to_string();
    let path = arguments.path.clone().into_vec();
    let (usage, diagnostics) = FileUsage::read(&name, &text, &arguments.agent, &path);
    diagnostics.iter().for_each(say);
    let Some(usage) = usage else { return Err(Failure::Reported) };
    let mut output = io::stdout().lock();
    match arguments.json {
        true => writeln!(output, "{}", object(&usage))?,
        false => print(&mut output, &arguments.file, &usage)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print(output: &mut impl Write, file: &Path, usage: &FileUsage) -> io::Result<()> {
    let file = file.display();
    match usage.statement.text() {
        Some(text) => writeln!(output, "{text}")?,
        None if !usage.is_allowed => {
            writeln!(output, "no preference: the group of {} may not fetch the path", usage.group)?;
        }
        None => writeln!(output, "no preference")?,
    }
    writeln!(output, "group     {}", usage.group)?;
    for line in &usage.lines {
        writeln!(output, "          {file}:{}: `{}`", line.line, line.text.escape_debug())?;
    }
    for (url, line) in &usage.licenses {
        writeln!(output, "licence   {file}:{line}: {url}")?;
    }
    if usage.statement.allows_search() {
        writeln!(output, "note      {SEARCH_NOTE}")?;
    }
    for (token, line) in &usage.reserved {
        writeln!(
            output,
            "note      {file}:{line}: the group of {token} is not an agent's, and decides nothing [USE-11]"
        )?;
    }
    Ok(())
}

fn object(usage: &FileUsage) -> serde_json::Value {
    let lines: Vec<_> = usage
        .lines
        .iter()
        .map(|line| json!({ "line": line.line, "usage": UsageStatement::text(line.statement), "text": line.text }))
        .collect();
    let licenses: Vec<_> =
        usage.licenses.iter().map(|(url, line)| json!({ "line": line, "url": url })).collect();
    json!({
        "usage": usage.statement.text(),
        "group": usage.group,
        "allowed": usage.is_allowed,
        "lines": lines,
        "licenses": licenses,
    })
}
