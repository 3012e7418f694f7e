//! `crawlward lint`: a strict check for those who write configurations and publish feeds.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crawlward_core::automation_preferences::PreferencesFile;
use crawlward_core::diagnostic::{Diagnostic, Diagnostics, Severity, Strictness};
use crawlward_core::feed::{self, FeedFormat, ReadOptions};
use crawlward_core::robots::RobotsFile;
use crawlward_core::robots_tag;
use crawlward_core::{Ruleset, is_stored};
use crawlward_host::FilesBeside;

use crate::failure::{Failure, UNUSABLE, say};
use crate::source;

/// Check files strictly
///
/// Says nothing about files that are right. Diagnostics go to stderr, as FILE:LINE:COLUMN: error|warning: MESSAGE; with
/// --json to stdout, one object a line. The exit status is 1 where there is an error, 2 where a file can't be read.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlward lint --format config crawlward.json
  crawlward lint --format robots robots.txt
  crawlward lint --format jafar googlebot.json gptbot.json
  crawlward lint --format robots-tag tags.txt
  crawlward lint --format jafar --json feeds/*.json | jq -r .message")]
pub(crate) struct Arguments {
    /// What the files are: config (with the files that it names), robots, automation-preferences, robots-tag (the values of
    /// a response's headers, one a line), jafar, geofeed or cidr
    #[arg(long, value_parser = Format::parse)]
    format: Format,
    /// Print diagnostics to stdout as JSON, one object a line
    #[arg(long)]
    json: bool,
    /// The files to check
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug)]
enum Format {
    Config,
    Robots,
    AutomationPreferences,
    /// Field values of one response, one a line.
    RobotsTag,
    Feed(FeedFormat),
}

impl Format {
    fn parse(word: &str) -> Result<Self, String> {
        match word {
            "config" => Ok(Self::Config),
            "robots" => Ok(Self::Robots),
            "automation-preferences" => Ok(Self::AutomationPreferences),
            "robots-tag" => Ok(Self::RobotsTag),
            _ => FeedFormat::from_word(word).map(Self::Feed).ok_or_else(|| {
                "known: config, robots, automation-preferences, robots-tag, jafar, geofeed, cidr".to_string()
            }),
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut output = io::stdout().lock();
    let mut status = 0;
    for path in &arguments.files {
        let (diagnostics, worst) = match crawlward_host::read_file(path) {
            Ok(content) => {
                let diagnostics = check(arguments.format, path, &content);
                let has_errors = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
                (diagnostics, u8::from(has_errors))
            }
            Err(error) => (vec![source::unreadable(path, error)], UNUSABLE),
        };
        status = status.max(worst);
        for diagnostic in &diagnostics {
            if arguments.json {
                serde_json::to_writer(&mut output, diagnostic)?;
                writeln!(output)?;
            } else {
                say(diagnostic);
            }
        }
    }
    Ok(ExitCode::from(status))
}

fn check(format: Format, path: &Path, content: &[u8]) -> Vec<Diagnostic> {
    let name = path.display().to_string();
    let mut diagnostics = Diagnostics::new(&*name, Strictness::Lint);
    // What the file says is no matter; what is wrong with it is in the diagnostics.
    match format {
        // A compiled ruleset was accepted when it was made; what can be wrong with it now is found by loading it.
        Format::Config if is_stored(content) => {
            return crawlward_host::compile(path, &FilesBeside::new(path))
                .map_or_else(|error| vec![source::unreadable(path, error)], |compiled| compiled.diagnostics);
        }
        Format::Config => return Ruleset::lint(&name, content, &FilesBeside::new(path)),
        Format::Robots => drop(RobotsFile::parse(content, &mut diagnostics)),
        Format::AutomationPreferences => drop(PreferencesFile::parse(content, &mut diagnostics)),
        Format::RobotsTag => robots_tag::lint(content, &mut diagnostics),
        Format::Feed(format) => {
            drop(feed::read(format, content, &ReadOptions::default(), &mut diagnostics));
        }
    }
    diagnostics.into_items_by_position()
}
