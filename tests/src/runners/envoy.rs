//! Envoy with one of the two gates.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Answer, CLIENT_FACTS, Ports, Runner, client_facts, exchange_all, join, logged};
use crate::cases::Table;
use crate::envoy::{self, Filter, Listener, manager};
use crate::nginx::Folder;
use crate::origin::Origin;
use crate::process::wait_for;
use crate::tls;
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
        let gates: Vec<Gate<'_>> = tables.iter().map(Gate::new).collect();
        let shown = |fact: &str| format!("%FILTER_STATE({}.{fact}:PLAIN)%", self.0.state());
        let formats = CLIENT_FACTS.map(|fact| (fact, shown(fact)));
        let listeners = gates
            .iter()
            .flat_map(|gate| gate.listeners(&folder, &filter(self.0, gate.table, &folder), &formats));
        let bootstrap = envoy::bootstrap(&listeners.collect::<Vec<_>>(), origin.port());
        let envoy = envoy::Envoy::boot(folder, bootstrap, 2, &[]);
        gates.iter().map(|gate| gate.answers(&envoy, |line| facts(line, self.0))).collect()
    }
}

/// The Wasm filter gets tables of autonomous systems in a compiled ruleset only.
fn filter(filter: Filter, table: &Table, folder: &Folder) -> Value {
    let config = table.write(folder);
    if table.config.get("networks").is_none() {
        return filter.with(folder, &config);
    }
    let resource = folder.path().join(format!("{}.compiled.json", table.name));
    filter.write_resource(&config, &resource);
    envoy::filter_of_resource(&resource)
}

/// The listeners of Envoy that answer a table.
pub(super) struct Gate<'t> {
    table: &'t Table,
    ports: Ports,
    access_log: String,
}

impl<'t> Gate<'t> {
    pub(super) fn new(table: &'t Table) -> Self {
        Self { table, ports: Ports::free(), access_log: format!("{}.access.log", table.name) }
    }

    /// Those with this filter, whose access log has these formats besides. There is one with TLS if a case needs it.
    pub(super) fn listeners(
        &self,
        folder: &Folder,
        filter: &Value,
        formats: &[(&'static str, String)],
    ) -> Vec<Value> {
        let listener = |port| {
            let listener = Listener { port, filter: filter.clone(), access_log: self.access_log.clone() };
            let mut listener = envoy::configuration(folder, &listener);
            let format =
                manager(&mut listener).pointer_mut("/access_log/0/typed_config/log_format/json_format");
            let format = format.and_then(Value::as_object_mut).expect("a format");
            format.extend(formats.iter().map(|(key, format)| ((*key).to_owned(), format.as_str().into())));
            listener
        };
        let mut listeners = vec![listener(self.ports.plain)];
        if self.table.cases.iter().any(|case| case.request.tls) {
            let mut with_tls = listener(self.ports.tls);
            with_tls["filter_chains"][0]["transport_socket"] = server_tls(folder);
            listeners.push(with_tls);
        }
        listeners
    }

    /// The answers of a running Envoy with them.
    pub(super) fn answers(
        &self,
        envoy: &envoy::Envoy,
        facts: impl Fn(&Value) -> BTreeMap<String, Value>,
    ) -> Vec<Result<Answer, String>> {
        let exchanges = exchange_all(self.table, self.ports);
        let log = wait_for("a line of each case in Envoy's access log", || {
            logged(&envoy.folder().read(&self.access_log), self.table.cases.len())
        });
        let asked = self.table.config["filter_state"].as_array();
        let is_asked = |fact: &&str| asked.is_some_and(|asked| asked.iter().any(|asked| asked == fact));
        let client = |line: &Value| {
            client_facts(CLIENT_FACTS.into_iter().filter(is_asked), |name| line[name].as_str())
        };
        join(exchanges, log, facts, client)
    }
}

fn server_tls(folder: &Folder) -> Value {
    tls::write_certificate(folder, &[]);
    let file = |name: &str| json!({ "filename": folder.path().join(name) });
    json!({
        "name": "envoy.transport_sockets.tls",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
            "common_tls_context": {
                "tls_certificates": [{ "certificate_chain": file("certificate.pem"), "private_key": file("key.pem") }],
            },
        },
    })
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
