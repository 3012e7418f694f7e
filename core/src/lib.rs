//! Decides what an automated HTTP client may do, from published facts.
//!
//! The crate has no I/O, no clock, no threads and no `unsafe`: a host (nginx, Envoy, the command line) reads the
//! bytes, calls in, and does what the decision says. The hosts are `nginx-module`, `envoy-module`, `envoy-filter` and `cli`, which
//! share code in `gate`; pages become documents in `document`, which this crate does not use. One way leads through it: [`Ruleset::compile`] makes a configuration
//! document and its files one immutable ruleset, [`decide()`] answers for one request, and [`Ruleset::describe`] gives
//! the answer its names.

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod card;
mod catalog;
mod client;
mod config;
mod decide;
mod feed;
mod hash;
mod http;
mod identity;
mod ids;
#[doc(hidden)]
pub mod internals;
mod json;
mod keys;
pub mod lint;
pub mod metrics;
mod networks;
mod octets;
mod path;
mod policy;
mod prefix_table;
pub mod publish;
mod reason;
mod request;
mod response;
mod ruleset;
pub mod sign;
mod sort;
mod source;
mod usage;
mod user_agent;

pub use card::AgentCard;
pub use client::{ClientFacts, Consistency};
pub use config::{AgentAction, Config, Fact, Mode, Ranges, Treatment};
pub use decide::decision::{Action, Decision};
pub use decide::facts::Facts;
pub use decide::header_names::{HeaderNames, NameLengths};
pub use decide::judge::{decide, decide_remembering, decide_traced};
pub use decide::purpose::{PurposeSource, Purposes};
pub use decide::recent_headers::RecentHeaders;
pub use decide::step::{PolicyVerdict, Step};
pub use decide::upstream_header::{UPSTREAM_HEADER, connection_without_ours, is_forgery};
pub use decide::usage::UsagePart;
pub use feed::change::{Addresses, Change, Country};
pub use feed::earlier::EarlierGood;
pub use feed::special::special_purpose;
pub use feed::state::FeedState;
pub use feed::{AsKind, FeedFormat, Shape, TableBuilder, TableFormat, TableReader};
pub use http::date::rfc_3339;
pub use http::header_name::HeaderName;
pub use http::token::is_token_byte;
pub use identity::doubts::DoubtInfo;
pub use identity::{
    Doubt, Identity, NameCache, NameDesk, NameLookup, NameLookupResult, NamePlaces, NameShares, NameStage,
    Proof, SignatureResult,
};
pub use ids::SiteId;
pub use networks::{ClientNetwork, SystemInfo};
pub use path::spelling::Spelling;
pub use policy::PolicyKind;
pub use policy::usage::{PurposeUse, UsageStatement};
pub use reason::{Reason, Rule};
pub use request::{
    NameFact, NameOutcome, NetworkKey, Overrides, PlainRequest, Request, Scheme, SignatureBudget,
    joined_lines,
};
pub use response::document::{
    Coding, Conversion, DocumentForm, DocumentHeaders, DocumentOutcome, DocumentPlan, DocumentProspect,
    DocumentResult, DocumentTreatment, DocumentWish, Made, RequestEdits, page_url,
};
pub use response::plan::{HeaderEdits, ResponsePlan};
pub use response::reply::Reply;
pub use response::usage::DocumentUsage;
pub use ruleset::compile::{
    Compiled, DirectoryKeys, FeedFile, Files, FoundFile, GoodFeed, Judge, KeySubscription, NoFiles,
    PolicySubscription, Subscription, Subscriptions, Verdict,
};
pub use ruleset::data::Ruleset;
pub use ruleset::exempt::{ExemptInfo, Exemption};
pub use ruleset::info::{AgentInfo, FeedInfo, Finding, FindingValue};
pub use ruleset::stored::{StoredError, is_stored};
pub use source::cause::Cause;
pub use source::diagnostic::{Diagnostic, Severity};
pub use source::pages::{Content, Pages, Source};
pub use source::position::{Locator, Position};
pub use source::quoted::Argument;
pub use source::suggestion::suggestion;
pub use usage::{FileUsage, UsageLine};
pub use user_agent::{RecentSpeakers, TokenError, check_token};
