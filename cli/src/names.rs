//! The name of a client's address, looked up for `explain` as the gates would.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use crawlpike_core::{NameFact, NameLookup, NameOutcome};
use hickory_proto::rr::{Name, RData, RecordType};

use crate::dns;

/// The file with the system's resolvers, and the number of them that the system asks.
const SYSTEM: &str = "/etc/resolv.conf";
const MOST_RESOLVERS: usize = 3;

/// The time that a resolver has for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The result of a lookup.
#[derive(Debug)]
pub(crate) struct NameReport {
    pub(crate) fact: NameFact,
    /// The names and addresses that were found, a line each.
    pub(crate) lines: Vec<String>,
}

/// The resolvers of the system, as resolv.conf(5) has them.
pub(crate) fn system_resolvers() -> io::Result<Vec<SocketAddr>> {
    let text = fs::read_to_string(SYSTEM)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot read {SYSTEM}: {error}")))?;
    let addresses = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("nameserver")).then(|| words.next()?.parse().ok()).flatten()
    });
    let resolvers: Vec<SocketAddr> =
        addresses.take(MOST_RESOLVERS).map(|address: IpAddr| SocketAddr::new(address, dns::PORT)).collect();
    match resolvers.is_empty() {
        true => Ok(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, dns::PORT))]),
        false => Ok(resolvers),
    }
}

/// Asks for the names of the address, and for the addresses of those that count.
pub(crate) fn look_up(lookup: &NameLookup, resolvers: &[SocketAddr]) -> NameReport {
    let mut lines = Vec::new();
    let outcome = outcome(lookup, resolvers, &mut lines);
    NameReport { fact: lookup.fact(outcome), lines }
}

fn outcome(lookup: &NameLookup, resolvers: &[SocketAddr], lines: &mut Vec<String>) -> NameOutcome {
    let records = match first_answer(resolvers, &Name::from(lookup.address()), RecordType::PTR) {
        Ok(records) => records,
        Err(why) => {
            lines.push(format!("unknown: {why}"));
            return NameOutcome::Unknown;
        }
    };
    let names: Vec<String> = records
        .iter()
        .filter_map(|record| match record {
            RData::PTR(name) => Some(text(name)),
            _ => None,
        })
        .collect();
    if names.is_empty() {
        lines.push("the address has no name".to_owned());
    }
    let mut result = NameOutcome::Refuted;
    for name in &names {
        let Some(candidate) = lookup.candidates([name.as_bytes()].into_iter()).next() else {
            lines.push(format!("{}: not one of the agent's", name.escape_debug()));
            continue;
        };
        match has_address(lookup, resolvers, &candidate) {
            Ok(true) => {
                lines.push(format!("{candidate}: one of the agent's, and it has the address"));
                return NameOutcome::Confirmed;
            }
            Ok(false) => {
                lines.push(format!("{candidate}: one of the agent's, but it does not have the address"));
            }
            Err(why) => {
                lines.push(format!("{candidate}: one of the agent's, but its addresses are unknown: {why}"));
                result = NameOutcome::Unknown;
            }
        }
    }
    result
}

fn has_address(lookup: &NameLookup, resolvers: &[SocketAddr], candidate: &str) -> Result<bool, String> {
    let kind = if lookup.address().is_ipv4() { RecordType::A } else { RecordType::AAAA };
    let name = Name::from_str(&format!("{candidate}.")).map_err(|error| error.to_string())?;
    let records = first_answer(resolvers, &name, kind)?;
    let addresses = records.iter().filter_map(|record| match record {
        RData::A(v4) => Some(IpAddr::V4(v4.0)),
        RData::AAAA(v6) => Some(IpAddr::V6(v6.0)),
        _ => None,
    });
    Ok(lookup.is_confirmed_by(addresses))
}

/// The answer of the first resolver that has one.
fn first_answer(resolvers: &[SocketAddr], name: &Name, kind: RecordType) -> Result<Vec<RData>, String> {
    let mut whys = Vec::new();
    for resolver in resolvers {
        match dns::records(*resolver, name, kind, PATIENCE) {
            Ok(records) => return Ok(records),
            Err(why) => whys.push(format!("{resolver}: {why}")),
        }
    }
    Err(whys.join("; "))
}

/// A name with dots between its labels, each byte as it is as far as it can be shown.
fn text(name: &Name) -> String {
    let labels: Vec<_> = name.iter().map(String::from_utf8_lossy).collect();
    labels.join(".")
}
