//! The expected contents of a report.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::client::Client;
use super::line::Request;

/// The numbers of a report that must be exact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// All lines.
    pub lines: u64,
    /// Lines that no format reads.
    pub unreadable: u64,
    /// Lines over the limit.
    pub too_long: u64,
    /// Lines without a request.
    pub without_request: u64,
    /// The requests and bytes of each decision about each agent: `agent Googlebot: spoofed, deny, spoofed-agent, -, shop`.
    pub outcomes: BTreeMap<String, (u64, u64)>,
    /// The requests of each agent with each status.
    pub statuses: BTreeMap<String, u64>,
    /// The first and the last second of each agent.
    pub spans: BTreeMap<String, (i64, i64)>,
    /// The requests of impostors, by network and agent.
    pub impostors: BTreeMap<String, u64>,
    /// The requests and bytes of unknown agents.
    pub unknown: BTreeMap<String, (u64, u64)>,
    /// The automated requests that no policy covers, by host.
    pub uncovered: BTreeMap<String, u64>,
    /// The requests of each identity in each hour.
    pub hours: BTreeMap<String, u64>,
}

impl Expected {
    /// Counts a request.
    pub(super) fn add(&mut self, client: &Client, request: &Request) {
        let row = format!("{} {}", client.row.0, client.row.1);
        let has_policy = request.host != Some("blog.example");
        let robots = match (client.row.1, request.is_private) {
            _ if !has_policy => None,
            ("GPTBot", _) => Some("robots.txt:5"),
            (_, true) => Some("robots.txt:2"),
            _ => None,
        };
        let (action, reason, rule) = match (client.identity, robots) {
            ("none" | "undeclared", _) => ("allow", "not-automated", "-"),
            ("spoofed", _) => ("deny", "spoofed-agent", "-"),
            (_, Some(rule)) => ("deny", "robots-disallowed", rule),
            (_, None) => ("allow", "allowed", "-"),
        };
        let site = if has_policy { "shop" } else { "blog.example" };
        let identity = client.identity;
        add(
            &mut self.outcomes,
            format!("{row}: {identity}, {action}, {reason}, {rule}, {site}"),
            request.bytes,
        );
        *self.statuses.entry(format!("{row}: {}", request.status)).or_default() += 1;
        let span = self.spans.entry(row).or_insert((request.time, request.time));
        *span = (span.0.min(request.time), span.1.max(request.time));
        if identity == "spoofed" {
            *self.impostors.entry(format!("{} {}", client.network, client.row.1)).or_default() += 1;
        }
        if let Some(product) = client.product {
            add(&mut self.unknown, product.to_string(), request.bytes);
        }
        if !has_policy && reason == "allowed" {
            *self.uncovered.entry("blog.example".to_string()).or_default() += 1;
        }
        let hour = request.time.div_euclid(3_600) * 3_600;
        *self.hours.entry(format!("{hour} {identity}")).or_default() += 1;
        if action == "deny" {
            *self.hours.entry(format!("{hour} denied")).or_default() += 1;
        }
    }

    /// The number of requests.
    pub fn requests(&self) -> u64 {
        self.outcomes.values().map(|(requests, _)| requests).sum()
    }
}

fn add(sums: &mut BTreeMap<String, (u64, u64)>, key: String, bytes: u64) {
    let sum = sums.entry(key).or_default();
    *sum = (sum.0 + 1, sum.1 + bytes);
}

/// The same numbers as a report in JSON has them.
///
/// # Panics
///
/// If the report lacks a key, or has an estimate in place of a number that must be exact.
pub fn of_report(report: &Value) -> Expected {
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("not a number: {value}"));
    let text = |value: &Value| value.as_str().unwrap_or("-").to_string();
    let list = |value: &Value| value.as_array().unwrap_or_else(|| panic!("not a list: {value}")).clone();
    let seconds = |value: &Value| {
        let format = &time::format_description::well_known::Rfc3339;
        time::OffsetDateTime::parse(&text(value), format).expect("a time").unix_timestamp()
    };
    let input = &report["input"];
    let mut found = Expected {
        lines: number(&input["lines"]),
        unreadable: number(&input["unreadable"]),
        too_long: number(&input["too_long"]),
        without_request: number(&input["without_request"]),
        ..Expected::default()
    };
    for row in list(&report["agents"]) {
        let name = format!("{} {}", text(&row["kind"]), text(&row["name"]));
        for outcome in list(&row["outcomes"]) {
            let facts = ["identity", "action", "reason", "rule", "site"].map(|key| text(&outcome[key]));
            assert_eq!(outcome["enforced"], true);
            let sums = (number(&outcome["requests"]), number(&outcome["bytes"]));
            found.outcomes.insert(format!("{name}: {}", facts.join(", ")), sums);
        }
        for status in list(&row["statuses"]) {
            found.statuses.insert(format!("{name}: {}", status["status"]), number(&status["requests"]));
        }
        found.spans.insert(name, (seconds(&row["first"]), seconds(&row["last"])));
    }
    for part in ["impostors", "unknown"] {
        assert_eq!(report[part]["missing"], 0, "{part}");
    }
    for row in list(&report["impostors"]["networks"]) {
        found
            .impostors
            .insert(format!("{} {}", text(&row["network"]), text(&row["agent"])), number(&row["requests"]));
    }
    for row in list(&report["unknown"]["agents"]) {
        found.unknown.insert(text(&row["name"]), (number(&row["requests"]), number(&row["bytes"])));
    }
    for row in list(&report["uncovered"]["hosts"]["items"]) {
        found.uncovered.insert(text(&row["value"]), number(&row["requests"]));
    }
    let identities: Vec<String> =
        list(&report["identities"]).iter().map(|row| text(&row["identity"])).collect();
    for interval in list(&report["timeline"]["intervals"]) {
        let start = seconds(&interval["start"]);
        let mut put = |name: &str, requests: u64| {
            if requests > 0 {
                found.hours.insert(format!("{start} {name}"), requests);
            }
        };
        for (identity, requests) in identities.iter().zip(list(&interval["requests"])) {
            put(identity, number(&requests));
        }
        put("denied", number(&interval["denied"]));
    }
    found
}
