//! The decision and its reason: docs/identity.md, docs/robots-and-preferences.md.

use std::cmp::Reverse;

use crate::edge::{Edge, Request, Site};
use crate::host::is_host;
use crate::identity::{Identity, identify, word};
use crate::path::Path;
use crate::preferences::{Asked, Verdict};
use crate::{robots_tag, usage};

/// The JSON decision, and the doubt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "docs/configuration.md has these facts under `filter_state`")]
pub struct Decision {
    pub action: &'static str,
    pub status: Option<u16>,
    pub reason: &'static str,
    pub identity: &'static str,
    pub agent: Option<String>,
    pub feed: Option<String>,
    pub service: Option<String>,
    pub country: Option<String>,
    pub region: Option<String>,
    pub city: Option<String>,
    pub site: Option<String>,
    pub purpose: Option<String>,
    /// The file, and the line.
    pub rule: Option<(String, u32)>,
    pub robots_tag: Option<String>,
    pub usage: Option<String>,
    pub proof: Option<&'static str>,
    pub enforced: bool,
    pub doubt: Option<&'static str>,
}

/// The action, and its reason; the rule by its key in the site, and its line; true if the purposes are the reason.
struct Ruling {
    action: &'static str,
    reason: &'static str,
    rule: Option<(&'static str, u32)>,
    by_purpose: bool,
}

fn ruling(action: &'static str, reason: &'static str) -> Ruling {
    Ruling { action, reason, rule: None, by_purpose: false }
}

/// Decides about a request.
pub fn decide(edge: &Edge, request: &Request<'_>) -> Decision {
    let path = Path::new(request.path.as_bytes());
    let site = edge.site(request.host);
    let site_name = site.map(|site| site.name.clone());
    let mode = request.mode.unwrap_or_else(|| site.map_or(&edge.mode, |site| site.mode(&path, &edge.mode)));
    if mode == "off" {
        // "Crawlpike examines nothing and serves no policy; the client stays unknown."
        return Decision {
            action: "allow",
            reason: "not-automated",
            identity: "none",
            site: site_name,
            ..Decision::default()
        };
    }
    let mut identity = identify(edge, request);
    identity.is_exempt |= site.is_some_and(|site| is_exempt(edge, site, request));
    let is_shared = |name: &&str| {
        edge.agents.iter().filter(|agent| agent.feeds.iter().any(|known| known == name)).count() == 1
    };
    let sole = identity.feed.filter(|name| identity.name == "undeclared" && is_shared(name));
    let acting = identity.agent.or_else(|| {
        edge.agents
            .iter()
            .find(|agent| sole.is_some_and(|name| agent.feeds.iter().any(|known| known == name)))
    });
    let declared = declared_purposes(edge, site, request);
    let purposes = if declared.is_empty() {
        acting.map(|agent| agent.purposes.clone()).unwrap_or_default()
    } else {
        declared.clone()
    };
    let agent = acting.map_or("*", |agent| agent.token.as_str());
    let ruling = rule(site, request, &identity, agent, &purposes, &path);
    let is_person = ruling.reason == "not-automated" && identity.name == "none";
    let shown = if ruling.by_purpose && declared.is_empty() { &purposes } else { &declared };
    let is_denied = ruling.action == "deny";
    let may_pass = matches!(identity.doubt, Some("signature-not-examined" | "name-not-looked-up"));
    let place = identity.place;
    Decision {
        action: ruling.action,
        status: is_denied.then_some(match ruling.reason {
            "invalid-host" => 400,
            // "503 with `Retry-After: 1` for the reason `unverified-agent`."
            "unverified-agent" if may_pass => 503,
            _ => 403,
        }),
        reason: ruling.reason,
        identity: identity.name,
        agent: identity.agent.map(|agent| agent.token.clone()),
        feed: identity.feed.map(str::to_owned),
        service: identity.service.map(str::to_owned),
        country: place.and_then(|place| place.country.clone()),
        region: place.and_then(|place| place.region.clone()),
        city: place.and_then(|place| place.city.clone()),
        purpose: Some(shown.join(", ")).filter(|text| !text.is_empty() && !is_person),
        rule: ruling
            .rule
            .zip(site)
            .map(|((key, line), site)| (site.settings[key].as_str().unwrap_or_default().to_owned(), line)),
        robots_tag: site.and_then(|site| robots_tag::of_site(site, &path)),
        usage: statement(site, agent, &path),
        site: site_name,
        proof: identity.proof,
        // "The share of client addresses for which `enforce` enforces": all or none here.
        enforced: mode == "enforce" && site.is_none_or(|site| site.settings["enforce_percent"] != 0),
        doubt: identity.doubt,
    }
}

fn setting(site: Option<&Site>, key: &str, default: &str) -> String {
    site.and_then(|site| site.settings[key].as_str()).unwrap_or(default).to_owned()
}

fn statement(site: Option<&Site>, agent: &str, path: &Path) -> Option<String> {
    let site = site?;
    usage::text(usage::statement(site.robots.as_ref(), &site.usage, agent, path))
}

fn is_exempt(edge: &Edge, site: &Site, request: &Request<'_>) -> bool {
    let of_site = Edge { exempts: site.exempts.clone(), ..edge.clone() };
    !site.exempts.is_empty() && identify(&of_site, request).is_exempt
}

/// The order of the steps; the first that settles it.
fn rule(
    site: Option<&Site>,
    request: &Request<'_>,
    identity: &Identity<'_>,
    agent: &str,
    purposes: &[String],
    path: &Path,
) -> Ruling {
    // 1. Served resources.
    let resources = [
        ("/robots.txt", site.is_some_and(|site| site.robots.is_some())),
        ("/automation-preferences.txt", site.is_some_and(|site| site.preferences.is_some())),
        (
            "/.well-known/aiwebindex-verify.txt",
            site.is_some_and(|site| site.settings["aiwebindex"]["verification_tokens"].is_array()),
        ),
    ];
    let resource = resources.into_iter().find(|(name, _)| path.is(name));
    if resource.is_some_and(|(_, is_configured)| is_configured) && ["GET", "HEAD"].contains(&request.method) {
        return ruling("serve", "served");
    }
    // docs/exempt.md: "each request is allowed".
    if identity.is_exempt {
        return ruling("allow", "exempt");
    }
    // 3. Not automated.
    let undeclared = setting(site, "undeclared", "allow");
    let is_browser = identity.name == "undeclared" && !identity.is_automation;
    if identity.name == "none" || is_browser && undeclared == "allow" {
        return ruling("allow", "not-automated");
    }
    let ruled = judge(site, request, identity, agent, purposes, path, is_browser);
    // "Where it does not, these three paths go to the origin and are never denied."
    if resource.is_some() && ruled.action == "deny" { ruling("allow", "allowed") } else { ruled }
}

/// The steps for automated clients.
fn judge(
    site: Option<&Site>,
    request: &Request<'_>,
    identity: &Identity<'_>,
    agent: &str,
    purposes: &[String],
    path: &Path,
    is_browser: bool,
) -> Ruling {
    // "An automated client whose `Host` is not a host name gets 400, whatever its identity."
    if !request.host.is_empty() && !is_host(request.host) {
        return ruling("deny", "invalid-host");
    }
    let undeclared = setting(site, "undeclared", "allow");
    // 4. Spoofed, unverified, agent rules.
    let (treatment, reason) = match identity.name {
        "spoofed" => (
            setting(site, "spoofed", "deny"),
            if identity.is_badly_signed { "bad-signature" } else { "spoofed-agent" },
        ),
        // "The same holds if the claim is a forgery without the signature, and the site denies `spoofed` clients."
        "unverified" if identity.is_refuted_else && setting(site, "spoofed", "deny") == "deny" => {
            ("deny".into(), "unverified-agent")
        }
        "unverified" => (setting(site, "unverified", "policy"), "unverified-agent"),
        "undeclared" if is_browser => (undeclared, "undeclared-agent"),
        _ => ("policy".into(), ""),
    };
    match treatment.as_str() {
        "deny" => return ruling("deny", reason),
        "allow" => return ruling("allow", "allowed"),
        _ => {}
    }
    match identity.agent.map(|agent| agent.action.as_str()) {
        Some("deny") => return ruling("deny", "agent-denied"),
        Some("allow") if identity.name == "verified" => return ruling("allow", "agent-allowed"),
        _ => {}
    }
    let Some(site) = site else { return ruling("allow", "allowed") };
    // 5. Geo rules: the first that matches.
    match geo(site, identity).as_deref() {
        Some("deny") => return ruling("deny", "geo-denied"),
        Some("allow") => return ruling("allow", "allowed"),
        _ => {}
    }
    policies(site, request, agent, purposes, path)
}

fn geo(site: &Site, identity: &Identity<'_>) -> Option<String> {
    let place = identity.place?;
    let country = place.country.as_ref()?;
    let has = |list: &serde_json::Value, code: Option<&String>| {
        let listed: Vec<&str> =
            list.as_array().into_iter().flatten().filter_map(serde_json::Value::as_str).collect();
        listed.is_empty()
            || code.is_some_and(|code| listed.iter().any(|known| known.eq_ignore_ascii_case(code)))
    };
    let matches = |rule: &&serde_json::Value| {
        has(&rule["country"], Some(country)) && has(&rule["region"], place.region.as_ref())
    };
    let rules = site.settings["geo"].as_array()?;
    rules.iter().find(matches)?["action"].as_str().map(str::to_owned)
}

/// 6. robots.txt. 7. automation-preferences.txt; then usage, where the site enforces it.
fn policies(site: &Site, request: &Request<'_>, agent: &str, purposes: &[String], path: &Path) -> Ruling {
    // "The strictest result counts": the first spelling that is denied, else the path as sent.
    let of_spelling = |spelling| by_files(site, request, agent, purposes, path, spelling);
    let is_denial = |ruling: &Ruling| ruling.action == "deny";
    let ruled = path.spellings().map(of_spelling).find(is_denial).unwrap_or_else(|| of_spelling(0));
    if is_denial(&ruled) || site.settings["usage"]["enforce"] != true {
        return ruled;
    }
    let robots = site.robots.as_ref();
    if usage::is_denied(usage::statement(robots, &site.usage, agent, path), purposes) {
        let line = robots.and_then(|robots| usage::disallowing_line(robots, agent, path, purposes));
        let rule = line.map(|line| ("robots_txt", line));
        return Ruling { rule, by_purpose: true, ..ruling("deny", "usage-disallowed") };
    }
    ruled
}

fn by_files(
    site: &Site,
    request: &Request<'_>,
    agent: &str,
    purposes: &[String],
    path: &Path,
    spelling: usize,
) -> Ruling {
    let mut rule = None;
    if let Some(robots) = &site.robots {
        let (is_allowed, line) = robots.decide_spelling(agent, path, spelling);
        rule = line.map(|line| ("robots_txt", line));
        if !is_allowed {
            return Ruling { rule, ..ruling("deny", "robots-disallowed") };
        }
    }
    let Some(preferences) = &site.preferences else { return Ruling { rule, ..ruling("allow", "allowed") } };
    let allows_undeclared = site.settings["undeclared_purpose"] == "allow";
    let asked = Asked { agent, host: request.host, method: request.method, purposes, allows_undeclared };
    let of = |line| Some(("automation_preferences", line));
    match preferences.decide_spelling(&asked, path, spelling) {
        Verdict::NoGroup => Ruling { rule, ..ruling("allow", "allowed") },
        // "If both allow a request, the decision names the line of automation-preferences.txt."
        Verdict::Allowed(line) => Ruling { rule: of(line), ..ruling("allow", "allowed") },
        Verdict::Method(line) => Ruling { rule: of(line), ..ruling("deny", "method-not-allowed") },
        Verdict::Purpose(line) => {
            Ruling { rule: of(line), by_purpose: true, ..ruling("deny", "purpose-not-allowed") }
        }
    }
}

/// "Agent and purpose of a client": the header, or words of the User-Agent that a file or the configuration names.
fn declared_purposes(edge: &Edge, site: Option<&Site>, request: &Request<'_>) -> Vec<String> {
    // RFC 9110, 5.6.2.
    let is_token = |line: &&&str| {
        let is_part = |octet: u8| octet.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&octet);
        (1..=64).contains(&line.len()) && line.bytes().all(is_part)
    };
    if !request.purposes.is_empty() {
        let are_purposes = request.purposes.len() <= 8 && request.purposes.iter().all(|line| is_token(&line));
        return if are_purposes {
            request.purposes.iter().map(|line| (*line).to_owned()).collect()
        } else {
            Vec::new()
        };
    }
    // "Of those that the site's file names, else of those of the configuration, the longest, and the first of equally long ones."
    let Some(user_agent) = request.user_agent else { return Vec::new() };
    let user_agent = &without_addresses(user_agent);
    let of_site =
        site.and_then(|site| site.preferences.as_ref()).map(|file| file.purposes().collect::<Vec<_>>());
    let of_agents = edge.agents.iter().flat_map(|agent| &agent.purposes).map(String::as_str);
    for names in [of_site.unwrap_or_default(), of_agents.collect()] {
        let found =
            names.into_iter().filter_map(|name| Some((name.len(), Reverse(word(user_agent, name)?), name)));
        if let Some((_, _, name)) = found.max() {
            return vec![name.to_ascii_lowercase()];
        }
    }
    Vec::new()
}

/// "A word in an address of a page or of mail declares nothing."
fn without_addresses(user_agent: &str) -> String {
    let words = user_agent.split_inclusive([' ', '\t', ';', ',', '(', ')']);
    let is_address = |word: &str| word.contains('@') || word.contains("://");
    words.map(|word| if is_address(word) { "\"; " } else { word }).collect()
}
