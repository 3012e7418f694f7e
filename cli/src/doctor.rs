//! `crawlpike doctor`: everything that an experienced operator would look at.

mod client_address;
pub(crate) mod clock;
mod configuration;
mod envoy;
mod feeds;
pub(crate) mod finding;
mod nginx;
pub(crate) mod rights;
pub(crate) mod situation;
mod updates;
mod user;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use self::finding::{Finding, Gravity};
use self::situation::Situation;
use crate::failure::Failure;
use crate::nginx_conf::NginxConf;
use crate::update;

/// The exit status if there is a fault.
const FAULTY: u8 = 1;

/// Check this machine: the configuration, its feeds and files, the server, and the timer
///
/// Looks at everything that an experienced operator would look at, mends nothing itself, and asks nobody in the network. Each finding
/// has the command, or the line of a configuration, that mends it. A fault means that something does not work; a warning, that
/// somebody should have a look; a note is for information, also about what could not be checked.
///
/// Without --config, it checks the document that nginx uses, or else crawlpike.json in this folder.
///
/// The exit status is 0 without a fault, 1 with one, and 2 if an argument is invalid.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike doctor
  crawlpike doctor --config /etc/nginx/crawlpike/crawlpike.json --as-user www-data
  crawlpike doctor --config crawlpike.json --envoy /etc/envoy/crawlpike.json --as-user envoy
  crawlpike doctor --json | jq -r '.findings[] | select(.gravity == \"fault\") | .what'")]
pub(crate) struct Arguments {
    /// The configuration document, or a file that `crawlpike compile` wrote
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The configuration of nginx, with the files that it includes [default: /etc/nginx/nginx.conf, if it exists]
    #[arg(long, value_name = "CONF")]
    nginx: Option<PathBuf>,
    /// The resource that `crawlpike envoy` wrote
    #[arg(long, value_name = "FILE")]
    envoy: Option<PathBuf>,
    /// The file in which `crawlpike update` keeps its state [default: CONFIG.update-state, or that of the units and images that come
    /// with Crawlpike, if it is newer and has these feeds]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// The user who has to be able to read all files [default: that of nginx's configuration, if it uses the document]
    #[arg(long, value_name = "USER")]
    as_user: Option<String>,
    /// Print the findings as one JSON object
    #[arg(long)]
    json: bool,
}

/// A check: its name, and the function that finds something.
type Check = (&'static str, fn(&Situation) -> Vec<Finding>);

const CHECKS: [Check; 8] = [
    ("configuration", configuration::check),
    ("feeds", feeds::check),
    ("updates", updates::check),
    ("clock", clock::check),
    ("rights", rights::check),
    ("nginx", nginx::check),
    ("client address", client_address::check),
    ("envoy", envoy::check),
];

/// A finding of a check.
#[derive(Debug, Serialize)]
struct Found {
    check: &'static str,
    #[serde(flatten)]
    finding: Finding,
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    /// The version of this format. Keys may be added in the same version.
    version: u32,
    config: String,
    nginx: Option<String>,
    faults: usize,
    warnings: usize,
    notes: usize,
    findings: &'a [Found],
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let nginx = match &arguments.nginx {
        Some(path) => {
            fs_check(path)?;
            Some(NginxConf::read(path))
        }
        None => NginxConf::usual(),
    };
    let config = match &arguments.config {
        Some(config) => config.clone(),
        None => document(nginx.as_ref())?,
    };
    let situation = Situation::read(&config, nginx, arguments.as_user.as_deref())?;
    let state = update::state_file(&config, arguments.state.as_deref(), &situation.configured());
    let situation = Situation { envoy: arguments.envoy.clone(), state, ..situation };
    let mut found: Vec<Found> = Vec::new();
    for (check, find) in CHECKS {
        found.extend(find(&situation).into_iter().map(|finding| Found { check, finding }));
    }
    // The worst first; of the same gravity, in the order of the checks.
    found.sort_by_key(|found| std::cmp::Reverse(found.finding.gravity));
    let mut output = io::stdout().lock();
    let count = |gravity| found.iter().filter(|found| found.finding.gravity == gravity).count();
    let [faults, warnings, notes] = [Gravity::Fault, Gravity::Warning, Gravity::Note].map(count);
    if arguments.json {
        let report = Report {
            version: 1,
            config: config.display().to_string(),
            nginx: situation.nginx.as_ref().map(|conf| conf.path.display().to_string()),
            faults,
            warnings,
            notes,
            findings: &found,
        };
        serde_json::to_writer(&mut output, &report)?;
        writeln!(output)?;
    } else {
        found.iter().try_for_each(|found| print(found, &mut output))?;
        let words =
            |number: usize, word: &str| format!("{number} {word}{}", if number == 1 { "" } else { "s" });
        let [faults, warnings, notes] = [(faults, "fault"), (warnings, "warning"), (notes, "note")]
            .map(|(number, word)| words(number, word));
        writeln!(output, "{}: {faults}, {warnings}, {notes}", config.display())?;
    }
    Ok(if faults > 0 { ExitCode::from(FAULTY) } else { ExitCode::SUCCESS })
}

/// A failure if there is no such file, which the user has named.
fn fs_check(path: &Path) -> Result<(), Failure> {
    crate::source::read(path).map(drop)
}

/// The document that is checked if none is named.
fn document(nginx: Option<&NginxConf>) -> Result<PathBuf, Failure> {
    let here = || Some(PathBuf::from("crawlpike.json")).filter(|path| path.exists());
    nginx.and_then(NginxConf::crawlpike_config).or_else(here).ok_or_else(|| {
        let advice = "give --config, or create one with `crawlpike init`";
        Failure::because(format_args!(
            "no configuration of nginx names a document, and no crawlpike.json is here: {advice}"
        ))
    })
}

/// A finding in two lines; control characters are escaped, because files and logs can contain any.
fn print(Found { check, finding }: &Found, output: &mut impl Write) -> io::Result<()> {
    let place = finding.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
    let line = format!("{}: {check}: {place}{}", finding.gravity.word(), finding.what);
    let remedy = finding.remedy.as_ref().map(|remedy| format!("    {remedy}"));
    for line in [Some(line), remedy].into_iter().flatten() {
        let shown: String =
            line.chars().map(|character| if character.is_control() { '?' } else { character }).collect();
        writeln!(output, "{shown}")?;
    }
    Ok(())
}
