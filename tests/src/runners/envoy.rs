//! Envoy with one of the two gates.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Answer, Runner, exchange_all, join, logged};
use crate::cases::Table;
use crate::envoy::{self, Filter, Listener};
use crate::nginx::Folder;
use crate::origin::Origin;
use crate::ports::free_port;
use crate::process::wait_for;
use crate::verdict::parse_dictionary;

/// Envoy with one of the two gates: the decision from the filter state in its access log.
#[derive(Clone, Copy, Debug)]
pub struct Envoy(pub Filter);

/// The keys of the filter state.
const KEYS: [&str; 7] = ["action", "identity", "agent", "feed", "service", "country", "region"];

impl Runner for Envoy {
    fn name(&self) -> &'static str {
        match self.0 {
            Filter::Wasm => "envoy (wasm)",
            Filter::Native => "envoy (native)",
        }
    }

    /// One process, with a listener and a configuration for each file of the table.
    fn run(&self, tables: &[Table]) -> Vec<Vec<Result<Answer, String>>> {
        let (origin, folder) = (Origin::start(), Folder::new());
        let listener = |table: &Table| Listener {
            port: free_port(),
            filter: self.0.with(&folder, &table.write(&folder)),
            access_log: format!("{}.log", table.name),
        };
        let listeners: Vec<Listener> = tables.iter().map(listener).collect();
        let envoy = envoy::Envoy::start(folder, &listeners, origin.port());
        let run_table = |(table, listener): (&Table, &Listener)| {
            let exchanges = exchange_all(table, listener.port);
            let log = wait_for("a line of each case in Envoy's access log", || {
                logged(&envoy.folder().read(&listener.access_log), table.cases.len())
            });
            join(exchanges, log, |line| facts(line, self.0))
        };
        tables.iter().zip(&listeners).map(run_table).collect()
    }
}

/// There is no filter state where the client is a person: then there is nothing but the identity. The reason is that of
/// a response that the gate sent.
fn facts(line: &Value, filter: Filter) -> BTreeMap<String, Value> {
    let details = line["details"].as_str().and_then(|details| details.strip_prefix("crawlpike_"));
    let denied = details.and_then(|details| details.strip_prefix("denied[")?.strip_suffix(']'));
    let reason = denied.or(details).map(|reason| ("reason".to_owned(), reason.into()));
    let Some(state) = line[filter.state()].as_str() else {
        return [("identity".into(), "none".into())].into_iter().chain(reason).collect();
    };
    let members = parse_dictionary(state);
    let member = |key: &str| members.get(key).map_or(Value::Null, |value| value.as_str().into());
    KEYS.iter().map(|key| ((*key).to_owned(), member(key))).chain(reason).collect()
}
