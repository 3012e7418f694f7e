//! `crawlward update --watch`.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crawlward_tests::publisher::respond;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::fixture::{BETTER, GOOD, Lab, now, says};

/// Longer than anything takes that is not broken; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The command, running; dropping it ends it.
struct Watcher {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        BufReader::new(stream).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    receiver
}

impl Watcher {
    fn start(lab: &Lab, more: &[&str]) -> Self {
        let mut child = lab.command(&[&["--watch"], more].concat()).spawn().unwrap();
        let (stdout, stderr) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        Self { child, stdout, stderr }
    }

    /// The next line of stdout, without its time.
    fn line(&self) -> String {
        let line = self.stdout.recv_timeout(PATIENCE).expect("a line");
        let (time, rest) = line.split_once(' ').unwrap();
        assert!(time.ends_with('Z') && time.contains('T') && time.len() == 20, "{line}");
        rest.to_owned()
    }

    /// Waits for a line of stderr that contains a text.
    fn says(&self, text: &str) {
        while !self.stderr.recv_timeout(PATIENCE).expect(text).contains(text) {}
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// The exit status after a signal.
    fn ends(&mut self, signal: Signal) -> Option<i32> {
        self.signal(signal);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn each_feed_is_asked_for_when_it_is_due() {
    // JAFAR-14
    let lab = Lab::new(says(&["ETag: \"1\""], GOOD));
    assert_eq!(lab.update(&[]).status, 0);
    // The last answer was an hour ago, and is fresh for two seconds more.
    lab.remember(&json!({ "asked": now() - 3600, "due": now() + 2 }));
    lab.publisher.asked();
    lab.publisher.answer(says(&[], BETTER));
    let mut watcher = Watcher::start(&lab, &["--exec", "cp lab.txt seen.txt"]);
    assert_eq!(watcher.line(), "lab: updated, 4 prefixes (1 added, 0 removed), IPv4 addresses +25.0% -0.0%");
    assert_eq!(lab.publisher.asked().len(), 1);
    assert_eq!(watcher.ends(Signal::TERM), Some(0));
    assert_eq!([lab.read("lab.txt"), lab.read("seen.txt")], [BETTER, BETTER]);
}

#[test]
fn a_permission_to_ask_at_once_is_not_used_up() {
    // JAFAR-15
    let lab = Lab::new(says(&["Cache-Control: max-age=1"], GOOD));
    let mut watcher = Watcher::start(&lab, &[]);
    assert_eq!(watcher.line(), "lab: updated, 3 prefixes");
    watcher.signal(Signal::HUP);
    thread::sleep(Duration::from_millis(3500));
    assert_eq!(lab.publisher.asked().len(), 1);
    assert_eq!(watcher.ends(Signal::INT), Some(0));
}

#[test]
fn a_changed_configuration_is_taken_and_an_invalid_one_is_not() {
    let lab = Lab::new(says(&[], GOOD));
    lab.write("crawlward.json", "{");
    let mut watcher = Watcher::start(&lab, &[]);
    watcher.says("crawlward.json:1:1: error: not JSON");
    lab.configure(&[json!({})]);
    assert_eq!(watcher.line(), "lab: updated, 3 prefixes");
    lab.write("crawlward.json", "{}}");
    watcher.says("note: the configuration before this change stays in force");
    lab.configure(&[json!({}), json!({ "name": "more", "source": "more.txt" })]);
    assert_eq!(watcher.line(), "more: updated, 3 prefixes");
    assert_eq!(lab.publisher.asked().len(), 2);
    assert_eq!(watcher.ends(Signal::TERM), Some(0));
}

#[test]
fn a_publisher_that_takes_its_time_does_not_keep_it_from_ending() {
    let lab = Lab::new(|_, connection| {
        thread::sleep(PATIENCE);
        respond(connection, "200 OK", &[], GOOD)
    });
    let mut watcher = Watcher::start(&lab, &[]);
    while lab.publisher.asked().is_empty() {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(watcher.ends(Signal::TERM), Some(0));
    assert!(!lab.path("lab.txt").exists());
}

#[test]
fn what_fails_is_told_once() {
    let lab = Lab::new(|_, connection| respond(connection, "500 Internal Server Error", &[], ""));
    let mut watcher = Watcher::start(&lab, &["--json"]);
    watcher.says("error: the feed `lab` is not updated: the answer is 500 Internal Server Error");
    let report: serde_json::Value =
        serde_json::from_str(&watcher.stdout.recv_timeout(PATIENCE).unwrap()).unwrap();
    assert_eq!(report["outcome"], "failed");
    watcher.signal(Signal::HUP);
    thread::sleep(Duration::from_millis(2500));
    assert_eq!(watcher.ends(Signal::TERM), Some(0));
    assert_eq!((watcher.stdout.try_iter().count(), watcher.stderr.try_iter().count()), (0, 0));
    assert_eq!(lab.publisher.asked().len(), 1);
}
