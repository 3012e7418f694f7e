//! `crawlward envoy --watch`, without an Envoy: `tests/envoy` has one.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process};

use crate::envoy::arguments;
use crate::fixture::{CONFIG, Folder};

/// Longer than anything takes that is not broken; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The command, running; dropping it ends it.
struct Watcher<'f> {
    folder: &'f Folder,
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

/// The lines of a stream, as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        BufReader::new(stream).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    receiver
}

impl<'f> Watcher<'f> {
    fn start(folder: &'f Folder, more: &[&str]) -> Self {
        let mut child = folder.command(&arguments(folder, &[&["--watch"], more].concat())).spawn().unwrap();
        let (stdout, stderr) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        Self { folder, child, stdout, stderr }
    }

    /// The next line about a replacement, without its time.
    fn replaced(&self) -> String {
        let line = self.stdout.recv_timeout(PATIENCE).expect("a line about a replacement");
        let (time, rest) = line.split_once(' ').unwrap();
        assert!(time.ends_with('Z') && time.contains('T') && time.len() == 20, "{line}");
        rest.to_string()
    }

    /// Waits for a line of stderr that contains a text.
    fn says(&self, text: &str) {
        while !self.stderr.recv_timeout(PATIENCE).expect(text).contains(text) {}
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn version(&self, output: &str) -> String {
        let response: serde_json::Value = serde_json::from_str(&self.folder.read(output)).unwrap();
        response["version_info"].as_str().unwrap().to_string()
    }
}

impl Drop for Watcher<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_is_written_again_when_any_of_its_files_changes() {
    let folder = Folder::new();
    folder.write("partners.txt", "192.0.2.1\n");
    let watcher = Watcher::start(&folder, &["--output", "out.json"]);
    let first = watcher.replaced();
    let version = watcher.version("out.json");
    let prefixes: usize = first.split(' ').nth(3).unwrap().parse().unwrap();
    assert_eq!(first, format!("out.json: version {version}, {prefixes} prefixes, 0 warnings"));

    let expect = |change: &str, prefixes: usize, warnings: usize| {
        let (line, version) = (watcher.replaced(), watcher.version("out.json"));
        let expected = format!("out.json: version {version}, {prefixes} prefixes, {warnings} warnings");
        assert_eq!(line, expected, "{change}");
    };
    folder.write("partners.txt", "192.0.2.1\n192.0.2.2\n");
    expect("a feed, in place", prefixes + 1, 0);
    folder.write("new.txt", "192.0.2.1\n192.0.2.2\n192.0.2.3\n");
    fs::rename(folder.path("new.txt"), folder.path("partners.txt")).unwrap();
    expect("a feed, replaced by mv", prefixes + 2, 0);
    folder.write(
        "crawlward.json",
        CONFIG.replace("\"sites\"", "\"mode\": \"observe\", \"sites\"").replacen(
            "\"mode\": \"enforce\",",
            "",
            1,
        ),
    );
    expect("the document", prefixes + 2, 0);
    folder.write("crawlward.wasm", "\0asm, the next release");
    expect("the code", prefixes + 2, 0);
    fs::remove_file(folder.path("partners.txt")).unwrap();
    expect("a feed that goes: its last good version stays, so nothing but a state changes", prefixes + 2, 1);
}

#[test]
fn what_is_accepted_beside_it_is_taken_over() {
    let folder = Folder::new();
    folder.write("partners.txt", "192.0.2.1\n192.0.2.2\n");
    let watcher = Watcher::start(&folder, &["--output", "out.json"]);
    watcher.replaced();
    folder.write("partners.txt", "198.51.100.1\n");
    watcher.says("the feed `partners` is held");
    watcher.replaced();
    let accept = ["--output", "elsewhere.json", "--accept", "partners"];
    assert_eq!(folder.run(&arguments(&folder, &accept)).status, 0);
    assert!(watcher.replaced().ends_with(" 0 warnings"));
    assert_eq!(watcher.version("out.json"), watcher.version("elsewhere.json"));
}

#[test]
fn a_feed_that_becomes_stale_is_told_once() {
    let folder = Folder::new();
    let aging = CONFIG.replace(r#""name": "partners","#, r#""name": "partners", "max_age": "1h","#);
    folder.write("crawlward.json", aging);
    folder.write("partners.txt", "192.0.2.1\n");
    let modified = SystemTime::now() - Duration::from_secs(3600 - 4);
    File::options().write(true).open(folder.path("partners.txt")).unwrap().set_modified(modified).unwrap();
    let watcher = Watcher::start(&folder, &["--output", "out.json"]);
    assert!(watcher.replaced().ends_with(" 0 warnings"));
    let line = watcher.stderr.recv_timeout(PATIENCE).unwrap();
    let expected = "crawlward.json: warning: the feed `partners` is stale: it is 60m ";
    assert!(line.starts_with(expected) && line.contains("old, over its `max_age` of 60m; "), "{line}");
    // The next line is about the next change.
    folder.write("crawlward.json", CONFIG);
    assert!(watcher.replaced().ends_with(" 0 warnings"));
    assert!(watcher.stderr.try_recv().is_err());
}

#[test]
fn sighup_reads_at_once_and_writes_only_what_is_new() {
    let folder = Folder::new();
    fs::create_dir(folder.path("xds")).unwrap();
    let watcher = Watcher::start(&folder, &["--xds-dir", "xds", "--syntax", "yaml"]);
    watcher.replaced();
    let text = folder.read("xds/crawlward.yaml");
    // Nothing changed, so that there is nothing to say.
    watcher.signal(Signal::HUP);
    watcher.says("warning: the feed `partners` is missing");
    // Somebody else's change of the output is undone.
    folder.write("xds/crawlward.yaml", "resources: []\n");
    watcher.signal(Signal::HUP);
    assert!(watcher.replaced().starts_with("xds/crawlward.yaml: version "));
    assert_eq!(folder.read("xds/crawlward.yaml"), text);
    assert!(watcher.stdout.try_recv().is_err());
}

#[test]
fn what_does_not_compile_never_reaches_the_file() {
    let folder = Folder::new();
    folder.write("partners.txt", "192.0.2.1\n");
    let watcher = Watcher::start(&folder, &["--output", "out.json"]);
    watcher.replaced();
    let before = folder.read("out.json");
    folder.write("crawlward.json", CONFIG.replace("enforce", "enforced"));
    watcher.says("crawlward.json:2:11: error: `mode`: unknown value `enforced`");
    watcher.says("crawlward: out.json is left unchanged");
    fs::remove_file(folder.path("crawlward.json")).unwrap();
    watcher.says("crawlward.json: error: cannot be read: ");
    fs::remove_file(folder.path("crawlward.wasm")).unwrap();
    folder.write("crawlward.json", CONFIG);
    watcher.says("there is no file crawlward.wasm");
    assert_eq!(folder.read("out.json"), before);
    assert!(watcher.stdout.try_recv().is_err());
    // It goes on from there.
    folder.write("partners.txt", "192.0.2.1\n192.0.2.2\n");
    folder.write("crawlward.wasm", "\0asm");
    watcher.replaced();
    assert_ne!(folder.read("out.json"), before);
}

#[test]
fn what_could_not_be_written_is_written_when_it_can_be() {
    let folder = Folder::new();
    let watcher = Watcher::start(&folder, &["--output", "later/out.json"]);
    watcher.says("cannot write later/out.json: ");
    // No file that is read changes any more.
    fs::create_dir(folder.path("later")).unwrap();
    assert!(watcher.replaced().starts_with("later/out.json: version "));
}

#[test]
fn it_starts_where_there_is_nothing_yet() {
    let folder = Folder::new();
    fs::remove_file(folder.path("crawlward.json")).unwrap();
    let watcher = Watcher::start(&folder, &["--output", "out.json"]);
    watcher.says("crawlward.json: error: cannot be read: ");
    assert!(!folder.path("out.json").exists());
    folder.write("crawlward.json", CONFIG);
    watcher.replaced();
    assert!(folder.path("out.json").exists());
}

#[test]
fn sigterm_and_sigint_end_it_with_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let folder = Folder::new();
        let mut watcher = Watcher::start(&folder, &["--output", "out.json"]);
        watcher.replaced();
        watcher.signal(signal);
        assert_eq!(watcher.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn it_needs_a_file_to_write() {
    let folder = Folder::new();
    let done = folder.run(&arguments(&folder, &["--watch"]));
    assert_eq!(done.status, 2);
    assert!(done.stderr.contains("--output"), "{}", done.stderr);
}
