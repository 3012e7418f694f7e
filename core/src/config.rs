//! The configuration document: one JSON object, the same for both gates and every command.
//!
//! This module says what may be written. What it means together (do the names exist, are they unique) is
//! [`crate::ruleset::data`]'s, because that needs the feeds and the catalog.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use crate::feed::guard::Guard;
use crate::feed::{FeedBounds, FeedFormat, Shape};
use crate::json::typed::{self, Dictionary, FromJson, Node, Reader, UpTo, json_object, json_words};
use crate::json::units::Seconds;
use crate::source::diagnostic::Diagnostics;
use crate::source::position::Placed;

json_words! {
    /// What is done with decisions.
    #[derive(Default)]
    pub enum Mode {
        /// Decide, log and count, but let every request through.
        #[default]
        Observe = "observe",
        /// Deny what is decided to be denied.
        Enforce = "enforce",
        /// Look at nothing.
        Off = "off",
    }
}

impl Mode {
    /// The greater, the more can be denied.
    pub(crate) fn strictness(self) -> u8 {
        match self {
            Self::Off => 0,
            Self::Observe => 1,
            Self::Enforce => 2,
        }
    }
}

json_words! {
    /// What a site does with a class of identities.
    pub enum Treatment {
        /// Deny with 403.
        Deny = "deny",
        /// Go on to the agent's action and the site's policy.
        Policy = "policy",
        /// Allow without further steps.
        Allow = "allow",
    }
}

json_words! {
    /// What is done with an agent, whatever the site.
    #[derive(Default)]
    pub enum AgentAction {
        /// The site's policy decides.
        #[default]
        Policy = "policy",
        /// Skip the policy once the agent is verified.
        Allow = "allow",
        /// Deny every request that claims the agent.
        Deny = "deny",
    }
}

json_words! {
    /// Whether all that an agent sends comes from its published ranges.
    #[derive(Default)]
    pub enum Ranges {
        /// All of it: an address outside is an impostor's.
        #[default]
        Complete = "complete",
        /// It also runs on its users' own machines: an address outside says nothing.
        Partial = "partial",
    }
}

json_words! {
    /// A single fact of a decision, by its key in the JSON decision.
    pub enum Fact {
        /// See [`crate::Facts::action`].
        Action = "action",
        /// See [`crate::Facts::status`].
        Status = "status",
        /// See [`crate::Facts::reason`].
        Reason = "reason",
        /// See [`crate::Facts::identity`].
        Identity = "identity",
        /// See [`crate::Facts::agent`].
        Agent = "agent",
        /// See [`crate::Facts::feed`].
        Feed = "feed",
        /// See [`crate::Facts::service`].
        Service = "service",
        /// See [`crate::Facts::country`].
        Country = "country",
        /// See [`crate::Facts::region`].
        Region = "region",
        /// See [`crate::Facts::city`].
        City = "city",
        /// See [`crate::Facts::site`].
        Site = "site",
        /// See [`crate::Facts::purpose`].
        Purpose = "purpose",
        /// See [`crate::Facts::rule`].
        Rule = "rule",
        /// See [`crate::Facts::robots_tag`].
        RobotsTag = "robots_tag",
        /// See [`crate::Facts::proof`].
        Proof = "proof",
        /// See [`crate::Facts::enforced`].
        Enforced = "enforced",
    }
}

json_object! {
    /// The configuration of Crawlward, the same document for nginx, Envoy and the command line.
    pub struct Config {
        /// `observe` decides, logs and counts but lets every request through; `enforce` denies; `off` does nothing.
        pub mode: Placed<Mode> = { Placed::default(Mode::default()) },
        /// The well-known agents: `builtin`, `none`, or the path of a catalog file.
        pub catalog: Placed<String> = { Placed::default("builtin".to_string()) },
        /// The files that map IP prefixes to facts. The order settles ties between prefixes of equal length.
        pub feeds: Vec<FeedConfig> = { Vec::new() },
        /// Agents that the catalog lacks, or about which the site knows better; keys left out keep the catalog's value.
        pub agents: Vec<AgentConfig> = { Vec::new() },
        /// The request header in which a client declares the purpose of its automation.
        pub purpose_header: Placed<String> = { Placed::default("Automation-Purpose".to_string()) },
        /// The policies, by host.
        pub sites: Vec<Placed<SiteConfig>> = { Vec::new() },
        /// The files, by the path that names them elsewhere in the document; they take precedence over the file system.
        /// `crawlward envoy` writes them here, because a Wasm filter has no files.
        pub files: Dictionary<InlinedFile> = { Dictionary::default() },
        /// Single facts that Envoy's filter state shows as `wasm.crawlward.agent` and so on, by their keys in the JSON
        /// decision. In nginx they are variables anyway.
        pub filter_state: Vec<Fact> = { Vec::new() },
    }
    ignored {
        /// Where editors find the JSON Schema of this document.
        "$schema": String,
    }
}

json_object! {
    /// A file in the document.
    pub struct InlinedFile {
        /// What the file holds.
        pub text: String = required,
        /// When it was last modified, in seconds since the Unix epoch.
        pub modified: Option<i64> = { None },
    }
}

json_object! {
    /// A file that maps IP prefixes to facts.
    pub struct FeedConfig {
        /// The name by which agents, logs and metrics refer to the feed.
        pub name: Placed<String> = required,
        /// How the file is written.
        pub format: FeedFormat = required,
        /// The file, relative to the configuration document. A file that is not there yet makes a feed that proves
        /// nobody and condemns nobody.
        pub source: Placed<String> = required,
        /// The prefixes for which a geofeed's publisher may speak; entries outside are ignored. Empty: all.
        pub authority: Vec<Placed<String>> = { Vec::new() },
        /// How old the feed may become before it proves nobody any more, counted from when it was last known to be what
        /// its publisher publishes: the modification of the file, which `crawlward update` sets. Left out: any age.
        pub max_age: Option<Seconds> = { None },
        /// What a new version may change before it is held and the last good one stays in force; `off`: anything.
        pub guard: Guard = { Guard::default() },
        /// What reading the file may cost, whoever wrote it.
        pub limits: FeedBounds = { FeedBounds::default() },
        /// Where the publisher publishes it, for `crawlward update`. A feed with the URL of one of the catalog's feeds stands for that one.
        pub url: Option<String> = { None },
        /// Where the prefixes are in a publisher's JSON, such as `data.ranges[].cidr`; `html` for a web page that contains
        /// it. Left out: what the catalog knows of `url`, else the shape of the format or of a known publisher.
        pub shape: Option<Placed<Shape>> = { None },
    }
}

json_object! {
    /// An automated client as its operator names it.
    pub struct AgentConfig {
        /// The RFC 9309 product token that claims the agent when it stands alone in the User-Agent.
        pub token: Placed<String> = required,
        /// The feeds that prove the agent. None: a claim can't be verified.
        pub feeds: Option<Vec<Placed<String>>> = { None },
        /// Whether all that the agent sends comes from the ranges in its feeds (`complete`), or whether it also runs on
        /// its users' own machines (`partial`), so that an address outside is unverified and never spoofed.
        pub ranges: Option<Ranges> = { None },
        /// If not empty, only prefixes whose most specific `service` is listed prove the agent.
        pub services: Option<Vec<String>> = { None },
        /// What the agent's operator says it fetches for.
        pub purposes: Option<Vec<String>> = { None },
        /// What is done with the agent, whatever the site.
        pub action: Option<AgentAction> = { None },
    }
}

/// What is done with clients by their identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Treatments {
    pub(crate) spoofed: Placed<Treatment>,
    pub(crate) unverified: Placed<Treatment>,
    pub(crate) undeclared: Placed<Treatment>,
}

impl Treatments {
    /// For a host that no site names, and for what a site does not say.
    pub(crate) const DEFAULT: Self = Self {
        spoofed: Placed::default(Treatment::Deny),
        unverified: Placed::default(Treatment::Policy),
        undeclared: Placed::default(Treatment::Allow),
    };
}

json_object! {
    /// The policies of one or more hosts.
    pub struct SiteConfig {
        /// The name shown in decisions and metrics; the first host, or `default`, where it is left out.
        pub name: Option<Placed<String>> = { None },
        /// Exact names and `*.` wildcards. Exact beats wildcard, the longer wildcard beats the shorter; a site without
        /// hosts is the default.
        pub hosts: Vec<Placed<String>> = { Vec::new() },
        /// The site's robots.txt (RFC 9309), relative to the configuration document; served at `/robots.txt`.
        pub robots_txt: Option<Placed<String>> = { None },
        /// The site's automation-preferences.txt, relative to the configuration document; served at that path.
        pub automation_preferences: Option<Placed<String>> = { None },
        /// A client that claims an agent from an address that is not the agent's.
        pub spoofed: Placed<Treatment> = { Treatments::DEFAULT.spoofed },
        /// A client that claims an agent that can't be verified.
        pub unverified: Placed<Treatment> = { Treatments::DEFAULT.unverified },
        /// A client that claims no agent, from an address of an IP-range feed, with a browser's User-Agent.
        pub undeclared: Placed<Treatment> = { Treatments::DEFAULT.undeclared },
        /// What `allowed-purposes` means for a client that declares none and whose agent has none.
        pub undeclared_purpose: UndeclaredPurpose = { UndeclaredPurpose::Deny },
        /// Rules on places, known from geofeeds; the first that holds decides.
        pub geo: Vec<Placed<GeoConfig>> = { Vec::new() },
        /// The modes of parts of the site; the longest scope that matches the path counts.
        pub modes: Vec<ModeConfig> = { Vec::new() },
        /// The share of client addresses, by a stable hash, for which `enforce` enforces; the rest is observed.
        pub enforce_percent: UpTo<100> = { UpTo(100) },
        /// Whether a denial names the line of the rule that decided.
        pub explain: bool = { true },
        /// Instead of the document's `filter_state`.
        pub filter_state: Option<Vec<Fact>> = { None },
        /// What crawlers may do with responses, whoever asks for them; all rules whose scope matches the path count.
        pub robots_tag: Vec<RobotsTagConfig> = { Vec::new() },
        /// How `Robots-Tag` is written; what upstreams send is read in all syntaxes.
        pub robots_tag_syntax: RobotsTagSyntax = { RobotsTagSyntax::default() },
    }
    later { "aiwebindex", "max_document_bytes" }
}

json_words! {
    /// What a restriction to some purposes means for a client of which no purpose is known.
    pub enum UndeclaredPurpose {
        /// It has none of the allowed purposes.
        Deny = "deny",
        /// It is not restricted.
        Allow = "allow",
    }
}

json_object! {
    /// A rule on places. An address without a known place matches none.
    pub struct GeoConfig {
        /// ISO 3166-1 alpha-2 codes. Empty: any known country.
        pub country: Vec<Placed<String>> = { Vec::new() },
        /// ISO 3166-2 codes, such as `US-CA`. Empty: any region.
        pub region: Vec<Placed<String>> = { Vec::new() },
        /// What is done with clients from there.
        pub action: Treatment = required,
    }
}

json_object! {
    /// The mode of a part of a site.
    pub struct ModeConfig {
        /// A path prefix, with `*` and `$` as in robots.txt.
        pub scope: Placed<String> = required,
        /// The mode there.
        pub mode: Mode = required,
    }
}

json_object! {
    /// What crawlers may do with responses from a part of a site.
    pub struct RobotsTagConfig {
        /// A path prefix, with `*` and `$` as in robots.txt.
        pub scope: Placed<String> = { Placed::default("/".to_string()) },
        /// The rules, such as `noindex, nosnippet; ExampleBot=noindex`.
        pub rules: Placed<String> = required,
    }
}

json_words! {
    /// How `Robots-Tag` is written.
    #[derive(Default)]
    pub enum RobotsTagSyntax {
        /// As in draft-illyes-repext-00: `noindex; ExampleBot=nosnippet`.
        #[default]
        Draft00 = "draft-00",
        /// The same with a `;` behind every pair, as that draft's grammar has it: `noindex; ExampleBot=nosnippet;`.
        Draft00Abnf = "draft-00-abnf",
        /// As in later drafts, an RFC 8941 list: `*;noindex, ExampleBot;nosnippet`.
        Structured = "structured",
    }
}

impl Config {
    /// Reads the document, and reports every reason why it can't be. What could be read is given for further checks, in
    /// which nothing is to be said of what may be missing for these reasons.
    pub fn read(document: &[u8], diagnostics: &mut Diagnostics) -> Option<Self> {
        let mut reader = Reader::new(document, diagnostics);
        let node = Node::document(document, &mut reader)?;
        Self::from_json(&node, &mut reader)
    }

    /// The JSON Schema of the document (draft 2020-12), for editors and for CI of those who write it.
    pub fn json_schema() -> Value {
        let mut schema = Self::schema();
        typed::insert(&mut schema, "$schema", Value::from("https://json-schema.org/draft/2020-12/schema"));
        typed::insert(&mut schema, "$id", Value::from("urn:crawlward:configuration"));
        typed::insert(&mut schema, "title", Value::from("Crawlward configuration"));
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::diagnostic::Load;
    use alloc::{format, vec};

    fn messages(document: &str) -> Vec<String> {
        let mut diagnostics = Diagnostics::new("c.json", Load);
        let config = Config::read(document.as_bytes(), &mut diagnostics);
        assert!(config.is_some() || diagnostics.has_errors());
        diagnostics.into_items_by_position().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_empty_document_denies_nobody() {
        let mut diagnostics = Diagnostics::new("c.json", Load);
        let config = Config::read(b"{}", &mut diagnostics).unwrap();
        assert_eq!(*config.mode, Mode::Observe);
        assert_eq!(config.catalog.value, "builtin");
    }

    #[test]
    fn every_mistake_is_reported_at_once_where_it_stands() {
        let document = r#"{
  "mdoe": "enforce",
  "mode": "enforced",
  "feeds": [
    { "name": "a", "format": "jafra" },
    { "name": 5, "format": "cidr", "source": "a.txt" }
  ],
  "sites": [ { "hosts": "example.com", "aiwebindex": "robots.txt" } ],
  "mode": "off"
}"#;
        assert_eq!(
            messages(document),
            vec![
                "c.json:2:3: error: unknown key `mdoe` (did you mean `mode`?)",
                "c.json:3:11: error: `mode`: unknown value `enforced` (did you mean `enforce`?)",
                "c.json:5:5: error: `feeds[0]`: missing key `source`",
                "c.json:5:30: error: `feeds[0].format`: unknown value `jafra` (did you mean `jafar`?)",
                "c.json:6:15: error: `feeds[1].name`: expected a string, found the number 5",
                "c.json:8:25: error: `sites[0].hosts`: expected an array, found a string",
                "c.json:8:40: error: `sites[0].aiwebindex` is not yet supported by this version of Crawlward: remove it",
                "c.json:9:3: error: duplicate key `mode`",
            ]
        );
    }

    #[test]
    fn editors_may_be_told_where_the_schema_is() {
        assert!(messages(r#"{ "$schema": "crawlward.schema.json" }"#).is_empty());
        assert_eq!(
            messages(r#"{ "$schema": 5 }"#),
            ["c.json:1:14: error: `$schema`: expected a string, found the number 5"]
        );
        assert_eq!(
            messages(r#"{ "sites": [ { "$schema": "crawlward.schema.json" } ] }"#).len(),
            1,
            "at the top only"
        );
    }

    #[test]
    fn an_unknown_key_of_megabytes_costs_little_and_is_shown_short() {
        let key = "k".repeat(4 << 20);
        let document = format!(r#"{{ "{key}": 1, "mode": "{key}", "files": {{ "{key}": {{}} }} }}"#);
        let messages = messages(&document);
        assert_eq!(messages.len(), 3);
        for (message, start) in
            messages.iter().zip(["unknown key `kkk", "`mode`: unknown value `kkk", "`files.kkk"])
        {
            assert!(message.contains(start) && message.chars().count() < 1100, "{message}");
        }
    }

    #[test]
    fn a_hundred_thousand_unknown_keys_are_counted() {
        let keys: Vec<String> = (0..100_000).map(|number| format!(r#""mode{number}": 1"#)).collect();
        let messages = messages(&format!("{{ {} }}", keys.join(", ")));
        assert_eq!(messages.last().unwrap(), "c.json: error: not shown: errors 99900, warnings 0");
    }

    #[test]
    fn facts_for_the_filter_state_are_known_by_name() {
        assert_eq!(
            messages(r#"{ "filter_state": ["agent", "agnet"], "sites": [ { "filter_state": "agent" } ] }"#),
            vec![
                "c.json:1:29: error: `filter_state[1]`: unknown value `agnet` (did you mean `agent`?)",
                "c.json:1:68: error: `sites[0].filter_state`: expected an array, found a string",
            ]
        );
    }

    #[test]
    fn a_syntax_error_has_its_place() {
        assert_eq!(
            messages("{\n  \"mode\": enforce\n}"),
            vec!["c.json:2:11: error: not JSON: expected value"]
        );
        assert_eq!(
            messages(""),
            vec!["c.json:1:1: error: not JSON: EOF while parsing a value: was the file cut off?"]
        );
        assert_eq!(messages("[]"), vec!["c.json:1:1: error: expected an object, found an array"]);
    }

    #[test]
    fn the_schema_knows_each_key_with_its_description() {
        let schema = Config::json_schema();
        let feed = &schema["properties"]["feeds"]["items"];
        assert_eq!(feed["required"], Value::from(vec!["name", "format", "source"]));
        assert_eq!(feed["additionalProperties"], Value::from(false));
        assert_eq!(schema["properties"]["mode"]["enum"], Value::from(vec!["observe", "enforce", "off"]));
        assert!(
            feed["properties"]["name"]["description"].as_str().unwrap().contains("agents, logs and metrics")
        );
        assert_eq!(schema["$id"], "urn:crawlward:configuration");
        assert_eq!(schema["properties"]["$schema"]["type"], "string");
    }

    #[test]
    fn the_schema_has_the_default_of_each_key_that_can_be_left_out() {
        let schema = Config::json_schema();
        let default = |key: &str| schema["properties"][key]["default"].clone();
        assert_eq!((default("mode"), default("feeds")), ("observe".into(), Value::from(Vec::<Value>::new())));
        assert_eq!(default("purpose_header"), "Automation-Purpose");
        let site = &schema["properties"]["sites"]["items"]["properties"];
        assert_eq!(
            (&site["spoofed"]["default"], &site["explain"]["default"]),
            (&"deny".into(), &true.into())
        );
        assert_eq!(site["name"].get("default"), None, "it depends on the hosts");
        let guard = &schema["properties"]["feeds"]["items"]["properties"]["guard"]["default"];
        assert_eq!((&guard["grow"], &guard["widest"]["v6"]), (&"10x".into(), &16.into()));
        // A document of nothing but defaults is the empty one.
        let defaults = schema["properties"].as_object().unwrap().iter();
        let defaults: serde_json::Map<_, _> =
            defaults.filter_map(|(key, value)| Some((key.clone(), value.get("default")?.clone()))).collect();
        let read = |document: &[u8]| {
            let config = Config::read(document, &mut Diagnostics::new("c.json", Load)).unwrap();
            (config.mode.value, config.catalog.value, config.purpose_header.value, config.feeds.len())
        };
        assert_eq!(read(Value::from(defaults).to_string().as_bytes()), read(b"{}"));
    }
}
