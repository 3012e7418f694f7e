//! The host functions that the filters use, and the size of their code.

use std::fs;
use std::path::Path;

use crawlpike_tests::artefacts;
use wasmparser::{Parser, Payload};

/// Every function that the filter may call: those that it calls itself or through the SDK, and what Rust's standard library
/// needs for `RUST_BACKTRACE`, messages, `abort`, and the random key of the budget for signatures. A new one is a decision, because hosts other than Envoy may lack it. The
/// filter can open no connection, because no function here does.
pub(crate) const IMPORTS: &[&str] = &[
    "env.proxy_add_header_map_value",
    // Functions of Envoy's own: only its `declare_property`.
    "env.proxy_call_foreign_function",
    "env.proxy_define_metric",
    "env.proxy_get_buffer_bytes",
    "env.proxy_get_current_time_nanoseconds",
    "env.proxy_get_header_map_pairs",
    "env.proxy_get_header_map_value",
    "env.proxy_get_property",
    "env.proxy_get_shared_data",
    "env.proxy_increment_metric",
    "env.proxy_log",
    "env.proxy_record_metric",
    "env.proxy_remove_header_map_value",
    "env.proxy_replace_header_map_value",
    "env.proxy_send_local_response",
    "env.proxy_set_property",
    "env.proxy_set_shared_data",
    "env.proxy_set_tick_period_milliseconds",
    "wasi_snapshot_preview1.environ_get",
    "wasi_snapshot_preview1.environ_sizes_get",
    "wasi_snapshot_preview1.fd_write",
    "wasi_snapshot_preview1.proc_exit",
    "wasi_snapshot_preview1.random_get",
];

/// The exports of the filter. Every callback costs each request, even one that does nothing.
pub(crate) const EXPORTS: &[&str] = &[
    "_initialize",
    "memory",
    "proxy_abi_version_0_2_1",
    "proxy_on_configure",
    "proxy_on_context_create",
    "proxy_on_delete",
    "proxy_on_memory_allocate",
    "proxy_on_request_headers",
    "proxy_on_request_trailers",
    "proxy_on_response_headers",
    "proxy_on_tick",
];

/// The same of the filter that makes documents of pages.
pub(crate) const IMPORTS_OF_DOCUMENTS: &[&str] = &[
    "env.proxy_add_header_map_value",
    "env.proxy_define_metric",
    "env.proxy_get_buffer_bytes",
    "env.proxy_get_current_time_nanoseconds",
    "env.proxy_get_header_map_pairs",
    "env.proxy_get_header_map_value",
    "env.proxy_get_property",
    "env.proxy_increment_metric",
    "env.proxy_log",
    "env.proxy_remove_header_map_value",
    "env.proxy_replace_header_map_value",
    "env.proxy_send_local_response",
    "env.proxy_set_buffer_bytes",
    "env.proxy_set_property",
    "wasi_snapshot_preview1.environ_get",
    "wasi_snapshot_preview1.environ_sizes_get",
    "wasi_snapshot_preview1.fd_write",
    "wasi_snapshot_preview1.proc_exit",
    "wasi_snapshot_preview1.random_get",
];

/// The exports of that filter.
pub(crate) const EXPORTS_OF_DOCUMENTS: &[&str] = &[
    "_initialize",
    "memory",
    "proxy_abi_version_0_2_1",
    "proxy_on_configure",
    "proxy_on_context_create",
    "proxy_on_delete",
    "proxy_on_log",
    "proxy_on_memory_allocate",
    "proxy_on_request_headers",
    "proxy_on_response_body",
    "proxy_on_response_headers",
    "proxy_on_response_trailers",
];

#[test]
fn the_filters_import_and_export_what_they_are_known_to() {
    assert_eq!(imports_and_exports(&artefacts::wasm()), (of(IMPORTS), of(EXPORTS)));
    let documents = imports_and_exports(&artefacts::wasm_documents());
    assert_eq!(documents, (of(IMPORTS_OF_DOCUMENTS), of(EXPORTS_OF_DOCUMENTS)));
}

fn of(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn imports_and_exports(code: &Path) -> (Vec<String>, Vec<String>) {
    let code = fs::read(code).unwrap();
    let (mut imports, mut exports) = (Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(&code) {
        match payload.unwrap() {
            Payload::ImportSection(section) => imports.extend(section.into_imports().map(|import| {
                let import = import.unwrap();
                format!("{}.{}", import.module, import.name)
            })),
            Payload::ExportSection(section) => {
                exports.extend(section.into_iter().map(|export| export.unwrap().name.to_owned()));
            }
            _ => {}
        }
    }
    imports.sort_unstable();
    exports.sort_unstable();
    (imports, exports)
}

/// Every Envoy that fetches its filters fetches all of it.
#[test]
fn the_filter_is_at_most_one_megabyte() {
    const MOST: u64 = 1_000_000;
    let size = fs::metadata(artefacts::wasm()).unwrap().len();
    assert!(size <= MOST, "{size} bytes");
}
