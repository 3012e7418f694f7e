//! `bench attack`: what many bad signatures from many networks cost nginx, and which genuine ones it verifies meanwhile.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crawlpike_tests::http::Connection;
use crawlpike_tests::nginx::{Folder, Nginx, Setup, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::proc::{children, processor_time};
use crawlpike_tests::process::wait_for;
use crawlpike_tests::sign::directory;
use rustix::process::Pid;
use serde_json::json;

use crate::signatures::signed;

/// The attackers: addresses, in networks, and what they send in a second.
const ADDRESSES: u64 = 1_000;
const NETWORKS: u64 = 200;
const RATE: u32 = 5_000;
const THREADS: u32 = 5;

/// The networks in which a signature has held before, and what they and new ones send in a second.
const KNOWN: u64 = 300;
const GENUINE: u32 = 40;

const SECONDS: u32 = 20;

/// A request from an address, with the headers of a signature for a path.
fn request(address: &str, path: &str, headers: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: example.com\r\nUser-Agent: SigningBot/1.0\r\nX-Forwarded-For: {address}\r\n{headers}\r\n"
    )
}

fn attacker(number: u64) -> String {
    format!("203.{}.{}.{}", number % NETWORKS / 100, number % NETWORKS, 1 + number / NETWORKS)
}

/// Calls a function so often in a second.
fn evenly(rate: u32, until: Instant, mut call: impl FnMut()) {
    let mut next = Instant::now();
    while next < until {
        call();
        next += Duration::from_secs(1) / rate;
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}

/// A genuine request, signed for a path of its own; true if it is verified.
fn is_verified(connection: &mut Connection, address: &str, number: u64) -> bool {
    let path = format!("/{number}");
    let headers = signed(&json!({ "key": 1, "directory": "https://signer.test" }), &path);
    connection.send_text(&request(address, &path, &headers)).expect("an answer").status == 200
}

/// Attacks with these headers. Gives the rate that was reached, and the part of the worker's processor.
fn attack(address: SocketAddr, worker: i32, headers: &str, genuine: impl FnOnce(Instant)) -> (f64, f64) {
    let (until, sent) = (Instant::now() + Duration::from_secs(SECONDS.into()), AtomicU64::new(0));
    let (start, before) = (Instant::now(), processor_time(worker));
    thread::scope(|scope| {
        for thread in 0..u64::from(THREADS) {
            let sent = &sent;
            scope.spawn(move || {
                let mut connection = Connection::open(address).expect("the server listens");
                let mut number = thread * ADDRESSES / u64::from(THREADS);
                evenly(RATE / THREADS, until, || {
                    number += 1;
                    let text = request(&attacker(number % ADDRESSES), "/", headers);
                    connection.send_text(&text).expect("an answer");
                    sent.fetch_add(1, Relaxed);
                });
            });
        }
        genuine(until);
    });
    let seconds = start.elapsed().as_secs_f64();
    let processor = (processor_time(worker) - before).as_secs_f64() / seconds;
    (sent.load(Relaxed) as f64 / seconds, processor * 100.0)
}

/// Measures and prints. True if the targets are met.
pub(crate) fn report() -> bool {
    let (folder, port) = (Folder::new(), free_port());
    folder.write("keys.json", directory(&[1]));
    let keys = json!([{ "directory": "https://signer.test", "source": "keys.json" }]);
    let document = json!({ "mode": "enforce", "agents": [{ "token": "SigningBot", "keys": keys }],
        "sites": [{ "unverified": "deny" }] });
    folder.write("crawlpike.json", document.to_string());
    let http = format!(
        "error_log error.log crit; crawlpike_config crawlpike.json;
        set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;
        server {{ listen 127.0.0.1:{port}; keepalive_requests 1000000000; location / {{ empty_gif; }} }}"
    );
    let nginx = Nginx::set_up(folder, &http, Setup { workers: 1, ..Setup::default() });
    let address = local(port);
    let worker =
        || wait_for("nginx's worker", || children(Pid::as_raw(Some(nginx.server().pid()))).first().copied());
    let known = |number: u64| format!("198.{}.{}.9", 18 + number % KNOWN / 200, number % KNOWN % 200);
    let mut connection = Connection::open(address).expect("the server listens");
    let first = worker();
    for number in 0..KNOWN {
        assert!(is_verified(&mut connection, &known(number), number), "nothing is spent yet");
    }
    // The known networks outlive the worker.
    nginx.reload();
    let second = wait_for("the new worker", || Some(worker()).filter(|worker| *worker != first));
    let forged = signed(&json!({ "key": 2, "named": 1, "directory": "https://signer.test" }), "/");
    let (mut verified, mut sent) = ([0_u64; 2], [0_u64; 2]);
    let (rate, processor) = attack(address, second, &forged, |until| {
        let mut connection = Connection::open(address).expect("the server listens");
        let mut number = KNOWN;
        evenly(2 * GENUINE, until, || {
            number += 1;
            let is_new = usize::from(number.is_multiple_of(2));
            let from = match is_new {
                0 => known(number / 2),
                _ => format!("11.{}.{}.9", number / 200 % 200, number % 200),
            };
            sent[is_new] += 1;
            verified[is_new] += u64::from(is_verified(&mut connection, &from, number));
        });
    });
    let (plain_rate, plain) = attack(address, second, "", |_| ());
    let part = |kind: usize| 100.0 * verified[kind] as f64 / sent[kind] as f64;
    println!("# Bad signatures from {ADDRESSES} addresses in {NETWORKS} networks\n\n| | |\n|---|---|");
    println!("| bad ones a second | {rate:.0} |");
    println!("| verified, of {} requests from known networks, after a reload | {:.1} % |", sent[0], part(0));
    println!("| verified, of {} requests from new networks | {:.1} % |", sent[1], part(1));
    println!("| of the worker | {processor:.1} % |");
    println!("| of the worker, without signatures, {plain_rate:.0} a second | {plain:.1} % |");
    println!("| added | {:.1} % |", processor - plain * rate / plain_rate);
    part(0) >= 99.0
}
