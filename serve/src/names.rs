//! Names of addresses, asked for by the resolver of the system. A request waits for them at most [`PATIENCE`].

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crawlpike_core::metrics::Event;
use crawlpike_core::{
    NameCache, NameDesk, NameLookup, NameLookupResult, NameOutcome, NamePlaces, NameShares, NameStage,
};
use crawlpike_files::now;
use hickory_resolver::config::{NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use hickory_resolver::{Resolver, TokioResolver};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::source::Source;

/// The longest time that a request waits.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most requests that may wait for lookups. A request beyond that does not wait.
const MOST_WAITING: usize = 1024;

/// The resolver that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameServer {
    /// Those of the system, in `/etc/resolv.conf`.
    System,
    /// The one at an address.
    At(SocketAddr),
}

/// The lookups.
pub(crate) struct Names {
    resolver: TokioResolver,
    /// The results. `None`: there is no memory, and nothing is known.
    known: Option<Box<NameCache>>,
    lookups: Mutex<Lookups>,
}

struct Lookups {
    desk: NameDesk,
    /// The requests that wait, several for some lookups.
    waiting: NamePlaces,
    /// Each with the receiver of its result.
    under_way: Vec<(NameLookup, watch::Receiver<Option<NameOutcome>>)>,
}

impl Names {
    /// With a resolver.
    ///
    /// # Errors
    ///
    /// It cannot be found out or used.
    pub(crate) fn new(server: NameServer) -> Result<Self, NetError> {
        let mut builder = match server {
            NameServer::System => Resolver::builder_tokio()?,
            NameServer::At(address) => {
                let mut server = NameServerConfig::udp_and_tcp(address.ip());
                server.connections.iter_mut().for_each(|connection| connection.port = address.port());
                let config = ResolverConfig::from_name_servers(vec![server]);
                Resolver::builder_with_config(config, TokioRuntimeProvider::default())
            }
        };
        let options = builder.options_mut();
        // Results are kept below, by the rules of all gates.
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        options.timeout = PATIENCE / 2;
        Ok(Self {
            resolver: builder.build()?,
            known: NameCache::empty(),
            lookups: Mutex::new(Lookups {
                desk: NameDesk::new(RandomState::new().build_hasher().finish()),
                waiting: NamePlaces::new(MOST_WAITING),
                under_way: Vec::new(),
            }),
        })
    }

    /// The outcome of a lookup: what is known, or what comes of it now.
    pub(crate) async fn outcome(&self, about: &NameLookup, source: &Source) -> NameOutcome {
        if let Some(outcome) = self.known(about) {
            return outcome;
        }
        let count = |result: NameLookupResult| {
            source.count(Event::NameLookup(result));
            result.outcome()
        };
        match self.join(about) {
            Err(result) => count(result),
            Ok(Part::Waits(mut result, _place)) => {
                let waited = timeout(PATIENCE, result.wait_for(Option::is_some)).await;
                waited.ok().and_then(|outcome| *outcome.ok()?).unwrap_or(NameOutcome::Unknown)
            }
            Ok(Part::Asks(sender, mut turn)) => {
                let result = timeout(PATIENCE, turn.ask()).await.unwrap_or(NameLookupResult::TimedOut);
                turn.note(result);
                drop(turn);
                sender.send_replace(Some(result.outcome()));
                count(result)
            }
        }
    }

    fn known(&self, about: &NameLookup) -> Option<NameOutcome> {
        self.known.as_ref()?.get(about, now())
    }

    /// Takes a place among the requests that wait, and finds out which part it has.
    fn join(&self, about: &NameLookup) -> Result<Part<'_>, NameLookupResult> {
        let shares = NameShares::of(about);
        let mut lookups = self.lookups();
        if !lookups.waiting.take(shares) {
            return Err(NameLookupResult::OverLimit);
        }
        let under_way = lookups.under_way.iter().find(|(other, _)| other.asks_as(about));
        if let Some((_, result)) = under_way {
            return Ok(Part::Waits(result.clone(), Place { names: self, shares }));
        }
        if let Err(result) = lookups.desk.take(shares, now()) {
            lookups.waiting.give_back(shares);
            return Err(result);
        }
        let (sender, receiver) = watch::channel(None);
        lookups.under_way.push((about.clone(), receiver));
        let place = Place { names: self, shares };
        let turn = Turn { place, about: about.clone(), stage: NameStage::Name, valid_until: i64::MAX };
        Ok(Part::Asks(sender, turn))
    }

    fn lookups(&self) -> MutexGuard<'_, Lookups> {
        self.lookups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of a request in a lookup.
enum Part<'n> {
    /// Another request asks.
    Waits(watch::Receiver<Option<NameOutcome>>, Place<'n>),
    Asks(watch::Sender<Option<NameOutcome>>, Turn<'n>),
}

/// A place among the requests that wait, which is given back at the end, also if the proxy does not wait for the answer.
struct Place<'n> {
    names: &'n Names,
    shares: NameShares,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.names.lookups().waiting.give_back(self.shares);
    }
}

/// A lookup that asks.
struct Turn<'n> {
    place: Place<'n>,
    about: NameLookup,
    /// The question that was asked last.
    stage: NameStage,
    /// The time until which the answers are valid, in seconds since the Unix epoch.
    valid_until: i64,
}

impl Turn<'_> {
    async fn ask(&mut self) -> NameLookupResult {
        self.confirm().await.unwrap_or_else(|why| why)
    }

    /// Asks for the names of the address, then for the addresses of each that is one of the agent's.
    async fn confirm(&mut self) -> Result<NameLookupResult, NameLookupResult> {
        let address = self.about.address();
        let names = self.records(Name::from(address), RecordType::PTR).await?;
        let names: Vec<String> = names.iter().filter_map(text).collect();
        if names.is_empty() {
            return Ok(NameLookupResult::NoName);
        }
        let candidates: Vec<String> = self.about.candidates(names.iter().map(String::as_bytes)).collect();
        let kind = if address.is_ipv4() { RecordType::A } else { RecordType::AAAA };
        let mut doubt = None;
        for candidate in candidates {
            self.advance();
            // From bytes: what the library reads as text cannot begin with `-`, as a label in DNS can.
            let labels = candidate.split('.').map(str::as_bytes);
            let mut name = Name::from_labels(labels).map_err(|_| NameLookupResult::Failed)?;
            name.set_fqdn(true);
            match self.records(name, kind).await {
                Ok(records) if self.about.is_confirmed_by(records.iter().filter_map(RData::ip_addr)) => {
                    return Ok(NameLookupResult::Confirmed);
                }
                Ok(_) => {}
                Err(why) => doubt = Some(why),
            }
        }
        Ok(doubt.unwrap_or(NameLookupResult::Refuted))
    }

    async fn records(&mut self, name: Name, kind: RecordType) -> Result<Vec<RData>, NameLookupResult> {
        let (records, life) = match self.place.names.resolver.lookup(name, kind).await {
            Ok(lookup) => {
                let wanted = lookup.answers().iter().filter(|record| record.record_type() == kind);
                let life = lookup.answers().iter().map(|record| record.ttl).min();
                (wanted.map(|record| record.data.clone()).collect(), life.unwrap_or_default())
            }
            Err(NetError::Dns(DnsError::NoRecordsFound(none))) => {
                (Vec::new(), none.negative_ttl.unwrap_or_default())
            }
            Err(NetError::Timeout) => return Err(NameLookupResult::TimedOut),
            Err(_) => return Err(NameLookupResult::Failed),
        };
        self.valid_until = self.valid_until.min(now().saturating_add(life.into()));
        Ok(records)
    }

    fn advance(&mut self) {
        if self.stage == NameStage::Name {
            self.stage = NameStage::Addresses;
            self.place.names.lookups().desk.advance(self.place.shares);
        }
    }

    /// Notes the result for the next requests.
    fn note(&self, result: NameLookupResult) {
        let Place { names, shares } = &self.place;
        names.lookups().desk.note(*shares, self.stage, result, now());
        if let Some(known) = &names.known {
            known.put(&self.about, result.outcome(), self.valid_until, now());
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut lookups = self.place.names.lookups();
        lookups.desk.give_back(self.place.shares, self.stage);
        lookups.under_way.retain(|(other, _)| !other.asks_as(&self.about));
    }
}

/// A name without the dot at its end. A label with a dot or a byte that is not UTF-8 makes it invalid.
fn text(record: &RData) -> Option<String> {
    let RData::PTR(name) = record else { return None };
    let labels = name.0.iter().map(|label| str::from_utf8(label).ok().filter(|label| !label.contains('.')));
    Some(labels.collect::<Option<Vec<&str>>>()?.join("."))
}
