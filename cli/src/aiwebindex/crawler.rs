//! Requests as AIWebIndex makes them: named so, with pauses, and only where robots.txt allows them.

use std::net::{IpAddr, Ipv4Addr};
use std::thread;
use std::time::Duration;

use clap::value_parser;
use crawlpike_core::{Action, NoFiles, Overrides, PolicyKind, Ruleset, Subscriptions, decide};
use serde_json::json;
use ureq::http::HeaderMap;
use ureq::http::header;
use url::{Position, Url};

use super::TOKEN;
use crate::failure::Failure;
use crate::http::{
    Answer, Client, Contact, Query, Reach, Redirect, RedirectRules, Reply, TimeLimits, Trouble,
    has_directive, web_url,
};
use crate::request::{DescribedRequest, HeaderName, Method};

/// The time between two requests to one origin (AIWI-17).
const PAUSE: Duration = Duration::from_secs(2);

/// The pause after 429 and 503 without a Retry-After (AIWI-18).
const BACK_OFF: Duration = Duration::from_secs(60);

/// The number of times that a URL is requested.
const ATTEMPTS: u32 = 3;

/// The most bytes of a robots.txt.
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
    is_web.then(|| web_url(argument))
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
        most: u64,
        redirects: RedirectRules,
        note: &mut dyn FnMut(&str),
    ) -> Result<Content, Trouble> {
        let query =
            Query { url: url.to_owned(), bytes: most, condition: None, redirects, reach: Reach::Everywhere };
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

    /// Fetches a page that robots.txt allows.
    ///
    /// # Errors
    ///
    /// The reason why there is none.
    pub(super) fn page(&self, url: &Url, most: u64) -> Result<Content, String> {
        let rules = self.robots(url)?;
        let user_agent = self.user_agent.clone();
        if !allows(&rules, &user_agent, url) {
            return Err(disallowed(url));
        }
        let redirects = RedirectRules::checked(5, move |from, to| match from.origin() == to.origin() {
            false => Some(format!("it redirects to another server; ask for {to}")),
            true => (!allows(&rules, &user_agent, to)).then(|| disallowed(to)),
        });
        let fetched = self.fetch(url.as_str(), most, redirects, &mut note);
        let content = fetched.map_err(|trouble| trouble.reason)?;
        // AIWI-21
        if has_directive(&content.headers, "private") {
            return Err("the page is not public: its Cache-Control is private".into());
        }
        let content_type = content.content_type().unwrap_or_default();
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        if !["text/html", "application/xhtml+xml"].iter().any(|html| media_type.eq_ignore_ascii_case(html)) {
            return Err(format!("the answer is not HTML: its Content-Type is {media_type:?}"));
        }
        Ok(content)
    }

    /// The rules of robots.txt, compiled as a gate compiles them (AIWI-16).
    fn robots(&self, page: &Url) -> Result<Ruleset, String> {
        let url = page.join("/robots.txt").map_err(|error| error.to_string())?;
        let text = match self.fetch(url.as_str(), ROBOTS_BYTES, RedirectRules::ANYWHERE, &mut note) {
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
            "sites": [{ "robots_txt": "robots.txt" }] });
        let compiled = Ruleset::compile(url.as_str(), document.to_string().as_bytes(), &NoFiles);
        let reasons = compiled.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>();
        compiled.ruleset.ok_or_else(|| reasons.join("; "))
    }
}

/// Returns true if robots.txt allows a page.
fn allows(rules: &Ruleset, user_agent: &str, url: &Url) -> bool {
    let path = url[Position::BeforePath..Position::AfterQuery].as_bytes().to_vec();
    let host = url.host_str().map(|host| host.as_bytes().to_vec());
    let address = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let mut request = DescribedRequest::new(address, host, Method::default(), path);
    if let Ok(name) = HeaderName::try_from("user-agent".to_owned()) {
        request.add(&name, user_agent.as_bytes());
    }
    decide(rules, &request, Overrides::default()).action != Action::Deny
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

fn disallowed(url: &Url) -> String {
    format!("robots.txt disallows {} for {TOKEN} [AIWI-16]", url.path())
}

fn note(text: &str) {
    crate::failure::say(format_args!("note: {text}"));
}
