//! Metrics that the proxy keeps.

use core::cell::RefCell;
use core::convert::Infallible;

use super::*;

/// The statistics of a proxy: by metric and labels, each with its value.
#[derive(Default)]
struct Kept(RefCell<Vec<(String, u64)>>);

impl Statistics for &Kept {
    type Id = usize;
    type Error = Infallible;

    fn define(&self, metric: &Metric, labels: &[&str]) -> Result<usize, Infallible> {
        let mut kept = self.0.borrow_mut();
        let name = metric.stat_name(labels);
        assert!(kept.iter().all(|(known, _)| *known != name), "{name} is defined once");
        kept.push((name, 0));
        Ok(kept.len() - 1)
    }

    fn add(&self, counter: usize, added: u64) -> Result<(), Infallible> {
        self.0.borrow_mut()[counter].1 += added;
        Ok(())
    }

    fn set(&self, gauge: usize, value: u64) -> Result<(), Infallible> {
        self.0.borrow_mut()[gauge].1 = value;
        Ok(())
    }
}

impl Kept {
    fn value(&self, name: &str) -> Option<u64> {
        self.0.borrow().iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

#[test]
fn a_proxy_that_keeps_statistics_has_as_many_series_and_loses_no_request() {
    let (ruleset, kept, recent) = (many_agents_and_sites(), Kept::default(), Recent::default());
    let metrics = ProxyMetrics::new(&kept);
    let lies = 120 * 60;
    for agent in 0..120 {
        for site in 0..60 {
            let (user_agent, host) = (format!("Bot{agent}x/1"), format!("{site}.test"));
            let decision = decide(&ruleset, &asked(&user_agent, &host), Overrides::default());
            let counter = recent.counter(&decision, |series| metrics.counter(series, &ruleset)).unwrap();
            (&kept).add(counter.unwrap(), 1).unwrap();
        }
    }
    let series: Vec<(String, u64)> = kept.0.borrow().clone();
    assert_eq!(series.iter().map(|(_, count)| count).sum::<u64>(), lies);
    assert_eq!(series.len(), SeriesGroup::ClaimedAtSite.bound() + (lies as usize - 2048).div_ceil(60));
}

#[test]
fn gauges_show_the_newest_ruleset_of_each_source() {
    let (first, kept) = (ruleset(), Kept::default());
    let metrics = ProxyMetrics::new(&kept);
    let in_force = |version, ruleset| InForce { source: "gate", version, ruleset };
    let state = |state: &str, feed: &str| {
        kept.value(&format!("crawlpike_feed_state.state=\"{state}\".feed=\"{feed}\""))
    };
    metrics.show(in_force(1, &first), 1500).unwrap();
    assert_eq!(kept.value("crawlpike_ruleset_loaded_timestamp_seconds"), Some(1500));
    assert_eq!(kept.value("crawlpike_errors_total"), Some(0));
    assert_eq!(kept.value("crawlpike_reloads_total.result=\"failure\""), Some(0));
    assert_eq!((state("ok", "other"), state("stale", "other")), (Some(1), Some(0)));
    assert_eq!(kept.value("crawlpike_feed_prefixes.feed=\"other\""), Some(2));
    let document = br#"{ "catalog": "none", "feeds": [
        { "name": "new", "format": "cidr", "source": "dated", "guard": "off", "max_age": "1h" } ] }"#;
    let second = Ruleset::compile("c.json", document, &TwoFeeds).ruleset.unwrap();
    metrics.show(in_force(2, &second), 2000).unwrap();
    assert_eq!((state("ok", "other"), state("ok", "new")), (Some(0), Some(1)));
    assert_eq!(kept.value("crawlpike_feed_prefixes.feed=\"other\""), Some(0));
    // The older one shows nothing any more.
    metrics.update(in_force(1, &first), 2000).unwrap();
    assert_eq!(state("ok", "other"), Some(0));
    metrics.update(in_force(2, &second), 1000 + 3600).unwrap();
    assert_eq!((state("ok", "new"), state("stale", "new")), (Some(0), Some(1)));
    assert_eq!(kept.value("crawlpike_feed_prefixes.feed=\"new\""), Some(0));
    assert_eq!(kept.value("crawlpike_feed_age_seconds.feed=\"new\""), Some(3600));
    // A source that is gone leaves what it showed to whoever comes next.
    metrics.forget("gate", 1);
    metrics.forget("gate", 2);
    metrics.update(in_force(2, &second), 2000).unwrap();
    assert_eq!(state("ok", "new"), Some(0));
}

#[test]
fn stats_of_envoy_have_their_labels_in_the_name() {
    let values = ["deny", "true", "spoofed-agent", "spoofed", "Lab.Bot", "a \"b\".site=\"c\""];
    assert_eq!(
        REQUESTS.stat_name(&values),
        r#"crawlpike_requests_total.action="deny".enforced="true".reason="spoofed-agent".identity="spoofed".agent="Lab.Bot".site="a "b".site="c"""#
    );
    assert_eq!(ERRORS.stat_name(&[]), "crawlpike_errors_total");

    let tags = stats_tags();
    let names: Vec<&str> = tags.iter().map(|tag| tag.name).collect();
    assert_eq!(
        names,
        [
            "action",
            "enforced",
            "reason",
            "identity",
            "agent",
            "site",
            "feed",
            "state",
            "result",
            "doubt",
            "form",
            "outcome",
            "direction"
        ]
    );
    let regex = |name: &str| &*tags.iter().find(|tag| tag.name == name).unwrap().regex;
    assert_eq!(regex("action"), r#"^wasmcustom\.crawlpike_requests_total(\.action="([^"]*)")"#);
    assert_eq!(
        regex("feed"),
        r#"^wasmcustom\.(?:crawlpike_feed_state\.state="[^"]*"|crawlpike_feed_prefixes|crawlpike_feed_age_seconds)(\.feed="([\s\S]*)")$"#
    );
    // If a free text is not last, a quote in it would end it.
    assert_eq!(FEED_STATE.stat_name(&["a \"b\"", "ok"]), r#"crawlpike_feed_state.state="ok".feed="a "b"""#);
    for metric in ALL {
        let free = metric.labels.iter().filter(|label| matches!(**label, "site" | "feed"));
        assert!(free.count() <= 1, "{metric:?}");
    }
}
