//! The configuration that Envoy is started with: a bootstrap, and listeners in front of an origin.

use crawlpike_core::metrics::{self, StatsTag};
use serde_json::{Value, json};

use crate::nginx::Folder;

/// The key and the type of what a cluster's protocol is configured with.
const UPSTREAM_OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/// A listener on a port of 127.0.0.1, with one HTTP filter before the origin.
#[derive(Clone, Debug)]
pub struct Listener {
    /// The port.
    pub port: u16,
    /// The element of `http_filters`.
    pub filter: Value,
    /// The access log's file, in the folder.
    pub access_log: String,
}

/// The `stats_tags` that turn parts of our statistics' names into labels.
fn stats_tags() -> Value {
    let tag = |tag: StatsTag| json!({ "tag_name": tag.name, "regex": tag.regex });
    metrics::stats_tags().into_iter().map(tag).collect()
}

/// A bootstrap with these listeners in front of an origin.
pub fn bootstrap(listeners: &[Value], origin: u16) -> Value {
    json!({
        "node": { "id": "crawlpike-tests", "cluster": "crawlpike-tests" },
        "stats_config": { "stats_tags": stats_tags() },
        // So that the metrics of the native module have the same names as those of the Wasm filter.
        "layered_runtime": { "layers": [{
            "name": "static",
            "static_layer": { "envoy.reloadable_features.dynamic_modules_strip_custom_stat_prefix": true },
        }] },
        "static_resources": {
            "listeners": listeners,
            "clusters": [{
                "name": "origin",
                "type": "STATIC",
                "typed_extension_protocol_options": { UPSTREAM_OPTIONS: {
                    "@type": format!("type.googleapis.com/{UPSTREAM_OPTIONS}"),
                    "explicit_http_config": { "http_protocol_options": { "enable_trailers": true } },
                } },
                "load_assignment": {
                    "cluster_name": "origin",
                    "endpoints": [{ "lb_endpoints": [{ "endpoint": { "address": address(origin) } }] }],
                },
            }],
        },
    })
}

/// The configuration of a listener; [`manager`] finds its HTTP connection manager.
pub fn configuration(folder: &Folder, listener: &Listener) -> Value {
    let routes = json!({
        "virtual_hosts": [{
            "name": "all",
            "domains": ["*"],
            "routes": [
                // As in `cases::SERVER_ANSWERS`.
                { "match": { "path": "/server/direct" }, "direct_response": { "status": 200 } },
                { "match": { "path": "/server/moved" }, "redirect": { "path_redirect": "/elsewhere" } },
                { "match": { "path": "/server/missing" }, "direct_response": { "status": 404 } },
                {
                    "match": { "path": "/server/tagged" },
                    "direct_response": { "status": 200 },
                    "response_headers_to_add": [{ "header": { "key": "X-Robots-Tag", "value": "noarchive" } }],
                },
                { "match": { "prefix": "/" }, "route": { "cluster": "origin" } },
            ],
        }],
    });
    let router = json!({
        "name": "envoy.filters.http.router",
        "typed_config": { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
    });
    let access_log = json!({
        "name": "envoy.access_loggers.file",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog",
            "path": folder.path().join(&listener.access_log),
            "log_format": { "json_format": {
                "case": "%REQ(X-TEST-CASE)%",
                "status": "%RESPONSE_CODE%",
                "wasm.crawlpike": "%FILTER_STATE(wasm.crawlpike:PLAIN)%",
                "crawlpike": "%FILTER_STATE(crawlpike:PLAIN)%",
                "details": "%RESPONSE_CODE_DETAILS%",
                "flags": "%RESPONSE_FLAGS%",
            } },
        },
    });
    json!({
        "name": format!("listener-{}", listener.port),
        "address": address(listener.port),
        "filter_chains": [{ "filters": [{
            "name": "envoy.filters.network.http_connection_manager",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                "stat_prefix": format!("listener-{}", listener.port),
                // The client's address is what one trusted proxy before us says in X-Forwarded-For.
                "use_remote_address": true,
                "xff_num_trusted_hops": 1,
                "route_config": routes,
                "http_filters": [listener.filter, router],
                "access_log": [access_log],
            },
        }] }],
    })
}

/// The HTTP connection manager of a configured listener.
///
/// # Panics
///
/// If the value is something else.
pub fn manager(listener: &mut Value) -> &mut Value {
    listener.pointer_mut("/filter_chains/0/filters/0/typed_config").expect("a connection manager")
}

/// The address of a port of 127.0.0.1.
pub fn address(port: u16) -> Value {
    json!({ "socket_address": { "address": "127.0.0.1", "port_value": port } })
}
