//! Reading documents: those of versions 1.0 and 2.x become documents of version 2.0.

use url::Url;

use super::object::{Object, ReadError, Warnings, error, whole, word};
use super::{
    AiDocument, CacheInfo, CacheStatus, ContentInfo, CostInfo, EconomicsInfo, FreshnessPolicy, IdentityInfo,
    PricingInfo, SchemaInfo, SignalsInfo, SourceInfo, StructureInfo, UsageInfo, is_hierarchy_ok, syntax,
};
use crate::addresses::Addresses;
use crate::markdown::{Heading, Image, Link};

/// A document of version 2.0 for another one.
#[derive(Debug)]
pub struct Upgraded {
    /// The document, as the JSON Schema has it.
    pub document: AiDocument,
    /// Messages about the parts of the other one that it lacks.
    pub warnings: Vec<String>,
}

/// A document of version 2.0 for one of version 1.0 or 2.x. Version 2.0 has no place for some values of optional fields, and
/// for unknown keys: these are left out.
///
/// # Errors
///
/// If the bytes are not JSON, a value has another type than its field, or a required field is missing or invalid.
pub fn upgrade(json: &[u8]) -> Result<Upgraded, ReadError> {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    if json.trim_ascii().is_empty() {
        return Err(error("the file is empty"));
    }
    let top = Object::of(String::new(), serde_json::from_slice(json)?)?;
    let mut warnings = Warnings::default();
    let document = match (top.has("schema"), top.has("url")) {
        (true, _) => version_2(top, &mut warnings)?,
        (false, true) => version_1(top, &mut warnings)?,
        (false, false) => {
            return Err(error(
                "not an AIDocument: it has neither `schema` (version 2) nor `url` (version 1.0)",
            ));
        }
    };
    Ok(Upgraded { document, warnings: warnings.0 })
}

fn version_1(mut top: Object, warnings: &mut Warnings) -> Result<AiDocument, ReadError> {
    let url = page_url(&mut top)?;
    let addresses = Addresses::new(Some(&url), None);
    let mut meta = top.object("meta")?;
    let mut crawl = top.object("crawl")?;
    // Section 4.4 drops these.
    for key in ["fetch_duration_ms", "content_length", "user_agent"] {
        crawl.ignore(key);
    }
    let structure = structure(&mut top, &addresses, warnings)?;
    let mut document = AiDocument {
        schema: SchemaInfo { name: NAME.to_owned(), version: VERSION.to_owned(), reference: None },
        source: SourceInfo {
            canonical_url: address(&mut top, "canonical_url", &addresses, warnings)?,
            fetched_at: fetched_at(&mut crawl, warnings)?,
            render_mode: crawl.text_as("render_mode", "a mode of version 2.0", warnings, word)?,
            status_code: status_code(&mut crawl, warnings)?,
            freshness_policy: FreshnessPolicy::CacheFirst,
            url,
        },
        // The origin is not asked for a document that is there.
        cache: CacheInfo::of(CacheStatus::Hit),
        identity: IdentityInfo {
            title: top.text("title")?,
            description: top.text("description")?,
            language: language(&mut meta, warnings)?,
            content_type: None,
        },
        signals: SignalsInfo {
            word_count: count(&mut meta, "word_count", warnings)?,
            reading_time: count(&mut meta, "reading_time", warnings)?,
            has_json_ld: structure.structured_data.as_ref().is_some_and(|data| !data.is_empty()),
            heading_hierarchy_ok: is_hierarchy_ok(&structure.headings),
        },
        content: content(&mut top)?,
        structure,
        economics: None,
        usage: None,
    };
    [top, meta, crawl].into_iter().for_each(|object| object.end(warnings));
    document.schema.reference = Some(document.reference());
    Ok(document)
}

fn version_2(mut top: Object, warnings: &mut Warnings) -> Result<AiDocument, ReadError> {
    let mut group = |name| {
        top.required(name, top.has(name).then_some(()))?;
        top.object(name)
    };
    let (mut schema, mut source, mut cache) = (group("schema")?, group("source")?, group("cache")?);
    let (mut identity, mut body) = (group("identity")?, group("content")?);
    let (mut parts, mut signals) = (group("structure")?, group("signals")?);
    let schema_info = schema_info(&mut schema, warnings)?;
    let url = page_url(&mut source)?;
    let addresses = Addresses::new(Some(&url), None);
    let source_info = SourceInfo {
        canonical_url: address(&mut source, "canonical_url", &addresses, warnings)?,
        fetched_at: fetched_at(&mut source, warnings)?,
        render_mode: source.text_as("render_mode", "a mode of version 2.0", warnings, word)?,
        status_code: status_code(&mut source, warnings)?,
        freshness_policy: source.word("freshness_policy", "cache_first or force_refresh")?,
        url,
    };
    let document = AiDocument {
        schema: schema_info,
        source: source_info,
        cache: cache_info(&mut cache)?,
        identity: IdentityInfo {
            title: identity.text("title")?,
            description: identity.text("description")?,
            language: language(&mut identity, warnings)?,
            content_type: identity.text("content_type")?,
        },
        content: content(&mut body)?,
        structure: structure(&mut parts, &addresses, warnings)?,
        signals: SignalsInfo {
            word_count: count(&mut signals, "word_count", warnings)?,
            reading_time: count(&mut signals, "reading_time", warnings)?,
            has_json_ld: required_boolean(&mut signals, "has_json_ld")?,
            heading_hierarchy_ok: required_boolean(&mut signals, "heading_hierarchy_ok")?,
        },
        economics: economics(&mut top, warnings)?,
        usage: usage(&mut top, &addresses, warnings)?,
    };
    let groups = [top, schema, source, cache, identity, body, parts, signals];
    groups.into_iter().for_each(|object| object.end(warnings));
    Ok(document)
}

const NAME: &str = "AIDocument";
const VERSION: &str = "2.0";

fn schema_info(schema: &mut Object, warnings: &mut Warnings) -> Result<SchemaInfo, ReadError> {
    let name = schema.string("name")?;
    let name = schema.required("name", name)?;
    if name != NAME {
        return Err(schema.error("name", format_args!("expected {NAME:?}, found {name:?}")));
    }
    let version = schema.string("version")?;
    let version = schema.required("version", version)?;
    let minor = version.strip_prefix("2.").filter(|minor| !minor.is_empty());
    if !minor.is_some_and(|minor| minor.bytes().all(|byte| byte.is_ascii_digit())) {
        let reason = format_args!(
            "expected a version 2.x, found {version:?}; a document of version 1.0 has its fields without groups, and no `schema`"
        );
        return Err(schema.error("version", reason));
    }
    let reference = schema.text_as("ref", "`aidoc:sha256:` and 32 hexadecimal digits", warnings, |text| {
        syntax::is_reference(text).then(|| text.to_owned())
    })?;
    Ok(SchemaInfo { name, version: VERSION.to_owned(), reference })
}

fn cache_info(cache: &mut Object) -> Result<CacheInfo, ReadError> {
    let status = cache.word("status", "hit, miss, refreshed or stale_revalidated")?;
    let expected = CacheInfo::of(status);
    let [origin_contacted, body_fetched] =
        [required_boolean(cache, "origin_contacted")?, required_boolean(cache, "body_fetched")?];
    match (origin_contacted, body_fetched) == (expected.origin_contacted, expected.body_fetched) {
        true => Ok(expected),
        false => Err(error(format!(
            "`cache.status` does not agree with `origin_contacted` and `body_fetched`; they must be {} and {}",
            expected.origin_contacted, expected.body_fetched
        ))),
    }
}

fn required_boolean(object: &mut Object, key: &str) -> Result<bool, ReadError> {
    let value = object.boolean(key)?;
    object.required(key, value)
}

fn content(object: &mut Object) -> Result<ContentInfo, ReadError> {
    let markdown = object.string("markdown")?;
    Ok(ContentInfo { markdown: object.required("markdown", markdown)? })
}

/// The address of the page, without the fragment: the document is that of the whole page.
fn page_url(object: &mut Object) -> Result<String, ReadError> {
    let text = object.string("url")?;
    let text = object.required("url", text)?;
    let url = Url::parse(&text).ok().filter(|url| url.has_host() && matches!(url.scheme(), "http" | "https"));
    let expected = || format!("expected the absolute http or https URL of the page, found {text:?}");
    let mut url = url.ok_or_else(|| object.error("url", expected()))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(object.error(
            "url",
            "a user name and a password do not belong in a document; remove them here and in the other fields",
        ));
    }
    url.set_fragment(None);
    Ok(url.into())
}

/// An absolute address, of one that may be relative to the page.
fn address(
    object: &mut Object,
    key: &str,
    addresses: &Addresses,
    warnings: &mut Warnings,
) -> Result<Option<String>, ReadError> {
    let resolve = |text: &str| Some(addresses.resolve(text)?.url.into());
    object.text_as(key, ADDRESS, warnings, resolve)
}

const ADDRESS: &str = "the address of a page or a file";

fn fetched_at(object: &mut Object, warnings: &mut Warnings) -> Result<Option<String>, ReadError> {
    object.text_as("fetched_at", "a time as RFC 3339 writes it", warnings, |text| {
        syntax::is_time(text).then(|| text.to_owned())
    })
}

fn status_code(object: &mut Object, warnings: &mut Warnings) -> Result<Option<u16>, ReadError> {
    let code = object.whole("status_code", [100, 599], warnings)?;
    Ok(code.and_then(|code| u16::try_from(code).ok()))
}

fn language(object: &mut Object, warnings: &mut Warnings) -> Result<Option<String>, ReadError> {
    object.text_as("language", "a language tag such as en-US", warnings, syntax::language_tag)
}

fn count(object: &mut Object, key: &str, warnings: &mut Warnings) -> Result<Option<u64>, ReadError> {
    Ok(object.whole(key, [0, u32::MAX], warnings)?.map(u64::from))
}

fn structure(
    object: &mut Object,
    addresses: &Addresses,
    warnings: &mut Warnings,
) -> Result<StructureInfo, ReadError> {
    let (mut headings, mut links, mut images) = (Vec::new(), Vec::new(), Vec::new());
    for (path, value) in object.items("headings")? {
        let mut item = Object::of(path, value)?;
        headings.push(heading(&mut item)?);
        item.end(warnings);
    }
    for (path, value) in object.items("links")? {
        let mut item = Object::of(path, value)?;
        links.extend(link(&mut item, addresses, warnings)?);
        item.end(warnings);
    }
    for (path, value) in object.items("images")? {
        let mut item = Object::of(path, value)?;
        let alt = item.text("alt")?.map(String::into_boxed_str);
        item.required("url", item.has("url").then_some(()))?;
        let url = address(&mut item, "url", addresses, warnings)?;
        images.extend(url.map(|url| Image { url: url.into(), alt }));
        item.end(warnings);
    }
    Ok(StructureInfo { headings, links, images, structured_data: object.members("structured_data")? })
}

fn heading(item: &mut Object) -> Result<Heading, ReadError> {
    let level = item.number("level")?;
    let level = item.required("level", level)?;
    let text = item.string("text")?;
    let known = whole(level, [1, 6]).and_then(|level| u8::try_from(level).ok());
    Ok(Heading {
        level: known.ok_or_else(|| item.error("level", format_args!("expected 1 to 6, found {level}")))?,
        text: item.required("text", text)?.into(),
        id: item.text("id")?.map(String::into_boxed_str),
    })
}

/// A link; none if it leads nowhere.
fn link(
    item: &mut Object,
    addresses: &Addresses,
    warnings: &mut Warnings,
) -> Result<Option<Link>, ReadError> {
    let text = item.text("text")?.map(String::into_boxed_str);
    let rel = item.text("rel")?.map(String::into_boxed_str);
    let internal = item.boolean("internal")?;
    item.required("url", item.has("url").then_some(()))?;
    let address = item.text_as("url", ADDRESS, warnings, |text| addresses.resolve(text))?;
    Ok(address.map(|address| Link {
        internal: internal.unwrap_or(address.is_internal),
        url: address.url,
        text,
        rel,
    }))
}

/// The savings: all of them, and with sums that are right, or none.
fn economics(top: &mut Object, warnings: &mut Warnings) -> Result<Option<EconomicsInfo>, ReadError> {
    if !top.has("economics") {
        return Ok(None);
    }
    let mut group = top.object("economics")?;
    let path = top.path("economics");
    match economics_info(&mut group, warnings) {
        Ok(economics) => {
            group.end(warnings);
            if adds_up(&economics) {
                return Ok(Some(economics));
            }
            warnings.leave_out(&path, "its numbers do not agree with each other");
        }
        Err(error) => warnings.leave_out(&path, error),
    }
    Ok(None)
}

fn economics_info(group: &mut Object, warnings: &mut Warnings) -> Result<EconomicsInfo, ReadError> {
    let mut cost = group.object("estimated_cost_usd")?;
    let mut pricing = group.object("pricing_basis")?;
    let number = |object: &mut Object, key| {
        let number = object.number(key)?;
        object.required(key, number)
    };
    let tokens = |object: &mut Object, key| {
        let number = number(object, key)?;
        let tokens = whole(number, [0, u32::MAX]).map(u64::from);
        tokens.ok_or_else(|| object.error(key, format_args!("{number} is not a number of tokens")))
    };
    let model_class = pricing.text("model_class")?;
    let savings = number(group, "token_savings")?;
    if savings.fract() != 0.0 {
        return Err(group.error("token_savings", format_args!("{savings} is not a number of tokens")));
    }
    let economics = EconomicsInfo {
        output_tokens_approx: tokens(group, "output_tokens_approx")?,
        raw_html_tokens_approx: tokens(group, "raw_html_tokens_approx")?,
        token_savings: savings as i64,
        token_savings_percent: number(group, "token_savings_percent")?,
        estimated_cost_usd: CostInfo {
            our_output: number(&mut cost, "our_output")?,
            raw_html: number(&mut cost, "raw_html")?,
            savings: number(&mut cost, "savings")?,
        },
        pricing_basis: PricingInfo {
            input_price_per_1k_usd: number(&mut pricing, "input_price_per_1k_usd")?,
            model_class: pricing.required("model_class", model_class)?,
            note: pricing.string("note")?,
        },
    };
    [cost, pricing].into_iter().for_each(|object| object.end(warnings));
    Ok(economics)
}

/// Returns true if the numbers agree, up to a hundredth, which is more than others round away.
fn adds_up(economics: &EconomicsInfo) -> bool {
    let EconomicsInfo { output_tokens_approx: output, raw_html_tokens_approx: page, .. } = *economics;
    let CostInfo { our_output, raw_html, savings } = economics.estimated_cost_usd;
    let price = economics.pricing_basis.input_price_per_1k_usd;
    let saved = page.cast_signed().saturating_sub(output.cast_signed());
    let is_about = |one: f64, other: f64| (one - other).abs() <= other.abs() / 100.0 + 1e-4;
    let percent = saved as f64 / page as f64 * 100.0;
    page > 0
        && price > 0.0
        && our_output >= 0.0
        && raw_html >= 0.0
        && economics.token_savings == saved
        && economics.token_savings_percent <= 100.0
        && (economics.token_savings_percent - percent).abs() <= 0.5
        && is_about(our_output, output as f64 * price / 1000.0)
        && is_about(raw_html, page as f64 * price / 1000.0)
        && is_about(savings, raw_html - our_output)
}

fn usage(
    top: &mut Object,
    addresses: &Addresses,
    warnings: &mut Warnings,
) -> Result<Option<UsageInfo>, ReadError> {
    let mut group = top.object("usage")?;
    let preferences = group.text("preferences")?;
    let mut licenses = Vec::new();
    for (path, value) in group.items("licenses")? {
        let address = value.as_str().and_then(|text| addresses.resolve(text));
        match address {
            Some(address) => licenses.push(address.url.into()),
            None => warnings.leave_out(&path, format_args!("{value} is not {ADDRESS}")),
        }
    }
    group.end(warnings);
    let is_stated = preferences.is_some() || !licenses.is_empty();
    Ok(is_stated.then_some(UsageInfo { preferences, licenses }))
}
