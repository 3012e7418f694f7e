//! The measures as a page: the Prometheus text format, or JSON.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use serde_json::{Map, Value, json};

use super::{
    ALL, Event, FEED_AGE, FEED_PREFIXES, FEED_STATE, Kind, Labels, Metric, REQUESTS, RULESET_LOADED,
};
use crate::feed::state::FeedState;
use crate::http::accept::Preference;
use crate::response::reply::Reply;
use crate::ruleset::data::Ruleset;
use crate::ruleset::info::FeedInfo;

/// The form in which the measures are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The text format of Prometheus, version 0.0.4.
    Text,
    /// One JSON object.
    Json,
}

impl Form {
    /// The `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::Json => "application/json",
        }
    }
}

/// The numbers of a gate at one moment, to be shown.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// The ruleset in force.
    pub(super) ruleset: &'a Ruleset,
    /// When it was loaded, in seconds since the Unix epoch.
    pub(super) loaded: i64,
    /// The time, in seconds since the Unix epoch.
    pub(super) now: i64,
    /// The numbers of requests, by [`Labels::joined`].
    pub(super) requests: BTreeMap<String, u64>,
    /// The number of each event.
    pub(super) events: Vec<(Event, u64)>,
}

/// One value of a metric.
struct Sample<'a> {
    /// Of the metric's labels, in their order.
    labels: Vec<&'a str>,
    value: u64,
}

impl<'a> Sample<'a> {
    fn new(labels: impl Into<Vec<&'a str>>, value: u64) -> Self {
        Self { labels: labels.into(), value }
    }
}

impl Form {
    /// The form that a client prefers, by its `Accept` header. Whoever wants neither gets the text.
    pub fn preferred(accept: Option<&[u8]>) -> Self {
        // Parameters, such as `version` and `charset`, are none of the type.
        match Preference::of("application/json", accept) > Preference::of("text/plain", accept) {
            true => Self::Json,
            false => Self::Text,
        }
    }
}

impl Page<'_> {
    /// The page, in the form that the client prefers by its `Accept` header.
    pub fn reply(&self, accept: Option<&[u8]>) -> Reply<'static> {
        let form = Form::preferred(accept);
        Reply {
            content_type: Some(form.content_type()),
            cache_control: Some("no-store"),
            vary: Some("Accept"),
            body: self.write(form).into_bytes().into(),
            ..Reply::empty(200)
        }
    }

    /// The page in a form.
    pub fn write(&self, form: Form) -> String {
        match form {
            Form::Text => self.text(),
            Form::Json => self.json(),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (metric, samples) in self.metrics() {
            // Writing to a String can't fail.
            let _ = write_metric(&mut text, &metric, &samples);
        }
        text
    }

    fn json(&self) -> String {
        let mut page = Map::new();
        page.insert("version".to_string(), json!(env!("CARGO_PKG_VERSION")));
        page.insert("mode".to_string(), json!(self.ruleset.mode()));
        let feeds = self.ruleset.feeds(self.now).map(|FeedInfo { name, state, why, prefixes, age, .. }| {
            json!({ "name": name, "state": state, "why": why, "prefixes": prefixes, "age": age })
        });
        page.insert("feeds".to_string(), feeds.collect());
        for (metric, samples) in self.metrics() {
            let value = match metric.labels {
                [] => samples.first().map(|sample| sample.value).into(),
                names => samples.iter().map(|sample| object(names, sample)).collect(),
            };
            page.insert(metric.name.to_string(), value);
        }
        let mut text = Value::Object(page).to_string();
        text.push('\n');
        text
    }

    /// Every metric with its samples, always in the same order.
    fn metrics(&self) -> impl Iterator<Item = (Metric, Vec<Sample<'_>>)> {
        let requests = self
            .requests
            .iter()
            .filter_map(|(labels, count)| Some(Sample::new(Labels::split(labels)?.values(), *count)));
        let feeds = || self.ruleset.feeds(self.now);
        let states = feeds().flat_map(|feed| {
            let sample = move |state: &FeedState| {
                Sample::new([feed.name, state.as_str()], u64::from(feed.state == *state))
            };
            FeedState::ALL.iter().map(sample)
        });
        let prefixes = feeds().map(|feed| Sample::new([feed.name], feed.prefixes as u64));
        let ages = feeds().filter_map(|feed| Some(Sample::new([feed.name], feed.age?)));
        let loaded = self.loaded.max(0).cast_unsigned();
        let state = [
            (REQUESTS, requests.collect()),
            (FEED_STATE, states.collect()),
            (FEED_PREFIXES, prefixes.collect()),
            (FEED_AGE, ages.collect()),
            (RULESET_LOADED, vec![Sample::new([], loaded)]),
        ];
        // Those of events follow in the list of all.
        let of_events = ALL.into_iter().skip(state.len()).map(|metric| {
            let events = self.events.iter().filter(move |(event, _)| event.metric() == metric);
            let sample = |(event, count): &(Event, u64)| Sample::new(event.labels().as_slice(), *count);
            (metric, events.map(sample).collect())
        });
        state.into_iter().chain(of_events)
    }
}

/// A sample with labels as JSON: its labels, and `value`.
fn object(names: &[&str], sample: &Sample<'_>) -> Value {
    let labels = names.iter().zip(&sample.labels).map(|(name, value)| ((*name).to_string(), json!(value)));
    labels.chain([("value".to_string(), json!(sample.value))]).collect()
}

fn write_metric(text: &mut String, metric: &Metric, samples: &[Sample<'_>]) -> fmt::Result {
    let Metric { name, help, labels, .. } = metric;
    let kind = match metric.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
    };
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}")?;
    for sample in samples {
        text.push_str(name);
        for (place, (label, value)) in labels.iter().zip(&sample.labels).enumerate() {
            write!(text, "{}{label}=\"{}\"", if place == 0 { '{' } else { ',' }, Escaped(value))?;
        }
        writeln!(text, "{} {}", if labels.is_empty() { "" } else { "}" }, sample.value)?;
    }
    Ok(())
}

/// The value of a label, as the text format wants it.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '\\' => f.write_str("\\\\"),
            '"' => f.write_str("\\\""),
            '\n' => f.write_str("\\n"),
            other => f.write_char(other),
        })
    }
}
