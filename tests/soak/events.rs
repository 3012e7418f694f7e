//! The events during the soak: other documents and feeds, broken ones, and the death of processes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use crawlpike_tests::artefacts::feeds;
use crawlpike_tests::nginx::Folder;
use fastrand::Rng;
use serde_json::json;

use crate::Topic;
use crate::gate::{DOCUMENT, Gate};
use crate::scene::{Scene, table};

const FEEDS: [&str; 3] = ["google-googlebot.json", "lab.txt", "places.csv"];

const ROBOTS: [&str; 3] = [
    "User-agent: *\nDisallow: /private/\nAllow: /private/open/\n",
    "User-agent: LabBot\nDisallow: /search\n\nUser-agent: *\nAllow: /\n",
    "",
];
const PREFERENCES: &str = "scope: /\nallowed-methods: GET, HEAD\n\nscope: /search\nallowed-methods: GET\nallowed-purposes: search\n";

/// Contents of a file that is not a feed.
const BROKEN: [&str; 6] = [
    "",
    "404 not found\n",
    "{ \"prefixes\": [ {",
    "<!DOCTYPE html><title>Log in</title>\n",
    "\u{0}\u{0}\u{0}",
    "[]",
];

/// Documents to be refused.
const REFUSED: [&str; 3] = ["{ broken", "", "{\"mode\": \"enforced\"}"];

/// The files that a gate starts with.
fn first_files() -> [(&'static str, String); 4] {
    let [google, lab, places] = FEEDS.map(|name| (name, feed(name, &mut Rng::with_seed(0))));
    [(DOCUMENT, document(&mut Rng::with_seed(0))), google, lab, places]
}

/// A folder with what a gate starts with. The last good versions of feeds are there, as `crawlpike update` leaves them: Envoy
/// starts beside a broken feed by them.
pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    for (name, text) in first_files() {
        if FEEDS.contains(&name) {
            folder.write(&format!("{name}.last-good"), &text);
        }
        folder.write(name, text);
    }
    folder
}

/// A document, of which much can be one way or another.
fn document(random: &mut Rng) -> String {
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
    .to_string()
}

fn feed(name: &str, random: &mut Rng) -> String {
    match name {
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
    }
}

/// The things that replace a feed by mistake.
fn broken_feed(name: &str, random: &mut Rng) -> String {
    match random.u8(..4) {
        // Cut off.
        0 => {
            let text = feed(name, random);
            text[..random.usize(..text.len())].to_owned()
        }
        _ => random.choice(BROKEN).unwrap_or_default().to_owned(),
    }
}

/// The events so far, by kind.
pub(crate) struct Events<'s> {
    scene: &'s Scene,
    pub(crate) gate: Box<dyn Gate>,
    topic: Topic,
    counts: BTreeMap<&'static str, usize>,
}

impl<'s> Events<'s> {
    pub(crate) fn new(scene: &'s Scene, gate: Box<dyn Gate>, topic: Topic) -> Self {
        Self { scene, gate, topic, counts: BTreeMap::new() }
    }

    /// One event, whole: when it returns, it is over. With `spared`, all processes live on.
    pub(crate) fn happen(&mut self, random: &mut Rng, spared: bool) {
        match self.topic {
            _ if !spared && random.u8(..4) == 0 => self.replace_something(random),
            Topic::Policies => self.change_something(random),
            // Those are the responsibility of the clients and the origin.
            Topic::Documents => {}
        }
    }

    /// A change of files, whole: when it returns, the gate has taken or refused it.
    fn change_something(&mut self, random: &mut Rng) {
        let name = random.choice(FEEDS).unwrap_or_default();
        let what = match random.u8(..12) {
            0..3 => {
                self.change(DOCUMENT, Some(&document(random)));
                "other documents"
            }
            3 => {
                self.change(DOCUMENT, random.choice(REFUSED));
                self.change(DOCUMENT, Some(&document(random)));
                "documents to be refused"
            }
            4..7 => {
                self.change(name, Some(&broken_feed(name, random)));
                "broken feeds"
            }
            7 => {
                self.change(name, None);
                "feeds without a file"
            }
            8..11 => {
                self.change(name, Some(&feed(name, random)));
                "other feeds"
            }
            _ => {
                self.gate.reopen_logs();
                "logs opened again"
            }
        };
        *self.counts.entry(what).or_default() += 1;
    }

    /// Other processes in the place of those that run, with a signal that they handle, or without.
    fn replace_something(&mut self, random: &mut Rng) {
        let what = if random.bool() {
            let document = (self.topic == Topic::Policies && random.bool()).then(|| document(random));
            self.gate.kill(self.scene, random, document.as_deref());
            "processes killed"
        } else {
            self.gate.replace_processes(self.scene);
            "processes replaced"
        };
        *self.counts.entry(what).or_default() += 1;
    }

    /// Puts everything right, for the last look.
    pub(crate) fn mend_all(&mut self) {
        if self.topic == Topic::Documents {
            return;
        }
        for (name, text) in first_files() {
            self.change(name, Some(&text));
        }
    }

    fn change(&mut self, name: &str, text: Option<&str>) {
        self.gate.change(self.scene, name, text);
    }

    /// A table of what happened.
    pub(crate) fn report(&self) -> String {
        table("events", &self.counts)
    }
}
