//! Peers that send too much, too slowly or too often: their connections end, and others are served meanwhile.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crawlpike_tests::http::{Connection, Request, send};
use crawlpike_tests::lab::lab;
use crawlpike_tests::nginx::local;
use crawlpike_tests::ports::free_port;
use crawlpike_tests::proc::memory;
use crawlpike_tests::process::{PATIENCE, wait_for};
use crawlpike_tests::serve::Serve;

use crate::life::{has_metric, question, start, start_at_port};

/// The most that the server may grow by anything here, in bytes.
const GROWTH: u64 = 64 << 20;

fn is_served(serve: &Serve) {
    assert_eq!(serve.ask(&question("192.0.2.1")).status, 200);
}

/// Writes until the peer has had enough, and returns what it says before it closes the connection.
fn write_until_closed(mut stream: UnixStream, pieces: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let refused = pieces.map(|piece| stream.write_all(&piece)).find_map(Result::err);
    assert!(
        refused.is_none_or(|why| matches!(why.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset))
    );
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    said
}

#[test]
fn a_head_may_not_be_too_large() {
    let folder = lab();
    let serve = start(&folder, &[]);
    let request = question("192.0.2.1").header("X-A", "a".repeat(1 << 20));
    let answer =
        write_until_closed(UnixStream::connect(serve.http()).unwrap(), [request.bytes()].into_iter());
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.starts_with("HTTP/1.1 500 ") && answer.contains("131072 bytes"), "{answer}");
    assert!(has_metric(&serve, "crawlpike_errors_total 1"));
    is_served(&serve);
}

#[test]
fn whoever_sends_nothing_or_reads_nothing_is_not_waited_for() {
    let folder = lab();
    let serve = start(&folder, &[]);
    let began = Instant::now();
    let connect = || UnixStream::connect(serve.http()).unwrap();
    let mut idle = Connection::open_unix(serve.http()).unwrap();
    assert_eq!(idle.send(&question("192.0.2.1")).unwrap().status, 200);
    let (silent, mut slow) = (connect(), connect());
    slow.write_all(b"GET /caddy HTTP/1.1\r\nHost: a\r\n").unwrap();
    let mut pings = UnixStream::connect(serve.grpc()).unwrap();
    pings.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()).unwrap();
    // Half closed, and with questions to whose answers nobody listens.
    let half = connect();
    half.shutdown(std::net::Shutdown::Write).unwrap();
    let mut deaf = connect();
    deaf.set_nonblocking(true).unwrap();
    let questions = question("192.0.2.1").bytes().repeat(64);
    while deaf.write(&questions).is_ok() {}
    is_served(&serve);
    for stream in [silent, slow, half, pings] {
        write_until_closed(stream, [].into_iter());
    }
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    // A proxy keeps its connection for the next question.
    assert_eq!(idle.send(&question("192.0.2.1")).unwrap().status, 200);
    is_served(&serve);
}

#[test]
fn strangers_get_a_few_connections_with_one_answer_and_leave_the_administration_alone() {
    let folder = lab();
    let admin = free_port();
    let arguments = ["--trust", "10.0.0.0/8", "--admin", &format!("127.0.0.1:{admin}")];
    let (_server, port) = start_at_port(&folder, &arguments);
    let idle: Vec<_> = (0..64).map(|_| TcpStream::connect(local(port)).unwrap()).collect();
    let mut another = TcpStream::connect(local(port)).unwrap();
    assert!(matches!(another.read(&mut [0]), Ok(0) | Err(_)));
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(send(local(admin), &Request::get(path)).unwrap().status, 200, "{path}");
    }
    drop(idle);
    let (mut stranger, answer) = wait_for("room", || {
        let mut stranger = Connection::open(local(port)).ok()?;
        let answer = stranger.send(&Request::get("/")).ok()?;
        Some((stranger, answer))
    });
    assert_eq!((answer.status, answer.header("connection")), (500, Some("close")));
    assert!(stranger.send(&Request::get("/")).is_err());
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A frame of HTTP/2 (RFC 9113 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A field that no table keeps (RFC 7541 6.2.2), whose name and value are short.
fn field(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()][..], text.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}

fn call() -> Vec<u8> {
    let path = "/envoy.service.auth.v3.Authorization/Check";
    [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "a"),
        ("content-type", "application/grpc"),
    ]
    .map(|(name, value)| field(name, value))
    .concat()
}

/// A connection with one call, which has this message.
fn connection_with(message: &[u8]) -> Vec<u8> {
    let frames = [
        frame(SETTINGS, 0, 0, &[]),
        frame(HEADERS, END_HEADERS, 1, &call()),
        frame(DATA, END_STREAM, 1, message),
    ];
    [PREFACE, &frames.concat()].concat()
}

#[test]
fn a_call_that_cannot_be_read_is_an_error() {
    let folder = lab();
    let serve = start(&folder, &[]);
    // Without attributes, not a message, and with 16 MiB.
    for (number, message) in
        [&b"\0\0\0\0\0"[..], b"\0\0\0\0\x01\xff", b"\0\x01\0\0\0"].into_iter().enumerate()
    {
        let mut stream = UnixStream::connect(serve.grpc()).unwrap();
        stream.write_all(&connection_with(message)).unwrap();
        let count = format!("crawlpike_errors_total {}", number + 1);
        wait_for("the error", || has_metric(&serve, &count).then_some(()));
    }
    folder.wait_for_line("serve.log", "request.http is missing");
}

#[test]
fn a_stranger_has_the_time_for_one_call() {
    let folder = lab();
    let grpc = free_port();
    let arguments = ["--trust", "10.0.0.0/8", "--grpc", &format!("127.0.0.1:{grpc}")];
    let (_server, _) = start_at_port(&folder, &arguments);
    let began = Instant::now();
    let mut stream = TcpStream::connect(local(grpc)).unwrap();
    stream.write_all(&connection_with(b"\0\0\0\0\0")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    folder.wait_for_line("port.log", "the peer may not ask");
    // It does not answer the server's last frames, either, for which it has as much time.
    let _ = stream.read_to_end(&mut Vec::new());
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

/// Opens a connection of HTTP/2, and writes frames until it is closed. The server stays as it is.
fn flood(frames: impl Iterator<Item = Vec<u8>>) {
    let folder = lab();
    let mut serve = start(&folder, &[]);
    is_served(&serve);
    let pid = serve.server().pid().as_raw_nonzero().get();
    let before = memory(pid).private;
    let opening = [[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()].into_iter();
    let stream = UnixStream::connect(serve.grpc()).unwrap();
    // The server's frames are read beside, so that it can say that it has had enough.
    let mut reading = stream.try_clone().unwrap();
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = reading.read_to_end(&mut said);
    });
    write_until_closed(stream, opening.chain(frames));
    reader.join().unwrap();
    is_served(&serve);
    let growth = memory(pid).private.saturating_sub(before);
    assert!(growth < GROWTH, "{growth}");
}

#[test]
fn a_rapid_reset_ends_the_connection() {
    let number = |number: u32| 2 * number + 1;
    flood((0..1_000_000).map(|stream| {
        let reset = frame(RST_STREAM, 0, number(stream), &8_u32.to_be_bytes());
        [frame(HEADERS, END_STREAM | END_HEADERS, number(stream), &call()), reset].concat()
    }));
}

#[test]
fn a_flood_of_continuations_ends_the_connection() {
    let start = [frame(HEADERS, END_STREAM, 1, &call())].into_iter();
    let more = frame(CONTINUATION, 0, 1, &field("x-more", &"a".repeat(100)).repeat(100));
    flood(start.chain(std::iter::repeat_n(more, 1_000_000)));
}
