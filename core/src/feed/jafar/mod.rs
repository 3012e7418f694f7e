//! JSON IP ranges of automated clients (draft-illyes-aipref-jafar), as specified and as deployed.
//!
//! No JSON tree is built. One pass over the document checks its syntax and finds the members of the top-level object;
//! the version is looked at before anything else is; then the entries are read one at a time, each a slice of the
//! source, so that what is wrong with one has a position.
//!
//! Deployed files that are read, too (JAFAR-20): Google's, without version and token and with a time without zone;
//! `syncToken`; AWS's `ip_prefix`, `ipv6_prefix`, `ipv6_prefixes` and `createDate`, and its prefixes that are there once
//! for each service; a bare array of CIDR strings; bare addresses.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use ipnet::IpNet;
use serde_json::value::RawValue;

use crate::feed::build::{Added, FeedBuilder};
use crate::feed::prefix::{PrefixError, parse_prefix};
use crate::json::slices::{self, Members};
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::position::{Locator, Position};
use crate::source::quoted::Quoted;
use time::{is_utc, parse_time};

mod time;

/// The major version of the format that this reader understands.
const MAJOR: u64 = 1;

const BAD_NAME: &str = "a key contains an invalid Unicode escape";

/// Reads the document into `builder`; `None` after an error.
pub(crate) fn read<S: Strictness>(
    json: &str,
    builder: FeedBuilder,
    diagnostics: &mut Diagnostics<S>,
) -> Option<FeedBuilder> {
    let mut reader = Reader { locator: Locator::new(json.as_bytes()), builder, diagnostics };
    let most = reader.builder.bounds.nesting;
    if let Some(offset) = slices::nested_deeper_than(json, most) {
        let position = reader.locator.position(offset);
        reader.diagnostics.error(
            position,
            "JAFAR-1",
            format!("arrays and objects are nested more than {most} levels deep"),
        );
        return None;
    }
    let document = match slices::document(json) {
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
        _ => reader.refuse(document, "JAFAR-1", "expected a JSON object"),
    }?;
    Some(reader.builder)
}

/// Whether a document has keys that only the specified format has. A document without them has a shape that publishers
/// deployed before there was a specification.
pub(crate) fn claims_the_specified_format(json: &str) -> bool {
    let Ok(document) = slices::document(json) else {
        return true;
    };
    if document.get().starts_with('[') {
        return false;
    }
    let members = slices::members(document, &["formatVersion", "synctoken", "prefixes"]);
    members.is_none_or(|Members { values: [version, token, prefixes], .. }| {
        version.is_some() || token.is_some() || prefixes.is_none()
    })
}

struct Reader<'a, 'd, S> {
    locator: Locator<'a>,
    builder: FeedBuilder,
    diagnostics: &'d mut Diagnostics<S>,
}

impl<'a, S: Strictness> Reader<'a, '_, S> {
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
        let Some(members) = slices::members(document, &NAMES) else {
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
                return self.refuse(again, "JAFAR-1", &format!("duplicate key `{name}`; keep one"));
            }
            let position = self.at(again);
            self.diagnostics.lint_error(
                position,
                "JAFAR-1",
                format!("duplicate key `{name}`; the first one counts"),
            );
        }
        self.sync_token(document, token, deployed_token);
        self.creation_time(document, created, deployed_created);
        self.notes(notes);
        let Some(prefixes) = prefixes else {
            return self.refuse(
                document,
                "JAFAR-9",
                &format!("the key `prefixes` is missing{}", hint(misspelt.as_deref())),
            );
        };
        self.entries(prefixes)?;
        if let Some(v6_prefixes) = v6_prefixes {
            let position = self.at(v6_prefixes);
            let message = "put IPv6 prefixes into `prefixes` as well: one array holds both families";
            self.diagnostics.lint_error(position, "JAFAR-9", message);
            self.entries(v6_prefixes)?;
        }
        Some(())
    }

    /// Section 3.2: a greater major version must not be parsed. A version that cannot be read could be any.
    fn version(&mut self, document: &'a RawValue, version: Option<&'a RawValue>) -> Option<()> {
        let Some(raw) = version.filter(|raw| raw.get() != "null") else {
            let position = self.at(version.unwrap_or(document));
            let message = r#"the key `formatVersion` is missing; add "formatVersion": "1.0""#;
            self.diagnostics.lint_error(position, "JAFAR-2", message);
            return Some(());
        };
        let string = slices::string(raw);
        // A number (1.0) is wrong, but says what it means.
        let text = string.as_deref().unwrap_or(raw.get());
        let (major, minor) = text.split_once('.').unwrap_or((text, ""));
        if !is_digits(major) {
            let message = format!(r#"invalid version {}; expected one such as "1.0""#, Quoted(text));
            return self.refuse(raw, "JAFAR-2", &message);
        }
        // More digits than fit are a greater version, too.
        if !major.parse::<u64>().is_ok_and(|major| major <= MAJOR) {
            let message = format!("format version {} is not supported; known is {MAJOR}.x", Quoted(text));
            return self.refuse(raw, "JAFAR-3", &message);
        }
        if string.is_none() || !is_digits(minor) {
            let position = self.at(raw);
            self.diagnostics.lint_error(
                position,
                "JAFAR-2",
                format_args!(r#"{} is not a string of the form "major.minor""#, Quoted(raw.get())),
            );
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
            (Some(token), _) if slices::string(token).is_some() => return,
            (Some(token), _) => (token, "`synctoken` is not a string"),
            (None, Some(deployed)) => (deployed, "use the key `synctoken`, in lower case"),
            (None, None) => {
                (document, "the key `synctoken` is missing; add one that changes with the content")
            }
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
            self.diagnostics.lint_error(position, "JAFAR-7", "the key `creationTime` is missing");
            return;
        };
        let position = self.at(raw);
        let string = slices::string(raw);
        let text = string.as_deref().unwrap_or(raw.get());
        let Some(time) = parse_time(text).filter(|_| string.is_some()) else {
            let message =
                format!("invalid time {}; expected one such as \"2025-08-15T14:30:00Z\"", Quoted(text));
            self.diagnostics.lost(position, "JAFAR-7", message);
            return;
        };
        self.builder.feed.created = Some(time);
        if created.is_none() {
            self.diagnostics.lint_error(position, "JAFAR-7", "use the key `creationTime`");
        }
        if !is_utc(text) {
            let message =
                format_args!("{} is not in UTC; write a time such as \"2025-08-15T14:30:00Z\"", Quoted(text));
            self.diagnostics.lint_error(position, "JAFAR-7", message);
        }
    }

    fn notes(&mut self, notes: Option<&'a RawValue>) {
        let Some(raw) = notes else { return };
        match slices::string(raw) {
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
        slices::each_element(prefixes, |raw| match raw.get().as_bytes().first() {
            Some(b'{') => self.entry(raw),
            Some(b'"') => {
                let position = self.at(raw);
                let message = r#"an entry must be an object: { "ipv4Prefix": … } or { "ipv6Prefix": … }"#;
                self.diagnostics.lint_error(position, "JAFAR-20", message);
                self.string_entry(raw)
            }
            _ => self.lose(raw, "JAFAR-10", "the entry is not an object"),
        })
    }

    /// The form that Cloudflare publishes. An array of anything else is some other document.
    fn plain_array(&mut self, document: &'a RawValue) -> Option<()> {
        let position = self.at(document);
        self.diagnostics.lint_error(
            position,
            "JAFAR-1",
            r#"the file is an array; write an object with "formatVersion", "synctoken", "creationTime" and "prefixes""#,
        );
        let mut empty = true;
        slices::each_element(document, |raw| {
            empty = false;
            if !raw.get().starts_with('"') {
                let message = "expected an array of strings in CIDR notation";
                return self.refuse(raw, "JAFAR-1", message);
            }
            self.string_entry(raw)
        })?;
        if empty {
            return self.refuse(document, "JAFAR-1", "an empty array is not a feed");
        }
        Some(())
    }

    fn string_entry(&mut self, raw: &'a RawValue) -> Option<()> {
        let Some(text) = slices::string(raw) else {
            return self.lose(raw, "JAFAR-11", "invalid Unicode escape");
        };
        match self.prefix(raw, &text) {
            Ok(prefix) => self.add(raw, prefix, None),
            Err(error) => self.lose(raw, "JAFAR-11", &format!("{}: {error}", Quoted(&text))),
        }
    }

    /// A prefix, or a bare address, which is a prefix of full length.
    fn prefix(&mut self, raw: &'a RawValue, text: &str) -> Result<IpNet, PrefixError> {
        let prefix = parse_prefix(text)?;
        if !text.contains('/') {
            let position = self.at(raw);
            self.diagnostics.lint_error(
                position,
                "JAFAR-11",
                format!("the prefix length is missing; write {prefix}"),
            );
        }
        Ok(prefix)
    }

    fn entry(&mut self, entry: &'a RawValue) -> Option<()> {
        const NAMES: [&str; 5] = ["ipv4Prefix", "ipv6Prefix", "ip_prefix", "ipv6_prefix", "service"];
        let Some(Members { values, repeated, misspelt }) = slices::members(entry, &NAMES) else {
            return self.lose(entry, "JAFAR-1", BAD_NAME);
        };
        let [v4, v6, deployed_v4, deployed_v6, service] = values;
        if let Some((name, again)) = NAMES.iter().zip(repeated).find_map(|(name, again)| Some((name, again?)))
        {
            let message = format!("duplicate key `{name}`; the entry is ignored");
            return self.lose(again, "JAFAR-10", &message);
        }
        let (raw, is_v4) = match (v4, v6, deployed_v4, deployed_v6) {
            (Some(raw), None, None, None) | (None, None, Some(raw), None) => (raw, true),
            (None, Some(raw), None, None) | (None, None, None, Some(raw)) => (raw, false),
            (None, None, None, None) => {
                let message = format!(
                    "the entry has neither `ipv4Prefix` nor `ipv6Prefix`{}",
                    hint(misspelt.as_deref())
                );
                return self.lose(entry, "JAFAR-10", &message);
            }
            _ => {
                let message = "the entry has more than one prefix; write an object for each";
                return self.lose(entry, "JAFAR-10", message);
            }
        };
        let name = if is_v4 { "ipv4Prefix" } else { "ipv6Prefix" };
        let Some(text) = slices::string(raw) else {
            let requirement = if raw.get() == "null" { "JAFAR-10" } else { "JAFAR-11" };
            return self.lose(raw, requirement, &format!("`{name}` is not a string"));
        };
        let prefix = match self.prefix(raw, &text) {
            Ok(prefix) if matches!(prefix, IpNet::V4(_)) == is_v4 => prefix,
            Ok(_) => {
                let message = format!("`{name}`: {} is of the other address family", Quoted(&text));
                return self.lose(raw, "JAFAR-11", &message);
            }
            Err(error) => {
                return self.lose(raw, "JAFAR-11", &format!("`{name}`: {}: {error}", Quoted(&text)));
            }
        };
        if deployed_v4.or(deployed_v6).is_some() {
            let position = self.at(raw);
            self.diagnostics.lint_error(position, "JAFAR-20", format_args!("use the key `{name}`"));
        }
        let service = service.and_then(|raw| self.service(raw));
        self.add(raw, prefix, service.as_deref())
    }

    /// The service. If it cannot be read, the prefix still verifies agents that are not limited to services.
    fn service(&mut self, raw: &'a RawValue) -> Option<Cow<'a, str>> {
        let problem = match slices::string(raw) {
            Some(service) if !service.chars().any(char::is_control) => return Some(service),
            // It would end up in headers and logs.
            Some(_) => "`service` contains control characters; it is ignored",
            None if raw.get() == "null" => {
                let position = self.at(raw);
                self.diagnostics.lint_error(position, "JAFAR-12", "`service` is null; remove it");
                return None;
            }
            None => "`service` is not a string; it is ignored",
        };
        let position = self.at(raw);
        self.diagnostics.lost(position, "JAFAR-12", problem);
        self.builder.unreadable();
        None
    }

    fn add(&mut self, raw: &'a RawValue, prefix: IpNet, service: Option<&str>) -> Option<()> {
        let Self { locator, builder, diagnostics } = self;
        let mut position = || locator.position_of(raw.get().as_bytes());
        let Some(value) = builder.range(service) else {
            return self.lose(raw, "JAFAR-12", "more services than can be counted");
        };
        match builder.add(prefix, value, &mut position, diagnostics)? {
            Added::New | Added::Outside => {}
            Added::Duplicate(first) if first.value == value => {
                diagnostics.lint_warning(position(), "JAFAR-18", format_args!("{prefix} is a duplicate"));
            }
            // Amazon lists a prefix of EC2 for AMAZON and again for EC2.
            Added::Duplicate(first) => builder.add_value(first, value, position, diagnostics)?,
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
        Some(name) => format!("; keys are case-sensitive, and the file has {}", Quoted(name)),
        None => String::new(),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
