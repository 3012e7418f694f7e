//! `make demo`: it shows what it promises, cleans up, and with KEEP=1 leaves what it prints.

use std::fs;
use std::path::Path;
use std::process::Command;

use crawlpike_tests::artefacts;
use crawlpike_tests::http::Request;
use crawlpike_tests::lab::ADDRESS_HEADER;
use crawlpike_tests::nginx::ask;
use crawlpike_tests::process::wait_for;

/// The output of the demo, which must succeed.
fn run(keep: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_demo")).env("KEEP", keep).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn all_gates_and_the_server_agree_in_a_table_of_100_columns() {
    let text = run("");
    // The picture on README's first screen is drawn from it.
    let recorded = fs::read_to_string(artefacts::repository().join("docs/pictures/demo.txt")).unwrap();
    assert_eq!(text, recorded, "write this to docs/pictures/demo.txt, and run make pictures");
    assert!(text.contains("agree on all"), "{text}");
    assert!(text.lines().count() > 20);
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn with_keep_the_servers_go_on_until_the_printed_command() {
    let text = run("1");
    let url = |line: &str| {
        line.rsplit_once("http://127.0.0.1:").map(|(_, rest)| rest.trim_end_matches('/').to_owned())
    };
    let ports: Vec<u16> = text
        .lines()
        .filter(|line| line.trim_start().starts_with("curl"))
        .filter_map(|line| url(line)?.parse().ok())
        .collect();
    let stop = text.lines().find(|line| line.trim_start().starts_with("kill ")).expect("how to stop them");
    let googlebot = |port, address| {
        ask(port, &Request::get("/").agent("Googlebot").header(ADDRESS_HEADER, address)).status
    };
    let statuses: Vec<(u16, u16)> = ports
        .iter()
        .map(|port| (googlebot(*port, "66.249.66.1"), googlebot(*port, "198.51.100.7")))
        .collect();
    // Before anything can fail: nothing else would stop them.
    assert!(Command::new("sh").args(["-c", stop]).status().unwrap().success(), "{stop}");
    assert_eq!(statuses, [(200, 403); 8], "{text}");
    let folder = stop.rsplit(' ').next().unwrap();
    wait_for("the end of the servers", || {
        let is_over = |port: &u16| std::net::TcpStream::connect(("127.0.0.1", *port)).is_err();
        ports.iter().all(is_over).then_some(())
    });
    assert!(!Path::new(folder).exists(), "{folder} is left");
}
