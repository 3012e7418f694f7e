//! Handles of a configuration.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use super::abi::{Buffer, EnvoyPtr, METRIC_OK};
use super::callbacks;
use super::metrics::{MetricId, MetricKind, MetricRefused, Metrics};

/// A configuration that Envoy is making.
#[derive(Debug)]
pub(crate) struct Configuring<'h> {
    configuration: EnvoyPtr,
    hook: PhantomData<&'h mut ()>,
}

impl Configuring<'_> {
    /// # Safety
    ///
    /// Envoy is making this configuration as long as the handle lives.
    pub(super) unsafe fn new(configuration: EnvoyPtr) -> Self {
        Self { configuration, hook: PhantomData }
    }

    /// Defines a metric with labels of these names.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    pub(crate) fn define(
        &self,
        kind: MetricKind,
        name: &str,
        labels: &[&str],
    ) -> Result<MetricId, MetricRefused> {
        let labels: Vec<Buffer> = labels.iter().map(|label| Buffer::of(label.as_bytes())).collect();
        let define = match kind {
            MetricKind::Counter => callbacks().http_filter_config_define_counter,
            MetricKind::Gauge => callbacks().http_filter_config_define_gauge,
        };
        let mut id = 0;
        // SAFETY: Envoy is making the configuration, and reads the buffers before it returns.
        let status = unsafe {
            define(
                self.configuration,
                Buffer::of(name.as_bytes()),
                labels.as_ptr(),
                labels.len(),
                &raw mut id,
            )
        };
        if status == METRIC_OK { Ok(MetricId { id, kind }) } else { Err(MetricRefused { status }) }
    }

    /// A scheduler for the configuration.
    pub(crate) fn scheduler(&self) -> Scheduler {
        // SAFETY: Envoy is making the configuration.
        let scheduler = unsafe { (callbacks().http_filter_config_scheduler_new)(self.configuration) };
        Scheduler(Mutex::new(NonNull::new(scheduler).map(SchedulerPtr)))
    }

    /// The metrics of the configuration, if this Envoy can set them outside of streams.
    pub(crate) fn metrics(&self) -> Option<Metrics<'_>> {
        // SAFETY: Envoy is making the configuration as long as the handle lives.
        unsafe { Metrics::of_configuration(self.configuration) }
    }
}

/// A configuration in the main thread.
#[derive(Debug)]
pub(crate) struct Scheduled<'h> {
    pub(super) configuration: EnvoyPtr,
    hook: PhantomData<&'h mut ()>,
}

impl Scheduled<'_> {
    /// # Safety
    ///
    /// Envoy has called a hook of this configuration in the main thread, which lasts as long as the handle.
    pub(super) unsafe fn new(configuration: EnvoyPtr) -> Self {
        Self { configuration, hook: PhantomData }
    }

    /// See [`Configuring::metrics`].
    pub(crate) fn metrics(&self) -> Option<Metrics<'_>> {
        // SAFETY: the configuration lives as long as the handle.
        unsafe { Metrics::of_configuration(self.configuration) }
    }
}

/// Calls a configuration's hook for events in the main thread, from any thread, until it is stopped.
#[derive(Debug)]
pub(crate) struct Scheduler(Mutex<Option<SchedulerPtr>>);

#[derive(Debug)]
struct SchedulerPtr(NonNull<std::ffi::c_void>);

// SAFETY: Envoy's scheduler may be used and deleted in any thread. The lock keeps these apart.
unsafe impl Send for SchedulerPtr {}

impl Scheduler {
    /// Has the hook called soon, with this number.
    pub(crate) fn schedule(&self, event: u64) {
        if let Some(scheduler) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            // SAFETY: the scheduler was not deleted, and is not while it is locked.
            unsafe { (callbacks().http_filter_config_scheduler_commit)(scheduler.0.as_ptr(), event) };
        }
    }

    /// Ends the scheduler, because Envoy drops the configuration. Nothing is scheduled any more.
    pub(crate) fn stop(&self) {
        if let Some(scheduler) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // SAFETY: it was taken, so nothing else deletes it or uses it again.
            unsafe { (callbacks().http_filter_config_scheduler_delete)(scheduler.0.as_ptr()) };
        }
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Calls a stream's hook for events in its worker, from any thread.
#[derive(Debug)]
pub(crate) struct StreamScheduler(SchedulerPtr);

impl StreamScheduler {
    /// # Safety
    ///
    /// A hook of the stream is running.
    pub(super) unsafe fn new(stream: EnvoyPtr) -> Option<Self> {
        // SAFETY: the caller's promise.
        let scheduler = unsafe { (callbacks().http_filter_scheduler_new)(stream) };
        NonNull::new(scheduler).map(|scheduler| Self(SchedulerPtr(scheduler)))
    }

    /// Has the hook called soon, unless the stream is gone.
    pub(crate) fn schedule(&self) {
        // SAFETY: the scheduler lives as long as this.
        unsafe { (callbacks().http_filter_scheduler_commit)(self.0.0.as_ptr(), 0) };
    }
}

impl Drop for StreamScheduler {
    fn drop(&mut self) {
        // SAFETY: nothing else deletes the scheduler, which is not used again.
        unsafe { (callbacks().http_filter_scheduler_delete)(self.0.0.as_ptr()) };
    }
}
