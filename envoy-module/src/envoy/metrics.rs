//! Metrics with labels.

use std::fmt;
use std::marker::PhantomData;

use super::abi::{Buffer, EnvoyPtr, METRIC_OK};
use super::callbacks;

/// The directions in which a metric moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricKind {
    /// Up only.
    Counter,
    /// Up and down.
    Gauge,
}

/// A metric of a configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetricId {
    pub(super) id: usize,
    pub(super) kind: MetricKind,
}

/// Envoy did not define or change a metric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetricRefused {
    pub(super) status: u32,
}

impl fmt::Display for MetricRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Envoy refused a metric with status {}", self.status)
    }
}

type Set = unsafe extern "C" fn(EnvoyPtr, usize, *const Buffer, usize, u64) -> u32;

/// Metrics that can be changed now.
#[derive(Debug)]
pub(crate) struct Metrics<'h> {
    /// A configuration or a stream.
    object: EnvoyPtr,
    increment: Set,
    set: Set,
    hook: PhantomData<&'h ()>,
}

impl Metrics<'_> {
    /// `None` if this Envoy cannot change them outside of streams.
    ///
    /// # Safety
    ///
    /// A hook of this configuration is running in the main thread as long as the result lives.
    pub(super) unsafe fn of_configuration(configuration: EnvoyPtr) -> Option<Self> {
        let increment = callbacks().http_filter_config_increment_counter?;
        let set = callbacks().http_filter_config_set_gauge?;
        Some(Self { object: configuration, increment, set, hook: PhantomData })
    }

    /// # Safety
    ///
    /// A hook of this stream is running as long as the result lives.
    pub(super) unsafe fn of_stream(stream: EnvoyPtr) -> Self {
        let callbacks = callbacks();
        let (increment, set) = (callbacks.http_filter_increment_counter, callbacks.http_filter_set_gauge);
        Self { object: stream, increment, set, hook: PhantomData }
    }

    /// Adds to a counter, or sets a gauge. The metric is one of the configuration at hand.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    pub(crate) fn change(
        &self,
        metric: MetricId,
        labels: &[String],
        value: u64,
    ) -> Result<(), MetricRefused> {
        let labels: Vec<Buffer> = labels.iter().map(|label| Buffer::of(label.as_bytes())).collect();
        let change = match metric.kind {
            MetricKind::Counter => self.increment,
            MetricKind::Gauge => self.set,
        };
        // SAFETY: the hook of the object is running, and Envoy reads the labels before it returns. It checks the number of the
        // metric, and the number of labels.
        let status = unsafe { change(self.object, metric.id, labels.as_ptr(), labels.len(), value) };
        if status == METRIC_OK { Ok(()) } else { Err(MetricRefused { status }) }
    }
}
