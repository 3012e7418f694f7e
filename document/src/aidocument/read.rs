//! Reading documents: those of version 2, and those of version 1.0, which become documents of version 2.0.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use super::{
    AiDocument, CacheInfo, CacheStatus, ContentInfo, FreshnessPolicy, IdentityInfo, RenderMode, SchemaInfo,
    SignalsInfo, SourceInfo, StructureInfo, is_hierarchy_ok,
};
use crate::markdown::{Heading, Image, Link};

/// The reason why bytes are not a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    message: String,
    /// Line and column, from 1, if the error has a place.
    pub position: Option<(usize, usize)>,
}

impl Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        let message = error.to_string();
        // The place has a field of its own.
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        Self { message, position: (error.line() > 0).then(|| (error.line(), error.column())) }
    }
}

fn error(message: impl Into<String>) -> ReadError {
    ReadError { message: message.into(), position: None }
}

/// A document of version 1.0.
#[derive(Debug, Deserialize)]
struct Version1 {
    url: String,
    canonical_url: Option<String>,
    title: Option<String>,
    description: Option<String>,
    markdown: String,
    #[serde(default)]
    headings: Vec<Heading>,
    #[serde(default)]
    links: Vec<Link1>,
    #[serde(default)]
    images: Vec<Image>,
    structured_data: Option<Map<String, Value>>,
    #[serde(default)]
    meta: Meta1,
    #[serde(default)]
    crawl: Crawl1,
}

/// A link that may not say whether it is internal.
#[derive(Debug, Deserialize)]
struct Link1 {
    url: String,
    text: Option<String>,
    internal: Option<bool>,
    rel: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Meta1 {
    language: Option<String>,
    word_count: Option<u64>,
    reading_time: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
struct Crawl1 {
    fetched_at: Option<String>,
    status_code: Option<u16>,
    render_mode: Option<RenderMode>,
}

/// A document of version 2.0 for one of version 1.0; a document of version 2 stays as it is.
///
/// # Errors
///
/// If the bytes are not JSON, or not a document of these versions.
pub fn upgrade(json: &[u8]) -> Result<Value, ReadError> {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    let value: Value = serde_json::from_slice(json)?;
    let Some(object) = value.as_object() else { return Err(error("not a JSON object")) };
    if object.contains_key("schema") {
        let document: AiDocument = serde_json::from_slice(json)?;
        document.check()?;
        return Ok(value);
    }
    if !object.contains_key("url") {
        return Err(error(
            r#"not an AIDocument: it has neither "schema" (version 2) nor "url" (version 1.0)"#,
        ));
    }
    let old: Version1 = serde_json::from_slice(json)?;
    let document = old.into_version_2();
    document.check()?;
    to_value(&document)
}

fn to_value(document: &impl Serialize) -> Result<Value, ReadError> {
    serde_json::to_value(document).map_err(ReadError::from)
}

impl Version1 {
    fn into_version_2(self) -> AiDocument {
        let host = Url::parse(&self.url).ok().and_then(|url| url.host().map(|host| host.to_owned()));
        let is_internal = |url: &str| {
            host.is_some()
                && Url::parse(url).ok().and_then(|url| url.host().map(|host| host.to_owned())) == host
        };
        let links = self.links.into_iter().map(|link| Link {
            internal: link.internal.unwrap_or_else(|| is_internal(&link.url)),
            url: link.url.into(),
            text: link.text.map(String::into_boxed_str),
            rel: link.rel.map(String::into_boxed_str),
        });
        let mut document = AiDocument {
            schema: SchemaInfo { name: "AIDocument".to_owned(), version: "2.0".to_owned(), reference: None },
            source: SourceInfo {
                url: self.url,
                canonical_url: self.canonical_url,
                fetched_at: self.crawl.fetched_at,
                render_mode: self.crawl.render_mode,
                status_code: self.crawl.status_code,
                freshness_policy: FreshnessPolicy::CacheFirst,
            },
            // The origin is not asked for a document that is there.
            cache: CacheInfo::of(CacheStatus::Hit),
            identity: IdentityInfo {
                title: self.title,
                description: self.description,
                language: self.meta.language,
                content_type: None,
            },
            signals: SignalsInfo {
                word_count: self.meta.word_count,
                reading_time: self.meta.reading_time,
                has_json_ld: self.structured_data.as_ref().is_some_and(|data| !data.is_empty()),
                heading_hierarchy_ok: is_hierarchy_ok(&self.headings),
            },
            content: ContentInfo { markdown: self.markdown },
            structure: StructureInfo {
                headings: self.headings,
                links: links.collect(),
                images: self.images,
                structured_data: self.structured_data,
            },
            economics: None,
            usage: None,
        };
        document.schema.reference = Some(document.reference());
        document
    }
}

impl AiDocument {
    /// Checks that the parts agree with each other and with the specification.
    fn check(&self) -> Result<(), ReadError> {
        let SchemaInfo { name, version, .. } = &self.schema;
        if name != "AIDocument" {
            return Err(error(format!(r#"schema.name is "{name}"; it must be "AIDocument""#)));
        }
        let is_2 = version
            .strip_prefix("2.")
            .is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|b| b.is_ascii_digit()));
        if !is_2 {
            return Err(error(format!(r#"schema.version is "{version}"; versions 1.0 and 2.x can be read"#)));
        }
        if !Url::parse(&self.source.url).is_ok_and(|url| url.has_host()) {
            return Err(error(format!(r#"source.url "{}" is not an absolute URL"#, self.source.url)));
        }
        if let Some(heading) =
            self.structure.headings.iter().find(|heading| !(1..=6).contains(&heading.level))
        {
            return Err(error(format!("a heading has the level {}; levels are 1 to 6", heading.level)));
        }
        let cache = &self.cache;
        let expected = CacheInfo::of(cache.status);
        if *cache != expected {
            return Err(error(format!(
                "cache.status does not agree with origin_contacted and body_fetched; they must be {} and {}",
                expected.origin_contacted, expected.body_fetched
            )));
        }
        Ok(())
    }
}
