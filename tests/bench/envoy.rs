//! `make bench-envoy`.

use std::path::Path;
use std::slice;

use crawlpike_tests::envoy::{Envoy, Filter, filter_of_resource, write_resource_with};
use crawlpike_tests::nginx::{Folder, local};
use crawlpike_tests::ports::free_port;
use rustix::process::Pid;
use serde_json::{Value, json};

use crate::Effort;
use crate::callgrind;
use crate::envoy_peers::{lua, rbac};
use crate::rounds::{Candidate, SERVER_CORE, measure, table};
use crate::world::{Kind, World, compiled};

/// The number of prefixes of RBAC and Crawlpike.
const SIZES: [usize; 2] = [3_000, 300_000];

/// One listener of the comparison.
pub(crate) struct Variant {
    name: String,
    pub(crate) port: u16,
    /// Its filter before the router; none in bare Envoy.
    filter: Option<Value>,
    /// True if it denies spoofed agents.
    denies: bool,
}

impl Variant {
    pub(crate) fn new(name: impl Into<String>, filter: Option<Value>, denies: bool) -> Self {
        Self { name: name.into(), port: free_port(), filter, denies }
    }

    /// The candidate that an Envoy serves.
    pub(crate) fn candidate(&self, envoy: &Envoy, kind: Kind) -> Candidate {
        Candidate {
            name: self.name.clone(),
            address: local(self.port),
            pid: Pid::as_raw(Some(envoy.server().pid())),
            helper: None,
            denies: self.denies && kind == Kind::Spoofed,
        }
    }

    /// The cost of a request of each kind.
    fn instructions(&self, world: &World) -> [f64; Kind::ALL.len()] {
        /// Enough for the compiler of the Wasm runtime to have made of all functions what it will.
        const WARM_UP: usize = 6;
        let folder = Folder::new();
        let under = callgrind::command(folder.path());
        let under: Vec<&str> = under.iter().map(String::as_str).collect();
        let envoy = Envoy::boot(folder, bootstrap(slice::from_ref(self)), 1, &under);
        let server = callgrind::Server {
            pid: envoy.server().pid(),
            folder: envoy.folder().path(),
            address: local(self.port),
            warm_up: WARM_UP,
        };
        server.instructions(world)
    }
}

/// Measures and prints; `empty_gates` is the folder with the Wasm filter and the module that do nothing. Of the candidates, bare Envoy takes part, and those
/// whose names contain `only`.
pub(crate) fn report(effort: Effort, empty_gates: &Path, only: &str) {
    let empty_filter = &empty_gates.join("empty-filter.wasm");
    let worlds = SIZES.map(World::new);
    let largest = &worlds[SIZES.len() - 1];
    let mut variants = vec![
        Variant::new("bare Envoy", None, false),
        Variant::new("empty Wasm filter", Some(wasm("empty", empty_filter, "")), false),
        Variant::new("Wasm filter that reads", Some(wasm("reads", empty_filter, "reads")), false),
        Variant::new("empty module", Some(module(&empty_gates.join("libempty_module.so"))), false),
        Variant::new("Lua, one agent", Some(lua(&worlds[0])), true),
    ];
    for world in &worlds {
        variants.push(Variant::new(name_of_rbac(world), Some(rbac(world)), true));
    }
    for gate in [Filter::Wasm, Filter::Native] {
        for world in &worlds {
            let mut documents = vec![
                (&world.document, "no site"),
                (&world.document_with_policies, "a site with both policies"),
            ];
            if gate == Filter::Wasm {
                documents.push((&world.document_with_hops, "no site, trusted_hops"));
            }
            for (document, what) in documents {
                let name = format!("Crawlpike, {}, {} prefixes, {what}", gate.name(), world.prefixes);
                variants.push(Variant::new(name, Some(crawlpike(gate, world.folder(), document)), true));
            }
        }
    }
    let mut place = 0;
    variants.retain(|variant| {
        place += 1;
        place == 1 || variant.name.contains(only)
    });
    println!("# Envoy\n");
    if !effort.is_of_instructions_alone() {
        report_rates(&variants, largest, effort);
    }
    // A hundred times slower under valgrind, RBAC would go through its 300,000 prefixes for hours.
    variants.retain(|variant| variant.name != name_of_rbac(largest));
    let counts =
        callgrind::table(&variants, |variant| &variant.name, |variant| variant.instructions(largest));
    println!("## Instructions a request, in user space\n\n{counts}");
}

/// Measures and prints requests per second.
fn report_rates(variants: &[Variant], largest: &World, effort: Effort) {
    let core = SERVER_CORE.to_string();
    let envoy = Envoy::boot(Folder::new(), bootstrap(variants), 1, &["taskset", "-c", &core]);
    println!(
        "One worker on a core of its own, wrk on another; a direct response; {} rounds of {:?}; medians, ratios to the \
         first line.\n",
        effort.rounds, effort.turn
    );
    for kind in Kind::ALL {
        let clients = largest.clients(kind);
        let candidates: Vec<Candidate> =
            variants.iter().map(|variant| variant.candidate(&envoy, kind)).collect();
        eprintln!("bench: {}", kind.name());
        println!("## {}\n\n{}", kind.name(), table(&measure(&candidates, &clients, effort)));
    }
}

fn name_of_rbac(world: &World) -> String {
    format!("RBAC, {} prefixes", world.prefixes)
}

pub(crate) fn bootstrap<'v>(variants: impl IntoIterator<Item = &'v Variant>) -> Value {
    json!({ "static_resources": { "listeners": variants.into_iter().map(listener).collect::<Vec<Value>>() } })
}

/// A gate with a document: the native module reads it, and the Wasm filter has it compiled.
fn crawlpike(gate: Filter, folder: &Folder, document: &Path) -> Value {
    match gate {
        Filter::Wasm => {
            let resource = document.with_extension("resource.json");
            let output = write_resource_with(&compiled(document), &resource, &[]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            filter_of_resource(&resource)
        }
        Filter::Native => gate.with(folder, document),
    }
}

/// The filter that does nothing, or next to nothing, as it is configured.
fn wasm(name: &str, path: &Path, configuration: &str) -> Value {
    json!({
        "name": name,
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
            "config": {
                "name": name,
                "vm_config": {
                    "runtime": "envoy.wasm.runtime.v8",
                    "code": { "local": { "filename": path } },
                },
                "configuration": {
                    "@type": "type.googleapis.com/google.protobuf.StringValue",
                    "value": configuration,
                },
            },
        },
    })
}

/// The module that does nothing.
fn module(path: &Path) -> Value {
    json!({
        "name": "empty-module",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter",
            "dynamic_module_config": { "module": { "local": { "filename": path } } },
            "filter_name": "empty",
        },
    })
}

/// A listener that answers by itself, so that nothing but Envoy and the filter is measured.
pub(crate) fn listener(variant: &Variant) -> Value {
    let router = json!({
        "name": "envoy.filters.http.router",
        "typed_config": { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
    });
    let filters: Vec<Value> = variant.filter.iter().cloned().chain([router]).collect();
    json!({
        "name": variant.name,
        "address": { "socket_address": { "address": "127.0.0.1", "port_value": variant.port } },
        "filter_chains": [{ "filters": [{
            "name": "envoy.filters.network.http_connection_manager",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                "stat_prefix": format!("listener-{}", variant.port),
                "use_remote_address": true,
                "xff_num_trusted_hops": 1,
                "route_config": { "virtual_hosts": [{
                    "name": "all",
                    "domains": ["*"],
                    "routes": [{
                        "match": { "prefix": "/" },
                        "direct_response": { "status": 200, "body": { "inline_string": "ok\n" } },
                    }],
                }] },
                "http_filters": filters,
            },
        }] }],
    })
}
