//! Envoy with the native module, which watches the files by itself, or with the Wasm filters.

use std::mem;

use crawlpike_files::{Look, Origin};
use crawlpike_tests::envoy::{
    Filter, Listener, address, bootstrap, configuration, epoch_command, manager, start_epoch,
};
use crawlpike_tests::http::Request;
use crawlpike_tests::nginx::{Folder, ask};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::proc::memory;
use crawlpike_tests::process::Server;
use fastrand::Rng;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use crate::clients::pause;
use crate::gate::{DOCUMENT, Gate, put, wrong_lines};
use crate::scene::Scene;

pub(crate) struct Envoy {
    // Before the folder, so that Envoy is gone when its files go.
    process: Server,
    folder: Folder,
    filter: Filter,
    admin: u16,
    /// By which processes find the one that they take over from.
    base: String,
    epoch: usize,
    /// One for each process; the last one is that of the running process.
    logs: Vec<String>,
    /// The same files, each of which changes before that of Envoy: what Envoy may have in force is known before.
    before: Folder,
    /// The documents that the module reads, loaded in the same way in the other folder.
    origin: Origin,
}

impl Envoy {
    /// Starts it on the scene's port with the document in the folder.
    pub(crate) fn start(filter: Filter, [folder, before]: [Folder; 2], scene: &Scene, origin: u16) -> Self {
        let (admin, document) = (free_port(), folder.path().join(DOCUMENT));
        let listener = Listener { port: scene.port, filter: Value::Null, access_log: "/dev/null".to_owned() };
        let mut listener = configuration(&folder, &listener);
        let manager = manager(&mut listener);
        let filters = manager["http_filters"].as_array_mut().expect("filters");
        filters.splice(..1, filter.with_documents(&folder, &document));
        manager["request_headers_timeout"] = "5s".into();
        manager["common_http_protocol_options"] = json!({ "idle_timeout": "2s" });
        let mut bootstrap = bootstrap(&[listener], origin);
        bootstrap["admin"] = json!({ "address": address(admin) });
        folder.write("envoy.json", bootstrap.to_string());
        // A port is nobody else's.
        let base = scene.port.to_string();
        let origin = follow(&before, scene);
        let log = "envoy-0.log".to_owned();
        let process = start_epoch(&folder, &log, &base, 0);
        Self { process, folder, filter, admin, base, epoch: 0, logs: vec![log], before, origin }
    }

    /// Starts another process, of the epoch, beside the one that runs or did; gives that one.
    fn start_next(&mut self, scene: &Scene, epoch: usize) -> Server {
        let log = format!("envoy-{}.log", self.logs.len());
        self.origin = follow(&self.before, scene);
        let next = start_epoch(&self.folder, &log, &self.base, epoch);
        self.logs.push(log);
        self.epoch = epoch;
        mem::replace(&mut self.process, next)
    }

    /// Replaces or removes a file, and announces what the module will have in force then. Whether that will take it; `None`: there
    /// is not a change.
    fn put(&mut self, scene: &Scene, name: &str, text: Option<&str>) -> Option<bool> {
        put(&self.before, name, text);
        let mut compiled = loop {
            match self.origin.look() {
                Look::Unchanged => return None,
                Look::Changing | Look::Waiting => {}
                Look::Changed { made, .. } => break made,
            }
        };
        let is_good = compiled.ruleset.is_some();
        if is_good {
            self.origin.remember(mem::take(&mut compiled.good_feeds));
        }
        scene.add(&self.before, compiled);
        put(&self.folder, name, text);
        Some(is_good)
    }

    /// The running process's.
    fn log(&self) -> String {
        self.logs.last().map(|log| self.folder.read(log)).unwrap_or_default()
    }

    /// Starts Envoy with a document that it has to refuse.
    fn start_in_vain(&self, scene: &Scene) {
        let (log, folder) = ("refused.log", &self.folder);
        let document = folder.read(DOCUMENT);
        folder.write(DOCUMENT, "{ broken");
        folder.write(log, "");
        let mut command = epoch_command(folder, log, &self.base, 0);
        let stderr = folder.path().join("stderr-refused.log");
        Server::start("envoy", &mut command, &stderr, &[]).wait_for_end();
        if !folder.read(log).contains(&format!("{DOCUMENT}:1:3: error: not JSON")) {
            scene.fail(format!("the refusal of a document does not say why: {}", folder.read(log)));
        }
        folder.write(DOCUMENT, document);
    }
}

/// Reads the files as a process does that starts, and announces what it will have in force.
fn follow(folder: &Folder, scene: &Scene) -> Origin {
    let mut origin = Origin::follow(&folder.path().join(DOCUMENT));
    let mut compiled = origin.compile();
    assert!(compiled.ruleset.is_some(), "the document is right: {:#?}", compiled.diagnostics);
    origin.remember(mem::take(&mut compiled.good_feeds));
    scene.add(folder, compiled);
    origin
}

impl Gate for Envoy {
    fn change(&mut self, scene: &Scene, name: &str, text: Option<&str>) {
        let ends = ["in force after changes in", "refused after changes in"];
        let counts = |log: &str| ends.map(|end| log.matches(end).count());
        let [taken, refused] = counts(&self.log());
        let Some(is_good) = self.put(scene, name, text) else { return };
        let expected = if is_good { [taken + 1, refused] } else { [taken, refused + 1] };
        let (folder, log) = (&self.folder, self.logs.last().cloned().unwrap_or_default());
        self.process.wait_until("the module has taken or refused the files", || {
            (counts(&folder.read(&log)) == expected).then_some(())
        });
        scene.only_newest();
    }

    fn replace_processes(&mut self, scene: &Scene) {
        let mut before = self.start_next(scene, self.epoch + 1);
        before.wait_for_end();
        scene.only_newest();
    }

    fn kill(&mut self, scene: &Scene, random: &mut Rng, document: Option<&str>) {
        if let Some(text) = document {
            // The process may or may not still receive it.
            self.put(scene, DOCUMENT, Some(text));
            pause(random, 2500);
        }
        scene.while_killed(|| {
            self.process.signal(Signal::KILL);
            self.process.wait_for_end();
            // The Wasm filters do not read the file.
            if self.filter == Filter::Native && random.bool() {
                self.start_in_vain(scene);
            }
            self.start_next(scene, 0);
        });
        scene.only_newest();
    }

    fn reopen_logs(&self) {
        ask(self.admin, &Request::new("POST", "/reopen_logs", "admin"));
    }

    fn memory(&self) -> Vec<(&'static str, u64)> {
        vec![("Envoy", memory(self.main_process()).resident)]
    }

    fn main_process(&self) -> i32 {
        Pid::as_raw(Some(self.process.pid()))
    }

    fn problems_in_logs(&self) -> Vec<String> {
        let stderr = self.logs.iter().map(|log| format!("stderr-{log}"));
        let texts: String =
            self.logs.iter().cloned().chain(stderr).map(|log| self.folder.read(&log)).collect();
        wrong_lines(&texts, |line| {
            ["[critical]", "assert failure", "Segmentation fault", "internal error", "panicked"]
                .iter()
                .any(|word| line.contains(word))
        })
    }
}
