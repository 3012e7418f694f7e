//! `crawlpike update` beside a running nginx: from the publisher's server to the verdict.

use std::process::Command;
use std::time::Instant;

use crawlpike_tests::artefacts;
use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{DOCUMENT, HTTP, from, lab, person, spoofed, verified};
use crawlpike_tests::load::{Probe, during};
use crawlpike_tests::nginx::{Nginx, ask, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use crawlpike_tests::publisher::{Authority, Publisher, VALID, respond, trust};

/// The number of new versions of the publisher.
const VERSIONS: usize = 5;

#[test]
fn what_a_publisher_changes_decides_without_a_lost_request() {
    let (authority, port) = (Authority::new(), free_port());
    let list = |number: usize| format!("192.0.2.0/24\n2001:db8::/32\n198.51.100.{number}\n");
    let publisher = Publisher::https(authority.identity(VALID), |_, connection| {
        respond(connection, "503 Service Unavailable", &[], "")
    });
    let folder = lab();
    let url = format!(r#""name": "lab", "url": "{}","#, publisher.url("/lab.txt"));
    folder.write("crawlpike.json", DOCUMENT.replace(r#""name": "lab","#, &url));
    let server =
        format!("server {{ listen 127.0.0.1:{port}; location / {{ try_files /nginx.conf =404; }} root .; }}");
    let nginx = Nginx::start(folder, &format!("{HTTP} crawlpike_refresh 1s; {server}"));
    let update = || {
        let mut command = Command::new(artefacts::cli());
        command.args(["update", "--config"]).arg(nginx.folder().path().join("crawlpike.json"));
        trust(&mut command, &authority.file());
        command.output().unwrap()
    };
    assert_eq!(update().status.code(), Some(1), "the publisher refuses");
    std::fs::remove_file(nginx.folder().path().join("crawlpike.json.update-state")).unwrap();
    let probes = [
        Probe { request: verified("/"), status: 200 },
        Probe { request: spoofed("/"), status: 403 },
        Probe { request: person("/"), status: 200 },
    ];
    let mut seconds = Vec::new();
    let report = during(local(port), &probes, || {
        for number in 0..VERSIONS {
            publisher.answer(move |_, connection| {
                respond(connection, "200 OK", &["Cache-Control: no-cache"], list(number))
            });
            let started = Instant::now();
            let output = update();
            assert!(output.status.success(), "{output:?}");
            let fetched = started.elapsed();
            let new = from(&format!("198.51.100.{number}"), Request::get("/").agent("LabBot/1.0"));
            // Each worker refreshes by itself.
            wait_for("the new version in all workers", || {
                (0..20).all(|_| ask(port, &new).status == 200).then_some(())
            });
            seconds.push((fetched.as_secs_f32(), started.elapsed().as_secs_f32()));
        }
    });
    println!(
        "seconds until the file was replaced, and until it decided: {seconds:.2?}; {} requests",
        report.requests
    );
    assert!(report.failures.is_empty(), "of {} requests: {:#?}", report.requests, report.failures);
    let log = nginx.folder().read("error.log");
    assert!(!log.contains("refresh failed"), "{log}");
}
