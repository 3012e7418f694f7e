//! Many feeds, and large ones.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crawlward_tests::publisher::respond;
use serde_json::json;

use crate::fixture::{GOOD, Lab, says};

#[test]
fn a_hundred_feeds_are_one_run() {
    let lab = Lab::new(says(&[], GOOD));
    lab.publisher.answer(|asked, connection| {
        let number: u32 = asked.target.trim_start_matches('/').parse().unwrap();
        let list: String = (0..60).map(|third| format!("10.{number}.{third}.0/24\n")).collect();
        respond(connection, "200 OK", &[], list)
    });
    let feeds = (0..100).map(|number| {
        json!({ "name": format!("lab{number}"), "source": format!("feeds/{number}.txt"),
            "url": lab.publisher.url(&format!("/{number}")) })
    });
    lab.configure(&feeds.collect::<Vec<_>>());
    let started = Instant::now();
    let done = lab.update(&[]);
    println!("seconds for a hundred feeds: {:.2}", started.elapsed().as_secs_f32());
    assert_eq!(done.status, 0, "{done:?}");
    assert!(done.stdout.ends_with("100 feeds: 100 updated, 0 unchanged, 0 not due, 0 failed\n"));
    let done = lab.update(&[]);
    assert!(done.stdout.ends_with("100 feeds: 0 updated, 0 unchanged, 100 not due, 0 failed\n"));
}

/// The most memory that a run took, in KiB.
fn peak(lab: &Lab) -> u64 {
    let mut child = lab.command(&[]).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most =
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(most).max(most);
        if let Some(ended) = child.try_wait().unwrap() {
            assert_eq!(ended.code(), Some(0));
            return most;
        }
        sleep(Duration::from_millis(2));
    }
}

#[test]
fn memory_is_that_of_the_largest_feed() {
    let list = |prefixes: u32| -> String {
        (0..prefixes).map(|n| format!("10.{}.{}.{}/32\n", n >> 16, n >> 8 & 255, n & 255)).collect()
    };
    let lab = Lab::new(says(&["Cache-Control: no-cache"], list(100_000)));
    let first = peak(&lab);
    lab.publisher.answer(says(&["Cache-Control: no-cache"], list(99_000)));
    let second = peak(&lab);
    println!("KiB for 100,000 prefixes: {first}, and {second} with a last good version");
    assert!((5_000..40_000).contains(&first) && (5_000..64_000).contains(&second), "{first} {second}");
    assert_eq!(lab.read("lab.txt").lines().count(), 99_000);
}
