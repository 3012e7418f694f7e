//! The table of cases: `cases/*.json`, each file a configuration with requests and the decisions that it must lead to.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use crawlpike_core::Scheme;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::artefacts::repository;
use crate::http::Request;
use crate::many_sites;
use crate::nginx::Folder;
use crate::sign::Sign;

/// One file of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The file's name, without `.json`.
    #[serde(skip)]
    pub name: String,
    /// The purpose of the configuration.
    pub about: String,
    /// The configuration document. Paths are relative to the file, unless `files` has them; there, an array of lines
    /// stands for the text.
    pub config: Value,
    /// Requests and decisions.
    pub cases: Vec<Case>,
}

/// A request and its decision.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The behaviour that it shows, in plain words.
    pub name: String,
    /// The requirements that it shows, such as `JAFAR-13`.
    #[serde(default)]
    pub shows: Vec<String>,
    /// The request.
    pub request: CaseRequest,
    /// The fields of the JSON decision that matter; the others must only be the same whatever the way in.
    pub expect: Map<String, Value>,
    /// The lines of `Robots-Tag`, `X-Robots-Tag`, `Content-Usage`, `Link` and `Vary` that the origin responds with, by name, one to
    /// three of each.
    #[serde(default)]
    pub upstream: BTreeMap<String, HeaderLines>,
    /// The response that the client of a gate receives, beyond what follows from the decision.
    #[serde(default)]
    pub response: CaseResponse,
    /// The facts about the client that matter, as `explain --json` writes them.
    #[serde(default)]
    pub facts: Map<String, Value>,
}

/// The response to a case.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseResponse {
    /// The status.
    #[serde(default)]
    pub status: Option<u16>,
    /// Headers with their lines, exactly; `null`: there is no such header. Without any, and without `upstream`,
    /// `Robots-Tag` is what the decision says.
    #[serde(default)]
    pub headers: BTreeMap<String, HeaderLines>,
}

/// The paths that the server of a gate answers itself, with their status: it responds, redirects, finds nothing, and
/// responds with `X-Robots-Tag: noarchive`.
pub const SERVER_ANSWERS: [(&str, u16); 4] =
    [("/server/direct", 200), ("/server/moved", 301), ("/server/missing", 404), ("/server/tagged", 200)];

/// The request header from which the origin takes a line of its response, by the name and the number of the line.
pub fn upstream_line(name: &str, number: usize) -> String {
    format!("X-Upstream-{name}-{number}")
}

/// The request of a case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseRequest {
    /// The client's address.
    pub ip: IpAddr,
    /// The host, with a port where that is the point.
    #[serde(default = "default_host")]
    pub host: String,
    /// The method.
    #[serde(default = "default_method")]
    pub method: String,
    /// Path and query.
    #[serde(default = "default_path")]
    pub path: String,
    /// The User-Agent.
    #[serde(default)]
    pub user_agent: HeaderLines,
    /// The purpose that the client declares, or several.
    #[serde(default)]
    pub purpose: HeaderLines,
    /// Other headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// True if the request comes over TLS.
    #[serde(default)]
    pub tls: bool,
    /// The signer of the request. The headers of the signature then are among `headers`.
    #[serde(default)]
    pub sign: Option<Sign>,
}

fn default_host() -> String {
    "example.com".into()
}

fn default_method() -> String {
    "GET".into()
}

fn default_path() -> String {
    "/".into()
}

/// The lines of a header.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum HeaderLines {
    /// `null`: no such header.
    #[default]
    Absent,
    /// One header line.
    Line(String),
    /// Several header lines.
    Lines(Vec<String>),
    /// One line whose bytes are the code points of the text (Latin-1): a lone `é` is not UTF-8.
    Bytes {
        /// The text, up to U+00FF.
        latin1: String,
    },
    /// One long line.
    Filled {
        /// It begins so.
        start: String,
        /// Then this character, as often as needed.
        fill: char,
        /// It ends so.
        end: String,
        /// So long is it, in bytes.
        length: usize,
    },
}

impl HeaderLines {
    /// The header lines.
    ///
    /// # Panics
    ///
    /// If the table is wrong.
    pub fn lines(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Absent => Vec::new(),
            Self::Line(line) => vec![line.clone().into_bytes()],
            Self::Lines(lines) => lines.iter().map(|line| line.clone().into_bytes()).collect(),
            Self::Bytes { latin1 } => {
                let byte = |character| u8::try_from(character).expect("`latin1` has Latin-1 characters only");
                vec![latin1.chars().map(byte).collect()]
            }
            Self::Filled { start, fill, end, length } => {
                let filling = length.saturating_sub(start.len() + end.len());
                vec![[start, fill.to_string().repeat(filling).as_str(), end].concat().into_bytes()]
            }
        }
    }

    /// The lines as one value, as the core joins them.
    pub fn value(&self) -> Option<Vec<u8>> {
        let lines = self.lines();
        crawlpike_core::joined_lines(lines.iter().map(Vec::as_slice)).map(Cow::into_owned)
    }
}

impl CaseRequest {
    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        if self.tls { Scheme::Https } else { Scheme::Http }
    }
}

impl Table {
    /// The whole table: the files by name, then what is made by rule.
    ///
    /// # Panics
    ///
    /// If a file is not what it should be.
    pub fn all() -> Vec<Self> {
        let mut paths: Vec<PathBuf> = fs::read_dir(folder())
            .expect("the folder of the table")
            .map(|entry| entry.expect("a readable folder").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .collect();
        paths.sort();
        paths.iter().map(|path| Self::read(path)).chain([many_sites::table()]).collect()
    }

    fn read(path: &Path) -> Self {
        let text = fs::read(path).expect("a readable file");
        let mut table: Self =
            serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        table.name = path.file_stem().expect("a file name").to_string_lossy().into_owned();
        for case in &mut table.cases {
            case.request.sign();
        }
        // Indexing a mutable value would add the key.
        for (_, file) in table.config.get_mut("files").and_then(Value::as_object_mut).into_iter().flatten() {
            join_lines(file);
        }
        table
    }

    /// The file that it was read from; the document's paths are relative to it.
    pub fn path(&self) -> PathBuf {
        folder().join(format!("{}.json", self.name))
    }

    /// The configuration document.
    pub fn document(&self) -> String {
        format!("{:#}", self.config)
    }

    /// Writes the document into a folder, where its paths lead to the same files as from `cases`.
    ///
    /// # Panics
    ///
    /// If the disk is full.
    pub fn write(&self, to: &Folder) -> PathBuf {
        let document = to.write(&format!("tests/cases/{}.json", self.name), self.document());
        for shared in ["core/data/feeds", "tests/cases/data", "tests/cases/data/shapes"] {
            to.copy_of_repository(shared);
        }
        document
    }

    /// The configuration of a site, by its name in decisions.
    pub fn site(&self, name: &str) -> Option<&Value> {
        let sites = self.config["sites"].as_array()?;
        sites.iter().find(|site| site["name"].as_str().or(site["hosts"][0].as_str()) == Some(name))
    }

    /// The file that the gate serves for a site at a path.
    pub fn served(&self, site: &Value, path: &str) -> Option<String> {
        let policy =
            |key: &str| self.config["files"][site[key].as_str()?]["text"].as_str().map(str::to_owned);
        if path.contains("preferences") {
            policy("automation_preferences")
        } else if path.contains("aiwebindex") {
            let tokens = site["aiwebindex"]["verification_tokens"].as_array()?;
            Some(
                tokens
                    .iter()
                    .filter_map(Value::as_str)
                    .map(|token| format!("aiwi-verify={token}\n"))
                    .collect(),
            )
        } else {
            policy("robots_txt")
        }
    }

    /// The header in which clients declare their purpose.
    pub fn purpose_header(&self) -> &str {
        self.config["purpose_header"].as_str().unwrap_or("Automation-Purpose")
    }

    /// A case as it goes over the wire, apart from the header with the client's address.
    pub fn http_request(&self, case: &Case) -> Request {
        let CaseRequest { method, path, host, .. } = &case.request;
        let mut request = Request::new(method, path, host);
        for line in case.request.user_agent.lines() {
            request = request.agent(line);
        }
        for (name, value) in &case.request.headers {
            request = request.header(name, value);
        }
        for (name, lines) in &case.upstream {
            for (number, line) in lines.lines().iter().enumerate() {
                request = request.header(&upstream_line(name, number), line);
            }
        }
        let purposes = case.request.purpose.lines();
        purposes.iter().fold(request, |request, purpose| request.header(self.purpose_header(), purpose))
    }

    /// A case as a line for `crawlpike explain --stdin`; `None` where JSON can't carry the User-Agent.
    pub fn explain_line(&self, case: &Case) -> Option<String> {
        let CaseRequest { ip, method, path, host, headers, .. } = &case.request;
        let scheme = case.request.scheme().as_str();
        let user_agent = case.request.user_agent.value().map(String::from_utf8).transpose().ok()?;
        let texts = case.request.purpose.lines().into_iter().map(String::from_utf8);
        let mut purposes = texts.collect::<Result<Vec<_>, _>>().ok()?.into_iter();
        let purpose = purposes.next();
        // Members of an object have names of their own, so there can be two lines at most.
        let others = purposes.map(|purpose| (self.purpose_header().to_owned(), purpose));
        let headers: BTreeMap<String, String> = headers.clone().into_iter().chain(others).collect();
        Some(
            json!({ "ip": ip, "scheme": scheme, "host": host, "method": method, "path": path, "user_agent": user_agent,
                    "purpose": purpose, "headers": headers })
            .to_string(),
        )
    }
}

/// The table's files write the text of an inlined file as an array of its lines, so that people can count them; a long one
/// as [`HeaderLines::Filled`].
fn join_lines(file: &mut Value) {
    if let Some(lines) = file.as_array() {
        let line = |line: &Value| {
            let line: HeaderLines = serde_json::from_value(line.clone()).expect("a line of a file");
            String::from_utf8(line.lines().concat()).expect("a document is UTF-8")
        };
        let lines: Vec<String> = lines.iter().map(line).collect();
        *file = json!({ "text": lines.join("\n") });
    }
}

fn folder() -> PathBuf {
    repository().join("tests/cases")
}
