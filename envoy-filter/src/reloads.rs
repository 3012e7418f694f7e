//! Counting reloads once, although every virtual machine loads the configuration: the one in which Envoy tries it, then those
//! of the workers.

use crawlward_core::metrics::ReloadResult;
use proxy_wasm::hostcalls;
use proxy_wasm::types::Status;

use crate::host::Refused;
use crate::metrics;

/// Counts the result of loading a configuration, once in the process. The first configuration of a plugin replaces none, and
/// is not counted.
pub(crate) fn count(plugin: &str, fingerprint: u64, result: ReloadResult) -> Result<(), Refused> {
    // What all virtual machines of the process share: the fingerprint of the plugin's newest configuration.
    let key = format!("crawlward.ruleset.{plugin}");
    let (newest, version) = hostcalls::get_shared_data(&key).map_err(Refused::of("proxy_get_shared_data"))?;
    let fingerprint = fingerprint.to_ne_bytes();
    let is_first = newest.is_none();
    match result {
        ReloadResult::Failure if is_first => return Ok(()),
        // Only the virtual machine in which Envoy tries a configuration gets one that is refused.
        ReloadResult::Failure => return metrics::count_reload(result),
        ReloadResult::Success if newest.is_some_and(|newest| newest == fingerprint) => return Ok(()),
        ReloadResult::Success => {}
    }
    match hostcalls::set_shared_data(&key, Some(&fingerprint), version) {
        Ok(()) if is_first => Ok(()),
        Ok(()) => metrics::count_reload(result),
        // Another worker was faster, and counted.
        Err(Status::CasMismatch) => Ok(()),
        Err(status) => Err(Refused::of("proxy_set_shared_data")(status)),
    }
}
