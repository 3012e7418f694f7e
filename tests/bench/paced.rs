//! Requests at a given rate, whether or not the server keeps up with it, as independent clients send them.
//!
//! `wrk` cannot do this: its pauses are whole milliseconds, so its requests come in bursts, which queue at any server.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::rounds::{CONNECTIONS, Candidate, LOAD_CORE, pin};
use crate::world::Client;

/// The times that the requests of a turn took, each from the moment when it was due, in order of length.
///
/// # Panics
///
/// If the server breaks a connection or gives a wrong answer.
pub(crate) fn turn(
    candidate: &Candidate,
    clients: &[Client],
    per_second: f64,
    turn: Duration,
) -> Vec<Duration> {
    let load = || {
        pin(None, LOAD_CORE);
        Load::new(candidate, per_second).run(clients, turn)
    };
    let mut times = thread::scope(|scope| scope.spawn(load).join().expect("the load generator"));
    times.sort();
    times
}

struct Load {
    idle: Vec<Connection>,
    busy: Vec<Connection>,
    /// The mean time between two requests. The times are those of a Poisson process.
    gap: Duration,
    expected: &'static [u8],
}

struct Connection {
    stream: TcpStream,
    due: Instant,
    answer: Vec<u8>,
}

impl Load {
    fn new(candidate: &Candidate, per_second: f64) -> Self {
        let connect = |_| {
            let stream = TcpStream::connect(candidate.address).expect("a connection");
            stream.set_nodelay(true).expect("a socket's option");
            stream.set_nonblocking(true).expect("a socket's option");
            Connection { stream, due: Instant::now(), answer: Vec::new() }
        };
        Self {
            idle: (0..CONNECTIONS).map(connect).collect(),
            busy: Vec::new(),
            gap: Duration::from_secs_f64(1.0 / per_second),
            expected: if candidate.denies { b"HTTP/1.1 403" } else { b"HTTP/1.1 200" },
        }
    }

    fn run(mut self, clients: &[Client], turn: Duration) -> Vec<Duration> {
        let requests: Vec<String> = clients.iter().map(Client::request).collect();
        let (mut requests, mut random) = (requests.iter().cycle(), fastrand::Rng::with_seed(1));
        let (mut waiting, mut times) = (VecDeque::new(), Vec::new());
        let mut due = Instant::now();
        let end = due + turn;
        while due < end || !waiting.is_empty() || !self.busy.is_empty() {
            while due < end && due <= Instant::now() {
                waiting.push_back(due);
                due += self.gap.mul_f64(-(1.0 - random.f64()).ln());
            }
            while !waiting.is_empty()
                && let Some(mut connection) = self.idle.pop()
            {
                connection.due = waiting.pop_front().expect("it is not empty");
                connection.send(requests.next().expect("there are clients"));
                self.busy.push(connection);
            }
            for at in (0..self.busy.len()).rev() {
                if self.busy[at].is_answered(self.expected) {
                    times.push(self.busy[at].due.elapsed());
                    self.idle.push(self.busy.swap_remove(at));
                }
            }
            self.wait((due < end).then_some(due));
        }
        times
    }

    /// Waits for an answer, at most until the next request is due.
    fn wait(&self, due: Option<Instant>) {
        let mut sockets: Vec<PollFd> =
            self.busy.iter().map(|connection| PollFd::new(&connection.stream, PollFlags::IN)).collect();
        let left = due.map(|due| due.saturating_duration_since(Instant::now()));
        let left = left.map(|left| Timespec::try_from(left).expect("a short time"));
        if left.is_some() || !sockets.is_empty() {
            poll(&mut sockets, left.as_ref()).expect("sockets to poll");
        }
    }
}

impl Connection {
    fn send(&mut self, request: &str) {
        self.answer.clear();
        self.stream.write_all(request.as_bytes()).expect("a request fits the socket's buffer");
    }

    fn is_answered(&mut self, expected: &[u8]) -> bool {
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(0) => panic!("the server closes a connection"),
            Ok(length) => self.answer.extend_from_slice(&bytes[..length]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(error) => panic!("a connection breaks: {error}"),
        }
        let is_whole = is_whole(&self.answer);
        let answer = || String::from_utf8_lossy(&self.answer);
        assert!(!is_whole || self.answer.starts_with(expected), "{}", answer());
        is_whole
    }
}

/// True for a response with all bytes of its body.
fn is_whole(answer: &[u8]) -> bool {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let head = response.parse(answer).expect("a response");
    let httparse::Status::Complete(head) = head else { return false };
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| str::from_utf8(header.value).ok()?.parse::<usize>().ok());
    answer.len() >= head + length.expect("a Content-Length")
}
