//! `crawlpike serve`, asked in both protocols.

use std::collections::BTreeMap;

use serde_json::Value;

use super::envoy::Gate;
use super::{Answer, CLIENT_FACTS, Exchange, Runner};
use crate::cases::{Case, SERVER_ANSWERS, Table};
use crate::envoy;
use crate::http::Request;
use crate::nginx::Folder;
use crate::origin::Origin;
use crate::serve::{self, METADATA, Serve};
use crate::verdict::parse_dictionary;

/// `crawlpike serve`, asked by Envoy's filter `ext_authz`: the decision from the dynamic metadata in Envoy's access log.
#[derive(Clone, Copy, Debug)]
pub struct ExtAuthz;

/// `crawlpike serve`, asked as Traefik does, whose part the harness has: a permission stands for the request at the origin.
#[derive(Clone, Copy, Debug)]
pub struct Forward;

/// The keys of what is known.
const KEYS: [&str; 7] = ["action", "identity", "agent", "feed", "service", "country", "region"];

impl Runner for ExtAuthz {
    fn name(&self) -> &'static str {
        "serve (ext_authz)"
    }

    /// One Envoy, with a listener, a cluster and a server for each file of the table.
    fn run(&self, tables: &[Table]) -> Vec<Vec<Result<Answer, String>>> {
        let (origin, folder) = (Origin::start(), Folder::new());
        let servers: Vec<Serve> = tables
            .iter()
            .map(|table| Serve::start(&folder, &table.name, &table.write(&folder), &[]))
            .collect();
        let gates: Vec<Gate<'_>> = tables.iter().map(Gate::new).collect();
        let shown = |fact| (fact, format!("%DYNAMIC_METADATA({METADATA}:{fact})%"));
        let formats: Vec<_> = CLIENT_FACTS.into_iter().chain(["crawlpike"]).map(shown).collect();
        let listeners = gates
            .iter()
            .zip(tables)
            .flat_map(|(gate, table)| gate.listeners(&folder, &serve::filter(&table.name), &formats));
        let mut bootstrap = envoy::bootstrap(&listeners.collect::<Vec<_>>(), origin.port());
        let clusters = bootstrap["static_resources"]["clusters"].as_array_mut().expect("clusters");
        clusters.extend(
            tables.iter().zip(&servers).map(|(table, server)| serve::cluster(&table.name, server.grpc())),
        );
        let envoy = envoy::Envoy::boot(folder, bootstrap, 2, &[]);
        gates.iter().map(|gate| gate.answers(&envoy, |line| facts(line["crawlpike"].as_str()))).collect()
    }
}

impl Runner for Forward {
    fn name(&self) -> &'static str {
        "serve (forward-auth)"
    }

    fn run(&self, tables: &[Table]) -> Vec<Vec<Result<Answer, String>>> {
        tables.iter().map(run_table).collect()
    }
}

fn run_table(table: &Table) -> Vec<Result<Answer, String>> {
    let folder = Folder::new();
    let server = Serve::start(&folder, &table.name, &table.write(&folder), &[]);
    table.cases.iter().map(|case| Ok(exchange(&server, table, case))).collect()
}

/// Asks about a case, and does what Traefik does with the answer.
fn exchange(server: &Serve, table: &Table, case: &Case) -> Answer {
    let mut response = server.ask(&question(table, case));
    let facts = response.header("x-crawlpike").map(str::to_owned);
    let is_permitted = response.status == 200;
    let own = SERVER_ANSWERS.iter().find(|(path, _)| *path == case.request.path).filter(|_| is_permitted);
    response.status = own.map_or(response.status, |(_, status)| *status);
    if case.request.method == "HEAD" {
        response.body.clear();
    }
    let at_origin = (is_permitted && own.is_none()).then(|| facts.clone());
    // Only the permission says what is known.
    let facts = if is_permitted { self::facts(facts.as_deref()) } else { BTreeMap::new() };
    Answer { facts, client: None, exchange: Some(Exchange { response, at_origin }) }
}

fn question(table: &Table, case: &Case) -> Request {
    let request = Request::new("GET", "/traefik", "127.0.0.1")
        .header("X-Forwarded-For", case.request.ip.to_string())
        .header("X-Forwarded-Host", &case.request.host)
        .header("X-Forwarded-Method", &case.request.method)
        .header("X-Forwarded-Proto", case.request.scheme().as_str())
        .header("X-Forwarded-Uri", &case.request.path);
    let headers = table.http_request(case);
    let others = headers.headers().iter().filter(|(name, _)| name != "Host");
    others.fold(request, |request, (name, value)| request.header(name, value))
}

/// Nothing is known of a person: then there is nothing but the identity.
fn facts(text: Option<&str>) -> BTreeMap<String, Value> {
    let Some(text) = text else { return BTreeMap::from([("identity".into(), "none".into())]) };
    let members = parse_dictionary(text);
    let member = |key: &str| members.get(key).map_or(Value::Null, |value| value.as_str().into());
    KEYS.iter().map(|key| ((*key).to_owned(), member(key))).collect()
}
