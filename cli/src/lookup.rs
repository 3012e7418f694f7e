//! `crawlpike lookup`: what the feeds say about addresses.

use std::io::{self, StdoutLock, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use crawlpike_core::{AsKind, Consistency, Diagnostic, ExemptInfo, Finding, FindingValue, Ruleset};
use crawlpike_files::now;

use crate::failure::Failure;
use crate::lines::{self, Line};
use crate::source;

/// Print the feeds, prefixes, services and places of an address
///
/// Prints a line for each feed that has the address, the longest prefix first, then one for each entry of `exempt`, and nothing
/// for an address that is in none. The exit status is 0, or 2 if an argument, the configuration or a line of stdin is invalid.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike lookup --config crawlpike.json 66.249.66.1 2001:4860:4801:10::1
  crawlpike lookup --config crawlpike.json --json 66.249.66.1
  cut -d' ' -f1 access.log | sort -u | crawlpike lookup --config crawlpike.json --stdin")]
pub(crate) struct Arguments {
    /// The configuration document, or a file that `crawlpike compile` wrote
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Print a JSON object for each address, also for those that are in no feed
    #[arg(long)]
    json: bool,
    /// Read an address from each line of stdin
    #[arg(long, conflicts_with = "addresses")]
    stdin: bool,
    /// The addresses to look up
    #[arg(required_unless_present = "stdin", value_name = "ADDRESS")]
    addresses: Vec<IpAddr>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let ruleset = source::ruleset(&arguments.config)?;
    let print = |address, output: &mut StdoutLock<'static>| print(&ruleset, address, arguments.json, output);
    if arguments.stdin {
        return lines::answer_stdin(arguments.json, parse, print);
    }
    let mut output = io::stdout().lock();
    arguments.addresses.iter().try_for_each(|address| print(*address, &mut output))?;
    Ok(ExitCode::SUCCESS)
}

fn parse(line: &Line<'_>, content: &[u8]) -> Result<IpAddr, Diagnostic> {
    let address = std::str::from_utf8(content).ok().and_then(|text| text.trim().parse().ok());
    address.ok_or_else(|| line.error(1, "not an IP address"))
}

#[derive(Serialize)]
struct Looked<'r> {
    address: IpAddr,
    findings: Vec<Shown<'r>>,
    /// The entries of `exempt` that have it; left out if none has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    exempt: Vec<ShownExempt<'r>>,
    facts: AddressFacts<'r>,
}

/// The facts about a client of which nothing is known but its address.
#[derive(Serialize)]
struct AddressFacts<'r> {
    network: String,
    asn: Option<u32>,
    as_name: Option<&'r str>,
    as_kind: Option<AsKind>,
    costly: bool,
    browser: Consistency,
}

impl<'r> AddressFacts<'r> {
    fn of(ruleset: &'r Ruleset, address: IpAddr) -> Self {
        let system = ruleset.system_of(address);
        Self {
            network: ruleset.network_of(address).to_string(),
            asn: system.map(|system| system.asn),
            as_name: system.and_then(|system| system.name),
            as_kind: system.and_then(|system| system.kind),
            costly: false,
            browser: Consistency::Unknown,
        }
    }
}

#[derive(Serialize)]
struct ShownExempt<'r> {
    prefix: String,
    feed: Option<&'r str>,
    site: Option<&'r str>,
}

impl<'r> From<ExemptInfo<'r>> for ShownExempt<'r> {
    fn from(ExemptInfo { prefix, feed, site }: ExemptInfo<'r>) -> Self {
        Self { prefix: prefix.to_string(), feed, site }
    }
}

/// A [`Finding`] as JSON: with `service` if it comes from an IP-range feed, else with the place.
#[derive(Serialize)]
struct Shown<'r> {
    feed: &'r str,
    prefix: String,
    #[serde(flatten)]
    value: ShownValue<'r>,
    notes: Option<&'r str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ShownValue<'r> {
    Range { service: Option<&'r str> },
    Place { country: Option<&'r str>, region: Option<&'r str>, city: Option<&'r str> },
}

impl<'r> From<Finding<'r>> for Shown<'r> {
    fn from(finding: Finding<'r>) -> Self {
        let value = match finding.value {
            FindingValue::Range { service } => ShownValue::Range { service },
            FindingValue::Place { country, region, city } => ShownValue::Place { country, region, city },
        };
        Self { feed: finding.feed, prefix: finding.prefix.to_string(), value, notes: finding.notes }
    }
}

fn print(ruleset: &Ruleset, address: IpAddr, json: bool, output: &mut impl Write) -> Result<(), Failure> {
    let exempt = ruleset.exemptions(address, now());
    if json {
        let exempt = exempt.into_iter().map(ShownExempt::from).collect();
        let findings = ruleset.lookup(address).map(Shown::from).collect();
        serde_json::to_writer(
            &mut *output,
            &Looked { address, findings, exempt, facts: AddressFacts::of(ruleset, address) },
        )?;
        writeln!(output)?;
    } else {
        for finding in ruleset.lookup(address) {
            writeln!(output, "{address} {finding}")?;
        }
        for exemption in exempt {
            writeln!(output, "{address} exempt: {exemption}")?;
        }
    }
    Ok(())
}
