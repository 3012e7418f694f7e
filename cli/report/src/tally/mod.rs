//! The counts of all requests, in memory whose bound does not depend on the log.

pub(crate) mod client;
pub(crate) mod distinct;
pub(crate) mod frequent;
pub(crate) mod group;
pub(crate) mod timeline;
mod unknown;

use crawlpike_core::{Action, DocumentProspect, Doubt, Facts, Identity, PurposeUse};
use hashbrown::HashMap;

use crate::line::{Fault, Record};
use client::Client;
use distinct::Distinct;
use frequent::{Detail, Frequent};
use group::{Group, Outcome, Sums, joined};
use timeline::Timeline;
pub(crate) use unknown::name as name_of_unknown;

/// The columns of the timeline: the identities in their order, and then the requests that are denied.
pub(crate) const COLUMNS: usize = Identity::ALL.len() + 1;
/// The column of the requests that are denied.
pub(crate) const DENIED: usize = COLUMNS - 1;

/// The sender of a request, as the report groups requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sender<'r> {
    /// Claims this agent.
    Agent(&'r str),
    /// Claims none, from an address of this feed.
    Undeclared(&'r str),
    /// A person's browser, as far as anybody can say.
    Person,
}

/// An impostor: the network, and the agent that is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Impostor<'r> {
    pub(crate) network: Client,
    pub(crate) agent: &'r str,
}

/// Sums of all requests, or of those that one thread has read.
#[derive(Debug)]
pub(crate) struct Tally<'r> {
    pub(crate) lines: u64,
    pub(crate) faults: HashMap<Fault, u64>,
    /// Requests that the options leave out.
    pub(crate) filtered: u64,
    /// Requests that are left out because nobody knows whether they are recent enough.
    pub(crate) undated: u64,
    /// Requests that claim an agent from a private address.
    pub(crate) private: u64,
    /// Requests from private addresses, whatever they claim.
    pub(crate) from_private: u64,
    pub(crate) without_time: u64,
    pub(crate) without_host: u64,
    /// Requests of which the log has no address of the client.
    pub(crate) without_address: u64,
    /// Requests of which the log has only the path after rewrites.
    pub(crate) rewritten: u64,
    pub(crate) groups: HashMap<Sender<'r>, Group<'r>>,
    /// Automation that claims no known agent, by the name of its product.
    pub(crate) unknown: Frequent<Vec<u8>, Group<'r>>,
    /// All of it, exactly.
    pub(crate) all_unknown: Group<'r>,
    pub(crate) addresses: Distinct,
    pub(crate) impostors: Frequent<Impostor<'r>>,
    /// Automated requests that no policy was asked about.
    pub(crate) uncovered: Sums,
    pub(crate) uncovered_hosts: Frequent<Vec<u8>>,
    /// Requests in places where the mode is `off`.
    pub(crate) off: u64,
    /// Requests to which sites offer documents.
    pub(crate) offered: u64,
    /// Those of them that have an Accept in the log: not `-`, and not empty.
    pub(crate) with_accept: u64,
    /// Requests for documents by their forms, or by the reasons why they get the page. Exact.
    pub(crate) documents: HashMap<&'static str, u64>,
    pub(crate) timeline: Timeline<COLUMNS>,
    pub(crate) span: Option<(i64, i64)>,
}

/// A request and what was decided about it.
#[derive(Clone, Debug)]
pub(crate) struct Judged<'a, 'r> {
    pub(crate) record: &'a Record<'a>,
    /// The client as lists show it.
    pub(crate) client: Option<Client>,
    pub(crate) facts: Facts<'r>,
    /// The reason why the claim is not called a forgery.
    pub(crate) doubt: Option<Doubt>,
    /// The preference of the site about each purpose of an automated client, for the path.
    pub(crate) uses: Vec<(&'static str, PurposeUse)>,
    /// The answer to the client's wish for a document.
    pub(crate) document: DocumentProspect,
    /// True if a policy of a site was asked, or a setting decided.
    pub(crate) is_covered: bool,
    pub(crate) is_off: bool,
}

impl<'r> Judged<'_, 'r> {
    /// The sender; `None` for automation that claims no known agent.
    pub(crate) fn sender(&self) -> Option<Sender<'r>> {
        match (self.facts.agent, self.facts.identity, self.facts.feed) {
            (Some(agent), ..) => Some(Sender::Agent(agent)),
            (_, Identity::Undeclared, Some(feed)) => Some(Sender::Undeclared(feed)),
            (_, Identity::Generic, _) => None,
            _ => Some(Sender::Person),
        }
    }
}

impl<'r> Tally<'r> {
    const UNKNOWN: usize = 256;
    const IMPOSTORS: usize = 8_192;
    const HOSTS: usize = 512;
    const LONGEST_HOST: usize = 253;

    pub(crate) fn new() -> Self {
        Self {
            lines: 0,
            faults: HashMap::new(),
            filtered: 0,
            undated: 0,
            private: 0,
            from_private: 0,
            without_time: 0,
            without_host: 0,
            without_address: 0,
            rewritten: 0,
            groups: HashMap::new(),
            unknown: Frequent::new(Self::UNKNOWN),
            all_unknown: Group::default(),
            addresses: Distinct::default(),
            impostors: Frequent::new(Self::IMPOSTORS),
            uncovered: Sums::default(),
            uncovered_hosts: Frequent::new(Self::HOSTS),
            off: 0,
            offered: 0,
            with_accept: 0,
            documents: HashMap::new(),
            timeline: Timeline::new(),
            span: None,
        }
    }

    /// Counts a request.
    pub(crate) fn add(&mut self, judged: &Judged<'_, 'r>) {
        let Judged { record, facts, doubt, document, is_covered, is_off, .. } = judged;
        let outcome = Outcome::from(facts);
        match judged.sender() {
            Some(sender) => self.groups.entry(sender).or_default().add(judged, outcome),
            None => {
                self.unknown.add_with(name_of_unknown(record.user_agent.as_deref()), |group| {
                    group.add(judged, outcome);
                });
                self.all_unknown.add(judged, outcome);
            }
        }
        self.off += u64::from(*is_off);
        if *document != DocumentProspect::NotOffered {
            self.offered += 1;
            self.with_accept += u64::from(record.accept.is_some());
        }
        if let Some(document) = document.as_str() {
            *self.documents.entry(document).or_default() += 1;
        }
        self.private += u64::from(*doubt == Some(Doubt::PrivateAddress));
        self.without_host += u64::from(record.authority.is_none());
        self.without_address += u64::from(record.address.is_none());
        self.rewritten += u64::from(record.is_rewritten);
        if let Some(address) = record.address {
            self.addresses.add(address);
            self.from_private += u64::from(Doubt::of(address) == Some(Doubt::PrivateAddress));
            if let (Identity::Spoofed, Some(agent)) = (facts.identity, facts.agent) {
                self.impostors.add(&Impostor { network: Client::network_of(address), agent });
            }
        }
        if !is_covered {
            self.uncovered.add(Sums { requests: 1, bytes: record.bytes });
            let host = record.authority.as_deref().unwrap_or_default();
            self.uncovered_hosts.add(&host[..host.len().min(Self::LONGEST_HOST)]);
        }
        match record.time {
            Some(time) => {
                let identity = Identity::ALL.iter().position(|identity| *identity == facts.identity);
                let denied = (facts.action == Action::Deny).then_some(DENIED);
                self.timeline.add(time, identity.into_iter().chain(denied));
                self.span = joined(self.span, Some((time, time)));
            }
            None => self.without_time += 1,
        }
    }

    /// Adds what another thread counted.
    pub(crate) fn merge(&mut self, other: Self) {
        self.lines += other.lines;
        for (fault, count) in other.faults {
            *self.faults.entry(fault).or_default() += count;
        }
        self.filtered += other.filtered;
        self.undated += other.undated;
        self.private += other.private;
        self.from_private += other.from_private;
        self.without_time += other.without_time;
        self.without_host += other.without_host;
        self.without_address += other.without_address;
        self.rewritten += other.rewritten;
        for (sender, group) in other.groups {
            self.groups.entry(sender).or_default().merge(group);
        }
        self.unknown.merge(other.unknown);
        self.all_unknown.merge(other.all_unknown);
        self.addresses.merge(other.addresses);
        self.impostors.merge(other.impostors);
        self.uncovered.add(other.uncovered);
        self.uncovered_hosts.merge(other.uncovered_hosts);
        self.off += other.off;
        self.offered += other.offered;
        self.with_accept += other.with_accept;
        for (document, requests) in other.documents {
            *self.documents.entry(document).or_default() += requests;
        }
        self.timeline.merge(other.timeline);
        self.span = joined(self.span, other.span);
    }
}
