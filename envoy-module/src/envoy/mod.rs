//! Envoy's dynamic modules, for any module: this folder knows nothing of Crawlpike, and has all that is `unsafe`.
//!
//! A module is a type that implements [`Module`], and [`http_filter!`] exports the hooks that Envoy calls. Its functions
//! receive a handle of a configuration or of a stream. Safe code can't misuse a handle: it lives as long as Envoy's call, and
//! what was read from it can't be used after a change.

#![expect(unsafe_code, reason = "functions and pointers of Envoy")]

mod abi;
mod allocator;
mod callout;
mod configuration;
mod exports;
mod hooks;
mod log;
mod metrics;
mod module;
mod panics;
mod redirects;
mod stream;

pub(crate) use self::callout::{Answer, Callout, CalloutId};
pub(crate) use self::configuration::{Configuring, Scheduled, Scheduler, StreamScheduler};
pub(crate) use self::exports::http_filter;
pub(crate) use self::log::{LogLevel, log};
pub(crate) use self::metrics::{MetricId, MetricKind, MetricRefused, Metrics};
pub(crate) use self::module::{Admission, Body, Head, Module};
pub(crate) use self::panics::catch;
pub(crate) use self::stream::{BodyPlace, HeaderSet, Lines, Refused, StreamHandle};

/// What the exported hooks need.
pub(crate) mod entries {
    pub(crate) use super::abi::{BodyStatus, Buffer, EnvoyPtr, Header, HeadersStatus, ModulePtr};
    pub(crate) use super::hooks::*;
}

use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

use self::abi::Callbacks;

static CALLBACKS: OnceLock<Callbacks> = OnceLock::new();

/// Envoy's functions. Every hook runs after the first one, which looked them up or refused to go on.
fn callbacks() -> &'static Callbacks {
    CALLBACKS.get_or_init(|| match Callbacks::find() {
        Ok(callbacks) => callbacks,
        // Envoy does not load a module that can't find its callbacks, and so calls none of its other hooks.
        Err(_) => std::process::abort(),
    })
}

/// Keeps the code of this module loaded until the end of the process. Envoy unloads a module with its last configuration, and
/// the module's threads would run into nothing.
fn stay_loaded() {
    let code: *const c_void = (stay_loaded as fn()) as *const c_void;
    // SAFETY: `dladdr` describes the file that has this function. The name of the file lives as long as the file is loaded.
    // `dlopen` of a file that is loaded only counts one more user, whom nobody takes back.
    unsafe {
        let mut file: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(code, &raw mut file) != 0 && !file.dli_fname.is_null() {
            libc::dlopen(file.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
        }
    }
}

/// Looks up Envoy's callbacks, and returns the version of the ABI; `None`, after a line in the log, if one is missing.
fn start(module: &str) -> Option<&'static CStr> {
    match Callbacks::find() {
        Ok(found) => {
            CALLBACKS.get_or_init(|| found);
            stay_loaded();
            Some(abi::VERSION)
        }
        Err(missing) => {
            // There is no log that can be relied on: its callback may be one of the missing ones.
            eprintln!(
                "{module}: this Envoy lacks what the module needs ({}): use Envoy 1.38 or later, or the Wasm filter",
                missing.join(", ")
            );
            None
        }
    }
}
