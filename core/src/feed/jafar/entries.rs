//! Entries: objects as the specification has them, those of other publishers, and plain strings.

use alloc::borrow::Cow;
use alloc::format;

use ipnet::IpNet;
use serde_json::value::RawValue;

use super::{BAD_NAME, Reader, hint};
use crate::feed::build::Added;
use crate::feed::prefix::{PrefixError, parse_prefix};
use crate::json::slices::{self, Members};
use crate::source::diagnostic::Strictness;
use crate::source::quoted::Quoted;

/// The keys of an entry: those of the format, and those of AWS, of Atlassian and Oracle, and of Ahrefs.
const NAMES: [&str; 7] = [IPV4, IPV6, "ip_prefix", "ipv6_prefix", "cidr", "ip_address", "service"];

const IPV4: &str = "ipv4Prefix";
const IPV6: &str = "ipv6Prefix";

/// The key for a prefix.
fn key(prefix: IpNet) -> &'static str {
    match prefix {
        IpNet::V4(_) => IPV4,
        IpNet::V6(_) => IPV6,
    }
}

/// Returns true if a value looks like an entry of some publisher.
pub(super) fn may_be_entry(value: &RawValue) -> bool {
    value.get().starts_with('"')
        || slices::members(value, &NAMES).is_some_and(|members| {
            let [prefixes @ .., _service] = members.values;
            prefixes.iter().any(Option::is_some)
        })
}

impl<S: Strictness> Reader<'_, '_, S> {
    pub(super) fn entries(&mut self, prefixes: &RawValue) -> Option<()> {
        if !prefixes.get().starts_with('[') {
            return self.refuse(prefixes, "JAFAR-9", "`prefixes` is not an array");
        }
        self.each_item(prefixes, &mut |reader, raw| {
            if raw.get().starts_with('"') {
                let position = reader.at(raw);
                let message = r#"an entry must be an object: { "ipv4Prefix": … } or { "ipv6Prefix": … }"#;
                reader.diagnostics.lint_error(position, "JAFAR-20", message);
            }
            reader.entry_of_any_kind(raw)
        })
    }

    pub(super) fn entry_of_any_kind(&mut self, raw: &RawValue) -> Option<()> {
        match raw.get().as_bytes().first() {
            Some(b'{') => self.entry(raw),
            Some(b'"') => self.string_entry(raw),
            _ => self.lose(raw, "JAFAR-10", "the entry is not an object"),
        }
    }

    /// The form that Cloudflare publishes. An array of anything else needs a shape.
    pub(super) fn plain_array(&mut self, document: &RawValue) -> Option<()> {
        let position = self.at(document);
        self.diagnostics.lint_error(
            position,
            "JAFAR-1",
            r#"the file is an array; write an object with "formatVersion", "synctoken", "creationTime" and "prefixes""#,
        );
        let mut empty = true;
        self.each_item(document, &mut |reader, raw| {
            empty = false;
            if !raw.get().starts_with('"') {
                return reader.refuse_unknown(document, "not an array of strings in CIDR notation");
            }
            reader.string_entry(raw)
        })?;
        if empty {
            return self.refuse(document, "JAFAR-1", "an empty array is not a feed");
        }
        Some(())
    }

    fn string_entry(&mut self, raw: &RawValue) -> Option<()> {
        let Some(text) = slices::string(raw) else {
            return self.lose(raw, "JAFAR-11", "invalid Unicode escape");
        };
        match self.prefix(raw, &text) {
            Ok(prefix) => self.add(raw, prefix, None),
            Err(error) => self.lose(raw, "JAFAR-11", &format!("{}: {error}", Quoted(&text))),
        }
    }

    /// A prefix, or a bare address, which is a prefix of full length.
    fn prefix(&mut self, raw: &RawValue, text: &str) -> Result<IpNet, PrefixError> {
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

    fn entry(&mut self, entry: &RawValue) -> Option<()> {
        let Some(Members { values, repeated, misspelt }) = slices::members(entry, &NAMES) else {
            return self.lose(entry, "JAFAR-1", BAD_NAME);
        };
        if let Some((name, again)) = NAMES.iter().zip(repeated).find_map(|(name, again)| Some((name, again?)))
        {
            let message = format!("duplicate key `{name}`; the entry is ignored");
            return self.lose(again, "JAFAR-10", &message);
        }
        let [v4, v6, deployed_v4, deployed_v6, cidr, address, service] = values;
        // Beside the keys of the format, the others are the publisher's own.
        let (raw, family) = match (v4, v6, deployed_v4, deployed_v6, cidr.or(address)) {
            (Some(raw), None, None, None, _) | (None, None, Some(raw), None, _) => (raw, Some(IPV4)),
            (None, Some(raw), None, None, _) | (None, None, None, Some(raw), _) => (raw, Some(IPV6)),
            (None, None, None, None, Some(raw)) => (raw, None),
            (None, None, None, None, None) => {
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
        let name = match family {
            Some(family) => family,
            None if cidr.is_some() => "cidr",
            None => "ip_address",
        };
        let Some(text) = slices::string(raw) else {
            let requirement = if raw.get() == "null" { "JAFAR-10" } else { "JAFAR-11" };
            return self.lose(raw, requirement, &format!("`{name}` is not a string"));
        };
        let prefix = match self.prefix(raw, &text) {
            Ok(prefix) if family.is_none_or(|family| family == key(prefix)) => prefix,
            Ok(_) => {
                let message = format!("`{name}`: {} is of the other address family", Quoted(&text));
                return self.lose(raw, "JAFAR-11", &message);
            }
            Err(error) => {
                return self.lose(raw, "JAFAR-11", &format!("`{name}`: {}: {error}", Quoted(&text)));
            }
        };
        if v4.or(v6).is_none() {
            let position = self.at(raw);
            self.diagnostics.lint_error(position, "JAFAR-20", format_args!("use the key `{}`", key(prefix)));
        }
        let service = service.and_then(|raw| self.service(raw));
        self.add(raw, prefix, service)
    }

    /// The service. If it cannot be read, the prefix still verifies agents that are not limited to services.
    fn service<'r>(&mut self, raw: &'r RawValue) -> Option<Cow<'r, str>> {
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

    fn add(&mut self, raw: &RawValue, prefix: IpNet, service: Option<Cow<'_, str>>) -> Option<()> {
        let Self { places, builder, diagnostics, service: outer, .. } = self;
        let mut position = || places.position_of(raw.get().as_bytes());
        let Some(value) = builder.range(service.as_deref().or(outer.as_deref())) else {
            return self.lose(raw, "JAFAR-12", "more services than can be counted");
        };
        match builder.add(prefix, value, &mut position, diagnostics)? {
            Added::New | Added::Refused => {}
            Added::Duplicate(first) if first.value == value => {
                diagnostics.lint_warning(position(), "JAFAR-18", format_args!("{prefix} is a duplicate"));
            }
            // Amazon lists a prefix of EC2 for AMAZON and again for EC2.
            Added::Duplicate(first) => builder.add_value(first, value, &mut position, diagnostics)?,
        }
        Some(())
    }
}
