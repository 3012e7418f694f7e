//! Crawlward as an HTTP filter of Envoy.
//!
//! What is decided and what is sent is made in `crawlward-core`. This crate asks Envoy for facts about the request, each
//! when it is first needed, because each costs a call out of the sandbox, and carries the decision out.
//!
//! A panic here kills the virtual machine of a worker with every request in it, so nothing in here panics; and of the
//! SDK only `hostcalls` are used that report what they can't do, with bytes where a client chooses the value.

#![forbid(unsafe_code)]
#![expect(missing_docs, reason = "the only public item is the entry point that a macro of the SDK makes")]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

mod request;

use std::rc::Rc;

use crawlward_core::diagnostic::Severity;
use crawlward_core::reply::{FORGEABLE, REQUEST_HEADER, Reply};
use crawlward_core::{Compiled, NoFiles, Overrides, Ruleset, decide, is_stored};
use proxy_wasm::hostcalls;
use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType, LogLevel, MapType};

use crate::request::HostRequest;

/// The filter state, for the access log: `%FILTER_STATE(wasm.crawlward:PLAIN)%`.
const FILTER_STATE: &str = "crawlward";

proxy_wasm::main! {{
    proxy_wasm::set_log_level(LogLevel::Info);
    proxy_wasm::set_root_context(|_| Box::new(Plugin::default()));
}}

/// The filter with one configuration.
#[derive(Default)]
struct Plugin {
    ruleset: Option<Rc<Ruleset>>,
}

impl Context for Plugin {}

impl RootContext for Plugin {
    /// Compiles the configuration document. One that can't be compiled is refused, and Envoy keeps what it has.
    fn on_configure(&mut self, _: usize) -> bool {
        let configuration = self.get_plugin_configuration().unwrap_or_default();
        let mut compiled = match is_stored(&configuration) {
            true => Compiled::load(NAME, words(&configuration)),
            false => Ruleset::compile(NAME, &configuration, &NoFiles),
        };
        compiled.warn_of_stale_feeds(NAME, request::now());
        for diagnostic in &compiled.diagnostics {
            match diagnostic.severity {
                Severity::Error => log::error!("crawlward: {diagnostic}"),
                Severity::Warning => log::warn!("crawlward: {diagnostic}"),
            }
        }
        let Some(ruleset) = compiled.ruleset else {
            return false;
        };
        self.ruleset = Some(Rc::new(ruleset));
        true
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Stream { ruleset: self.ruleset.clone() }))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}

/// How diagnostics name the plugin's configuration.
const NAME: &str = "configuration";

/// The words of a compiled ruleset. A file that is no whole number of words was cut: the rest is dropped, and the length
/// that the header gives tells.
fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).filter_map(|chunk| chunk.first_chunk().copied()).map(u32::from_ne_bytes).collect()
}

/// One request with its response.
struct Stream {
    ruleset: Option<Rc<Ruleset>>,
}

impl Context for Stream {}

impl HttpContext for Stream {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        match &self.ruleset {
            Some(ruleset) => handle(ruleset),
            None => Action::Continue,
        }
    }
}

/// Removes the client's own `X-Crawlward`, decides, and denies or tells upstreams what is known.
fn handle(ruleset: &Ruleset) -> Action {
    for name in FORGEABLE {
        // Fails only where there are no headers to remove it from.
        let _ = hostcalls::remove_map_value(MapType::HttpRequestHeaders, name);
    }
    let request = HostRequest::default();
    #[cfg(feature = "panic-for-tests")]
    panic_if_asked(&request);
    let decision = decide(ruleset, &request, Overrides::default());
    let reply = ruleset.reply(&decision, &request, None);
    if let Some(value) = ruleset.describe(&decision, &request).header_value() {
        let _ = hostcalls::set_property(vec![FILTER_STATE], Some(value.as_bytes()));
        if reply.is_none() {
            let _ = hostcalls::set_map_value(MapType::HttpRequestHeaders, REQUEST_HEADER, Some(&value));
        }
    }
    match reply {
        Some(reply) => answer(&reply),
        None => Action::Continue,
    }
}

#[cfg(feature = "panic-for-tests")]
#[expect(clippy::panic, reason = "that is what the feature is for")]
fn panic_if_asked(request: &HostRequest) {
    if crawlward_core::Request::header(request, "x-panic").is_some() {
        panic!("a request asked for it");
    }
}

fn answer(reply: &Reply<'_>) -> Action {
    let headers = reply.headers().collect();
    match hostcalls::send_http_response(u32::from(reply.status), headers, Some(&reply.body)) {
        Ok(()) => Action::Pause,
        Err(_) => Action::Continue,
    }
}
