//! Many connections at once, and rulesets that are replaced while clients ask.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use crawlpike_tests::http::Connection;
use crawlpike_tests::lab::lab;
use crawlpike_tests::nginx::Folder;
use crawlpike_tests::proc::memory;
use crawlpike_tests::process::{PATIENCE, wait_for};
use crawlpike_tests::replacements::run;
use crawlpike_tests::serve::Serve;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::life::{question, start};

/// The limit of docs/serve.md.
const MOST: usize = 16_384;

/// The files that this process and the server may open, beyond the connections.
const OTHERS: usize = 200;

fn connect(serve: &Serve) -> UnixStream {
    let stream = UnixStream::connect(serve.http()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn is_closed(mut stream: &UnixStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let read = stream.read(&mut [0; 1024]);
    !matches!(read, Err(error) if error.kind() == ErrorKind::WouldBlock)
}

#[test]
fn ten_thousand_idle_connections_leave_room_for_others() {
    let folder = lab();
    let mut serve = start_with_files(&folder);
    let pid = serve.server().pid().as_raw_nonzero().get();
    let before = memory(pid).private;
    let mut proxy = Connection::open_unix(serve.http()).unwrap();
    let half = |number: usize| {
        let mut stream = connect(&serve);
        if number % 2 == 1 {
            stream.write_all(b"GET /caddy HTTP/1.1\r\nHost: a\r\n").unwrap();
        }
        stream
    };
    let waiting: Vec<_> = (0..10_000).map(half).collect();
    assert_eq!(serve.ask(&question("192.0.2.1")).status, 200);
    assert_eq!(proxy.send(&question("198.51.100.1")).unwrap().status, 403);
    let each = memory(pid).private.saturating_sub(before) * 1024 / 10_000;
    assert!(each < 32 << 10, "{each} bytes for a connection");
    // None of them may stay.
    wait_for("the end of all that do not ask", || waiting.iter().all(is_closed).then_some(()));
    drop(waiting);
    assert_eq!(proxy.send(&question("192.0.2.1")).unwrap().status, 200);
    one_too_many_is_closed(&serve, proxy);
}

/// Takes all connections, of which each has asked and may wait for minutes until it asks again.
fn one_too_many_is_closed(serve: &Serve, proxy: Connection) {
    let asked = || {
        wait_for("an answer on a new connection", || {
            let mut connection = Connection::open_unix(serve.http()).ok()?;
            connection.send(&question("192.0.2.1")).ok()?;
            Some(connection)
        })
    };
    let mut all: Vec<_> = std::iter::once(proxy).chain((1..MOST).map(|_| asked())).collect();
    let more = connect(serve);
    wait_for("one too many", || is_closed(&more).then_some(()));
    for connection in &mut all {
        assert_eq!(connection.send(&question("192.0.2.1")).unwrap().status, 200);
    }
    // If one goes, there is room again.
    all.pop();
    asked();
}

/// A server as a shell starts it, which raises its limit of open files itself. That of the test is raised, too.
fn start_with_files(folder: &Folder) -> Serve {
    let limit = getrlimit(Resource::Nofile);
    let needed = u64::try_from(MOST + OTHERS).unwrap();
    assert!(limit.maximum.is_none_or(|most| most >= needed), "the limit of open files must be {needed}");
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let config = folder.path().join("crawlpike.json");
    Serve::start_under(&["prlimit", "--nofile=1024:"], folder, "serve", &config, &[])
}

#[test]
fn a_peer_that_has_closed_its_side_gets_its_answers() {
    let folder = lab();
    let serve = start(&folder, &[]);
    for _ in 0..200 {
        let mut stream = connect(&serve);
        stream
            .write_all(&[question("192.0.2.1").bytes(), question("198.51.100.1").bytes()].concat())
            .unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answers = String::new();
        stream.read_to_string(&mut answers).unwrap();
        let statuses: Vec<_> = answers.lines().filter_map(|line| line.strip_prefix("HTTP/1.1 ")).collect();
        assert_eq!(statuses, ["200 OK", "403 Forbidden"]);
    }
}

#[test]
fn a_thousand_replacements_under_load_lose_no_answer_and_leave_no_memory() {
    let report = run(|done, answers| done < 1000 || answers <= 1000);
    assert!(report.failures.is_empty(), "{:?}", report.failures);
    assert!(report.answers > 1000 && report.checks > 1000, "{} {}", report.answers, report.checks);
    assert!(report.growth() < 8 << 10, "{} KiB", report.growth());
}
