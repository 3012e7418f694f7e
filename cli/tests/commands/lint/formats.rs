//! Files that are checked by themselves, with the option `--format`.

use crate::fixture::Folder;

#[test]
fn a_robots_txt_is_checked_strictly() {
    let folder = Folder::new();
    folder.write(
        "robots.txt",
        "Disallow: /early\n\nUser-agent: Googlebot/2.1\nDisalow: /a\nDisallow /b\nAllow: /c\nDisallow: /c\nAllow: d\n",
    );
    let done = folder.run(&["lint", "--format", "robots", "robots.txt"]);
    assert_eq!((done.status, &*done.stdout), (1, ""));
    let lines: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(
        lines,
        [
            "robots.txt:1:1: error: rule before the first `user-agent` line; it applies to no agent [ROB-4]",
            "robots.txt:3:13: warning: \"Googlebot/2.1\" is not a product token; reading it as `Googlebot` [ROB-1]",
            "robots.txt:4:1: error: unknown name \"Disalow\" (did you mean `disallow`?); ignoring the line [ROB-4]",
            "robots.txt:5:1: error: missing `:` after `disallow`; reading the line as if it were there [ROB-4]",
            "robots.txt:7:1: warning: no effect: line 6 allows the same path [ROB-2]",
            "robots.txt:8:8: error: \"d\": a path must start with `/` or `*`; ignoring the rule [ROB-3]",
        ]
    );
}

#[test]
fn an_automation_preferences_txt_is_checked_strictly() {
    let folder = Folder::new();
    folder.write(
        "prefs.txt",
        "scope: /a\nallowed-methods: GET\n\nscope: /a\nallowed-methods: POST, FETCH\nalowed-purposes: x\n\nhost: a/b\nscope: /b\n\n",
    );
    let done = folder.run(&["lint", "--format", "automation-preferences", "prefs.txt"]);
    assert_eq!((done.status, &*done.stdout), (1, ""));
    for expected in [
        "prefs.txt:1:1: warning: no effect: later groups (line 4) apply to all requests of this one [AUTO-14]",
        "prefs.txt:5:24: error: unknown method \"FETCH\"; ignoring it [AUTO-7]",
        "prefs.txt:6:1: error: unknown name \"alowed-purposes\" (did you mean `allowed-purposes`?); ignoring the line [AUTO-4]",
        "prefs.txt:8:1: warning: the group does not start with `scope`, as the grammar requires; other readers may ignore it [AUTO-20]",
        "prefs.txt:8:7: error: \"a/b\": not a valid host name [AUTO-12]",
        "prefs.txt:8:1: error: the group has no valid `host`; it applies to no request [AUTO-12]",
    ] {
        assert!(done.stderr.lines().any(|line| line == expected), "{expected}\n{}", done.stderr);
    }
}

#[test]
fn a_geofeed_is_checked_strictly() {
    let folder = Folder::new();
    folder.write("places.csv", "192.0.2.0/24,US,US-CA,,\n192.0.2.0/24,PL,,,\n198.51.100.0/24,USA,,,\n");
    let done = folder.run(&["lint", "--format", "geofeed", "places.csv"]);
    assert_eq!(done.status, 1);
    assert!(done.stderr.contains("places.csv:2:1: error: "), "{}", done.stderr);
    assert!(done.stderr.contains("places.csv:3:17: error: "), "{}", done.stderr);
}

#[test]
fn robots_tags_are_checked_line_by_line() {
    let folder = Folder::new();
    folder.write(
        "tags.txt",
        format!(
            "robots-tag: noindex, noidnex, x-new; A B=noindex\nX-Robots-Tag: NOINDEX, max-snippet\nX-Robots-Tag: noarchive; c=nofollow, nofollow=1\n{}\n",
            "a".repeat(9000)
        ),
    );
    let done = folder.run(&["lint", "--format", "robots-tag", "tags.txt"]);
    assert_eq!(done.status, 1);
    let reported: Vec<&str> = done.stderr.lines().take(7).collect();
    assert_eq!(
        reported,
        [
            "tags.txt:1:22: warning: unknown rule \"noidnex\" (did you mean `noindex`?); relaying it [TAG-4]",
            "tags.txt:1:31: warning: unknown rule \"x-new\"; relaying it, but crawlers may ignore it [TAG-4]",
            "tags.txt:1:38: error: \"A B=noindex\" is neither a rule nor a token with rules, such as `ExampleBot=noindex` [TAG-1]",
            "tags.txt:2:15: warning: duplicate rule, first at 1:13; merging them [TAG-3]",
            "tags.txt:2:24: warning: the rule \"max-snippet\" needs a value [TAG-4]",
            "tags.txt:3:15: warning: the crawlers of today read `X-Robots-Tag` as `noindex, nosnippet` or, for one token, `ExampleBot: noindex` [TAG-2]",
            "tags.txt:3:38: warning: the rule \"nofollow\" has no value [TAG-4]",
        ],
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("tags.txt:4:1: warning: the value has more than 8192 bytes"),
        "{}",
        done.stderr
    );
}

#[test]
fn jafar_20_a_shape_can_be_tried() {
    // JAFAR-20
    let folder = Folder::new();
    folder.write("own.json", r#"{"data":[{"range":"192.0.2.0/24"},{"range":"192.0.2.1/24"}]}"#);
    let done = folder.run(&["lint", "--format", "jafar", "own.json"]);
    let refused = "own.json:1:1: error: unknown shape: an object with the keys \"data\"; if its prefixes are at \
                   `data[].range`, set `shape` to this path [JAFAR-20]\n";
    assert_eq!((done.status, &*done.stderr), (1, refused));
    let done = folder.run(&["lint", "--format", "jafar", "--shape", "data[].range", "own.json"]);
    let lost = "own.json:1:44: warning: \"192.0.2.1/24\": host bits are set; write 192.0.2.0/24 [JAFAR-11]\n";
    assert_eq!((done.status, &*done.stderr), (0, lost));
    let done = folder.run(&["lint", "--format", "jafar", "--shape", "data[", "own.json"]);
    assert!(done.status == 2 && done.stderr.contains("`]` is missing"), "{}", done.stderr);
    let done = folder.run(&["lint", "--format", "cidr", "--shape", "data[]", "own.json"]);
    assert_eq!((done.status, &*done.stderr), (2, "crawlpike: error: --shape is for jafar\n"));
}
