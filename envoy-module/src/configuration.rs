//! The configuration of the filter: the name of a file, or the document with its files, or a compiled ruleset.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crawlpike_envoy_gate::NAME;
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer};

use crate::clock;
use crate::envoy::{Answer, Configuring, LogLevel, Metrics, Scheduled, Scheduler, StreamHandle, log};
use crate::errors;
use crate::names::{self, Names};
use crate::source::Source;
use crate::statistics::Publisher;

/// The filter with one configuration.
#[derive(Debug)]
pub(crate) struct Configuration {
    pub(crate) source: Arc<Source>,
    /// The lookups of names; `None` if no service is configured.
    pub(crate) names: Option<Names>,
    publisher: Publisher,
    scheduler: Arc<Scheduler>,
    /// True if this Envoy publishes numbers outside of streams, as it does since 1.39.
    publishes_by_itself: bool,
}

/// The key that distinguishes the name of a file from a document.
#[derive(Deserialize)]
struct Probe {
    config: Option<IgnoredAny>,
}

/// The name of the file with the document, and the service that is asked for names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FromFile {
    config: PathBuf,
    rdns: Option<NameService>,
}

/// The service that is asked for the names of addresses: DNS over HTTPS, by a cluster of Envoy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NameService {
    pub(crate) cluster: String,
    /// The host that is asked.
    pub(crate) authority: String,
    #[serde(default = "usual_path")]
    pub(crate) path: String,
    /// The longest time that a request waits.
    #[serde(rename = "timeout", default = "usual_patience", deserialize_with = "patience")]
    pub(crate) patience: Duration,
}

fn usual_path() -> String {
    "/dns-query".to_owned()
}

const fn usual_patience() -> Duration {
    Duration::from_secs(1)
}

/// A duration as in Envoy's own configuration, such as `0.5s`.
fn patience<'d, D: Deserializer<'d>>(from: D) -> Result<Duration, D::Error> {
    const LONGEST: f64 = 60.0;
    let text = String::deserialize(from)?;
    let seconds = text.strip_suffix('s').and_then(|seconds| seconds.parse().ok());
    let seconds = seconds.filter(|seconds| (0.001..=LONGEST).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| {
        D::Error::custom(format!("invalid timeout \"{text}\"; write \"1s\" or \"0.5s\", at most \"60s\""))
    })
}

impl Configuration {
    /// Makes the configuration. `None`: it is refused, and the log has the reasons.
    pub(crate) fn new(configuring: &Configuring<'_>, name: &[u8], text: &[u8]) -> Option<Self> {
        if name != NAME.as_bytes() {
            let name = name.escape_ascii();
            log(
                LogLevel::Error,
                &format!("crawlpike: unknown filter \"{name}\"; set filter_name to \"{NAME}\""),
            );
            return None;
        }
        let (source, rdns) = source(text)?;
        let publisher = match Publisher::new(configuring) {
            Ok(publisher) => publisher,
            Err(refused) => {
                log(LogLevel::Error, &format!("crawlpike: {refused}"));
                return None;
            }
        };
        let metrics = configuring.metrics();
        let scheduler = Arc::new(configuring.scheduler());
        let names = rdns.map(|service| Names::new(service, Arc::clone(&scheduler)));
        let made = Self { source, names, publisher, scheduler, publishes_by_itself: metrics.is_some() };
        if let Some(metrics) = &metrics {
            made.publish(metrics);
        }
        clock::publish_through(&made.scheduler);
        Some(made)
    }

    /// Sends questions for names or publishes numbers, in the main thread.
    pub(crate) fn on_scheduled(&self, scheduled: &Scheduled<'_>, event: u64) {
        match (&self.names, event) {
            (Some(names), names::ASK) => names.on_scheduled(scheduled),
            _ => {
                if let Some(metrics) = scheduled.metrics() {
                    self.publish(&metrics);
                }
            }
        }
    }

    /// An answer to a question for names has come, in the main thread.
    pub(crate) fn on_answer(&self, scheduled: &Scheduled<'_>, answer: &Answer<'_>) {
        if let Some(names) = &self.names {
            names.on_answer(scheduled, answer);
        }
    }

    /// Publishes numbers in a stream, if this Envoy has no other way and it is time.
    pub(crate) fn on_stream(&self, stream: &StreamHandle<'_>) {
        if !self.publishes_by_itself && clock::take_turn() {
            self.publish(&stream.metrics());
        }
    }

    fn publish(&self, metrics: &Metrics<'_>) {
        if let Err(refused) = self.publisher.publish(metrics) {
            errors::note(&refused);
        }
    }

    /// Envoy drops the configuration.
    pub(crate) fn stop(&self) {
        clock::stop(&self.scheduler);
    }
}

fn source(text: &[u8]) -> Option<(Arc<Source>, Option<NameService>)> {
    if !matches!(serde_json::from_slice(text), Ok(Probe { config: Some(_) })) {
        return Some((Source::of_text(text)?, None));
    }
    match serde_json::from_slice::<FromFile>(text) {
        Ok(FromFile { config, rdns }) => Some((Source::of_file(&config)?, rdns)),
        Err(error) => {
            let message = format!(
                "crawlpike: configuration: {error}; \"config\" names the file of the document, and only \"rdns\" can stand beside it"
            );
            log(LogLevel::Error, &message);
            None
        }
    }
}
