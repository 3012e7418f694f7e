//! The identity of a client: docs/identity.md.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;

use crate::edge::{Agent, Edge, Feed, Request};
use crate::feed::{Entry, Place, is_special, prefix};

/// The result of the signatures, which the model takes as a fact: it does not implement RFC 9421.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signature {
    /// None that says anything: none, one by an unknown key, an expired one.
    Nothing,
    /// One by a key of this directory that holds.
    Good(String),
    /// One that names a key of this directory, which did not make it.
    Wrong(String),
    /// One that the gate does not look at, because it has examined too many.
    NotExamined,
}

/// The names of the address, as far as they are known, for the agent that is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Nothing: no gate looked, or DNS refuted it or did not answer.
    Nothing,
    /// Forward-confirmed.
    Confirmed,
    /// Too many lookups were under way.
    NotLookedUp,
}

/// The sender of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identity<'e> {
    /// `verified` and so on.
    pub name: &'static str,
    /// Claimed, or the signer.
    pub agent: Option<&'e Agent>,
    /// The kind of proof that verified it.
    pub proof: Option<&'static str>,
    /// The feed on which it rests.
    pub feed: Option<&'e str>,
    /// The service that the feed gives for the address.
    pub service: Option<&'e str>,
    /// The reason for which a claim does not count as a forgery.
    pub doubt: Option<&'static str>,
    /// By the geofeeds.
    pub place: Option<&'e Place>,
    /// The User-Agent, or a signature, is that of automation.
    pub is_automation: bool,
    /// An exempt address of the document.
    pub is_exempt: bool,
    /// Spoofed by its signature.
    pub is_badly_signed: bool,
    /// A claim that would be a forgery without the signature that was not examined.
    pub is_refuted_else: bool,
}

/// A feed that has the address in force, with its most specific entry.
type Found<'e> = (&'e Feed, &'e Entry);

fn is_in(address: IpAddr, prefixes: &[&str]) -> bool {
    prefixes.iter().filter_map(|text| prefix(text)).any(|prefix| prefix.contains(&address))
}

/// "The IPv4 address within an address of 64:ff9b::/96 is the client's", and of other prefixes of NAT64 of 96 bits.
fn client_address(edge: &Edge, address: IpAddr) -> IpAddr {
    let address = address.to_canonical();
    let IpAddr::V6(v6) = address else { return address };
    let translates = |nat64: &IpNet| nat64.contains(&address);
    if is_in(address, &["64:ff9b::/96"]) || edge.nat64.iter().any(translates) {
        let [.., a, b, c, d] = v6.octets();
        return Ipv4Addr::new(a, b, c, d).into();
    }
    address
}

/// For each feed the most specific entry, the longest prefix first; of equally long ones, the feed that comes first.
fn lookup(edge: &Edge, address: IpAddr, now: i64) -> Vec<Found<'_>> {
    let mut found: Vec<Found<'_>> = Vec::new();
    for feed in &edge.feeds {
        let (_, content) = feed.choice.at(now, feed.max_age);
        // "In a feed with a `url`, these entries are left out."
        if feed.has_url && is_special(address) {
            continue;
        }
        let entries = content.map(|content| content.entries.as_slice()).unwrap_or_default();
        let covering = entries.iter().filter(|entry| entry.prefix.contains(&address));
        if let Some(entry) = covering.max_by_key(|entry| entry.prefix.prefix_len()) {
            found.push((feed, entry));
        }
    }
    found.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.prefix.prefix_len()));
    found
}

/// Finds out who sent the request.
pub(crate) fn identify<'e>(edge: &'e Edge, request: &Request<'_>) -> Identity<'e> {
    let address = request.address.map(|address| client_address(edge, address));
    let all = address.map(|address| lookup(edge, address, request.now)).unwrap_or_default();
    let ranges: Vec<_> = all.iter().filter(|(feed, _)| !feed.is_geofeed).copied().collect();
    let place = all.iter().find(|(feed, _)| feed.is_geofeed).map(|(_, entry)| &entry.place);
    let claimed = claimed(edge, request.user_agent);
    let is_exempt = edge.exempts.iter().any(|exempt| exempt.has(address, &ranges));
    let none = Identity {
        is_automation: claimed.is_some() || is_automation(request.user_agent),
        is_exempt,
        place,
        ..Identity::default()
    };

    // "The first proof that holds": the address.
    if let Some(agent) = claimed
        && let Some((feed, service)) = ranges.iter().find_map(|found| proves(agent, found))
    {
        let proof = Some("ip-range");
        return Identity { name: "verified", agent: claimed, proof, feed: Some(feed), service, ..none };
    }
    // A signature, whatever the User-Agent claims: "the claimed one counts, or else the first in the configuration".
    let (directory, holds) = match request.signature {
        Signature::Good(directory) => (Some(directory), true),
        Signature::Wrong(directory) => (Some(directory), false),
        _ => (None, false),
    };
    let has_key = |agent: &&Agent| {
        directory.is_some_and(|directory| agent.directories.iter().any(|known| known == directory))
    };
    if let Some(signer) = claimed.filter(has_key).or_else(|| edge.agents.iter().find(has_key)) {
        let (name, proof) = if holds { ("verified", Some("signature")) } else { ("spoofed", None) };
        let is_badly_signed = !holds;
        return Identity { name, agent: Some(signer), proof, is_badly_signed, is_automation: true, ..none };
    }
    // Without any keys, no signature is examined anyway.
    let has_keys = edge.agents.iter().any(|agent| !agent.directories.is_empty());
    let is_unexamined = *request.signature == Signature::NotExamined && has_keys;
    let unexamined = Some("signature-not-examined").filter(|_| is_unexamined);
    if let Some(agent) = claimed {
        let claims = Identity { agent: claimed, ..none };
        let Some(doubt) = doubt(edge, agent, address, &ranges, request.now) else {
            let name = if is_unexamined { "unverified" } else { "spoofed" };
            return Identity { name, doubt: unexamined, is_refuted_else: is_unexamined, ..claims };
        };
        // Names are looked up only for an agent with domains that would be unverified, and of a known address.
        let has_name = |known| request.name == known && !agent.domains.is_empty() && address.is_some();
        if has_name(Name::Confirmed) {
            return Identity { name: "verified", proof: Some("rdns"), ..claims };
        }
        let unasked = Some("name-not-looked-up").filter(|_| has_name(Name::NotLookedUp));
        return Identity { name: "unverified", doubt: unexamined.or(unasked).or(Some(doubt)), ..claims };
    }
    if is_unexamined {
        return Identity { name: "unverified", doubt: unexamined, is_automation: true, ..none };
    }
    if let Some((feed, entry)) = ranges.first() {
        let service = entry.services.first().map(String::as_str);
        return Identity { name: "undeclared", feed: Some(&feed.name), service, ..none };
    }
    if none.is_automation {
        return Identity { name: "generic", ..none };
    }
    Identity { name: "none", place: None, ..none }
}

/// `agents[].services`: "only prefixes whose most specific `service` is listed prove the agent".
fn proves<'e>(agent: &Agent, (feed, entry): &Found<'e>) -> Option<(&'e str, Option<&'e str>)> {
    let is_listed = |service: &&String| agent.services.is_empty() || agent.services.contains(service);
    let service = entry.services.iter().find(is_listed);
    let is_proof = agent.feeds.contains(&feed.name) && (agent.services.is_empty() || service.is_some());
    is_proof.then(|| (feed.name.as_str(), service.map(String::as_str)))
}

/// The reason for which a claim without a proof does not count as a forgery: the table of "Doubts". `None`: it does.
fn doubt(
    edge: &Edge,
    agent: &Agent,
    address: Option<IpAddr>,
    ranges: &[Found<'_>],
    now: i64,
) -> Option<&'static str> {
    const PRIVATE: [&str; 10] = [
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "100.64.0.0/10",
        "::1/128",
        "fe80::/10",
        "fc00::/7",
        "0.0.0.0/8",
    ];
    let Some(address) = address else { return Some("unknown-address") };
    if is_in(address, &PRIVATE) && ranges.is_empty() {
        return Some("private-address");
    }
    if is_in(address, &["2002::/16"]) {
        return Some("6to4");
    }
    if is_in(address, &["2001::/32"]) {
        return Some("teredo");
    }
    if agent.has_partial_ranges {
        return Some("partial-ranges");
    }
    if agent.feeds.is_empty() {
        return Some("no-feed");
    }
    // "All ranges of the agent are known", "complete, known and not empty".
    let is_known = |name: &String| {
        let feed = edge.feeds.iter().find(|feed| feed.name == *name)?;
        let (_, content) = feed.choice.at(now, feed.max_age);
        Some(content.is_some_and(|content| content.unreadable == 0 && !content.entries.is_empty()))
    };
    (!agent.feeds.iter().all(|name| is_known(name) == Some(true))).then_some("feed-state")
}

/// "How Crawlpike finds the claim": a token that stands alone; the longest, then the first. A byte above ASCII counts as a letter.
fn claimed<'e>(edge: &'e Edge, user_agent: Option<&str>) -> Option<&'e Agent> {
    let text = user_agent?;
    let mut best: Option<(&Agent, usize)> = None;
    for agent in &edge.agents {
        // AIWI-1: "the token `AIWebIndex` counts only if the User-Agent begins with it".
        let place = word(text, &agent.token).filter(|place| agent.token != "AIWebIndex" || *place == 0);
        let Some(place) = place else { continue };
        let is_better = |(known, at): (&Agent, usize)| {
            agent.token.len() > known.token.len() || agent.token.len() == known.token.len() && place < at
        };
        if best.is_none_or(is_better) {
            best = Some((agent, place));
        }
    }
    best.map(|(agent, _)| agent)
}

/// The place of a word that stands alone, in any case.
pub(crate) fn word(text: &str, word: &str) -> Option<usize> {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let is_part = |octet: Option<&u8>| {
        octet.is_some_and(|octet| octet.is_ascii_alphanumeric() || b"-_".contains(octet) || *octet >= 0x80)
    };
    let stands_at = |place: &usize| {
        let (before, rest) = text.split_at(*place);
        let starts = rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        starts && !is_part(before.last()) && !is_part(rest.get(word.len()))
    };
    (!word.is_empty()).then(|| (0..text.len()).find(stands_at)).flatten()
}

/// "How Crawlpike recognises other automation", of whose names the model knows a few.
fn is_automation(user_agent: Option<&str>) -> bool {
    let text = user_agent.unwrap_or_default();
    let has_form =
        text.starts_with("Mozilla/") && ["Gecko/", "AppleWebKit/"].iter().any(|engine| text.contains(engine));
    let names =
        text.split(|character: char| !character.is_alphanumeric() && character != '-' && character != '_');
    let is_bot = |name: &str| {
        let name = name.to_ascii_lowercase();
        ["bot", "crawler", "spider"].iter().any(|end| name.ends_with(end)) || name == "headlesschrome"
    };
    !has_form || names.into_iter().any(is_bot) || text.contains("+http")
}
