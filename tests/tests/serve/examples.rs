//! The files in `examples/serve`, with ports and paths of the test's own, in the proxies that they are for.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crawlpike_tests::artefacts::{adapted, repository, traefik as traefik_binary};
use crawlpike_tests::envoy::Envoy;
use crawlpike_tests::http::{Request, Response, send};
use crawlpike_tests::lab::FIREFOX;
use crawlpike_tests::nginx::{Folder, Nginx, local};
use crawlpike_tests::origin::{Origin, Received};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::proc;
use crawlpike_tests::process::{Server, wait_for};
use crawlpike_tests::serve::Serve;
use rustix::process::Signal;

use crate::life::{has_metric, start, start_at_port};

fn example(name: &str) -> String {
    adapted(&format!("examples/serve/{name}"), &[])
}

/// The document of the examples. PartnerBot's addresses are those of the tests' clients, and nobody else's.
fn policy() -> Folder {
    let folder = Folder::new();
    folder.write("partners.txt", "127.0.0.1\n");
    folder.write("robots.txt", example("robots.txt"));
    let tags = r#""robots_tag": [{ "scope": "/", "rules": "noai" }]"#;
    let changes = [
        (r#""robots_txt": "robots.txt""#, format!(r#""robots_txt": "robots.txt", {tags}"#)),
        (r#""name": "partners","#, r#""name": "partners", "guard": "off","#.into()),
    ];
    folder.write("crawlpike.json", adapted("examples/serve/crawlpike.json", &changes));
    folder
}

/// A server, an origin, and the port at which a proxy is to listen.
struct World {
    folder: Folder,
    serve: Serve,
    origin: Origin,
    port: u16,
}

impl World {
    fn start() -> Self {
        let folder = policy();
        let serve = start(&folder, &[]);
        Self { folder, serve, origin: Origin::start(), port: free_port() }
    }

    fn socket(&self) -> String {
        self.serve.http().display().to_string()
    }

    fn ask(&self, request: &Request) -> Response {
        send(local(self.port), request).unwrap()
    }

    fn wait_for_proxy(&self, proxy: &mut Server) {
        proxy.wait_until("the proxy serves", || {
            let response = send(local(self.port), &Request::get("/")).ok()?;
            (response.status == 200).then_some(())
        });
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
        let forge = |request: Request| {
            ["X-Crawlpike", "X_Crawlpike"].map(|name| request.clone().header(name, "action=allow"))
        };
        for forged in forge(Request::get("/").agent("PartnerBot/1.0")) {
            assert_eq!(known(&self.ask(&forged)).as_deref(), Some(expected));
        }
        // The client has the next hop remove our header, or sends more headers than the proxy's own question has room for.
        let hop = Request::get("/").agent("PartnerBot/1.0").header("Connection", "X-Crawlpike");
        assert_eq!(known(&self.ask(&hop)).as_deref(), Some(expected), "Connection");
        let many = (0..97).fold(Request::get("/private/a").agent("curl/8"), |request, number| {
            request.header(&format!("X-{number}"), "v")
        });
        assert!(self.ask(&many).status >= 400);
        // A health check by HTTP/1.0 has no Host. Envoy does not speak that version.
        let probe = self.ask(&Request::bare("GET", "/").http_1_0().agent("HAProxy"));
        assert!([200, 426].contains(&probe.status), "{}: {}", probe.status, probe.text());
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
        // A request can name its host in front of the path (RFC 9112, 3.2.2).
        assert_eq!(get("http://example.com/private/a", "curl/8").status, 403);
        // The origin has the policy, too: whoever must obey it can read it.
        assert_eq!(get("/robots.txt", "curl/8").status, 200);
        let head = self.ask(&Request::new("HEAD", "/private/", "example.com").agent("curl/8"));
        assert_eq!(head.status, 403);
        // Of people nothing is known, whatever they say.
        self.folder.write("partners.txt", "192.0.2.0/24\n");
        for person in forge(Request::get("/private/a").agent(FIREFOX)) {
            wait_for("the feed without this machine", || known(&self.ask(&person)).is_none().then_some(()));
        }
        let errors = self.serve.admin("/metrics").text();
        assert!(errors.lines().any(|line| line == "crawlpike_errors_total 0"), "{errors}");
    }

    /// Requests with unusual octets, which the proxy passes on, are decided about as all others.
    fn check_octets(&self, headers: &[(&str, &str)]) {
        for target in ["/private/<", "/private/?filter={\"a\":`1`}"] {
            let of = |agent: &str| {
                let request = Request::get(target).agent(agent);
                headers.iter().fold(request, |request, (name, value)| request.header(name, value))
            };
            assert_eq!(self.ask(&of("curl/8")).status, 403, "{target}");
            assert_eq!(self.ask(&of(FIREFOX)).status, 200, "{target}");
        }
        assert!(has_metric(&self.serve, "crawlpike_errors_total 0"));
    }

    /// The proxy sends the headers that are for the response.
    fn check_tags(&self) {
        let response = self.ask(&Request::get("/").agent("curl/8"));
        let tags = ["robots-tag", "x-robots-tag"].map(|name| response.lines(name));
        assert_eq!(tags, [["noai"], ["noai"]]);
    }

    /// Without an answer, a request has this status.
    fn check_failure(&self, status: u16) {
        assert_eq!(self.ask(&Request::get("/private/").agent("curl/8")).status, status);
    }

    fn kill_server(&mut self) {
        self.serve.server().signal(Signal::KILL);
        self.serve.server().wait_for_end();
    }
}

#[test]
fn nginx() {
    let mut world = World::start();
    let text = adapted(
        "examples/serve/nginx.conf",
        &[
            ("unix:/run/crawlpike/http.sock", format!("unix:{}", world.socket())),
            ("listen 8080;", format!("listen 127.0.0.1:{};", world.port)),
            ("http://127.0.0.1:8000", format!("http://127.0.0.1:{}", world.origin.port())),
        ],
    );
    let _nginx = Nginx::without_module(Folder::new(), &text);
    world.check(false);
    world.check_tags();
    world.check_octets(&[&[("Cookie", "a=\u{1}b")][..], &[("X-A", "v"); 300]].concat());
    world.kill_server();
    world.check_failure(500);
}

#[test]
fn apache() {
    let mut world = World::start();
    // Its workers run as another user.
    let open = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    open(world.folder.path(), 0o755);
    open(world.serve.http(), 0o666);
    let script = adapted("examples/serve/apache.lua", &[("/run/crawlpike/http.sock", world.socket())]);
    let script = world.folder.write("apache.lua", script);
    let text = adapted(
        "examples/serve/apache.conf",
        &[
            ("/etc/apache2/crawlpike.lua", script.display().to_string()),
            ("8080", world.port.to_string()),
            ("127.0.0.1:8000", format!("127.0.0.1:{}", world.origin.port())),
        ],
    );
    let modules = ["mpm_event", "authz_core", "proxy", "proxy_http", "lua"];
    let modules =
        modules.map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"));
    let own = "PidFile pid\nErrorLog error.log\nServerName localhost\nUser www-data\nGroup www-data\n";
    let file = world.folder.write("apache.conf", [&modules.concat(), own, &text].concat());
    let mut command = Command::new("apache2");
    command.arg("-DFOREGROUND").arg("-d").arg(world.folder.path()).arg("-f").arg(file);
    let logs = [world.folder.path().join("error.log")];
    let mut apache = Server::start("apache2", &mut command, &world.folder.path().join("apache.log"), &logs);
    world.wait_for_proxy(&mut apache);
    world.check(true);
    world.check_tags();
    let port = world.port;
    let status = |path: &str| send(local(port), &Request::get(path).agent("curl/8")).unwrap().status;
    // An answer that comes too late is not taken for that to the next question.
    world.serve.server().signal(Signal::STOP);
    let pid = world.serve.server().pid().as_raw_nonzero().get();
    wait_for("a server that is stopped", || proc::is_stopped(pid).then_some(()));
    world.check_failure(200);
    world.serve.server().signal(Signal::CONT);
    assert_eq!(status("/"), 200);
    assert_eq!(status("/private/"), 403);
    // Its connections end, and it opens others.
    world.kill_server();
    world.check_failure(200);
    world.serve = start(&world.folder, &[]);
    open(world.serve.http(), 0o666);
    assert_eq!(status("/private/"), 403);
}

#[test]
fn caddy() {
    let mut world = World::start();
    let text = adapted(
        "examples/serve/Caddyfile",
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
    world.kill_server();
    world.check_failure(502);
}

#[test]
fn traefik() {
    let world = World::start();
    let (server, port) = start_at_port(&world.folder, &[]);
    let text = adapted(
        "examples/serve/traefik.yaml",
        &[
            ("127.0.0.1:9191", format!("127.0.0.1:{port}")),
            ("127.0.0.1:8000", format!("127.0.0.1:{}", world.origin.port())),
        ],
    );
    let file = world.folder.write("traefik.yaml", text);
    let mut command = Command::new(traefik_binary());
    command.arg(format!("--entrypoints.web.address=127.0.0.1:{}", world.port));
    command.arg(format!("--providers.file.filename={}", file.display()));
    command.args(["--global.checknewversion=false", "--global.sendanonymoususage=false"]);
    let mut traefik = Server::start("traefik", &mut command, &world.folder.path().join("traefik.log"), &[]);
    world.wait_for_proxy(&mut traefik);
    world.check(true);
    drop(server);
    world.check_failure(500);
}

#[test]
fn haproxy() {
    let world = World::start();
    // Its client for HTTP in Debian 12 has no Unix sockets.
    let (server, port) = start_at_port(&world.folder, &["--dialect", "haproxy"]);
    let lua = adapted("examples/serve/crawlpike.lua", &[("127.0.0.1:9191", format!("127.0.0.1:{port}"))]);
    let lua = world.folder.write("crawlpike.lua", lua);
    let text = adapted(
        "examples/serve/haproxy.cfg",
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
    drop(server);
    world.check_failure(200);
}

/// Envoy with its example, which asks at this socket, edited as the test needs it.
fn start_envoy(world: &World, socket: &Path, edit: impl FnOnce(String) -> String) -> Envoy {
    let admin = free_port();
    let text = adapted(
        "examples/serve/envoy.yaml",
        &[
            ("/run/crawlpike/grpc.sock", socket.display().to_string()),
            ("port_value: 8090", format!("port_value: {}", world.port)),
            ("port_value: 9901", format!("port_value: {admin}")),
            ("port_value: 8000", format!("port_value: {}", world.origin.port())),
            ("/var/log/envoy/access.log", world.folder.path().join("access.log").display().to_string()),
        ],
    );
    let folder = Folder::new();
    folder.write("envoy.yaml", edit(text));
    Envoy::boot_file(folder, "envoy.yaml", admin, 2, &[])
}

#[test]
fn envoy() {
    let mut world = World::start();
    let _envoy = start_envoy(&world, world.serve.grpc(), |text| text);
    world.check(true);
    world.check_tags();
    world.check_octets(&[("X-A", "é")]);
    // A route has its own mode.
    world.folder.write("robots.txt", "User-agent: *\nDisallow: /\n");
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
    let lines = example("envoy-http.yaml");
    let lines = lines.lines().filter(|line| !line.starts_with('#'));
    let filter: String = lines.map(|line| format!("                  {line}\n")).collect();
    let _envoy = start_envoy(&world, world.serve.http(), |text| {
        let (start, rest) =
            text.split_once("                  - name: envoy.filters.http.ext_authz\n").unwrap();
        let (_, end) = rest.split_once("                  - name: envoy.filters.http.router\n").unwrap();
        let text = [start, &filter, "                  - name: envoy.filters.http.router\n", end].concat();
        text.replace("http2_protocol_options", "http_protocol_options")
    });
    world.check(true);
    world.check_tags();
    world.check_octets(&[("X-A", "é")]);
}

#[test]
fn systemd_has_nothing_against_the_units() {
    let folder = Folder::new();
    for unit in ["crawlpike-serve.service", "crawlpike-serve.socket"] {
        let text = fs::read_to_string(repository().join("examples/serve").join(unit)).unwrap();
        // Which need not be installed where the test runs.
        folder.write(unit, text.replace("/usr/bin/crawlpike", "/bin/true"));
    }
    // A configuration that cannot be used for a while does not end the socket.
    let text = folder.read("crawlpike-serve.service");
    assert!(text.contains("\nStartLimitIntervalSec=0\n") && text.contains("\nRestartSec="), "{text}");
    let service = folder.path().join("crawlpike-serve.service");
    for arguments in [&["verify", "--man=no"][..], &["security", "--offline=true", "--threshold=20"]] {
        let output = Command::new("systemd-analyze").args(arguments).arg(&service).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{arguments:?}: {text}");
        assert!(arguments[0] != "verify" || text.is_empty(), "{text}");
    }
}
