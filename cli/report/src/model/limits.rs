//! The rows of limits, and of the networks that they meet.

use std::collections::BTreeMap;

use crawlpike_core::{AsKind, ClientNetwork, Identity, Ruleset};
use serde::Serialize;

use super::Timeline;
use super::rows::Top;
use crate::job::Job;
use crate::limit::{Counted, Crowd, Crowds, Limit, Minute, Peak, Replayed};
use crate::line::moment;
use crate::numbers::count;
use crate::tally::distinct::Count;
use crate::tally::frequent::Frequent;

/// The effect that limits would have had.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Limits {
    pub(crate) limits: Vec<LimitRow>,
    /// The networks with the most requests that a limit counts.
    pub(crate) networks: Networks,
    /// Requests that came after more later ones than wait for them, and were counted then.
    pub(crate) late: u64,
    /// Requests of which the log has no time or no address, so that no limit counts them.
    pub(crate) unplaced: u64,
    /// Requests of which the log has the time in whole seconds.
    pub(crate) whole_seconds: u64,
}

/// A limit.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LimitRow {
    pub(crate) limit: String,
    /// The requests that it lets one key have in a minute.
    pub(crate) per_minute: f64,
    /// The requests that it counts.
    pub(crate) requests: u64,
    pub(crate) refused: u64,
    /// The addresses of which it refuses a request.
    pub(crate) refused_addresses: Count,
    /// By identity; `none` are people's browsers, as far as anybody can say.
    pub(crate) kinds: Vec<KindRow>,
    /// The minute in which it refuses most requests.
    pub(crate) worst_minute: Option<MinuteRow>,
    /// The networks of refused requests.
    pub(crate) networks: Top,
    /// The numbers of the autonomous systems of refused requests.
    pub(crate) systems: Top,
    /// Requests that passed because there were too many keys at once.
    pub(crate) untracked: u64,
    /// The requests that it counts, and in `denied` those that it refuses.
    pub(crate) timeline: Timeline,
}

/// The clients of one identity.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct KindRow {
    pub(crate) identity: Identity,
    pub(crate) requests: u64,
    pub(crate) refused: u64,
    pub(crate) addresses: Count,
    pub(crate) refused_addresses: Count,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct MinuteRow {
    pub(crate) start: String,
    pub(crate) requests: u64,
    pub(crate) refused: u64,
}

/// The networks with the most requests.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Networks {
    /// By how much numbers may be too low; 0: they are exact.
    pub(crate) missing: u64,
    pub(crate) networks: Vec<NetworkRow>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct NetworkRow {
    pub(crate) network: String,
    pub(crate) asn: Option<u32>,
    pub(crate) as_name: Option<String>,
    pub(crate) as_kind: Option<AsKind>,
    pub(crate) requests: u64,
    pub(crate) addresses: Count,
    /// The minute with the most requests.
    pub(crate) worst_minute: Option<MinuteRow>,
    /// The requests that each limit refuses, in the order of the limits.
    pub(crate) refused: Vec<u64>,
    pub(crate) paths: Top,
    pub(crate) user_agents: Top,
}

impl Limits {
    const NETWORKS: usize = 20;
    const VALUES: usize = 3;

    pub(super) fn new(job: &Job<'_, '_>, replayed: Replayed, crowds: Crowds) -> Self {
        let Replayed { counted, peaks, late, .. } = replayed;
        let peaks = peaks.into_sorted().into_iter().map(|(network, _, peak)| (network, peak)).collect();
        let refused: Vec<BTreeMap<ClientNetwork, u64>> =
            counted.iter().map(|counted| counts(counted.networks.clone())).collect();
        let Crowds { networks, unplaced, whole_seconds } = crowds;
        let missing = networks.missing();
        let networks = networks.into_sorted().into_iter().take(Self::NETWORKS);
        let networks = networks
            .map(|(network, requests, crowd)| NetworkRow {
                refused: refused.iter().map(|of| of.get(&network).copied().unwrap_or_default()).collect(),
                ..NetworkRow::new(job.ruleset, network, requests, crowd, &peaks)
            })
            .collect();
        let limits = job.options.limits.iter().zip(counted);
        Self {
            limits: limits.map(|(limit, counted)| LimitRow::new(limit, counted)).collect(),
            networks: Networks { missing, networks },
            late,
            unplaced,
            whole_seconds,
        }
    }
}

fn counts(table: Frequent<ClientNetwork>) -> BTreeMap<ClientNetwork, u64> {
    table.into_sorted().into_iter().map(|(network, refused, ())| (network, refused)).collect()
}

impl LimitRow {
    fn new(limit: &Limit, counted: Counted) -> Self {
        let kinds: Vec<KindRow> = Identity::ALL
            .iter()
            .zip(&counted.kinds)
            .filter(|(_, kind)| kind.requests > 0)
            .map(|(identity, kind)| KindRow {
                identity: *identity,
                requests: kind.requests,
                refused: kind.refused,
                addresses: kind.addresses.count(),
                refused_addresses: kind.refused_addresses.count(),
            })
            .collect();
        Self {
            limit: limit.to_string(),
            per_minute: limit.rate as f64 * 60.0 / 1000.0,
            requests: kinds.iter().map(|kind| kind.requests).sum(),
            refused: kinds.iter().map(|kind| kind.refused).sum(),
            refused_addresses: counted.refused_addresses.count(),
            kinds,
            worst_minute: MinuteRow::new(counted.worst),
            untracked: counted.untracked(),
            networks: Top::new(counted.networks, Limits::NETWORKS, ToString::to_string),
            systems: Top::new(counted.systems, Limits::NETWORKS, ToString::to_string),
            timeline: Timeline::new(counted.timeline),
        }
    }
}

impl KindRow {
    /// The clients in words.
    pub(crate) fn name(&self) -> &'static str {
        if self.identity == Identity::None { "people-like" } else { self.identity.as_str() }
    }
}

impl MinuteRow {
    fn new(minute: Minute) -> Option<Self> {
        let Minute { number, requests, refused } = minute;
        (requests > 0).then(|| Self { start: moment::text(number * 60), requests, refused })
    }
}

impl NetworkRow {
    fn new(
        ruleset: &Ruleset,
        network: ClientNetwork,
        requests: u64,
        crowd: Crowd,
        peaks: &BTreeMap<ClientNetwork, Peak>,
    ) -> Self {
        let system = crowd.address.and_then(|address| ruleset.system_of(address));
        let text = |value: &Vec<u8>| String::from_utf8_lossy(value).into_owned();
        Self {
            network: network.to_string(),
            asn: system.map(|system| system.asn),
            as_name: system.and_then(|system| system.name).map(Into::into),
            as_kind: system.and_then(|system| system.kind),
            requests,
            addresses: crowd.addresses.count(),
            worst_minute: peaks.get(&network).and_then(|peak| MinuteRow::new(peak.worst)),
            refused: Vec::new(),
            paths: Top::new(crowd.paths, Limits::VALUES, text),
            user_agents: Top::new(crowd.user_agents, Limits::VALUES, text),
        }
    }

    /// The requests that each limit refuses: `12 / 0`
    pub(crate) fn refused(&self) -> String {
        self.refused.iter().map(|refused| count(*refused)).collect::<Vec<_>>().join(" / ")
    }

    /// `AS64500 Example (hosting)`, as far as it is known.
    pub(crate) fn system(&self) -> String {
        let number = self.asn.map(|asn| format!("AS{asn}"));
        let kind = self.as_kind.map(|kind| format!("({})", kind.as_str()));
        [number, self.as_name.clone(), kind].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
