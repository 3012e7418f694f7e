//! The cost of reading a User-Agent: `Tokens::find` and `Claims::speaker` beside regular expressions of the same
//! tokens.
//!
//! `cargo bench -p crawlpike-core --bench user_agent [-- PEOPLE AUTOMATION]`, where the arguments are files of
//! User-Agents, one a line. Each time is the best of several rounds over a whole list, so that branch prediction
//! meets as many different User-Agents as on a busy server.

use std::hint::black_box;
use std::time::{Duration, Instant};
use std::{env, fs};

use crawlpike_core::internals::Catalog;
use crawlpike_core::internals::{Claims, Diagnostics, Load, Speaker, Tokens};

const ROUNDS: u32 = 200;

fn main() {
    // `cargo bench` passes `--bench` itself.
    let files: Vec<String> = env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let file = |index: usize, default: &str| files.get(index).cloned().unwrap_or_else(|| default.into());
    let people = lines(&file(0, "tests/data/ua-people.txt"));
    let automation = lines(&file(1, "tests/data/ua-automation.txt"));

    let (name, bytes) = Catalog::builtin();
    let catalog = Catalog::parse(bytes, &mut Diagnostics::new(name, Load)).expect("it is tested");
    let tokens: Vec<&str> = catalog.agents.iter().map(|agent| agent.token.as_str()).collect();
    let claims = Claims::new(tokens.iter().copied()).expect("tokens are checked");
    // The boundary rule without look-around, which `regex` lacks.
    let alone: Vec<String> = tokens
        .iter()
        .map(|token| format!(r"(?i-u)(?:^|[^a-z0-9_-])(?:{})(?:[^a-z0-9_-]|$)", regex::escape(token)))
        .collect();
    let set = regex::bytes::RegexSet::new(&alone).expect("the tokens are escaped");
    let alternation = regex::bytes::Regex::new(&alone.join("|")).expect("the tokens are escaped");

    println!("{} tokens, {} bytes of memory", tokens.len(), claims.memory_usage());
    println!("| ns a User-Agent | {} of people | {} of automation |", people.len(), automation.len());
    println!("|---|---|---|");
    let row = |name: &str, work: &dyn Fn(&[u8]) -> bool| {
        println!("| {name} | {:.0} | {:.0} |", nanoseconds(&people, work), nanoseconds(&automation, work));
    };
    let found = Tokens::new(tokens.iter().copied());
    row("Tokens::find", &|user_agent| found.find(user_agent).is_some());
    row("Claims::speaker", &|user_agent| claims.speaker(Some(user_agent)) == Speaker::Automation);
    row("regex, one alternation", &|user_agent| alternation.is_match(user_agent));
    row("regex::RegexSet", &|user_agent| set.matches(user_agent).matched_any());
}

/// The lines of a list without its comments.
fn lines(path: &str) -> Vec<Vec<u8>> {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    lines.map(<[u8]>::to_vec).collect()
}

fn nanoseconds(list: &[Vec<u8>], work: &dyn Fn(&[u8]) -> bool) -> f64 {
    let round = || {
        let start = Instant::now();
        for user_agent in list {
            black_box(work(black_box(user_agent)));
        }
        start.elapsed()
    };
    let best = (0..ROUNDS).map(|_| round()).min().unwrap_or(Duration::MAX);
    best.as_secs_f64() * 1e9 / list.len() as f64
}
