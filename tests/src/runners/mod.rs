//! The ways into Crawlpike, each of which answers the whole table.

use std::collections::BTreeMap;
use std::io;

use serde_json::Value;

use crate::cases::{Case, Table};
use crate::http::{Connection, Response};
use crate::lab::ADDRESS_HEADER;
use crate::nginx::local;
use crate::ports::free_port;

mod cli;
pub mod core;
mod envoy;
mod nginx;
mod serve;

pub use self::cli::Cli;
pub use self::core::Core;
pub use self::envoy::Envoy;
pub use self::nginx::Nginx;
pub use self::serve::{ExtAuthz, Forward};

/// A way into Crawlpike.
pub trait Runner {
    /// Its name in messages.
    fn name(&self) -> &'static str;

    /// The answers to all cases of all files, in their order. An error says why the case could not be put: no case is
    /// left out.
    fn run(&self, tables: &[Table]) -> Vec<Vec<Result<Answer, String>>>;
}

/// The part of a decision that a runner shows.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Fields of the JSON decision: all of them from the core and the command line; from a gate, those that its logs
    /// and responses show.
    pub facts: BTreeMap<String, Value>,
    /// The facts about the client, as `explain --json` writes them; from a gate, those that it is to show. `None` from one that
    /// shows none.
    pub client: Option<BTreeMap<String, Value>>,
    /// The request and the response, if they went over the wire.
    pub exchange: Option<Exchange>,
}

/// The result of a request that was sent to a gate.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The response that the client received.
    pub response: Response,
    /// The `X-Crawlpike` that the origin received; `None` where the request did not reach it.
    pub at_origin: Option<Option<String>>,
}

impl Exchange {
    /// The exchange that a response shows.
    pub fn of(response: Response) -> Self {
        let at_origin = crate::origin::Received::of(&response).map(|received| received.crawlpike);
        Self { response, at_origin }
    }
}

/// The header by which a gate's access log distinguishes cases.
const CASE_HEADER: &str = "X-Test-Case";

/// The facts about the client, by their names in JSON.
pub const CLIENT_FACTS: [&str; 8] =
    ["network", "asn", "as_name", "as_kind", "costly", "browser", "fingerprint", "crowd_key"];

/// These facts about the client in JSON, of the texts that a gate shows.
fn client_facts<'t>(
    names: impl Iterator<Item = &'static str>,
    text: impl Fn(&str) -> Option<&'t str>,
) -> BTreeMap<String, Value> {
    let value = |name| match (name, text(name)) {
        ("costly", text) => (text == Some("1")).into(),
        ("asn", Some(number)) => number.parse::<u32>().map_or_else(|_| number.into(), Value::from),
        (_, text) => text.into(),
    };
    names.map(|name| (name.to_owned(), value(name))).collect()
}

/// The ports at which a gate answers a table: without TLS and with it.
#[derive(Clone, Copy, Debug)]
struct Ports {
    plain: u16,
    tls: u16,
}

impl Ports {
    fn free() -> Self {
        Self { plain: free_port(), tls: free_port() }
    }

    fn open(self, tls: bool) -> io::Result<Connection> {
        if tls { Connection::open_tls(local(self.tls)) } else { Connection::open(local(self.plain)) }
    }
}

/// Sends the cases of a table to a gate, one after the other, each with a header that has the client's address.
fn exchange_all(table: &Table, ports: Ports) -> Vec<Result<Exchange, String>> {
    let send = |(number, case): (usize, &Case)| {
        let request = table
            .http_request(case)
            .header(ADDRESS_HEADER, case.request.ip.to_string())
            .header(CASE_HEADER, number.to_string())
            .header("Connection", "close");
        let response = ports.open(case.request.tls).and_then(|mut connection| connection.send(&request));
        let response = response.map_err(|error| format!("no response: {error}"))?;
        Ok(Exchange::of(response))
    };
    table.cases.iter().enumerate().map(send).collect()
}

/// The lines of an access log in JSON, by case, when all the cases are there. `None`: not yet.
fn logged(log: &str, count: usize) -> Option<BTreeMap<usize, Value>> {
    let lines: BTreeMap<usize, Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|line| Some((line["case"].as_str()?.parse().ok()?, line)))
        .collect();
    (lines.len() == count).then_some(lines)
}

/// Joins what went over the wire with what was logged.
fn join(
    exchanges: Vec<Result<Exchange, String>>,
    mut log: BTreeMap<usize, Value>,
    facts_of: impl Fn(&Value) -> BTreeMap<String, Value>,
    client_of: impl Fn(&Value) -> BTreeMap<String, Value>,
) -> Vec<Result<Answer, String>> {
    let answer = |(number, exchange): (usize, Result<Exchange, String>)| {
        let exchange = exchange?;
        let line = log.remove(&number).ok_or("the access log has no line of it")?;
        Ok(Answer { facts: facts_of(&line), client: Some(client_of(&line)), exchange: Some(exchange) })
    };
    exchanges.into_iter().enumerate().map(answer).collect()
}
