//! The requests from a network.

use std::net::IpAddr;

use crawlpike_core::ClientNetwork;

use super::replay::Passage;
use crate::line::Record;
use crate::tally::distinct::Distinct;
use crate::tally::frequent::{Detail, Frequent};
use crate::tally::group;

/// The first folder of a path: a swarm asks for each page once.
fn folder(path: &[u8]) -> &[u8] {
    let end = path.iter().skip(1).position(|byte| *byte == b'/');
    end.map_or(path, |end| &path[..end + 2])
}

/// The clients in a network: their addresses, and what they ask for.
#[derive(Clone, Debug)]
pub(crate) struct Crowd {
    /// One of them.
    pub(crate) address: Option<IpAddr>,
    pub(crate) addresses: Distinct,
    /// The first folders of paths, and pages in none.
    pub(crate) paths: Frequent<Vec<u8>>,
    pub(crate) user_agents: Frequent<Vec<u8>>,
}

impl Default for Crowd {
    fn default() -> Self {
        let [paths, user_agents] = [Self::VALUES; 2].map(Frequent::new);
        Self { address: None, addresses: Distinct::default(), paths, user_agents }
    }
}

/// The networks of the requests that limits count.
#[derive(Debug)]
pub(crate) struct Crowds {
    pub(crate) networks: Frequent<ClientNetwork, Crowd>,
    /// Requests that no limit can count, because the log has no time or no address.
    pub(crate) unplaced: u64,
    /// Requests that limits count, of which the log has the time in whole seconds.
    pub(crate) whole_seconds: u64,
}

impl Default for Crowds {
    fn default() -> Self {
        Self { networks: Frequent::new(Self::NETWORKS), unplaced: 0, whole_seconds: 0 }
    }
}

impl Crowds {
    const NETWORKS: usize = 512;

    /// Counts a request, and its network if a limit counts it.
    pub(crate) fn add(&mut self, record: &Record<'_>, passage: Option<&Passage>) {
        self.unplaced += u64::from(record.time.is_none() || record.address.is_none());
        if let Some(passage) = passage {
            self.whole_seconds += u64::from(record.milliseconds.is_none());
            self.networks.add_with(&passage.network, |crowd| crowd.add(passage.address, record));
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.networks.merge(other.networks);
        self.unplaced += other.unplaced;
        self.whole_seconds += other.whole_seconds;
    }
}

impl Crowd {
    const VALUES: usize = 32;
    const LONGEST: usize = 128;

    fn add(&mut self, address: IpAddr, record: &Record<'_>) {
        self.address.get_or_insert(address);
        self.addresses.add(address);
        self.paths.add(folder(group::path(&record.target, Self::LONGEST)));
        let user_agent = record.user_agent.as_deref().unwrap_or_default();
        self.user_agents.add(&user_agent[..user_agent.len().min(Self::LONGEST)]);
    }
}

impl Detail for Crowd {
    fn merge(&mut self, other: Self) {
        self.address = self.address.or(other.address);
        self.addresses.merge(other.addresses);
        self.paths.merge(other.paths);
        self.user_agents.merge(other.user_agents);
    }
}
