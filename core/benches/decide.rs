//! The cost of a decision on a large edge: `cargo bench -p crawlpike-core --bench decide`.
//!
//! One ruleset with everything at once: 200 agents whose feeds have 1,000,000 IPv4 and 200,000 IPv6 prefixes, and 300
//! sites under a robots.txt of 500 KiB with 10,000 rules and an automation-preferences.txt. Each kind of client is timed
//! over requests that differ in address, host, path and User-Agent, so that caches and branch prediction meet what they
//! meet on a busy server. Shown are medians, of several the least, since the machine may be busy with other things;
//! beside them, what published crates take for a part of the same work.
//!
//! With `-- KIND ROUNDS` only that kind is decided, that often, for a profiler: `-- browser 100`.

use std::env;
use std::fmt::Write;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Instant;

use crawlpike_core::Identity;
use crawlpike_core::{Files, FoundFile, Overrides, Request, Ruleset, Scheme, decide};
use serde_json::json;
use texting_robots::Robot;

const AGENTS: usize = 200;
const RULES: usize = 10_000;
/// The number of them that are in an agent's own group.
const RULES_OF_AGENT: usize = 40;
const SITES: usize = 300;
const V4_PREFIXES: usize = 1_000_000;
const V6_PREFIXES: usize = 200_000;
/// Requests of each kind.
const REQUESTS: usize = 2048;

const PEOPLE: &str = include_str!("../tests/data/ua-people.txt");
const AUTOMATION: &str = include_str!("../tests/data/ua-automation.txt");

/// The User-Agents that most people's browsers send today, by published shares: one line a browser and platform. The
/// list of
/// `PEOPLE` is of all that was ever seen, for the row of odd browsers.
const BROWSERS: &str = include_str!("../tests/data/ua-browsers-today.txt");

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let mut random = Random(1);
    let world = World::new(&mut random);
    let start = Instant::now();
    let compiled = Ruleset::compile("crawlpike.json", world.document().as_bytes(), &world);
    let ruleset = compiled.ruleset.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
    let compile_time = start.elapsed();
    let kinds = [
        ("verified", Identity::Verified, world.claiming(&mut random, 0)),
        ("spoofed", Identity::Spoofed, world.claiming(&mut random, 1)),
        ("generic", Identity::Generic, clients_from_elsewhere(&ruleset, &mut random, AUTOMATION)),
        ("browser", Identity::None, clients_from_elsewhere(&ruleset, &mut random, BROWSERS)),
        ("odd browser", Identity::None, clients_from_elsewhere(&ruleset, &mut random, PEOPLE)),
    ];
    if let [kind, rounds] = &*arguments {
        let (_, _, clients) = kinds.iter().find(|(name, ..)| name == kind).expect("a kind of clients");
        for _ in 0..rounds.parse().expect("a number of rounds") {
            black_box(denials(&ruleset, clients));
        }
        return;
    }
    let prefixes: usize = ruleset.feeds(0).map(|feed| feed.prefixes).sum();
    let kib = world.robots.len() / 1024;
    println!(
        "{AGENTS} agents, {prefixes} prefixes, {SITES} sites, a robots.txt of {kib} KiB with {RULES} rules;"
    );
    println!("compiled in {:.1} s. Nanoseconds, the least median:", compile_time.as_secs_f64());
    println!("| client | decide | of which denied | RegexSet of the tokens | texting_robots |");
    println!("|---|---|---|---|---|");
    let tokens = ruleset
        .agents()
        .map(|agent| format!(r"(?i-u)(?:^|[^a-z0-9_-])(?:{})(?:[^a-z0-9_-]|$)", regex::escape(agent.token)));
    let set = regex::bytes::RegexSet::new(tokens).expect("the tokens are escaped");
    let peer = Robot::new(&world.agents[0], world.robots.as_bytes()).expect("the peer reads the file");
    for (name, identity, clients) in &kinds {
        let is_right =
            |client: &&Client| decide(&ruleset, *client, Overrides::default()).identity == *identity;
        // Some of the automation is not recognised.
        let right = clients.iter().filter(is_right).count();
        assert!(right * 100 >= clients.len() * 99, "{name}: {right} of {}", clients.len());
        let ours = least_median(clients.len(), || denials(&ruleset, clients));
        let by_regex = least_median(clients.len(), || {
            clients.iter().filter(|client| set.matches(client.user_agent.as_bytes()).matched_any()).count()
        });
        let few = &clients[..64];
        let by_peer =
            least_median(few.len(), || few.iter().filter(|client| peer.allowed(&client.path)).count());
        let denied = denials(&ruleset, clients) * 100 / clients.len();
        println!("| {name} | {ours:.0} | {denied} % | {by_regex:.0} | {by_peer:.0} |");
    }
}

fn denials(ruleset: &Ruleset, clients: &[Client]) -> usize {
    let is_denied =
        |client: &&Client| decide(ruleset, black_box(*client), Overrides::default()).is_answered();
    clients.iter().filter(is_denied).count()
}

/// Nanoseconds for one of the `size` items that `work` goes through.
fn least_median(size: usize, work: impl Fn() -> usize) -> f64 {
    const MEDIANS: usize = 7;
    const RUNS: usize = 31;
    let run = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64() * 1e9 / size as f64
    };
    let median = |_| {
        let mut times: Vec<f64> = (0..RUNS).map(run).collect();
        times.sort_by(f64::total_cmp);
        times[RUNS / 2]
    };
    (0..MEDIANS).map(median).fold(f64::INFINITY, f64::min)
}

/// SplitMix64: the same numbers in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// The files behind the configuration.
struct World {
    agents: Vec<String>,
    robots: String,
    /// For each agent, a feed and some addresses in it.
    feeds: Vec<(String, Vec<IpAddr>)>,
}

impl World {
    fn new(random: &mut Random) -> Self {
        let agents: Vec<String> = (0..AGENTS).map(|n| format!("Example{n:03}Bot")).collect();
        let feeds = (0..AGENTS).map(|_| feed(random)).collect();
        let robots = robots(&agents);
        Self { agents, robots, feeds }
    }

    fn document(&self) -> String {
        let feeds = (0..AGENTS)
            .map(|n| json!({ "name": format!("feed-{n}"), "format": "cidr", "source": format!("{n}.txt") }));
        let agents = self
            .agents
            .iter()
            .enumerate()
            .map(|(n, token)| json!({ "token": token, "feeds": [format!("feed-{n}")] }));
        let sites = (0..SITES).map(|n| {
            json!({
                "hosts": [format!("site-{n}.example"), format!("*.site-{n}.example")],
                "robots_txt": "robots.txt", "automation_preferences": "automation-preferences.txt"
            })
        });
        json!({
            "mode": "enforce", "catalog": "none", "feeds": feeds.collect::<Vec<_>>(),
            "agents": agents.collect::<Vec<_>>(), "sites": sites.collect::<Vec<_>>()
        })
        .to_string()
    }

    /// Clients that claim an agent from an address of the agent that is `offset` further in the list.
    fn claiming(&self, random: &mut Random, offset: usize) -> Vec<Client> {
        let client = |_| {
            let agent = random.below(AGENTS);
            let (_, addresses) = &self.feeds[(agent + offset) % AGENTS];
            let address = addresses[random.below(addresses.len())];
            let user_agent = format!(
                "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; {}/2.1; +http://bot.example/{agent})",
                self.agents[agent]
            );
            Client::new(address, user_agent, agent * RULES_OF_AGENT + random.below(RULES_OF_AGENT), random)
        };
        (0..REQUESTS).map(client).collect()
    }
}

impl Files for World {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        let bytes = match path {
            "robots.txt" => self.robots.clone().into_bytes(),
            "automation-preferences.txt" => {
                b"scope: /\nallowed-methods: GET, HEAD\n\nscope: /shop/\nallowed-methods: GET, POST\n\n"
                    .to_vec()
            }
            feed => {
                let number = feed.strip_suffix(".txt").and_then(|number| number.parse::<usize>().ok());
                self.feeds[number.ok_or("no such file")?].0.clone().into_bytes()
            }
        };
        Ok(Some(FoundFile { bytes, modified: None }))
    }
}

/// Clients with one of these User-Agents, from addresses in no feed.
fn clients_from_elsewhere(ruleset: &Ruleset, random: &mut Random, list: &str) -> Vec<Client> {
    let list: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    let client = |_| {
        let number = random.below(RULES);
        let address = loop {
            let address = IpAddr::V4(Ipv4Addr::from_bits(random.next() as u32));
            if ruleset.lookup(address).next().is_none() {
                break address;
            }
        };
        Client::new(address, list[random.below(list.len())].to_string(), number, random)
    };
    (0..REQUESTS).map(client).collect()
}

fn feed(random: &mut Random) -> (String, Vec<IpAddr>) {
    let (mut text, mut addresses) = (String::new(), Vec::new());
    for number in 0..(V4_PREFIXES + V6_PREFIXES) / AGENTS {
        let bits = random.next();
        let (address, length) = if number < V4_PREFIXES / AGENTS {
            let length = 20 + bits % 9;
            let network = (bits >> 32) as u32 >> (32 - length) << (32 - length);
            (IpAddr::V4(Ipv4Addr::from_bits(network)), length)
        } else {
            // Below 2000::/3, as all global addresses are.
            let network = u128::from(bits >> 3 | 1 << 61) >> 16 << 80;
            (IpAddr::V6(Ipv6Addr::from_bits(network)), 48)
        };
        let _ = writeln!(text, "{address}/{length}");
        if number % 100 == 0 {
            addresses.push(address);
        }
    }
    (text, addresses)
}

/// 500 KiB of groups for each agent and for all others, a tenth of the rules with `*` or `$`.
fn robots(agents: &[String]) -> String {
    let mut text = String::new();
    let groups = agents.iter().map(String::as_str).chain(["*"]);
    for (group, agent) in groups.enumerate() {
        let _ = writeln!(text, "User-agent: {agent}");
        let first = group * RULES_OF_AGENT;
        let last = if agent == "*" { RULES } else { first + RULES_OF_AGENT };
        for number in first..last {
            let verb = if number % 5 == 0 { "Allow" } else { "Disallow" };
            let line = format!("{verb}: {}", rule(number));
            // Comments bring the file to the 500 KiB that every reader has to accept.
            let _ = writeln!(text, "{line:<45} #{:03}", number % 1000);
        }
    }
    text
}

fn rule(number: usize) -> String {
    match number % 20 {
        0 => format!("/shop/category-{:03}/*/print-{number:05}$", number * 7 % 500),
        10 => format!("/*/tracking-{number:05}?ref="),
        _ => format!("/shop/category-{:03}/product-{number:05}/reviews", number * 7 % 500),
    }
}

#[derive(Clone, Debug)]
struct Client {
    address: IpAddr,
    host: String,
    path: String,
    user_agent: String,
}

impl Client {
    /// A client that asks for a path around the rule of this number.
    fn new(address: IpAddr, user_agent: String, number: usize, random: &mut Random) -> Self {
        let below = if random.below(2) == 0 { "www." } else { "" };
        let path = match random.below(4) {
            0 => rule(number).replace('*', "x").replace('$', ""),
            1 => rule(number).replace('*', "some/where") + "?utm_source=feed&page=2",
            2 => format!("/shop/category-{:03}/product-{:05}", number % 500, number + 1),
            _ => format!("/blog/2026/11/{number}/a-post-about-nothing-in-particular?page=3"),
        };
        Self { address, host: format!("{below}site-{}.example", random.below(SITES)), path, user_agent }
    }
}

impl Request for Client {
    fn address(&self) -> Option<IpAddr> {
        Some(self.address)
    }

    fn scheme(&self) -> Option<Scheme> {
        Some(Scheme::Https)
    }

    fn authority(&self) -> Option<&[u8]> {
        Some(self.host.as_bytes())
    }

    fn method(&self) -> &[u8] {
        b"GET"
    }

    fn path(&self) -> &[u8] {
        self.path.as_bytes()
    }

    fn user_agent(&self) -> Option<&[u8]> {
        Some(self.user_agent.as_bytes())
    }

    fn now(&self) -> i64 {
        0
    }

    fn header_lines<'r>(&'r self, _: &str) -> impl Iterator<Item = &'r [u8]> {
        std::iter::empty()
    }
}
