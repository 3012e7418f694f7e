//! The measures as Envoy's statistics, which have no labels of their own: the labels stand in the name, and regular
//! expressions in Envoy's bootstrap (`stats_tags`) take them out again.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use super::{ALL, Metric};

/// What Envoy puts before the names that Wasm filters define, and leaves out in the Prometheus format.
const NAMESPACE: &str = "wasmcustom";

/// An element of `stats_config.stats_tags`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatsTag {
    /// The `tag_name`.
    pub name: &'static str,
    /// The `regex`: its first group is what is taken out of the name, its second one the tag's value.
    pub regex: String,
}

impl Metric {
    /// The name of one series, the metric's name and then each label: `crawlward_feed_prefixes.feed="googlebot"`.
    ///
    /// Nothing is escaped, since nothing would undo it: only the value of a metric's last label may have a `"`. The
    /// only free texts are names of sites and feeds, and each is last; a token has no quotes.
    pub fn stat_name(&self, values: &[&str]) -> String {
        let mut name = String::from(self.name);
        for (label, value) in self.labels.iter().zip(values) {
            // Writing to a String can't fail.
            let _ = write!(name, ".{label}=\"{value}\"");
        }
        name
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

/// What finds a label, in whichever metrics have it.
fn regex(wanted: &str) -> String {
    let with_label = ALL.iter().filter(|metric| metric.labels.contains(&wanted));
    let mut names: Vec<String> = Vec::new();
    let mut is_last = true;
    for metric in with_label {
        let before = metric.labels.iter().take_while(|label| **label != wanted);
        let mut name = String::from(metric.name);
        before.for_each(|label| {
            let _ = write!(name, "\\.{label}=\"[^\"]*\"");
        });
        names.push(name);
        is_last &= metric.labels.last() == Some(&wanted);
    }
    let names = match &*names {
        [name] => name.clone(),
        several => format!("(?:{})", several.join("|")),
    };
    // A dot matches no line end, and a name may have one.
    match is_last {
        true => format!("^{NAMESPACE}\\.{names}(\\.{wanted}=\"([\\s\\S]*)\")$"),
        false => format!("^{NAMESPACE}\\.{names}(\\.{wanted}=\"([^\"]*)\")"),
    }
}
