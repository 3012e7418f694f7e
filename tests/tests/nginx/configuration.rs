//! The messages of `nginx -t`.

mod no_effect;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crawlpike_tests::lab::{DOCUMENT, lab, lab_with_robots, lab_with_sites};
use crawlpike_tests::nginx::{Folder, Nginx, Setup};
use rustix::process::geteuid;

const LOAD: &str = "crawlpike_config crawlpike.json;";

/// Names and contents, in place of the good ones.
type Files = Vec<(&'static str, String)>;

/// True if nginx accepts the configuration, and nginx's messages.
fn check(folder: &Folder, http: &str) -> (bool, String) {
    let output = Nginx::check(folder, http);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}: {text}", output.status);
    (output.status.success(), text)
}

#[test]
fn a_good_configuration_passes() {
    let (passes, text) = check(&lab(), LOAD);
    assert!(passes && text.contains("test is successful"), "{text}");
    let (passes, text) = check(&lab(), "");
    assert!(passes, "without crawlpike_config: {text}");
    for value in ["0", "off", "100ms", "60", "5m"] {
        let (passes, text) = check(&lab(), &format!("crawlpike_refresh {value}; {LOAD}"));
        assert!(passes, "{value}: {text}");
    }
}

/// A mistake in each kind of file. The mistakes themselves are in the tests of `crawlpike-core` and of `crawlpike lint`.
#[test]
fn broken_inputs_are_refused_where_they_are_broken() {
    let with = |from: &str, to: &str| {
        assert!(DOCUMENT.contains(from), "{from}");
        DOCUMENT.replace(from, to)
    };
    let jafar = || with(r#""cidr", "source": "lab.txt""#, r#""jafar", "source": "lab.json""#);
    let catalog = || with(r#""none""#, r#""agents.json""#);
    let document = |text: String| -> Files { vec![("crawlpike.json", text)] };
    let table: Vec<(&str, Files, &str)> = vec![
        ("an empty document", document(String::new()), "crawlpike.json:1:1: error: not JSON"),
        (
            "an unknown key",
            document(with(r#""mode""#, r#""mood""#)),
            "crawlpike.json:2:3: error: unknown key `mood` (did you mean `mode`?)",
        ),
        (
            "an agent with an unknown feed",
            document(with(r#"["lab"]"#, r#"["lib"]"#)),
            "crawlpike.json:5:46: error: unknown feed `lib`",
        ),
        (
            "a catalog that is not one",
            vec![("crawlpike.json", catalog()), ("agents.json", r#"{ "agents": 5 }"#.into())],
            "agents.json:1:13: error: ",
        ),
        (
            "a feed that is not JSON",
            vec![("crawlpike.json", jafar()), ("lab.json", "{\n  oops\n}".into())],
            "lab.json:2:3: error: not JSON",
        ),
        (
            "a web page instead of a feed",
            vec![("lab.txt", "<html>\n<title>404</title>\n".into())],
            "lab.txt: error: this is HTML, not a list of prefixes",
        ),
        (
            "a feed that is not text",
            vec![("lab.txt", "192.0.2.0/24\u{0}\n".into())],
            "lab.txt: error: cannot read any of the 1 entries",
        ),
    ];
    let mut wrong = String::new();
    for (name, files, expected) in table {
        let folder = lab();
        for (file, text) in files {
            folder.write(file, text);
        }
        let (passes, text) = check(&folder, LOAD);
        // Nothing is in force yet that could be held.
        if passes
            || text.contains("held")
            || !text.contains(expected)
            || !text.contains("crawlpike.json is invalid, see the errors above")
        {
            wrong.push_str(&format!("\n{name}: expected {expected}\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The master reads as root what its workers then publish.
#[test]
fn a_policy_that_the_workers_may_not_read_is_refused() {
    let of_workers = Setup { main: "user nobody nogroup;".to_owned(), ..Setup::default() };
    for (policy_mode, folder_mode, may_read) in
        [(0o644, 0o755, true), (0o640, 0o755, false), (0o644, 0o700, false)]
    {
        let folder = lab_with_robots("User-agent: *\nDisallow: /private/\n");
        let set_mode = |path: PathBuf, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        set_mode(folder.path().join("robots.txt"), policy_mode);
        set_mode(folder.path().to_owned(), folder_mode);
        let output = Nginx::check_setup(&folder, LOAD, &of_workers);
        let text = String::from_utf8_lossy(&output.stderr);
        // Without root, the workers have the rights of the user.
        let passes = may_read || !geteuid().is_root();
        assert_eq!(output.status.success(), passes, "{text}");
        assert_eq!(text.contains("robots.txt: it is served to clients, but"), !passes, "{text}");
    }
}

#[test]
fn a_robots_txt_that_is_none_is_no_policy_that_allows_everything() {
    let utf16: Vec<u8> = "User-agent: *\nDisallow: /\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, reason) in [
        (utf16, "this is UTF-16 (little-endian), not a robots.txt in UTF-8: convert it"),
        (b"\x1f\x8b\x08\0".to_vec(), "this is gzip-compressed, not a robots.txt in UTF-8: convert it"),
        (b"\n<!DOCTYPE HTML>\n".to_vec(), "this is HTML, not a robots.txt: it has no rules"),
    ] {
        let folder = lab_with_robots("");
        folder.write("robots.txt", bytes);
        let (passes, text) = check(&folder, LOAD);
        assert!(!passes && text.contains(&format!("robots.txt: error: {reason}")), "{text}");
        assert_eq!(text.matches(": error: ").count(), 1, "{text}");
    }
}

#[test]
fn a_mistake_is_told_once() {
    let folder = lab();
    let twice = r#"{ "catalog": "none", "agents": [ { "token": "A" }, { "token": "a" }, { "token": "" } ] }"#;
    folder.write("crawlpike.json", twice);
    let (_, text) = check(&folder, LOAD);
    assert!(
        text.contains("crawlpike.json:1:63: error: duplicate token `a`; another agent has it already"),
        "{text}"
    );
    assert!(
        text.contains("crawlpike.json:1:81: error: `` is not a valid agent token: it is empty"),
        "{text}"
    );
    assert_eq!(text.matches(": error: ").count(), 2, "{text}");
}

#[test]
fn what_is_lost_of_a_feed_is_a_warning() {
    let folder = lab();
    folder.write("lab.txt", "192.0.2.0/24\n192.0.2.1/33\n");
    let (passes, text) = check(&folder, LOAD);
    assert!(passes, "{text}");
    assert!(text.contains("[warn]") && text.contains("lab.txt:2:1: warning: "), "{text}");
}

#[test]
fn a_feed_that_is_not_there_yet_is_a_warning() {
    let folder = lab();
    fs::remove_file(folder.path().join("lab.txt")).unwrap();
    let (passes, text) = check(&folder, LOAD);
    assert!(passes, "{text}");
    assert!(text.contains("crawlpike.json:4:59: warning: the feed `lab` is missing: the file"), "{text}");
}

#[test]
fn feeds_that_were_never_fetched_are_one_warning() {
    let folder = lab();
    let feed = |name: &str| {
        format!(
            r#"{{ "name": "{name}", "format": "cidr", "source": "{name}.txt", "url": "https://example.com/{name}" }}"#
        )
    };
    let agents = r#"[ { "token": "LabBot", "feeds": ["a", "b"] } ]"#;
    folder.write(
        "crawlpike.json",
        format!(r#"{{ "catalog": "none", "feeds": [ {}, {} ], "agents": {agents} }}"#, feed("a"), feed("b")),
    );
    let (passes, text) = check(&folder, LOAD);
    assert!(passes, "{text}");
    let warning = "crawlpike.json: warning: 2 feeds have never been fetched, and verify no client";
    assert_eq!((text.matches(warning).count(), text.matches(" is missing: ").count()), (1, 0), "{text}");
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    for name in ["lab.txt", "robots.txt", "crawlpike.json"] {
        let folder = lab_with_robots("");
        folder.make_pipe(name);
        let (passes, text) = check(&folder, LOAD);
        assert!(!passes && text.contains("not a regular file"), "{name}: {text}");
    }
}

#[test]
fn directives_are_checked() {
    let table = [
        ("crawlpike_config nowhere.json;", "nowhere.json"),
        ("crawlpike_config .;", "not a regular file"),
        (
            "crawlpike_config crawlpike.json; crawlpike_config crawlpike.json;",
            r#""crawlpike_config" directive is duplicate"#,
        ),
        ("server { crawlpike_config crawlpike.json; }", "directive is not allowed here"),
        ("crawlpike_config;", "invalid number of arguments"),
        (
            "crawlpike maybe;",
            r#"invalid value "maybe" in "crawlpike" directive, it must be "off", "observe", "enforce" or a variable in "#,
        ),
        ("crawlpike Enforce;", r#"invalid value "Enforce""#),
        ("crawlpike off; crawlpike observe;", r#""crawlpike" directive is duplicate in "#),
        ("crawlpike off observe;", "invalid number of arguments"),
        ("crawlpike $no_such_variable;", r#"unknown "no_such_variable" variable"#),
        (
            "crawlpike_refresh soon;",
            r#"invalid value "soon" in "crawlpike_refresh" directive, it must be at least "100ms", or "off" in "#,
        ),
        ("crawlpike_refresh 99ms;", r#"invalid value "99ms""#),
        ("crawlpike_refresh 1m; crawlpike_refresh off;", r#""crawlpike_refresh" directive is duplicate"#),
        ("server { crawlpike_refresh 1m; }", "directive is not allowed here"),
        ("crawlpike_configuration x;", "unknown directive"),
        (
            "crawlpike_deny_status 399;",
            r#"invalid value "399" in "crawlpike_deny_status" directive, it must be a status from 400 to 599 in "#,
        ),
        ("crawlpike_deny_status 600;", r#"invalid value "600""#),
        ("crawlpike_deny_status forbidden;", r#"invalid value "forbidden""#),
        ("crawlpike_deny_status +404;", r#"invalid value "+404""#),
        ("crawlpike_deny_status;", "invalid number of arguments"),
        (
            "crawlpike_deny_status 404; crawlpike_deny_status 404;",
            r#""crawlpike_deny_status" directive is duplicate"#,
        ),
        (
            "crawlpike_log_level debug;",
            r#"invalid value "debug" in "crawlpike_log_level" directive, it must be "info", "notice", "warn" or "error" in "#,
        ),
        (
            "crawlpike_log_level info; crawlpike_log_level warn;",
            r#""crawlpike_log_level" directive is duplicate"#,
        ),
        (
            "crawlpike_trust_header yes;",
            r#"invalid value "yes" in "crawlpike_trust_header" directive, it must be "on" or "off" in "#,
        ),
        (
            "crawlpike_trust_header on; crawlpike_trust_header off;",
            r#""crawlpike_trust_header" directive is duplicate"#,
        ),
        ("crawlpike_site x;", "directive is not allowed here"),
        ("server { crawlpike_site a; crawlpike_site a; }", r#""crawlpike_site" directive is duplicate"#),
        (
            "server { location / { if ($args) { crawlpike off; } } }",
            r#""crawlpike" directive is not allowed here"#,
        ),
        (
            "server { location / { if ($args) { crawlpike_deny_status 404; } } }",
            r#""crawlpike_deny_status" directive is not allowed here"#,
        ),
    ];
    let mut wrong = String::new();
    for (http, expected) in table {
        let (passes, text) = check(&lab(), http);
        if passes || !text.contains(expected) {
            wrong.push_str(&format!("\n{http}: expected {expected}\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_site_that_is_not_in_the_document_is_told_with_its_place() {
    let folder =
        lab_with_sites(r#"{ "name": "shop", "hosts": ["shop.example"] }, { "hosts": ["blog.example"] }"#);
    let unknown = "\nserver {\n location / {\n crawlpike_site shpo;\n }\n }\n";
    let (passes, text) = check(&folder, &format!("{unknown}{LOAD}"));
    assert!(!passes);
    let message =
        r#"crawlpike: unknown site `shpo` in "crawlpike_site" directive (did you mean `shop`?) in "#;
    let line = text.lines().find(|line| line.contains(message)).unwrap_or_else(|| panic!("{text}"));
    assert!(line.starts_with("nginx: [emerg] "), "{line}");
    let conf = folder.read("nginx.conf");
    let at = 1 + conf.lines().position(|line| line.contains("crawlpike_site")).unwrap();
    assert!(line.ends_with(&format!("nginx.conf:{at}")), "{line}");

    let named = "server { crawlpike_site shop; location / { crawlpike_site blog.example; } }";
    let (passes, text) = check(&folder, &format!("{named} {LOAD}"));
    assert!(passes, "{text}");
}
