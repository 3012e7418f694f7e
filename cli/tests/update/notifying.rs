//! The server, or a command, is notified of changes: once, and only of changes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread;
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

/// A folder with two feeds, `lab` with news and `late`, and a server that does this before it answers for the second one.
fn lab_with_a_late_feed(before: impl Fn() + Send + Sync + 'static) -> Lab {
    let lab = Lab::updated();
    let late = lab.publisher.url("/late.txt");
    lab.configure(&[json!({}), json!({ "name": "late", "source": "late.txt", "url": late })]);
    lab.publisher.answer(move |asked, connection| {
        if asked.target == "/late.txt" {
            before();
        }
        says(&["Cache-Control: no-cache"], BETTER)(asked, connection)
    });
    lab
}

fn wait_for_news(file: &Path) {
    while fs::read_to_string(file).is_ok_and(|content| content != BETTER) {
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_notification_survives_an_interrupted_run() {
    let lab = lab_with_a_late_feed(|| thread::sleep(Duration::from_secs(60)));
    let mut run = lab.command(&["--exec", "touch notified"]).spawn().unwrap();
    wait_for_news(&lab.path("lab.txt"));
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(!lab.path("notified").exists());
    lab.publisher.answer(says(&["Cache-Control: no-cache"], BETTER));
    lab.update(&["--only", "lab", "--exec", "touch notified"]).ends(0).prints("0 updated, 1 unchanged");
    assert!(lab.path("notified").exists());
}

#[test]
fn where_the_state_cannot_be_written_no_file_changes() {
    let lab = Lab::updated();
    lab.publisher.answer(says(&["Cache-Control: no-cache"], BETTER));
    let state = lab.path("crawlpike.json.update-state");
    fs::remove_file(&state).unwrap();
    fs::create_dir(&state).unwrap();
    let run = || lab.update(&["--exec", "touch notified"]);
    run().ends(2).says("cannot write crawlpike.json.update-state: not a regular file");
    assert_eq!((lab.read("lab.txt"), lab.path("notified").exists()), (GOOD.into(), false));
    assert_eq!(lab.publisher.asked().len(), 0);
    fs::remove_dir(&state).unwrap();
    run().ends(0);
    assert_eq!((lab.read("lab.txt"), lab.path("notified").exists()), (BETTER.into(), true));
}

#[test]
fn a_state_that_cannot_be_written_any_more_keeps_nobody_from_being_notified() {
    let state = Arc::new(OnceLock::<PathBuf>::new());
    let known = Arc::clone(&state);
    let lab = lab_with_a_late_feed(move || {
        let state = known.get().unwrap();
        wait_for_news(&state.with_file_name("lab.txt"));
        fs::remove_file(state).unwrap();
        fs::create_dir(state).unwrap();
    });
    state.set(lab.path("crawlpike.json.update-state")).unwrap();
    lab.update(&["--exec", "touch notified"]).ends(2).says("cannot write crawlpike.json.update-state");
    assert_eq!((lab.read("lab.txt"), lab.path("notified").exists()), (BETTER.into(), true));
}

#[test]
fn a_run_that_changes_nothing_in_the_end_notifies_nobody() {
    let lab = Lab::updated();
    lab.publisher.answer(says(&["Cache-Control: no-cache"], BETTER));
    fs::remove_file(lab.path("lab.txt")).unwrap();
    fs::create_dir(lab.path("lab.txt")).unwrap();
    lab.update(&["--exec", "touch notified"]).ends(1).says("cannot write lab.txt: not a regular file");
    assert!(!lab.path("notified").exists());
    assert_eq!(lab.state()["is_undelivered"], false);
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
