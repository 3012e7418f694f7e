//! Lines of the error log about feeds that become stale, held or missing: one for the server, by the first worker that notices.

use std::time::Duration;

use crawlpike_core::FeedInfo;
use crawlpike_core::metrics::Counters;

use crate::counters::with_counters;
use crate::nginx::{LogLevel, MainThread};
use crate::ruleset::{InForce, LoadedRuleset};

/// The time between two looks of a worker for feeds that have become stale.
const INTERVAL: Duration = Duration::from_secs(10);

/// Notes the states in which the feeds were loaded. The load has reported them.
pub(crate) fn on_cycle(ruleset: &LoadedRuleset, main_thread: MainThread<'_>) {
    ruleset.feeds(ruleset.since).for_each(|feed| _ = is_news(&feed, main_thread));
}

/// Returns when a worker first looks, if any feed can become stale. All rulesets until the next reload are made of one
/// document, so that holds for all of them.
pub(crate) fn on_worker(in_force: &InForce) -> Option<Duration> {
    in_force.get().filter(|ruleset| ruleset.has_age_limits()).map(|_| INTERVAL)
}

/// Reports the feeds that have become stale since the last look, and returns when to look again.
pub(crate) fn on_timer(in_force: &InForce, main_thread: MainThread<'_>) -> Option<Duration> {
    let ruleset = in_force.get()?;
    let now = main_thread.now();
    for feed in ruleset.became_stale(ruleset.looked.replace(now), now) {
        if is_news(&feed, main_thread) {
            main_thread.log(LogLevel::WARN, &format!("crawlpike: {feed}"));
        }
    }
    Some(INTERVAL)
}

/// Notes the state of a feed. Returns whether it is to be reported.
pub(crate) fn is_news(feed: &FeedInfo<'_>, main_thread: MainThread<'_>) -> bool {
    with_counters(main_thread, |counters: &Counters| counters.feed_news().note(feed)).unwrap_or(true)
}
