//! Metrics that the proxy keeps: Envoy's statistics.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use super::{
    Event, FEED_AGE, FEED_PREFIXES, FEED_STATE, Metric, REQUESTS, RULESET_LOADED, Series, SeriesGroup,
};
use crate::feed::state::FeedState;
use crate::ruleset::data::Ruleset;

/// The statistics of a proxy: numbers with labels, which it keeps and shows.
pub trait Statistics {
    /// The number under which the proxy knows a statistic.
    type Id: Copy;

    /// The reason why the proxy refuses a call.
    type Error;

    /// Defines a statistic. Each of them is defined once.
    ///
    /// # Errors
    ///
    /// The proxy refuses.
    fn define(&self, metric: &Metric, labels: &[&str]) -> Result<Self::Id, Self::Error>;

    /// Adds to a counter.
    ///
    /// # Errors
    ///
    /// The proxy refuses.
    fn add(&self, counter: Self::Id, added: u64) -> Result<(), Self::Error>;

    /// Sets a gauge.
    ///
    /// # Errors
    ///
    /// The proxy refuses.
    fn set(&self, gauge: Self::Id, value: u64) -> Result<(), Self::Error>;
}

/// The metrics of a gate whose proxy keeps the numbers.
///
/// A proxy keeps what was ever defined, because it has no way to take a statistic away. So this outlives the rulesets:
/// there is one for each thread that may call the proxy.
#[derive(Debug)]
pub struct ProxyMetrics<S: Statistics> {
    statistics: S,
    /// By the name of the metric and the values of its labels.
    defined: RefCell<BTreeMap<String, S::Id>>,
    /// The number of series of each group, in the order of [`SeriesGroup::ALL`].
    series: [Cell<usize>; SeriesGroup::ALL.len()],
    /// By the name of the source.
    shown: RefCell<BTreeMap<String, Shown>>,
}

/// The values of the gauges for the newest ruleset of a source.
#[derive(Debug)]
struct Shown {
    version: u32,
    feeds: Vec<String>,
}

/// A ruleset in force, as one of those that a proxy may have at the same time.
#[derive(Clone, Copy, Debug)]
pub struct InForce<'r> {
    /// The name of its source: rulesets of one source replace each other.
    pub source: &'r str,
    /// A number that no other ruleset of the source has. An older ruleset stays in use while a request needs it, and
    /// shows nothing any more.
    pub version: u32,
    /// The ruleset.
    pub ruleset: &'r Ruleset,
}

impl<S: Statistics> ProxyMetrics<S> {
    /// Metrics of which none is defined yet.
    pub const fn new(statistics: S) -> Self {
        Self {
            statistics,
            defined: RefCell::new(BTreeMap::new()),
            series: [const { Cell::new(0) }; SeriesGroup::ALL.len()],
            shown: RefCell::new(BTreeMap::new()),
        }
    }

    /// The counter of a series, or of the first coarser one for which there is room; `None` where there is none.
    ///
    /// # Errors
    ///
    /// The proxy refuses.
    pub fn counter(&self, series: Series, ruleset: &Ruleset) -> Result<Option<S::Id>, S::Error> {
        let mut wanted = Some(series);
        while let Some(series) = wanted {
            let labels = series.labels(ruleset).values();
            if let Some(id) = self.find(&REQUESTS, &labels) {
                return Ok(Some(id));
            }
            let group = series.group();
            let mut groups = SeriesGroup::ALL.iter().zip(&self.series);
            if let Some((_, count)) =
                groups.find(|(known, count)| **known == group && count.get() < group.bound())
            {
                let id = self.define(&REQUESTS, &labels)?;
                count.set(count.get() + 1);
                return Ok(Some(id));
            }
            wanted = series.coarser();
        }
        Ok(None)
    }

    /// Adds to the counter of an event.
    ///
    /// # Errors
    ///
    /// The proxy refuses.
    pub fn add(&self, event: Event, added: u64) -> Result<(), S::Error> {
        self.statistics.add(self.define(&event.metric(), event.labels().as_slice())?, added)
    }

    /// Shows a ruleset that was just loaded, at `now` in seconds since the Unix epoch, and from now on the counters that
    /// no request has added to.
    ///
    /// # Errors
    ///
    /// The proxy refuses.
    pub fn show(&self, loaded: InForce<'_>, now: i64) -> Result<(), S::Error> {
        for event in Event::all().filter(|event| matches!(event, Event::Error | Event::Reload(_))) {
            self.define(&event.metric(), event.labels().as_slice())?;
        }
        let InForce { source, version, ruleset } = loaded;
        self.set(&RULESET_LOADED, &[], now.max(0).cast_unsigned())?;
        let feeds = ruleset.feeds(now).map(|feed| feed.name.to_owned()).collect();
        let before = self.shown.borrow_mut().insert(source.to_owned(), Shown { version, feeds });
        // A gauge can't be taken away. Another source may have a feed of the same name.
        for feed in before.iter().flat_map(|before| &before.feeds).filter(|feed| !self.is_shown(feed)) {
            self.set(&FEED_PREFIXES, &[feed], 0)?;
            self.set(&FEED_AGE, &[feed], 0)?;
            for state in FeedState::ALL {
                self.set(&FEED_STATE, &[feed, state.as_str()], 0)?;
            }
        }
        self.update(loaded, now).map(drop)
    }

    /// Shows what time has changed: how old the feeds are, and which are stale. Only the newest ruleset of a source is
    /// shown: returns whether this is the one.
    ///
    /// # Errors
    ///
    /// The proxy refuses.
    pub fn update(&self, in_force: InForce<'_>, now: i64) -> Result<bool, S::Error> {
        let InForce { source, version, ruleset } = in_force;
        if self.shown.borrow().get(source).is_none_or(|shown| shown.version != version) {
            return Ok(false);
        }
        for feed in ruleset.feeds(now) {
            for state in FeedState::ALL {
                self.set(&FEED_STATE, &[feed.name, state.as_str()], u64::from(feed.state == *state))?;
            }
            self.set(&FEED_PREFIXES, &[feed.name], feed.prefixes as u64)?;
            if let Some(age) = feed.age {
                self.set(&FEED_AGE, &[feed.name], age)?;
            }
        }
        Ok(true)
    }

    /// Forgets a ruleset that is out of force without another in its place: the next one of its source begins anew.
    pub fn forget(&self, source: &str, version: u32) {
        if let Entry::Occupied(shown) = self.shown.borrow_mut().entry(source.to_owned())
            && shown.get().version == version
        {
            shown.remove();
        }
    }

    /// Returns true if the newest ruleset of any source has a feed of this name.
    fn is_shown(&self, feed: &str) -> bool {
        self.shown.borrow().values().any(|shown| shown.feeds.iter().any(|name| name == feed))
    }

    fn set(&self, gauge: &Metric, labels: &[&str], value: u64) -> Result<(), S::Error> {
        self.statistics.set(self.define(gauge, labels)?, value)
    }

    fn find(&self, metric: &Metric, labels: &[&str]) -> Option<S::Id> {
        self.defined.borrow().get(&key(metric, labels)).copied()
    }

    /// The number of a statistic, defined where it was not yet.
    fn define(&self, metric: &Metric, labels: &[&str]) -> Result<S::Id, S::Error> {
        let key = key(metric, labels);
        if let Some(id) = self.defined.borrow().get(&key) {
            return Ok(*id);
        }
        let id = self.statistics.define(metric, labels)?;
        self.defined.borrow_mut().insert(key, id);
        Ok(id)
    }
}

/// No label but the last has a line end: the names of sites are free text.
fn key(metric: &Metric, labels: &[&str]) -> String {
    let mut key = String::from(metric.name);
    for label in labels {
        key.push('\n');
        key.push_str(label);
    }
    key
}
