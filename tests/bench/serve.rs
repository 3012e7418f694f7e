//! `make bench-serve`: proxies that ask a server, beside those with a gate of their own.

use std::fmt::Write as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crawlpike_tests::envoy::{Envoy, Filter};
use crawlpike_tests::nginx::{Folder, Nginx, Setup, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::{Server, program};
use crawlpike_tests::serve::{self, Serve};
use rustix::process::Pid;

use crate::Effort;
use crate::envoy::{Variant, bootstrap};
use crate::nginx::worker;
use crate::rounds::{Candidate, Measured, SERVER_CORE, measure, measure_at};
use crate::world::{Kind, World};

/// The number of prefixes.
const SIZE: usize = 3_000;

const ASK: &str = "auth_request /crawlpike;
    location = /crawlpike {
        internal;
        proxy_pass http://crawlpike/nginx;
        proxy_http_version 1.1;
        proxy_set_header Connection '';
        proxy_set_header Host $http_host;
        proxy_set_header X-Original-Method $request_method;
        proxy_set_header X-Original-URI $request_uri;
        proxy_set_header X-Real-IP $remote_addr;
    }";

/// Measures and prints; `empty_gates` is the folder with the server that permits everything.
pub(crate) fn report(effort: Effort, empty_gates: &Path) {
    let world = World::new(SIZE);
    let (folder, core) = (Folder::new(), SERVER_CORE.to_string());
    let under = ["taskset", "-c", &core];
    let mut server = Serve::start_under(&under, &folder, "serve", &world.document, &[]);
    let pid = Pid::as_raw(Some(server.server().pid()));
    let socket = folder.path().join("empty.sock");
    let mut command = program(&under, empty_gates.join("empty-authz"));
    let log = folder.path().join("empty.log");
    let mut empty = Server::start("empty-authz", command.arg(&socket), &log, &[]);
    empty.wait_until("it listens", || UnixStream::connect(&socket).ok());
    let upstream = format!("upstream crawlpike {{ server unix:{}; keepalive 64; }}", server.http().display());
    let module = format!("crawlpike_config {};", world.compiled.display());
    let nginxes = [
        ("bare nginx", start_nginx(false, "", ""), None),
        ("nginx with the module", start_nginx(true, &module, ""), None),
        ("nginx asks `crawlpike serve`", start_nginx(false, &upstream, ASK), Some(pid)),
    ];
    let native = Filter::Native.with(world.folder(), &world.document);
    let variants = [
        (Variant::new("bare Envoy", None, false), None),
        (Variant::new("Envoy with the native module", Some(native), true), None),
        (
            Variant::new("Envoy asks an empty server", Some(serve::filter("empty")), false),
            Some(Pid::as_raw(Some(empty.pid()))),
        ),
        (Variant::new("Envoy asks `crawlpike serve`", Some(serve::filter("crawlpike")), true), Some(pid)),
    ];
    let mut configured = bootstrap(variants.iter().map(|(variant, _)| variant));
    configured["static_resources"]["clusters"] =
        vec![serve::cluster("crawlpike", server.grpc()), serve::cluster("empty", &socket)].into();
    let envoy = Envoy::boot(Folder::new(), configured, 1, &under);
    println!(
        "# Other proxies\n\nOne worker of the proxy and the server together on a core, over Unix sockets, the load on another core; \
         {} rounds of {:?}; medians. Half load is half of what the slowest one of the same proxy serves; there the server shares the core of the load.\n",
        effort.rounds, effort.turn
    );
    for kind in Kind::ALL {
        let clients = world.clients(kind);
        let of_nginx = nginxes.iter().map(|(name, (nginx, port), helper)| Candidate {
            name: (*name).to_owned(),
            address: local(*port),
            pid: worker(nginx),
            helper: *helper,
            denies: kind == Kind::Spoofed && *name != "bare nginx",
        });
        let of_envoy = variants
            .iter()
            .map(|(variant, helper)| Candidate { helper: *helper, ..variant.candidate(&envoy, kind) });
        let candidates: Vec<Candidate> = of_nginx.chain(of_envoy).collect();
        eprintln!("bench: {}", kind.name());
        let full = measure(&candidates, &clients, effort);
        // The proxies of a kind get the same load: half of what the slowest of them serves.
        let half = [0..nginxes.len(), nginxes.len()..candidates.len()].map(|proxy| {
            let slowest = full[proxy.clone()].iter().map(Measured::per_second).fold(f64::INFINITY, f64::min);
            measure_at(slowest / 2.0, &candidates[proxy], &clients, effort)
        });
        println!("## {}\n\n{}", kind.name(), table(&full, &half.into_iter().flatten().collect::<Vec<_>>()));
    }
}

fn start_nginx(with_module: bool, http: &str, server: &str) -> (Nginx, u16) {
    let port = free_port();
    let http = format!(
        "error_log error.log crit;
        set_real_ip_from 127.0.0.1;
        real_ip_header X-Forwarded-For;
        {http}
        server {{
            listen 127.0.0.1:{port};
            keepalive_requests 1000000000;
            {server}
            location / {{ empty_gif; }}
        }}"
    );
    let main = format!("worker_cpu_affinity {:b};", 1 << SERVER_CORE);
    let setup = Setup { with_module, workers: 1, main, under: Vec::new() };
    (Nginx::set_up(Folder::new(), &http, setup), port)
}

/// A row for each candidate under full load, and its times at the load that is half of one.
fn table(full: &[Measured], half: &[Measured]) -> String {
    let mut text = String::from(
        "| | requests/s | p50 | p99 | µs of processor a request | at half load: requests/s | p50 | p99 |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let times = |one: &Measured| {
        let [p50, p99] = one.latencies().map(|latency: Duration| latency.as_secs_f64() * 1e3);
        format!("{:.0} | {p50:.2} ms | {p99:.2} ms", one.per_second())
    };
    for (full, half) in full.iter().zip(half) {
        let _ =
            writeln!(text, "| {} | {} | {:.1} | {} |", full.name, times(full), full.processor(), times(half));
    }
    text
}
