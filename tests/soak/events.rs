//! What happens to nginx meanwhile: other documents and feeds, broken ones, reloads, the death of workers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::atomic::Ordering;

use crawlward_tests::artefacts::feeds;
use crawlward_tests::nginx::Folder;
use crawlward_tests::process::wait_for;
use fastrand::Rng;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::scene::{Scene, WORKERS};

const DOCUMENT: &str = "crawlward.json";
const FEEDS: [&str; 3] = ["google-googlebot.json", "lab.txt", "places.csv"];

const ROBOTS: [&str; 3] = [
    "User-agent: *\nDisallow: /private/\nAllow: /private/open/\n",
    "User-agent: LabBot\nDisallow: /search\n\nUser-agent: *\nAllow: /\n",
    "",
];
const PREFERENCES: &str = "scope: /\nallowed-methods: GET, HEAD\n\nscope: /search\nallowed-methods: GET\nallowed-purposes: search\n";

/// What a file may hold that is no feed.
const BROKEN: [&str; 6] =
    ["", "404 not found\n", "{ \"prefixes\": [ {", "<!DOCTYPE html>\n", "\u{0}\u{0}\u{0}", "[]"];

/// Writes what nginx starts with.
pub(crate) fn write_first(folder: &Folder) {
    folder.write(DOCUMENT, document(&mut Rng::with_seed(0)).to_string());
    for name in FEEDS {
        write_feed(folder, name, &mut Rng::with_seed(0));
    }
}

/// A document, of which much can be one way or another.
fn document(random: &mut Rng) -> Value {
    let word =
        |random: &mut Rng, words: &[&str]| random.choice(words.to_vec()).unwrap_or_default().to_owned();
    json!({
        "mode": word(random, &["enforce", "enforce", "enforce", "observe"]),
        "feeds": [
            { "name": "google-googlebot", "format": "jafar", "source": "google-googlebot.json" },
            { "name": "lab", "format": "cidr", "source": "lab.txt", "guard": "off" },
            { "name": "places", "format": "geofeed", "source": "places.csv", "guard": "off" },
        ],
        "agents": [
            { "token": "LabBot", "feeds": ["lab"], "action": word(random, &["policy", "policy", "allow"]) },
            { "token": "FriendBot", "feeds": [], "action": word(random, &["policy", "deny"]) },
        ],
        "sites": [
            {
                "hosts": ["example.com", "*.example.com"],
                "robots_txt": "robots.txt",
                "automation_preferences": "automation-preferences.txt",
                "spoofed": word(random, &["deny", "deny", "policy"]),
                "undeclared": word(random, &["allow", "policy"]),
                "geo": [ { "country": ["PL"], "action": word(random, &["deny", "allow"]) } ],
            },
            { "hosts": ["strict.example"], "robots_txt": "robots.txt", "unverified": "deny", "undeclared": "deny" },
        ],
        "files": {
            "robots.txt": { "text": word(random, &ROBOTS) },
            "automation-preferences.txt": { "text": PREFERENCES },
        },
    })
}

fn write_feed(folder: &Folder, name: &str, random: &mut Rng) {
    let text = match name {
        "lab.txt" => {
            (0..random.u8(1..9)).fold(String::new(), |mut text, _| {
                let _ = writeln!(text, "192.0.2.{}/27", random.u8(..8) * 32);
                text
            }) + "2001:db8::/48\n"
        }
        "places.csv" => {
            let country = random.choice(["PL", "US", "DE"]).unwrap_or_default();
            format!("192.0.2.0/25,{country},,,\n2001:db8:1::/48,PL,,,\n")
        }
        _ => fs::read_to_string(feeds().join(name)).expect("a feed that ships"),
    };
    folder.write(name, text);
}

/// What happened, by kind, and what nginx has to say of it.
pub(crate) struct Events<'s> {
    scene: &'s Scene,
    counts: BTreeMap<&'static str, usize>,
    /// How many documents nginx had to refuse.
    refused: usize,
    killed: Vec<i32>,
}

impl<'s> Events<'s> {
    pub(crate) fn new(scene: &'s Scene) -> Self {
        Self { scene, counts: BTreeMap::new(), refused: 0, killed: Vec::new() }
    }

    /// One event, whole: when it returns, it is done.
    pub(crate) fn happen(&mut self, random: &mut Rng) {
        let folder = self.scene.nginx.folder();
        let feed = random.choice(FEEDS).unwrap_or_default();
        let what = match random.u8(..12) {
            0 | 1 => {
                self.kill(random);
                "workers killed"
            }
            2 | 3 => {
                folder.write(DOCUMENT, document(random).to_string());
                self.reload();
                "reloads with another document"
            }
            4 => {
                folder.write(
                    DOCUMENT,
                    random.choice(["{ broken", "", "{\"mode\": \"enforced\"}"]).unwrap_or_default(),
                );
                self.reload();
                folder.write(DOCUMENT, document(random).to_string());
                "reloads with a document to be refused"
            }
            5 | 6 => {
                folder.write(feed, random.choice(BROKEN).unwrap_or_default());
                self.reload();
                "reloads with a broken feed"
            }
            7 => {
                let _ = fs::remove_file(folder.path().join(feed));
                self.reload();
                "reloads without a feed's file"
            }
            8..10 => {
                write_feed(folder, feed, random);
                self.reload();
                "reloads with another feed"
            }
            10 => {
                self.scene.nginx.server().signal(Signal::USR1);
                "logs opened again"
            }
            _ => {
                self.reload();
                "reloads with nothing new"
            }
        };
        *self.counts.entry(what).or_default() += 1;
    }

    /// Puts everything right, for the last look.
    pub(crate) fn mend_all(&mut self) {
        write_first(self.scene.nginx.folder());
        self.reload();
    }

    /// Reloads, and waits until no worker takes connections that has what was before.
    fn reload(&mut self) {
        let scene = self.scene;
        let Some(next) = scene.compile() else {
            self.refused += 1;
            scene.nginx.reload();
            let refused = self.refused;
            wait_for("nginx's refusal", || (self.refusals() == refused).then_some(()));
            return;
        };
        let before = scene.workers();
        scene.add(next);
        scene.nginx.reload();
        wait_for("the workers of a reload", || {
            let now = scene.workers();
            (now.len() == WORKERS && now.iter().all(|worker| !before.contains(worker))).then_some(())
        });
        scene.only_newest();
    }

    fn kill(&mut self, random: &mut Rng) {
        let scene = self.scene;
        let Some(victim) = random.choice(scene.workers()) else { return };
        scene.kills.fetch_add(1, Ordering::SeqCst);
        if let Some(pid) = Pid::from_raw(victim) {
            // It fails where the worker is gone, which its absence among the next ones shows, too.
            let _ = kill_process(pid, Signal::KILL);
        }
        wait_for("a worker in place of the killed one", || {
            let now = scene.workers();
            (now.len() == WORKERS && !now.contains(&victim)).then_some(())
        });
        scene.kills.fetch_add(1, Ordering::SeqCst);
        self.killed.push(victim);
    }

    /// How many documents nginx says that it refused.
    fn refusals(&self) -> usize {
        self.log().matches("is invalid, see the errors above").count()
    }

    fn log(&self) -> String {
        self.scene.nginx.folder().read("error.log")
    }

    /// A table of what happened.
    pub(crate) fn report(&self) -> String {
        let mut text = String::from("| event | times |\n|---|---|\n");
        for (what, times) in &self.counts {
            let _ = writeln!(text, "| {what} | {times} |");
        }
        text
    }

    /// Lines of the error log that tell of what should not be.
    pub(crate) fn problems_in_log(&self) -> Vec<String> {
        let is_our_kill = |line: &str| {
            line.contains("exited on signal 9")
                && self.killed.iter().any(|pid| line.contains(&format!("worker process {pid} exited")))
        };
        let is_wrong = |line: &&str| {
            let is_grave =
                ["[alert]", "[crit]", "exited on signal", "exited with code", "internal error", "panic"]
                    .iter()
                    .any(|word| line.contains(word));
            is_grave && !is_our_kill(line) && !line.contains("exited with code 0")
        };
        self.log().lines().filter(is_wrong).take(20).map(|line| format!("in the error log: {line}")).collect()
    }
}
