//! nginx with the module.

use crawlpike_files::FilesBeside;
use crawlpike_tests::nginx::{self, Folder};
use crawlpike_tests::proc::{children, memory, title};
use crawlpike_tests::process::wait_for;
use fastrand::Rng;
use rustix::process::{Pid, Signal, kill_process};

use crate::clients::pause;
use crate::gate::{DOCUMENT, Gate, put, wrong_lines};
use crate::scene::Scene;

/// The number of its workers.
const WORKERS: usize = 2;

pub(crate) struct Nginx {
    nginx: nginx::Nginx,
    /// The number of documents that it had to refuse.
    refused: usize,
    killed: Vec<i32>,
}

impl Nginx {
    /// Starts it on the scene's port with the document in the folder.
    pub(crate) fn start(folder: Folder, scene: &Scene, origin: u16) -> Self {
        let http = format!(
            "crawlpike_config {DOCUMENT};
            crawlpike_log_level info;
            set_real_ip_from 127.0.0.1;
            real_ip_header X-Forwarded-For;
            underscores_in_headers on;
            large_client_header_buffers 4 16k;
            client_header_timeout 3s;
            keepalive_timeout 3s;
            server {{
                listen 127.0.0.1:{port} backlog=1024;
                proxy_buffer_size 64k;
                proxy_buffers 4 64k;
                proxy_http_version 1.1;
                location / {{ proxy_pass http://127.0.0.1:{origin}; }}
                location /unbuffered/ {{ proxy_buffering off; proxy_pass http://127.0.0.1:{origin}; }}
                location = /status {{ crawlpike_status; }}
            }}",
            port = scene.port,
        );
        let nginx = nginx::Nginx::start(folder, &http);
        let gate = Self { nginx, refused: 0, killed: Vec::new() };
        assert!(gate.announce(scene), "the first document is right");
        gate
    }

    /// Compiles what lies in the folder, as nginx will; whether it will take it.
    fn announce(&self, scene: &Scene) -> bool {
        let path = self.folder().path().join(DOCUMENT);
        let compiled =
            crawlpike_files::compile(&path, &FilesBeside::new(&path)).expect("the document can be read");
        let is_good = compiled.ruleset.is_some();
        scene.add(self.folder(), compiled);
        is_good
    }

    /// Reloads, and waits until no worker takes connections that has what was before.
    fn reload(&mut self, scene: &Scene) {
        let before = self.workers();
        let is_good = self.announce(scene);
        self.nginx.reload();
        if is_good {
            self.wait_for_others_than(&before);
            scene.only_newest();
        } else {
            self.refused += 1;
            wait_for("nginx's refusal", || (self.refusals() == self.refused).then_some(()));
        }
    }

    /// The workers that take connections.
    fn workers(&self) -> Vec<i32> {
        let takes = |pid: &i32| {
            let title = title(*pid);
            title.contains("worker process") && !title.contains("shutting down")
        };
        children(self.main_process()).into_iter().filter(takes).collect()
    }

    /// Waits until none of these workers takes connections.
    fn wait_for_others_than(&self, before: &[i32]) {
        wait_for("other workers", || {
            let now = self.workers();
            (now.len() == WORKERS && now.iter().all(|worker| !before.contains(worker))).then_some(())
        });
    }

    /// The folder with the document, its files and the log.
    fn folder(&self) -> &Folder {
        self.nginx.folder()
    }

    /// The number of documents that nginx reports as refused.
    fn refusals(&self) -> usize {
        self.log().matches("is invalid, see the errors above").count()
    }

    fn log(&self) -> String {
        self.folder().read("error.log")
    }
}

impl Gate for Nginx {
    fn change(&mut self, scene: &Scene, name: &str, text: Option<&str>) {
        put(self.folder(), name, text);
        self.reload(scene);
    }

    fn replace_processes(&mut self, scene: &Scene) {
        self.reload(scene);
    }

    fn kill(&mut self, scene: &Scene, random: &mut Rng, document: Option<&str>) {
        scene.while_killed(|| {
            let mut gone = Vec::new();
            if let Some(text) = document {
                gone = self.workers();
                self.folder().write(DOCUMENT, text);
                self.announce(scene);
                self.nginx.reload();
                pause(random, 50);
            }
            let Some(victim) = random.choice(self.workers()) else { return };
            if let Some(pid) = Pid::from_raw(victim) {
                // It fails where the worker is gone, which its absence among the next ones shows, too.
                let _ = kill_process(pid, Signal::KILL);
            }
            gone.push(victim);
            self.wait_for_others_than(&gone);
            self.killed.push(victim);
        });
        scene.only_newest();
    }

    fn reopen_logs(&self) {
        self.nginx.server().signal(Signal::USR1);
    }

    fn memory(&self) -> Vec<(&'static str, u64)> {
        let resident = |pid: i32| memory(pid).resident;
        let workers = self.workers().into_iter().map(resident).max();
        vec![("master", resident(self.main_process())), ("largest worker", workers.unwrap_or_default())]
    }

    fn main_process(&self) -> i32 {
        Pid::as_raw(Some(self.nginx.server().pid()))
    }

    fn problems_in_logs(&self) -> Vec<String> {
        let is_our_kill = |line: &str| {
            line.contains("exited on signal 9")
                && self.killed.iter().any(|pid| line.contains(&format!("worker process {pid} exited")))
        };
        wrong_lines(&self.log(), |line| {
            let is_grave =
                ["[alert]", "[crit]", "exited on signal", "exited with code", "internal error", "panic"]
                    .iter()
                    .any(|word| line.contains(word));
            is_grave && !is_our_kill(line) && !line.contains("exited with code 0")
        })
    }
}
