//! `make bench-nginx`.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use crawlpike_tests::nginx::{Folder, Nginx, Setup, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::proc::children;
use crawlpike_tests::process::wait_for;
use rustix::process::Pid;

use crate::Effort;
use crate::callgrind;
use crate::changes;
use crate::hand_written;
use crate::rounds::{Candidate, SERVER_CORE, measure, table};
use crate::world::{Kind, World};

/// The number of prefixes of Crawlpike.
const SIZES: [usize; 2] = [3_000, 300_000];

/// The configuration of one nginx of the comparison.
struct Variant {
    name: String,
    with_module: bool,
    /// True if it denies spoofed agents.
    denies: bool,
    main: &'static str,
    http: String,
    server: &'static str,
}

impl Variant {
    /// The text in its `http` block. The response is the cheapest that nginx has, so that what is added to it shows most.
    fn http(&self, port: u16) -> String {
        format!(
            "error_log error.log crit;
            set_real_ip_from 127.0.0.1;
            real_ip_header X-Forwarded-For;
            {}
            server {{
                listen 127.0.0.1:{port};
                keepalive_requests 1000000000;
                {}
                location / {{ empty_gif; }}
            }}",
            self.http, self.server
        )
    }

    fn setup(&self) -> Setup {
        Setup {
            with_module: self.with_module,
            workers: 1,
            main: format!("worker_cpu_affinity {:b};\n{}", 1 << SERVER_CORE, self.main),
            under: Vec::new(),
        }
    }

    fn start(&self) -> (Nginx, SocketAddr) {
        let port = free_port();
        (Nginx::set_up(Folder::new(), &self.http(port), self.setup()), local(port))
    }

    /// The cost of a request of each kind.
    fn instructions(&self, world: &World) -> [f64; Kind::ALL.len()] {
        let (folder, port) = (Folder::new(), free_port());
        let setup = self.setup();
        let setup = Setup {
            main: format!("master_process off;\n{}", setup.main),
            under: callgrind::command(folder.path()),
            ..setup
        };
        let nginx = Nginx::set_up(folder, &self.http(port), setup);
        let server = callgrind::Server {
            pid: nginx.server().pid(),
            folder: nginx.folder().path(),
            address: local(port),
            warm_up: 1,
        };
        server.instructions(world)
    }
}

/// The worker of an nginx that has one.
pub(crate) fn worker(nginx: &Nginx) -> i32 {
    let master = Pid::as_raw(Some(nginx.server().pid()));
    wait_for("nginx's worker", || children(master).first().copied())
}

fn bare(name: &str) -> Variant {
    Variant {
        name: name.to_owned(),
        with_module: false,
        denies: false,
        main: "",
        http: String::new(),
        server: "",
    }
}

fn crawlpike(name: &str, document: &Path) -> Variant {
    Variant {
        with_module: true,
        denies: true,
        http: format!("crawlpike_config {};", document.display()),
        ..bare(name)
    }
}

/// Those that say more with their responses than the decision needs.
fn with_statements(world: &World) -> Vec<Variant> {
    let documents = world.with_statements();
    let variants = documents.iter().map(|(name, document)| crawlpike(name, document));
    [bare("bare nginx")].into_iter().chain(variants).collect()
}

/// Those that show facts about clients in lines of a log, when all is decided.
fn with_facts(world: &World) -> Vec<Variant> {
    let [without, with] = world.with_facts();
    let key = "$crawlpike_crowd_key";
    let all = "$crawlpike_network $crawlpike_asn $crawlpike_as_name $crawlpike_as_kind $crawlpike_costly $crawlpike_browser \
        $crawlpike_fingerprint $crawlpike_crowd_key";
    let variant = |name: &str, document: &Path, format: &str| {
        let crawlpike = crawlpike(name, document);
        let http = format!("{} log_format facts '{format}';", crawlpike.http);
        Variant { http, server: "access_log facts.log facts buffer=64k;", ..crawlpike }
    };
    vec![
        variant("no fact", &without, ""),
        variant("no fact, but a table of systems and costly paths", &with, ""),
        variant("the network as the key for limits", &without, key),
        variant("the system and the network as the key, on a costly path", &with, key),
        variant("all eight facts", &with, all),
    ]
}

fn variants(worlds: &[World]) -> Vec<Variant> {
    let hand_written = |name: &str, main: &'static str| Variant {
        denies: true,
        main,
        http: hand_written::variables(&worlds[0]),
        server: "if ($deny) { return 403; }",
        ..bare(name)
    };
    let of_size =
        |world: &World| crawlpike(&format!("Crawlpike, {} prefixes", world.prefixes), &world.compiled);
    let peers = [
        bare("bare nginx"),
        hand_written("`geo` and `map`, 3000 prefixes", ""),
        hand_written("the same with `pcre_jit on`", "pcre_jit on;"),
    ];
    peers.into_iter().chain(worlds.iter().map(of_size)).collect()
}

/// Measures and prints.
pub(crate) fn report(effort: Effort) {
    let worlds = SIZES.map(World::new);
    let largest = &worlds[SIZES.len() - 1];
    let variants = variants(&worlds);
    println!("# nginx\n");
    if !effort.is_of_instructions_alone() {
        report_rates(&variants, largest, effort);
    }
    let counts = |variants: &[Variant], world| {
        callgrind::table(variants, |variant| &variant.name, |variant| variant.instructions(world))
    };
    println!("## Instructions a request\n\n{}", counts(&variants, largest));
    println!("\n## Facts about clients\n\n{}", counts(&with_facts(&worlds[0]), &worlds[0]));
    println!("\n## Statements of responses\n\n{}", counts(&with_statements(&worlds[0]), &worlds[0]));
    if !effort.is_of_instructions_alone() {
        eprintln!("bench: memory and changes");
        println!("\n## Memory and changes\n\n{}", changes::report(SIZES[0], SIZES[1]));
    }
}

/// Measures and prints requests per second.
fn report_rates(variants: &[Variant], largest: &World, effort: Effort) {
    println!(
        "One worker on a core of its own, wrk on another; `empty_gif`; {} rounds of {:?}; medians, ratios to bare nginx.\n",
        effort.rounds, effort.turn
    );
    for kind in Kind::ALL {
        let clients = largest.clients(kind);
        let started: Vec<(Nginx, SocketAddr)> = variants.iter().map(Variant::start).collect();
        let candidate = |(variant, (nginx, address)): (&Variant, &(Nginx, SocketAddr))| Candidate {
            name: variant.name.clone(),
            address: *address,
            pid: worker(nginx),
            helper: None,
            denies: variant.denies && kind == Kind::Spoofed,
        };
        let candidates: Vec<Candidate> = variants.iter().zip(&started).map(candidate).collect();
        eprintln!("bench: {}, {:?}", kind.name(), turns(effort, candidates.len()));
        println!("## {}\n\n{}", kind.name(), table(&measure(&candidates, &clients, effort)));
    }
}

fn turns(effort: Effort, candidates: usize) -> Duration {
    effort.turn * u32::try_from((effort.rounds + 1) * candidates).unwrap_or(u32::MAX)
}
