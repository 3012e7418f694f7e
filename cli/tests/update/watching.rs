//! `crawlpike update --watch`.

use std::fs;
use std::thread;
use std::time::Duration;

use crawlpike_tests::publisher::respond;
use crawlpike_tests::watcher::Watcher;
use rustix::process::Signal;
use serde_json::json;

use crate::fixture::{BETTER, GOOD, Lab, now, says};

/// Starts `crawlpike update --watch`.
fn start(lab: &Lab, more: &[&str]) -> Watcher {
    Watcher::start(&mut lab.command(&[&["--watch"], more].concat()))
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
    let mut watcher = start(&lab, &["--exec", "cp lab.txt seen.txt"]);
    assert_eq!(watcher.line(), "lab: updated, 4 prefixes (1 added, 0 removed), IPv4 addresses +25.0% -0.0%");
    assert_eq!(lab.publisher.asked().len(), 1);
    assert_eq!(watcher.ends(Signal::TERM), Some(0));
    assert_eq!([lab.read("lab.txt"), lab.read("seen.txt")], [BETTER, BETTER]);
}

#[test]
fn a_publisher_that_could_not_be_reached_while_the_clock_was_ahead_is_asked_again() {
    let lab = Lab::updated();
    lab.configure(&[json!({ "url": "https://127.0.0.1:1/lab.txt" })]);
    lab.update(&[]).ends(1).says("Connection refused");
    // As if that had been in a month.
    let mut entry = lab.entry();
    for time in ["tried", "due"] {
        entry[time] = entry[time].as_i64().map(|time| time + 30 * 86_400).into();
    }
    entry["url"] = lab.publisher.url("/lab.txt").into();
    lab.remember(&entry);
    lab.publisher.answer(says(&[], BETTER));
    lab.configure(&[json!({})]);
    let mut watcher = start(&lab, &[]);
    assert_eq!(watcher.line(), "lab: updated, 4 prefixes (1 added, 0 removed), IPv4 addresses +25.0% -0.0%");
    assert_eq!(watcher.ends(Signal::TERM), Some(0));
    assert!(lab.entry()["tried"].as_i64().unwrap() <= now());
    assert_eq!(lab.publisher.asked().len(), 1);
}

/// The time in which a watcher sees a change, and a request that follows at once.
const SEEN: Duration = Duration::from_secs(4);

#[test]
fn a_file_that_is_lost_is_fetched_again_and_at_most_once_an_hour() {
    // JAFAR-15
    let lab = Lab::new(says(&["ETag: \"1\""], GOOD));
    lab.update(&[]).ends(0);
    lab.remember(&json!({ "asked": now() - 3590 }));
    lab.publisher.asked();
    let mut watcher = start(&lab, &[]);
    thread::sleep(SEEN);
    fs::remove_file(lab.path("lab.txt")).unwrap();
    assert_eq!(watcher.line(), "lab: updated, 3 prefixes");
    let asked = lab.publisher.asked();
    assert_eq!((asked.len(), asked[0].header("if-none-match")), (1, None));
    for _ in 0..2 {
        fs::write(lab.path("lab.txt"), "changed by hand").unwrap();
        thread::sleep(SEEN);
        fs::remove_file(lab.path("lab.txt")).unwrap();
        thread::sleep(SEEN);
    }
    assert_eq!(lab.publisher.asked().len(), 0);
    assert_eq!(watcher.ends(Signal::TERM), Some(0));
}

#[test]
fn a_feed_that_has_another_file_is_asked_for_at_once_and_once() {
    let lab = Lab::new(says(&["ETag: \"1\""], GOOD));
    let mut watcher = start(&lab, &[]);
    assert_eq!(watcher.line(), "lab: updated, 3 prefixes");
    lab.configure(&[json!({ "source": "other.txt" })]);
    assert_eq!(watcher.line(), "lab: updated, 3 prefixes");
    assert_eq!((lab.read("other.txt"), lab.publisher.asked().len()), (GOOD.into(), 2));
    // One that is moved with the configuration is as fresh as before.
    fs::rename(lab.path("other.txt"), lab.path("moved.txt")).unwrap();
    lab.configure(&[json!({ "source": "moved.txt" })]);
    thread::sleep(SEEN);
    assert_eq!(lab.publisher.asked().len(), 0);
    // Nothing can be written there.
    fs::create_dir(lab.path("folder")).unwrap();
    lab.configure(&[json!({ "source": "folder" })]);
    watcher.says("cannot write folder: not a regular file");
    thread::sleep(SEEN);
    assert_eq!(lab.publisher.asked().len(), 1);
    assert_eq!(watcher.ends(Signal::TERM), Some(0));
}

#[test]
fn a_permission_to_ask_at_once_is_not_used_up() {
    // JAFAR-15
    let lab = Lab::new(says(&["Cache-Control: max-age=1"], GOOD));
    let mut watcher = start(&lab, &[]);
    assert_eq!(watcher.line(), "lab: updated, 3 prefixes");
    watcher.signal(Signal::HUP);
    thread::sleep(Duration::from_millis(3500));
    assert_eq!(lab.publisher.asked().len(), 1);
    assert_eq!(watcher.ends(Signal::INT), Some(0));
}

#[test]
fn a_changed_configuration_is_taken_and_an_invalid_one_is_not() {
    let lab = Lab::new(says(&[], GOOD));
    lab.write("crawlpike.json", "{");
    let mut watcher = start(&lab, &[]);
    watcher.says("crawlpike.json:1:1: error: not JSON");
    lab.configure(&[json!({})]);
    assert_eq!(watcher.line(), "lab: updated, 3 prefixes");
    lab.write("crawlpike.json", "{}}");
    watcher.says("note: the configuration before this change stays in force");
    lab.configure(&[json!({}), json!({ "name": "more", "source": "more.txt" })]);
    assert_eq!(watcher.line(), "more: updated, 3 prefixes");
    assert_eq!(lab.publisher.asked().len(), 2);
    assert_eq!(watcher.ends(Signal::TERM), Some(0));
}

#[test]
fn a_publisher_that_takes_its_time_does_not_keep_it_from_ending() {
    let lab = Lab::new(|_, connection| {
        thread::sleep(Duration::from_secs(60));
        respond(connection, "200 OK", &[], GOOD)
    });
    let mut watcher = start(&lab, &[]);
    while lab.publisher.asked().is_empty() {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(watcher.ends(Signal::TERM), Some(0));
    assert!(!lab.path("lab.txt").exists());
}

#[test]
fn a_failure_is_reported_once() {
    let lab = Lab::new(|_, connection| respond(connection, "500 Internal Server Error", &[], ""));
    let mut watcher = start(&lab, &["--json"]);
    watcher.says("error: the feed `lab` is not updated: the answer is 500 Internal Server Error");
    let report: serde_json::Value = serde_json::from_str(&watcher.stdout.next("an object")).unwrap();
    assert_eq!(report["outcome"], "failed");
    watcher.signal(Signal::HUP);
    thread::sleep(Duration::from_millis(2500));
    assert_eq!(watcher.ends(Signal::TERM), Some(0));
    assert_eq!((watcher.stdout.arrived().len(), watcher.stderr.arrived().len()), (0, 0));
    assert_eq!(lab.publisher.asked().len(), 1);
}
