//! The names of the Wasm filter's statistics, which can't have labels: the labels stand in the name, and regular
//! expressions in Envoy's bootstrap (`stats_tags`) take them out again.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use super::{ALL, Metric};

/// The text that Envoy puts before the names that Wasm filters define, and leaves out in the Prometheus format.
const NAMESPACE: &str = "wasmcustom";

/// An element of `stats_config.stats_tags`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatsTag {
    /// The `tag_name`.
    pub name: &'static str,
    /// The `regex`: its first group is what is taken out of the name, its second one the tag's value.
    pub regex: String,
}

/// The labels whose values are free text. A metric has one of them at most.
const FREE_TEXT: [&str; 2] = ["site", "feed"];

impl Metric {
    /// The name of one series, the metric's name and then each label: `crawlpike_feed_prefixes.feed="googlebot"`.
    ///
    /// Nothing is escaped, since nothing would undo it: only the value of the last label may have a `"`, so free text
    /// comes last.
    pub fn stat_name(&self, values: &[&str]) -> String {
        let mut name = String::from(self.name);
        for label in self.labels_in_name() {
            let place = self.labels.iter().position(|known| *known == label);
            let value = place.and_then(|place| values.get(place)).copied().unwrap_or_default();
            // Writing to a String can't fail.
            let _ = write!(name, ".{label}=\"{value}\"");
        }
        name
    }

    /// The labels in the order in which they stand in a name.
    fn labels_in_name(&self) -> impl Iterator<Item = &'static str> {
        let those =
            |free: bool| self.labels.iter().copied().filter(move |label| FREE_TEXT.contains(label) == free);
        those(false).chain(those(true))
    }
}

/// One tag for each label of a metric of ours; no other statistic of an Envoy matches any.
pub fn stats_tags() -> Vec<StatsTag> {
    let mut tags: Vec<StatsTag> = Vec::new();
    for label in ALL.iter().flat_map(|metric| metric.labels) {
        if tags.iter().all(|tag| tag.name != *label) {
            tags.push(StatsTag { name: label, regex: regex(label) });
        }
    }
    tags
}

/// The pattern that finds a label, in whichever metrics have it.
fn regex(wanted: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    for metric in ALL.iter().filter(|metric| metric.labels.contains(&wanted)) {
        let mut name = String::from(metric.name);
        for label in metric.labels_in_name().take_while(|label| *label != wanted) {
            let _ = write!(name, "\\.{label}=\"[^\"]*\"");
        }
        names.push(name);
    }
    let names = match &*names {
        [name] => name.clone(),
        several => format!("(?:{})", several.join("|")),
    };
    // A dot matches no line end, and a name may have one.
    match FREE_TEXT.contains(&wanted) {
        true => format!("^{NAMESPACE}\\.{names}(\\.{wanted}=\"([\\s\\S]*)\")$"),
        false => format!("^{NAMESPACE}\\.{names}(\\.{wanted}=\"([^\"]*)\")"),
    }
}
