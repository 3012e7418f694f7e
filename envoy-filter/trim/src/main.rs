//! Trims a linked filter of Envoy: `crawlpike-trim IN OUT`.
//!
//! The SDK exports all callbacks of the Proxy-Wasm ABI. Envoy calls each callback that a module exports, which costs a
//! request some 2,000 instructions even if the callback does nothing. So only those stay that the filter implements. A callback
//! that the filter exports by its name with `own_` before it takes the place of the SDK's.
//!
//! The SDK's traits also keep imports that the filter never calls, because a table of a trait's methods refers to all of them.
//! Each of these imports becomes a function that traps. Its imports then show all that
//! the filter can ask of its host; a connection, for example, is not among them.
//!
//! In a filter that is built for tests of failing calls, a call fails if the filter's function with its name and `due_` before it
//! returns another number than 0.

use std::error::Error;
use std::path::Path;
use std::{env, process};

use walrus::{ExportItem, ImportKind, InstrSeqBuilder, Module, ModuleConfig, ValType, passes};

/// The parts that differ in each filter.
struct Filter {
    /// The file that is linked, without its extension.
    linked: &'static str,
    /// The names that Envoy finds in the filter, besides [`EXPORTS`].
    exports: &'static [&'static str],
    /// The functions that the SDK's traits can call and the filter never calls, besides [`NEVER_CALLED`].
    never_called: &'static [&'static str],
}

const FILTERS: [Filter; 2] = [
    Filter {
        linked: "crawlpike_envoy",
        exports: &["proxy_on_request_trailers", "proxy_on_tick"],
        never_called: &["proxy_set_buffer_bytes"],
    },
    Filter {
        linked: "crawlpike_envoy_documents",
        exports: &["proxy_on_log", "proxy_on_response_body", "proxy_on_response_trailers"],
        never_called: &[
            "proxy_call_foreign_function",
            "proxy_get_shared_data",
            "proxy_set_shared_data",
            "proxy_set_tick_period_milliseconds",
        ],
    },
];

/// The names that Envoy finds in each filter.
const EXPORTS: [&str; 9] = [
    "_initialize",
    "memory",
    "proxy_abi_version_0_2_1",
    "proxy_on_configure",
    "proxy_on_context_create",
    "proxy_on_delete",
    "proxy_on_memory_allocate",
    "proxy_on_request_headers",
    "proxy_on_response_headers",
];

/// The functions that the SDK's traits can call and no filter calls.
const NEVER_CALLED: [&str; 16] = [
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
    "proxy_set_effective_context",
    "proxy_set_header_map_pairs",
];

/// Precedes the name of a callback that takes the place of the SDK's.
const OWN: &str = "own_";

/// Precedes the name of a call of the host in that of the function that says if it has to fail.
const DUE: &str = "due_";

/// `InternalFailure` of the Proxy-Wasm ABI.
const FAILURE: i32 = 10;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [from, to] = arguments.as_slice() else {
        eprintln!("usage: crawlpike-trim IN OUT");
        process::exit(2);
    };
    if let Err(error) = trim(from, to) {
        eprintln!("crawlpike-trim: {from}: {error:#}");
        process::exit(1);
    }
}

fn trim(from: &str, to: &str) -> Result<(), Box<dyn Error>> {
    let mut module = ModuleConfig::new()
        .generate_name_section(false)
        .generate_producers_section(false)
        .parse_file(from)?;
    let stem = Path::new(from).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let filter = FILTERS.iter().find(|filter| filter.linked == stem).ok_or("not one of the filters")?;
    let owned: Vec<_> = module.exports.iter().filter(|export| export.name.starts_with(OWN)).collect();
    let owned: Vec<_> =
        owned.iter().map(|export| (export.id(), export.name[OWN.len()..].to_owned())).collect();
    for (own, name) in owned {
        module.exports.remove(&name)?;
        module.exports.get_mut(own).name = name;
    }
    fail_on_demand(&mut module)?;
    let expected = || EXPORTS.iter().chain(filter.exports);
    let (kept, dropped): (Vec<_>, Vec<_>) =
        module.exports.iter().partition(|export| expected().any(|name| *name == export.name));
    if kept.len() != expected().count() {
        return Err(format!(
            "exports {} of the {} functions that Envoy needs",
            kept.len(),
            expected().count()
        )
        .into());
    }
    for export in dropped.iter().map(|export| export.id()).collect::<Vec<_>>() {
        module.exports.delete(export);
    }
    passes::gc::run(&mut module);
    for name in NEVER_CALLED.iter().chain(filter.never_called) {
        if let Ok(function) = module.imports.get_func("env", name) {
            module.replace_imported_func(function, |(body, _)| {
                body.unreachable();
            })?;
        }
    }
    module.emit_wasm_file(to)?;
    Ok(())
}

/// Has calls of the host fail where the filter has functions that ask for it.
fn fail_on_demand(module: &mut Module) -> Result<(), Box<dyn Error>> {
    let asked: Vec<_> = module
        .exports
        .iter()
        .filter_map(|export| match export.item {
            ExportItem::Function(is_due) => Some((export.name.strip_prefix(DUE)?.to_owned(), is_due)),
            _ => None,
        })
        .collect();
    for (name, is_due) in asked {
        // The SDK and the filter each declare a call that both make.
        let calls = module.imports.iter().filter(|import| import.name == name);
        let calls: Vec<_> = calls
            .filter_map(|import| match import.kind {
                ImportKind::Function(call) => Some(call),
                _ => None,
            })
            .collect();
        for call in calls {
            let (real, _) = module.add_import_func("env", &name, module.funcs.get(call).ty());
            module.replace_imported_func(call, |(body, arguments)| {
                let fail = |body: &mut InstrSeqBuilder| {
                    body.i32_const(FAILURE);
                };
                let make = |body: &mut InstrSeqBuilder| {
                    for argument in arguments {
                        body.local_get(*argument);
                    }
                    body.call(real);
                };
                body.call(is_due).if_else(ValType::I32, fail, make);
            })?;
        }
    }
    Ok(())
}
