//! AIDocument 2.0: the envelope that AIWebIndex defines for a page.

mod made;
mod object;
mod syntax;
mod upgrade;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::made::Fetch;
pub use self::object::ReadError;
pub(crate) use self::syntax::language_tag;
pub use self::upgrade::{Upgraded, upgrade};
use crate::markdown::{Heading, Image, Link};

/// The JSON Schema of [`AiDocument`].
pub const SCHEMA: &str = include_str!("../../../docs/aidocument.schema.json");

/// A page in the form that AIWebIndex 2.0 defines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AiDocument {
    /// The version of the form.
    pub schema: SchemaInfo,
    /// The page that was fetched.
    pub source: SourceInfo,
    /// The circumstances of this call.
    pub cache: CacheInfo,
    /// The page's statements about itself.
    pub identity: IdentityInfo,
    /// The page's content.
    pub content: ContentInfo,
    /// The parts of the content.
    pub structure: StructureInfo,
    /// Numbers about the content.
    pub signals: SignalsInfo,
    /// The savings by the document, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub economics: Option<EconomicsInfo>,
    /// The preferences of the site about the usage of the page, if it states any. Section 4.1 permits further optional groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageInfo>,
}

/// The preferences of a site about the usage of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageInfo {
    /// As in the header `Content-Usage`: `train-ai=n, search=y`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferences: Option<String>,
    /// The absolute URLs of the licences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub licenses: Vec<String>,
}

/// The version of the form, and which content this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchemaInfo {
    /// Always `AIDocument`.
    pub name: String,
    /// Major and minor version.
    pub version: String,
    /// The same for the same content: `aidoc:sha256:` and 32 hexadecimal digits.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// The page that was fetched, and the way in which it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceInfo {
    /// The absolute address of the page.
    pub url: String,
    /// The address that the page names as its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical_url: Option<String>,
    /// When the page was fetched, as RFC 3339 writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched_at: Option<String>,
    /// The rendering: with or without the page's scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub render_mode: Option<RenderMode>,
    /// The status of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u16>,
    /// The freshness that the caller asked for.
    pub freshness_policy: FreshnessPolicy,
}

/// The rendering of the page: with or without its scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RenderMode {
    /// They did not: the page is as it was sent.
    Static,
    /// They ran.
    Rendered,
    /// They failed, and the page is as it was sent.
    StaticAfterRenderFailure,
}

/// The freshness that the caller asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FreshnessPolicy {
    /// The page from a cache, if one has it.
    CacheFirst,
    /// The page from the origin.
    ForceRefresh,
}

/// The circumstances of this call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheInfo {
    /// In one word.
    pub status: CacheStatus,
    /// True if the origin was asked.
    pub origin_contacted: bool,
    /// True if the origin sent the page.
    pub body_fetched: bool,
}

/// The part that a cache had in this call, in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheStatus {
    /// A stored page served, and the origin was not asked.
    Hit,
    /// No page was stored, and the origin sent it.
    #[default]
    Miss,
    /// The caller asked for a new page, and the origin sent it.
    Refreshed,
    /// The origin said that the stored page is current.
    StaleRevalidated,
}

impl CacheInfo {
    /// The status with the two facts that it stands for.
    pub fn of(status: CacheStatus) -> Self {
        let (origin_contacted, body_fetched) = match status {
            CacheStatus::Hit => (false, false),
            CacheStatus::Miss | CacheStatus::Refreshed => (true, true),
            CacheStatus::StaleRevalidated => (true, false),
        };
        Self { status, origin_contacted, body_fetched }
    }
}

/// The page's statements about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IdentityInfo {
    /// From `og:title`, the first `h1`, or `title`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// From the `meta` elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A tag as BCP 47 defines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// `article`, `product`, `listing` or `profile`, if the page says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}

/// The page's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContentInfo {
    /// The content, without navigation, footers and advertisements.
    pub markdown: String,
}

/// The parts of the content.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StructureInfo {
    /// In the order of the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<Heading>,
    /// In the order of the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// In the order of the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// The JSON-LD of the page; of several blocks the `@graph` of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_data: Option<Map<String, Value>>,
}

/// Numbers about the content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignalsInfo {
    /// Words of the markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word_count: Option<u64>,
    /// In minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading_time: Option<u64>,
    /// True if the page has JSON-LD.
    pub has_json_ld: bool,
    /// True if there is a heading, the first one is of level 1 or 2, and none leaves a level out.
    pub heading_hierarchy_ok: bool,
}

/// The savings of an agent that reads the markdown instead of the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EconomicsInfo {
    /// Tokens of the markdown, approximately.
    pub output_tokens_approx: u64,
    /// Tokens of the page, approximately.
    pub raw_html_tokens_approx: u64,
    /// The difference.
    pub token_savings: i64,
    /// The difference as a share of the tokens of the page.
    pub token_savings_percent: f64,
    /// The same in money.
    pub estimated_cost_usd: CostInfo,
    /// The prices that the money is computed with.
    pub pricing_basis: PricingInfo,
}

/// Costs in US dollars.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostInfo {
    /// Of the markdown.
    pub our_output: f64,
    /// Of the page.
    pub raw_html: f64,
    /// The difference.
    pub savings: f64,
}

/// The prices that costs are computed with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PricingInfo {
    /// The price of 1,000 tokens.
    pub input_price_per_1k_usd: f64,
    /// The sort of model that has about this price.
    pub model_class: String,
    /// Remarks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Returns true if there is a heading, the first one is of level 1 or 2, and none leaves a level out.
fn is_hierarchy_ok(headings: &[Heading]) -> bool {
    let starts = headings.first().is_some_and(|first| first.level <= 2);
    starts && headings.iter().zip(headings.iter().skip(1)).all(|(one, next)| next.level <= one.level + 1)
}
