//! Both gates with an origin, a publisher of feeds and clients, each where it stands in a real installation: on networks of
//! their own, whose prefixes are reserved: for documentation by RFC 5737 and RFC 3849, for tests of networks by RFC 2544.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crawlpike_tests::nginx::Folder;
use crawlpike_tests::process::wait_for;
use crawlpike_tests::publisher::Authority;

use crate::engine::{Container, Finished, Network, Volume, docker, images, try_docker};

pub(crate) const GOOGLEBOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
pub(crate) const GPTBOT: &str =
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)";
pub(crate) const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/// Addresses of clients. Googlebot's and GPTBot's are in their feeds.
pub(crate) const OF_GOOGLE: &str = "198.51.100.65";
pub(crate) const OF_GOOGLE_IPV6: &str = "2001:db8:c::6401";
pub(crate) const OF_OPENAI: &str = "198.51.100.97";
pub(crate) const OF_NOBODY: &str = "198.51.100.130";
pub(crate) const OF_NOBODY_IPV6: &str = "2001:db8:c::8201";

/// In Google's shape.
pub(crate) const GOOGLE_FEED: &str = r#"{ "creationTime": "2026-11-21T10:00:00.000000", "prefixes": [
  { "ipv4Prefix": "198.51.100.64/28" }, { "ipv4Prefix": "198.51.100.80/28" }, { "ipv6Prefix": "2001:db8:c::6400/120" } ] }"#;
/// In OpenAI's shape.
pub(crate) const OPENAI_FEED: &str = r#"{ "creationTime": "2026-11-21T10:00:00.000000", "prefixes": [
  { "ipv4Prefix": "198.51.100.96/27" } ] }"#;

/// Writes how long a way took that docs/install.md lists, from nothing to the first decision. Not by `eprintln`, which the log
/// of CI would not have from a test that passes.
pub(crate) fn log_time(way: &str, start: Instant) {
    let _ = writeln!(io::stderr(), "{way}: {} s to the first decisions", start.elapsed().as_secs());
}

const DOCUMENT: &str = r#"{
  "mode": "enforce",
  "feeds": [
    { "name": "googlebot", "format": "jafar", "source": "/var/lib/crawlpike/googlebot.json", "max_age": "7d",
      "url": "https://publisher.example/googlebot.json" },
    { "name": "gptbot", "format": "jafar", "source": "/var/lib/crawlpike/gptbot.json",
      "url": "https://publisher.example/gptbot.json" }
  ],
  "agents": [ { "token": "Googlebot", "feeds": ["googlebot"] }, { "token": "GPTBot", "feeds": ["gptbot"] } ],
  "sites": [ { "name": "all", "robots_txt": "robots.txt" } ]
}"#;
const ROBOTS: &str = "User-agent: GPTBot\nDisallow: /private/\n";

/// Shows what the origin receives of the gates.
const ORIGIN: &str = "
pid /tmp/nginx.pid; error_log /dev/stderr notice; events {}
http {
    client_body_temp_path /tmp/b; proxy_temp_path /tmp/p; fastcgi_temp_path /tmp/f; uwsgi_temp_path /tmp/u; scgi_temp_path /tmp/s;
    server { listen 8000; access_log off; default_type text/plain; return 200 \"[$http_x_crawlpike]\"; }
}";

/// Serves feeds to whoever asks again and again.
const PUBLISHER: &str = "
pid /tmp/nginx.pid; error_log /dev/stderr notice; events {}
http {
    client_body_temp_path /tmp/b; proxy_temp_path /tmp/p; fastcgi_temp_path /tmp/f; uwsgi_temp_path /tmp/u; scgi_temp_path /tmp/s;
    server {
        listen 443 ssl; server_name publisher.example;
        ssl_certificate /published/certificate.pem; ssl_certificate_key /published/key.pem;
        access_log /dev/stdout; default_type application/json; add_header Cache-Control no-cache;
        root /published/feeds;
    }
}";

/// The networks have fixed prefixes, so there is one world at a time.
static ONE: Mutex<()> = Mutex::new(());

/// Waits for the right to use the engine alone.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A gate: its container, and its addresses on the clients' network.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) name: &'static str,
    pub(crate) container: Container,
    pub(crate) ipv4: &'static str,
    pub(crate) ipv6: &'static str,
}

/// The fields are dropped in this order: containers before networks.
pub(crate) struct World {
    pub(crate) gates: Vec<Gate>,
    client: Container,
    pub(crate) origin: Container,
    pub(crate) publisher: Container,
    feeds: Volume,
    clients_network: Network,
    pub(crate) feeds_network: Network,
    pub(crate) origin_network: Network,
    pub(crate) policy: Folder,
    published: Folder,
    _alone: MutexGuard<'static, ()>,
}

/// A folder that every user may read, as those that are mounted are.
pub(crate) fn public_folder() -> Folder {
    let folder = Folder::new();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// An argument of `docker run`.
pub(crate) fn mount(folder: &Path, at: &str) -> String {
    format!("--volume={}:{at}:ro", folder.display())
}

/// Hardened as in compose.yaml.
pub(crate) const HARDENED: [&str; 4] =
    ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges"];

impl World {
    pub(crate) fn new() -> Self {
        let alone = alone();
        let images = images();
        let clients_network = Network::new("clients", "198.51.100.0/24", "2001:db8:c::/64");
        // Not for documentation: a machine behind a proxy may reach the registries at such addresses.
        let feeds_network = Network::new("feeds", "198.18.0.128/25", "");
        let origin_network = Network::new("origin", "198.18.0.0/25", "");
        let (policy, published) = (public_folder(), public_folder());
        policy.write("crawlpike.json", DOCUMENT);
        policy.write("robots.txt", ROBOTS);
        published.write("publisher.conf", PUBLISHER);
        published.write("origin.conf", ORIGIN);
        let authority = Authority::new();
        let (certificate, key) = authority.pem_of(vec!["publisher.example".to_owned()]);
        published.write("certificate.pem", certificate);
        published.write("key.pem", key);
        published.write("authority.pem", fs::read(authority.file()).unwrap());
        published.write("feeds/googlebot.json", GOOGLE_FEED);
        published.write("feeds/gptbot.json", OPENAI_FEED);

        let server = |name: &str, network: &Network, alias: &str, conf: &str| {
            let mut words = vec![format!("--network={}", network.0), format!("--network-alias={alias}")];
            words.push(mount(published.path(), "/published"));
            words.extend(
                ["--no-healthcheck", "--tmpfs=/tmp", "--entrypoint=nginx", images.nginx].map(str::to_owned),
            );
            let conf = format!("/published/{conf}");
            words.extend(["-e", "/dev/stderr", "-g", "daemon off;", "-c", &conf].map(str::to_owned));
            Container::run(name, &words)
        };
        let publisher = server("publisher", &feeds_network, "publisher.example", "publisher.conf");
        let origin = server("origin", &origin_network, "origin.example", "origin.conf");
        let client = [
            &format!("--network={}", clients_network.0),
            "--ip=198.51.100.10",
            "--ip6=2001:db8:c::10",
            "--cap-add=NET_ADMIN",
            images.tools,
            "sleep",
            "infinity",
        ];
        let client = Container::run("client", &client);
        let feeds = Volume::new("feeds");
        let mut world = Self {
            gates: Vec::new(),
            client,
            origin,
            publisher,
            feeds,
            clients_network,
            feeds_network,
            origin_network,
            policy,
            published,
            _alone: alone,
        };
        world.give_the_client_its_addresses();
        // Creates the volume with the rights of its user.
        docker(&["run", "--rm", &world.feeds_volume(""), images.cli, "--version"]);
        world.gates = vec![
            world.gate("nginx", images.nginx, "native", "198.51.100.2", "2001:db8:c::2"),
            world.gate("envoy", images.envoy, "native", "198.51.100.3", "2001:db8:c::3"),
            world.gate("wasm", images.envoy, "wasm", "198.51.100.4", "2001:db8:c::4"),
        ];
        // A server alone answers before its gate decides.
        world.all("identity=", OF_NOBODY, GOOGLEBOT, "/");
        world
    }

    fn feeds_volume(&self, options: &str) -> String {
        format!("--volume={}:/var/lib/crawlpike{options}", self.feeds.0)
    }

    /// Starts a gate as compose.yaml does, with a leg in the network of the origin.
    pub(crate) fn gate(
        &self,
        name: &'static str,
        image: &str,
        kind: &str,
        ipv4: &'static str,
        ipv6: &'static str,
    ) -> Gate {
        self.gate_with(name, image, kind, ipv4, ipv6, &[])
    }

    /// The same with other options of `docker run`.
    pub(crate) fn gate_with(
        &self,
        name: &'static str,
        image: &str,
        kind: &str,
        ipv4: &'static str,
        ipv6: &'static str,
        options: &[String],
    ) -> Gate {
        let mut words = vec![
            format!("--network={}", self.origin_network.0),
            mount(self.policy.path(), "/etc/crawlpike"),
            self.feeds_volume(":ro"),
            format!("--env=GATE={kind}"),
            "--env=ORIGIN=origin.example:8000".to_owned(),
            "--restart=unless-stopped".to_owned(),
        ];
        words.extend(HARDENED.map(str::to_owned));
        words.extend_from_slice(options);
        words.push(image.to_owned());
        let container = Container::run(name, &words);
        docker(&["network", "connect", "--ip", ipv4, "--ip6", ipv6, &self.clients_network.0, &container.0]);
        Gate { name, container, ipv4, ipv6 }
    }

    fn give_the_client_its_addresses(&self) {
        let script = "for n in $(seq 64 254); do ip addr add 198.51.100.$n/24 dev eth0; \
             ip addr add 2001:db8:c::$(printf %02x $n)01/64 dev eth0 nodad; done";
        let added = self.client.exec(&["sh", "-euc", script]);
        assert_eq!(added.status, 0, "{}", added.stderr);
    }

    /// The response of a gate to a client: the status, a space, the body.
    pub(crate) fn ask(&self, gate: &Gate, address: &str, agent: &str, path: &str) -> String {
        let host = if address.contains(':') { format!("[{}]", gate.ipv6) } else { gate.ipv4.to_owned() };
        let url = format!("http://{host}:8080{path}");
        let curl =
            ["curl", "-s", "-m", "10", "-w", "\n%{http_code}", "--interface", address, "-A", agent, &url];
        let answer = self.client.exec(&curl).stdout;
        let (body, status) = answer.rsplit_once('\n').unwrap_or(("", &answer));
        format!("{status} {body}")
    }

    pub(crate) fn wait_for(&self, gate: &Gate, answer: &str, address: &str, agent: &str, path: &str) {
        let what = format!("{answer} of {} for {agent} from {address}", gate.name);
        wait_for(&what, || self.ask(gate, address, agent, path).contains(answer).then_some(()));
    }

    /// All gates answer so, at once or soon.
    pub(crate) fn all(&self, answer: &str, address: &str, agent: &str, path: &str) {
        for gate in &self.gates {
            self.wait_for(gate, answer, address, agent, path);
        }
    }

    /// All gates answer so now.
    pub(crate) fn all_now(&self, answer: &str, address: &str, agent: &str, path: &str) {
        for gate in &self.gates {
            let got = self.ask(gate, address, agent, path);
            assert!(got.contains(answer), "{} for {agent} from {address}: {got}", gate.name);
        }
    }

    /// Publishes another version of a feed.
    pub(crate) fn publish(&self, feed: &str, content: &str) {
        self.published.write(&format!("feeds/{feed}.json"), content);
    }

    /// Runs `crawlpike update` in its image.
    pub(crate) fn update(&self, arguments: &[&str]) -> Finished {
        let mut words: Vec<String> = vec!["run".to_owned(), "--rm".to_owned()];
        words.push(format!("--network={}", self.feeds_network.0));
        words.extend([mount(self.policy.path(), "/etc/crawlpike"), self.feeds_volume("")]);
        words.push(mount(self.published.path(), "/published"));
        words.push("--env=SSL_CERT_FILE=/published/authority.pem".to_owned());
        words.extend(HARDENED.map(str::to_owned));
        words.push(images().cli.to_owned());
        words.extend(UPDATE.map(str::to_owned));
        words.extend(arguments.iter().map(|&word| word.to_owned()));
        try_docker(&words)
    }

    /// Runs `crawlpike update` so that it ends, as by `kill -9`, when it is about to rename a file.
    pub(crate) fn update_killed_before_rename(&self) -> Finished {
        let cli = crawlpike_tests::artefacts::repository().join("dist/static");
        let mut words: Vec<String> =
            vec!["run".to_owned(), "--rm".to_owned(), "--user=65532:65532".to_owned()];
        words.push(format!("--network={}", self.feeds_network.0));
        words.extend([mount(self.policy.path(), "/etc/crawlpike"), self.feeds_volume("")]);
        words.push(mount(self.published.path(), "/published"));
        words.push("--env=SSL_CERT_FILE=/published/authority.pem".to_owned());
        words.extend([mount(&cli, "/opt"), "--cap-add=SYS_PTRACE".to_owned(), images().tools.to_owned()]);
        let calls = "rename,renameat,renameat2";
        words.extend(["strace", "-f", "-qq", "-o", "/dev/null", "-e"].map(str::to_owned));
        words.extend([
            format!("trace={calls}"),
            "-e".to_owned(),
            format!("inject={calls}:signal=KILL:when=1"),
        ]);
        words.push("/opt/crawlpike".to_owned());
        words.extend(UPDATE.map(str::to_owned));
        try_docker(&words)
    }

    /// Publishes the feeds for the first time, until every gate has them in force.
    pub(crate) fn with_feeds(&self) {
        let updated = self.update(&[]);
        assert_eq!(updated.status, 0, "{updated:?}");
        self.reload();
        self.all("identity=verified", OF_GOOGLE, GOOGLEBOT, "/");
        self.all("403", OF_NOBODY, GOOGLEBOT, "/");
    }

    /// Reloads nginx, as its operator does. Envoy follows by itself.
    pub(crate) fn reload(&self) {
        self.gates[0].container.signal("HUP");
    }

    /// A browser that asks one gate again and again, some fifty times a second.
    pub(crate) fn load(&self, gate: &Gate, requests: usize) -> Load {
        let url = format!("http://{}:8080/?[1-{requests}]", gate.ipv4);
        let mut command = Command::new("docker");
        command.args(["exec", &self.client.0, "curl", "-s", "-m", "120", "--rate", "50/s", "-A", FIREFOX]);
        command.args(["-H", "Connection: close", "-w", "\n%{http_code}\n", &url]);
        let child = command.stdout(Stdio::piped()).spawn().expect("docker can be started");
        Load { child, requests }
    }

    /// The client, for what is special.
    pub(crate) fn client(&self) -> &Container {
        &self.client
    }
}

const UPDATE: [&str; 5] =
    ["update", "--config", "/etc/crawlpike/crawlpike.json", "--state", "/var/lib/crawlpike/update-state"];

/// The browser, until it has asked.
pub(crate) struct Load {
    child: Child,
    requests: usize,
}

impl Load {
    /// Each request was answered with 200.
    pub(crate) fn lost_nothing(self) {
        let finished = Finished::from(self.child.wait_with_output().unwrap());
        let statuses = finished.stdout.lines().filter(|line| line.len() == 3);
        let good = statuses.filter(|line| *line == "200").count();
        assert_eq!(good, self.requests, "requests lost: {}", finished.stdout);
    }
}
