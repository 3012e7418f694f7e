//! `crawlpike envoy --watch`, without an Envoy: `tests/envoy` has one.

use std::fs::{self, File};
use std::thread;
use std::time::{Duration, SystemTime};

use crawlpike_tests::watcher::Watcher;
use rustix::process::Signal;

use crate::envoy::arguments;
use crate::fixture::{CONFIG, Folder};

/// Starts `crawlpike envoy --watch`.
fn start(folder: &Folder, more: &[&str]) -> Watcher {
    Watcher::start(&mut folder.command(&arguments(folder, &[&["--watch"], more].concat())))
}

/// The version of what was written.
fn version_of(folder: &Folder, output: &str) -> String {
    let response: serde_json::Value = serde_json::from_str(&folder.read(output)).unwrap();
    response["version_info"].as_str().unwrap().to_string()
}

#[test]
fn it_is_written_again_when_any_of_its_files_changes() {
    let folder = Folder::new();
    folder.write("partners.txt", "192.0.2.1\n");
    let watcher = start(&folder, &["--output", "out.json"]);
    let first = watcher.line();
    let version = version_of(&folder, "out.json");
    let prefixes: usize = first.split(' ').nth(3).unwrap().parse().unwrap();
    assert_eq!(first, format!("out.json: version {version}, {prefixes} prefixes, 0 warnings"));

    let expect = |change: &str, prefixes: usize, warnings: usize| {
        let (line, version) = (watcher.line(), version_of(&folder, "out.json"));
        let expected = format!("out.json: version {version}, {prefixes} prefixes, {warnings} warnings");
        assert_eq!(line, expected, "{change}");
    };
    folder.write("partners.txt", "192.0.2.1\n192.0.2.2\n");
    expect("a feed, in place", prefixes + 1, 0);
    folder.write("new.txt", "192.0.2.1\n192.0.2.2\n192.0.2.3\n");
    fs::rename(folder.path("new.txt"), folder.path("partners.txt")).unwrap();
    expect("a feed, replaced by mv", prefixes + 2, 0);
    folder.write(
        "crawlpike.json",
        CONFIG.replace("\"sites\"", "\"mode\": \"observe\", \"sites\"").replacen(
            "\"mode\": \"enforce\",",
            "",
            1,
        ),
    );
    expect("the document", prefixes + 2, 0);
    folder.write("crawlpike.wasm", "\0asm, the next release");
    expect("the code", prefixes + 2, 0);
    fs::remove_file(folder.path("partners.txt")).unwrap();
    expect("a feed that goes: its last good version stays, so nothing but a state changes", prefixes + 2, 1);
}

#[test]
fn what_is_accepted_beside_it_is_taken_over() {
    let folder = Folder::new();
    folder.write("partners.txt", "192.0.2.1\n192.0.2.2\n");
    let watcher = start(&folder, &["--output", "out.json"]);
    watcher.line();
    folder.write("partners.txt", "198.51.100.1\n");
    watcher.says("the feed `partners` is held");
    watcher.line();
    let accept = ["--output", "elsewhere.json", "--accept", "partners"];
    assert_eq!(folder.run(&arguments(&folder, &accept)).status, 0);
    assert!(watcher.line().ends_with(" 0 warnings"));
    assert_eq!(version_of(&folder, "out.json"), version_of(&folder, "elsewhere.json"));
}

#[test]
fn a_feed_that_becomes_stale_is_reported_once() {
    let folder = Folder::new();
    let aging = CONFIG.replace(r#""name": "partners","#, r#""name": "partners", "max_age": "1h","#);
    folder.write("crawlpike.json", aging);
    folder.write("partners.txt", "192.0.2.1\n");
    let modified = SystemTime::now() - Duration::from_secs(3600 - 4);
    File::options().write(true).open(folder.path("partners.txt")).unwrap().set_modified(modified).unwrap();
    let watcher = start(&folder, &["--output", "out.json"]);
    assert!(watcher.line().ends_with(" 0 warnings"));
    let line = watcher.stderr.next("a line of stderr");
    let expected = "crawlpike.json: warning: the feed `partners` is stale: it is 60m ";
    assert!(line.starts_with(expected) && line.contains("old, over its `max_age` of 60m; "), "{line}");
    // The next line is about the next change.
    folder.write("crawlpike.json", CONFIG);
    assert!(watcher.line().ends_with(" 0 warnings"));
    assert!(watcher.stderr.arrived().is_empty());
}

#[test]
fn sighup_reads_at_once_and_writes_only_what_is_new() {
    let folder = Folder::new();
    fs::create_dir(folder.path("xds")).unwrap();
    let watcher = start(&folder, &["--xds-dir", "xds", "--syntax", "yaml"]);
    watcher.line();
    let text = folder.read("xds/crawlpike.yaml");
    // Nothing changed, so that there is nothing to say.
    watcher.signal(Signal::HUP);
    watcher.says("warning: the feed `partners` is missing");
    // Somebody else's change of the output is undone.
    folder.write("xds/crawlpike.yaml", "resources: []\n");
    watcher.signal(Signal::HUP);
    assert!(watcher.line().starts_with("xds/crawlpike.yaml: version "));
    assert_eq!(folder.read("xds/crawlpike.yaml"), text);
    assert!(watcher.stdout.arrived().is_empty());
}

#[test]
fn what_does_not_compile_never_reaches_the_file() {
    let folder = Folder::new();
    folder.write("partners.txt", "192.0.2.1\n");
    let watcher = start(&folder, &["--output", "out.json"]);
    watcher.line();
    let before = folder.read("out.json");
    folder.write("crawlpike.json", CONFIG.replace("enforce", "enforced"));
    watcher.says("crawlpike.json:2:11: error: `mode`: unknown value `enforced`");
    watcher.says("crawlpike: out.json is left unchanged");
    fs::remove_file(folder.path("crawlpike.json")).unwrap();
    watcher.says("crawlpike.json: error: cannot be read: ");
    fs::remove_file(folder.path("crawlpike.wasm")).unwrap();
    folder.write("crawlpike.json", CONFIG);
    watcher.says("there is no file crawlpike.wasm");
    assert_eq!(folder.read("out.json"), before);
    assert!(watcher.stdout.arrived().is_empty());
    // It goes on from there.
    folder.write("partners.txt", "192.0.2.1\n192.0.2.2\n");
    folder.write("crawlpike.wasm", "\0asm");
    watcher.line();
    assert_ne!(folder.read("out.json"), before);
}

#[test]
fn a_feed_of_which_nothing_is_left_stays_in_the_resource_until_sighup() {
    let folder = Folder::new();
    folder.write("crawlpike.json", CONFIG.replace("partners.txt", "feeds/partners.txt"));
    fs::create_dir(folder.path("feeds")).unwrap();
    folder.write("feeds/partners.txt", "192.0.2.1\n");
    let watcher = start(&folder, &["--output", "out.json"]);
    watcher.line();
    let before = folder.read("out.json");
    // As when its file system is no longer mounted.
    fs::rename(folder.path("feeds"), folder.path("away")).unwrap();
    let lost = "crawlpike.json: error: the feed `partners` was in force, and no version of it is left: restore its file, or reload";
    watcher.says(lost);
    watcher.says("crawlpike: out.json is left unchanged");
    folder.write("googlebot.json", folder.read("googlebot.json") + "\n");
    watcher.says(lost);
    assert_eq!(folder.read("out.json"), before);
    watcher.signal(Signal::HUP);
    watcher.line();
    assert_ne!(folder.read("out.json"), before);
}

#[test]
fn what_could_not_be_written_is_written_when_it_can_be() {
    let folder = Folder::new();
    let watcher = start(&folder, &["--output", "later/out.json"]);
    watcher.says("cannot write later/out.json: ");
    // No file that is read changes any more.
    fs::create_dir(folder.path("later")).unwrap();
    assert!(watcher.line().starts_with("later/out.json: version "));
}

#[test]
fn what_could_not_be_written_is_not_forgotten_when_a_file_comes_and_goes() {
    let folder = Folder::new();
    let watcher = start(&folder, &["--output", "later/out.json"]);
    watcher.says("cannot write later/out.json: ");
    // No two looks in a row find the same.
    for last in 0..30 {
        folder.write("partners.txt", format!("192.0.2.{last}\n"));
        thread::sleep(Duration::from_millis(100));
    }
    fs::remove_file(folder.path("partners.txt")).unwrap();
    fs::create_dir(folder.path("later")).unwrap();
    assert!(watcher.line().starts_with("later/out.json: version "));
}

#[test]
fn it_starts_where_there_is_nothing_yet() {
    let folder = Folder::new();
    fs::remove_file(folder.path("crawlpike.json")).unwrap();
    let watcher = start(&folder, &["--output", "out.json"]);
    watcher.says("crawlpike.json: error: cannot be read: ");
    assert!(!folder.path("out.json").exists());
    folder.write("crawlpike.json", CONFIG);
    watcher.line();
    assert!(folder.path("out.json").exists());
}

#[test]
fn sigterm_and_sigint_end_it_with_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let folder = Folder::new();
        let mut watcher = start(&folder, &["--output", "out.json"]);
        watcher.line();
        assert_eq!(watcher.ends(signal), Some(0));
    }
}

#[test]
fn it_needs_a_file_to_write() {
    let folder = Folder::new();
    let done = folder.run(&arguments(&folder, &["--watch"]));
    assert_eq!(done.status, 2);
    assert!(done.stderr.contains("--output"), "{}", done.stderr);
}
