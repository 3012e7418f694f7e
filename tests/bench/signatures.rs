//! `bench signatures`: what signatures cost each gate, beside the same request without one.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use crawlpike_tests::cases::CaseRequest;
use crawlpike_tests::envoy::{Envoy, Filter};
use crawlpike_tests::http::Connection;
use crawlpike_tests::nginx::{Folder, Nginx, Setup, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::proc::{children, processor_time};
use crawlpike_tests::process::wait_for;
use crawlpike_tests::sign::directory;
use rustix::process::Pid;
use serde_json::{Value, json};

use crate::callgrind;
use crate::envoy::{Variant, bootstrap};

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/// The number of requests of a kind for each measurement of time, and for each one of instructions.
const TIMED: u32 = 3_000;
const COUNTED: usize = 64;

/// The time from one timed request to the next: what a gate spends on signatures is limited by the second.
const INTERVAL: Duration = Duration::from_millis(1);

/// The number of turns of each kind; the shortest time counts, because other work only adds to it.
const TURNS: usize = 4;

/// A kind of request, and the statuses that its answers may have.
struct Kind {
    name: &'static str,
    request: String,
    statuses: &'static [u16],
    /// True if each request costs the same. Of those that use up what a gate spends in a second, only some are examined.
    is_uniform: bool,
}

/// The header lines of a request for a path, signed so.
pub(crate) fn signed(sign: &Value, path: &str) -> String {
    let request = json!({ "ip": "203.0.113.9", "host": "example.com", "path": path, "sign": sign });
    let mut request: CaseRequest = serde_json::from_value(request).expect("a request of the table");
    request.sign();
    let mut lines = String::new();
    for (name, value) in &request.headers {
        let _ = write!(lines, "{name}: {value}\r\n");
    }
    lines
}

/// A request of a browser, signed so.
fn request(sign: Option<Value>, more: &str) -> String {
    let lines = sign.map_or_else(String::new, |sign| signed(&sign, "/"));
    format!("GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: {FIREFOX}\r\n{more}{lines}\r\n")
}

/// As much as is read of signatures by a known key, and as slow to read as it gets: signatures over signatures.
fn long() -> String {
    let good = request(Some(json!({ "key": 1, "directory": "https://signer.test", "life": 86_400 })), "");
    let parameters = good.lines().find_map(|line| line.strip_prefix("Signature-Input: "));
    let parameters =
        parameters.and_then(|line| line.split_once(')')).map_or("", |(_, parameters)| parameters);
    let headers: String = (0..9).map(|number| format!(" \"x{number}\"")).collect();
    let input = |label: usize| {
        let inner = (2..5)
            .map(|inner| format!(" \"signature\";key=\"s{inner}\" \"signature-input\";key=\"s{inner}\""));
        let inner: String = if label < 2 { inner.collect() } else { String::new() };
        format!("s{label}=(\"@authority\"{headers}{inner}){parameters}")
    };
    let inputs = (0..8).map(input).collect::<Vec<_>>().join(", ");
    let signatures = (0..8).map(|label| format!("s{label}=:AAAA:")).collect::<Vec<_>>().join(", ");
    let agents = format!("z=\"{}\"", "a".repeat((8 << 10) - inputs.len() - signatures.len() - 16));
    request(
        None,
        &format!("Signature-Input: {inputs}\r\nSignature: {signatures}\r\nSignature-Agent: {agents}\r\n"),
    )
}

fn kinds() -> Vec<Kind> {
    let sign = |keys: Value| {
        let mut sign = json!({ "key": 1, "directory": "https://signer.test", "life": 86_400 });
        for (key, value) in keys.as_object().expect("keys") {
            sign[key] = value.clone();
        }
        request(Some(sign), "")
    };
    let kind = |name, request, statuses| Kind { name, request, statuses, is_uniform: true };
    vec![
        kind("no signature", request(None, ""), &[200]),
        kind("expired", sign(json!({ "age": 200_000 })), &[200]),
        kind("by an unknown key", sign(json!({ "key": 3 })), &[200]),
        kind("valid", sign(json!({})), &[200]),
        Kind { is_uniform: false, ..kind("8 KiB of signatures", long(), &[200]) },
        Kind { is_uniform: false, ..kind("forged", sign(json!({ "key": 2, "named": 1 })), &[200, 403]) },
    ]
}

/// A folder with the document; without keys, no header of signatures is asked for.
fn folder(has_keys: bool) -> Folder {
    let folder = Folder::new();
    let keys = json!([{ "directory": "https://signer.test", "source": "keys.json" }]);
    let agent = json!({ "token": "SigningBot", "keys": if has_keys { keys } else { json!([]) } });
    folder.write("keys.json", directory(&[1]));
    let document = json!({ "mode": "enforce", "agents": [agent], "sites": [{}] });
    folder.write("crawlpike.json", document.to_string());
    folder
}

/// A gate, started for one measurement.
trait Gate {
    const NAME: &'static str;
    /// The number of times that requests are sent before they are counted.
    const WARM_UP: usize;

    /// Starts it, under a command; gives the process whose time counts, and where it listens.
    fn start(folder: Folder, under: &[String]) -> (Self, SocketAddr)
    where
        Self: Sized;
    fn pid(&self) -> Pid;
    /// The process that serves.
    fn worker(&self) -> i32;
}

impl Gate for Nginx {
    const NAME: &'static str = "nginx";
    const WARM_UP: usize = 1;

    fn start(folder: Folder, under: &[String]) -> (Self, SocketAddr) {
        let port = free_port();
        let http = format!(
            "error_log error.log crit;
            crawlpike_config crawlpike.json;
            server {{ listen 127.0.0.1:{port}; keepalive_requests 1000000000; large_client_header_buffers 4 32k;
                location / {{ empty_gif; }} }}"
        );
        let main = if under.is_empty() { "" } else { "master_process off;" };
        let setup = Setup { workers: 1, main: main.into(), under: under.to_vec(), ..Setup::default() };
        (Self::set_up(folder, &http, setup), local(port))
    }

    fn pid(&self) -> Pid {
        self.server().pid()
    }

    fn worker(&self) -> i32 {
        let master = Pid::as_raw(Some(self.server().pid()));
        wait_for("nginx's worker", || children(master).first().copied())
    }
}

/// Envoy with one of the gates.
struct InEnvoy<const IS_WASM: bool>(Envoy);

impl<const IS_WASM: bool> Gate for InEnvoy<IS_WASM> {
    const NAME: &'static str = if IS_WASM { "Envoy, Wasm" } else { "Envoy, native" };
    /// Enough for the compiler of the Wasm runtime.
    const WARM_UP: usize = if IS_WASM { 24 } else { 1 };

    fn start(folder: Folder, under: &[String]) -> (Self, SocketAddr) {
        let filter = if IS_WASM { Filter::Wasm } else { Filter::Native };
        let filter = filter.with(&folder, &folder.path().join("crawlpike.json"));
        let variant = Variant::new(Self::NAME, Some(filter), true);
        let under: Vec<&str> = under.iter().map(String::as_str).collect();
        let address = local(variant.port);
        (Self(Envoy::boot(folder, bootstrap(&[variant]), 1, &under)), address)
    }

    fn pid(&self) -> Pid {
        self.0.server().pid()
    }

    fn worker(&self) -> i32 {
        Pid::as_raw(Some(self.pid()))
    }
}

fn send(connection: &mut Connection, kind: &Kind) {
    let answer = connection.send_text(&kind.request).expect("an answer");
    assert!(kind.statuses.contains(&answer.status), "{}: {}", kind.name, answer.status);
}

/// Sends one request after each interval.
fn send_evenly(connection: &mut Connection, kind: &Kind, count: u32) {
    let start = Instant::now();
    for number in 0..count {
        thread::sleep((INTERVAL * number).saturating_sub(start.elapsed()));
        send(connection, kind);
    }
}

/// Microseconds of the worker's processor for a request of each kind.
fn times<G: Gate>(kinds: &[Kind]) -> Vec<f64> {
    let (gate, address) = G::start(folder(true), &[]);
    let worker = gate.worker();
    let mut connection = Connection::open(address).expect("the server listens");
    let mut least = vec![f64::INFINITY; kinds.len()];
    for _ in 0..TURNS {
        for (kind, least) in kinds.iter().zip(&mut least) {
            // So long that nothing is left of what the kind before it used up.
            send_evenly(&mut connection, kind, TIMED / 2);
            let before = processor_time(worker);
            send_evenly(&mut connection, kind, TIMED);
            let taken = (processor_time(worker) - before).as_secs_f64() * 1e6 / f64::from(TIMED);
            *least = least.min(taken);
        }
    }
    least
}

/// Instructions that a request of each kind takes.
fn instructions<G: Gate>(kinds: &[&Kind], has_keys: bool) -> Vec<f64> {
    let folder = folder(has_keys);
    let under = callgrind::command(folder.path());
    let path = folder.path().to_owned();
    let (gate, address) = G::start(folder, &under);
    let server = callgrind::Server { pid: gate.pid(), folder: &path, address, warm_up: G::WARM_UP };
    server.control("--instr=on");
    let mut connection = Connection::open(address).expect("the server listens");
    let counted = kinds.iter().map(|kind| {
        (0..COUNTED * server.warm_up).for_each(|_| send(&mut connection, kind));
        server.control("--zero");
        (0..COUNTED).for_each(|_| send(&mut connection, kind));
        server.control("--dump");
        server.newest_total() / COUNTED as f64
    });
    counted.collect()
}

fn gate<G: Gate>(is_timed: bool) {
    let kinds = kinds();
    eprintln!("bench: {}", G::NAME);
    println!("## {}\n", G::NAME);
    if is_timed {
        let times = times::<G>(&kinds);
        println!(
            "| signature, 1,000 a second | µs of the worker for each | added | of a worker |\n|---|---|---|---|"
        );
        for (kind, time) in kinds.iter().zip(&times) {
            let longer = time - times[0];
            println!("| {} | {time:.1} | {longer:+.1} | {:.1} % |", kind.name, longer / 10.0);
        }
        println!();
    }
    let uniform: Vec<&Kind> = kinds.iter().filter(|kind| kind.is_uniform).collect();
    let without_keys = instructions::<G>(&uniform[..1], false);
    let counts = instructions::<G>(&uniform, true);
    println!(
        "A request without a signature, where no agent has keys: {:.0} instructions.\n",
        without_keys[0]
    );
    println!("| signature | instructions | added |\n|---|---|---|");
    for (kind, count) in uniform.iter().zip(&counts) {
        println!("| {} | {count:.0} | {:+.0} |", kind.name, count - counts[0]);
    }
    println!();
}

/// Measures and prints.
pub(crate) fn report(is_timed: bool) {
    println!("# Signatures\n");
    gate::<Nginx>(is_timed);
    gate::<InEnvoy<false>>(is_timed);
    gate::<InEnvoy<true>>(is_timed);
}
