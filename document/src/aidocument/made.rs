//! The conversion of a page to an AIDocument.

use std::io::BufWriter;

use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{
    AiDocument, CacheInfo, CacheStatus, ContentInfo, CostInfo, EconomicsInfo, FreshnessPolicy, IdentityInfo,
    PricingInfo, RenderMode, SchemaInfo, SignalsInfo, SourceInfo, StructureInfo, UsageInfo, is_hierarchy_ok,
};
use crate::document::Document;
use crate::markdown::{Heading, Image, Link};
use crate::text::approximate_tokens;

/// The words that people read in a minute.
const WORDS_A_MINUTE: u64 = 220;

/// Millionths of a US dollar that a token costs: what models of the middle class take for input.
const MICRO_USD_A_TOKEN: u64 = 3;

/// The way in which the page was fetched. Nothing about the client that it was fetched for belongs in a document.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// When, as RFC 3339 writes it.
    pub fetched_at: Option<String>,
    /// The status of the response.
    pub status_code: Option<u16>,
    /// The freshness that the caller asked for.
    pub freshness_policy: FreshnessPolicy,
    /// The part that a cache had in this call.
    pub cache: CacheStatus,
    /// The preferences about the usage of the page.
    pub usage: Option<UsageInfo>,
}

impl Document {
    /// The page as an AIDocument 2.0; none if its address is not known or not absolute.
    pub fn to_ai_document(&self, fetch: &Fetch) -> Option<AiDocument> {
        let url = self.addresses.page().filter(|url| url.has_host())?.to_string();
        let canonical = self
            .head
            .canonical
            .as_deref()
            .and_then(|address| self.addresses.resolve(address))
            .map(|address| address.url.into())
            .filter(|url: &String| url.starts_with("http"));
        let markdown = self.written.markdown.clone();
        let identity = IdentityInfo {
            title: self.head.title.clone(),
            description: self.head.description.clone(),
            language: self.head.language.clone(),
            content_type: self.head.content_type().map(str::to_owned),
        };
        let structure = StructureInfo {
            headings: self.written.headings.clone(),
            links: self.written.links.clone(),
            images: self.written.images.clone(),
            structured_data: self.head.structured_data.clone(),
        };
        let words = count_words(&markdown);
        let mut document = AiDocument {
            schema: SchemaInfo { name: "AIDocument".to_owned(), version: "2.0".to_owned(), reference: None },
            source: SourceInfo {
                url,
                canonical_url: canonical,
                fetched_at: fetch.fetched_at.clone(),
                render_mode: Some(RenderMode::Static),
                status_code: fetch.status_code,
                freshness_policy: fetch.freshness_policy,
            },
            cache: CacheInfo::of(fetch.cache),
            identity,
            signals: SignalsInfo {
                word_count: Some(words),
                reading_time: Some(words.div_ceil(WORDS_A_MINUTE)),
                has_json_ld: self.head.has_json_ld,
                heading_hierarchy_ok: is_hierarchy_ok(&structure.headings),
            },
            economics: economics(self.markdown_tokens(), self.page_tokens),
            content: ContentInfo { markdown },
            structure,
            usage: fetch.usage.clone(),
        };
        document.schema.reference = Some(document.reference());
        Some(document)
    }

    /// The tokens of the markdown, approximately.
    pub fn markdown_tokens(&self) -> u64 {
        approximate_tokens(&self.written.markdown)
    }
}

impl AiDocument {
    /// The identity of the content: a hash of all that does not change from call to call.
    pub(super) fn reference(&self) -> String {
        #[derive(Serialize)]
        struct Stable<'d> {
            url: &'d str,
            canonical_url: &'d Option<String>,
            title: &'d Option<String>,
            description: &'d Option<String>,
            language: &'d Option<String>,
            content_type: &'d Option<String>,
            markdown: &'d str,
            headings: &'d [Heading],
            links: &'d [Link],
            images: &'d [Image],
            structured_data: &'d Option<Map<String, Value>>,
        }
        let stable = Stable {
            url: &self.source.url,
            canonical_url: &self.source.canonical_url,
            title: &self.identity.title,
            description: &self.identity.description,
            language: &self.identity.language,
            content_type: &self.identity.content_type,
            markdown: &self.content.markdown,
            headings: &self.structure.headings,
            links: &self.structure.links,
            images: &self.structure.images,
            structured_data: &self.structure.structured_data,
        };
        let mut hash = BufWriter::new(Sha256::new());
        // Writing into a hash does not fail.
        let _ = serde_json::to_writer(&mut hash, &stable);
        let hash = hash.into_inner().map(Digest::finalize).unwrap_or_default();
        let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("aidoc:sha256:{hex}")
    }
}

fn economics(output: u64, page: u64) -> Option<EconomicsInfo> {
    if page == 0 {
        return None;
    }
    let savings = page.cast_signed().saturating_sub(output.cast_signed());
    // Whole millionths, so that the difference of the costs is the cost of the difference.
    let dollars = |tokens: i64| tokens.saturating_mul(MICRO_USD_A_TOKEN.cast_signed()) as f64 / 1e6;
    Some(EconomicsInfo {
        output_tokens_approx: output,
        raw_html_tokens_approx: page,
        token_savings: savings,
        token_savings_percent: (savings as f64 / page as f64 * 10_000.0).round() / 100.0,
        estimated_cost_usd: CostInfo {
            our_output: dollars(output.cast_signed()),
            raw_html: dollars(page.cast_signed()),
            savings: dollars(savings),
        },
        pricing_basis: PricingInfo {
            input_price_per_1k_usd: MICRO_USD_A_TOKEN as f64 / 1000.0,
            model_class: "mid-tier".to_owned(),
            note: Some("Tokens are approximated from characters.".to_owned()),
        },
    })
}

/// The words of a text; each character of a script without spaces is one.
fn count_words(text: &str) -> u64 {
    let is_word_itself = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    let mut words = 0;
    for word in text.split_whitespace() {
        if word.is_ascii() {
            words += u64::from(word.bytes().any(|byte| byte.is_ascii_alphanumeric()));
            continue;
        }
        let alone = word.chars().filter(|c| is_word_itself(*c)).count() as u64;
        words += if alone > 0 { alone } else { u64::from(word.chars().any(char::is_alphanumeric)) };
    }
    words
}
