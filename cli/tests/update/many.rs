//! Many feeds, and large ones.

use std::time::Instant;

use crawlpike_tests::large::{peak, prefixes, written};
use crawlpike_tests::publisher::respond;
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

/// What a run takes for a feed of so many entries, first without a last good version, then with one, in KiB.
fn peaks(format: &str, count: u32) -> [u64; 2] {
    let lab = Lab::new(says(&["Cache-Control: no-cache"], written(format, prefixes(count))));
    lab.configure(&[json!({ "format": format, "guard": { "cover": "100%" } })]);
    let first = peak(lab.command(&[]));
    let second = written(format, prefixes(count - count / 100));
    lab.publisher.answer(says(&["Cache-Control: no-cache"], second.clone()));
    let peaks = [first, peak(lab.command(&[]))];
    assert!(lab.read("lab.txt") == second && lab.read("lab.txt.last-good") == second);
    println!("KiB for {count} prefixes as {format}: {peaks:?}");
    peaks
}

#[test]
fn memory_is_that_of_the_entries_in_every_format() {
    for format in ["cidr", "jafar", "geofeed"] {
        let peaks = peaks(format, 100_000);
        assert!(peaks.iter().all(|peak| (5_000..40_000).contains(peak)), "{format}: {peaks:?}");
    }
}
