//! The configuration of one site, or of several hosts together.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::config::aiwebindex::AiwebindexConfig;
use crate::config::exempt::Exemption;
use crate::config::usage::UsageConfig;
use crate::config::words::{Fact, Mode, Treatment};
use crate::json::typed::{UpTo, json_object, json_words};
use crate::source::position::Placed;

/// The treatment of clients by their identities.
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
        /// The URL from which `crawlpike update` fetches that robots.txt.
        pub robots_txt_url: Option<Placed<String>> = { None },
        /// The site's automation-preferences.txt, relative to the configuration document; served at that path.
        pub automation_preferences: Option<Placed<String>> = { None },
        /// The URL from which `crawlpike update` fetches that file.
        pub automation_preferences_url: Option<Placed<String>> = { None },
        /// Origins, such as `https://www.example.com`, that `crawlpike update` may get these two files from beside those of
        /// their URLs: after a redirect, and where a name leads to a private address.
        pub policy_origins: Vec<Placed<String>> = { Vec::new() },
        /// A client that claims an agent from an address that is not the agent's.
        pub spoofed: Placed<Treatment> = { Treatments::DEFAULT.spoofed },
        /// A client that claims an agent that can't be verified.
        pub unverified: Placed<Treatment> = { Treatments::DEFAULT.unverified },
        /// A client that claims no agent, from an address of an IP-range feed, with a browser's User-Agent.
        pub undeclared: Placed<Treatment> = { Treatments::DEFAULT.undeclared },
        /// The meaning of `allowed-purposes` for a client that declares none and whose agent has none.
        pub undeclared_purpose: UndeclaredPurpose = { UndeclaredPurpose::Deny },
        /// Rules on places, known from geofeeds; the first that holds decides.
        pub geo: Vec<Placed<GeoConfig>> = { Vec::new() },
        /// Prefixes, and feeds of the document, whose clients this site allows whatever they say, beside those in the document's
        /// `exempt`.
        pub exempt: Vec<Exemption> = { Vec::new() },
        /// The modes of parts of the site; the longest scope that matches the path counts.
        pub modes: Vec<ModeConfig> = { Vec::new() },
        /// Paths that cost the site much, as patterns of robots.txt: `/*/blame/`. Where there are any, clients are counted on
        /// these alone by `crowd_key`.
        pub costly: Vec<Placed<String>> = { Vec::new() },
        /// The share of client addresses, by a stable hash, for which `enforce` enforces; the rest is observed.
        pub enforce_percent: UpTo<100> = { UpTo(100) },
        /// True if a denial names the line of the rule that decided.
        pub explain: bool = { true },
        /// Instead of the document's `filter_state`.
        pub filter_state: Option<Vec<Fact>> = { None },
        /// The uses of responses that crawlers may make; all rules whose scope matches the path count.
        pub robots_tag: Vec<RobotsTagConfig> = { Vec::new() },
        /// The syntax of `Robots-Tag`; what upstreams send is read in all syntaxes.
        pub robots_tag_syntax: RobotsTagSyntax = { RobotsTagSyntax::default() },
        /// The preferences about the usage of pages once they are fetched.
        pub usage: Option<Box<UsageConfig>> = { None },
        /// The proof of who owns the domain, and the documents of the site's pages.
        pub aiwebindex: Option<AiwebindexConfig> = { None },
        /// The largest page that becomes a document, in bytes, compressed or not; a larger one is sent as it is.
        pub max_document_bytes: usize = { MAX_DOCUMENT_BYTES },
    }
}

/// 2 MiB.
const MAX_DOCUMENT_BYTES: usize = 2 << 20;

json_words! {
    /// The meaning of a restriction to some purposes for a client of which no purpose is known.
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
        /// The treatment of clients from there.
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
    /// The uses that crawlers may make of responses from a part of a site.
    pub struct RobotsTagConfig {
        /// A path prefix, with `*` and `$` as in robots.txt.
        pub scope: Placed<String> = { Placed::default("/".to_string()) },
        /// The rules, such as `noindex, nosnippet; ExampleBot=noindex`.
        pub rules: Placed<String> = required,
    }
}

json_words! {
    /// The syntax of `Robots-Tag`.
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
