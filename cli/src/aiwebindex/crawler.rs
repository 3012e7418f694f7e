//! Requests as AIWebIndex makes them: named so, with pauses, and only where robots.txt allows them.

use std::net::{IpAddr, Ipv4Addr};
use std::thread;
use std::time::Duration;

use clap::value_parser;
use crawlpike_core::{Action, NoFiles, Overrides, Policy, Ruleset, Subscriptions, decide};
use serde_json::json;
use ureq::http::HeaderMap;
use ureq::http::header;
use url::Url;

use super::TOKEN;
use crate::failure::Failure;
use crate::http::{Answer, Client, Contact, Query, RedirectRules, Reply, TimeLimits, Trouble, web_url};
use crate::request::{DescribedRequest, HeaderName, Method};

/// The time between two requests to one origin (AIWI-17).
const PAUSE: Duration = Duration::from_secs(2);

/// The pause after 429 and 503 without a Retry-After (AIWI-18).
const BACK_OFF: Duration = Duration::from_secs(60);

/// How often something is asked for.
const ATTEMPTS: u32 = 3;

/// The most bytes of a robots.txt.
const ROBOTS_BYTES: u64 = 1 << 20;

/// What can be said about how requests are made.
#[derive(Debug, clap::Args)]
pub(super) struct CrawlerArguments {
    /// A URL or an address of mail for the User-Agent, by which operators of sites can reach you
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

/// A page that was fetched.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) bytes: Vec<u8>,
    pub(super) content_type: Option<String>,
    /// Where it is, after redirects.
    pub(super) url: Url,
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

    /// Asks, and after 429 or 503 asks again (AIWI-18); tells `note` what becomes of each attempt but the last one.
    pub(super) fn fetch(&self, query: &Query, note: &mut dyn FnMut(&str)) -> Result<Answer, Trouble> {
        let mut attempt = 1;
        loop {
            let trouble = match self.client.fetch(query) {
                Err(trouble) if matches!(trouble.status, Some(429 | 503)) => trouble,
                done => return done,
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
    /// Why there is none.
    pub(super) fn page(&self, url: &Url, most: u64) -> Result<Fetched, String> {
        let rules = self.robots(url)?;
        let user_agent = self.user_agent.clone();
        if !allows(&rules, &user_agent, url) {
            return Err(disallowed(url));
        }
        let redirects = RedirectRules::checked(5, move |from, to| match from.origin() == to.origin() {
            false => Some(format!("it redirects to another server; ask for {to}")),
            true => (!allows(&rules, &user_agent, to)).then(|| disallowed(to)),
        });
        let query =
            Query { url: url.to_string(), bytes: most, condition: None, redirects, may_be_private: true };
        let answer = self.fetch(&query, &mut note).map_err(|trouble| trouble.reason)?;
        let Answer { reply: Reply::Content(body), headers, url, .. } = answer else {
            return Err("the answer has no page".into());
        };
        // AIWI-21
        if says_private(&headers) {
            return Err("the page is not public: its Cache-Control is private".into());
        }
        let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !["text/html", "application/xhtml+xml"].iter().any(|html| media_type.eq_ignore_ascii_case(html)) {
            return Err(format!("the answer is not HTML: its Content-Type is {media_type:?}"));
        }
        let content_type = content_type.map(str::to_owned);
        let bytes = body.into_content().map_err(|error| error.to_string())?.into_bytes()?;
        Ok(Fetched { bytes, content_type, url })
    }

    /// What robots.txt says, compiled as a gate compiles it (AIWI-16).
    fn robots(&self, page: &Url) -> Result<Ruleset, String> {
        let url = page.join("/robots.txt").map_err(|error| error.to_string())?;
        let redirects = RedirectRules::ANYWHERE;
        let query = Query {
            url: url.to_string(),
            bytes: ROBOTS_BYTES,
            condition: None,
            redirects,
            may_be_private: true,
        };
        let text = match self.fetch(&query, &mut note) {
            Ok(Answer { reply: Reply::Content(body), .. }) => {
                let bytes = body.into_content().map_err(|error| error.to_string())?.into_bytes()?;
                // A page in its place has no rules.
                match Subscriptions::check_policy(Policy::Robots, url.as_str(), &bytes) {
                    Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
                    Err(_) => String::new(),
                }
            }
            // RFC 9309, 2.3.1.3
            Err(Trouble { status: Some(400..=499), .. }) => String::new(),
            Ok(_) => return Err(format!("{url}: no answer that can be used")),
            Err(trouble) => {
                return Err(format!(
                    "nothing is fetched, because {url} cannot be: {} (RFC 9309, 2.3.1.4)",
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

/// Whether robots.txt lets us fetch a page.
fn allows(rules: &Ruleset, user_agent: &str, url: &Url) -> bool {
    let mut path = url.path().to_owned();
    if let Some(query) = url.query() {
        path += "?";
        path += query;
    }
    let host = url.host_str().map(|host| host.as_bytes().to_vec());
    let address = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let mut request = DescribedRequest::new(address, host, Method::default(), path.into_bytes());
    if let Ok(name) = HeaderName::try_from("user-agent".to_owned()) {
        request.add(&name, user_agent.as_bytes());
    }
    decide(rules, &request, Overrides::default()).action != Action::Deny
}

fn disallowed(url: &Url) -> String {
    format!("robots.txt disallows {} for {TOKEN} [AIWI-16]", url.path())
}

fn says_private(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let mut names = values.flat_map(|value| value.split(',')).filter_map(|one| one.split('=').next());
    names.any(|name| name.trim().eq_ignore_ascii_case("private"))
}

fn note(text: &str) {
    crate::failure::say(format_args!("note: {text}"));
}
