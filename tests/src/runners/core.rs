//! The core itself, in this process.

use std::net::IpAddr;

use crawlpike_core::{Overrides, Request, Ruleset, Scheme, decide};
use crawlpike_files::FilesBeside;

use super::{Answer, Runner};
use crate::cases::{Case, Table};

/// The core itself, in this process.
#[derive(Clone, Copy, Debug)]
pub struct Core;

impl Runner for Core {
    fn name(&self) -> &'static str {
        "core"
    }

    fn run(&self, tables: &[Table]) -> Vec<Vec<Result<Answer, String>>> {
        tables.iter().map(run_table).collect()
    }
}

fn run_table(table: &Table) -> Vec<Result<Answer, String>> {
    answers(&ruleset(table), table)
}

/// The answers of a ruleset to the cases of a table.
pub fn answers(ruleset: &Ruleset, table: &Table) -> Vec<Result<Answer, String>> {
    let decide_one = |request: InMemory<'_>| {
        let decision = decide(ruleset, &request, Overrides::default());
        let facts = serde_json::to_value(ruleset.describe_with_usage(&decision, &request))
            .map_err(|e| e.to_string())?;
        let facts = serde_json::from_value(facts).map_err(|e| e.to_string())?;
        let client = serde_json::to_value(ruleset.client_facts(&decision, &request));
        let client = client.and_then(serde_json::from_value).map_err(|e| e.to_string())?;
        Ok(Answer { facts, client, exchange: None })
    };
    requests(table).map(decide_one).collect()
}

/// The table's configuration, compiled.
///
/// # Panics
///
/// If the configuration is wrong.
pub fn ruleset(table: &Table) -> Ruleset {
    let files = FilesBeside::new(&table.path());
    let compiled = Ruleset::compile(&table.name, table.document().as_bytes(), &files);
    compiled.ruleset.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics))
}

/// The table's requests, as the core takes them.
pub fn requests(table: &Table) -> impl Iterator<Item = InMemory<'_>> {
    table.cases.iter().map(|case| InMemory::new(table, case))
}

/// A request of the table, as a host would give it to the core.
#[derive(Clone, Debug)]
pub struct InMemory<'c> {
    case: &'c Case,
    user_agent: Option<Vec<u8>>,
    /// By lower-case name.
    headers: Vec<(String, Vec<u8>)>,
}

impl<'c> InMemory<'c> {
    fn new(table: &Table, case: &'c Case) -> Self {
        let mut headers: Vec<(String, Vec<u8>)> = Vec::new();
        for (name, value) in &case.request.headers {
            headers.push((name.to_ascii_lowercase(), value.clone().into_bytes()));
        }
        for purpose in case.request.purpose.lines() {
            headers.push((table.purpose_header().to_ascii_lowercase(), purpose));
        }
        Self { case, user_agent: case.request.user_agent.value(), headers }
    }
}

impl Request for InMemory<'_> {
    fn address(&self) -> Option<IpAddr> {
        Some(self.case.request.ip)
    }

    fn now(&self) -> i64 {
        crawlpike_files::now()
    }

    fn method(&self) -> &[u8] {
        self.case.request.method.as_bytes()
    }

    fn scheme(&self) -> Option<Scheme> {
        Some(self.case.request.scheme())
    }

    fn authority(&self) -> Option<&[u8]> {
        Some(self.case.request.host.as_bytes())
    }

    fn path(&self) -> &[u8] {
        self.case.request.path.as_bytes()
    }

    fn user_agent(&self) -> Option<&[u8]> {
        self.user_agent.as_deref()
    }

    fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        self.headers.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_slice())
    }
}
