//! Envoy processes with listeners made for one test.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crawlward_core::metrics::{self, StatsTag};
use serde_json::{Value, json};

use crate::artefacts;
use crate::http::{Request, Response};
use crate::nginx::{Folder, ask};
use crate::origin::Origin;
use crate::ports::free_port;
use crate::process::{Server, program, wait_for};

/// The type of the Wasm filter's configuration.
const WASM_TYPE: &str = "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm";

/// The type of the filter that stands in for it.
const HEADER_MUTATION_TYPE: &str =
    "type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation";

/// The type of the native module's configuration.
const MODULE_TYPE: &str =
    "type.googleapis.com/envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter";

/// The key and the type of what a cluster's protocol is configured with.
const UPSTREAM_OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/// A gate of ours in Envoy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The Proxy-Wasm filter.
    Wasm,
    /// The dynamic module.
    Native,
}

impl Filter {
    /// The element of `http_filters` for the document at `config`. The Wasm filter has it inlined; the module reads it.
    ///
    /// # Panics
    ///
    /// Where the document is refused.
    pub fn with(self, folder: &Folder, config: &Path) -> Value {
        match self {
            Self::Wasm => static_filter(folder, config),
            Self::Native => native_filter(&json!({ "config": config }).to_string()),
        }
    }

    /// The elements of `http_filters` for the document at `config`, documents of pages included.
    ///
    /// # Panics
    ///
    /// Where the document is refused.
    pub fn with_documents(self, folder: &Folder, config: &Path) -> Vec<Value> {
        let policies = self.with(folder, config);
        if self == Self::Native {
            return vec![policies];
        }
        let to = folder.path().join("documents.resource.json");
        let output =
            write_resource_of(&artefacts::wasm_documents(), config, &to, &["--name", "crawlward-documents"]);
        assert!(output.status.success(), "crawlward envoy: {}", String::from_utf8_lossy(&output.stderr));
        vec![policies, filter_of_resource(&to)]
    }

    /// Writes a resource with the compiled ruleset of the document at `config`, which may be compiled itself, as a file that
    /// Envoy can watch.
    ///
    /// # Panics
    ///
    /// Where the document is refused.
    pub fn write_resource(self, config: &Path, to: &Path) {
        let output = write_resource_with(config, to, &["--form", "compiled"]);
        assert!(output.status.success(), "crawlward envoy: {}", String::from_utf8_lossy(&output.stderr));
        if self == Self::Native {
            let ruleset = plugin_configuration(&mut read_resource(to)).take();
            let mut resource = native_filter("");
            resource["@type"] = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig".into();
            resource["typed_config"]["filter_config"] =
                json!({ "@type": "type.googleapis.com/google.protobuf.BytesValue", "value": ruleset });
            fs::write(to, json!({ "resources": [resource] }).to_string()).expect("a folder of ours");
        }
    }

    /// How tables name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wasm => "Wasm",
            Self::Native => "native",
        }
    }

    /// The name of its filter state.
    pub fn state(self) -> &'static str {
        match self {
            Self::Wasm => "wasm.crawlward",
            Self::Native => "crawlward",
        }
    }
}

/// The native module with this configuration, for a static `http_filters`.
pub fn native_filter(configuration: &str) -> Value {
    json!({
        "name": "crawlward",
        "typed_config": {
            "@type": MODULE_TYPE,
            "dynamic_module_config": { "name": "crawlward_envoy" },
            "filter_name": "crawlward",
            "filter_config": { "@type": "type.googleapis.com/google.protobuf.StringValue", "value": configuration },
        },
    })
}

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

/// A running Envoy with its folder.
#[derive(Debug)]
pub struct Envoy {
    // Before the folder, so that Envoy is gone when its files go.
    server: Server,
    folder: Folder,
    admin: u16,
}

impl Envoy {
    /// Starts Envoy with the listeners, all of them in front of one origin, and waits until it serves.
    pub fn start(folder: Folder, listeners: &[Listener], origin: u16) -> Self {
        let configured: Vec<_> = listeners.iter().map(|listener| configuration(&folder, listener)).collect();
        Self::start_configured(folder, &configured, origin)
    }

    /// Starts it with one listener, which logs to `access.log`; `change` makes the listener what a test needs. Gives the
    /// listener's port, too.
    pub fn start_one(
        folder: Folder,
        filter: Value,
        origin: u16,
        change: impl FnOnce(&mut Value),
    ) -> (Self, u16) {
        let port = free_port();
        let listener = Listener { port, filter, access_log: "access.log".into() };
        let mut configured = configuration(&folder, &listener);
        change(&mut configured);
        (Self::start_configured(folder, &[configured], origin), port)
    }

    fn start_configured(folder: Folder, listeners: &[Value], origin: u16) -> Self {
        // Two workers, so that each has a virtual machine of its own.
        Self::boot(folder, bootstrap(listeners, origin), 2, &[])
    }

    /// Starts Envoy with a bootstrap, to which its administration is added, and so many workers, and waits until it
    /// serves. `under` is the command that runs it, with arguments, such as `taskset`; empty: none.
    pub fn boot(folder: Folder, mut bootstrap: Value, workers: usize, under: &[&str]) -> Self {
        let admin = free_port();
        bootstrap["admin"] = json!({ "address": address(admin) });
        folder.write("envoy.json", format!("{bootstrap:#}"));
        Self::boot_file(folder, "envoy.json", admin, workers, under)
    }

    /// The same with a file in the folder, which says that the administration is at the port `admin`.
    pub fn boot_file(folder: Folder, file: &str, admin: u16, workers: usize, under: &[&str]) -> Self {
        let (log, stderr) = (folder.path().join("envoy.log"), folder.path().join("stderr.log"));
        let mut command = command(under, &folder.path().join(file));
        command.arg("--disable-hot-restart");
        command.arg("--log-path").arg(&log).args(["--concurrency", &workers.to_string()]);
        // At once, because tests wait for lines of the logs.
        command.args(["--file-flush-interval-msec", "10"]);
        // Which else lists all of its extensions.
        command.args(["--component-log-level", "main:warning"]);
        let mut server = Server::start("envoy", &mut command, &stderr, &[log]);
        server.wait_until("Envoy is ready", || {
            let response = crate::http::send(crate::nginx::local(admin), &Request::get("/ready")).ok()?;
            (response.status == 200).then_some(())
        });
        Self { server, folder, admin }
    }

    /// What an Envoy writes that refuses a configuration with this filter, which `change` makes what a test needs.
    ///
    /// # Panics
    ///
    /// Where Envoy can't be started, or accepts it.
    pub fn refused(folder: Folder, filter: Value, change: impl FnOnce(&mut Value)) -> String {
        let listener = Listener { port: free_port(), filter, access_log: "access.log".into() };
        let mut configured = configuration(&folder, &listener);
        change(&mut configured);
        let bootstrap = bootstrap(&[configured], free_port());
        folder.write("envoy.json", format!("{bootstrap:#}"));
        let mut command = command(&[], folder.path().join("envoy.json").as_path());
        let output = command
            .args(["--disable-hot-restart", "--mode", "validate"])
            .output()
            .expect("Envoy can be started");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "accepted: {text}");
        text
    }

    /// The folder with its configuration and logs.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// A page of Envoy's administration.
    pub fn admin(&self, path: &str) -> String {
        ask(self.admin, &Request::get(path)).text()
    }

    /// Envoy's count of something about the updates of a discovered filter.
    ///
    /// # Panics
    ///
    /// Where it counts no such thing.
    pub fn update_count(&self, of: &str) -> u64 {
        let name = format!("extension_config_discovery.http_filter.crawlward.{of}");
        let text = self.admin(&format!("/stats?filter=^{name}$"));
        text.trim().rsplit(": ").next().and_then(|count| count.parse().ok()).expect("a count")
    }

    /// The port of Envoy's administration.
    pub fn admin_port(&self) -> u16 {
        self.admin
    }

    /// The process.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Waits until a line of a log contains a text, and gives the line.
    pub fn wait_for_line(&self, log: &str, text: &str) -> String {
        wait_for(&format!("{text:?} in {log}"), || {
            self.folder.read(log).lines().find(|line| line.contains(text)).map(str::to_owned)
        })
    }

    /// See [`Server::leave_running`].
    pub fn leave_running(&mut self) {
        self.server.leave_running();
        self.folder.keep();
    }
}

/// An Envoy with one listener, in front of an origin of its own.
#[derive(Debug)]
pub struct Gate {
    /// It logs to `access.log`.
    pub envoy: Envoy,
    /// The listener's.
    pub port: u16,
    _origin: Origin,
}

impl Gate {
    /// Starts it with the filter of the folder's `crawlward.json`.
    pub fn start(filter: Filter, folder: Folder) -> Self {
        Self::start_changed(filter, folder, |_| {})
    }

    /// The same; `change` makes the listener what a test needs.
    pub fn start_changed(filter: Filter, folder: Folder, change: impl FnOnce(&mut Value)) -> Self {
        let filter = filter.with(&folder, &folder.path().join("crawlward.json"));
        Self::start_with(folder, filter, change)
    }

    /// Starts it with the filter that is in a file of the folder, such as [`RESOURCE`], and whatever filter comes to be
    /// there.
    pub fn discover(folder: Folder, resource: &str) -> Self {
        let filter = discovered_filter(&folder.path().join(resource));
        Self::start_with(folder, filter, |_| {})
    }

    /// Starts it with this element of `http_filters`.
    pub fn start_with(folder: Folder, filter: Value, change: impl FnOnce(&mut Value)) -> Self {
        let origin = Origin::start();
        let (envoy, port) = Envoy::start_one(folder, filter, origin.port(), change);
        Self { envoy, port, _origin: origin }
    }

    /// The folder with its configuration and logs.
    pub fn folder(&self) -> &Folder {
        self.envoy.folder()
    }

    /// The response to a request.
    pub fn ask(&self, request: &Request) -> Response {
        ask(self.port, request)
    }

    /// Its status.
    pub fn status(&self, request: &Request) -> u16 {
        self.ask(request).status
    }
}

/// Envoy with a configuration. Without `--disable-hot-restart`, it needs a `--base-id` of its own.
pub fn command(under: &[&str], file: &Path) -> Command {
    let mut command = program(under, artefacts::envoy());
    // Where it finds the native module.
    if let Some(modules) = artefacts::envoy_module().parent() {
        command.env("ENVOY_DYNAMIC_MODULES_SEARCH_PATH", modules);
    }
    command.arg("-c").arg(file);
    command
}

/// The file in a folder that [`update_resource`] writes.
pub const RESOURCE: &str = "resource.json";

/// Makes [`RESOURCE`] of the folder's `crawlward.json`.
///
/// # Panics
///
/// Where the document is refused.
pub fn update_resource(folder: &Folder) {
    let output = write_resource(&folder.path().join("crawlward.json"), &folder.path().join(RESOURCE));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Gives [`RESOURCE`] another plugin configuration, which may be one that `crawlward envoy` refuses to write. As that
/// does, it writes beside the file and moves it there.
pub fn replace_configuration(folder: &Folder, configuration: &str) {
    let mut resource = read_resource(&folder.path().join(RESOURCE));
    *plugin_configuration(&mut resource) = configuration.into();
    folder.write(RESOURCE, json!({ "resources": [resource] }).to_string());
}

/// Runs `crawlward envoy`, which writes the filter's resource, as a file that Envoy can watch; with the document, which
/// the filter itself then compiles.
///
/// # Panics
///
/// Where the command can't be started.
pub fn write_resource(config: &Path, to: &Path) -> Output {
    write_resource_with(config, to, &["--form", "document"])
}

/// Runs `crawlward envoy` with these arguments besides.
///
/// # Panics
///
/// Where the command can't be started.
pub fn write_resource_with(config: &Path, to: &Path, arguments: &[&str]) -> Output {
    write_resource_of(&artefacts::wasm(), config, to, arguments)
}

/// Runs it for the filter with this code.
///
/// # Panics
///
/// Where the command can't be started.
pub fn write_resource_of(wasm: &Path, config: &Path, to: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(artefacts::cli());
    command.args(["envoy", "--config"]).arg(config).arg("--wasm").arg(wasm);
    command.args(arguments).arg("--output").arg(to).output().expect("the command line can be started")
}

/// The filter that `crawlward envoy` makes of a configuration, for a static `http_filters`.
///
/// # Panics
///
/// Where it refuses the configuration.
pub fn static_filter(folder: &Folder, config: &Path) -> Value {
    let name = config.file_stem().expect("a file name").to_string_lossy();
    let to = folder.path().join(format!("{name}.resource.json"));
    let output = write_resource(config, &to);
    assert!(output.status.success(), "crawlward envoy: {}", String::from_utf8_lossy(&output.stderr));
    filter_of_resource(&to)
}

/// The filter in a resource that `crawlward envoy` wrote, for a static `http_filters`.
pub fn filter_of_resource(path: &Path) -> Value {
    let resource = read_resource(path);
    json!({ "name": resource["name"], "typed_config": resource["typed_config"] })
}

/// The filter that Envoy takes from a file, and again whenever another file is moved there.
pub fn discovered_filter(resource: &Path) -> Value {
    json!({
        "name": "crawlward",
        "config_discovery": {
            "config_source": { "path_config_source": { "path": resource }, "resource_api_version": "V3" },
            // Where the first one is refused; see examples/demo/envoy.yaml.
            "default_config": {
                "@type": HEADER_MUTATION_TYPE,
                "mutations": { "request_mutations": [{ "remove": "x-crawlward" }, { "remove": "x_crawlward" }] },
            },
            "type_urls": [WASM_TYPE, MODULE_TYPE, HEADER_MUTATION_TYPE],
        },
    })
}

/// The resource in the discovery response that `crawlward envoy` writes.
///
/// # Panics
///
/// Where the file is something else.
pub fn read_resource(path: &Path) -> Value {
    let text = fs::read(path).expect("the resource that was written");
    let mut response: Value = serde_json::from_slice(&text).expect("a resource in JSON");
    response["resources"][0].take()
}

/// The plugin configuration within a filter's resource: the document with its files, or the compiled ruleset in base64.
///
/// # Panics
///
/// Where there is none.
pub fn plugin_configuration(resource: &mut Value) -> &mut Value {
    let path = match resource["typed_config"]["@type"] == MODULE_TYPE {
        true => "/typed_config/filter_config/value",
        false => "/typed_config/config/configuration/value",
    };
    resource.pointer_mut(path).expect("a configuration")
}

/// The `stats_tags` that turn parts of our statistics' names into labels.
fn stats_tags() -> Value {
    let tag = |tag: StatsTag| json!({ "tag_name": tag.name, "regex": tag.regex });
    metrics::stats_tags().into_iter().map(tag).collect()
}

/// A bootstrap with these listeners in front of an origin.
pub fn bootstrap(listeners: &[Value], origin: u16) -> Value {
    json!({
        "node": { "id": "crawlward-tests", "cluster": "crawlward-tests" },
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
                // What `cases::SERVER_ANSWERS` says.
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
                "wasm.crawlward": "%FILTER_STATE(wasm.crawlward:PLAIN)%",
                "crawlward": "%FILTER_STATE(crawlward:PLAIN)%",
                "details": "%RESPONSE_CODE_DETAILS%",
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
/// Where the value is something else.
pub fn manager(listener: &mut Value) -> &mut Value {
    listener.pointer_mut("/filter_chains/0/filters/0/typed_config").expect("a connection manager")
}

/// The address of a port of 127.0.0.1.
pub fn address(port: u16) -> Value {
    json!({ "socket_address": { "address": "127.0.0.1", "port_value": port } })
}
