use serde_json::Value;

use crate::fixture::{Folder, WARNING};

const CONFORMING: &str = r#"{
  "formatVersion": "1.0", "synctoken": "1", "creationTime": "2026-09-02T14:41:06Z",
  "prefixes": [ { "ipv4Prefix": "192.0.2.0/24" } ]
}"#;

#[test]
fn nothing_is_said_about_files_that_are_right() {
    let folder = Folder::new();
    folder.write("good.json", CONFORMING);
    folder.write("good.txt", "192.0.2.0/24\n");
    folder.write("good.csv", "192.0.2.0/24,US,US-CA,Fremont,\n");
    folder.write("empty.json", "{}");
    for (format, file) in
        [("jafar", "good.json"), ("cidr", "good.txt"), ("geofeed", "good.csv"), ("config", "empty.json")]
    {
        let done = folder.run(&["lint", "--format", format, file]);
        assert_eq!((done.status, &*done.stdout, &*done.stderr), (0, "", ""), "{format}");
    }
}

#[test]
fn a_warning_is_no_failure() {
    let done = Folder::new().run(&["lint", "--format", "config", "crawlward.json"]);
    assert_eq!((done.status, &*done.stdout, &*done.stderr), (0, "", WARNING));
}

#[test]
fn errors_have_their_place_and_their_requirement() {
    let folder = Folder::new();
    folder.write("good.json", CONFORMING);
    folder.write("bad.json", CONFORMING.replace("192.0.2.0/24", "192.0.2.1/24"));
    let done = folder.run(&["lint", "--format", "jafar", "good.json", "bad.json"]);
    assert_eq!((done.status, &*done.stdout), (1, ""));
    assert!(done.stderr.starts_with("bad.json:3:33: error: "), "{}", done.stderr);
    assert!(done.stderr.contains("write 192.0.2.0/24 [JAFAR-"), "{}", done.stderr);

    let done = folder.run(&["lint", "--json", "--format", "jafar", "bad.json"]);
    assert_eq!((done.status, &*done.stderr), (1, ""));
    let diagnostic: Value = serde_json::from_str(done.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(diagnostic["file"], "bad.json");
    assert_eq!((&diagnostic["line"], &diagnostic["column"]), (&Value::from(3), &Value::from(33)));
    assert_eq!(diagnostic["severity"], "error");
    assert!(diagnostic["requirement"].as_str().unwrap().starts_with("JAFAR-"));
    assert!(diagnostic["message"].as_str().unwrap().contains("192.0.2.0/24"));
}

#[test]
fn geofeeds_are_checked_strictly() {
    let folder = Folder::new();
    folder.write(
        "bad.csv",
        "# ours\n192.0.2.0/24,US,US-CA,Fremont,\n192.0.2.128/25,USA,,,\n2001:db8::/32,PL\n",
    );
    let done = folder.run(&["lint", "--format", "geofeed", "bad.csv"]);
    assert_eq!((done.status, &*done.stdout), (1, ""));
    let lines: Vec<&str> = done.stderr.lines().collect();
    assert!(
        lines.iter().any(|line| line.starts_with("bad.csv:3:") && line.ends_with("[GEO-6]")),
        "{lines:?}"
    );
    assert!(
        lines.iter().any(|line| line.starts_with("bad.csv:4:") && line.ends_with("[GEO-14]")),
        "{lines:?}"
    );
}

#[test]
fn a_configuration_is_checked_with_its_files() {
    let folder = Folder::new();
    folder.write("googlebot.json", "<html>");
    let done = folder.run(&["lint", "--format", "config", "crawlward.json"]);
    assert_eq!(done.status, 1);
    assert!(done.stderr.contains("googlebot.json: error: this is HTML, not JSON"), "{}", done.stderr);
}

#[test]
fn errors_past_those_that_are_kept_are_counted() {
    let folder = Folder::new();
    folder.write("bad.txt", "oops\n".repeat(101) + "192.0.2.0/24\n");
    let done = folder.run(&["lint", "--format", "cidr", "bad.txt"]);
    assert_eq!(done.status, 1);
    let last = done.stderr.lines().last().unwrap();
    assert_eq!(last, "bad.txt: error: not shown: errors 1, warnings 0");
}

#[test]
fn unreadable_files_and_wrong_arguments_end_with_2() {
    let folder = Folder::new();
    folder.write("good.json", CONFORMING);
    folder.write("bad.json", "{}");
    let done = folder.run(&["lint", "--format", "jafar", "nowhere.json", ".", "bad.json"]);
    assert_eq!(done.status, 2);
    assert!(done.stderr.contains("nowhere.json: error: can't be read: "), "{}", done.stderr);
    assert!(done.stderr.contains("\n.: error: can't be read: not a regular file\n"), "{}", done.stderr);
    assert!(done.stderr.contains("\nbad.json:1:1: error: "), "{}", done.stderr);

    let done = folder.run(&["lint", "--format", "robots", "good.json"]);
    assert_eq!(done.status, 2);
    assert!(done.stderr.contains("not yet supported"), "{}", done.stderr);
    assert_eq!(folder.run(&["lint", "--format", "jafra", "good.json"]).status, 2);
    assert_eq!(folder.run(&["lint", "--format", "jafar"]).status, 2);
}
