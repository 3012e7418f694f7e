//! The object that the specification describes, and what it says beside its prefixes.

use alloc::format;

use serde_json::value::RawValue;

use super::time::{is_utc, parse_time};
use super::{BAD_NAME, Reader, hint};
use crate::json::slices::{self, Members};
use crate::source::diagnostic::Strictness;
use crate::source::quoted::Quoted;

/// The major version of the format that this reader understands.
const MAJOR: u64 = 1;

impl<S: Strictness> Reader<'_, '_, S> {
    /// Reads an object. One without `prefixes` that does not claim to be of the format may be of another shape.
    pub(super) fn object(&mut self, document: &RawValue) -> Option<()> {
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
        let is_misspelt = misspelt.as_ref().is_some_and(|name| name.eq_ignore_ascii_case("prefixes"));
        if prefixes.is_none() && version.is_none() && token.is_none() && !is_misspelt {
            return self.deployed_object(document);
        }
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
    fn version(&mut self, document: &RawValue, version: Option<&RawValue>) -> Option<()> {
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

    fn sync_token(&mut self, document: &RawValue, token: Option<&RawValue>, deployed: Option<&RawValue>) {
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
        document: &RawValue,
        created: Option<&RawValue>,
        deployed: Option<&RawValue>,
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

    fn notes(&mut self, notes: Option<&RawValue>) {
        let Some(raw) = notes else { return };
        match slices::string(raw) {
            Some(notes) => self.builder.feed.notes = Some(notes.into()),
            None => {
                let position = self.at(raw);
                self.diagnostics.lint_error(position, "JAFAR-8", "`notes` is not a string");
            }
        }
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
