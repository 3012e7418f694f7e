//! Which logs are read, and what they lack.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::process::geteuid;
use serde_json::Value;

use super::{folder, json, log, report};
use crate::fixture::Done;

#[test]
fn logs_may_be_compressed_in_folders_and_on_stdin() {
    let folder = folder();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(log().as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    fs::create_dir_all(folder.path("logs/old")).unwrap();
    folder.write("logs/access.log", log());
    folder.write("logs/old/access.log.2", &gzip);
    folder.write("logs/error.log", "2026/11/22 07:05:12 [error] 1#1: *1 open() failed\n");
    let requests = |done: Done| {
        done.ends(0);
        json(&done)["total"]["requests"].clone()
    };
    let arguments = |logs| ["report", "--config", "crawlpike.json", "--json", logs];
    assert_eq!(requests(folder.run(&arguments("logs"))), 18);
    assert_eq!(requests(folder.run_with(&arguments("-"), &gzip)), 9);
    assert_eq!(requests(folder.run_with(&arguments("-"), log())), 9);
}

#[test]
fn a_file_with_several_names_counts_once() {
    let folder = folder();
    fs::create_dir(folder.path("logs")).unwrap();
    folder.write("logs/access.log", log());
    symlink("access.log", folder.path("logs/current.log")).unwrap();
    let arguments = ["report", "--config", "crawlpike.json", "--json", "logs", "./logs/access.log"];
    let done = folder.run(&arguments);
    done.ends(0);
    let input = &json(&done)["input"];
    assert_eq!(input["requests"], 9);
    for (file, name) in [(1, "logs/current.log"), (2, "./logs/access.log")] {
        done.says(&format!("{name}: warning: the same file as logs/access.log, which counts once\n"));
        assert_eq!(
            (&input["files"][file]["name"], &input["files"][file]["same_as"]),
            (&name.into(), &"logs/access.log".into())
        );
    }
}

/// As root, every folder can be read.
#[test]
fn a_folder_that_cannot_be_read_hides_no_other_log() {
    let folder = folder();
    fs::create_dir_all(folder.path("logs/a")).unwrap();
    folder.write("logs/access.log", log());
    symlink("gone", folder.path("logs/gone.log")).unwrap();
    fs::set_permissions(folder.path("logs/a"), Permissions::from_mode(0o0)).unwrap();
    let done = folder.run(&["report", "--config", "crawlpike.json", "--json", "logs"]);
    done.ends(2).says("logs/gone.log: error: cannot be read: ");
    if !geteuid().is_root() {
        done.says("logs/a: error: cannot be read: ");
    }
    assert_eq!(json(&done)["input"]["requests"], 9);
}

#[test]
fn what_the_log_lacks_is_counted() {
    let folder = folder();
    let address = |value: &str| {
        format!("{{\"address\":{value},\"request_method\":\"GET\",\"uri\":\"/\",\"user_agent\":\"x\"}}\n")
    };
    folder.write("access.log", [r#"["192.0.2.1"]"#, r#""-""#, r#""192.0.2.1""#].map(address).concat());
    let done = report(&folder, &["--html", "report.html"]);
    done.ends(0);
    for sentence in [
        "The log has no host for 3 requests (100 %); --default-host names it.",
        "The log has no address for 2 requests (67 %); without one, no range verifies or refutes a claim.",
        "The log has no time for 3 requests (100 %).",
        "The log has no path before rewrites for 3 requests (100 %); log `$request` or `$request_uri`.",
    ] {
        done.prints(sentence);
    }
    let input = &json(&report(&folder, &["--json"]))["input"];
    let counts = ["requests", "without_host", "without_address", "without_time", "rewritten"];
    assert_eq!(counts.map(|count| input[count].clone()), [3, 3, 2, 3, 3].map(Value::from));
    assert!(folder.read("report.html").contains("2 requests have no address in the log"));
    let done = report(&folder, &["--since", "24h"]);
    done.ends(0).prints("3  they have no time, and --since leaves them out");
    let input = &json(&report(&folder, &["--since", "24h", "--host", "example.com", "--json"]))["input"];
    assert_eq!((&input["undated"], &input["filtered"]), (&0.into(), &3.into()));
}

#[test]
fn what_cannot_be_read_has_an_exit_status() {
    let folder = folder();
    folder.write("access.log", log());
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(log().repeat(1_000).as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    folder.write("cut.gz", &gzip[..gzip.len() / 2]);
    folder.write("other.log", "hello\nworld\n");
    for (logs, expected) in [
        (&["missing.log", "access.log"][..], "missing.log: error: cannot be read"),
        (&["access.log", "cut.gz"], "cut.gz: error: cannot be read"),
        (&["other.log"], "no line matches the log format"),
    ] {
        folder
            .run(&[&["report", "--config", "crawlpike.json"], logs].concat())
            .ends(2)
            .says(expected)
            .prints("requests");
    }
    for (arguments, expected) in [
        (["--log-format", "$remote_addr"], "the format lacks $http_user_agent"),
        (["--since", "yesterday"], "expected a date"),
        (["--diff", "missing.json"], "missing.json"),
    ] {
        report(&folder, &arguments).ends(2).says(expected);
    }
}
