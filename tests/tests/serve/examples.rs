//! The files in `examples/serve`, with ports and paths of the test's own, in the proxies that they are for.

use std::fs;
use std::process::Command;

use crawlpike_tests::artefacts::repository;
use crawlpike_tests::envoy::Envoy;
use crawlpike_tests::http::{Request, Response, send};
use crawlpike_tests::lab::FIREFOX;
use crawlpike_tests::nginx::{Folder, Nginx, local};
use crawlpike_tests::origin::{Origin, Received};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::{Server, wait_for};
use crawlpike_tests::serve::Serve;
use rustix::process::Signal;

/// The document of the examples. PartnerBot's addresses are those of the tests' clients, and nobody else's.
fn policy() -> Folder {
    let folder = Folder::new();
    folder.copy_of_repository("examples/serve");
    folder.write("examples/serve/partners.txt", "127.0.0.1\n");
    let document = folder.read("examples/serve/crawlpike.json");
    let tagged = document.replace(
        r#""robots_txt": "robots.txt""#,
        r#""robots_txt": "robots.txt", "robots_tag": [{ "scope": "/", "rules": "noai" }]"#,
    );
    let tagged = tagged.replace(r#""name": "partners","#, r#""name": "partners", "guard": "off","#);
    assert_ne!(document, tagged);
    folder.write("examples/serve/crawlpike.json", tagged);
    folder
}

/// A server, an origin, and the port at which a proxy is to listen.
struct World {
    folder: Folder,
    serve: Serve,
    /// The port of a server for HTTP, beside the sockets.
    http: u16,
    origin: Origin,
    port: u16,
}

impl World {
    fn start() -> Self {
        let folder = policy();
        let http = free_port();
        let config = folder.path().join("examples/serve/crawlpike.json");
        let serve = Serve::start(&folder, "serve", &config, &[]);
        Self { folder, serve, http, origin: Origin::start(), port: free_port() }
    }

    /// An example with these texts replaced.
    fn example(&self, name: &str, changes: &[(&str, String)]) -> String {
        let mut text = fs::read_to_string(repository().join("examples/serve").join(name)).unwrap();
        for (old, new) in changes {
            assert!(text.contains(old), "{name} has no {old:?}");
            text = text.replace(old, new);
        }
        text
    }

    fn socket(&self) -> String {
        self.serve.http().display().to_string()
    }

    fn ask(&self, request: &Request) -> Response {
        send(local(self.port), request).unwrap()
    }

    fn wait_for_proxy(&self, proxy: &mut Server) {
        proxy.wait_until("the proxy serves", || send(local(self.port), &Request::get("/")).ok());
    }

    /// The decisions are carried out, and nothing that a client says of itself changes them. `relays`: the proxy relays the problem
    /// document.
    fn check(&self, relays: bool) {
        let get = |path: &str, agent: &str| self.ask(&Request::get(path).agent(agent));
        let verified = get("/", "PartnerBot/1.0");
        assert_eq!(verified.status, 200, "{}", verified.text());
        let known = |response: &Response| Received::of(response).expect("it reaches the origin").crawlpike;
        let expected = r#"action=allow, identity=verified, agent="PartnerBot", feed="partners""#;
        assert_eq!(known(&verified).as_deref(), Some(expected));
        let forger = Request::get("/").agent("PartnerBot/1.0").header("X-Crawlpike", "action=allow");
        assert_eq!(known(&self.ask(&forger)).as_deref(), Some(expected));
        let denied = get("/private/a?b", "curl/8");
        assert_eq!(denied.status, 403);
        if relays {
            let problem = denied.problem().expect("a problem document");
            assert_eq!(problem["reason"], "robots-disallowed");
            assert_eq!(denied.header("cache-control"), Some("no-store"));
        }
        let forged = Request::get("/private/a")
            .agent("curl/8")
            .header("X-Forwarded-For", "127.0.0.1")
            .header("X-Forwarded-Host", "other.test")
            .header("X-Forwarded-Method", "OPTIONS")
            .header("X-Forwarded-Proto", "gopher")
            .header("X-Forwarded-Uri", "/robots.txt")
            .header("X-Original-Method", "OPTIONS")
            .header("X-Original-URI", "/robots.txt")
            .header("X-Original-URL", "http://other.test/robots.txt")
            .header("X-Real-IP", "127.0.0.1")
            .header("Forwarded", "for=127.0.0.1");
        assert_eq!(self.ask(&forged).status, 403);
        // The origin has the policy, too: whoever must obey it can read it.
        assert_eq!(get("/robots.txt", "curl/8").status, 200);
        let head = self.ask(&Request::new("HEAD", "/private/", "example.com").agent("curl/8"));
        assert_eq!(head.status, 403);
        // Of people nothing is known, whatever they say.
        self.folder.write("examples/serve/partners.txt", "192.0.2.0/24\n");
        let person = Request::get("/private/a").agent(FIREFOX).header("X-Crawlpike", "action=allow");
        wait_for("the feed without this machine", || known(&self.ask(&person)).is_none().then_some(()));
        let errors = self.serve.admin("/metrics").text();
        assert!(errors.lines().any(|line| line == "crawlpike_errors_total 0"), "{errors}");
    }
}

fn tags(response: &Response) -> [Vec<&str>; 2] {
    ["robots-tag", "x-robots-tag"].map(|name| response.lines(name))
}

#[test]
fn nginx() {
    let world = World::start();
    let text = world.example(
        "nginx.conf",
        &[
            ("unix:/run/crawlpike/http.sock", format!("unix:{}", world.socket())),
            ("listen 8080;", format!("listen 127.0.0.1:{};", world.port)),
            ("http://127.0.0.1:8000", format!("http://127.0.0.1:{}", world.origin.port())),
        ],
    );
    let _nginx = Nginx::without_module(Folder::new(), &text);
    world.check(false);
    let response = world.ask(&Request::get("/").agent("curl/8"));
    assert_eq!(tags(&response), [["noai"], ["noai"]]);
}

#[test]
fn caddy() {
    let world = World::start();
    let text = world.example(
        "Caddyfile",
        &[
            ("unix//run/crawlpike/http.sock", format!("unix/{}", world.socket())),
            ("http://:8080", format!("http://:{}", world.port)),
            ("127.0.0.1:8000", format!("127.0.0.1:{}", world.origin.port())),
        ],
    );
    let file = world.folder.write("Caddyfile", text);
    let mut command = Command::new("caddy");
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(file);
    command.env("HOME", world.folder.path()).env("XDG_DATA_HOME", world.folder.path());
    let mut caddy = Server::start("caddy", &mut command, &world.folder.path().join("caddy.log"), &[]);
    world.wait_for_proxy(&mut caddy);
    world.check(true);
}

#[test]
fn haproxy() {
    let mut world = World::start();
    // Its client for HTTP in Debian 12 has no Unix sockets.
    let config = world.folder.path().join("examples/serve/crawlpike.json");
    let mut command = Command::new(crawlpike_tests::artefacts::cli());
    command.arg("serve").arg("--config").arg(config).args(["--http", &format!("127.0.0.1:{}", world.http)]);
    command.args(["--dialect", "haproxy"]);
    let mut server = Server::start("serve", &mut command, &world.folder.path().join("tcp.log"), &[]);
    server.wait_until("it serves", || send(local(world.http), &Request::get("/")).ok());
    let lua = world.example(
        "crawlpike.lua",
        &[("http://127.0.0.1:9191/haproxy", format!("http://127.0.0.1:{}/haproxy", world.http))],
    );
    let lua = world.folder.write("crawlpike.lua", lua);
    let text = world.example(
        "haproxy.cfg",
        &[
            ("/etc/haproxy/crawlpike.lua", lua.display().to_string()),
            ("bind 127.0.0.1:8080", format!("bind 127.0.0.1:{}", world.port)),
            ("127.0.0.1:8000", format!("127.0.0.1:{}", world.origin.port())),
        ],
    );
    let file = world.folder.write("haproxy.cfg", text);
    let mut command = Command::new("haproxy");
    command.arg("-db").arg("-f").arg(file);
    let mut haproxy = Server::start("haproxy", &mut command, &world.folder.path().join("haproxy.log"), &[]);
    world.wait_for_proxy(&mut haproxy);
    world.check(true);
    // Without an answer, requests pass.
    drop(server);
    assert_eq!(world.ask(&Request::get("/private/").agent("curl/8")).status, 200);
    world.port = 0;
}

#[test]
fn envoy() {
    let mut world = World::start();
    let admin = free_port();
    let text = world.example(
        "envoy.yaml",
        &[
            ("/run/crawlpike/grpc.sock", world.serve.grpc().display().to_string()),
            ("port_value: 8090", format!("port_value: {}", world.port)),
            ("port_value: 9901", format!("port_value: {admin}")),
            ("port_value: 8000", format!("port_value: {}", world.origin.port())),
            ("/var/log/envoy/access.log", world.folder.path().join("access.log").display().to_string()),
        ],
    );
    let folder = Folder::new();
    folder.write("envoy.yaml", text);
    let _envoy = Envoy::boot_file(folder, "envoy.yaml", admin, 2, &[]);
    world.check(true);
    let response = world.ask(&Request::get("/").agent("curl/8"));
    assert_eq!(tags(&response), [["noai"], ["noai"]]);
    // A route has its own mode.
    world.folder.write("examples/serve/robots.txt", "User-agent: *\nDisallow: /\n");
    wait_for("the new policy", || {
        (world.ask(&Request::get("/").agent("curl/8")).status == 403).then_some(())
    });
    assert_eq!(world.ask(&Request::get("/watched/").agent("curl/8")).status, 200);
    let line = world.folder.wait_for_line("access.log", "/watched/");
    assert!(line.contains("/watched/ 200 action=deny, identity=generic"), "{line}");
    // If the server is killed, no request is lost.
    world.serve.server().signal(Signal::KILL);
    for _ in 0..100 {
        let status = world.ask(&Request::get("/").agent("curl/8")).status;
        assert!(matches!(status, 200 | 403), "{status}");
    }
}

#[test]
fn envoy_over_http() {
    let world = World::start();
    let admin = free_port();
    let http_filter = fs::read_to_string(repository().join("examples/serve/envoy-http.yaml")).unwrap();
    let text = world.example("envoy.yaml", &[]);
    let (start, rest) = text.split_once("                  - name: envoy.filters.http.ext_authz\n").unwrap();
    let (_, end) = rest.split_once("                  - name: envoy.filters.http.router\n").unwrap();
    let filter: String = http_filter
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| format!("                  {line}\n"))
        .collect();
    let text = [start, &filter, "                  - name: envoy.filters.http.router\n", end].concat();
    let mut text = text.replace("http2_protocol_options", "http_protocol_options");
    for (old, new) in [
        ("/run/crawlpike/grpc.sock", world.socket()),
        ("port_value: 8090", format!("port_value: {}", world.port)),
        ("port_value: 9901", format!("port_value: {admin}")),
        ("port_value: 8000", format!("port_value: {}", world.origin.port())),
        ("/var/log/envoy/access.log", world.folder.path().join("access.log").display().to_string()),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, &new);
    }
    let folder = Folder::new();
    folder.write("envoy.yaml", text);
    let _envoy = Envoy::boot_file(folder, "envoy.yaml", admin, 2, &[]);
    world.check(true);
    let response = world.ask(&Request::get("/").agent("curl/8"));
    assert_eq!(tags(&response), [["noai"], ["noai"]]);
}

#[test]
fn systemd_has_nothing_against_the_units() {
    let folder = Folder::new();
    for unit in ["crawlpike-serve.service", "crawlpike-serve.socket"] {
        let text = fs::read_to_string(repository().join("examples/serve").join(unit)).unwrap();
        // Which need not be installed where the test runs.
        folder.write(unit, text.replace("/usr/bin/crawlpike", "/bin/true"));
    }
    let service = folder.path().join("crawlpike-serve.service");
    for arguments in [&["verify", "--man=no"][..], &["security", "--offline=true", "--threshold=20"]] {
        let output = Command::new("systemd-analyze").args(arguments).arg(&service).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{arguments:?}: {text}");
        assert!(arguments[0] != "verify" || text.is_empty(), "{text}");
    }
}
