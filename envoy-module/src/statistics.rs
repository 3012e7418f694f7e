//! The metrics. The process counts in numbers of its own, which cost a request one addition; Envoy's labelled counters would
//! cost it thousands of instructions. [`Publisher`] adds the numbers to Envoy's counters once a second.

use std::convert::Infallible;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crawlpike_core::Decision;
use crawlpike_core::metrics::{ALL, Event, InForce, Kind, Metric, ProxyMetrics, Recent, Statistics};

use crate::envoy::{Configuring, LogLevel, MetricId, MetricKind, MetricRefused, Metrics, log};
use crate::source::Loaded;

/// A number of the process. It lives as long as the process: the [bounds](crawlpike_core::metrics::SeriesGroup::bound) on series
/// bound their number.
#[derive(Debug)]
pub(crate) struct Number {
    metric: Metric,
    labels: Vec<String>,
    /// Of a counter, what was not published yet.
    value: AtomicU64,
    /// True if a gauge was set since it was published.
    is_new: AtomicBool,
}

/// The numbers in the order in which they were defined.
static NUMBERS: Mutex<Vec<&'static Number>> = Mutex::new(Vec::new());

/// True if the log has the advice on doubts.
static IS_ADVICE_GIVEN: AtomicBool = AtomicBool::new(false);

static METRICS: Mutex<ProxyMetrics<Process>> = Mutex::new(ProxyMetrics::new(Process));

/// Keeps the numbers for all workers.
#[derive(Debug)]
struct Process;

impl Statistics for Process {
    type Id = &'static Number;
    type Error = Infallible;

    fn define(&self, metric: &Metric, labels: &[&str]) -> Result<Self::Id, Infallible> {
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        let number =
            Number { metric: *metric, labels, value: AtomicU64::new(0), is_new: AtomicBool::new(true) };
        let number: &'static Number = Box::leak(Box::new(number));
        lock(&NUMBERS).push(number);
        Ok(number)
    }

    fn add(&self, counter: Self::Id, added: u64) -> Result<(), Infallible> {
        counter.value.fetch_add(added, Relaxed);
        Ok(())
    }

    fn set(&self, gauge: Self::Id, value: u64) -> Result<(), Infallible> {
        if gauge.value.swap(value, Relaxed) != value {
            gauge.is_new.store(true, Relaxed);
        }
        Ok(())
    }
}

/// A panic elsewhere leaves no number half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The counters that a worker needed last, for one ruleset.
pub(crate) type RecentCounters = Recent<&'static Number>;

/// Counts a decision: one addition, and a look-up the first time.
pub(crate) fn count_request(decision: &Decision, loaded: &Loaded, recent: &RecentCounters) {
    let find = |series| lock(&METRICS).counter(series, &loaded.ruleset);
    let Ok(counter) = recent.counter(decision, find);
    if let Some(counter) = counter {
        counter.value.fetch_add(1, Relaxed);
    }
    for event in Event::of(decision) {
        count_event(event);
        if let Some(advice) = event.advice()
            && !IS_ADVICE_GIVEN.swap(true, Relaxed)
        {
            log(LogLevel::Warn, &format!("crawlpike: {advice}"));
        }
    }
}

/// Counts an event.
pub(crate) fn count_event(event: Event) {
    add(event, 1);
}

/// Adds to the counter of an event.
pub(crate) fn add(event: Event, added: u64) {
    let Ok(()) = lock(&METRICS).add(event, added);
}

/// Shows a ruleset that was just loaded.
pub(crate) fn show(source: &str, loaded: &Loaded, now: i64) {
    let Ok(()) = lock(&METRICS).show(in_force(source, loaded), now);
}

/// Shows the ages and states of its feeds.
pub(crate) fn update(source: &str, loaded: &Loaded, now: i64) {
    let Ok(_) = lock(&METRICS).update(in_force(source, loaded), now);
}

/// Forgets the feeds of a ruleset that is out of force.
pub(crate) fn forget(source: &str, loaded: &Loaded) {
    lock(&METRICS).forget(source, loaded.version);
}

fn in_force<'r>(source: &'r str, loaded: &'r Loaded) -> InForce<'r> {
    InForce { source, version: loaded.version, ruleset: &loaded.ruleset }
}

/// Returns true if there is anything to publish.
pub(crate) fn is_due() -> bool {
    lock(&NUMBERS).iter().any(|number| match number.metric.kind {
        Kind::Counter => number.value.load(Relaxed) != 0,
        Kind::Gauge => number.is_new.load(Relaxed),
    })
}

/// Adds the numbers of the process to Envoy's metrics, through one configuration.
#[derive(Debug)]
pub(crate) struct Publisher {
    /// In the order of [`ALL`].
    ids: Vec<MetricId>,
    /// The count of numbers that this configuration has shown. Envoy forgets a metric with the last configuration that has shown
    /// it, so a new one shows all of them while the old one is there.
    shown: AtomicUsize,
}

impl Publisher {
    /// Defines the metrics.
    pub(crate) fn new(configuring: &Configuring<'_>) -> Result<Self, MetricRefused> {
        let define = |metric: &Metric| {
            let kind = match metric.kind {
                Kind::Counter => MetricKind::Counter,
                Kind::Gauge => MetricKind::Gauge,
            };
            configuring.define(kind, metric.name, metric.labels)
        };
        let ids = ALL.iter().map(define).collect::<Result<_, _>>()?;
        Ok(Self { ids, shown: AtomicUsize::new(0) })
    }

    /// Publishes what is new. A number that Envoy refuses is published the next time.
    pub(crate) fn publish(&self, metrics: &Metrics<'_>) -> Result<(), MetricRefused> {
        let numbers = lock(&NUMBERS);
        let shown = self.shown.load(Relaxed);
        for (place, number) in numbers.iter().enumerate() {
            let Some((_, id)) = ALL.iter().zip(&self.ids).find(|(metric, _)| **metric == number.metric)
            else {
                continue;
            };
            let (value, is_new) = match number.metric.kind {
                Kind::Counter => {
                    let value = number.value.swap(0, Relaxed);
                    (value, value != 0)
                }
                Kind::Gauge => (number.value.load(Relaxed), number.is_new.swap(false, Relaxed)),
            };
            if (is_new || place >= shown)
                && let Err(refused) = metrics.change(*id, &number.labels, value)
            {
                match number.metric.kind {
                    Kind::Counter => drop(number.value.fetch_add(value, Relaxed)),
                    Kind::Gauge => number.is_new.store(true, Relaxed),
                }
                return Err(refused);
            }
        }
        self.shown.store(numbers.len(), Relaxed);
        Ok(())
    }
}
