//! The bindings of Envoy's dynamic modules, for any module, with all the `unsafe` of the crate. They contain nothing of
//! Crawlpike, which is in the other files of the crate.
//!
//! A module is a type that implements [`Module`], and [`http_filter!`] exports the hooks that Envoy calls. Its functions
//! receive a handle of a configuration or of a stream. Safe code cannot misuse a handle: it lives as long as Envoy's call, and
//! what was read from it cannot be used after a change.
//!
//! # Calls in which Envoy enters hooks
//!
//! Envoy may enter a hook of the module before a call of the module returns. So hooks share the state of a stream and of a
//! configuration, which is in cells and locks; nothing is borrowed from a cell, and no lock is held, during such a call. An
//! object that Envoy drops meanwhile lives until its outermost hook returns ([`kept`]). So a call that is missing here does not
//! endanger memory, but debug builds report it as an internal error: a hook may enter another one of the same object only in
//! the calls of the first four rows, which are made by [`kept::enterable`].
//!
//! | call | in the hooks | Envoy may enter before it returns |
//! |---|---|---|
//! | `http_send_response` | `request_headers` | `local_reply`: Envoy sends the response when the hook has returned |
//! | | `scheduled` | `local_reply`, `stream_complete` and `destroy` of the stream, as the response is sent at once |
//! | `http_filter_continue_decoding` | `scheduled`, when nothing of the stream is in use any more | the hooks for the body and trailers of the request; if the next filters answer, those of the response, `local_reply`, `stream_complete` and `destroy` |
//! | `http_drain_body`, `http_append_body` | `response_body`, `response_trailers` | the hooks for watermarks; if Envoy's buffer is over its limit, Envoy answers itself or resets the stream: `local_reply`, `response_headers`, `stream_complete`, `destroy` |
//! | `http_filter_config_http_callout` | `config_scheduled`, `config_http_callout_done` | `config_http_callout_done`, if the cluster has no host or the request fails at once |
//! | `http_set_header`, `http_add_header`, `http_clear_route_cache` | `request_headers`, `response_headers`, `scheduled`, `response_body`, `response_trailers` | nothing |
//! | `http_set_filter_state_bytes`, `http_set_filter_state_object`, `http_set_dynamic_metadata_string` | `request_headers`, `scheduled`, `local_reply`, `stream_complete` | no hook; the destructor of the object, which uses no stream |
//! | the calls that read: headers, pieces of a body, attributes, filter state, the configuration of the route | any | nothing |
//! | `http_filter_config_scheduler_commit`, `http_filter_scheduler_commit` | any, and threads of the module | nothing: the hook is called from the event loop of the main thread or of the worker |
//! | the calls that make and delete schedulers, define and change metrics, and log | any | nothing |
//!
//! The hooks for watermarks and for the request's body and trailers use no object of the module.

#![expect(unsafe_code, reason = "functions and pointers of Envoy")]

mod abi;
mod allocator;
mod callout;
mod configuration;
mod exports;
mod hooks;
mod kept;
mod log;
mod metrics;
mod module;
mod redirects;
mod routes;
mod stream;

pub(crate) use self::callout::{Answer, Callout, CalloutId};
pub(crate) use self::configuration::{Configuring, Scheduled, Scheduler, StreamScheduler};
pub(crate) use self::exports::http_filter;
pub(crate) use self::log::{LogLevel, log};
pub(crate) use self::metrics::{MetricId, MetricKind, MetricRefused, Metrics};
pub(crate) use self::module::{Admission, Body, Head, Module};
pub(crate) use self::stream::{BodyPlace, HeaderSet, Lines, OtherModule, Refused, StreamHandle};

/// The items that the exported hooks use.
pub(crate) mod entries {
    pub(crate) use super::abi::{BodyStatus, Buffer, EnvoyPtr, Header, HeadersStatus, ModulePtr};
    pub(crate) use super::hooks::*;
}

#[cfg(not(feature = "faults-for-tests"))]
pub(crate) use crawlpike_files::catch;
#[cfg(feature = "faults-for-tests")]
pub(crate) use faults::catch;

#[cfg(feature = "faults-for-tests")]
#[path = "../../../tests/faults/panics.rs"]
mod faults;

use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

use self::abi::Callbacks;

static CALLBACKS: OnceLock<Callbacks> = OnceLock::new();

/// Envoy's functions. Every hook runs after the first one, which has looked them up, or has failed.
fn callbacks() -> &'static Callbacks {
    CALLBACKS.get_or_init(|| match Callbacks::find() {
        Ok(callbacks) => callbacks,
        // Envoy does not load a module that cannot find its callbacks, and so calls none of its other hooks.
        Err(_) => std::process::abort(),
    })
}

/// Keeps the code of this module loaded until the end of the process. Envoy unloads a module with its last configuration, but
/// threads of the module still run then.
fn stay_loaded() {
    let code: *const c_void = (stay_loaded as fn()) as *const c_void;
    // SAFETY: `dladdr` describes the file that has this function. The name of the file lives as long as the file is loaded.
    // `dlopen` of a file that is loaded only counts one more user, which is never taken back. A `Dl_info` of zeros is valid.
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
            // The callback of the log may be one of the missing ones.
            eprintln!(
                "{module}: this Envoy lacks functions that the module needs ({}); use Envoy 1.38 or later, or the Wasm filter",
                missing.join(", ")
            );
            None
        }
    }
}
