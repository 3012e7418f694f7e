//! The usual course: a feed is fetched when it is due, and a new version takes the place of the old one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use crawlpike_tests::publisher::{Publisher, proxy_to, respond};
use serde_json::json;

use crate::fixture::{BETTER, GOOD, Lab, finish, now, publisher, says};

const DAY: u64 = 24 * 3600;

#[test]
fn a_fresh_folder_gets_its_feed() {
    let lab = Lab::new(says(&[], GOOD));
    lab.configure(&[json!({ "source": "feeds/lab.txt" })]);
    lab.update(&[])
        .prints_only("lab: updated, 3 prefixes\n1 feed: 1 updated, 0 unchanged, 0 not due, 0 failed\n")
        .ends(0)
        .says_only("");
    assert_eq!([lab.read("feeds/lab.txt"), lab.read("feeds/lab.txt.last-good")], [GOOD, GOOD]);
    let [asked] = &lab.publisher.asked()[..] else { panic!("one request") };
    assert_eq!(asked.header("user-agent"), Some(concat!("Crawlpike/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(asked.header("accept-encoding"), Some("gzip"));
    assert_eq!(asked.header("if-none-match").or(asked.header("if-modified-since")), None);
}

#[test]
fn publishers_see_a_contact() {
    let lab = Lab::new(says(&[], GOOD));
    assert_eq!(lab.update(&["--contact", "https://example.com/contact"]).status, 0);
    let product = concat!("Crawlpike/", env!("CARGO_PKG_VERSION"));
    let expected = format!("{product} (+https://example.com/contact)");
    assert_eq!(lab.publisher.asked()[0].header("user-agent"), Some(&*expected));
    lab.update(&["--contact", "a\nb"]).ends(2).says("expected a URL or an email address");
}

#[test]
fn without_caching_headers_a_publisher_is_asked_about_once_a_day() {
    // JAFAR-14, JAFAR-15, GEO-16
    let lab = Lab::new(says(&["ETag: \"1\"", "Last-Modified: Sun, 22 Nov 2026 00:00:00 GMT"], GOOD));
    assert_eq!(lab.update(&[]).status, 0);
    let due = lab.entry()["due"].as_i64().unwrap();
    assert!((20 * 3600..=24 * 3600).contains(&(due - now())), "{due}");
    let done = lab.update(&["--only", "lab"]);
    assert_eq!(
        (done.status, done.stdout),
        (0, "1 feed: 0 updated, 0 unchanged, 1 not due, 0 failed\n".into())
    );
    assert_eq!(lab.publisher.asked().len(), 1);
    // After an hour, only for the asking.
    lab.remember(&json!({ "asked": now() - 3601 }));
    assert_eq!(lab.update(&[]).status, 0);
    assert_eq!(lab.publisher.asked().len(), 0);
    assert_eq!(lab.update(&["--only", "lab"]).status, 0);
    assert_eq!(lab.publisher.asked().len(), 1);
    lab.remember(&json!({ "asked": now() - 23 * 3600, "due": now() - 3600 }));
    assert_eq!(lab.update(&[]).status, 0);
    assert_eq!(lab.publisher.asked().len(), 1);
}

#[test]
fn caching_headers_permit_more_and_less() {
    // JAFAR-15, JAFAR-16
    for (header, from, until) in [
        ("Cache-Control: max-age=60", 55, 61),
        ("Cache-Control: max-age=172800", 172_000, 172_801),
        ("Cache-Control: no-cache", 0, 1),
        ("Cache-Control: max-age=31536000", 7 * 86_400 - 5, 7 * 86_400 + 1),
    ] {
        let headers: &'static [&'static str] = Box::leak(Box::new([header]));
        let lab = Lab::new(says(headers, GOOD));
        assert_eq!(lab.update(&[]).status, 0);
        let due = lab.entry()["due"].as_i64().unwrap() - now();
        assert!((from - 2..=until).contains(&due), "{header}: {due}");
    }
}

#[test]
fn an_answer_that_must_not_be_stored_leaves_nothing_but_the_feed() {
    // JAFAR-16
    let lab = Lab::new(says(&["Cache-Control: no-store", "ETag: \"1\""], GOOD));
    assert_eq!((lab.update(&[]).status, lab.read("lab.txt")), (0, GOOD.into()));
    assert_eq!(lab.entry()["copy"]["etag"], json!(null));
    lab.remember(&json!({ "due": 0 }));
    assert_eq!(lab.update(&[]).status, 0);
    assert!(lab.publisher.asked().iter().all(|asked| asked.header("if-none-match").is_none()));
}

#[test]
fn an_answer_that_nothing_changed_keeps_the_file_and_its_age() {
    // JAFAR-16
    let lab = Lab::updated();
    lab.configure(&[json!({ "max_age": "7d" })]);
    lab.publisher.answer(|asked, connection| {
        assert_eq!(asked.header("if-none-match"), Some("\"1\""));
        respond(connection, "304 Not Modified", &["Cache-Control: max-age=600"], "")
    });
    lab.age("lab.txt", Duration::from_secs(6 * DAY));
    let before = fs::metadata(lab.path("lab.txt")).unwrap();
    let (status, report) = lab.update_json(&[]);
    assert_eq!((status, report["outcome"].as_str()), (0, Some("unchanged")));
    // `max_age` counts from the time of the file.
    assert!(lab.age_of("lab.txt") < 60);
    assert_eq!(lab.read("lab.txt"), GOOD);
    let after = fs::metadata(lab.path("lab.txt")).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::ino(&before), std::os::unix::fs::MetadataExt::ino(&after));
    let due = lab.entry()["due"].as_i64().unwrap() - now();
    assert!((590..=600).contains(&due), "the headers of the 304 count: {due}");
}

#[test]
fn the_same_bytes_under_another_etag_are_nothing_new() {
    let lab = Lab::updated();
    lab.age("lab.txt", Duration::from_secs(3 * DAY));
    for number in 2..4 {
        let etag = format!("ETag: \"{number}\"");
        lab.publisher.answer(move |_, connection| {
            respond(connection, "200 OK", &[&etag, "Cache-Control: max-age=0"], GOOD)
        });
        let (status, report) = lab.update_json(&[]);
        assert_eq!((status, report["outcome"].as_str()), (0, Some("unchanged")));
        assert!(lab.age_of("lab.txt") < 60);
    }
    let asked = lab.publisher.asked();
    assert_eq!(asked[1].header("if-none-match"), Some("\"2\""));
}

#[test]
fn a_new_version_replaces_the_file_and_its_changes_are_reported() {
    let lab = Lab::updated();
    fs::set_permissions(lab.path("lab.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    lab.publisher.answer(says(&["Cache-Control: max-age=0"], BETTER));
    let dry = lab.update(&["--dry-run"]);
    assert_eq!((dry.status, lab.read("lab.txt")), (0, GOOD.into()));
    dry.prints("lab: updated, 4 prefixes (1 added, 0 removed)");
    assert!(dry.stdout.ends_with("(a dry run: nothing was written)\n"), "{}", dry.stdout);
    let (status, report) = lab.update_json(&[]);
    assert_eq!(
        (status, report["outcome"].as_str(), report["prefixes"].as_u64()),
        (0, Some("updated"), Some(4))
    );
    let change = &report["change"];
    assert_eq!((change["added"].as_u64(), change["removed"].as_u64()), (Some(1), Some(0)));
    assert_eq!(change["ipv4"], json!({ "added_share": 0.25, "removed_share": 0.0 }));
    assert_eq!([lab.read("lab.txt"), lab.read("lab.txt.last-good")], [BETTER, BETTER]);
    assert_eq!(lab.mode("lab.txt"), 0o640);
    lab.publisher.answer(says(&["Cache-Control: max-age=0"], GOOD));
    let done = lab.update(&[]);
    let line = "lab: updated, 3 prefixes (0 added, 1 removed), IPv4 addresses +0.0% -20.0%\n";
    assert!(done.stdout.starts_with(line), "{}", done.stdout);
}

#[test]
fn countries_that_moved_are_flagged() {
    // GEO-19
    let lab = Lab::new(says(&["Cache-Control: max-age=0"], "192.0.2.0/24,PL,,,\n198.51.100.0/24,PL,,,\n"));
    lab.configure(&[json!({ "format": "geofeed" })]);
    assert_eq!(lab.update(&[]).status, 0);
    lab.publisher.answer(says(&["Cache-Control: max-age=0"], "192.0.2.0/24,CZ,,,\n198.51.100.0/24,PL,,,\n"));
    let dry = |moved: &str| lab.update(&["--dry-run", "--moved", moved]);
    let flagged = "the feed `lab`: 1 of 2 prefixes changed their country (PL to CZ 1), more than 49%; check the geofeed [GEO-19]";
    assert!(dry("49").stderr.contains(flagged), "{}", dry("49").stderr);
    assert_eq!((&*dry("50").stderr, dry("50").status), ("", 0));
    let (status, report) = lab.update_json(&[]);
    let change = &report["change"];
    assert_eq!((status, change["moved"].as_u64(), change["flagged"].as_bool()), (0, Some(1), Some(true)));
    assert_eq!(change["moves"], json!([{ "from": "PL", "to": "CZ", "prefixes": 1 }]));
}

#[test]
fn plain_http_is_warned_of() {
    // GEO-17
    let plain = Publisher::http(says(&[], GOOD));
    let lab = Lab::new(says(&[], GOOD));
    lab.configure(&[json!({ "url": plain.url("/") })]);
    let done = lab.update(&[]);
    assert_eq!((done.status, lab.read("lab.txt")), (0, GOOD.into()));
    done.says("its `url` begins with http://").says("[GEO-17]");
}

#[test]
fn redirects_are_followed_and_a_permanent_one_is_reported() {
    let lab = Lab::new(|asked, connection| match &*asked.target {
        "/lab.txt" => respond(connection, "308 Permanent Redirect", &["Location: new/lab.txt#x"], ""),
        "/new/lab.txt" => respond(connection, "302 Found", &["Location: ?today"], ""),
        "/new/lab.txt?today" => {
            assert_eq!(asked.header("if-none-match").is_some(), asked.header("if-modified-since").is_some());
            let headers =
                ["ETag: \"1\"", "Last-Modified: Sun, 22 Nov 2026 00:00:00 GMT", "Cache-Control: no-cache"];
            match asked.header("if-none-match") {
                Some("\"1\"") => respond(connection, "304 Not Modified", &headers, ""),
                _ => respond(connection, "200 OK", &headers, GOOD),
            }
        }
        other => panic!("{other}"),
    });
    let done = lab.update(&[]);
    done.ends(0);
    let expected = format!(
        "the feed `lab`: it has moved permanently: change its `url` to {}\n",
        lab.publisher.url("/new/lab.txt")
    );
    assert!(done.stderr.ends_with(&expected), "{}", done.stderr);
    let (_, report) = lab.update_json(&[]);
    assert_eq!(report["outcome"], "unchanged");
    assert_eq!(report["redirects"][0]["status"], 308);
    assert_eq!(report["redirects"][1]["to"], lab.publisher.url("/new/lab.txt?today"));
    assert_eq!(lab.entry()["redirects"][1], json!([302, lab.publisher.url("/new/lab.txt?today")]));
}

#[test]
fn what_cannot_be_asked_for_is_said() {
    let lab = Lab::updated();
    lab.update(&["--only", "labs"]).ends(2).says("--only: no feed is named `labs` (did you mean `lab`?)");
    lab.configure(&[json!({ "url": null })]);
    lab.write("crawlpike.json", lab.read("crawlpike.json").replace(r#","url":null"#, ""));
    let done = lab.update(&["--accept", "lab"]);
    done.says("--accept: the feed `lab` has no `url` to fetch it from");
    assert_eq!(lab.update(&[]).stdout, "0 feeds: 0 updated, 0 unchanged, 0 not due, 0 failed\n");
    for url in ["ftp://127.0.0.1/", "https://user:secret@127.0.0.1/", "127.0.0.1", ""] {
        lab.configure(&[json!({ "url": url })]);
        let done = lab.update(&[]);
        assert_eq!((done.status, lab.read("lab.txt")), (1, GOOD.into()), "{url}");
        done.says("invalid `url`");
    }
    lab.write("crawlpike.json", "{ \"feeds\": 5 }");
    assert_eq!(lab.update(&[]).status, 2);
}

#[test]
fn a_feed_that_moves_in_the_configuration_is_asked_for_at_once() {
    let lab = Lab::new(says(&["ETag: \"1\""], GOOD));
    assert_eq!(lab.update(&[]).status, 0);
    let other = publisher(says(&[], BETTER));
    lab.configure(&[json!({ "url": other.url("/") })]);
    assert_eq!((lab.update(&[]).status, lab.read("lab.txt")), (0, BETTER.into()));
    assert_eq!(other.asked()[0].header("if-none-match"), None);
}

#[test]
fn the_proxy_of_the_environment_is_used() {
    // Nobody listens at this port, but the proxy leads to the lab's server.
    let lab = Lab::new(says(&["Cache-Control: no-cache"], GOOD));
    lab.configure(&[json!({ "url": "https://127.0.0.1:1/lab.txt" })]);
    let run = |variables: &[(&str, &str)]| {
        let mut command = lab.command(&[]);
        command.envs(variables.iter().copied());
        finish(command)
    };
    let url = format!("http://127.0.0.1:{}", proxy_to(lab.publisher.port()));
    run(&[("https_proxy", &url), ("no_proxy", "example.com")]).ends(0);
    assert_eq!(lab.read("lab.txt"), GOOD);
    run(&[("https_proxy", &url), ("no_proxy", "localhost, 127.0.0.1")]).ends(1).says("Connection refused");
    run(&[("HTTPS_PROXY", "socks5://127.0.0.1:1")])
        .ends(2)
        .says("HTTPS_PROXY: `socks5://127.0.0.1:1` is not a proxy");
}
