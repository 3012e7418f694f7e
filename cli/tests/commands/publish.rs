//! `crawlpike publish`.

use std::os::unix::fs::MetadataExt;

use serde_json::Value;

use crate::fixture::{Done, Folder};

fn publish(folder: &Folder, arguments: &[&str]) -> Done {
    folder.run(&[&["publish"], arguments].concat())
}

/// The program with a fixed time.
fn publish_at(folder: &Folder, seconds: &str, arguments: &[&str]) {
    let mut command = folder.command(&[&["publish"], arguments].concat());
    let output = command.env("SOURCE_DATE_EPOCH", seconds).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.read(name)).unwrap()
}

#[test]
fn jafar_17_the_creation_time_is_renewed_on_demand_or_when_the_content_changes() {
    // JAFAR-6, JAFAR-17
    let folder = Folder::new();
    folder.write("a.txt", "192.0.2.0/25\n192.0.2.128/25\n");
    let usual = ["jafar", "--service", "bot", "--output", "feed.json", "a.txt"];
    publish_at(&folder, "1767225600", &usual);
    let first = json(&folder, "feed.json");
    assert_eq!(first["creationTime"], "2026-01-01T00:00:00Z");
    assert_eq!(first["prefixes"], serde_json::json!([{ "ipv4Prefix": "192.0.2.0/24", "service": "bot" }]));
    let inode = || folder.path("feed.json").metadata().unwrap().ino();
    let before = inode();
    publish_at(&folder, "1767312000", &usual);
    assert_eq!((json(&folder, "feed.json"), inode()), (first.clone(), before), "not even written");
    publish_at(&folder, "1767312000", &[&["jafar", "--refresh"], &usual[1..]].concat());
    let renewed = json(&folder, "feed.json");
    assert_eq!(renewed["creationTime"], "2026-01-02T00:00:00Z");
    assert_eq!(renewed["synctoken"], first["synctoken"]);
    folder.write("a.txt", "192.0.2.0/24\n198.51.100.0/24\n");
    publish_at(&folder, "1767398400", &usual);
    let changed = json(&folder, "feed.json");
    assert_eq!(changed["creationTime"], "2026-01-03T00:00:00Z");
    assert_ne!(changed["synctoken"], first["synctoken"]);
    folder.run(&["lint", "--format", "jafar", "--strict", "feed.json"]).ends(0).prints_only("").says_only("");
}

#[test]
fn jafar_17_the_creation_time_never_goes_back() {
    // JAFAR-7, JAFAR-17
    let folder = Folder::new();
    folder.write("a.txt", "192.0.2.0/24\n");
    let usual = ["jafar", "--output", "feed.json", "a.txt"];
    // 2100-01-01.
    publish_at(&folder, "4102444800", &usual);
    let before = folder.read("feed.json");
    publish(&folder, &usual).ends(0).says_only(
        "feed.json: warning: its creationTime is in the future (2100-01-01T00:00:00Z): gates hold a later version with an earlier \
         time; to correct it now, remove the file and publish again\n",
    );
    let refreshed = [&["jafar", "--refresh"], &usual[1..]].concat();
    let message = "the creationTime would go back from 2100-01-01T00:00:00Z in feed.json to 20";
    publish(&folder, &refreshed).ends(2).says(message);
    folder.write("a.txt", "198.51.100.0/24\n");
    publish(&folder, &usual).ends(2).says(message).says("remove the file");
    assert_eq!(folder.read("feed.json"), before);
    folder.run(&["lint", "--format", "jafar", "feed.json"]).ends(0).says_only(
        "feed.json: warning: `creationTime` is in the future (2100-01-01T00:00:00Z): gates hold a later version with an earlier time\n",
    );
    std::fs::remove_file(folder.path("feed.json")).unwrap();
    publish(&folder, &usual).ends(0).says_only("");
    publish(&folder, &refreshed).ends(0).says_only("");
}

#[test]
fn the_same_prefixes_give_the_same_feed() {
    let folder = Folder::new();
    folder.write("a.txt", "198.51.100.0/24\n192.0.2.0/24\n");
    folder.write(
        "b.csv",
        "prefix,service\n192.0.2.128/25,\n198.51.100.0/25,\n192.0.2.0/25,\n198.51.100.128/25,\n",
    );
    let [a, b] = ["a.txt", "b.csv"].map(|list| {
        publish_at(&folder, "0", &["jafar", "--output", "feed.json", list]);
        folder.read("feed.json")
    });
    assert_eq!(a, b);
    let done = folder.run_with(&["publish", "geofeed", "--place", "pl", "-"], "11.1.0.0/16\n2600::/32\n");
    let expected = "# prefix,alpha2code,region,city,postal_code\n11.1.0.0/16,PL,,,\n2600::/32,PL,,,\n";
    done.ends(0).prints_only(expected).says_only("");
}

#[test]
fn nothing_is_written_unless_all_is_right() {
    let folder = Folder::new();
    folder.write("good.txt", "192.0.2.0/24\n");
    folder.write("bad.txt", "192.0.2.0/24\n192.0.2.1/24\n");
    folder.write("empty.txt", "# none\n");
    folder.write("private.csv", "10.0.0.0/8,PL,,,\n");
    folder.write("feed.json", "as it was");
    for (arguments, message) in [
        (
            ["jafar", "--output", "feed.json", "good.txt", "bad.txt"].as_slice(),
            "bad.txt:2:1: error: \"192.0.2.1/24\": host bits are set; write 192.0.2.0/24\n",
        ),
        (
            &["jafar", "--output", "feed.json", "empty.txt"],
            "crawlpike: error: the lists have no prefixes; an empty feed would verify no client\n",
        ),
        (&["geofeed", "--output", "feed.json", "private.csv"], "feed.json:2:1: error: 10.0.0.0/8 is "),
        (
            &["geofeed", "--format", "nginx-geo", "--output", "feed.json", "private.csv"],
            "feed.json: error: 10.0.0.0/8 is ",
        ),
        (
            &["jafar", "--format", "cidr", "--service", "a\nb", "good.txt"],
            "stdout: error: `service` contains control characters",
        ),
        (&["geofeed", "--output", "feed.json", "good.txt"], "good.txt: error: the list has no places; "),
        (&["jafar", "--place", "PL", "good.txt"], "crawlpike: error: --place is for geofeed\n"),
        (&["geofeed", "--service", "x", "good.txt"], "crawlpike: error: --service is for jafar\n"),
        (
            &["jafar", "--refresh", "--format", "cidr", "good.txt"],
            "crawlpike: error: --refresh is for jafar with --format feed\n",
        ),
        (
            &["jafar", "--output", "good.txt", "good.txt"],
            "crawlpike: error: good.txt is read by this command; write to another file\n",
        ),
        (&["jafar", "none.txt"], "none.txt: error: cannot be read: "),
    ] {
        let done = publish(&folder, arguments);
        done.ends(2).prints_only("");
        assert!(done.stderr.starts_with(message), "{arguments:?}: {}", done.stderr);
    }
    assert_eq!(folder.read("feed.json"), "as it was");
    publish(&folder, &["jafar", "--name", "a-b", "--format", "nginx-geo", "good.txt"])
        .ends(2)
        .says("use letters, digits and underscores");
}

#[test]
fn a_feed_is_converted_for_other_programs() {
    let folder = Folder::new();
    let done = publish(&folder, &["jafar", "--format", "cidr", "googlebot.json"]);
    folder.write("googlebot.txt", &done.stdout);
    // Nothing is lost on the way there and back.
    let again = publish(&folder, &["jafar", "--format", "cidr", "googlebot.txt"]);
    assert_eq!((done.status, &done.stdout), (0, &again.stdout));
    assert!(done.stdout.lines().count() > 20);
    let geo = publish(&folder, &["jafar", "--format", "nginx-geo", "--name", "googlebot", "googlebot.json"]);
    assert!(geo.stdout.starts_with("geo $googlebot {\n    default \"\";\n"), "{}", geo.stdout);
    let tags = publish(&folder, &["jafar", "--format", "envoy-ip-tagging", "googlebot.json"]);
    let filter: Value = serde_json::from_str(&tags.stdout).unwrap();
    assert_eq!(filter["typed_config"]["ip_tags"][0]["ip_tag_name"], "crawlpike");
}
