mod automation;
mod claims;
mod known_parts;
mod people;
mod search;
mod token;

use alloc::string::String;
use alloc::vec::Vec;

use super::{Claims, Speaker};
use crate::catalog::Catalog;
use crate::source::diagnostic::{Diagnostics, Load};

/// User-Agents of people, one a line.
const PEOPLE: &str = include_str!("../../../tests/data/ua-people.txt");
/// User-Agents of automation, one a line.
const AUTOMATION: &str = include_str!("../../../tests/data/ua-automation.txt");

/// The lines of a list without its comments.
fn lines(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|line| !line.starts_with('#'))
}

/// The tokens of the catalog, and what they are compiled to.
fn catalog() -> (Vec<String>, Claims) {
    let (name, bytes) = Catalog::builtin();
    let catalog = Catalog::parse(bytes, &mut Diagnostics::new(name, Load)).unwrap();
    let begins: Vec<bool> = catalog.agents.iter().map(|agent| agent.begins).collect();
    let tokens: Vec<String> = catalog.agents.into_iter().map(|agent| agent.token).collect();
    let claims =
        Claims::new(tokens.iter().map(String::as_str)).unwrap().counting_at_beginning(begins.into_iter());
    (tokens, claims)
}

/// The speaker if no agent is known.
fn speaker(user_agent: &str) -> Speaker {
    Claims::new([]).unwrap().speaker(Some(user_agent.as_bytes()))
}

/// Returns true if this is automation although no agent is known.
fn is_automation(user_agent: &str) -> bool {
    speaker(user_agent) == Speaker::Automation
}
