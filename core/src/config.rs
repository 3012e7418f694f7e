//! The configuration document: one JSON object, the same for both gates and every command.
//!
//! This module says what may be written. What it means together (do the names exist, are they unique) is
//! [`crate::ruleset::data`]'s, because that needs the feeds and the catalog.

pub(crate) mod aiwebindex;
mod exempt;
mod networks;
mod site;
#[cfg(not(target_family = "wasm"))]
mod tables;
#[cfg(target_family = "wasm")]
#[path = "config/no_tables.rs"]
mod tables;
mod usage;
mod words;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use crate::feed::guard::Guard;
use crate::feed::{FeedBounds, FeedFormat, Shape};
use crate::json::typed::{self, Dictionary, FromJson, Node, Reader, UpTo, json_object};
use crate::json::units::Seconds;
use crate::source::diagnostic::Diagnostics;
use crate::source::position::Placed;

pub(crate) use exempt::{ExemptFeed, Exemption};
pub(crate) use networks::{CrowdPart, NetworkBits};
pub use site::RobotsTagSyntax;
pub(crate) use site::{GeoConfig, ModeConfig, RobotsTagConfig, SiteConfig, Treatments, UndeclaredPurpose};
pub(crate) use tables::NetworkConfig;
pub(crate) use usage::{UsageConfig, UsageRuleConfig};
pub use words::{AgentAction, Fact, Mode, Ranges, Treatment};

json_object! {
    /// The configuration of Crawlpike, the same document for nginx, Envoy and the command line.
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
        /// The largest difference that is accepted between the clocks of clients that sign their requests and that of
        /// the gate.
        pub signature_clock_skew: Seconds = { Seconds(60) },
        /// The policies, by host.
        pub sites: Vec<Placed<SiteConfig>> = { Vec::new() },
        /// The files, by the path that names them elsewhere in the document; they take precedence over the file system.
        /// `crawlpike envoy` writes them here, because a Wasm filter has no files.
        pub files: Dictionary<InlinedFile> = { Dictionary::default() },
        /// Single facts that Envoy's filter state shows as `wasm.crawlpike.agent` and so on, by their keys in the JSON
        /// decision. In nginx they are variables anyway.
        pub filter_state: Vec<Fact> = { Vec::new() },
        /// The number of proxies in front of Envoy that are trusted, as in its `xff_num_trusted_hops`: the Wasm filter
        /// then takes the client's address from `X-Forwarded-For`, which costs less than to ask Envoy. Left out: it
        /// asks. The other gates have the address anyway.
        pub trusted_hops: Option<UpTo<100>> = { None },
        /// The most bytes that all pages that are being made into documents may hold: in a worker of nginx, in a virtual machine
        /// of the Wasm filter, in an Envoy with the native module. A page beyond it is sent as it is. In nginx, the directive
        /// `crawlpike_document_memory` takes precedence.
        pub document_memory: usize = { DOCUMENT_MEMORY },
        /// Prefixes of the network's NAT64 (RFC 6052) beside `64:ff9b::/96`. The IPv4 address within an address of theirs is
        /// the client's.
        pub nat64: Vec<Placed<String>> = { Vec::new() },
        /// Your own monitoring, for example: prefixes, and feeds of this document. Clients from there are allowed whatever
        /// they say.
        pub exempt: Vec<Exemption> = { Vec::new() },
        /// Tables of autonomous systems, for the facts `asn`, `as_name` and `as_kind`. No decision reads them.
        pub networks: Vec<NetworkConfig> = { Vec::new() },
        /// The lengths of the networks of clients, for the fact `network`.
        pub network_bits: NetworkBits = { NetworkBits::default() },
        /// The facts that make up the key by which a limiter counts clients that are neither verified nor exempt.
        pub crowd_key: Vec<CrowdPart> = { Vec::from([CrowdPart::Network]) },
        /// The request header in which a server in front gives a fingerprint of the client's TLS, such as JA4, for the fact
        /// `fingerprint`. Only a header that this server sets itself says anything.
        pub fingerprint_header: Option<Placed<String>> = { None },
    }
    ignored {
        /// The URL or path of the JSON Schema of this document, for editors.
        "$schema": String,
    }
}

/// 64 MiB: with two workers a quarter of a machine with 512 MB. It lets two pages of the largest default size be converted at
/// the same time.
const DOCUMENT_MEMORY: usize = 64 << 20;

json_object! {
    /// A file in the document.
    pub struct InlinedFile {
        /// The content of the file.
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
        /// The format of the file.
        pub format: FeedFormat = required,
        /// The file, relative to the configuration document. A file that is not there yet makes a feed that proves
        /// nobody and condemns nobody.
        pub source: Placed<String> = required,
        /// The prefixes for which a geofeed's publisher may speak; entries outside are ignored. Empty: all.
        pub authority: Vec<Placed<String>> = { Vec::new() },
        /// The age at which the feed stops proving anything, counted from when it was last known to be what
        /// its publisher publishes: the modification of the file, which `crawlpike update` sets. Left out: any age.
        pub max_age: Option<Seconds> = { None },
        /// The changes that a new version may make before it is held and the last good one stays in force; `off`:
        /// anything.
        pub guard: Guard = { Guard::default() },
        /// The limits on the cost of reading the file.
        pub limits: FeedBounds = { FeedBounds::default() },
        /// The URL at which the publisher publishes it, for `crawlpike update`. A feed with the URL of one of the
        /// catalog's feeds stands for that one.
        pub url: Option<String> = { None },
        /// The paths of the prefixes in a publisher's JSON, such as `data.ranges[].cidr`; `html` for a web page that
        /// contains it. Left out: what the catalog knows of `url`, else the shape of the format or of a known
        /// publisher.
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
        /// `complete` if all requests of the agent come from the ranges in its feeds. `partial` if it also runs on its
        /// users' own machines: a claim from an address outside is then unverified, and never spoofed.
        pub ranges: Option<Ranges> = { None },
        /// If not empty, only prefixes whose most specific `service` is listed prove the agent.
        pub services: Option<Vec<String>> = { None },
        /// The purposes for which the agent fetches, as its operator states them.
        pub purposes: Option<Vec<String>> = { None },
        /// The directories with the keys by which the agent signs its requests.
        pub keys: Vec<KeysConfig> = { Vec::new() },
        /// Domains that have the names of the agent's addresses (reverse DNS), each with all names below it. A gate that
        /// looks up names verifies the agent by them. An empty list: none is looked up.
        pub rdns: Option<Vec<Placed<String>>> = { None },
        /// The action for the agent on every site.
        pub action: Option<AgentAction> = { None },
    }
}

json_object! {
    /// A directory in which an agent's operator publishes the keys of its signatures.
    pub struct KeysConfig {
        /// The URL of the directory. Of an origin, such as `https://signer.example`, it is the directory at the well-known path.
        pub directory: Placed<String> = required,
        /// The file with the directory, relative to the configuration document. A file that is not there yet has no keys.
        pub source: Placed<String> = required,
    }
}

impl Config {
    /// Reads the document, and reports every reason why it can't be. What could be read is given for further checks, in
    /// which nothing is to be said of what may be missing for these reasons.
    pub fn read(document: &[u8], diagnostics: &mut Diagnostics) -> Option<Self> {
        let mut reader = Reader::new(document, diagnostics);
        let node = Node::document(document, &mut reader)?;
        let mut config = Self::from_json(&node, &mut reader)?;
        config.feeds.extend(config.networks.iter().filter_map(NetworkConfig::to_feed));
        Some(config)
    }

    /// The JSON Schema of the document (draft 2020-12), for editors and for CI of those who write it.
    pub fn json_schema() -> Value {
        let mut schema = Self::schema();
        typed::insert(&mut schema, "$schema", Value::from("https://json-schema.org/draft/2020-12/schema"));
        typed::insert(&mut schema, "$id", Value::from("urn:crawlpike:configuration"));
        typed::insert(&mut schema, "title", Value::from("Crawlpike configuration"));
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
                "c.json:8:54: error: `sites[0].aiwebindex`: expected an object, found a string",
                "c.json:9:3: error: duplicate key `mode`",
            ]
        );
    }

    #[test]
    fn editors_may_be_told_where_the_schema_is() {
        assert!(messages(r#"{ "$schema": "crawlpike.schema.json" }"#).is_empty());
        assert_eq!(
            messages(r#"{ "$schema": 5 }"#),
            ["c.json:1:14: error: `$schema`: expected a string, found the number 5"]
        );
        assert_eq!(
            messages(r#"{ "sites": [ { "$schema": "crawlpike.schema.json" } ] }"#).len(),
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
        assert_eq!(schema["$id"], "urn:crawlpike:configuration");
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
