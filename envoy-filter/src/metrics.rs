//! The measures, as statistics of Envoy: `/stats/prometheus` shows them with their labels, where the bootstrap has the
//! `stats_tags`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use crawlward_core::Ruleset;
use crawlward_core::decision::Decision;
use crawlward_core::measures::{
    ERRORS, FEED_AGE, FEED_PREFIXES, MAX_SERIES, Metric, RELOADS, REQUESTS, RULESET_LOADED, ReloadResult,
    Series,
};

use crate::host_calls::{self, Refused, StatId};

/// The statistics that a virtual machine has defined. They outlive the configurations: Envoy forgets no definition
/// either, and each one costs it memory.
#[derive(Default)]
struct Defined {
    by_name: RefCell<BTreeMap<String, StatId>>,
    /// How many of them are series with the name of an agent or a site.
    named_series: Cell<usize>,
}

thread_local! {
    static DEFINED: Defined = Defined::default();
}

impl Defined {
    fn find(&self, name: &str) -> Option<StatId> {
        self.by_name.borrow().get(name).copied()
    }

    fn find_or_define(&self, metric: &Metric, name: String) -> Result<StatId, Refused> {
        if let Some(id) = self.find(&name) {
            return Ok(id);
        }
        let id = host_calls::define_stat(metric.kind, &name)?;
        self.by_name.borrow_mut().insert(name, id);
        Ok(id)
    }

    /// The series in which to count what belongs to one: the same, or where it would be one too many, that of others.
    fn admit(&self, series: Series, ruleset: &Ruleset) -> Series {
        let others = series.in_others();
        let is_known = || self.find(&REQUESTS.stat_name(&series.labels(ruleset).values())).is_some();
        if series == others || is_known() {
            return series;
        }
        let named = self.named_series.get();
        if named >= MAX_SERIES {
            return others;
        }
        self.named_series.set(named + 1);
        series
    }
}

fn stat(metric: &Metric, values: &[&str]) -> Result<StatId, Refused> {
    DEFINED.with(|defined| defined.find_or_define(metric, metric.stat_name(values)))
}

/// Counts the requests that one ruleset decides.
#[derive(Default)]
pub(crate) struct Requests {
    /// By [`Series::key`], which needs no names.
    counters: RefCell<BTreeMap<u64, StatId>>,
}

impl Requests {
    /// Counts a decision: one call of the host, two the first time.
    pub(crate) fn count(&self, decision: &Decision, ruleset: &Ruleset) -> Result<(), Refused> {
        match Series::of(decision) {
            Some(series) => host_calls::increment(self.counter(series, ruleset)?),
            None => Ok(()),
        }
    }

    fn counter(&self, series: Series, ruleset: &Ruleset) -> Result<StatId, Refused> {
        let known = |series: Series| self.counters.borrow().get(&series.key()).copied();
        if let Some(id) = known(series) {
            return Ok(id);
        }
        let series = DEFINED.with(|defined| defined.admit(series, ruleset));
        if let Some(id) = known(series) {
            return Ok(id);
        }
        let id = stat(&REQUESTS, &series.labels(ruleset).values())?;
        self.counters.borrow_mut().insert(series.key(), id);
        Ok(id)
    }
}

/// Counts an internal error.
pub(crate) fn count_error() -> Result<(), Refused> {
    host_calls::increment(stat(&ERRORS, &[])?)
}

/// Counts what became of a configuration, once in the process: each virtual machine gets it, that in which Envoy tries
/// it first and those of the workers. The first configuration replaces none, and is not counted.
pub(crate) fn count_reload(plugin: &str, fingerprint: u64, result: ReloadResult) -> Result<(), Refused> {
    // Both are shown from the start.
    let counters = (reloads(ReloadResult::Success)?, reloads(ReloadResult::Failure)?);
    let key = format!("crawlward.ruleset.{plugin}");
    let fingerprint = fingerprint.to_ne_bytes();
    match (host_calls::shared(&key), result) {
        (None, ReloadResult::Failure) => Ok(()),
        (None, ReloadResult::Success) => host_calls::share(&key, &fingerprint, 0),
        // Only the first virtual machine gets it: what it refuses goes no further.
        (Some(_), ReloadResult::Failure) => host_calls::increment(counters.1),
        (Some((loaded, _)), ReloadResult::Success) if *loaded == fingerprint => Ok(()),
        (Some((_, version)), ReloadResult::Success) => {
            match host_calls::share(&key, &fingerprint, version) {
                Ok(()) => host_calls::increment(counters.0),
                // Another worker was here meanwhile, and counted.
                Err(_) => Ok(()),
            }
        }
    }
}

fn reloads(result: ReloadResult) -> Result<StatId, Refused> {
    stat(&RELOADS, &[result.as_str()])
}

/// What is shown of the newest ruleset of a plugin.
struct Shown {
    /// Its root context. An older one lives on while a stream needs it, and shows nothing any more.
    context: u32,
    feeds: Vec<String>,
}

thread_local! {
    /// By the name of the plugin.
    static SHOWN: RefCell<BTreeMap<String, Shown>> = const { RefCell::new(BTreeMap::new()) };
}

/// Shows a ruleset that was just loaded.
pub(crate) fn show_ruleset(plugin: &str, context: u32, ruleset: &Ruleset, now: i64) -> Result<(), Refused> {
    // Shown from the start.
    stat(&ERRORS, &[])?;
    host_calls::record(stat(&RULESET_LOADED, &[])?, u64::try_from(now).unwrap_or_default())?;
    let feeds = ruleset.feeds(now).map(|feed| feed.name.to_owned()).collect();
    let before = SHOWN.with_borrow_mut(|shown| shown.insert(plugin.to_owned(), Shown { context, feeds }));
    // Envoy has no way to take a gauge away. Another plugin may have a feed of the same name.
    for feed in before.iter().flat_map(|before| &before.feeds).filter(|feed| !is_shown(feed)) {
        for metric in [FEED_PREFIXES, FEED_AGE] {
            host_calls::record(stat(&metric, &[feed])?, 0)?;
        }
    }
    for feed in ruleset.feeds(now) {
        host_calls::record(stat(&FEED_PREFIXES, &[feed.name])?, feed.prefixes as u64)?;
    }
    show_ages(plugin, context, ruleset, now)
}

/// Whether the newest ruleset of any plugin has a feed of this name.
fn is_shown(feed: &str) -> bool {
    SHOWN.with_borrow(|shown| shown.values().any(|shown| shown.feeds.iter().any(|name| name == feed)))
}

/// Forgets the feeds of a plugin that is gone, unless a newer one has its name.
pub(crate) fn forget(plugin: &str, context: u32) {
    SHOWN.with_borrow_mut(|shown| {
        if let Some(gone) = shown.get_mut(plugin).filter(|shown| shown.context == context) {
            gone.feeds.clear();
        }
    });
}

/// Shows how old the feeds are now, where the ruleset is the plugin's newest: one call of the host for each feed that has
/// a date.
pub(crate) fn show_ages(plugin: &str, context: u32, ruleset: &Ruleset, now: i64) -> Result<(), Refused> {
    let is_newest =
        SHOWN.with_borrow(|shown| shown.get(plugin).is_some_and(|shown| shown.context == context));
    if is_newest {
        for feed in ruleset.feeds(now) {
            if let Some(age) = feed.age {
                host_calls::record(stat(&FEED_AGE, &[feed.name])?, age)?;
            }
        }
    }
    Ok(())
}
