//! Reporting once what every virtual machine sees: a configuration is loaded by the one in which Envoy tries it, then by those
//! of the workers, and a feed becomes stale in all of them.

use crawlpike_core::Ruleset;
use crawlpike_envoy_wasm::Refused;
use crawlpike_envoy_wasm::raw::{set_shared_data, shared_data};

/// The kinds of loads, as the process sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// The plugin's first configuration, which replaces none.
    First,
    /// Another configuration.
    Next,
    /// Another virtual machine has loaded the same.
    Known,
}

/// Notes that a configuration was loaded, or refused, at `now` in seconds since the Unix epoch.
pub(crate) fn note_load(plugin: &str, fingerprint: u64, is_refused: bool, now: i64) -> Result<Load, Refused> {
    // The fingerprint of the plugin's newest configuration.
    let key = format!("crawlpike.ruleset.{plugin}");
    let newest = shared_data(&key)?;
    let version = newest.as_ref().map(|(_, version)| *version);
    let load = if newest.is_none() { Load::First } else { Load::Next };
    // Only the virtual machine in which Envoy tries a configuration gets one that is refused.
    if is_refused {
        return Ok(load);
    }
    let fingerprint = fingerprint.to_ne_bytes();
    // If the other one was faster, it has loaded the same.
    if newest.is_some_and(|(newest, _)| *newest == fingerprint)
        || !set_shared_data(&key, &fingerprint, version)?
    {
        return Ok(Load::Known);
    }
    // A load reports the feeds that are stale by then.
    set_shared_data(&checked_key(plugin), &now.to_ne_bytes(), None)?;
    Ok(load)
}

/// Reports the feeds that have become stale since any virtual machine last reported some. The ruleset is the plugin's newest.
pub(crate) fn report_stale_feeds(plugin: &str, ruleset: &Ruleset, now: i64) -> Result<(), Refused> {
    if !ruleset.has_age_limits() {
        return Ok(());
    }
    let key = checked_key(plugin);
    let checked = shared_data(&key)?;
    let version = checked.as_ref().map(|(_, version)| *version);
    let checked = checked.and_then(|(bytes, _)| (*bytes).try_into().ok()).map_or(now, i64::from_ne_bytes);
    let mut stale = ruleset.became_stale(checked, now).peekable();
    if stale.peek().is_some() && set_shared_data(&key, &now.to_ne_bytes(), version)? {
        stale.for_each(|feed| log::warn!("crawlpike: {feed}"));
    }
    Ok(())
}

/// The key of the time until which feeds that became stale were reported.
fn checked_key(plugin: &str) -> String {
    format!("crawlpike.checked.{plugin}")
}
