mod formats;

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::fixture::Folder;

const CONFORMING: &str = r#"{
  "formatVersion": "1.0", "synctoken": "1", "creationTime": "2026-09-02T14:41:06Z",
  "prefixes": [ { "ipv4Prefix": "192.0.2.0/24" } ]
}"#;

#[test]
fn nothing_is_said_about_files_that_are_right() {
    let folder = Folder::new();
    folder.write("good.json", CONFORMING);
    folder.write("good.txt", "192.0.2.0/24\n");
    folder.write("good.csv", "192.0.2.0/24,PL,PL-14,Warszawa,\n");
    folder.write(
        "robots.txt",
        "User-agent: *\nDisallow: /private/\nSitemap: https://example.com/sitemap.xml\n",
    );
    folder.write("prefs.txt", "scope: /\nallowed-methods: GET, HEAD\n\n");
    // TAG-1, TAG-6, TAG-9, TAG-10: no `;` behind the last pair, a token without rules, all syntaxes.
    folder.write(
        "tags.txt",
        "Robots-Tag: noindex, max-snippet:20; ExampleBot=\nX-Robots-Tag: otherbot: nofollow\n\n*;nocache\n",
    );
    folder.write("empty.json", "{}");
    for (format, file) in [
        ("jafar", "good.json"),
        ("cidr", "good.txt"),
        ("geofeed", "good.csv"),
        ("robots", "robots.txt"),
        ("automation-preferences", "prefs.txt"),
        ("robots-tag", "tags.txt"),
        ("config", "empty.json"),
    ] {
        folder.run(&["lint", "--format", format, file]).ends(0).prints_only("").says_only("");
    }
}

#[test]
fn feeds_that_the_usual_guard_holds_are_found() {
    let folder = Folder::new();
    folder.write("all.txt", "0.0.0.0/0\n");
    folder.run(&["lint", "--format", "cidr", "all.txt"]).ends(0).says_only(
        "all.txt: warning: by default, gates hold this feed: it covers 0.0.0.0/0, wider than the limit (`widest`)\n",
    );
    folder.write("wide.csv", "8.0.0.0/8,US,,,\n9.0.0.0/8,US,,,\n11.0.0.0/8,US,,,\n");
    folder.run(&["lint", "--format", "geofeed", "wide.csv"]).ends(0).says_only("");
}

#[test]
fn errors_have_their_place_and_their_requirement() {
    let folder = Folder::new();
    folder.write("good.json", CONFORMING);
    folder.write("bad.json", CONFORMING.replace("192.0.2.0/24", "192.0.2.1/24"));
    let done = folder.run(&["lint", "--format", "jafar", "good.json", "bad.json"]);
    done.ends(1).prints_only("");
    assert!(done.stderr.starts_with("bad.json:3:33: error: "), "{}", done.stderr);
    done.says("write 192.0.2.0/24 [JAFAR-");

    let done = folder.run(&["lint", "--json", "--format", "jafar", "bad.json"]);
    done.ends(1).says_only("");
    let diagnostic: Value = serde_json::from_str(done.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(diagnostic["file"], "bad.json");
    assert_eq!((&diagnostic["line"], &diagnostic["column"]), (&Value::from(3), &Value::from(33)));
    assert_eq!(diagnostic["severity"], "error");
    assert!(diagnostic["requirement"].as_str().unwrap().starts_with("JAFAR-"));
    assert!(diagnostic["message"].as_str().unwrap().contains("192.0.2.0/24"));
}

#[test]
fn files_as_publishers_deploy_them_are_checked_leniently() {
    let folder = Folder::new();
    let feeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/data/feeds");
    let mut files = 0;
    for entry in fs::read_dir(feeds).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let done =
                folder.run(&["lint".as_ref(), "--format".as_ref(), "jafar".as_ref(), path.as_os_str()]);
            assert_eq!((done.status, done.stderr.contains(": error: ")), (0, false), "{done:?}");
            done.says(": warning: the key `formatVersion` is missing");
            files += 1;
        }
    }
    assert_eq!(files, 10);

    let lint = |options: &[&str], file: &str| {
        folder.run(&[&["lint", "--format", "jafar"], options, &[file]].concat()).status
    };
    // JAFAR-11: what can't be read is still only a warning, as on loading.
    folder.write("aws.json", r#"{ "syncToken": "1", "prefixes": [ { "ip_prefix": "192.0.2.1/24" }, { "ip_prefix": "192.0.2.0/24" } ] }"#);
    folder.write("array.json", r#"[ "192.0.2.0/24", "2001:db8::1" ]"#);
    for file in ["googlebot.json", "aws.json", "array.json"] {
        assert_eq!(
            [&[][..], &["--lenient"], &["--strict"]].map(|options| lint(options, file)),
            [0, 0, 1],
            "{file}"
        );
    }
    // JAFAR-2, JAFAR-6: whoever writes one of the members that only the specification has is held to it.
    folder.write("no-version.json", CONFORMING.replace(r#""formatVersion": "1.0", "#, ""));
    folder.write("no-token.json", CONFORMING.replace(r#""synctoken": "1", "#, ""));
    for file in ["no-version.json", "no-token.json"] {
        assert_eq!(
            [&[][..], &["--lenient"], &["--strict"]].map(|options| lint(options, file)),
            [1, 0, 1],
            "{file}"
        );
    }
    // JAFAR-24: what can't be loaded is an error, however lenient one is.
    folder.write("moved.json", r#"{ "Action needed": "update the location" }"#);
    folder.write("none.json", r#"{ "prefixes": [ { "ipv4Prefix": "x" } ] }"#);
    for file in ["moved.json", "none.json"] {
        assert_eq!([&[][..], &["--lenient"]].map(|options| lint(options, file)), [1, 1], "{file}");
    }
    folder.write("places.csv", "192.0.2.0/24,USA,,,\n198.51.100.0/24,PL,,,\n");
    assert_eq!(folder.run(&["lint", "--format", "geofeed", "--lenient", "places.csv"]).status, 0);
    assert_eq!(folder.run(&["lint", "--format", "geofeed", "places.csv"]).status, 1);
    assert_eq!(folder.run(&["lint", "--format", "robots", "--lenient", "places.csv"]).status, 2);
}

#[test]
fn a_configuration_is_checked_with_its_files() {
    let folder = Folder::new();
    folder.write("googlebot.json", "<html>");
    folder
        .run(&["lint", "--format", "config", "crawlpike.json"])
        .ends(1)
        .says("googlebot.json: error: this is HTML, not JSON");
    folder.write("hosts.json", r#"{ "mode": "enforce", "sites": [ { "hosts": ["example.com"] } ] }"#);
    folder
        .run(&["lint", "--format", "config", "hosts.json"])
        .ends(0)
        .says("hosts.json:1:11: warning: no site applies to other hosts");
}

/// The diagnostics of `lint` for a document that is refused, without the document's name.
fn reasons_against(document: &str) -> Vec<String> {
    let folder = Folder::new();
    folder.write("crawlpike.json", document);
    let done = folder.run(&["lint", "--format", "config", "crawlpike.json"]);
    done.ends(1).prints_only("");
    folder.run(&["explain", "--config", "crawlpike.json", "--ip", "::1"]).ends(2).prints_only("");
    done.stderr.lines().map(|line| line.replacen("crawlpike.json:", "", 1)).collect()
}

#[test]
fn every_error_of_a_configuration_is_reported_at_once() {
    let document = r#"{
  "mdoe": "enforce",
  "catalog": "nowhere.json",
  "feeds": [
    { "name": "a", "format": "cidr", "source": "a.txt", "guard": { "shrink": "101%", "widest": { "v4": 33 } } },
    { "name": "a", "format": "cidr", "source": "a.txt", "limits": { "bytes": -1 } },
    { "name": "b", "format": "cdir", "source": "a.txt" }
  ],
  "agents": [ { "token": "", "feeds": ["b", "c"], "action": "alow" } ],
  "sites": [
    { "hosts": ["example.com:80"], "robots_txt": "nowhere.txt", "enforce_percent": 300 },
    { "hosts": "example.org", "geo": [ { "county": ["PL"], "action": "deny" } ] },
    { "spoofed": "block", "modes": [ { "scope": "api", "mode": "off" }, { "mode": "off" } ] }
  ]
}"#;
    assert_eq!(
        reasons_against(document),
        [
            "2:3: error: unknown key `mdoe` (did you mean `mode`?)",
            "3:14: error: there is no file nowhere.json",
            "5:78: error: `feeds[0].guard.shrink`: `101%` is not a share such as `50%`",
            "5:104: error: `feeds[0].guard.widest.v4`: expected a whole number from 0 to 32, found the number 33",
            "6:15: error: duplicate feed name `a`",
            "6:78: error: `feeds[1].limits.bytes`: expected a whole number that is not negative, found the number -1",
            "7:30: error: `feeds[2].format`: unknown value `cdir` (did you mean `cidr`?)",
            "9:26: error: `` is not a valid agent token: it is empty",
            "9:61: error: `agents[0].action`: unknown value `alow` (did you mean `allow`?)",
            "11:17: error: `example.com:80`: a host is written without a port; it covers all ports",
            "11:50: error: there is no file nowhere.txt",
            "11:84: error: `sites[0].enforce_percent`: expected a whole number from 0 to 100, found the number 300",
            "12:16: error: `sites[1].hosts`: expected an array, found a string",
            "12:42: error: unknown key `sites[1].geo[0].county` (did you mean `country`?)",
            "13:18: error: `sites[2].spoofed`: unknown value `block` (known: deny, policy, allow)",
            "13:49: error: `api`: a path must start with `/` or `*`",
            "13:73: error: `sites[2].modes[1]`: missing key `scope`",
        ]
    );
}

#[test]
fn an_error_has_a_position_and_is_reported_once() {
    let table: [(&str, &[&str]); 7] = [
        (
            r#"{ "sites": [ {}, { "explain": true } ] }"#,
            &["1:18: error: the site `default` has no `hosts` either; only one site can be the default"],
        ),
        (
            r#"{ "sites": [ { "hosts": ["a.test"] }, { "hosts": ["a.test"] } ] }"#,
            &["1:51: error: duplicate host `a.test`; see site `a.test`"],
        ),
        (
            r#"{ "sites": [ { "hosts": ["a.test"] }, { "name": "a.test", "hosts": ["b.test"] } ] }"#,
            &["1:49: error: duplicate site name `a.test`"],
        ),
        (
            r#"{ "sites": [ { "geo": [ { "action": "deny" } ] } ] }"#,
            &[
                "1:25: error: a rule in `geo` names a country, a region or both",
                "1:25: warning: no effect: rules on places need a feed with the format `geofeed`",
            ],
        ),
        (
            r#"{ "\ud800": 1 }"#,
            &[r"1:3: error: expected a key, found a string with half of a surrogate pair, such as `\ud800`"],
        ),
        (
            r#"{ "mode": "\udc00" }"#,
            &[
                r"1:11: error: `mode`: expected a string, found a string with half of a surrogate pair, such as `\ud800`",
            ],
        ),
        (
            r#"{ "mode": "off\n\u001b[1m" }"#,
            &[r"1:11: error: `mode`: unknown value `off\n\u{1b}[1m` (did you mean `off`?)"],
        ),
    ];
    for (document, expected) in table {
        assert_eq!(reasons_against(document), expected, "{document}");
    }
}

#[test]
fn errors_past_those_that_are_kept_are_counted() {
    let folder = Folder::new();
    folder.write("bad.txt", "oops\n".repeat(101) + "192.0.2.0/24\n");
    let done = folder.run(&["lint", "--format", "cidr", "bad.txt"]);
    done.ends(1);
    let last = done.stderr.lines().last().unwrap();
    assert_eq!(last, "bad.txt: error: not shown: errors 1, warnings 0");
}

#[test]
fn unreadable_files_and_wrong_arguments_end_with_2() {
    let folder = Folder::new();
    folder.write("good.json", CONFORMING);
    folder.write("bad.json", "{}");
    folder
        .run(&["lint", "--format", "jafar", "nowhere.json", ".", "bad.json"])
        .ends(2)
        .says("nowhere.json: error: cannot be read: ")
        .says("\n.: error: cannot be read: not a regular file\n")
        .says("\nbad.json:1:1: error: ");

    assert_eq!(folder.run(&["lint", "--format", "jafra", "good.json"]).status, 2);
    assert_eq!(folder.run(&["lint", "--format", "jafar"]).status, 2);
}

#[test]
fn a_configuration_is_checked_with_its_policies_and_for_what_has_no_effect() {
    let folder = Folder::new();
    folder.write(
        "crawlpike.json",
        r#"{
  "feeds": [ { "name": "partners", "format": "cidr", "source": "partners.txt" } ],
  "agents": [
    { "token": "GPTBot" },
    { "token": "Bingbot", "feeds": [] }
  ],
  "sites": [
    { "hosts": ["example.com"], "robots_txt": "robots.txt", "automation_preferences": "prefs.txt",
      "geo": [
        { "country": ["PL", "DE"], "action": "deny" },
        { "country": ["de"], "region": ["DE-BE"], "action": "allow" },
        { "country": ["US"], "region": ["CA-QC"], "action": "deny" }
      ],
      "modes": [ { "scope": "/a%62c", "mode": "off" }, { "scope": "/abc", "mode": "enforce" } ]
    },
    { "hosts": ["example.org"], "robots_txt": "robots.txt", "automation_preferences": "prefs.txt" }
  ]
}"#,
    );
    folder.write("partners.txt", "192.0.2.0/24\n");
    folder.write("robots.txt", "User-agent: *\nDisallow: /admin/\nNoindexx: /a\n");
    folder.write("prefs.txt", "scope: /admin/api/\nallowed-methods: GET\n\n");
    let done = folder.run(&["lint", "--format", "config", "crawlpike.json"]);
    done.ends(0).prints_only("");
    let lines: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(
        lines,
        [
            "crawlpike.json:2:24: warning: the feed `partners` verifies no agent: no agent lists it in `feeds`",
            "crawlpike.json:4:16: warning: the agent `GPTBot` cannot be verified: its ranges are published at https://openai.com/gptbot.json, but no feed has this `url`",
            "crawlpike.json:10:23: warning: no effect: rules on places need a feed with the format `geofeed`",
            "crawlpike.json:11:23: warning: no effect: earlier rules, as at 10:23, apply to all clients of this one",
            "crawlpike.json:12:41: warning: no effect: \"CA-QC\" is in none of the rule's countries",
            "crawlpike.json:14:67: warning: no effect: duplicate scope, first at 14:29",
            "robots.txt:3:1: warning: unknown name \"Noindexx\" (did you mean `noindex`?); ignoring the line [ROB-4]",
            "prefs.txt:1:8: warning: no effect: robots.txt (line 2) disallows everything in this scope [AUTO-15]",
        ],
        "{}",
        done.stderr
    );
}

#[test]
fn policies_of_a_configuration_are_read_strictly_by_lint_only() {
    let folder = Folder::new();
    folder.write("crawlpike.json", r#"{ "sites": [ { "robots_txt": "robots.txt" } ] }"#);
    folder.write("robots.txt", "User-agent: *\nDisalow: /\n");
    folder
        .run(&["lint", "--format", "config", "crawlpike.json"])
        .ends(1)
        .says("robots.txt:2:1: error: unknown name \"Disalow\"");
    folder.run(&["explain", "--config", "crawlpike.json", "--ip", "192.0.2.1"]).ends(0).says_only("");
}

#[test]
fn a_configuration_is_checked_for_what_only_this_machine_shows() {
    let folder = Folder::new();
    folder.write(
        "crawlpike.json",
        r#"{ "feeds": [ { "name": "partners", "format": "cidr", "source": "partners.txt", "max_age": "7d" } ],
  "agents": [ { "token": "PartnerProbe", "feeds": ["partners"] } ] }"#,
    );
    folder.write("partners.txt", "192.0.2.0/24\n");
    fs::set_permissions(folder.path("."), Permissions::from_mode(0o755)).unwrap();
    let lint = |arguments: &[&str]| {
        folder.run(&[&["lint", "--format", "config"], arguments, &["crawlpike.json"]].concat())
    };
    lint(&[]).ends(0).says_only("");
    lint(&["--as-user", "nobody"]).ends(0).says_only("");

    let day = Duration::from_secs(86_400);
    let set_time = |time| {
        File::options().append(true).open(folder.path("partners.txt")).unwrap().set_modified(time).unwrap();
    };
    set_time(SystemTime::now() - 8 * day);
    lint(&[]).ends(0).says_only("crawlpike.json: warning: the feed `partners` is stale: it is 8d old, over its `max_age` of 7d; it verifies no client, and clients that claim its agents are `unverified`, not `spoofed`\n");
    set_time(SystemTime::now() + day / 24);
    lint(&[]).ends(0).says("partners.txt: warning: the time of the file is in the future (");
    set_time(SystemTime::now() + 2 * day);
    lint(&[]).ends(0).says("the feed `partners` is stale: its date is ");
    let json = lint(&["--json"]);
    assert_eq!(json.ends(0).stdout.lines().count(), 2, "{json:?}");

    set_time(SystemTime::now());
    fs::set_permissions(folder.path("partners.txt"), Permissions::from_mode(0o600)).unwrap();
    let path = folder.path("partners.txt").display().to_string();
    lint(&["--as-user", "nobody"])
        .ends(0)
        .says("partners.txt: warning: the user `nobody` may not read the file ")
        .says(&format!("; chmod o+r {path}\n"));
    lint(&["--as-user", "no such user"]).ends(2).says("--as-user: no user is named");
    folder.run(&["lint", "--format", "robots", "--as-user", "nobody", "partners.txt"]).ends(2);
}
