//! The configuration of the filter: the name of a file, or the document with its files, or a compiled ruleset.

use std::path::PathBuf;
use std::sync::Arc;

use crawlward_envoy_gate::NAME;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::clock;
use crate::envoy::{Configuring, LogLevel, Metrics, Scheduled, Scheduler, StreamHandle, log};
use crate::errors;
use crate::source::Source;
use crate::statistics::Publisher;

/// The filter with one configuration.
#[derive(Debug)]
pub(crate) struct Configuration {
    pub(crate) source: Arc<Source>,
    publisher: Publisher,
    scheduler: Arc<Scheduler>,
    /// Whether this Envoy publishes numbers outside of streams, as it does since 1.39.
    publishes_by_itself: bool,
}

/// What tells the name of a file from a document.
#[derive(Deserialize)]
struct Probe {
    config: Option<IgnoredAny>,
}

/// The name of the file with the document.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FromFile {
    config: PathBuf,
}

impl Configuration {
    /// Makes the configuration. `None`: it is refused, and the log has the reasons.
    pub(crate) fn new(configuring: &Configuring<'_>, name: &[u8], text: &[u8]) -> Option<Self> {
        if name != NAME.as_bytes() {
            let name = name.escape_ascii();
            log(
                LogLevel::Error,
                &format!("crawlward: unknown filter \"{name}\"; set filter_name to \"{NAME}\""),
            );
            return None;
        }
        let source = source(text)?;
        let publisher = match Publisher::new(configuring) {
            Ok(publisher) => publisher,
            Err(refused) => {
                log(LogLevel::Error, &format!("crawlward: {refused}"));
                return None;
            }
        };
        let metrics = configuring.metrics();
        let scheduler = Arc::new(configuring.scheduler());
        let made = Self { source, publisher, scheduler, publishes_by_itself: metrics.is_some() };
        if let Some(metrics) = &metrics {
            made.publish(metrics);
        }
        clock::publish_through(&made.scheduler);
        Some(made)
    }

    /// Publishes numbers, in the main thread.
    pub(crate) fn on_scheduled(&self, scheduled: &Scheduled<'_>) {
        if let Some(metrics) = scheduled.metrics() {
            self.publish(&metrics);
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

fn source(text: &[u8]) -> Option<Arc<Source>> {
    if !matches!(serde_json::from_slice(text), Ok(Probe { config: Some(_) })) {
        return Source::of_text(text);
    }
    match serde_json::from_slice::<FromFile>(text) {
        Ok(FromFile { config }) => Source::of_file(&config),
        Err(error) => {
            let message = format!(
                "crawlward: configuration: {error}; \"config\" names the file of the document, and stands alone"
            );
            log(LogLevel::Error, &message);
            None
        }
    }
}
