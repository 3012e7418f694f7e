//! Trims the linked Envoy filter: `crawlward-trim IN OUT`.
//!
//! The SDK exports all callbacks of the Proxy-Wasm ABI. Envoy calls each callback that a module exports, which costs a
//! request some 2,000 instructions even if the callback does nothing. So only those stay that the filter implements.
//!
//! The SDK's traits also keep imports that the filter never calls, because a table of a trait's methods refers to all of them.
//! Each of these imports becomes a function that traps. What the filter can ask of its host, such as no connection, can then
//! be read off its imports.

use std::error::Error;
use std::{env, process};

use walrus::{ModuleConfig, passes};

/// What Envoy finds in the filter.
const EXPORTS: [&str; 10] = [
    "_initialize",
    "memory",
    "proxy_abi_version_0_2_1",
    "proxy_on_configure",
    "proxy_on_context_create",
    "proxy_on_delete",
    "proxy_on_memory_allocate",
    "proxy_on_request_headers",
    "proxy_on_response_headers",
    "proxy_on_tick",
];

/// What the SDK's traits can call and the filter never does.
const NEVER_CALLED: [&str; 17] = [
    "proxy_close_stream",
    "proxy_continue_stream",
    "proxy_dequeue_shared_queue",
    "proxy_done",
    "proxy_enqueue_shared_queue",
    "proxy_get_status",
    "proxy_grpc_call",
    "proxy_grpc_cancel",
    "proxy_grpc_close",
    "proxy_grpc_send",
    "proxy_grpc_stream",
    "proxy_http_call",
    "proxy_register_shared_queue",
    "proxy_resolve_shared_queue",
    "proxy_set_buffer_bytes",
    "proxy_set_effective_context",
    "proxy_set_header_map_pairs",
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [from, to] = arguments.as_slice() else {
        eprintln!("usage: crawlward-trim IN OUT");
        process::exit(2);
    };
    if let Err(error) = trim(from, to) {
        eprintln!("crawlward-trim: {from}: {error:#}");
        process::exit(1);
    }
}

fn trim(from: &str, to: &str) -> Result<(), Box<dyn Error>> {
    let mut module = ModuleConfig::new()
        .generate_name_section(false)
        .generate_producers_section(false)
        .parse_file(from)?;
    let (kept, dropped): (Vec<_>, Vec<_>) =
        module.exports.iter().partition(|export| EXPORTS.contains(&export.name.as_str()));
    if kept.len() != EXPORTS.len() {
        return Err(
            format!("exports {} of the {} functions that Envoy needs", kept.len(), EXPORTS.len()).into()
        );
    }
    for export in dropped.iter().map(|export| export.id()).collect::<Vec<_>>() {
        module.exports.delete(export);
    }
    passes::gc::run(&mut module);
    for name in NEVER_CALLED {
        if let Ok(function) = module.imports.get_func("env", name) {
            module.replace_imported_func(function, |(body, _)| {
                body.unreachable();
            })?;
        }
    }
    module.emit_wasm_file(to)?;
    Ok(())
}
