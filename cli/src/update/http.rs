//! Requests to publishers, which answer anything: each has limits of time and size, and redirects are followed here, not by
//! the HTTP library, so that each is checked and known.

use std::fmt::Display;
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustls::RootCertStore;
use tempfile::SpooledTempFile;
use ureq::http::header::{self, HeaderMap, HeaderName};
use ureq::http::{Response, StatusCode};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, DefaultConnector};
use ureq::{Agent, Body, Error};
use url::Url;

use crate::update::proxy;
use crate::update::schedule;
use crate::update::whole::Whole;

/// What publishers see.
const USER_AGENT: &str =
    concat!("Crawlward/", env!("CARGO_PKG_VERSION"), " (+", env!("CARGO_PKG_HOMEPAGE"), ")");

/// The most redirects that are followed.
const REDIRECTS: usize = 5;

/// The fewest bytes of an answer that must come in each [`TimeLimits::stall`].
const PROGRESS: usize = 1024;

/// The size up to which an answer is kept in memory until it is judged.
const IN_MEMORY: usize = 1 << 20;

/// How long a publisher may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeLimits {
    /// Everything, redirects included.
    pub(super) whole: Duration,
    /// To connect, to begin the answer, and for each [`PROGRESS`] bytes of it.
    pub(super) stall: Duration,
}

/// What makes a request conditional.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    /// The URL that gave the copy.
    pub(super) url: String,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
}

/// What to fetch.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) url: String,
    /// The most bytes of the answer, decompressed.
    pub(super) bytes: u64,
    pub(super) condition: Option<Condition>,
}

/// An answer that can be used.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) reply: Reply,
    pub(super) headers: HeaderMap,
    /// The URL that answered.
    pub(super) url: Url,
    pub(super) redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(super) enum Reply {
    /// What we have is current (304).
    NotModified,
    /// The newest version.
    Content(Content),
}

/// The body of an answer, decompressed.
#[derive(Debug)]
pub(super) struct Content {
    /// At its start.
    pub(super) file: SpooledTempFile,
    /// In bytes.
    pub(super) size: u64,
}

/// A redirect that was followed.
#[derive(Clone, Debug)]
pub(super) struct Redirect {
    pub(super) status: u16,
    pub(super) to: Url,
}

/// Why there is no answer that can be used.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) reason: String,
    /// Whether the publisher was reached.
    pub(super) was_asked: bool,
    /// When the publisher wants to be asked again.
    pub(super) retry_after: Option<Duration>,
    pub(super) redirects: Vec<Redirect>,
}

impl Trouble {
    fn unreached(reason: impl Display) -> Self {
        Self { reason: reason.to_string(), was_asked: false, retry_after: None, redirects: Vec::new() }
    }

    pub(super) fn answered(reason: impl Display) -> Self {
        Self { was_asked: true, ..Self::unreached(reason) }
    }
}

impl Answer {
    /// The URL to which the publisher has moved the feed for good.
    pub(super) fn moved_to(&self) -> Option<&Url> {
        let permanent = |redirect: &&Redirect| matches!(redirect.status, 301 | 308);
        self.redirects.iter().take_while(permanent).last().map(|redirect| &redirect.to)
    }
}

/// Asks publishers.
#[derive(Debug)]
pub(super) struct Client {
    https: Agent,
    http: Agent,
    limits: TimeLimits,
}

impl Client {
    /// A client that trusts whom the system trusts, and uses the proxies of the environment.
    ///
    /// # Errors
    ///
    /// If either cannot be read.
    pub(super) fn new(limits: TimeLimits) -> Result<Self, String> {
        let roots = roots()?;
        let agent = |scheme| {
            let tls = TlsConfig::builder()
                .root_certs(RootCerts::Specific(Arc::clone(&roots)))
                .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .build();
            let config = Agent::config_builder()
                .user_agent(USER_AGENT)
                .tls_config(tls)
                .proxy(proxy::of(scheme)?)
                .http_status_as_error(false)
                .max_redirects(0)
                .max_redirects_will_error(false)
                .timeout_resolve(Some(limits.stall))
                .timeout_connect(Some(limits.stall))
                .timeout_send_request(Some(limits.stall))
                .timeout_recv_response(Some(limits.stall))
                .timeout_per_read(Some(limits.stall))
                .build();
            let connector = DefaultConnector::new().chain(Whole);
            Ok::<_, String>(Agent::with_parts(config, connector, DefaultResolver::default()))
        };
        Ok(Self { https: agent("https")?, http: agent("http")?, limits })
    }

    /// Asks a publisher, and follows redirects.
    pub(super) fn fetch(&self, query: &Query) -> Result<Answer, Trouble> {
        let deadline = Instant::now() + self.limits.whole;
        let mut url = web_url(&query.url).map_err(Trouble::unreached)?;
        let mut redirects = Vec::new();
        loop {
            let asked = self.ask(&url, query, deadline);
            let (response, is_conditional) = match asked {
                Ok(asked) => asked,
                Err(trouble) => return Err(Trouble { redirects, ..trouble }),
            };
            let fail = |trouble: Trouble, redirects| Err(Trouble { redirects, ..trouble });
            let status = response.status();
            if matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
                match target(&url, &response) {
                    Ok(to) if redirects.len() < REDIRECTS => {
                        redirects.push(Redirect { status: status.as_u16(), to: to.clone() });
                        url = to;
                        continue;
                    }
                    Ok(to) => {
                        let reason = format!("more than {REDIRECTS} redirects, the last one to {to}");
                        return fail(Trouble::answered(reason), redirects);
                    }
                    Err(reason) => return fail(Trouble::answered(reason), redirects),
                }
            }
            let headers = response.headers().clone();
            let reply = match status {
                StatusCode::OK => self.read(response, query.bytes, deadline).map(Reply::Content),
                StatusCode::NOT_MODIFIED if is_conditional => Ok(Reply::NotModified),
                _ => Err(refusal(status, &headers)),
            };
            return match reply {
                Ok(reply) => Ok(Answer { reply, headers, url, redirects }),
                Err(trouble) => fail(trouble, redirects),
            };
        }
    }

    /// Sends one request; also says whether it was conditional.
    fn ask(&self, url: &Url, query: &Query, deadline: Instant) -> Result<(Response<Body>, bool), Trouble> {
        let agent = if url.scheme() == "https" { &self.https } else { &self.http };
        let left = deadline.saturating_duration_since(Instant::now());
        let mut request = agent.get(url.as_str()).config().timeout_global(Some(left)).build();
        // What another URL gave says nothing about this one.
        let condition = query.condition.as_ref().filter(|condition| condition.url == url.as_str());
        let conditions: Vec<(HeaderName, &String)> = condition
            .into_iter()
            .flat_map(|one| {
                [(header::IF_NONE_MATCH, &one.etag), (header::IF_MODIFIED_SINCE, &one.last_modified)]
            })
            .filter_map(|(name, value)| Some((name, value.as_ref()?)))
            .collect();
        let is_conditional = !conditions.is_empty();
        for (name, value) in conditions {
            request = request.header(name, value);
        }
        match request.call() {
            Ok(response) => Ok((response, is_conditional)),
            Err(error) => Err(self.unanswered(url, &error)),
        }
    }

    /// Why a request got no answer.
    fn unanswered(&self, url: &Url, error: &Error) -> Trouble {
        let host = url.host_str().unwrap_or_default();
        let stall = self.limits.stall.as_secs_f64();
        let text = error.to_string();
        // The system's resolver has no kind of error of its own in std.
        let is_unresolved =
            matches!(error, Error::HostNotFound) || text.contains("failed to lookup address information");
        match error {
            _ if is_unresolved => Trouble::unreached(format!(
                "the name {host} cannot be resolved; check the `url`, and the DNS of this machine"
            )),
            Error::Timeout(ureq::Timeout::RecvResponse | ureq::Timeout::PerRead) => {
                Trouble::answered(format!("{host} did not begin its answer within {stall} s"))
            }
            Error::Timeout(ureq::Timeout::Global) => Trouble::answered(self.too_long()),
            Error::Timeout(_) => Trouble::unreached(format!("cannot connect to {host} within {stall} s")),
            Error::Protocol(_) | Error::LargeResponseHeader(..) | Error::Http(_) => {
                Trouble::answered(format!("{host} did not answer in HTTP/1.1: {error}"))
            }
            _ => {
                let text = text.strip_prefix("io: ").unwrap_or(&text);
                let advice = match text.contains("UnknownIssuer") {
                    true => {
                        "; if a certificate authority of your own has issued it, add that to those of this machine, or set SSL_CERT_FILE"
                    }
                    false => "",
                };
                Trouble::unreached(format!("cannot connect to {host}: {text}{advice}"))
            }
        }
    }

    fn too_long(&self) -> String {
        format!("the answer took longer than {} s", self.limits.whole.as_secs_f64())
    }

    /// Reads an answer whole.
    fn read(&self, response: Response<Body>, most: u64, deadline: Instant) -> Result<Content, Trouble> {
        if let Some(encoding) = response.headers().get(header::CONTENT_ENCODING) {
            // That of gzip is gone by now; no other was asked for.
            if encoding != "identity" {
                let reason =
                    format!("the answer has the Content-Encoding {encoding:?}; only gzip was asked for");
                return Err(Trouble::answered(reason));
            }
        }
        let mut body = response.into_body().into_with_config().limit(u64::MAX).reader();
        let mut file = SpooledTempFile::new(IN_MEMORY);
        let mut buffer = vec![0; 64 << 10];
        let (mut size, mut since, mut progress) = (0_u64, Instant::now(), 0);
        loop {
            let count = match body.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Trouble::answered(self.broken(&error, size))),
            };
            size += count as u64;
            progress += count;
            if size > most {
                let reason = format!("the answer has more than {most} bytes (`limits.bytes`), decompressed");
                return Err(Trouble::answered(reason));
            }
            if Instant::now() > deadline {
                return Err(Trouble::answered(self.too_long()));
            }
            if since.elapsed() >= self.limits.stall {
                if progress < PROGRESS {
                    return Err(Trouble::answered(self.too_slow(size)));
                }
                (since, progress) = (Instant::now(), 0);
            }
            let written = buffer.get(..count).map_or(Ok(()), |read| file.write_all(read));
            written
                .map_err(|error| Trouble::answered(format!("cannot keep the answer in a file: {error}")))?;
        }
        file.rewind().map_err(Trouble::answered)?;
        Ok(Content { file, size })
    }

    fn too_slow(&self, size: u64) -> String {
        let stall = self.limits.stall.as_secs_f64();
        format!("the answer stalled after {size} bytes: less than {PROGRESS} bytes came in {stall} s")
    }

    /// Why an answer ended early.
    fn broken(&self, error: &io::Error, size: u64) -> String {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
        match inner {
            Some(Error::Timeout(ureq::Timeout::PerRead)) => self.too_slow(size),
            Some(Error::Timeout(_)) => self.too_long(),
            Some(Error::Decompress(..)) => format!("the answer is damaged: after {size} bytes, {error}"),
            _ => format!("the answer is incomplete: it ended after {size} bytes ({error})"),
        }
    }
}

/// The certificates of those whom this system trusts.
fn roots() -> Result<Arc<Vec<Certificate<'static>>>, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut usable = RootCertStore::empty();
    usable.add_parsable_certificates(found.certs.iter().cloned());
    if usable.is_empty() {
        let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        return Err(format!(
            "this machine has no certificates of authorities{why}; install the package ca-certificates, or set SSL_CERT_FILE"
        ));
    }
    Ok(Arc::new(found.certs.iter().map(|der| Certificate::from_der(der).to_owned()).collect()))
}

/// A URL of the web.
pub(super) fn web_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("invalid `url`: {error}"))?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(format!("invalid `url`: the scheme is {}; it must be https", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("invalid `url`: user names and passwords in it are not supported".into());
    }
    Ok(url)
}

/// Where a redirect leads.
fn target(from: &Url, response: &Response<Body>) -> Result<Url, String> {
    let status = response.status();
    let location = response.headers().get(header::LOCATION);
    let location = location.ok_or_else(|| format!("the answer is {status} without a Location"))?;
    let text = location.to_str().map_err(|_| "a redirect leads to a URL that is not ASCII".to_owned())?;
    let mut to =
        from.join(text).map_err(|error| format!("a redirect leads to the invalid URL {text:?}: {error}"))?;
    to.set_fragment(None);
    match (from.scheme(), to.scheme()) {
        ("https" | "http", "https") | ("http", "http") => Ok(to),
        _ => Err(format!(
            "it redirects to {to}, where nothing protects the answer against changes; only https is followed"
        )),
    }
}

/// The trouble with an answer of another status than 200.
fn refusal(status: StatusCode, headers: &HeaderMap) -> Trouble {
    let advice = match status.as_u16() {
        304 => ", although we said of no copy that we have it",
        401 | 403 => "; the publisher does not give it to this machine, or has moved it: check the `url`",
        404 | 410 => "; check the `url`",
        _ => "",
    };
    let retry_after = headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = retry_after.and_then(|text| schedule::retry_after(text, SystemTime::now()));
    Trouble { retry_after, ..Trouble::answered(format!("the answer is {status}{advice}")) }
}
