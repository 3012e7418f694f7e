//! `crawlpike aiwebindex verify`: checks if a domain publishes a token.

use std::fmt;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use std::str::FromStr;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use clap::ValueEnum;
use crawlpike_report::threads::start_in;
use hickory_proto::rr::Name;
use serde::Serialize;
use url::{Host, Url};

use super::crawler::{Content, Crawler, CrawlerArguments};
use super::{NOT_SO, PROOF};
use crate::dns;
use crate::failure::Failure;
use crate::http::{RedirectRules, SizeLimit};

/// The resolvers that are asked if no others are named.
const RESOLVERS: [IpAddr; 3] = [
    IpAddr::V4(std::net::Ipv4Addr::new(1, 1, 1, 1)),
    IpAddr::V4(std::net::Ipv4Addr::new(8, 8, 8, 8)),
    IpAddr::V4(std::net::Ipv4Addr::new(9, 9, 9, 9)),
];

/// The most redirects that are followed, all inside the registrable domain.
const REDIRECTS: usize = 3;

/// The most bytes of the file.
const SIZE: SizeLimit = SizeLimit::Refusing(64 << 10, "");

/// Check whether a domain publishes a token
///
/// Looks for `aiwi-verify=TOKEN` in the TXT records of `_aiwebindex-verify.DOMAIN`, which it asks several resolvers for, and
/// in `https://DOMAIN/.well-known/aiwebindex-verify.txt`. One of the two is enough. Redirects are followed inside
/// the registrable domain, at most three, and only to https. After 429 or 503, the server is left alone for as long as its
/// Retry-After says, or for a minute.
///
/// The exit status is 0 if the domain is verified, 1 if it is not, and 2 if an argument is invalid.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Environment:
  https_proxy, all_proxy, no_proxy   the proxies to use, as for curl
  SSL_CERT_FILE, SSL_CERT_DIR        the authorities to trust, instead of the system's

Examples:
  crawlpike aiwebindex verify example.com --token 8a93c5f24b1e7d0c3f9a8b2e6d4c1f0e
  crawlpike aiwebindex verify example.com --token 8a93c5f24b1e7d0c3f9a8b2e6d4c1f0e --resolver 192.0.2.53")]
pub(super) struct Arguments {
    /// The domain, without scheme, port and path
    domain: Domain,
    /// The token of the domain
    #[arg(long)]
    token: Token,
    /// Ask this resolver, at its port 53 if no other is given, instead of 1.1.1.1, 8.8.8.8 and 9.9.9.9; can be repeated
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = dns::resolver)]
    resolver: Vec<SocketAddr>,
    /// Look here only
    #[arg(long, value_enum)]
    method: Option<Way>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    crawler: CrawlerArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Way {
    /// The TXT records
    Dns,
    /// The file
    Https,
}

/// A domain that can be verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Domain(String);

impl FromStr for Domain {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match Host::parse(text.trim_end_matches('.')) {
            Ok(Host::Domain(domain)) => Ok(Self(domain)),
            _ => Err("expected a domain such as example.com".into()),
        }
    }
}

impl Domain {
    /// The name of its TXT record.
    pub(super) fn record(&self) -> String {
        format!("_aiwebindex-verify.{}", self.0)
    }

    /// The URL of its file.
    pub(super) fn file(&self) -> String {
        format!("https://{}/.well-known/aiwebindex-verify.txt", self.0)
    }
}

/// A token, without the text before it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Token(String);

impl FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let token = text.strip_prefix(PROOF).unwrap_or(text);
        let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || !(16..=200).contains(&token.len()) {
            return Err(
                "expected a token of 16 to 200 characters, as `crawlpike aiwebindex token` issues it".into(),
            );
        }
        Ok(Self(token.to_owned()))
    }
}

/// The outcome of a question or a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", content = "reason", rename_all = "kebab-case")]
enum Outcome {
    Verified,
    /// There is no proof at all.
    Missing,
    /// There are proofs with other tokens: so many.
    Other(usize),
    /// Nothing is known, for this reason.
    Failed(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verified => f.write_str("verified"),
            Self::Missing => write!(f, "no {PROOF}"),
            Self::Other(1) => f.write_str("another token"),
            Self::Other(count) => write!(f, "{count} other tokens"),
            Self::Failed(reason) => f.write_str(reason),
        }
    }
}

impl Outcome {
    /// The outcome for texts that may be proofs.
    fn of<'t>(texts: impl Iterator<Item = &'t str>, Token(token): &Token) -> Self {
        let mut others = 0;
        for proof in texts.filter_map(|text| text.trim().strip_prefix(PROOF)) {
            if proof == token {
                return Self::Verified;
            }
            others += 1;
        }
        if others == 0 { Self::Missing } else { Self::Other(others) }
    }
}

/// The results, for people and as JSON.
#[derive(Debug, Serialize)]
struct Report {
    domain: String,
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    dns: Option<DnsReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    https: Option<HttpsReport>,
}

#[derive(Debug, Serialize)]
struct DnsReport {
    name: String,
    resolvers: Vec<Asked>,
}

#[derive(Debug, Serialize)]
struct Asked {
    resolver: SocketAddr,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Debug, Serialize)]
struct HttpsReport {
    url: String,
    /// The targets of redirects that were followed.
    redirects: Vec<String>,
    /// The outcomes of the attempts before the last one.
    earlier: Vec<String>,
    #[serde(flatten)]
    outcome: Outcome,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let crawler = Crawler::new(&arguments.crawler, true)?;
    let asks = |way| arguments.method.is_none_or(|method| method == way);
    let (dns, https) = thread::scope(|scope| {
        let dns = asks(Way::Dns).then(|| start_in(scope, || by_dns(arguments)));
        let https = asks(Way::Https).then(|| by_https(arguments, &crawler));
        (dns.map(end), https)
    });
    let dns = dns.map(|asked| asked.and_then(|report| report)).transpose().map_err(Failure::because)?;
    let by_dns =
        dns.as_ref().is_some_and(|dns| dns.resolvers.iter().any(|one| one.outcome == Outcome::Verified));
    let by_https = https.as_ref().is_some_and(|https| https.outcome == Outcome::Verified);
    let report = Report { domain: arguments.domain.0.clone(), verified: by_dns || by_https, dns, https };
    let mut output = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut output, &report)?;
        writeln!(output)?;
    } else {
        print(&report, by_dns, by_https, &mut output)?;
    }
    Ok(if report.verified { ExitCode::SUCCESS } else { ExitCode::from(NOT_SO) })
}

/// The result of work that was started.
fn end<T>(started: io::Result<ScopedJoinHandle<'_, T>>) -> Result<T, String> {
    let started = started.map_err(|error| error.to_string())?;
    started.join().map_err(|_| "an internal error, which is a bug".into())
}

fn print(report: &Report, by_dns: bool, by_https: bool, output: &mut impl Write) -> io::Result<()> {
    if let Some(DnsReport { name, resolvers }) = &report.dns {
        writeln!(output, "TXT {name}")?;
        for Asked { resolver, outcome } in resolvers {
            writeln!(output, "  {resolver}: {outcome}")?;
        }
    }
    if let Some(HttpsReport { url, redirects, earlier, outcome }) = &report.https {
        writeln!(output, "{url}")?;
        for to in redirects {
            writeln!(output, "  redirects to {to}")?;
        }
        for attempt in earlier {
            writeln!(output, "  {attempt}")?;
        }
        writeln!(output, "  {outcome}")?;
    }
    let domain = &report.domain;
    match (by_dns, by_https) {
        (true, true) => writeln!(output, "{domain} is verified by DNS and HTTPS"),
        (true, false) => writeln!(output, "{domain} is verified by DNS"),
        (false, true) => writeln!(output, "{domain} is verified by HTTPS"),
        (false, false) => writeln!(output, "{domain} is not verified"),
    }
}

/// Asks all resolvers at the same time (AIWI-14).
fn by_dns(arguments: &Arguments) -> Result<DnsReport, String> {
    let name = arguments.domain.record();
    let query = Name::from_ascii(format!("{name}.")).map_err(|error| format!("{name}: {error}"))?;
    let usual = RESOLVERS.map(|address| SocketAddr::new(address, dns::PORT));
    let resolvers = if arguments.resolver.is_empty() { &usual[..] } else { &arguments.resolver };
    let patience = arguments.crawler.timeout().min(Duration::from_secs(10));
    let asked = thread::scope(|scope| {
        let ask = |resolver: &SocketAddr| {
            let (resolver, query) = (*resolver, &query);
            (resolver, start_in(scope, move || dns::txt(resolver, query, patience)))
        };
        let asked: Vec<_> = resolvers.iter().map(ask).collect();
        asked.into_iter().map(|(resolver, started)| (resolver, end(started))).collect::<Vec<_>>()
    });
    let resolvers = asked.into_iter().map(|(resolver, records)| {
        let records = records.and_then(|records| records);
        let outcome = match records {
            Ok(records) => Outcome::of(records.iter().map(String::as_str), &arguments.token),
            Err(reason) => Outcome::Failed(reason),
        };
        Asked { resolver, outcome }
    });
    Ok(DnsReport { name, resolvers: resolvers.collect() })
}

/// Fetches the file (AIWI-15).
fn by_https(arguments: &Arguments, crawler: &Crawler) -> HttpsReport {
    let url = arguments.domain.file();
    let redirects = RedirectRules::checked(REDIRECTS, |from, to| {
        (!is_same_domain(from, to)).then(|| format!("it redirects to {to}, which is another domain"))
    });
    let mut earlier = Vec::new();
    let fetched = crawler.fetch(&url, SIZE, redirects, &mut |attempt| earlier.push(attempt.to_owned()));
    let (redirects, outcome) = match fetched {
        Err(trouble) => (trouble.redirects, Outcome::Failed(trouble.reason)),
        Ok(Content { bytes, redirects, .. }) => {
            (redirects, Outcome::of(String::from_utf8_lossy(&bytes).lines(), &arguments.token))
        }
    };
    let redirects = redirects.iter().map(|redirect| redirect.to.to_string()).collect();
    HttpsReport { url, redirects, earlier, outcome }
}

/// Returns true if two URLs have the same registrable domain, by the public suffix list.
fn is_same_domain(one: &Url, other: &Url) -> bool {
    let host = |url: &Url| url.domain().map(|host| host.trim_end_matches('.').to_owned());
    match (host(one), host(other)) {
        (Some(one), Some(other)) => {
            let registrable = |host: &str| psl::domain_str(host).map(str::to_owned);
            one == other || registrable(&one).is_some_and(|domain| registrable(&other) == Some(domain))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aiwi_15_the_public_suffix_list_separates_domains() {
        // AIWI-15
        let is_same = |one: &str, other: &str| {
            let url = |host: &str| Url::parse(&format!("https://{host}/")).unwrap();
            is_same_domain(&url(one), &url(other))
        };
        assert!(is_same("example.com", "www.example.com") && is_same("a.example.co.uk", "b.example.co.uk"));
        assert!(is_same("example.com", "example.com.") && is_same("localhost", "localhost"));
        for (one, other) in [
            ("example.com", "example.org"),
            ("a.co.uk", "b.co.uk"),
            ("a.github.io", "b.github.io"),
            ("example.com", "192.0.2.1"),
            ("192.0.2.1", "192.0.2.1"),
            ("localhost", "other"),
        ] {
            assert!(!is_same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn domains_and_tokens_are_checked() {
        assert_eq!("Bücher.Example.".parse(), Ok(Domain("xn--bcher-kva.example".into())));
        for wrong in
            ["", "192.0.2.1", "[::1]", "a b", "https://example.com", "example.com/x", "example.com:443"]
        {
            assert!(wrong.parse::<Domain>().is_err(), "{wrong}");
        }
        let token = "8a93c5f24b1e7d0c3f9a8b2e6d4c1f0e";
        assert_eq!(format!("aiwi-verify={token}").parse(), Ok(Token(token.into())));
        assert!("short".parse::<Token>().is_err() && "a b c d e f g h i j".parse::<Token>().is_err());
    }
}
