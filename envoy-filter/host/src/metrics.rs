//! The metrics, as statistics of Envoy: `/stats/prometheus` shows them with their labels, where the bootstrap has the
//! `stats_tags`.

use std::cell::{Cell, RefCell};

use crawlpike_core::metrics::{Event, InForce, Kind, Metric, ProxyMetrics, Recent, Statistics};
use crawlpike_core::{Decision, Ruleset};
use proxy_wasm::types::MetricType;

use crate::host::Refused;
use crate::raw;

/// The statistics of Envoy: numbers by name, which the filter defines, adds to and sets.
#[derive(Debug)]
struct EnvoyStatistics;

/// A statistic that was defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatId(u32);

impl Statistics for EnvoyStatistics {
    type Id = StatId;
    type Error = Refused;

    fn define(&self, metric: &Metric, labels: &[&str]) -> Result<StatId, Refused> {
        let kind = match metric.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
        };
        raw::define_metric(kind, &metric.stat_name(labels)).map(StatId)
    }

    fn add(&self, counter: StatId, added: u64) -> Result<(), Refused> {
        raw::increment_metric(counter.0, added.cast_signed())
    }

    /// No request does.
    fn set(&self, gauge: StatId, value: u64) -> Result<(), Refused> {
        raw::record_metric(gauge.0, value)
    }
}

thread_local! {
    /// Those of the virtual machine. They outlive the configurations, because Envoy keeps memory for each definition, a
    /// repeated one included.
    static METRICS: ProxyMetrics<EnvoyStatistics> = const { ProxyMetrics::new(EnvoyStatistics) };

    /// True if the log has the advice on doubts.
    static IS_ADVICE_GIVEN: Cell<bool> = const { Cell::new(false) };

    /// The counters of requests, with what Envoy does not have yet. The [bounds](crawlpike_core::metrics::SeriesGroup::bound)
    /// on series bound how many there are.
    static COUNTED: RefCell<Vec<(StatId, i64)>> = const { RefCell::new(Vec::new()) };
}

/// The place of a counter among those of requests.
#[derive(Clone, Copy, Debug)]
pub struct CounterPlace(usize);

/// The counters that the requests of one ruleset needed last.
pub type RecentCounters = Recent<CounterPlace>;

/// Counts a decision, without a call of the host unless the counter is new. [`publish_requests`] gives Envoy the number.
pub fn count_request(decision: &Decision, ruleset: &Ruleset, recent: &RecentCounters) -> Result<(), Refused> {
    let place = recent.counter(decision, |series| {
        let counter = METRICS.with(|metrics| metrics.counter(series, ruleset))?;
        Ok(counter.map(place_of))
    })?;
    if let Some(CounterPlace(place)) = place {
        COUNTED.with_borrow_mut(|counted| counted.get_mut(place).map(|(_, count)| *count += 1));
    }
    Event::of(decision).try_for_each(|event| {
        if let Some(advice) = event.advice()
            && !IS_ADVICE_GIVEN.replace(true)
        {
            log::warn!("crawlpike: {advice}");
        }
        count_event(event)
    })
}

fn place_of(counter: StatId) -> CounterPlace {
    COUNTED.with_borrow_mut(|counted| {
        let known = counted.iter().position(|(known, _)| *known == counter);
        CounterPlace(known.unwrap_or_else(|| {
            counted.push((counter, 0));
            counted.len() - 1
        }))
    })
}

/// Adds to Envoy's counters what was counted since the last time. What Envoy refuses is added the next time.
pub fn publish_requests() -> Result<(), Refused> {
    COUNTED.with_borrow_mut(|counted| {
        for (StatId(counter), count) in counted.iter_mut().filter(|(_, count)| *count != 0) {
            raw::increment_metric(*counter, *count)?;
            *count = 0;
        }
        Ok(())
    })
}

/// Counts an event.
pub fn count_event(event: Event) -> Result<(), Refused> {
    add(event, 1)
}

/// Adds to the counter of an event.
pub fn add(event: Event, added: u64) -> Result<(), Refused> {
    METRICS.with(|metrics| metrics.add(event, added))
}

/// Shows a ruleset that was just loaded.
pub fn show_ruleset(plugin: &str, context: u32, ruleset: &Ruleset, now: i64) -> Result<(), Refused> {
    METRICS.with(|metrics| metrics.show(InForce { source: plugin, version: context, ruleset }, now))
}

/// Updates the ages and states of the feeds, a few calls of the host for each feed, and returns whether the ruleset is the
/// plugin's newest. Of another one, nothing is shown.
pub fn update_feeds(plugin: &str, context: u32, ruleset: &Ruleset, now: i64) -> Result<bool, Refused> {
    METRICS.with(|metrics| metrics.update(InForce { source: plugin, version: context, ruleset }, now))
}

/// Forgets the feeds of a deleted plugin, unless a newer one has its name.
pub fn forget(plugin: &str, context: u32) {
    METRICS.with(|metrics| metrics.forget(plugin, context));
}
