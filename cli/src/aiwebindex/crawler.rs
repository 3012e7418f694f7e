//! Requests as AIWebIndex makes them: named so, with pauses, and only where robots.txt allows them.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::value_parser;
use crawlpike_core::{
    Action, DocumentOutcome, DocumentProspect, NoFiles, Overrides, PolicyKind, Ruleset, Subscriptions, decide,
};
use serde_json::json;
use ureq::http::HeaderMap;
use ureq::http::header;
use url::{Position, Url};

use super::TOKEN;
use crate::failure::Failure;
use crate::http::{
    Answer, Client, Contact, Query, Reach, Redirect, RedirectRules, Reply, SizeLimit, TimeLimits, Trouble,
    has_directive, web_url,
};
use crate::request::{DescribedRequest, Method};

/// The time between two requests to one origin (AIWI-17).
const PAUSE: Duration = Duration::from_secs(2);

/// The pause after 429 and 503 without a Retry-After (AIWI-18).
const BACK_OFF: Duration = Duration::from_secs(60);

/// The number of times that a URL is requested.
const ATTEMPTS: u32 = 3;

/// The bytes of a robots.txt that are read.
const ROBOTS_BYTES: u64 = 1 << 20;

/// The options for requests.
#[derive(Debug, clap::Args)]
pub(super) struct CrawlerArguments {
    /// A URL or an email address for the User-Agent, so that operators of sites can reach you
    #[arg(long, value_name = "URL|MAIL")]
    contact: Option<Contact>,
    /// The most seconds that an answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = value_parser!(u32).range(1..=3600))]
    timeout: u32,
    /// The most seconds to wait after 429 or 503 before asking again
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = value_parser!(u32).range(0..=86_400))]
    patience: u32,
}

impl CrawlerArguments {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.into())
    }
}

/// Makes requests.
pub(super) struct Crawler {
    client: Client,
    user_agent: String,
    patience: Duration,
}

/// The content of an answer.
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    headers: HeaderMap,
    /// The URL that answered, after redirects.
    pub(super) url: Url,
    pub(super) redirects: Vec<Redirect>,
}

impl Content {
    pub(super) fn content_type(&self) -> Option<&str> {
        self.headers.get(header::CONTENT_TYPE)?.to_str().ok()
    }
}

/// The URL that an argument is, if it is one of the web.
pub(super) fn web_page(argument: &str) -> Option<Result<Url, String>> {
    let scheme = argument.split_once("://")?.0;
    let is_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    is_web.then(|| web_url(argument).map_err(|reason| format!("invalid URL {argument:?}: {reason}")))
}

/// A page that was fetched.
pub(super) struct FetchedPage {
    pub(super) content: Content,
    /// The reason why a gate would send the page as it is, if the head of the answer has one.
    pub(super) refusal: Option<DocumentOutcome>,
}

/// The rules of a server for the agent.
struct Rules {
    /// Compiled from robots.txt, with a site that sends documents.
    ruleset: Ruleset,
    user_agent: String,
}

impl Rules {
    /// A request for the markdown of a page.
    fn request(&self, url: &Url) -> DescribedRequest {
        let path = url[Position::BeforePath..Position::AfterQuery].as_bytes().to_vec();
        let host = url.host_str().map(|host| host.as_bytes().to_vec());
        let address = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let mut request = DescribedRequest::new(address, host, Method::default(), path);
        request.add_known("user-agent", Some(self.user_agent.as_bytes()));
        request.add_known("accept", Some(b"text/markdown"));
        request
    }

    /// The reason why a page is not to be fetched.
    fn objection(&self, url: &Url) -> Option<String> {
        let request = self.request(url);
        let facts = self.ruleset.describe(&decide(&self.ruleset, &request, Overrides::default()), &request);
        match facts.action {
            Action::Allow => None,
            Action::Serve => Some(format!("{} is not a page", url.path())),
            Action::Deny => {
                let line = facts.rule.map(|rule| format!("line {} of ", rule.line)).unwrap_or_default();
                Some(format!("{line}robots.txt disallows {} for {TOKEN}", url.path()))
            }
        }
    }

    /// The answer of a gate to a request for the markdown of a page, by the head of the origin's answer.
    fn prospect(&self, url: &Url, headers: &HeaderMap) -> DocumentProspect {
        const OK: u16 = 200;
        let request = self.request(url);
        let decision = decide(&self.ruleset, &request, Overrides::default());
        let lines = headers.iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()));
        self.ruleset.document_prospect(&decision, &request, OK, lines)
    }
}

impl Crawler {
    /// One for checks of ownership, or for pages.
    pub(super) fn new(arguments: &CrawlerArguments, is_verification: bool) -> Result<Self, Failure> {
        let user_agent = Contact::aiwebindex(arguments.contact.as_ref(), is_verification);
        let limits = TimeLimits { whole: arguments.timeout(), stall: arguments.timeout() };
        let client = Client::new(&user_agent, limits).map_err(Failure::because)?.with_pause(PAUSE);
        Ok(Self { client, user_agent, patience: Duration::from_secs(arguments.patience.into()) })
    }

    /// Requests a URL; after 429 or 503, requests it again (AIWI-18). Calls `note` for each attempt that failed but the last.
    pub(super) fn fetch(
        &self,
        url: &str,
        size: SizeLimit,
        redirects: RedirectRules,
        note: &mut dyn FnMut(&str),
    ) -> Result<Content, Trouble> {
        let query = Query { url: url.to_owned(), size, condition: None, redirects, reach: Reach::Everywhere };
        let mut attempt = 1;
        loop {
            let trouble = match self.client.fetch(&query) {
                Err(trouble) if matches!(trouble.status, Some(429 | 503)) => trouble,
                done => return done.and_then(content),
            };
            let pause = trouble.retry_after.unwrap_or(BACK_OFF);
            let seconds = pause.as_secs();
            if attempt >= ATTEMPTS || pause > self.patience {
                let reason = format!("{}; do not ask again within {seconds} s", trouble.reason);
                return Err(Trouble { reason, ..trouble });
            }
            note(&format!("{}; asking again in {seconds} s", trouble.reason));
            thread::sleep(pause);
            attempt += 1;
        }
    }

    /// Fetches a page that robots.txt allows: its first bytes, and at least one more if it has more than `most`.
    ///
    /// # Errors
    ///
    /// The reason why there is none.
    pub(super) fn page(&self, url: &Url, most: u64) -> Result<FetchedPage, String> {
        let rules = Arc::new(self.rules(url)?);
        if let Some(reason) = rules.objection(url) {
            return Err(reason);
        }
        let at_redirects = Arc::clone(&rules);
        let redirects =
            RedirectRules::checked(RedirectRules::MOST, move |from, to| match from.origin() == to.origin() {
                false => Some(format!("it redirects to another server; ask for {to}")),
                true => at_redirects.objection(to).map(|why| format!("it redirects to {to}: {why}")),
            });
        let fetched = self.fetch(url.as_str(), SizeLimit::Cutting(most), redirects, &mut note);
        let content = fetched.map_err(|trouble| trouble.reason)?;
        // AIWI-21
        if has_directive(&content.headers, "private") {
            return Err("the page is not public: its Cache-Control is private".into());
        }
        let refusal = match rules.prospect(&content.url, &content.headers) {
            DocumentProspect::Refused(outcome) => Some(outcome),
            _ => None,
        };
        if refusal == Some(DocumentOutcome::Type) {
            let reason = match content.content_type() {
                Some(content_type) => format!("its Content-Type is {content_type:?}"),
                None => "it has no Content-Type".to_owned(),
            };
            return Err(format!("the answer is not HTML: {reason}"));
        }
        Ok(FetchedPage { content, refusal })
    }

    /// The rules of robots.txt, compiled as a gate compiles them (AIWI-16).
    fn rules(&self, page: &Url) -> Result<Rules, String> {
        let url = page.join("/robots.txt").map_err(|error| error.to_string())?;
        let size = SizeLimit::Cutting(ROBOTS_BYTES);
        let text = match self.fetch(url.as_str(), size, RedirectRules::ANYWHERE, &mut note) {
            Ok(Content { bytes, .. }) => {
                // A page in its place has no rules.
                match Subscriptions::read_policy(PolicyKind::Robots, url.as_str(), &bytes) {
                    Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
                    Err(_) => String::new(),
                }
            }
            // RFC 9309, 2.3.1.3
            Err(Trouble { status: Some(400..=499), .. }) => String::new(),
            Err(trouble) => {
                return Err(format!(
                    "nothing is fetched, because {url} cannot be fetched: {} (RFC 9309, 2.3.1.4)",
                    trouble.reason
                ));
            }
        };
        let document = json!({ "mode": "enforce", "catalog": "none",
            "agents": [{ "token": TOKEN }], "files": { "robots.txt": { "text": text } },
            "sites": [{ "robots_txt": "robots.txt", "aiwebindex": { "document": true } }] });
        let compiled = Ruleset::compile(url.as_str(), document.to_string().as_bytes(), &NoFiles);
        let reasons = compiled.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>();
        let ruleset = compiled.ruleset.ok_or_else(|| reasons.join("; "))?;
        Ok(Rules { ruleset, user_agent: self.user_agent.clone() })
    }
}

/// The content of an answer to a request without a condition.
fn content(answer: Answer) -> Result<Content, Trouble> {
    let Answer { reply: Reply::Content(body), headers, url, redirects } = answer else {
        return Err(Trouble::answered("the answer has no content"));
    };
    let content = body.into_content().map_err(|error| error.to_string());
    match content.and_then(crawlpike_core::Content::into_bytes) {
        Ok(bytes) => Ok(Content { bytes, headers, url, redirects }),
        Err(reason) => Err(Trouble { redirects, ..Trouble::answered(reason) }),
    }
}

fn note(text: &str) {
    crate::failure::say(format_args!("note: {text}"));
}
