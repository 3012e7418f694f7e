//! JSON IP ranges of automated clients (draft-illyes-aipref-jafar), as specified and as deployed.
//!
//! No JSON tree is built. One pass over the document checks its syntax and finds the members of the top-level object;
//! the version is looked at before anything else is; then the entries are read one at a time, each a slice of the
//! source, so that what is wrong with one has a position.
//!
//! Deployed files that are read, too (JAFAR-20): Google's, without version and token and with a time without zone;
//! `syncToken`; AWS's `ip_prefix`, `ipv6_prefix`, `ipv6_prefixes` and `createDate`; a bare array of CIDR strings.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};

use ipnet::IpNet;
use serde_json::value::RawValue;
use time::format_description::well_known::Iso8601;
use time::{Date, OffsetDateTime, PrimitiveDateTime, Time};

use crate::diagnostic::{Diagnostics, Locator, Position, Quoted};
use crate::feed::{Added, FeedBuilder, FeedValue};
use crate::json::{self, Members};
use crate::prefix::parse_prefix;
use crate::source_text::BYTE_ORDER_MARK;

/// The major version of the format that this reader understands.
const MAJOR: u64 = 1;

const BAD_NAME: &str = "the name of a member is not Unicode text";

/// Reads the document into `builder`; `None` after an error.
pub(crate) fn read(text: &str, builder: FeedBuilder, diagnostics: &mut Diagnostics) -> Option<FeedBuilder> {
    let json = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut reader = Reader { locator: Locator::new(json.as_bytes()), builder, diagnostics };
    if json.len() != text.len() {
        reader.diagnostics.lint_error(None, "JAFAR-1", "a byte order mark: RFC 8259 8.1 forbids it in JSON");
    }
    let most = reader.builder.bounds.nesting;
    if let Some(offset) = json::nested_deeper_than(json, most) {
        let position = reader.locator.position(offset);
        reader.diagnostics.error(position, "JAFAR-1", format!("arrays and objects nested over {most} deep"));
        return None;
    }
    let document = match json::document(json) {
        Ok(document) => document,
        Err(error) => {
            let position = reader.locator.position(error.offset);
            reader.diagnostics.error(position, "JAFAR-1", error.message);
            return None;
        }
    };
    match document.get().as_bytes().first() {
        Some(b'{') => reader.object(document),
        Some(b'[') => reader.plain_array(document),
        _ => reader.refuse(document, "JAFAR-1", "a JSON object is needed here, not a single value"),
    }?;
    Some(reader.builder)
}

struct Reader<'a, 'd> {
    locator: Locator<'a>,
    builder: FeedBuilder,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Reader<'a, '_> {
    fn object(&mut self, document: &'a RawValue) -> Option<()> {
        const NAMES: [&str; 8] = [
            "formatVersion",
            "prefixes",
            "synctoken",
            "syncToken",
            "creationTime",
            "createDate",
            "notes",
            "ipv6_prefixes",
        ];
        let Some(members) = json::members(document, &NAMES) else {
            return self.refuse(document, "JAFAR-1", BAD_NAME);
        };
        let Members { values, repeated, misspelt } = members;
        let [version, prefixes, token, deployed_token, created, deployed_created, notes, v6_prefixes] =
            values;
        self.version(document, version)?;
        for (name, again) in NAMES.iter().zip(repeated) {
            let Some(again) = again else { continue };
            // Readers differ in which one they take, so what such a feed holds is anybody's guess.
            if matches!(*name, "formatVersion" | "prefixes" | "ipv6_prefixes") {
                return self.refuse(again, "JAFAR-1", &format!("`{name}` is here twice: keep one"));
            }
            let position = self.at(again);
            self.diagnostics.lint_error(
                position,
                "JAFAR-1",
                format!("`{name}` is here twice: the first counts"),
            );
        }
        self.sync_token(document, token, deployed_token);
        self.creation_time(document, created, deployed_created);
        self.notes(notes);
        let Some(prefixes) = prefixes else {
            return self.refuse(document, "JAFAR-9", &format!("no `prefixes`{}", hint(misspelt.as_deref())));
        };
        self.entries(prefixes)?;
        if let Some(v6_prefixes) = v6_prefixes {
            let position = self.at(v6_prefixes);
            let message = "IPv6 prefixes belong into `prefixes`, too: there is one array for both families";
            self.diagnostics.lint_error(position, "JAFAR-9", message);
            self.entries(v6_prefixes)?;
        }
        Some(())
    }

    /// Section 3.2: a greater major version must not be parsed. Where the version can't be read, it could be any.
    fn version(&mut self, document: &'a RawValue, version: Option<&'a RawValue>) -> Option<()> {
        let Some(raw) = version.filter(|raw| raw.get() != "null") else {
            let position = self.at(version.unwrap_or(document));
            let message = r#"no `formatVersion`: write "formatVersion": "1.0""#;
            self.diagnostics.lint_error(position, "JAFAR-2", message);
            return Some(());
        };
        let string = json::string(raw);
        // A number (1.0) is wrong, but says what it means.
        let text = string.as_deref().unwrap_or(raw.get());
        let (major, minor) = text.split_once('.').unwrap_or((text, ""));
        if !is_digits(major) {
            let message = format!(r#"{} is no version such as "1.0""#, Quoted(text));
            return self.refuse(raw, "JAFAR-2", &message);
        }
        // More digits than fit are a greater version, too.
        if major.parse().unwrap_or(u64::MAX) > MAJOR {
            let message = format!("format version {} is newer than the {MAJOR}.x known here", Quoted(text));
            return self.refuse(raw, "JAFAR-3", &message);
        }
        if string.is_none() || !is_digits(minor) {
            let message = format!(r#"{} is not a string of the form "major.minor""#, Quoted(raw.get()));
            let position = self.at(raw);
            self.diagnostics.lint_error(position, "JAFAR-2", message);
        }
        Some(())
    }

    fn sync_token(
        &mut self,
        document: &'a RawValue,
        token: Option<&'a RawValue>,
        deployed: Option<&'a RawValue>,
    ) {
        let (place, message) = match (token, deployed) {
            (Some(token), _) if json::string(token).is_some() => return,
            (Some(token), _) => (token, "`synctoken` is not a string"),
            (None, Some(deployed)) => (deployed, "the name is `synctoken`, in lower case"),
            (None, None) => (document, "no `synctoken`: publish one that changes with the content"),
        };
        let position = self.at(place);
        self.diagnostics.lint_error(position, "JAFAR-6", message);
    }

    fn creation_time(
        &mut self,
        document: &'a RawValue,
        created: Option<&'a RawValue>,
        deployed: Option<&'a RawValue>,
    ) {
        let Some(raw) = created.or(deployed) else {
            let position = self.at(document);
            self.diagnostics.lint_error(position, "JAFAR-7", "no `creationTime`");
            return;
        };
        let position = self.at(raw);
        let string = json::string(raw);
        let text = string.as_deref().unwrap_or(raw.get());
        let Some(time) = parse_time(text).filter(|_| string.is_some()) else {
            let message = format!("{} is no ISO 8601 time such as \"2025-08-15T14:30:00Z\"", Quoted(text));
            self.diagnostics.lost(position, "JAFAR-7", message);
            return;
        };
        self.builder.feed.created = Some(time);
        if created.is_none() {
            self.diagnostics.lint_error(position, "JAFAR-7", "the name is `creationTime`");
        }
        if !is_utc(text) {
            let message = format!("{} is not in UTC: write 2025-08-15T14:30:00Z", Quoted(text));
            self.diagnostics.lint_error(position, "JAFAR-7", message);
        }
    }

    fn notes(&mut self, notes: Option<&'a RawValue>) {
        let Some(raw) = notes else { return };
        match json::string(raw) {
            Some(notes) => self.builder.feed.notes = Some(notes.into()),
            None => {
                let position = self.at(raw);
                self.diagnostics.lint_error(position, "JAFAR-8", "`notes` is not a string");
            }
        }
    }

    fn entries(&mut self, prefixes: &'a RawValue) -> Option<()> {
        if !prefixes.get().starts_with('[') {
            return self.refuse(prefixes, "JAFAR-9", "`prefixes` is not an array");
        }
        json::each_element(prefixes, |raw| match raw.get().as_bytes().first() {
            Some(b'{') => self.entry(raw),
            Some(b'"') => {
                let position = self.at(raw);
                let message = r#"a bare string: write { "ipv4Prefix": … } or { "ipv6Prefix": … }"#;
                self.diagnostics.lint_error(position, "JAFAR-20", message);
                self.string_entry(raw)
            }
            _ => self.lose(raw, "JAFAR-10", "not an object"),
        })
    }

    /// The form that Cloudflare publishes. An array of anything else is some other document.
    fn plain_array(&mut self, document: &'a RawValue) -> Option<()> {
        let position = self.at(document);
        self.diagnostics.lint_error(
            position,
            "JAFAR-1",
            r#"an array: write an object with "formatVersion", "synctoken", "creationTime" and "prefixes""#,
        );
        let mut empty = true;
        json::each_element(document, |raw| {
            empty = false;
            if !raw.get().starts_with('"') {
                let message = "an array of something else than strings in CIDR notation";
                return self.refuse(raw, "JAFAR-1", message);
            }
            self.string_entry(raw)
        })?;
        if empty {
            return self.refuse(document, "JAFAR-1", "an empty array: nothing says that this is a feed");
        }
        Some(())
    }

    fn string_entry(&mut self, raw: &'a RawValue) -> Option<()> {
        let Some(text) = json::string(raw) else { return self.lose(raw, "JAFAR-11", "not Unicode text") };
        match parse_prefix(&text) {
            Ok(prefix) => self.add(raw, prefix, None),
            Err(error) => self.lose(raw, "JAFAR-11", &format!("{}: {error}", Quoted(&text))),
        }
    }

    fn entry(&mut self, entry: &'a RawValue) -> Option<()> {
        const NAMES: [&str; 5] = ["ipv4Prefix", "ipv6Prefix", "ip_prefix", "ipv6_prefix", "service"];
        let Some(Members { values, repeated, misspelt }) = json::members(entry, &NAMES) else {
            return self.lose(entry, "JAFAR-1", BAD_NAME);
        };
        let [v4, v6, deployed_v4, deployed_v6, service] = values;
        if let Some((name, again)) = NAMES.iter().zip(repeated).find_map(|(name, again)| Some((name, again?)))
        {
            let message = format!("`{name}` is here twice: nobody can tell which one counts");
            return self.lose(again, "JAFAR-10", &message);
        }
        let (raw, is_v4) = match (v4, v6, deployed_v4, deployed_v6) {
            (Some(raw), None, None, None) | (None, None, Some(raw), None) => (raw, true),
            (None, Some(raw), None, None) | (None, None, None, Some(raw)) => (raw, false),
            (None, None, None, None) => {
                let message = format!("neither `ipv4Prefix` nor `ipv6Prefix`{}", hint(misspelt.as_deref()));
                return self.lose(entry, "JAFAR-10", &message);
            }
            _ => {
                let message = "more than one of `ipv4Prefix` and `ipv6Prefix`: make two objects of it";
                return self.lose(entry, "JAFAR-10", message);
            }
        };
        let name = if is_v4 { "ipv4Prefix" } else { "ipv6Prefix" };
        let Some(text) = json::string(raw) else {
            let requirement = if raw.get() == "null" { "JAFAR-10" } else { "JAFAR-11" };
            return self.lose(raw, requirement, &format!("`{name}` is not a string"));
        };
        let prefix = match parse_prefix(&text) {
            Ok(prefix) if matches!(prefix, IpNet::V4(_)) == is_v4 => prefix,
            Ok(_) => {
                let message = format!("`{name}`: {} is of the other family", Quoted(&text));
                return self.lose(raw, "JAFAR-11", &message);
            }
            Err(error) => {
                return self.lose(raw, "JAFAR-11", &format!("`{name}`: {}: {error}", Quoted(&text)));
            }
        };
        if deployed_v4.or(deployed_v6).is_some() {
            let position = self.at(raw);
            self.diagnostics.lint_error(position, "JAFAR-20", format!("the name is `{name}`"));
        }
        let service = service.and_then(|raw| self.service(raw));
        self.add(raw, prefix, service)
    }

    /// The service, kept as it is written. One that is no name does not make the prefix wrong, so only it is ignored:
    /// the prefix still proves an agent, but not one that is limited to certain services.
    fn service(&mut self, raw: &'a RawValue) -> Option<Box<str>> {
        let problem = match json::string(raw) {
            Some(service) if !service.chars().any(char::is_control) => return Some(service.into()),
            // It would end up in headers and logs.
            Some(_) => "`service` contains control characters: ignored",
            None => "`service` is not a string: ignored",
        };
        let position = self.at(raw);
        self.diagnostics.lost(position, "JAFAR-12", problem);
        None
    }

    fn add(&mut self, raw: &'a RawValue, prefix: IpNet, service: Option<Box<str>>) -> Option<()> {
        let Self { locator, builder, diagnostics } = self;
        let mut position = || locator.position_of(raw.get().as_bytes());
        let value = builder.value(FeedValue::Range { service });
        match builder.add(prefix, value, &mut position, diagnostics)? {
            Added::New | Added::Outside => {}
            Added::Duplicate(first) if first == value => {
                diagnostics.lint_warning(position(), "JAFAR-18", format!("{prefix} is here twice"));
            }
            Added::Duplicate(first) => {
                let name = |value: u32| match builder.feed.values.get(value as usize) {
                    Some(FeedValue::Range { service: Some(service) }) => Quoted(service).to_string(),
                    _ => "none".to_string(),
                };
                let message = format!(
                    "{prefix} is here before with another service: {} counts, not {}",
                    name(first),
                    name(value)
                );
                diagnostics.warning(position(), "JAFAR-18", message);
            }
        }
        Some(())
    }

    fn at(&mut self, raw: &'a RawValue) -> Option<Position> {
        self.locator.position_of(raw.get().as_bytes())
    }

    /// The whole feed is unusable.
    fn refuse(&mut self, raw: &'a RawValue, requirement: &'static str, message: &str) -> Option<()> {
        let position = self.at(raw);
        self.diagnostics.error(position, requirement, message);
        None
    }

    /// One entry is ignored.
    #[expect(clippy::unnecessary_wraps, reason = "what a step of each_element returns: go on")]
    fn lose(&mut self, raw: &'a RawValue, requirement: &'static str, message: &str) -> Option<()> {
        let position = self.at(raw);
        self.builder.unreadable();
        self.diagnostics.lost(position, requirement, message);
        Some(())
    }
}

fn hint(misspelt: Option<&str>) -> String {
    match misspelt {
        Some(name) => format!("; names are case-sensitive, and there is {}", Quoted(name)),
        None => String::new(),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_utc(time: &str) -> bool {
    time.ends_with('Z') && OffsetDateTime::parse(time, &Iso8601::PARSING).is_ok()
}

/// Seconds since the epoch of an ISO 8601 time, or of AWS's `2024-06-18-22-00-57`. Without a zone it is taken as UTC,
/// which is what all who publish such times mean.
fn parse_time(text: &str) -> Option<i64> {
    if let Ok(time) = OffsetDateTime::parse(text, &Iso8601::PARSING) {
        return Some(time.unix_timestamp());
    }
    let midnight = |date| PrimitiveDateTime::new(date, Time::MIDNIGHT);
    let without_zone = PrimitiveDateTime::parse(text, &Iso8601::PARSING)
        .ok()
        .or_else(|| parse_aws_time(text))
        .or_else(|| Date::parse(text, &Iso8601::PARSING).ok().map(midnight))?;
    Some(without_zone.assume_utc().unix_timestamp())
}

fn parse_aws_time(text: &str) -> Option<PrimitiveDateTime> {
    let (date, time) = text.split_at_checked("2024-06-18".len())?;
    let time = time.strip_prefix('-')?.replace('-', ":");
    let date = Date::parse(date, &Iso8601::PARSING).ok()?;
    Some(PrimitiveDateTime::new(date, Time::parse(&time, &Iso8601::PARSING).ok()?))
}

#[cfg(test)]
#[path = "jafar_tests.rs"]
mod tests;
