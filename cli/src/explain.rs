//! `crawlpike explain`: the decision about a request, and how it is made.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{OsStringValueParser, TypedValueParser};
use crawlpike_core::{
    ClientFacts, Decision, Diagnostic, DocumentProspect, Facts, Locator, Overrides, Request, Ruleset, Scheme,
    decide, decide_traced,
};
use serde::Serialize;

use crate::dns;
use crate::failure::Failure;
use crate::lines::{self, Line};
use crate::names::{self, NameReport};
use crate::request::{DescribedRequest, HeaderName, Method, RequestLine, check_header_value, header};
use crate::source;
use crate::trace::Trace;

/// Explain the decision about a request
///
/// Prints the decision and each step that led to it; with --stdin, the decisions about many requests. The exit status is 0
/// whatever the decision is, and 2 if an argument, the configuration or a line of stdin is invalid.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike explain --config crawlpike.json --ip 66.249.66.1 --user-agent 'Googlebot/2.1'
  crawlpike explain --config crawlpike.json --ip 192.0.2.1 --host example.com --path '/a?b' --json
  crawlpike explain --config crawlpike.json --ip 192.0.2.1 --user-agent 'Baiduspider/2.0' --resolve
  crawlpike explain --config crawlpike.json --ip 192.0.2.1 --accept text/markdown --response-header 'Cache-Control: private'
  echo '{\"ip\":\"192.0.2.1\",\"user_agent\":\"GPTBot/1.2\"}' | crawlpike explain --config crawlpike.json --stdin

A line of stdin is a JSON object with the keys ip, scheme, host, method, path, user_agent, purpose and headers (an object). All but
ip may be null or left out. The answer to an invalid line is {\"error\":\"<stdin>:LINE:COLUMN: error: ...\"}.")]
pub(crate) struct Arguments {
    /// The configuration document, or a file that `crawlpike compile` wrote
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The client's address
    #[arg(long, value_name = "ADDRESS", required_unless_present = "stdin")]
    ip: Option<IpAddr>,
    /// The scheme of the request, http or https; matters to signatures [default: as with https]
    #[arg(long, value_name = "SCHEME", value_parser = |text: &str| Scheme::from_word(text).ok_or("expected http or https"))]
    scheme: Option<Scheme>,
    /// The host of the request, with or without a port [default: none]
    #[arg(long)]
    host: Option<OsString>,
    /// The method of the request
    #[arg(long, value_parser = |text: &str| Method::try_from(text.to_string()), default_value_t)]
    method: Method,
    /// The path and the query of the request, as the client sends them
    #[arg(long, default_value = "/")]
    path: OsString,
    /// The User-Agent; it may be empty, and need not be UTF-8 [default: no such header]
    #[arg(long, value_parser = OsStringValueParser::new().try_map(header_value))]
    user_agent: Option<OsString>,
    /// The purpose that the client declares, in the header that the configuration names [default: no such header]
    #[arg(long, value_parser = OsStringValueParser::new().try_map(header_value))]
    purpose: Option<OsString>,
    /// A line of a header, such as 'Accept: text/markdown', after those of the options that name one; can be repeated
    #[arg(long = "header", value_name = "NAME: VALUE",
          value_parser = OsStringValueParser::new().try_map(|line| header(line.as_bytes())))]
    headers: Vec<(HeaderName, Vec<u8>)>,
    /// The Accept of the request, for the form of the page in the response [default: no such header]
    #[arg(long, value_name = "TYPES", value_parser = OsStringValueParser::new().try_map(header_value))]
    accept: Option<OsString>,
    /// A header of the response, for the form of the page; can be repeated [default: HTML with no other header]
    #[arg(long = "response-header", value_name = "NAME: VALUE",
          value_parser = OsStringValueParser::new().try_map(|line| header(line.as_bytes())))]
    response_headers: Vec<(HeaderName, Vec<u8>)>,
    /// Look up the name of the address, if that can verify the client
    #[arg(long)]
    resolve: bool,
    /// With --resolve, ask this resolver, at its port 53 if no other is given, instead of the system's
    #[arg(long, value_name = "ADDRESS[:PORT]", requires = "resolve", value_parser = dns::resolver)]
    resolver: Option<SocketAddr>,
    /// Print the decision as one JSON object
    #[arg(long)]
    json: bool,
    /// Read a request in JSON from each line of stdin, of at most 1 MiB, and print each decision in JSON
    #[arg(long, conflicts_with_all = ["ip", "scheme", "host", "method", "path", "user_agent", "purpose", "headers", "accept", "response_headers", "resolve"])]
    stdin: bool,
}

/// A decision, with what is known of its client beside it.
#[derive(Serialize)]
struct Explained<'r> {
    #[serde(flatten)]
    decision: Facts<'r>,
    facts: ClientFacts<'r>,
    /// The form of the page in the response, or the reason why it is sent as it is. `None`: no document is offered.
    document: Option<&'static str>,
}

fn header_value(value: OsString) -> Result<OsString, String> {
    check_header_value(value.as_bytes()).map(|()| value)
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let ruleset = source::ruleset(&arguments.config)?;
    let Some(address) = arguments.ip else {
        return lines::answer_stdin(true, parse, |line, output| {
            print_decision(&ruleset, &line.into_request(&ruleset), Overrides::default(), &[], output)
        });
    };
    let mut request = DescribedRequest::new(
        address,
        arguments.host.clone().map(OsString::into_vec),
        arguments.method.clone(),
        arguments.path.clone().into_vec(),
    );
    request.scheme = arguments.scheme;
    let Arguments { user_agent, purpose, accept, response_headers, .. } = arguments;
    for (name, value) in [("user-agent", user_agent), (ruleset.purpose_header(), purpose), ("accept", accept)]
    {
        request.add_known(name, value.as_deref().map(OsStr::as_bytes));
    }
    for (name, value) in &arguments.headers {
        request.add(name, value);
    }
    let names = name_report(arguments, &ruleset, &request)?;
    let overrides = Overrides { name: names.as_ref().map(|names| names.fact), ..Overrides::default() };
    let mut output = io::stdout().lock();
    if arguments.json {
        print_decision(&ruleset, &request, overrides, response_headers, &mut output)?;
    } else {
        let mut steps = Vec::new();
        let decision = decide_traced(&ruleset, &request, overrides, &mut |step| steps.push(step));
        let prospect = prospect(&ruleset, &decision, &request, response_headers);
        let is_asked_for = request.header("accept").is_some() || !response_headers.is_empty();
        let document = (is_asked_for || prospect != DocumentProspect::NotOffered).then_some(prospect);
        let (ruleset, request, decision, names) = (&ruleset, &request, &decision, names.as_ref());
        let trace = Trace { ruleset, request, decision, steps: &steps, names, document };
        write!(output, "{trace}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The form of the page in a response with these headers.
fn prospect(
    ruleset: &Ruleset,
    decision: &Decision,
    request: &DescribedRequest,
    response_headers: &[(HeaderName, Vec<u8>)],
) -> DocumentProspect {
    const OK: u16 = 200;
    let lines = response_headers.iter().map(|(name, value)| (name.as_str(), value.trim_ascii()));
    let has_type = lines.clone().any(|(name, _)| name == "content-type");
    let page = (!has_type).then_some(("content-type", &b"text/html"[..]));
    let lines = page.into_iter().chain(lines).map(|(name, value)| (name.as_bytes(), value));
    ruleset.document_prospect(decision, request, OK, lines)
}

/// The result of the lookup of the address's name, if one is wanted and can verify the client.
fn name_report(
    arguments: &Arguments,
    ruleset: &Ruleset,
    request: &DescribedRequest,
) -> Result<Option<NameReport>, Failure> {
    if !arguments.resolve {
        return Ok(None);
    }
    let decision = decide(ruleset, request, Overrides::default());
    let Some(lookup) = ruleset.name_lookup(&decision, request, None) else { return Ok(None) };
    let resolvers = match arguments.resolver {
        Some(resolver) => vec![resolver],
        None => names::system_resolvers()?,
    };
    Ok(Some(names::look_up(&lookup, &resolvers)))
}

fn print_decision(
    ruleset: &Ruleset,
    request: &DescribedRequest,
    overrides: Overrides,
    response_headers: &[(HeaderName, Vec<u8>)],
    output: &mut impl Write,
) -> Result<(), Failure> {
    let decision = decide(ruleset, request, overrides);
    let document = match prospect(ruleset, &decision, request, response_headers) {
        DocumentProspect::NotWanted => Some("not-preferred"),
        known => known.as_str(),
    };
    let explained = Explained {
        decision: ruleset.describe_with_usage(&decision, request),
        facts: ruleset.client_facts(&decision, request),
        document,
    };
    serde_json::to_writer(&mut *output, &explained)?;
    writeln!(output)?;
    Ok(())
}

fn parse(line: &Line<'_>, content: &[u8]) -> Result<RequestLine, Diagnostic> {
    serde_json::from_slice(content).map_err(|error| {
        // serde_json counts bytes, and 0 stands for the start.
        let position = Locator::new(content).position(error.column().saturating_sub(1));
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(&*message, |(reason, _)| reason);
        line.error(position.column, message)
    })
}
