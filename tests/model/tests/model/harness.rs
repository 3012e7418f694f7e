//! A world, the core in it, and the difference between the two decisions, in the smallest world that shows it.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write;
use std::net::IpAddr;

use crawlpike_core::{
    Decision as CoreDecision, Doubt, FeedFile, Files, FoundFile, Mode, NameOutcome, Overrides, PlainRequest,
    Proof, Ruleset, Scheme, UsageStatement, decide as core_decide,
};
use crawlpike_model::{Decision, Edge, Name, Request, Versions, decide};
use serde_json::Value;

use crate::signing::Signed;

/// The clock of most worlds.
pub(crate) const NOW: i64 = 1_800_000_000;

/// A configuration with its files. The source of a feed is its name.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) document: Value,
    pub(crate) files: BTreeMap<String, Versions>,
}

/// A file of which there is one version, as old as the clock says.
pub(crate) fn file(bytes: impl Into<Vec<u8>>) -> Versions {
    file_of(bytes, NOW)
}

pub(crate) fn file_of(bytes: impl Into<Vec<u8>>, modified: i64) -> Versions {
    Versions { newest: Some(version(bytes, modified)), ..Versions::default() }
}

pub(crate) fn version(bytes: impl Into<Vec<u8>>, modified: i64) -> crawlpike_model::File {
    crawlpike_model::File { bytes: bytes.into(), modified }
}

/// A request of a world.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: Option<IpAddr>,
    pub(crate) host: &'static str,
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) user_agent: Option<&'static str>,
    pub(crate) purposes: &'static [&'static str],
    pub(crate) now: i64,
    pub(crate) signed: Signed,
    pub(crate) name: Name,
    pub(crate) mode: Option<&'static str>,
}

impl Default for Client {
    fn default() -> Self {
        Self {
            address: "203.0.113.9".parse().ok(),
            host: "one.test",
            method: "GET",
            path: "/".into(),
            user_agent: Some("curl/8.5.0"),
            purposes: &[],
            now: NOW,
            signed: Signed::No,
            name: Name::Nothing,
            mode: None,
        }
    }
}

struct Memory<'w>(&'w World);

impl Memory<'_> {
    fn found(
        &self,
        path: &str,
        which: impl Fn(&Versions) -> &Option<crawlpike_model::File>,
    ) -> Option<FoundFile> {
        let file = which(self.0.files.get(path)?).as_ref()?;
        Some(FoundFile { bytes: file.bytes.clone(), modified: Some(file.modified) })
    }
}

impl Files for Memory<'_> {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        Ok(self.found(path, |versions| &versions.newest))
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        self.found(path, |versions| &versions.last_good)
    }

    fn earlier_good_feed(&self, path: &str) -> Option<FeedFile> {
        self.found(path, |versions| &versions.earlier_good).map(FeedFile::from)
    }

    fn accepts(&self, feed: &str) -> bool {
        self.0.files.get(feed).is_some_and(|versions| versions.is_accepted)
    }
}

/// A world as both have loaded it.
pub(crate) struct Loaded {
    core: Option<Ruleset>,
    model: Option<Edge>,
}

impl World {
    pub(crate) fn load(&self) -> Loaded {
        let compiled = Ruleset::compile("c.json", self.document.to_string().as_bytes(), &Memory(self));
        if compiled.ruleset.is_none() && env::var_os("CRAWLPIKE_MODEL_SAYS").is_some() {
            eprintln!("{:#?}", compiled.diagnostics);
        }
        Loaded { core: compiled.ruleset, model: Edge::load(&self.document, &self.files) }
    }
}

impl Loaded {
    /// The two decisions, if they differ. The states of the feeds belong to them.
    pub(crate) fn difference(&self, client: &Client) -> Option<(String, String)> {
        let (core, model) = match (&self.core, &self.model) {
            (None, None) => return None,
            (core, model) => (core.as_ref(), model.as_ref()),
        };
        let (Some(core), Some(model)) = (core, model) else {
            let word = |is_loaded| if is_loaded { "loads" } else { "is refused" }.to_owned();
            return Some((word(core.is_some()), word(model.is_some())));
        };
        let ours = by_core(core, client);
        let expected = by_model(model, client);
        (ours != expected).then(|| (fields(&ours, &expected), fields(&expected, &ours)))
    }
}

/// The fields in which one decision differs from another.
fn fields(one: &Decision, other: &Decision) -> String {
    let (one, other) = (format!("{one:#?}"), format!("{other:#?}"));
    let other: BTreeSet<&str> = other.lines().collect();
    let differing: Vec<&str> = one.lines().filter(|line| !other.contains(line)).map(str::trim).collect();
    differing.join(" ")
}

fn by_model(edge: &Edge, client: &Client) -> Decision {
    let signature = client.signed.fact(client.host);
    let Client { address, host, method, user_agent, purposes, now, name, mode, .. } = *client;
    let path = &client.path;
    let signature = &signature;
    decide(edge, &Request { address, host, method, path, user_agent, purposes, now, signature, name, mode })
}

fn by_core(ruleset: &Ruleset, client: &Client) -> Decision {
    let purposes = client.purposes.iter().map(|line| ("automation-purpose", line.as_bytes()));
    let signature = client.signed.headers(client.host);
    let signature = signature.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let headers: Vec<(&str, &[u8])> = purposes.chain(signature).collect();
    let request = PlainRequest {
        address: client.address,
        scheme: Some(Scheme::Https),
        authority: Some(client.host.as_bytes()),
        method: client.method.as_bytes(),
        path: client.path.as_bytes(),
        user_agent: client.user_agent.map(str::as_bytes),
        headers: &headers,
        now: client.now,
        signature_budget: None,
    };
    client.signed.with_budget(&request, |request| {
        let mode = client.mode.and_then(Mode::from_word);
        let mut overrides = Overrides { mode, ..Overrides::default() };
        let outcome = match client.name {
            Name::Nothing => None,
            Name::Confirmed => Some(NameOutcome::Confirmed),
            Name::NotLookedUp => Some(NameOutcome::Unasked),
        };
        let mut decision = core_decide(ruleset, request, overrides);
        let lookup =
            outcome.and_then(|outcome| Some((ruleset.name_lookup(&decision, request, None)?, outcome)));
        if let Some((lookup, outcome)) = lookup {
            overrides.name = Some(lookup.fact(outcome));
            decision = core_decide(ruleset, request, overrides);
        }
        describe(ruleset, &decision, request)
    })
}

fn describe(ruleset: &Ruleset, decision: &CoreDecision, request: &PlainRequest<'_>) -> Decision {
    let facts = ruleset.describe_with_usage(decision, request);
    let text = |text: Option<&str>| text.map(str::to_owned);
    Decision {
        action: facts.action.as_str(),
        status: facts.status,
        reason: facts.reason.as_str(),
        identity: facts.identity.as_str(),
        agent: text(facts.agent),
        feed: text(facts.feed),
        service: text(facts.service),
        country: text(facts.country),
        region: text(facts.region),
        city: text(facts.city),
        site: text(facts.site),
        purpose: facts.purpose.map(|purposes| purposes.iter().collect::<Vec<_>>().join(", ")),
        rule: facts.rule.map(|rule| (rule.file.to_owned(), rule.line)),
        robots_tag: text(facts.robots_tag),
        usage: facts.usage.and_then(UsageStatement::text),
        proof: facts.proof.map(Proof::as_str),
        enforced: facts.enforced,
        doubt: decision.doubt.map(Doubt::as_str),
    }
}

/// Worlds that differ in a few points, each with some choices, of which the first is the plainest; and requests likewise.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// The numbers of choices for each point of the configuration.
    pub(crate) worlds: Vec<usize>,
    /// The same for the request.
    pub(crate) clients: Vec<usize>,
    pub(crate) world: fn(&[usize]) -> World,
    pub(crate) client: fn(&[usize]) -> Client,
}

/// The choices of a number in mixed radix.
pub(crate) fn digits(sizes: &[usize], mut number: usize) -> Vec<usize> {
    let digit = |size: &usize| {
        let digit = number % size;
        number /= size;
        digit
    };
    sizes.iter().map(digit).collect()
}

/// The number of configurations, of worlds (with a request each), and the differences.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) configurations: usize,
    pub(crate) worlds: usize,
    pub(crate) differences: String,
}

impl Family {
    fn differ(&self, world: &[usize], client: &[usize]) -> Option<(String, String)> {
        (self.world)(world).load().difference(&(self.client)(client))
    }

    /// Takes choices back to plainer ones, as long as the two differ.
    fn smallest(&self, mut world: Vec<usize>, mut client: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
        loop {
            let before = (world.clone(), client.clone());
            for place in 0..world.len() + client.len() {
                let digit = |world: &mut Vec<usize>, client: &mut Vec<usize>, to: usize| match place
                    .checked_sub(world.len())
                {
                    None => std::mem::replace(&mut world[place], to),
                    Some(place) => std::mem::replace(&mut client[place], to),
                };
                let now = digit(&mut world, &mut client, 0);
                for choice in 0..=now {
                    digit(&mut world, &mut client, choice);
                    if choice == now || self.differ(&world, &client).is_some() {
                        break;
                    }
                }
            }
            if (&world, &client) == (&before.0, &before.1) {
                return before;
            }
        }
    }

    /// Compares a share of all worlds: every `world_step`-th configuration, with every `client_step`-th request.
    pub(crate) fn compare(&self, world_step: usize, client_step: usize) -> Report {
        let (all_worlds, all_clients) =
            (self.worlds.iter().product::<usize>(), self.clients.iter().product());
        let clients: Vec<Client> =
            (0..all_clients).map(|number| (self.client)(&digits(&self.clients, number))).collect();
        let mut report = Report::default();
        let (mut kinds, mut told) = (BTreeSet::new(), BTreeSet::new());
        for number in (0..all_worlds).step_by(world_step) {
            let world = digits(&self.worlds, number);
            let loaded = (self.world)(&world).load();
            report.configurations += 1;
            // Another share of the requests in each configuration, so that all meet.
            for place in (number / world_step % client_step..all_clients).step_by(client_step) {
                report.worlds += 1;
                let Some(difference) = loaded.difference(&clients[place]) else { continue };
                if kinds.len() < 12 && kinds.insert(difference) {
                    let smallest = self.smallest(world.clone(), digits(&self.clients, place));
                    if told.insert(smallest.clone()) {
                        self.tell(&mut report.differences, &smallest.0, &smallest.1);
                    }
                }
            }
        }
        report
    }

    fn tell(&self, to: &mut String, world: &[usize], client: &[usize]) {
        let (core, model) = self.differ(world, client).expect("they differ");
        let made = (self.world)(world);
        let _ = writeln!(to, "\n{} {world:?} {client:?}:\n  {}\n", self.name, made.document);
        for (name, versions) in &made.files {
            let all = [
                ("", &versions.newest),
                ("last good ", &versions.last_good),
                ("earlier ", &versions.earlier_good),
            ];
            for (which, file) in all.into_iter().filter_map(|(which, file)| Some((which, file.as_ref()?))) {
                let _ = writeln!(
                    to,
                    "  {which}{name}, of {}: {}",
                    file.modified - NOW,
                    file.bytes.escape_ascii()
                );
            }
        }
        let _ = writeln!(to, "  {:?}\n  core:  {core}\n  model: {model}", (self.client)(client));
    }
}
