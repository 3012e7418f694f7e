//! Envoy processes with listeners made for one test.

mod configuration;
mod filter;

use std::path::Path;
use std::process::Command;
use std::{fs, thread};

use serde_json::{Value, json};

pub use self::configuration::{Listener, address, bootstrap, configuration, manager};
pub use self::filter::{
    Filter, RESOURCE, discovered_filter, filter_of_resource, native_filter, plugin_configuration,
    read_resource, replace_configuration, static_filter, update_resource, write_resource, write_resource_of,
    write_resource_with,
};
use crate::artefacts;
use crate::http::{Request, Response};
use crate::nginx::{Folder, ask};
use crate::origin::Origin;
use crate::ports::free_port;
use crate::process::{Server, program};

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
        let mut server =
            Server::start("envoy", &mut command, &stderr, &[log, folder.path().join("access.log")]);
        server.wait_until("Envoy is ready", || {
            let response = crate::http::send(crate::nginx::local(admin), &Request::get("/ready")).ok()?;
            (response.status == 200).then_some(())
        });
        Self { server, folder, admin }
    }

    /// The output of an Envoy that refuses a configuration with this filter, which `change` makes what a test needs.
    ///
    /// # Panics
    ///
    /// If Envoy can't be started, or accepts it.
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

    /// The values of all series of a metric, as Envoy shows them to Prometheus, each with its series.
    fn values(&self, metric: &str) -> Vec<(String, u64)> {
        let page = self.admin("/stats/prometheus");
        let lines = page.lines().filter_map(|line| line.rsplit_once(' '));
        let own = lines.filter(|(series, _)| series.split('{').next() == Some(metric));
        own.filter_map(|(series, value)| Some((series.to_owned(), value.parse().ok()?))).collect()
    }

    /// The value of a series, with its labels in braces; `None` where there is none.
    pub fn value(&self, series: &str) -> Option<u64> {
        let metric = series.split('{').next()?;
        self.values(metric).into_iter().find(|(own, _)| own == series).map(|(_, value)| value)
    }

    /// The sum of all series of a metric.
    pub fn sum(&self, metric: &str) -> u64 {
        self.values(metric).into_iter().map(|(_, value)| value).sum()
    }

    /// Envoy's count of something about the updates of a discovered filter.
    ///
    /// # Panics
    ///
    /// If it counts no such thing.
    pub fn update_count(&self, of: &str) -> u64 {
        let name = format!("extension_config_discovery.http_filter.crawlpike.{of}");
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
        self.folder.wait_for_line(log, text)
    }

    /// See [`Server::leave_running`].
    pub fn leave_running(&mut self) {
        self.server.leave_running();
        self.folder.keep();
    }
}

impl Drop for Envoy {
    /// Checks what debug builds of the native module report: see `envoy-module/src/envoy/kept.rs`.
    fn drop(&mut self) {
        let log = fs::read_to_string(self.folder.path().join("envoy.log")).unwrap_or_default();
        assert!(thread::panicking() || !log.contains("during a call that should enter none"), "{log}");
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
    /// Starts it with the filter of the folder's `crawlpike.json`.
    pub fn start(filter: Filter, folder: Folder) -> Self {
        Self::start_changed(filter, folder, |_| {})
    }

    /// The same; `change` makes the listener what a test needs.
    pub fn start_changed(filter: Filter, folder: Folder, change: impl FnOnce(&mut Value)) -> Self {
        let filter = filter.with(&folder, &folder.path().join("crawlpike.json"));
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
    // The folder of the native module.
    if let Some(modules) = artefacts::envoy_module().parent() {
        command.env("ENVOY_DYNAMIC_MODULES_SEARCH_PATH", modules);
    }
    command.arg("-c").arg(file);
    command
}

/// The time that a process stays after another one has taken over from it, in seconds.
const PARENT_SHUTDOWN_TIME: u32 = 5;

/// Starts Envoy with the folder's `envoy.json` as Envoy's hot restarter does, and waits until it serves. Epoch 0 takes over from
/// nobody, and each other one from the one before that has the same base.
pub fn start_epoch(folder: &Folder, log: &str, base: &str, epoch: usize) -> Server {
    let path = folder.path().join(log);
    let mut command = epoch_command(folder, log, base, epoch);
    let stderr = folder.path().join(format!("stderr-{log}"));
    let mut server = Server::start("envoy", &mut command, &stderr, &[path]);
    server.wait_until("Envoy initialises", || {
        folder.read(log).contains("all dependencies initialized. starting workers").then_some(())
    });
    server
}

/// The command that [`start_epoch`] starts.
pub fn epoch_command(folder: &Folder, log: &str, base: &str, epoch: usize) -> Command {
    let mut command = command(&[], &folder.path().join("envoy.json"));
    command.args(["--base-id", base, "--restart-epoch", &epoch.to_string(), "--concurrency", "2"]);
    command.args(["--drain-time-s", "1", "--parent-shutdown-time-s", &PARENT_SHUTDOWN_TIME.to_string()]);
    command.args(["--file-flush-interval-msec", "10"]).arg("--log-path").arg(folder.path().join(log));
    command
}
