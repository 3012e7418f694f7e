//! The clients that send the requests.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fastrand::Rng;
use ipnet::IpNet;
use serde_json::Value;

use crate::artefacts;

/// The facts about a client.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) address: IpAddr,
    /// The /24 or /48 that it is in.
    pub(super) network: String,
    pub(super) user_agent: &'static str,
    pub(super) identity: &'static str,
    /// The kind and the name of its row in the report.
    pub(super) row: (&'static str, &'static str),
    /// The product of an unknown agent.
    pub(super) product: Option<&'static str>,
}

/// An agent, and its ranges.
#[derive(Debug)]
struct Agent {
    token: &'static str,
    user_agent: &'static str,
    ranges: Vec<IpNet>,
}

/// Those who send requests.
#[derive(Debug)]
pub(super) struct Clients {
    agents: Vec<Agent>,
}

const BROWSERS: [&str; 3] = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
];

/// Their products; the last User-Agent has what clears a terminal and what is markup.
const UNKNOWN: [(&str, &str); 4] = [
    ("curl", "curl/8.5.0"),
    ("python-requests", "python-requests/2.32.3"),
    ("NosyBot", "Mozilla/5.0 (compatible; NosyBot/0.1; +https://nosy.example/bot)"),
    ("EvilBot", "EvilBot/1 \u{1b}[2J\u{1b}]0;x\u{7}<script>alert(1)</script>"),
];

impl Clients {
    pub(super) fn new() -> Self {
        let agents = [
            (
                "Googlebot",
                "google-googlebot.json",
                "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            ),
            (
                "GPTBot",
                "openai-gptbot.json",
                "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
            ),
            (
                "Applebot",
                "apple-applebot.json",
                "Mozilla/5.0 (compatible; Applebot/0.1; +http://www.apple.com/go/applebot)",
            ),
        ];
        let agents =
            agents.map(|(token, feed, user_agent)| Agent { token, user_agent, ranges: ranges(feed) });
        Self { agents: agents.into() }
    }

    pub(super) fn draw(&self, random: &mut Rng) -> Client {
        let agent = &self.agents[[0, 0, 0, 0, 1, 1, 2][random.usize(..7)]];
        let row = ("agent", agent.token);
        match random.u32(0..100) {
            0..18 => {
                let range = agent.ranges[random.usize(..agent.ranges.len())];
                client(address_in(range, random), agent.user_agent, "verified", row)
            }
            18..26 => client(impostor(random), agent.user_agent, "spoofed", row),
            26..29 => client(
                private(random),
                "HomemadeBot/3 (+https://homemade.example)",
                "unverified",
                ("agent", "HomemadeBot"),
            ),
            29..36 => {
                let (product, user_agent) = UNKNOWN[random.usize(..UNKNOWN.len())];
                let client = client(private(random), user_agent, "generic", ("unknown", ""));
                Client { product: Some(product), ..client }
            }
            36 => {
                let google = &self.agents[0].ranges;
                let address = address_in(google[random.usize(..google.len())], random);
                client(address, BROWSERS[0], "undeclared", ("undeclared", "googlebot"))
            }
            _ => client(private(random), BROWSERS[random.usize(..BROWSERS.len())], "none", ("people", "")),
        }
    }
}

fn client(
    address: IpAddr,
    user_agent: &'static str,
    identity: &'static str,
    row: (&'static str, &'static str),
) -> Client {
    let length = if address.is_ipv4() { 24 } else { 48 };
    let network = IpNet::new(address, length).expect("a length of both families").trunc().to_string();
    Client { address, network, user_agent, identity, row, product: None }
}

/// The prefixes of a feed in JAFAR's form.
fn ranges(feed: &str) -> Vec<IpNet> {
    let text = fs::read_to_string(artefacts::feeds().join(feed)).expect("a feed of the repository");
    let document: Value = serde_json::from_str(&text).expect("a feed is JSON");
    let entries = document["prefixes"].as_array().expect("a feed has prefixes");
    let prefix = |entry: &Value| {
        let text = entry["ipv4Prefix"].as_str().or_else(|| entry["ipv6Prefix"].as_str()).expect("a prefix");
        text.parse().expect("a prefix")
    };
    entries.iter().map(prefix).collect()
}

fn address_in(range: IpNet, random: &mut Rng) -> IpAddr {
    match range {
        IpNet::V4(range) => {
            Ipv4Addr::from_bits(range.network().to_bits() | random.u32(..) & range.hostmask().to_bits())
                .into()
        }
        IpNet::V6(range) => {
            Ipv6Addr::from_bits(range.network().to_bits() | random.u128(..) & range.hostmask().to_bits())
                .into()
        }
    }
}

/// An address that no feed has, in one of few networks.
fn impostor(random: &mut Rng) -> IpAddr {
    match random.u32(0..4) {
        0 => Ipv4Addr::new(203, 0, 113, random.u8(..)).into(),
        1 | 2 => Ipv4Addr::new(198, 18, random.u8(..15), random.u8(..)).into(),
        _ => Ipv6Addr::new(0x2001, 0xdb8, random.u16(..10), random.u16(..), 0, 0, 0, random.u16(..)).into(),
    }
}

/// An address that no feed has, of millions.
fn private(random: &mut Rng) -> IpAddr {
    Ipv4Addr::from_bits(0x0a00_0000 | random.u32(..) >> 8).into()
}
