//! The errors in the runners' answers.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value};

use crate::cases::{Case, CaseRequest, SERVER_ANSWERS, Table};
use crate::runners::{Answer, CLIENT_FACTS, Exchange};

/// The answers of a runner to all cases of all files.
pub type Answers = Vec<Vec<Result<Answer, String>>>;

/// The fields of the JSON decision.
pub const FIELDS: [&str; 17] = [
    "action",
    "status",
    "reason",
    "identity",
    "agent",
    "feed",
    "service",
    "country",
    "region",
    "city",
    "site",
    "purpose",
    "rule",
    "robots_tag",
    "usage",
    "proof",
    "enforced",
];

/// Lists every case that a runner answers otherwise than the table says; empty where there is none.
pub fn against_table(runner: &str, tables: &[Table], answers: &Answers) -> String {
    let mut report = String::new();
    for_each_case(tables, |table, case, at| {
        let wrong = match &answers[at.0][at.1] {
            Ok(answer) => {
                let received = answer.exchange.iter().flat_map(|exchange| response_problems(case, exchange));
                let unknown = unknown(&case.expect, &FIELDS).chain(unknown(&case.facts, &CLIENT_FACTS));
                let client = answer.client.iter().flat_map(|shown| differences(&case.facts, shown));
                unknown
                    .chain(differences(&case.expect, &answer.facts))
                    .chain(client)
                    .chain(received)
                    .collect()
            }
            Err(why) => vec![format!("the case can't be put: {why}")],
        };
        report_case(&mut report, runner, table, case, &wrong);
    });
    report
}

/// Lists every case that a runner answers otherwise than the core does, and every exchange over the wire that is not
/// what the core's decision asks for.
pub fn against_core(runner: &str, tables: &[Table], core: &Answers, answers: &Answers) -> String {
    let mut report = String::new();
    for_each_case(tables, |table, case, at| {
        let (Ok(core), Ok(answer)) = (&core[at.0][at.1], &answers[at.0][at.1]) else {
            // Said by `against_table`.
            return;
        };
        let decided: Map<String, Value> = core.facts.clone().into_iter().collect();
        let mut wrong = differences(&decided, &answer.facts);
        for (known, shown) in core.client.iter().zip(&answer.client) {
            let known = known.clone().into_iter().collect();
            wrong.extend(
                differences(&known, shown).into_iter().map(|line| format!("about the client, {line}")),
            );
        }
        if let Some(exchange) = &answer.exchange {
            wrong.extend(wire_problems(&decided, exchange, table, case));
        } else if !FIELDS.iter().all(|field| answer.facts.contains_key(*field)) {
            wrong.push("the JSON decision lacks fields".into());
        }
        report_case(&mut report, runner, table, case, &wrong);
    });
    report
}

fn for_each_case(tables: &[Table], mut visit: impl FnMut(&Table, &Case, (usize, usize))) {
    for (file, table) in tables.iter().enumerate() {
        for (number, case) in table.cases.iter().enumerate() {
            visit(table, case, (file, number));
        }
    }
}

fn report_case(report: &mut String, runner: &str, table: &Table, case: &Case, wrong: &[String]) {
    if wrong.is_empty() {
        return;
    }
    let _ = writeln!(report, "\n{runner}: {}.json: {}\n  request: {:?}", table.name, case.name, case.request);
    for line in wrong {
        let _ = writeln!(report, "  {line}");
    }
}

/// The fields of a case that no answer has.
fn unknown(expected: &Map<String, Value>, fields: &[&str]) -> impl Iterator<Item = String> {
    let unknown = expected.keys().filter(|key| !fields.contains(&key.as_str()));
    unknown.map(|key| format!("no answer has a field `{key}`"))
}

/// The fields that an answer shows and that are not as expected.
fn differences(expected: &Map<String, Value>, shown: &BTreeMap<String, Value>) -> Vec<String> {
    let both = expected.iter().filter_map(|(key, expected)| Some((key, expected, shown.get(key)?)));
    let wrong = both.filter(|(_, expected, got)| expected != got);
    wrong.map(|(key, expected, got)| format!("{key}: expected {expected}, got {got}")).collect()
}

/// The differences between the table and the response that the client of a gate received.
fn response_problems(case: &Case, exchange: &Exchange) -> Vec<String> {
    let (expected, response) = (&case.response, &exchange.response);
    let status = expected.status.filter(|status| *status != response.status);
    let headers = expected.headers.iter().filter_map(|(name, lines)| {
        let lines = lines.lines();
        let expected: Vec<_> = lines.iter().map(|line| String::from_utf8_lossy(line)).collect();
        let got = response.lines(name);
        (got != expected).then(|| format!("{name}: expected {expected:?}, got {got:?}"))
    });
    let status = status.map(|status| format!("status: expected {status}, got {}", response.status));
    status.into_iter().chain(headers).collect()
}

/// The effect of a decision on a gate: an enforced one is carried out at the edge; all else reaches the origin, with what
/// is known in a header of ours, and no forged one.
fn wire_problems(
    decided: &Map<String, Value>,
    exchange: &Exchange,
    table: &Table,
    case: &Case,
) -> Vec<String> {
    let site = decided["site"].as_str().and_then(|site| table.site(site)).unwrap_or(&Value::Null);
    let CaseRequest { method, path, .. } = &case.request;
    let response = &exchange.response;
    let (content_type, cache_control) = (response.header("content-type"), response.header("cache-control"));
    let mut has_body = method != "HEAD";
    let mut wrong = Vec::new();
    let mut check = |what: &str, expected: Option<&str>, got: Option<&str>| {
        if expected != got {
            wrong.push(format!("{what}: expected {expected:?}, got {got:?}"));
        }
    };
    let status = response.status.to_string();
    let at_origin = exchange.at_origin.as_ref().map(|_| "received");
    let answer = SERVER_ANSWERS.iter().find(|(known, _)| known == path);
    let answer = answer.map(|(_, status)| status.to_string());
    if case.response.headers.is_empty() && case.upstream.is_empty() {
        let lines = response.lines("robots-tag");
        check("Robots-Tag", decided["robots_tag"].as_str(), lines.first().copied());
    }
    match decided["action"].as_str().filter(|_| decided["enforced"] == true) {
        Some("deny") => {
            let expected = decided["status"].as_u64().map(|status| status.to_string());
            check("status", expected.as_deref(), Some(&status));
            check("content type", Some("application/problem+json"), content_type);
            check("cache control", Some("no-store"), cache_control);
            check("the request at the origin", None, at_origin);
            let problem = response.problem().unwrap_or_default();
            check(
                "reason in the body",
                decided["reason"].as_str().filter(|_| has_body),
                problem["reason"].as_str(),
            );
            let rule = (has_body && site["explain"] != false && !decided["rule"].is_null())
                .then(|| decided["rule"].to_string());
            check("rule in the body", rule.as_deref(), problem.get("rule").map(Value::to_string).as_deref());
        }
        Some("serve") => {
            check("the request at the origin", None, at_origin);
            let served = table.served(site, path);
            // The table has the answers to conditional requests.
            let is_whole = case.response.status.is_none_or(|status| status == 200);
            has_body &= is_whole;
            check(
                "the body",
                served.as_deref().map(|text| if has_body { text } else { "" }),
                Some(&response.text()),
            );
            if is_whole {
                check("status", Some("200"), Some(&status));
            }
            // Envoy removes the type where there is no content.
            if is_whole && served.is_some_and(|text| !text.is_empty()) {
                check("content type", Some("text/plain; charset=utf-8"), content_type);
            }
        }
        _ if answer.is_some() => {
            check("status", answer.as_deref(), Some(&status));
            check("the request at the origin", None, at_origin);
        }
        _ => {
            check("status", Some("200"), Some(&status));
            check("the request at the origin", Some("received"), at_origin);
            let got = exchange.at_origin.iter().flatten().next().map(String::as_str);
            check("X-Crawlpike at the origin", header_value(decided).as_deref(), got);
        }
    }
    wrong
}

/// The `X-Crawlpike` header of a decision, written independently of the core, so that the core does not check itself.
fn header_value(decided: &Map<String, Value>) -> Option<String> {
    if decided["identity"] == "none" {
        return None;
    }
    let member = |key: &str| {
        let value = decided[key].as_str()?;
        let is_token = matches!(key, "action" | "identity" | "country" | "region");
        Some(if is_token { format!("{key}={value}") } else { format!("{key}={value:?}") })
    };
    let members = ["action", "identity", "agent", "feed", "service", "country", "region"];
    Some(members.into_iter().filter_map(member).collect::<Vec<_>>().join(", "))
}

/// The members of an RFC 8941 Dictionary whose values are tokens and strings, without escapes.
pub fn parse_dictionary(text: &str) -> BTreeMap<String, String> {
    text.split(", ")
        .filter_map(|member| member.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.trim_matches('"').to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Response;
    use serde_json::json;

    fn table() -> Vec<Table> {
        let cases =
            json!([{ "name": "a case", "request": { "ip": "192.0.2.1" }, "expect": { "action": "deny" } }]);
        vec![serde_json::from_value(json!({ "about": "", "config": {}, "cases": cases })).unwrap()]
    }

    fn answers(facts: Value, exchange: Option<Exchange>) -> Answers {
        vec![vec![Ok(Answer { facts: serde_json::from_value(facts).unwrap(), client: None, exchange })]]
    }

    fn denied() -> Exchange {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers = vec![
            header("Content-Type", "application/problem+json"),
            header("Cache-Control", "no-store"),
            header("Vary", "Accept"),
            header("Vary", "Cookie"),
        ];
        let body = json!({ "reason": "spoofed-agent" }).to_string().into_bytes();
        Exchange { response: Response { status: 403, headers, body }, at_origin: None }
    }

    fn denied_but(change: impl FnOnce(&mut Response)) -> Exchange {
        let mut exchange = denied();
        change(&mut exchange.response);
        exchange
    }

    #[test]
    fn a_response_that_is_not_that_of_the_table_is_told() {
        let report = |response: Value| {
            let mut tables = table();
            tables[0].cases[0].response = serde_json::from_value(response).unwrap();
            against_table("r", &tables, &answers(json!({}), Some(denied())))
        };
        assert_eq!(
            report(json!({ "status": 403, "headers": { "vary": ["Accept", "Cookie"], "etag": null } })),
            ""
        );
        assert!(report(json!({ "status": 304 })).contains("status: expected 304, got 403"));
        assert!(report(json!({ "headers": { "etag": "a" } })).contains("etag: expected"));
        assert!(report(json!({ "headers": { "vary": "Accept" } })).contains("vary: expected"));
        assert!(report(json!({ "headers": { "vary": null } })).contains("vary: expected"));
    }

    #[test]
    fn a_wrong_answer_and_a_missing_one_are_told() {
        assert_eq!(against_table("r", &table(), &answers(json!({ "action": "deny" }), None)), "");
        let report = against_table("r", &table(), &answers(json!({ "action": "allow" }), None));
        assert!(report.contains(r#"action: expected "deny", got "allow""#), "{report}");
        let report = against_table("r", &table(), &vec![vec![Err("no way".into())]]);
        assert!(report.contains("can't be put: no way"), "{report}");
    }

    #[test]
    fn a_gate_that_does_otherwise_than_the_core_decides_is_told() {
        let decision = json!({ "action": "deny", "enforced": true, "status": 403, "reason": "spoofed-agent",
            "identity": "spoofed", "agent": "A", "feed": null, "service": null, "country": null, "region": null, "site": null, "rule": null,
            "robots_tag": null });
        let core = answers(decision.clone(), None);
        let report =
            |shown: Value, exchange| against_core("r", &table(), &core, &answers(shown, Some(exchange)));
        assert_eq!(report(decision.clone(), denied()), "");
        assert_eq!(report(json!({}), denied()), "", "a gate may show less");
        assert!(report(json!({ "agent": "B" }), denied()).contains("agent"));
        let broken: [(&str, Exchange); 5] = [
            ("status", denied_but(|response| response.status = 200)),
            ("content type", denied_but(|response| drop(response.headers.remove(0)))),
            ("cache control", denied_but(|response| drop(response.headers.remove(1)))),
            ("reason in the body", denied_but(|response| response.body = br#"{"reason":"other"}"#.to_vec())),
            ("the request at the origin", Exchange { at_origin: Some(None), ..denied() }),
        ];
        for (what, exchange) in broken {
            assert!(report(json!({}), exchange).contains(what), "{what}");
        }
    }

    #[test]
    fn what_the_origin_is_told_is_checked() {
        let decision = json!({ "action": "deny", "enforced": false, "reason": "spoofed-agent",
            "identity": "spoofed", "agent": "A", "feed": null, "service": null, "country": null, "region": null, "site": null, "rule": null,
            "robots_tag": null });
        let core = answers(decision, None);
        let report = |received: Option<&str>| {
            let at_origin = Some(received.map(str::to_owned));
            let exchange = Exchange { at_origin, ..denied_but(|response| response.status = 200) };
            against_core("r", &table(), &core, &answers(json!({}), Some(exchange)))
        };
        assert_eq!(report(Some(r#"action=deny, identity=spoofed, agent="A""#)), "");
        assert!(report(Some("action=allow")).contains("X-Crawlpike at the origin"));
        assert!(report(None).contains("X-Crawlpike at the origin"));
    }
}
