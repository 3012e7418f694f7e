//! The configuration, as far as decisions read it: docs/configuration.md. Of the catalog nothing: the worlds of the
//! comparison name their agents.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::Value;

use crate::feed::{Entry, prefix};
use crate::host::{HostPattern, host_name};
use crate::identity::{Name, Signature};
use crate::path::{Path, Pattern};
use crate::preferences::Preferences;
use crate::robots::Robots;
use crate::usage::{self, SiteRule};
use crate::version::{Choice, Terms, Versions};

/// A request, and what the gate knows beside it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// The client's.
    pub address: Option<IpAddr>,
    /// As sent; empty if there is none.
    pub host: &'r str,
    /// As sent.
    pub method: &'r str,
    /// Path and query as sent.
    pub path: &'r str,
    /// As sent.
    pub user_agent: Option<&'r str>,
    /// The lines of the header in which clients declare their purpose.
    pub purposes: &'r [&'r str],
    /// In seconds since the Unix epoch.
    pub now: i64,
    /// The state of its signature.
    pub signature: &'r Signature,
    /// The state of the names of the address.
    pub name: Name,
    /// Instead of every mode in the document.
    pub mode: Option<&'r str>,
}

/// An agent of the configuration.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) token: String,
    pub(crate) feeds: Vec<String>,
    pub(crate) services: Vec<String>,
    pub(crate) purposes: Vec<String>,
    pub(crate) action: String,
    pub(crate) has_partial_ranges: bool,
    pub(crate) directories: Vec<String>,
    pub(crate) domains: Vec<String>,
}

/// A feed with the version that was chosen.
#[derive(Clone, Debug)]
pub(crate) struct Feed {
    /// `name`.
    pub name: String,
    /// The version, before its age is looked at.
    pub choice: Choice,
    /// `max_age`, in seconds.
    pub max_age: Option<i64>,
    pub(crate) has_url: bool,
    pub(crate) is_geofeed: bool,
}

/// An entry of `exempt`.
#[derive(Clone, Debug)]
pub(crate) enum Exempt {
    Prefix(IpNet),
    Feed(String),
}

/// A site.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) name: String,
    pub(crate) hosts: Vec<HostPattern>,
    pub(crate) settings: Value,
    pub(crate) robots: Option<Robots>,
    pub(crate) preferences: Option<Preferences>,
    pub(crate) modes: Vec<(Pattern, String)>,
    pub(crate) tags: Vec<(Pattern, String)>,
    pub(crate) usage: Vec<SiteRule>,
    pub(crate) exempts: Vec<Exempt>,
}

/// All that is loaded.
#[derive(Clone, Debug)]
pub struct Edge {
    pub(crate) mode: String,
    pub(crate) agents: Vec<Agent>,
    /// The feeds, by their order in the document.
    pub(crate) feeds: Vec<Feed>,
    pub(crate) sites: Vec<Site>,
    pub(crate) exempts: Vec<Exempt>,
    pub(crate) nat64: Vec<IpNet>,
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn text<'v>(value: &'v Value, default: &'v str) -> &'v str {
    value.as_str().unwrap_or(default)
}

/// `7d`, `60s` and so on, in seconds.
fn seconds(duration: &str) -> i64 {
    let (number, unit) = duration.split_at(duration.len() - 1);
    let unit = match unit {
        "d" => 24 * 60 * 60,
        "h" => 60 * 60,
        "m" => 60,
        _ => 1,
    };
    number.parse::<i64>().expect("a number") * unit
}

fn exempts(list: &Value) -> Vec<Exempt> {
    let read = |entry: &Value| match entry.as_str() {
        Some(text) => prefix(text).map(Exempt::Prefix),
        None => entry["feed"].as_str().map(|name| Exempt::Feed(name.to_owned())),
    };
    list.as_array().into_iter().flatten().filter_map(read).collect()
}

fn scoped<T>(list: &Value, read: impl Fn(&Value) -> T) -> Vec<(Pattern, T)> {
    let rule = |rule: &Value| Some((Pattern::new(text(&rule["scope"], "/").as_bytes())?, read(rule)));
    list.as_array().into_iter().flatten().filter_map(rule).collect()
}

impl Edge {
    /// Loads a document and its files. `None`: the configuration is refused.
    pub fn load(document: &Value, files: &BTreeMap<String, Versions>) -> Option<Self> {
        let list = |key: &str| document[key].as_array().cloned().unwrap_or_default();
        let agents: Vec<Agent> = list("agents").iter().map(agent).collect();
        let feeds = list("feeds")
            .iter()
            .map(|feed| self::feed(feed, &list("feeds"), &agents, document, files))
            .collect::<Option<_>>()?;
        Some(Self {
            mode: text(&document["mode"], "observe").to_owned(),
            sites: list("sites").iter().map(|settings| site(settings, files)).collect(),
            exempts: exempts(&document["exempt"]),
            nat64: texts(&document["nat64"]).iter().filter_map(|text| prefix(text)).collect(),
            agents,
            feeds,
        })
    }

    /// docs/configuration.md, `sites[].hosts`: "exact beats wildcard, the longer wildcard beats the shorter, a site without `hosts` is the default".
    pub(crate) fn site(&self, host: &str) -> Option<&Site> {
        let host = host_name(host);
        let rank = |site: &&Site| site.hosts.iter().filter_map(|pattern| pattern.rank(&host)).max();
        let named = self.sites.iter().filter(|site| rank(site).is_some()).max_by_key(rank);
        named.or_else(|| self.sites.iter().find(|site| site.hosts.is_empty()))
    }
}

impl Site {
    /// "The longest `scope` in `modes` that matches the path"; "`enforce` over `observe` over `off`" among the spellings.
    pub(crate) fn mode<'s>(&'s self, path: &Path, of_document: &'s str) -> &'s str {
        let of_spelling = |spelling: usize| {
            let matching =
                self.modes.iter().filter_map(|(scope, mode)| Some((scope.matches(path, spelling)?, mode)));
            // Of two scopes of the same length, the first: `lint` calls the second one without effect.
            let longest = matching.fold(None, |best: Option<(usize, &String)>, this| match best {
                Some(best) if best.0 >= this.0 => Some(best),
                _ => Some(this),
            });
            longest.map_or(of_document, |(_, mode)| mode)
        };
        let rank = |mode: &&str| ["off", "observe", "enforce"].iter().position(|known| known == mode);
        path.spellings().map(of_spelling).max_by_key(rank).expect("a path has a spelling")
    }
}

impl Exempt {
    /// docs/exempt.md: by a prefix, or by a feed in force that has the address.
    pub(crate) fn has(&self, address: Option<IpAddr>, found: &[(&Feed, &Entry)]) -> bool {
        match self {
            Self::Prefix(prefix) => address.is_some_and(|address| prefix.contains(&address)),
            Self::Feed(name) => found.iter().any(|(feed, _)| feed.name == *name),
        }
    }
}

fn agent(agent: &Value) -> Agent {
    let keys = agent["keys"].as_array().into_iter().flatten();
    Agent {
        token: text(&agent["token"], "").to_owned(),
        feeds: texts(&agent["feeds"]),
        services: texts(&agent["services"]),
        purposes: texts(&agent["purposes"]),
        action: text(&agent["action"], "policy").to_owned(),
        has_partial_ranges: agent["ranges"] == "partial",
        directories: keys.filter_map(|key| key["directory"].as_str()).map(str::to_owned).collect(),
        domains: texts(&agent["rdns"]),
    }
}

fn terms(feed: &Value, agents: &[Agent], document: &Value) -> Terms {
    let name = text(&feed["name"], "");
    let of_feed = agents.iter().filter(|agent| agent.feeds.iter().any(|known| known == name));
    let all_sites = document["sites"].as_array().into_iter().flatten();
    let exempts_by = |value: &Value| {
        exempts(&value["exempt"]).iter().any(|exempt| matches!(exempt, Exempt::Feed(known) if known == name))
    };
    let mut proving: Option<Vec<String>> = None;
    let mut is_all = exempts_by(document) || all_sites.into_iter().any(exempts_by);
    for agent in of_feed {
        is_all |= agent.services.is_empty();
        proving.get_or_insert_default().extend(agent.services.iter().cloned());
    }
    let authority = texts(&feed["authority"]).iter().filter_map(|text| prefix(text)).collect();
    let format = text(&feed["format"], "").to_owned();
    Terms {
        format,
        authority,
        guard: feed["guard"].clone(),
        proving: if is_all { Some(Vec::new()) } else { proving },
    }
}

fn feed(
    feed: &Value,
    all: &[Value],
    agents: &[Agent],
    document: &Value,
    files: &BTreeMap<String, Versions>,
) -> Option<Feed> {
    let of = |feed: &Value| files.get(text(&feed["source"], "")).cloned().unwrap_or_default();
    let agents_of = |feed: &Value| -> Vec<&str> {
        let name = text(&feed["name"], "");
        agents
            .iter()
            .filter(|agent| agent.feeds.iter().any(|known| known == name))
            .map(|agent| agent.token.as_str())
            .collect()
    };
    // "It equals the last good version of a feed of other agents."
    let is_of_others = |other: &&Value| other["name"] != feed["name"] && agents_of(other) != agents_of(feed);
    let last_good = |other: &Value| {
        let file = of(other).last_good?;
        crate::feed::read(text(&other["format"], ""), &file.bytes, &[])
    };
    let others: Vec<_> = all.iter().filter(is_of_others).filter_map(last_good).collect();
    Some(Feed {
        name: text(&feed["name"], "").to_owned(),
        choice: terms(feed, agents, document).choose(&of(feed), &others)?,
        max_age: feed["max_age"].as_str().map(seconds),
        has_url: feed["url"].is_string(),
        is_geofeed: feed["format"] == "geofeed",
    })
}

fn site(settings: &Value, files: &BTreeMap<String, Versions>) -> Site {
    let hosts = texts(&settings["hosts"]);
    let file = |key: &str| Some(&files.get(settings[key].as_str()?)?.newest.as_ref()?.bytes);
    let default_name = hosts.first().map_or("default", String::as_str);
    Site {
        name: text(&settings["name"], default_name).to_owned(),
        robots: file("robots_txt").map(|text| Robots::read(text)),
        preferences: file("automation_preferences").map(|text| Preferences::read(text)),
        modes: scoped(&settings["modes"], |rule| text(&rule["mode"], "").to_owned()),
        tags: scoped(&settings["robots_tag"], |rule| text(&rule["rules"], "").to_owned()),
        usage: scoped(&settings["usage"]["rules"], |rule| usage::read(text(&rule["preferences"], ""))),
        exempts: exempts(&settings["exempt"]),
        hosts: hosts.iter().filter_map(|host| HostPattern::new(host)).collect(),
        settings: settings.clone(),
    }
}
