//! The server, or a command, is told of changes: once, and only of changes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::fixture::{BETTER, GOOD, Lab, says};

/// A process that writes a line for each SIGHUP, in the place of nginx's master.
fn listener(lab: &Lab) -> (Child, BufReader<std::process::ChildStdout>) {
    let script = "trap 'echo told' HUP; echo ready; while :; do sleep 0.02; done";
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
    let mut told = String::new();
    let run = |more: &[&str]| {
        let done = lab.update(
            &[&["--pid-file", "nginx.pid", "--exec", "echo x >>told; echo to stderr"], more].concat(),
        );
        assert_eq!(done.status, 0, "{done:?}");
        (done, lab.lines("told"))
    };
    let (done, executed) = run(&[]);
    assert_eq!((executed, &*done.stderr), (1, "to stderr\n"));
    lines.read_line(&mut told).unwrap();
    assert_eq!(run(&[]).1, 1, "nothing changed");
    lab.publisher.answer(says(&["Cache-Control: no-cache"], BETTER));
    assert_eq!(run(&["--dry-run"]).1, 1);
    assert_eq!(run(&[]).1, 2);
    lines.read_line(&mut told).unwrap();
    // With `max_age`, the server has to learn that the file is current.
    lab.age("lab.txt", Duration::from_secs(3 * 86_400));
    assert_eq!(run(&[]).1, 2);
    lab.configure(&[json!({ "max_age": "7d" })]);
    lab.age("lab.txt", Duration::from_secs(3 * 86_400));
    assert_eq!(run(&[]).1, 3);
    lines.read_line(&mut told).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(told, "told\ntold\ntold\n");
    assert_eq!(lines.lines().count(), 0, "a signal too many");
}

#[test]
fn a_server_that_does_not_run_needs_no_signal() {
    let lab = Lab::new(says(&["Cache-Control: no-cache"], GOOD));
    let done = lab.update(&["--pid-file", "nginx.pid"]);
    assert_eq!(done.status, 0, "{done:?}");
    assert!(
        done.stderr.contains("note: nginx.pid does not exist, so there is no server to signal"),
        "{}",
        done.stderr
    );
    let (mut child, _) = listener(&lab);
    child.kill().unwrap();
    child.wait().unwrap();
    lab.publisher.answer(says(&["Cache-Control: no-cache"], BETTER));
    let done = lab.update(&["--pid-file", "nginx.pid"]);
    assert_eq!(done.status, 0, "{done:?}");
    assert!(done.stderr.contains("no process has the number in nginx.pid"), "{}", done.stderr);
}

#[test]
fn what_could_not_be_told_is_told_by_the_next_run() {
    let lab = Lab::new(says(&["Cache-Control: no-cache"], GOOD));
    for (content, reason) in [
        ("nginx", "nginx.pid does not contain the number of a process"),
        ("0", "nginx.pid does not contain"),
        ("-1", "nginx.pid does not contain"),
        ("", "nginx.pid does not contain"),
    ] {
        lab.write("nginx.pid", content);
        let done = lab.update(&["--pid-file", "nginx.pid", "--exec", "exit 3"]);
        assert_eq!(done.status, 2, "{done:?}");
        assert!(done.stderr.contains(reason) && done.stderr.contains("exit status: 3"), "{}", done.stderr);
        assert_eq!(lab.read("lab.txt"), GOOD);
    }
    assert_eq!(lab.publisher.asked().len(), 4);
    assert_eq!(lab.update(&["--exec", "touch told"]).status, 0);
    assert!(lab.path("told").exists());
    fs::remove_file(lab.path("told")).unwrap();
    assert_eq!(lab.update(&["--exec", "touch told"]).status, 0);
    assert!(!lab.path("told").exists());
}

#[test]
fn a_run_that_does_its_best_succeeds_with_the_last_good_version() {
    let lab = Lab::updated();
    lab.publisher.answer(says(&["Cache-Control: no-cache"], "<!doctype html>"));
    let done = lab.update(&["--best-effort"]);
    assert_eq!((done.status, &*lab.read("lab.txt")), (0, GOOD), "{done:?}");
    assert!(done.stderr.contains("lab.txt is left unchanged"), "{}", done.stderr);
    // A mistake in the configuration is none of the publisher's.
    lab.write("crawlpike.json", "{");
    assert_eq!(lab.update(&["--best-effort"]).status, 2);
}
