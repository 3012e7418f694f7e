//! The command line. A command does its work, or ends with a message and a status that says so; whatever was in force is whole.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use crawlpike_tests::artefacts;
use crawlpike_tests::dns::{DnsServer, Reply};
use crawlpike_tests::faults::{Faults, Kind};
use crawlpike_tests::http::{Request, send};
use crawlpike_tests::lab::{lab, unguarded};
use crawlpike_tests::nginx::{Folder, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::{PATIENCE, Server, program, wait_for};
use crawlpike_tests::publisher::{Authority, Publisher, VALID, proxy_to, respond, trust};
use crawlpike_tests::serve::Serve;
use rustix::process::Signal;
use serde_json::json;

use crate::{Excused, each_fault};

/// The proof of a domain, and its token.
const TOKEN: &str = "8a93c5f24b1e7d0c3f9a8b2e6d4c1f0e";
const PROOF: &str = "aiwi-verify=8a93c5f24b1e7d0c3f9a8b2e6d4c1f0e";

/// A command in a folder that has a plan of faults. It is killed, with the status 124, if it takes longer than anything does.
fn command(folder: &Folder, arguments: &[&str]) -> Command {
    command_under(&["timeout", "--kill-after=1", &PATIENCE.as_secs().to_string()], folder, arguments)
}

fn command_under(runner: &[&str], folder: &Folder, arguments: &[&str]) -> Command {
    let faults = Faults::under(folder.path());
    let under: Vec<&str> = runner.iter().copied().chain(faults.iter().map(String::as_str)).collect();
    let mut command = program(&under, artefacts::cli());
    command.args(arguments).current_dir(folder.path());
    command
}

/// Says what is wrong with the end of a command that may have failed.
fn judge(output: &Output, failures: &[i32]) -> Result<(), String> {
    let text = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) if !text.contains("panicked") => Ok(()),
        Some(code) if failures.contains(&code) && text.contains(':') && !text.contains("panicked") => Ok(()),
        code => Err(format!("{code:?}: {text}")),
    }
}

/// Two lists, in turn.
fn list(number: usize) -> String {
    (0..16 + number % 2).map(|third| format!("192.0.{third}.0/24\n")).collect()
}

fn is_whole(file: &Path) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    if [0, 1].iter().any(|number| text == list(*number)) { Ok(()) } else { Err(format!("{text:?}")) }
}

#[test]
fn compile_writes_a_ruleset_or_leaves_the_old_one() {
    let folder = lab();
    let faults = Faults::new(folder.path());
    let arguments = ["compile", "--config", "crawlpike.json", "--output", "crawlpike.bin"];
    let compile = || command(&folder, &arguments).output().expect("it runs");
    assert!(compile().status.success());
    let mut number = 0;
    let run = || {
        number += 1;
        folder.write("lab.txt", list(number));
        compile()
    };
    each_fault(&faults, "compile", Excused::default(), run, |_, output| {
        judge(&output, &[1, 2])?;
        let lookup = ["lookup", "--config", "crawlpike.bin", "192.0.2.1"];
        let found = command(&folder, &lookup).output().expect("it runs");
        match String::from_utf8_lossy(&found.stdout).contains("lab") {
            true => Ok(()),
            false => Err(format!("the ruleset is lost: {found:?}")),
        }
    });
}

#[test]
fn update_replaces_a_feed_or_leaves_the_old_one() {
    let folder = Folder::new();
    let faults = Faults::new(folder.path());
    let authority = Authority::new();
    let asked = AtomicUsize::new(0);
    let publisher = Publisher::https(authority.identity(VALID), move |_, connection| {
        respond(connection, "200 OK", &[], list(asked.fetch_add(1, Ordering::Relaxed)))
    });
    let feed = json!({ "name": "lab", "format": "cidr", "source": "lab.txt", "url": publisher.url("/") });
    folder.write("crawlpike.json", json!({ "catalog": "none", "feeds": [feed] }).to_string());
    let run = || {
        // Without it, the publisher is asked again.
        let _ = fs::remove_file(folder.path().join("crawlpike.json.update-state"));
        let mut update = command(&folder, &["update", "--config", "crawlpike.json"]);
        trust(&mut update, &authority.file());
        update.output().expect("it runs")
    };
    assert!(run().status.success());
    each_fault(&faults, "update", Excused::default(), run, |_, output| {
        judge(&output, &[1, 2])?;
        ["lab.txt", "lab.txt.last-good"].iter().try_for_each(|file| is_whole(&folder.path().join(file)))
    });
    assert!(run().status.success());
}

#[test]
fn verify_gives_a_verdict_or_says_why_not() {
    let folder = Folder::new();
    let faults = Faults::new(folder.path());
    let authority = Authority::new();
    let identity = authority.identity_of(vec!["example.com".to_owned()]);
    let publisher = Publisher::https(identity, |_, connection| respond(connection, "200 OK", &[], PROOF));
    let proxy = proxy_to(publisher.port());
    let servers = [DnsServer::new(Reply::text(PROOF)), DnsServer::new(Reply::text(PROOF))];
    let [first, second] = servers.each_ref().map(DnsServer::address);
    let arguments = [
        "aiwebindex",
        "verify",
        "example.com",
        "--token",
        TOKEN,
        "--resolver",
        &first,
        "--resolver",
        &second,
    ];
    let run = || {
        let mut verify = command(&folder, &arguments);
        trust(&mut verify, &authority.file());
        verify.env("https_proxy", format!("http://localhost:{proxy}"));
        verify.output().expect("it runs")
    };
    assert!(run().status.success());
    each_fault(&faults, "aiwebindex verify", Excused::default(), run, |_, output| judge(&output, &[1, 2]));
}

#[test]
fn serve_begins_or_says_why_not() {
    let folder = lab();
    folder.write("crawlpike.json", unguarded());
    let faults = Faults::new(folder.path());
    let run = || {
        let admin = free_port();
        let address = format!("127.0.0.1:{admin}");
        let arguments =
            ["serve", "--config", "crawlpike.json", "--http", "unix:serve.sock", "--admin", &address];
        // Not by `timeout`, which ends by itself at a signal that reaches it before it knows the process that it has begun.
        let mut serve = Server::start(
            "serve",
            &mut command_under(&[], &folder, &arguments),
            &folder.path().join("serve.log"),
            &[],
        );
        let mut is_ready = false;
        let status = wait_for("serve begins, and ends", || {
            let ended = serve.status();
            if ended.is_none() && !is_ready && send(local(admin), &Request::get("/readyz")).is_ok() {
                is_ready = true;
                serve.signal(Signal::TERM);
            }
            ended
        });
        Output { status, stdout: Vec::new(), stderr: folder.read("serve.log").into() }
    };
    assert!(run().status.success());
    each_fault(&faults, "serve, start", Excused::default(), run, |_: Kind, output| judge(&output, &[2]));
}

#[test]
fn serve_keeps_the_ruleset_where_a_reload_fails() {
    let folder = lab();
    let config = folder.write("crawlpike.json", unguarded());
    let faults = Faults::new(folder.path());
    let under = Faults::under(folder.path());
    let under: Vec<&str> = under.iter().map(String::as_str).collect();
    let mut serve = Serve::start_under(&under, &folder, "serve", &config, &["--dialect", "nginx"]);
    let reloads = |serve: &Serve| {
        let page = serve.admin("/metrics").text();
        let counts = page.lines().filter(|line| line.starts_with("crawlpike_reloads_total{"));
        let counts = counts.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        counts.sum::<f64>()
    };
    let mut number = 0;
    let run = || {
        number += 1;
        let before = reloads(&serve);
        folder.write("lab.txt", list(number));
        serve.server().signal(Signal::HUP);
        wait_for("the end of a reload", || (reloads(&serve) > before).then_some(()));
        let question = |address| {
            let question = Request::get("/").agent("LabBot/1.0").header("X-Original-Method", "GET");
            let question = question.header("X-Original-URI", "/");
            serve.ask(&question.header("X-Real-IP", address)).status
        };
        ["192.0.2.1", "203.0.113.9"].map(question)
    };
    each_fault(&faults, "serve, reload", Excused::default(), run, |_, statuses| match statuses {
        [200 | 204, 403] => Ok(()),
        other => Err(format!("{other:?}")),
    });
}
