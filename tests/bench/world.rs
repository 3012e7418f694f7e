//! The inputs of the measurements: feeds of a size, the configuration document over them, and clients of each kind.

use std::fmt::Write as _;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use crawlpike_core::internals::parse_prefix;
use crawlpike_core::{Decision, Identity};
use crawlpike_core::{Overrides, PlainRequest, Ruleset, Scheme, decide};
use crawlpike_files::FilesBeside;
use crawlpike_tests::artefacts::{compile_ruleset, feeds};
use crawlpike_tests::nginx::Folder;
use ipnet::IpNet;
use serde_json::{Value, json};

#[expect(dead_code, reason = "the bench of the prefix table needs more of it")]
#[path = "../../core/benches/prefix_table/data.rs"]
mod data;

/// The feed that makes up the number.
const FILLER: &str = "partners";
/// Its file.
pub(crate) const FILLER_FILE: &str = "partners.txt";
/// The feed whose agent the verified clients are.
pub(crate) const GOOGLEBOT_FEED: &str = "google-googlebot";
/// Every so many prefixes that are made up, one is of IPv6.
const V6_SHARE: usize = 5;
/// Clients of each kind: enough that neither caches nor branch prediction know them all.
const CLIENTS: usize = 512;

/// The policies of the site that has some. They permit what the clients ask for.
const ROBOTS_TXT: &str = "User-agent: *\nDisallow: /private/\nDisallow: /*?sort=\n\nUser-agent: Googlebot\n\
     Disallow: /nogooglebot/\nAllow: /\n";
const AUTOMATION_PREFERENCES: &str = "User-agent: *\nScope: /\nAllowed-methods: GET, HEAD\n\n\
     User-agent: Googlebot\nScope: /drafts/\nAllowed-methods: GET\n";

const BROWSERS: &str = include_str!("../../core/tests/data/ua-browsers-today.txt");

/// The User-Agent of Googlebot.
const GOOGLEBOTS: [&str; 3] = [
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.7444.175 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1; +http://www.google.com/bot.html) Chrome/142.0.7444.175 Safari/537.36",
];

/// A configuration with feeds of so many prefixes: those that ship, and made-up ones like the routing table's.
pub(crate) struct World {
    /// The folder of its files, removed with it.
    folder: Folder,
    feeds: Vec<Feed>,
    /// The number of prefixes in all feeds.
    pub(crate) prefixes: usize,
    /// The document without sites, and its compiled form.
    pub(crate) document: PathBuf,
    pub(crate) compiled: PathBuf,
    /// The document without sites that lists the proxies whose client addresses the server trusts.
    pub(crate) document_with_hops: PathBuf,
    /// The document of which the site of all clients has both policies.
    pub(crate) document_with_policies: PathBuf,
    ruleset: Ruleset,
}

/// A feed's name and prefixes.
pub(crate) struct Feed {
    pub(crate) name: String,
    pub(crate) prefixes: Vec<IpNet>,
}

/// A kind of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A person's browser, from no feed's address.
    Browser,
    /// Googlebot, from an address of its feed.
    Verified,
    /// A client that claims to be Googlebot, from an address that is in no feed.
    Spoofed,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Browser, Self::Verified, Self::Spoofed];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Verified => "verified agent",
            Self::Spoofed => "spoofed agent",
        }
    }

    fn identity(self) -> Identity {
        match self {
            Self::Browser => Identity::None,
            Self::Verified => Identity::Verified,
            Self::Spoofed => Identity::Spoofed,
        }
    }
}

/// One client with its request.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: IpAddr,
    pub(crate) user_agent: &'static str,
    kind: Kind,
}

impl World {
    /// Makes one; the made-up prefixes of a smaller one are among those of a larger one.
    pub(crate) fn new(prefixes: usize) -> Self {
        let folder = Folder::new();
        let mut all = shipped();
        let rest = prefixes - all.iter().map(|feed| feed.prefixes.len()).sum::<usize>();
        let filler = Feed { name: FILLER.to_owned(), prefixes: made_up(rest) };
        let lines: String = filler.prefixes.iter().map(|prefix| format!("{prefix}\n")).collect();
        folder.write(FILLER_FILE, lines);
        let mut documented: Vec<Value> = Vec::new();
        for Feed { name, .. } in &all {
            let source = format!("{name}.json");
            folder.write(&source, fs::read(feeds().join(&source)).expect("a feed that ships"));
            documented.push(json!({ "name": name, "format": "jafar", "source": source }));
        }
        documented.push(json!({ "name": FILLER, "format": "cidr", "source": FILLER_FILE }));
        let mut written = json!({ "mode": "enforce", "catalog": "builtin", "feeds": documented });
        let document = folder.write("crawlpike.json", written.to_string());
        written["trusted_hops"] = 1.into();
        let document_with_hops = folder.write("hops.json", written.to_string());
        written.as_object_mut().expect("an object").remove("trusted_hops");
        folder.write("robots.txt", ROBOTS_TXT);
        folder.write("automation-preferences.txt", AUTOMATION_PREFERENCES);
        written["sites"] = json!([{
            "hosts": ["example.com"],
            "robots_txt": "robots.txt",
            "automation_preferences": "automation-preferences.txt",
        }]);
        let document_with_policies = folder.write("policies.json", written.to_string());
        let compiled = compiled(&document);
        let ruleset = crawlpike_files::compile(&document, &FilesBeside::new(&document));
        let ruleset = ruleset.expect("the document that was written").ruleset.expect("a good document");
        all.push(filler);
        Self {
            folder,
            feeds: all,
            prefixes,
            document,
            compiled,
            document_with_hops,
            document_with_policies,
            ruleset,
        }
    }

    /// Documents whose site has both policies and says more with its responses, each with a name.
    pub(crate) fn with_statements(&self) -> [(&'static str, PathBuf); 4] {
        let read = fs::read(&self.document_with_policies).expect("the document that was written");
        let document: Value = serde_json::from_slice(&read).expect("JSON");
        let tag = ("robots_tag", json!([{ "rules": "noai" }]));
        let usage =
            ("usage", json!({ "rules": [{ "scope": "/", "preferences": "train-ai=n" }], "send": true }));
        let with = |name: &'static str, file: &str, members: &[&(&str, Value)]| {
            let mut document = document.clone();
            for (member, value) in members {
                document["sites"][0][member] = value.clone();
            }
            (name, self.folder.write(file, document.to_string()))
        };
        [
            with("both policies", "policies-alone.json", &[]),
            with("and `robots_tag`", "tagged.json", &[&tag]),
            with("and `usage` with `send`", "used.json", &[&usage]),
            with("and both", "tagged-and-used.json", &[&tag, &usage]),
        ]
    }

    /// Two compiled documents with a site: one has a table of autonomous systems besides, costly paths, a key of two parts, and the
    /// name of a header with fingerprints.
    pub(crate) fn with_facts(&self) -> [PathBuf; 2] {
        let read = fs::read(&self.document).expect("the document that was written");
        let mut document: Value = serde_json::from_slice(&read).expect("JSON");
        document["sites"] = json!([{ "hosts": ["example.com"] }]);
        let without = compiled(&self.folder.write("without-facts.json", document.to_string()));
        let v4 = self.prefixes_of(FILLER).iter().filter(|prefix| prefix.addr().is_ipv4());
        let line = |(number, net): (usize, &IpNet)| {
            format!("{}\t{}\t{}\tUS\tNetwork\n", net.network(), net.broadcast(), number + 1)
        };
        self.folder.write("as.tsv", v4.enumerate().map(line).collect::<String>());
        document["networks"] = json!([{ "name": "as", "format": "iptoasn", "source": "as.tsv" }]);
        document["crowd_key"] = json!(["asn", "network"]);
        document["fingerprint_header"] = "X-JA4".into();
        document["sites"][0]["costly"] = json!(["/$", "/*/blame/", "/search?"]);
        [without, compiled(&self.folder.write("with-facts.json", document.to_string()))]
    }

    /// The folder with its documents and feeds.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The feeds that ship, and the one that is made up.
    pub(crate) fn feeds(&self) -> &[Feed] {
        &self.feeds
    }

    /// Clients of a kind, the same in each run. Their addresses are in no feed but their own, and none is private, so that every
    /// candidate can identify them.
    pub(crate) fn clients(&self, kind: Kind) -> Vec<Client> {
        let mut random = data::Random::new();
        let anywhere = data::anywhere_v4();
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for prefix in self.prefixes_of(GOOGLEBOT_FEED) {
            match prefix {
                IpNet::V4(prefix) => v4.push((*prefix, 0)),
                IpNet::V6(prefix) => v6.push((*prefix, 0)),
            }
        }
        let mut clients = Vec::new();
        while clients.len() < CLIENTS {
            let (address, user_agents) = match kind {
                Kind::Browser => (Ipv4Addr::from(anywhere(&mut random)).into(), browsers()),
                Kind::Spoofed => (Ipv4Addr::from(anywhere(&mut random)).into(), GOOGLEBOTS.to_vec()),
                Kind::Verified if clients.len() % 2 == 0 => {
                    (Ipv4Addr::from(data::inside(&v4)(&mut random)).into(), GOOGLEBOTS.to_vec())
                }
                Kind::Verified => {
                    (Ipv6Addr::from(data::inside(&v6)(&mut random)).into(), GOOGLEBOTS.to_vec())
                }
            };
            let user_agent = user_agents[clients.len() % user_agents.len()];
            let client = Client { address, user_agent, kind };
            let in_feeds = self.ruleset.lookup(address).count();
            let decision = self.decide(&client);
            if in_feeds == usize::from(kind == Kind::Verified) && decision.doubt.is_none() {
                assert_eq!(decision.identity, kind.identity(), "{client:?}");
                clients.push(client);
            }
        }
        clients
    }

    /// The prefixes of a feed.
    pub(crate) fn prefixes_of(&self, name: &str) -> &[IpNet] {
        self.feeds.iter().find(|feed| feed.name == name).map_or(&[], |feed| &feed.prefixes)
    }

    fn decide(&self, client: &Client) -> Decision {
        let request = PlainRequest {
            address: Some(client.address),
            scheme: Some(Scheme::Https),
            authority: Some(b"example.com"),
            user_agent: Some(client.user_agent.as_bytes()),
            now: crawlpike_files::now(),
            ..PlainRequest::default()
        };
        decide(&self.ruleset, &request, Overrides::default())
    }
}

/// Compiles a document, and returns the file.
pub(crate) fn compiled(document: &Path) -> PathBuf {
    let to = document.with_extension("bin");
    let output = compile_ruleset(document, &to);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    to
}

fn browsers() -> Vec<&'static str> {
    BROWSERS.lines().collect()
}

fn shipped() -> Vec<Feed> {
    let mut files: Vec<PathBuf> = fs::read_dir(feeds())
        .expect("the feeds that ship")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let feed = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a readable file");
        Feed {
            name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
            prefixes: text.split('"').filter_map(|part| parse_prefix(part).ok()).collect(),
        }
    };
    files.into_iter().map(feed).collect()
}

fn made_up(count: usize) -> Vec<IpNet> {
    let v6 = data::routing_table_v6(count / V6_SHARE, 1).into_iter().map(|(net, _)| IpNet::from(net));
    let v4 = data::routing_table_v4(count - count / V6_SHARE, 1).into_iter().map(|(net, _)| IpNet::from(net));
    v6.chain(v4).collect()
}

impl Client {
    /// The request as it goes over the wire: with the headers that such a client sends, and the address as a trusted
    /// proxy reports it.
    pub(crate) fn request(&self) -> String {
        let mut text = format!("GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: {}\r\n", self.user_agent);
        text.push_str(match self.kind {
            Kind::Browser => {
                "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n\
                 Accept-Language: en-US,en;q=0.5\r\n\
                 Accept-Encoding: gzip, deflate, br, zstd\r\n\
                 Upgrade-Insecure-Requests: 1\r\n\
                 Sec-Fetch-Dest: document\r\n\
                 Sec-Fetch-Mode: navigate\r\n\
                 Sec-Fetch-Site: none\r\n\
                 Sec-Fetch-User: ?1\r\n\
                 Priority: u=0, i\r\n"
            }
            Kind::Verified | Kind::Spoofed => {
                "Accept: text/html,application/xhtml+xml,application/signed-exchange;v=b3,application/xml;q=0.9,*/*;q=0.8\r\n\
                 From: googlebot(at)googlebot.com\r\n\
                 Accept-Encoding: gzip, deflate, br\r\n"
            }
        });
        let _ = write!(text, "X-Forwarded-For: {}\r\n\r\n", self.address);
        text
    }
}
