//! Answers the robots.txt requests of `conformance/run` with a crate: `conformance-adapters robotstxt|texting_robots`.

use std::io::stdin;

use robotstxt::DefaultMatcher;
use serde_json::{Value, json};
use texting_robots::Robot;

fn main() {
    let engine = std::env::args().nth(1).expect("the name of a crate");
    for line in stdin().lines() {
        let request: Value = serde_json::from_str(&line.expect("a line")).expect("a request in JSON");
        println!("{}", answer(&engine, &request));
    }
}

fn answer(engine: &str, request: &Value) -> Value {
    if request["question"] != "robots" {
        return json!({ "unsupported": true });
    }
    let of = |key: &str| request[key].as_str().unwrap_or_default();
    let (rules, agent, url) = (of("robots_txt"), of("agent"), format!("https://example.com{}", of("path")));
    if engine == "robotstxt" {
        return json!({ "allowed": DefaultMatcher::default().one_agent_allowed_by_robots(rules, agent, &url) });
    }
    match Robot::new(agent, rules.as_bytes()) {
        Ok(robot) => json!({ "allowed": robot.allowed(&url) }),
        Err(error) => json!({ "error": error.to_string() }),
    }
}
