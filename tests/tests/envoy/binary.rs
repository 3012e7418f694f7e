//! What the filter's code asks of its host, and how large it is.

use std::fs;

use crawlward_tests::artefacts;
use crawlward_tests::envoy::static_filter;
use crawlward_tests::lab::lab;
use wasmparser::{Parser, Payload};

/// Every function that the filter may call: those of `host_calls`, those that the SDK's traits name whether they are
/// called or not, and what Rust's standard library needs for `RUST_BACKTRACE`, messages and `abort`. A new one is a
/// decision: hosts other than Envoy may lack it.
const IMPORTS: &[&str] = &[
    "env.proxy_add_header_map_value",
    "env.proxy_call_foreign_function",
    "env.proxy_close_stream",
    "env.proxy_continue_stream",
    "env.proxy_define_metric",
    "env.proxy_dequeue_shared_queue",
    "env.proxy_done",
    "env.proxy_enqueue_shared_queue",
    "env.proxy_get_buffer_bytes",
    "env.proxy_get_current_time_nanoseconds",
    "env.proxy_get_header_map_pairs",
    "env.proxy_get_header_map_value",
    "env.proxy_get_property",
    "env.proxy_get_shared_data",
    "env.proxy_get_status",
    "env.proxy_grpc_call",
    "env.proxy_grpc_cancel",
    "env.proxy_grpc_close",
    "env.proxy_grpc_send",
    "env.proxy_grpc_stream",
    "env.proxy_http_call",
    "env.proxy_increment_metric",
    "env.proxy_log",
    "env.proxy_record_metric",
    "env.proxy_register_shared_queue",
    "env.proxy_remove_header_map_value",
    "env.proxy_replace_header_map_value",
    "env.proxy_resolve_shared_queue",
    "env.proxy_send_local_response",
    "env.proxy_set_buffer_bytes",
    "env.proxy_set_effective_context",
    "env.proxy_set_header_map_pairs",
    "env.proxy_set_property",
    "env.proxy_set_shared_data",
    "env.proxy_set_tick_period_milliseconds",
    "wasi_snapshot_preview1.environ_get",
    "wasi_snapshot_preview1.environ_sizes_get",
    "wasi_snapshot_preview1.fd_write",
    "wasi_snapshot_preview1.proc_exit",
];

#[test]
fn the_filter_imports_what_it_is_known_to_import() {
    let code = fs::read(artefacts::wasm()).unwrap();
    let mut imports = Vec::new();
    for payload in Parser::new(0).parse_all(&code) {
        if let Payload::ImportSection(section) = payload.unwrap() {
            for import in section.into_imports() {
                let import = import.unwrap();
                imports.push(format!("{}.{}", import.module, import.name));
            }
        }
    }
    imports.sort_unstable();
    assert_eq!(imports, IMPORTS);
}

/// Every Envoy that fetches its filters fetches all of it.
#[test]
fn the_filter_is_at_most_one_megabyte() {
    const MOST: u64 = 1_000_000;
    let size = fs::metadata(artefacts::wasm()).unwrap().len();
    assert!(size <= MOST, "{size} bytes");
}

#[test]
fn what_the_filter_calls_is_permitted_by_the_resource() {
    let folder = lab();
    let filter = static_filter(&folder, &folder.path().join("crawlward.json"));
    let pointer = "/typed_config/config/capability_restriction_config/allowed_capabilities";
    let permitted = filter.pointer(pointer).and_then(|map| map.as_object()).unwrap();
    let source = fs::read_to_string(artefacts::repository().join("envoy-filter/src/host_calls.rs")).unwrap();
    let calls: Vec<&str> = source
        .split("    fn ")
        .filter_map(|part| part.split_once('('))
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("proxy_"))
        .collect();
    assert!(calls.len() > 5, "{calls:?}");
    for call in calls {
        assert!(permitted.contains_key(call), "{call}");
    }
}
