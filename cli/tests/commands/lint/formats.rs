//! Files that are checked by themselves, with the option `--format`.

use crate::fixture::Folder;

#[test]
fn each_format_is_checked_strictly_by_its_own_rules() {
    let folder = Folder::new();
    for (format, content, expected) in [
        (
            "robots",
            "User-agent: a\nDisalow: /a\n",
            &["2:1: error: unknown name \"Disalow\" (did you mean `disallow`?); ignoring the line [ROB-4]"][..],
        ),
        (
            "automation-preferences",
            "host: a/b\nscope: /b\nallowed-methods: GET\n\n",
            &[
                "1:1: warning: the group does not start with `scope`, as the grammar requires; other readers may ignore it [AUTO-20]",
                "1:7: error: \"a/b\": a host is written without scheme, port and path [AUTO-12]",
                "1:1: error: the group has no valid `host`; it applies to no request [AUTO-12]",
            ],
        ),
        (
            "geofeed",
            "192.0.2.0/24,US,US-CA,,\n192.0.2.0/24,PL,,,\n198.51.100.0/24,USA,,,\n",
            &["2:1: error: ", "3:17: error: "],
        ),
    ] {
        folder.write("file", content);
        let done = folder.run(&["lint", "--format", format, "file"]);
        done.ends(1).prints_only("");
        for line in expected {
            done.says(&format!("file:{line}"));
        }
    }
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
    done.ends(1);
    let reported: Vec<&str> = done.stderr.lines().take(7).collect();
    assert_eq!(
        reported,
        [
            "tags.txt:1:22: warning: unknown rule \"noidnex\" (did you mean `noindex`?); relaying it [TAG-4]",
            "tags.txt:1:31: warning: unknown rule \"x-new\"; relaying it, but crawlers may ignore it [TAG-4]",
            "tags.txt:1:38: error: \"A B=noindex\" is neither a rule nor a token with rules, such as `ExampleBot=noindex` [TAG-1]",
            "tags.txt:2:15: warning: duplicate rule, first at 1:13; merging them [TAG-3]",
            "tags.txt:2:24: warning: the rule \"max-snippet\" needs a value [TAG-4]",
            "tags.txt:3:15: warning: current crawlers read `X-Robots-Tag` as `noindex, nosnippet` or, for one token, `ExampleBot: noindex` [TAG-2]",
            "tags.txt:3:38: warning: the rule \"nofollow\" has no value [TAG-4]",
        ],
        "{}",
        done.stderr
    );
    done.says("tags.txt:4:1: warning: the value has more than 8192 bytes");
}

#[test]
fn jafar_20_a_shape_can_be_tried() {
    // JAFAR-20
    let folder = Folder::new();
    folder.write("own.json", r#"{"data":[{"range":"192.0.2.0/24"},{"range":"192.0.2.1/24"}]}"#);
    let done = folder.run(&["lint", "--format", "jafar", "own.json"]);
    let refused = "own.json:1:1: error: unknown shape: an object with the keys \"data\"; if its prefixes are at \
                   `data[].range`, set `shape` to this path [JAFAR-20]\n";
    done.ends(1).says_only(refused);
    let done = folder.run(&["lint", "--format", "jafar", "--shape", "data[].range", "own.json"]);
    let lost = "own.json:1:44: warning: \"192.0.2.1/24\": host bits are set; write 192.0.2.0/24 [JAFAR-11]\n";
    done.ends(0).says_only(lost);
    folder.run(&["lint", "--format", "jafar", "--shape", "data[", "own.json"]).ends(2).says("`]` is missing");
    folder
        .run(&["lint", "--format", "cidr", "--shape", "data[]", "own.json"])
        .ends(2)
        .says_only("crawlpike: error: --shape is for jafar\n");
}
