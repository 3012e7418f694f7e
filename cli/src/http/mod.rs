//! Requests to servers that answer anything: each has limits of time and size, and redirects are followed here, not by the
//! HTTP library, so that each is checked and known.

mod agent;
mod proxy;
mod public;
mod reach;
mod redirects;
mod roots;
mod trouble;
mod whole;

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crawlpike_core::Content;
use crawlpike_files::PagedFile;
use tempfile::{SpooledData, SpooledTempFile};
use ureq::http::header::{self, HeaderMap, HeaderName};
use ureq::http::{Response, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::transport::{Connector, DefaultConnector};
use ureq::{Agent, Error};
use url::{ParseError, Url};

use self::public::{NameResolver, OnlyPrivate};
use self::reach::is_private;
use self::redirects::target;
use self::roots::roots;
use self::trouble::refusal;
use self::whole::Whole;

pub(crate) use self::agent::Contact;
pub(crate) use self::reach::{Reach, is_at};
pub(crate) use self::redirects::RedirectRules;
pub(crate) use self::trouble::Trouble;

/// The fewest bytes of an answer that must come in each [`TimeLimits::stall`].
const PROGRESS: usize = 1024;

/// The size up to which an answer is kept in memory until it is judged.
const IN_MEMORY: usize = 1 << 20;

/// The time that a publisher may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeLimits {
    /// Everything, redirects included.
    pub(crate) whole: Duration,
    /// To connect, to begin the answer, and for each [`PROGRESS`] bytes of it.
    pub(crate) stall: Duration,
}

/// The condition of a request.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// The URL that gave the copy.
    pub(crate) url: String,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
}

/// A URL to fetch, with the limits for it.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) url: String,
    pub(crate) size: SizeLimit,
    pub(crate) condition: Option<Condition>,
    pub(crate) redirects: RedirectRules,
    /// The private addresses that it may lead to.
    pub(crate) reach: Reach,
}

/// The most bytes of an answer, decompressed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SizeLimit {
    /// An answer with more is refused; the text, if there is one, names the setting.
    Refusing(u64, &'static str),
    /// The rest of an answer with more need not be read. At least one byte of it is, so that the reader can see that.
    Cutting(u64),
}

/// An answer that can be used.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) headers: HeaderMap,
    /// The URL that answered.
    pub(crate) url: Url,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(crate) enum Reply {
    /// The copy that we have is current (304).
    NotModified,
    /// The newest version.
    Content(Body),
}

/// The body of an answer, decompressed.
#[derive(Debug)]
pub(crate) struct Body(SpooledTempFile);

impl Body {
    /// The content, to be read.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub(crate) fn into_content(self) -> io::Result<Content> {
        match self.0.into_inner() {
            SpooledData::InMemory(bytes) => Ok(bytes.into_inner().into()),
            SpooledData::OnDisk(file) => Ok(Content::Pages(Rc::new(PagedFile::new(file)?))),
        }
    }
}

/// A redirect that was followed.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    pub(crate) status: u16,
    pub(crate) to: Url,
}

impl Answer {
    /// The URL to which the publisher has moved the feed for good.
    pub(crate) fn moved_to(&self) -> Option<&Url> {
        let permanent = |redirect: &&Redirect| matches!(redirect.status, 301 | 308);
        self.redirects.iter().take_while(permanent).last().map(|redirect| &redirect.to)
    }
}

/// The clients of the library for URLs of a scheme. They share no connections.
#[derive(Debug)]
struct Agents {
    /// For servers at any address.
    any: Agent,
    /// For servers on the Internet.
    public: Agent,
}

/// Asks publishers.
#[derive(Debug)]
pub(crate) struct Client {
    https: Agents,
    http: Agents,
    limits: TimeLimits,
    /// The time between two requests to one origin.
    pause: Duration,
    /// When each origin is asked, by its name.
    asked: Mutex<HashMap<String, Instant>>,
}

impl Client {
    /// A client that trusts the authorities of the system, uses the proxies of the environment, and sends this User-Agent.
    ///
    /// # Errors
    ///
    /// If either cannot be read.
    pub(crate) fn new(user_agent: &str, limits: TimeLimits) -> Result<Self, String> {
        let roots = roots()?;
        let agent = |scheme, may_be_private| {
            let tls = TlsConfig::builder()
                .root_certs(RootCerts::Specific(Arc::clone(&roots)))
                .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .build();
            let config = Agent::config_builder()
                .user_agent(user_agent)
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
            Ok::<_, String>(Agent::with_parts(config, connector, NameResolver::new(may_be_private)))
        };
        let agents =
            |scheme| Ok::<_, String>(Agents { any: agent(scheme, true)?, public: agent(scheme, false)? });
        let (https, http) = (agents("https")?, agents("http")?);
        Ok(Self { https, http, limits, pause: Duration::ZERO, asked: Mutex::default() })
    }

    /// The same client, which waits so long between two requests to one origin.
    pub(crate) fn with_pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Waits until an origin may be asked again.
    fn wait_for(&self, url: &Url) {
        if self.pause.is_zero() {
            return;
        }
        let now = Instant::now();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let origin = url.origin().ascii_serialization();
        let turn = asked.get(&origin).map_or(now, |last| (*last + self.pause).max(now));
        asked.insert(origin, turn);
        drop(asked);
        thread::sleep(turn.saturating_duration_since(now));
    }

    /// Asks a publisher, and follows redirects.
    pub(crate) fn fetch(&self, query: &Query) -> Result<Answer, Trouble> {
        let mut redirects = Vec::new();
        match self.follow(query, &mut redirects) {
            Ok((reply, headers, url)) => Ok(Answer { reply, headers, url, redirects }),
            Err(trouble) => Err(Trouble { redirects, ..trouble }),
        }
    }

    /// Asks until there is an answer that is not a redirect; notes each redirect that is followed.
    fn follow(
        &self,
        query: &Query,
        redirects: &mut Vec<Redirect>,
    ) -> Result<(Reply, HeaderMap, Url), Trouble> {
        let deadline = Instant::now() + self.limits.whole;
        let first = web_url(&query.url)
            .map_err(|reason| Trouble::unreached(format_args!("invalid `url`: {reason}")))?;
        let mut url = first.clone();
        loop {
            self.wait_for(&url);
            let may_be_private = query.reach.may_be_private(&first, &url);
            if let Some(reason) = is_private(&url).filter(|_| !may_be_private) {
                return Err(Trouble::refused(format!("{reason}; {}", query.reach.advice())));
            }
            let (response, is_conditional) = self.ask(&url, query, may_be_private, deadline)?;
            let status = response.status();
            if matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
                let to = target(&url, &response);
                url = to.and_then(|to| query.redirects.check(&first, to, redirects.len()))?;
                redirects.push(Redirect { status: status.as_u16(), to: url.clone() });
                continue;
            }
            let headers = response.headers().clone();
            let reply = match status {
                StatusCode::OK => Reply::Content(self.read(response, query.size, deadline)?),
                StatusCode::NOT_MODIFIED if is_conditional => Reply::NotModified,
                _ => return Err(refusal(status, &headers)),
            };
            return Ok((reply, headers, url));
        }
    }

    /// Sends one request; also says whether it was conditional.
    fn ask(
        &self,
        url: &Url,
        query: &Query,
        may_be_private: bool,
        deadline: Instant,
    ) -> Result<(Response<ureq::Body>, bool), Trouble> {
        let agents = if url.scheme() == "https" { &self.https } else { &self.http };
        let agent = if may_be_private { &agents.any } else { &agents.public };
        let left = deadline.saturating_duration_since(Instant::now());
        let mut request = agent.get(url.as_str()).config().timeout_global(Some(left)).build();
        // A condition holds only for the URL that gave the copy.
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
            Err(error) => Err(self.unanswered(url, &error, query.reach.advice())),
        }
    }

    /// The reason why a request got no answer.
    fn unanswered(&self, url: &Url, error: &Error, advice: &str) -> Trouble {
        let host = url.host_str().unwrap_or_default();
        let stall = self.limits.stall.as_secs_f64();
        let text = error.to_string();
        // The system's resolver has no kind of error of its own in std.
        let is_unresolved =
            matches!(error, Error::HostNotFound) || text.contains("failed to lookup address information");
        match error {
            Error::Other(why) if why.is::<OnlyPrivate>() => {
                Trouble::refused(format!("the name {host} {why}; {advice}"))
            }
            _ if is_unresolved => Trouble::unreached(format!(
                "the name {host} cannot be resolved; check the URL, and the DNS of this machine"
            )),
            Error::Timeout(ureq::Timeout::RecvResponse | ureq::Timeout::PerRead) => {
                Trouble::answered(format!("{host} did not begin its answer within {stall} s"))
            }
            Error::Timeout(ureq::Timeout::Global) => Trouble::answered(self.too_long()),
            Error::Timeout(_) => Trouble::unreached(format!("cannot connect to {host} within {stall} s")),
            Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof || whole::is_broken(error) => {
                Trouble::unreached(format!("{host} closed the connection without an answer"))
            }
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
    fn read(
        &self,
        response: Response<ureq::Body>,
        limit: SizeLimit,
        deadline: Instant,
    ) -> Result<Body, Trouble> {
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
            if let SizeLimit::Refusing(most, setting) = limit
                && size > most
            {
                let reason = format!("the answer has more than {most} bytes, decompressed{setting}");
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
            if matches!(limit, SizeLimit::Cutting(most) if size > most) {
                break;
            }
        }
        Ok(Body(file))
    }

    fn too_slow(&self, size: u64) -> String {
        let stall = self.limits.stall.as_secs_f64();
        format!("the answer stalled after {size} bytes: less than {PROGRESS} bytes came in {stall} s")
    }

    /// The reason why an answer ended early.
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

/// Returns true if the Cache-Control of an answer has a directive.
pub(crate) fn has_directive(headers: &HeaderMap, directive: &str) -> bool {
    let values = headers.get_all(header::CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let directives = values.flat_map(|value| value.split(','));
    directives.filter_map(|one| one.split('=').next()).any(|name| name.trim().eq_ignore_ascii_case(directive))
}

/// A URL of the web, without its fragment, which leads to a place in what it names.
pub(crate) fn web_url(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text).map_err(|error| match error {
        ParseError::RelativeUrlWithoutBase => "it must begin with https:// or http://".to_owned(),
        other => other.to_string(),
    })?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(format!("the scheme is {}; it must be https or http", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("user names and passwords in it are not supported".into());
    }
    url.set_fragment(None);
    Ok(url)
}
