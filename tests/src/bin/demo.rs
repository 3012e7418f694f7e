//! `make demo`: the three gates and `crawlpike serve` with the files in `examples/demo`, asked the same questions.
//!
//! Everything runs on free loopback ports and below one temporary folder. `KEEP=1` leaves it running.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, Write as _};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use crawlpike_tests::artefacts;
use crawlpike_tests::cases::CaseRequest;
use crawlpike_tests::envoy::write_resource;
use crawlpike_tests::http::{self, Request, Response};
use crawlpike_tests::lab::{ADDRESS_HEADER, FIREFOX};
use crawlpike_tests::nginx::{Folder, local};
use crawlpike_tests::origin::Received;
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::Server;
use crawlpike_tests::verdict::parse_dictionary;
use serde_json::{Value, json};

/// The client.
struct Client {
    who: &'static str,
    address: &'static str,
    user_agent: Option<&'static str>,
    host: &'static str,
    path: &'static str,
    signature: Signature,
}

/// The signature of a request, if it has one.
#[derive(Clone, Copy)]
enum Signature {
    None,
    Good,
    /// One that was seen an hour ago, and is sent again.
    Old,
    /// One for another path.
    Forged,
}

const fn client(who: &'static str, address: &'static str, user_agent: &'static str) -> Client {
    Client {
        who,
        address,
        user_agent: Some(user_agent),
        host: "example.com",
        path: "/",
        signature: Signature::None,
    }
}

const GOOGLEBOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const PERPLEXITY: &str = "Mozilla/5.0 (compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";

const CLIENTS: [Client; 24] = [
    client("Googlebot, from Google", "66.249.66.1", GOOGLEBOT),
    client("Googlebot, by IPv6", "2001:4860:4801:10::", GOOGLEBOT),
    client("Googlebot-Image", "66.249.66.1", "Googlebot-Image/1.0"),
    client("a false Googlebot", "198.51.100.7", GOOGLEBOT),
    Client { path: "/robots.txt", ..client("same, at /robots.txt", "198.51.100.7", GOOGLEBOT) },
    client("another, at OpenAI", "132.196.86.7", GOOGLEBOT),
    client("a look-alike", "198.51.100.7", "NotGooglebot/2.1 (+http://bot.example)"),
    client("GPTBot, denied here", "132.196.86.7", GPTBOT),
    client("a false GPTBot", "198.51.100.7", GPTBOT),
    client("ChatGPT-User", "104.208.184.200", "Mozilla/5.0 (compatible; ChatGPT-User/1.0)"),
    client("PerplexityBot", "107.20.236.150", PERPLEXITY),
    client("a false PerplexityBot", "107.20.236.151", PERPLEXITY),
    client("PartnerBot, allowed", "192.0.2.10", "PartnerBot/2.0"),
    client("bingbot, without feed", "198.51.100.7", BINGBOT),
    Client { host: "strict.example", ..client("same, on strict site", "198.51.100.7", BINGBOT) },
    client("curl", "198.51.100.7", "curl/8.5.0"),
    Client { user_agent: None, ..client("no User-Agent", "198.51.100.7", "") },
    client("curl, from Google", "66.249.66.1", "curl/8.5.0"),
    client("Firefox, from Google", "66.249.66.1", FIREFOX),
    Client { host: "strict.example", ..client("same, on strict site", "66.249.66.1", FIREFOX) },
    client("Firefox, from home", "203.0.113.9", FIREFOX),
    Client { signature: Signature::Good, ..client("Firefox, signed", "203.0.113.9", FIREFOX) },
    Client { signature: Signature::Old, ..client("same, an hour later", "203.0.113.9", "SigningBot/1.0") },
    Client { signature: Signature::Forged, ..client("same, for other path", "203.0.113.9", FIREFOX) },
];

/// The key of SigningBot: its public half is in examples/demo/signer-keys.json.
const KEY: u8 = 1;

impl Client {
    /// The headers of the request's signature.
    fn signature(&self) -> BTreeMap<String, String> {
        let mut sign = match self.signature {
            Signature::None => return BTreeMap::new(),
            Signature::Good => json!({}),
            Signature::Old => json!({ "age": 3600, "life": 60 }),
            Signature::Forged => json!({ "path": "/another" }),
        };
        sign["key"] = KEY.into();
        sign["directory"] = "https://signer.example".into();
        let request = json!({ "ip": self.address, "host": self.host, "path": self.path, "sign": sign });
        let mut request: CaseRequest = serde_json::from_value(request).expect("a request");
        request.sign();
        request.headers
    }
}

/// The response of a gate: its status, and the reason or the client, as far as it shows them.
fn outcome(response: &Response) -> String {
    let received = match Received::of(response) {
        None => response.denial_reason(),
        Some(received) => received.crawlpike.and_then(|text| parse_dictionary(&text).remove("identity")),
    };
    format!("{} {}", response.status, received.as_deref().unwrap_or("-"))
}

/// The names of the gates, and the widths of their columns.
const GATES: [(&str, usize); 4] = [("nginx", 5), ("Wasm", 4), ("native", 6), ("serve", 5)];

/// All gates in front of one origin: nginx, and Envoy with the Wasm filter at one port and the native module at another, and
/// at a third one questions to `crawlpike serve`.
struct Demo {
    folder: Folder,
    origin: Server,
    nginx: Server,
    serve: Server,
    envoy: Server,
    /// Those of [`GATES`].
    ports: [u16; 4],
}

impl Demo {
    fn start(keep: bool) -> Self {
        let folder = Folder::new();
        folder.copy_of_repository("examples/demo");
        folder.copy_of_repository("core/data/feeds");
        let path = |name: &str| folder.path().join(name);
        let document = path("examples/demo/crawlpike.json");
        let [nginx_port, wasm_port, native_port, serve_port, questions, admin, origin_port] =
            [(); 7].map(|()| free_port());

        let absolute =
            |path: PathBuf| path.canonicalize().expect("a file that is there").display().to_string();
        let changes = [
            ("modules/ngx_http_crawlpike_module.so", absolute(artefacts::nginx_module())),
            ("crawlpike_config crawlpike.json", format!("crawlpike_config {}", document.display())),
            ("127.0.0.1:8080", format!("127.0.0.1:{nginx_port}")),
            ("127.0.0.1:8000", format!("127.0.0.1:{origin_port}")),
        ];
        let conf = folder.write("nginx.conf", artefacts::adapted("examples/demo/nginx.conf", &changes));
        let mut nginx = Command::new(artefacts::nginx());
        nginx.arg("-p").arg(folder.path()).arg("-c").arg(conf).args(["-e", "error.log"]);

        let changes = [("127.0.0.1:8000", format!("127.0.0.1:{origin_port}"))];
        let conf =
            folder.write("origin/origin.conf", artefacts::adapted("examples/demo/origin.conf", &changes));
        let mut origin = Command::new(artefacts::nginx());
        origin.arg("-p").arg(path("origin")).arg("-c").arg(conf).args(["-e", "error.log"]);

        let mut serve = Command::new(artefacts::cli());
        serve.arg("serve").arg("--config").arg(&document);
        serve.args(["--grpc", &format!("127.0.0.1:{questions}")]);

        let filter = path("filter.json");
        let output = write_resource(&document, &filter);
        assert!(output.status.success(), "crawlpike envoy: {}", String::from_utf8_lossy(&output.stderr));
        let changes = [
            ("/tmp/crawlpike-filter.json", filter.display().to_string()),
            ("/dev/stdout", path("envoy-access.log").display().to_string()),
            ("dist/libcrawlpike_envoy.so", absolute(artefacts::envoy_module())),
            ("examples/demo/crawlpike.json", document.display().to_string()),
            ("port_value: 8090", format!("port_value: {wasm_port}")),
            ("port_value: 8091", format!("port_value: {native_port}")),
            ("port_value: 8092", format!("port_value: {serve_port}")),
            ("port_value: 9191", format!("port_value: {questions}")),
            ("port_value: 9901", format!("port_value: {admin}")),
            ("port_value: 8000", format!("port_value: {origin_port}")),
        ];
        let conf = folder.write("envoy.yaml", artefacts::adapted("examples/demo/envoy.yaml", &changes));
        let mut envoy = Command::new(artefacts::envoy());
        envoy.arg("-c").arg(conf).arg("--log-path").arg(path("envoy.log"));
        envoy.args(["--disable-hot-restart", "--concurrency", "2"]);

        if keep {
            // Ctrl-C in this terminal, later, is not meant for them.
            for server in [&mut origin, &mut nginx, &mut serve, &mut envoy] {
                server.process_group(0);
            }
        }
        let mut origin =
            Server::start("origin", &mut origin, &path("origin-stderr.log"), &[path("origin/error.log")]);
        let mut nginx = Server::start("nginx", &mut nginx, &path("nginx-stderr.log"), &[path("error.log")]);
        let mut serve = Server::start("crawlpike serve", &mut serve, &path("serve.log"), &[]);
        let mut envoy = Server::start("envoy", &mut envoy, &path("envoy-stderr.log"), &[path("envoy.log")]);
        let answers = |port, target| {
            let response = http::send(local(port), &Request::get(target).agent(FIREFOX)).ok()?;
            (response.status == 200).then_some(())
        };
        origin.wait_until("the origin answers", || answers(origin_port, "/"));
        nginx.wait_until("nginx answers", || answers(nginx_port, "/"));
        serve.wait_until("the server listens", || TcpStream::connect(local(questions)).ok());
        envoy.wait_until("Envoy is ready", || answers(admin, "/ready"));
        Self { folder, origin, nginx, serve, envoy, ports: [nginx_port, wasm_port, native_port, serve_port] }
    }

    fn ask(port: u16, client: &Client) -> String {
        let mut request =
            Request::new("GET", client.path, client.host).header(ADDRESS_HEADER, client.address);
        if let Some(user_agent) = client.user_agent {
            request = request.agent(user_agent);
        }
        for (name, value) in &client.signature() {
            request = request.header(name, value);
        }
        http::send(local(port), &request)
            .map_or_else(|error| error.to_string(), |response| outcome(&response))
    }

    /// Prints a line for each client; whether the gates agree on all of them.
    fn show(&self) -> bool {
        let mut agreed = true;
        let decisions = explain();
        let columns = |cells: [&str; 4]| {
            let cells = GATES.iter().zip(cells);
            cells.map(|((_, width), cell)| format!("{cell:<width$}")).collect::<Vec<_>>().join(" ")
        };
        let names = columns(GATES.map(|(name, _)| name));
        say(&format!("{:<21} {:<19} {:<10} {:<6} {names} why", "client", "address", "identity", "action"));
        say(&"-".repeat(100));
        for (client, decision) in CLIENTS.iter().zip(&decisions) {
            let outcomes = self.ports.map(|port| Self::ask(port, client));
            let text = |key: &str| decision[key].as_str().unwrap_or("-").to_owned();
            let expected = match decision["action"].as_str() {
                Some("deny") => format!("403 {}", text("reason")),
                _ if text("identity") == "none" => "200 -".to_owned(),
                _ => format!("200 {}", text("identity")),
            };
            let same = outcomes.iter().all(|outcome| *outcome == expected);
            agreed &= same;
            let statuses =
                columns(outcomes.each_ref().map(|outcome| outcome.split(' ').next().unwrap_or_default()));
            let (who, address) = (client.who, client.address);
            let (identity, action) = (text("identity"), text("action"));
            let reason = text("reason");
            say(&format!("{who:<21} {address:<19} {identity:<10} {action:<6} {statuses} {reason}"));
            if !same {
                say(&format!("    they differ! expected {expected}"));
                for ((name, _), outcome) in GATES.iter().zip(&outcomes) {
                    say(&format!("    {name}: {outcome}"));
                }
            }
        }
        say("");
        agreed
    }

    /// Prints how nginx sends one page to a browser and to an agent that asks for markdown; whether the forms are right.
    fn show_forms(&self) -> bool {
        say("One page, as nginx sends it to a browser and to an agent that asks for markdown:");
        let forms = [
            ("text/html,*/*;q=0.8", "text/html", false),
            ("text/markdown", "text/markdown; charset=utf-8", true),
        ];
        let mut are_right = true;
        for (accept, expected, is_markdown) in forms {
            let request =
                Request::new("GET", "/kettle", "example.com").agent(FIREFOX).header("Accept", accept);
            let Ok(response) = http::send(local(self.ports[0]), &request) else { return false };
            let kind = response.header("content-type").unwrap_or("-");
            let count = response.header("x-markdown-tokens").unwrap_or("-");
            are_right &= kind == expected && (count != "-") == is_markdown;
            let bytes = response.body.len();
            say(&format!("  Accept: {accept:<20} {kind:<29} {bytes:>5} bytes, tokens: {count}"));
        }
        say("");
        are_right
    }

    fn leave_running(mut self) {
        let folder = self.folder.path().display().to_string();
        say("The servers go on. The address is what you say in X-Forwarded-For:");
        for ((name, _), port) in GATES.iter().zip(self.ports) {
            say(&format!("{name}:"));
            say(&format!(
                "  curl -i -A Googlebot -H 'X-Forwarded-For: 66.249.66.1' http://127.0.0.1:{port}/"
            ));
            say(&format!(
                "  curl -i -A Googlebot -H 'X-Forwarded-For: 198.51.100.7' http://127.0.0.1:{port}/"
            ));
        }
        say(&format!("What they log: {folder}/access.log (nginx), {folder}/envoy-access.log (Envoy)"));
        say("To stop them:");
        let servers = [&mut self.origin, &mut self.nginx, &mut self.serve, &mut self.envoy];
        let pids: Vec<String> =
            servers.iter().map(|server| server.pid().as_raw_nonzero().to_string()).collect();
        say(&format!("  kill {}; rm -rf {folder}", pids.join(" ")));
        servers.into_iter().for_each(Server::leave_running);
        self.folder.keep();
    }
}

/// Prints a line. Who pipes us into `head` wants no more of them, and no panic.
fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// The decisions of the command line about the clients.
fn explain() -> Vec<Value> {
    let mut command = Command::new(artefacts::cli());
    command
        .args(["explain", "--stdin", "--config"])
        .arg(artefacts::repository().join("examples/demo/crawlpike.json"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command line");
    let mut input = String::new();
    for client in &CLIENTS {
        let Client { address, user_agent, host, path, .. } = client;
        let headers = client.signature();
        let line = json!({ "ip": address, "user_agent": user_agent, "host": host, "path": path, "headers": headers });
        input.push_str(&format!("{line}\n"));
    }
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("the command line reads");
    let output = child.wait_with_output().expect("a child of ours");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).expect("a decision")).collect()
}

fn main() -> ExitCode {
    let keep = env::var_os("KEEP").is_some_and(|value| !value.is_empty() && value != "0");
    let demo = Demo::start(keep);
    let agreed = demo.show() & demo.show_forms();
    if agreed {
        say(&format!(
            "The three gates, `crawlpike serve` and `crawlpike explain` agree on all {} requests.",
            CLIENTS.len()
        ));
    }
    if keep {
        demo.leave_running();
    }
    if agreed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
