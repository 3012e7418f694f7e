//! `crawlpike serve` under load in both protocols, while its files are replaced again and again: no client may notice, and no memory may
//! stay.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::envoy::{self, Envoy, Listener};
use crate::http::{Connection, Request};
use crate::lab::{lab, spoofed, unguarded, verified};
use crate::nginx::{Folder, local};
use crate::ports::free_port;
use crate::proc::{memory, open_files};
use crate::process::{PATIENCE, wait_for};
use crate::serve::{self, Serve};

/// The questions on a connection before the next one is opened.
const QUESTIONS: u32 = 100;

/// A path that Envoy answers itself.
const ANSWERED: &str = "/server/direct";

/// The failures that are reported: one cause often has thousands of them.
const REPORTED: usize = 20;

/// The state after a replacement.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The private memory of the server, in KiB.
    pub private: u64,
    /// Its open files.
    pub files: usize,
}

/// The result.
#[derive(Debug)]
pub struct Report {
    /// The answers that clients had over HTTP.
    pub answers: u64,
    /// The responses of Envoy, which had an answer over gRPC for each.
    pub checks: u64,
    /// The failures of some questions; at most a few are kept.
    pub failures: Vec<String>,
    /// A sample after each replacement.
    pub samples: Vec<Sample>,
}

impl Report {
    /// The growth from the second quarter of the time to the last, in KiB: the first one fills what stays.
    pub fn growth(&self) -> u64 {
        let most = |quarter: usize| {
            let length = self.samples.len() / 4;
            let samples = self.samples.iter().skip(length * quarter).take(length);
            samples.map(|sample| sample.private).max().unwrap_or_default()
        };
        most(3).saturating_sub(most(1))
    }
}

/// A bot with this name and address asks for a page, in the dialect of Caddy.
pub fn question(agent: &str, address: &str) -> Request {
    Request::get("/caddy")
        .agent(agent)
        .header("X-Forwarded-For", address)
        .header("X-Forwarded-Host", "example.com")
        .header("X-Forwarded-Method", "GET")
        .header("X-Forwarded-Proto", "https")
        .header("X-Forwarded-Uri", "/")
}

/// Replaces a feed while clients ask, for as long as `goes_on` returns true for the number of replacements, and of
/// the answers in either protocol, whichever has fewer.
///
/// # Panics
///
/// If a version does not come into force.
pub fn run(mut goes_on: impl FnMut(u32, u64) -> bool) -> Report {
    let folder = lab();
    folder.write("crawlpike.json", unguarded());
    let mut serve = Serve::start(&folder, "serve", &folder.path().join("crawlpike.json"), &[]);
    let (pid, socket) = (serve.server().pid(), serve.http().to_owned());
    let (_envoy, envoy) = start_envoy(&serve);
    let clients = Clients {
        socket: &socket,
        envoy,
        answers: AtomicU64::new(0),
        checks: AtomicU64::new(0),
        failures: Mutex::default(),
    };
    let over = crate::load::Over::default();
    let mut samples = Vec::new();
    thread::scope(|scope| {
        for kind in [Clients::steady, Clients::steady, Clients::half_closed, Clients::of_envoy] {
            let (clients, over) = (&clients, &over);
            scope.spawn(move || {
                while !over.is_over() {
                    kind(clients).unwrap_or_else(|error| clients.fail(error.to_string()));
                }
            });
        }
        let _ends = over.ends_with_this();
        for number in 0.. {
            let answers = clients.answers.load(Relaxed).min(clients.checks.load(Relaxed));
            if !goes_on(number, answers) {
                return;
            }
            replace(&folder, &serve, pid, number);
            let pid = pid.as_raw_nonzero().get();
            samples.push(Sample { private: memory(pid).private, files: open_files(pid) });
        }
    });
    let failures = clients.failures.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let [answers, checks] = [clients.answers, clients.checks].map(AtomicU64::into_inner);
    Report { answers, checks, failures, samples }
}

/// An Envoy that asks the server by gRPC, on a connection for some questions, and answers by itself what passes.
fn start_envoy(serve: &Serve) -> (Envoy, SocketAddr) {
    let (folder, name) = (Folder::new(), "crawlpike");
    let listener =
        Listener { port: free_port(), filter: serve::filter(name), access_log: "access.log".into() };
    let mut configured = envoy::configuration(&folder, &listener);
    // It would have a line for each request of a long run.
    envoy::manager(&mut configured)["access_log"] = json!([]);
    let mut cluster = serve::cluster(name, serve.grpc());
    let options = "/typed_extension_protocol_options/envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    cluster.pointer_mut(options).expect("options of the protocol")["common_http_protocol_options"] =
        json!({ "max_requests_per_connection": QUESTIONS });
    let mut bootstrap = envoy::bootstrap(&[configured], free_port());
    bootstrap["static_resources"]["clusters"].as_array_mut().expect("clusters").push(cluster);
    (Envoy::boot(folder, bootstrap, 2, &[]), local(listener.port))
}

/// Puts the next version of the feed in force.
fn replace(folder: &Folder, serve: &Serve, pid: Pid, number: u32) {
    let [_, high, middle, low] = number.to_be_bytes();
    let only_here = format!("10.{high}.{middle}.{low}");
    folder.write("lab.txt", format!("192.0.2.0/24\n{only_here}\n"));
    let next = question("LabBot/1.0", &only_here);
    wait_for("the next version", || {
        kill_process(pid, Signal::HUP).expect("the server lives");
        (serve.ask(&next).status == 200).then_some(())
    });
}

struct Clients<'a> {
    socket: &'a Path,
    envoy: SocketAddr,
    answers: AtomicU64,
    checks: AtomicU64,
    failures: Mutex<Vec<String>>,
}

impl Clients<'_> {
    /// LabBot from its own address, and from another one, with the statuses of all versions.
    fn questions() -> [(Request, u16); 2] {
        [(question("LabBot/1.0", "192.0.2.1"), 200), (question("LabBot/1.0", "198.51.100.1"), 403)]
    }

    fn note(&self, count: &AtomicU64, status: u16, expected: u16) {
        count.fetch_add(1, Relaxed);
        if status != expected {
            self.fail(format!("{status} instead of {expected}"));
        }
    }

    fn fail(&self, why: String) {
        let mut failures = self.failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if failures.len() < REPORTED {
            failures.push(why);
        }
    }

    /// Many questions on one connection.
    fn steady(&self) -> io::Result<()> {
        let mut connection = Connection::open_unix(self.socket)?;
        for _ in 0..QUESTIONS {
            for (question, expected) in Self::questions() {
                self.note(&self.answers, connection.send(&question)?.status, expected);
            }
        }
        Ok(())
    }

    /// Questions after which the peer closes its side, and reads the answer. Beside them, peers leave within a question, or before its
    /// answer.
    fn half_closed(&self) -> io::Result<()> {
        for (question, expected) in Self::questions() {
            let mut stream = UnixStream::connect(self.socket)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            let bytes = question.bytes();
            stream.write_all(&bytes)?;
            stream.shutdown(Shutdown::Write)?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
            self.note(&self.answers, status.unwrap_or_default(), expected);
            for length in [0, bytes.len() / 2, bytes.len()] {
                UnixStream::connect(self.socket)?.write_all(bytes.get(..length).unwrap_or_default())?;
            }
        }
        Ok(())
    }

    /// Many requests to Envoy on one connection, and beside them clients that leave, so that Envoy takes its questions back.
    fn of_envoy(&self) -> io::Result<()> {
        let mut connection = Connection::open(self.envoy)?;
        for _ in 0..QUESTIONS {
            TcpStream::connect(self.envoy)?.write_all(&verified(ANSWERED).bytes())?;
            for (request, expected) in [(verified(ANSWERED), 200), (spoofed(ANSWERED), 403)] {
                self.note(&self.checks, connection.send(&request)?.status, expected);
            }
        }
        Ok(())
    }
}
