//! The speed of a decision by a `robots.txt`: `cargo bench --bench robots`.
//!
//! The same files and paths are given to `texting_robots`, the robots matcher of Rust crawlers. Both read the file and
//! choose the agent's group beforehand; a decision starts from the path, for the peer from the URL, which is what it
//! takes. Prints the best of the runs, because on a shared machine the others measure the neighbours, and the ratio.
//! `automation-preferences.txt`, which has no peer, stands below.

use std::hint::black_box;
use std::time::Instant;

use crawlpike_core::internals::RequestHost;
use crawlpike_core::internals::RequestPath;
use crawlpike_core::internals::policy::{AccessRequest, PreferencesFile, Undeclared};
use crawlpike_core::internals::policy::{GroupId, Robots, RobotsFile};
use crawlpike_core::internals::{Diagnostics, Load};
use texting_robots::Robot;

const AGENT: &str = "ExampleBot";
const RUNS: usize = 31;

struct File {
    name: &'static str,
    text: String,
    /// Paths that rules match, that they almost match, and that have nothing to do with them.
    paths: Vec<String>,
}

fn main() {
    println!(
        "{:<34} {:>6} {:>8} {:>9} {:>9} {:>11} {:>12} {:>8}",
        "file", "rules", "KiB", "read ms", "ns", "peer read", "peer ns", "ratio"
    );
    for file in [small(), literal(), mixed(), wildcards()] {
        measure(&file);
    }
    for hosts in [1, 300] {
        preferences(hosts);
    }
}

/// Groups by the thousand, for all agents and for some, spread over hosts.
fn preferences(hosts: usize) {
    const GROUPS: usize = 3000;
    let group = |n: usize| {
        let agent = if n.is_multiple_of(3) { AGENT } else { "*" };
        let host = format!("{}{}.example.com", if n.is_multiple_of(5) { "*.h" } else { "h" }, n % hosts);
        format!(
            "scope: /area-{n:04}/\nscope: /*/tmp-{n:04}\nuser-agent: {agent}\nhost: {host}\nallowed-methods: GET\n\n"
        )
    };
    let text: String = (0..GROUPS).map(group).collect();
    let mut diagnostics = Diagnostics::new("automation-preferences.txt", Load);
    let start = Instant::now();
    let file =
        PreferencesFile::parse(text.as_bytes(), &mut diagnostics).expect("the file is within its limits");
    let preferences = file.compile();
    let read_ms = start.elapsed().as_secs_f64() * 1e3;
    let requests: Vec<(String, String)> = (0..100)
        .map(|n| (format!("h{}.example.com", n * 29 % hosts), format!("/area-{:04}/page?tmp-{n}", n * 29)))
        .collect();
    let agent = preferences.agent(AGENT);
    let ns = best(200, requests.len(), || {
        let decided = requests.iter().filter(|(host, path)| {
            let request = AccessRequest {
                agent,
                host: RequestHost::new(black_box(host.as_bytes())),
                path: RequestPath::new(black_box(path.as_bytes())),
                method: b"GET",
            };
            preferences.decide(&request, || [], Undeclared::Deny).is_some()
        });
        decided.count()
    });
    let name = format!("preferences: {GROUPS} groups, {hosts} hosts");
    println!("{name:<34} {:>6} {:>8.1} {read_ms:>9.2} {ns:>9.0}", 2 * GROUPS, text.len() as f64 / 1024.0);
}

fn measure(file: &File) {
    let start = Instant::now();
    let robots = read(&file.text);
    let read_ms = start.elapsed().as_secs_f64() * 1e3;
    let group = robots.group_for(AGENT);

    let start = Instant::now();
    let peer = Robot::new(AGENT, file.text.as_bytes()).expect("the peer reads the file");
    let peer_read_ms = start.elapsed().as_secs_f64() * 1e3;
    let urls: Vec<String> = file.paths.iter().map(|path| format!("https://example.com{path}")).collect();

    for (path, url) in file.paths.iter().zip(&urls) {
        assert_eq!(decide(&robots, group, path), peer.allowed(url), "{}: {path}", file.name);
    }
    let ours =
        best(200, file.paths.len(), || file.paths.iter().filter(|path| decide(&robots, group, path)).count());
    let rounds = if file.text.len() > 100_000 { 1 } else { 20 };
    let theirs = best(rounds, urls.len(), || urls.iter().filter(|url| peer.allowed(url)).count());
    println!(
        "{:<34} {:>6} {:>8.1} {:>9.2} {:>9.0} {:>11.2} {:>12.0} {:>8.0}",
        file.name,
        file.text.matches("llow: ").count(),
        file.text.len() as f64 / 1024.0,
        read_ms,
        ours,
        peer_read_ms,
        theirs,
        theirs / ours
    );
}

fn read(text: &str) -> Robots {
    let file = RobotsFile::parse(text.as_bytes(), &mut Diagnostics::new("robots.txt", Load));
    file.expect("it is text").compile()
}

fn decide(robots: &Robots, group: GroupId, path: &str) -> bool {
    robots.decide(group, RequestPath::new(black_box(path.as_bytes()))).allowed
}

/// Nanoseconds for one of the `size` decisions that `work` makes.
fn best(rounds: usize, size: usize, work: impl Fn() -> usize) -> f64 {
    let run = |_| {
        let start = Instant::now();
        for _ in 0..rounds {
            black_box(work());
        }
        start.elapsed().as_secs_f64() * 1e9 / (rounds * size) as f64
    };
    (0..RUNS).map(run).fold(f64::INFINITY, f64::min)
}

/// The file that most sites have.
fn small() -> File {
    let text = "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\nDisallow: /cart\nDisallow: /*?s=\n\
                Disallow: /search\nSitemap: https://example.com/sitemap.xml\n";
    let paths =
        ["/", "/wp-admin/options.php", "/wp-admin/admin-ajax.php?x=1", "/blog/2026/11/a-post/?s=x", "/about"];
    File { name: "a blog", text: text.into(), paths: paths.map(String::from).into() }
}

/// 500 KiB of 10,000 plain prefixes.
fn literal() -> File {
    let rule = |n: usize| format!("/shop/category-{:03}/product-{n:05}/reviews", n * 7 % 500);
    large("10,000 prefixes", rule)
}

/// The same with a `*` or `$` in every tenth rule, as large shops have them.
fn mixed() -> File {
    let rule = |n: usize| match n % 20 {
        0 => format!("/shop/category-{:03}/*/print-{n:05}$", n * 7 % 500),
        10 => format!("/*/tracking-{n:05}?ref="),
        _ => format!("/shop/category-{:03}/product-{n:05}/reviews", n * 7 % 500),
    };
    large("10,000 rules, a tenth with * or $", rule)
}

/// 10,000 rules of which every one begins with a `*`.
fn wildcards() -> File {
    large("10,000 rules with two *", |n| format!("/*/category-{:03}/*/product-{n:05}", n * 7 % 500))
}

fn large(name: &'static str, rule: impl Fn(usize) -> String) -> File {
    let mut text = format!("User-agent: {AGENT}\n");
    for n in 0..10_000 {
        let verb = if n % 5 == 0 { "Allow" } else { "Disallow" };
        // Comments bring the files to the 500 KiB that every reader has to accept.
        let line = format!("{verb}: {}", rule(n));
        text += &format!("{line:<45} #{:03}\n", n % 1000);
    }
    let paths = (0..100).map(|n| {
        let n = n * 97;
        match n % 4 {
            0 => rule(n).replace('*', "x").replace('$', ""),
            1 => rule(n).replace('*', "some/where") + "?utm_source=feed&page=2",
            2 => format!("/shop/category-{:03}/product-{:05}", n % 500, n + 1),
            _ => format!("/blog/2026/11/{n}/a-post-about-nothing-in-particular?page=3"),
        }
    });
    File { name, paths: paths.collect(), text }
}
