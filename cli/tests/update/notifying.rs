//! The server, or a command, is notified of changes: once, and only of changes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::fixture::{BETTER, GOOD, Lab, says};

/// A process that writes a line for each SIGHUP, in the place of nginx's master.
fn listener(lab: &Lab) -> (Child, BufReader<std::process::ChildStdout>) {
    let script = "trap 'echo signalled' HUP; echo ready; while :; do sleep 0.02; done";
    // A shell can't trap what its parent ignores, as what runs under nohup does.
    let mut child = Command::new("env")
        .args(["--default-signal=HUP", "sh", "-c", script])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    lab.write("nginx.pid", format!("{}\n", child.id()));
    (child, lines)
}

#[test]
fn the_server_is_signalled_when_something_changed() {
    let lab = Lab::new(says(&["Cache-Control: no-cache"], GOOD));
    let (mut child, mut lines) = listener(&lab);
    let mut signals = String::new();
    let run = |more: &[&str]| {
        let done = lab.update(
            &[&["--pid-file", "nginx.pid", "--exec", "echo x >>notified; echo to stderr"], more].concat(),
        );
        done.ends(0);
        (done, lab.lines("notified"))
    };
    let (done, executed) = run(&[]);
    assert_eq!((executed, &*done.stderr), (1, "to stderr\n"));
    lines.read_line(&mut signals).unwrap();
    assert_eq!(run(&[]).1, 1, "nothing changed");
    lab.publisher.answer(says(&["Cache-Control: no-cache"], BETTER));
    assert_eq!(run(&["--dry-run"]).1, 1);
    assert_eq!(run(&[]).1, 2);
    lines.read_line(&mut signals).unwrap();
    // With `max_age`, the server has to learn that the file is current.
    lab.age("lab.txt", Duration::from_secs(3 * 86_400));
    assert_eq!(run(&[]).1, 2);
    lab.configure(&[json!({ "max_age": "7d" })]);
    lab.age("lab.txt", Duration::from_secs(3 * 86_400));
    assert_eq!(run(&[]).1, 3);
    lines.read_line(&mut signals).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(signals, "signalled\nsignalled\nsignalled\n");
    assert_eq!(lines.lines().count(), 0, "a signal too many");
}

#[test]
fn a_server_that_does_not_run_needs_no_signal() {
    let lab = Lab::new(says(&["Cache-Control: no-cache"], GOOD));
    lab.update(&["--pid-file", "nginx.pid"])
        .ends(0)
        .says("note: nginx.pid does not exist, so there is no server to signal");
    let (mut child, _) = listener(&lab);
    child.kill().unwrap();
    child.wait().unwrap();
    lab.publisher.answer(says(&["Cache-Control: no-cache"], BETTER));
    lab.update(&["--pid-file", "nginx.pid"]).ends(0).says("no process has the number in nginx.pid");
}

#[test]
fn a_notification_that_failed_is_sent_by_the_next_run() {
    let lab = Lab::new(says(&["Cache-Control: no-cache"], GOOD));
    for (content, reason) in [
        ("nginx", "nginx.pid does not contain the number of a process"),
        ("0", "nginx.pid does not contain"),
        ("-1", "nginx.pid does not contain"),
        ("", "nginx.pid does not contain"),
    ] {
        lab.write("nginx.pid", content);
        lab.update(&["--pid-file", "nginx.pid", "--exec", "exit 3"])
            .ends(2)
            .says(reason)
            .says("exit status: 3");
        assert_eq!(lab.read("lab.txt"), GOOD);
    }
    assert_eq!(lab.publisher.asked().len(), 4);
    assert_eq!(lab.update(&["--exec", "touch notified"]).status, 0);
    assert!(lab.path("notified").exists());
    fs::remove_file(lab.path("notified")).unwrap();
    assert_eq!(lab.update(&["--exec", "touch notified"]).status, 0);
    assert!(!lab.path("notified").exists());
}

#[test]
fn a_run_that_does_its_best_succeeds_with_the_last_good_version() {
    let lab = Lab::updated();
    lab.publisher.answer(says(&["Cache-Control: no-cache"], "<!doctype html>"));
    let done = lab.update(&["--best-effort"]);
    assert_eq!((done.status, &*lab.read("lab.txt")), (0, GOOD), "{done:?}");
    done.says("lab.txt is left unchanged");
    // A mistake in the configuration is none of the publisher's.
    lab.write("crawlpike.json", "{");
    assert_eq!(lab.update(&["--best-effort"]).status, 2);
}
