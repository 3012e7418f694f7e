//! Self-published IP geolocation feeds (RFC 8805): where prefixes are used, as CSV.
//!
//! `prefix,alpha2code,region,city,postal_code`, comments from `#` to the end of the line. The postal code is never
//! kept: it is deprecated, and finer than anything that is decided here (RFC 8805 4).

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::HashMap;
use ipnet::IpNet;

use crate::csv::{Field, Record, Records, Unquoter};
use crate::diagnostic::{Diagnostics, Locator, Position, Quoted};
use crate::feed::{Added, FeedBuilder, FeedValue};
use crate::prefix::{parse_prefix_or_address, unmap};
use crate::source_text::BYTE_ORDER_MARK;

/// The number of fields of an entry (section 2.1).
const FIELDS: usize = 5;

/// Says that a prefix has no location, as blank fields do (section 2.1.2).
const NOWHERE: [u8; 2] = *b"ZZ";

/// Reads the feed into `builder`; `None` after an error.
pub(crate) fn read(text: &str, builder: FeedBuilder, diagnostics: &mut Diagnostics) -> Option<FeedBuilder> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let records = Records::new(text, builder.bounds.line);
    let locator = Locator::new(text.as_bytes());
    let (unquoter, places) = (Unquoter::new(), HashMap::new());
    let mut reader = Reader { locator, builder, diagnostics, unquoter, places };
    for record in records {
        reader.record(record)?;
    }
    Some(reader.builder)
}

struct Reader<'a, 'd> {
    locator: Locator<'a>,
    builder: FeedBuilder,
    diagnostics: &'d mut Diagnostics,
    unquoter: Unquoter,
    /// What the text after the prefix means, where there is nothing to report about it: a feed of a million entries
    /// names a few thousand places.
    places: HashMap<&'a str, u32>,
}

impl<'a> Reader<'a, '_> {
    fn record(&mut self, record: Record<'a>) -> Option<()> {
        match record {
            Record::Plain(text) => {
                let (prefix, place) = match text.split_once(',') {
                    Some((prefix, place)) => (prefix, Some(place)),
                    None => (text, None),
                };
                if let Some(value) = place.and_then(|place| self.places.get(place)).copied() {
                    let source = Field::plain(prefix);
                    let prefix = self.prefix(&source);
                    return self.add(&source, prefix, Some(value));
                }
                let fields: Vec<Field<'a>> = text.split(',').map(Field::plain).collect();
                self.entry(&fields, place)
            }
            Record::Quoted(text) => {
                let fields = self.unquoter.fields(text);
                self.entry(&fields, None)
            }
            Record::TooLong(line) => {
                let message = format!("the line is over {} bytes long", self.builder.bounds.line);
                self.lose(line, "GEO-3", message);
                self.builder.unreadable();
                Some(())
            }
            Record::Unclosed(line) => {
                let message = format!(
                    "a record with quotes that does not end within {} bytes: is the closing quote missing?",
                    self.builder.bounds.line
                );
                self.lose(line, "GEO-3", message);
                self.builder.unreadable();
                Some(())
            }
        }
    }

    /// Reads an entry; what its fields after the prefix mean is remembered for the text `place`.
    fn entry(&mut self, fields: &[Field<'a>], place: Option<&'a str>) -> Option<()> {
        let (Some(source), Some(last)) = (fields.first(), fields.last()) else { return Some(()) };
        let prefix = self.prefix(source);
        let reported = self.reported();
        let value = self.place(fields);
        let count = fields.len();
        if count != FIELDS {
            let requirement = if count < FIELDS { "GEO-14" } else { "GEO-13" };
            let position = self.at(last.source);
            let message =
                format!("{count} fields instead of {FIELDS}: prefix,alpha2code,region,city,postal_code");
            self.diagnostics.lint_warning(position, requirement, message);
        }
        if let (Some(place), Some(value), true) = (place, value, reported == self.reported()) {
            self.places.insert(place, value);
        }
        self.add(source, prefix, value)
    }

    fn add(&mut self, source: &Field<'a>, prefix: Option<IpNet>, value: Option<u32>) -> Option<()> {
        let (Some(prefix), Some(value)) = (prefix, value) else {
            self.builder.unreadable();
            return Some(());
        };
        let Self { locator, builder, diagnostics, .. } = self;
        let mut position = || locator.position_of(source.source.as_bytes());
        if let Added::Duplicate(_) = builder.add(prefix, value, &mut position, diagnostics)? {
            let message = format!("{prefix} is here before: the first entry counts");
            diagnostics.lost(position(), "GEO-10", message);
        }
        Some(())
    }

    fn prefix(&mut self, field: &Field<'a>) -> Option<IpNet> {
        if field.text.is_empty() {
            self.lose(field.source, "GEO-4", "no prefix: the first field is needed".into());
            return None;
        }
        match parse_prefix_or_address(&field.text) {
            Ok(prefix) => {
                if is_private(prefix) {
                    let position = self.at(field.source);
                    let message = format!("{prefix} is private: it means another place to each reader");
                    self.diagnostics.lint_error(position, "GEO-18", message);
                }
                Some(prefix)
            }
            Err(error) => {
                self.lose(field.source, "GEO-4", format!("{}: {error}", Quoted(&field.text)));
                None
            }
        }
    }

    /// The index of the place that the fields after the prefix name; `None` if one of them is bad.
    fn place(&mut self, fields: &[Field<'a>]) -> Option<u32> {
        let country = self.country(fields.get(1));
        let region = self.region(fields.get(2));
        let city = fields.get(3).and_then(|field| self.city(field));
        let (country, region) = (country?, region?);
        let country = match (country, &region) {
            (Some(country), Some(region)) if !region.as_bytes().starts_with(&country) => {
                let country = String::from_utf8_lossy(&country);
                let message = format!("the region {region} is not in {country}");
                self.lose(fields.get(2)?.source, "GEO-7", message);
                return None;
            }
            (None, Some(region)) => {
                let position = self.at(fields.get(1)?.source);
                let message = format!("no alpha2code beside the region {region}: write it");
                self.diagnostics.lint_warning(position, "GEO-7", message);
                region.as_bytes().first_chunk().copied()
            }
            (country, _) => country,
        };
        let place = if country == Some(NOWHERE) {
            FeedValue::Place { country: None, region: None, city: None }
        } else {
            FeedValue::Place { country, region, city }
        };
        Some(self.builder.value(place))
    }

    /// `Some(None)` for a blank field, `None` for a bad one.
    #[expect(clippy::option_option, reason = "bad and blank are two things")]
    fn country(&mut self, field: Option<&Field<'a>>) -> Option<Option<[u8; 2]>> {
        let Some(field) = field.filter(|field| !field.text.is_empty()) else { return Some(None) };
        let code: Option<[u8; 2]> = field.text.to_ascii_uppercase().into_bytes().try_into().ok();
        match code {
            Some(code) if code.iter().all(u8::is_ascii_uppercase) => Some(Some(code)),
            _ => {
                let message = format!("{} is not an ISO 3166-1 code of two letters", Quoted(&field.text));
                self.lose(field.source, "GEO-6", message);
                None
            }
        }
    }

    /// `Some(None)` for a blank field, `None` for a bad one.
    #[expect(clippy::option_option, reason = "bad and blank are two things")]
    fn region(&mut self, field: Option<&Field<'a>>) -> Option<Option<Box<str>>> {
        let Some(field) = field.filter(|field| !field.text.is_empty()) else { return Some(None) };
        if is_region(&field.text) {
            return Some(Some(field.text.to_ascii_uppercase().into()));
        }
        let message = format!("{} is not an ISO 3166-2 code such as US-CA", Quoted(&field.text));
        self.lose(field.source, "GEO-7", message);
        None
    }

    /// The city, fit for headers and logs: a quoted field may hold line ends.
    fn city(&mut self, field: &Field<'a>) -> Option<Box<str>> {
        if field.text.is_empty() {
            return None;
        }
        if field.text.contains([',', '#']) || field.text.chars().any(char::is_control) {
            let position = self.at(field.source);
            let message = "a comma, `#` or control character in the city: simple readers stumble over it";
            self.diagnostics.lint_warning(position, "GEO-8", message);
        }
        Some(
            field
                .text
                .chars()
                .map(|character| if character.is_control() { ' ' } else { character })
                .collect(),
        )
    }

    /// How many diagnostics there are.
    fn reported(&self) -> usize {
        self.diagnostics.errors() + self.diagnostics.warnings()
    }

    fn at(&mut self, source: &'a str) -> Option<Position> {
        let text = source.trim_start();
        // A blank field stands where its comma does.
        self.locator.position_of(if text.is_empty() { source } else { text }.as_bytes())
    }

    fn lose(&mut self, source: &'a str, requirement: &'static str, message: String) {
        let position = self.at(source);
        self.diagnostics.lost(position, requirement, message);
    }
}

/// Two letters, a dash, one to three letters or digits (ISO 3166-2).
pub(crate) fn is_region(text: &str) -> bool {
    text.split_once('-').is_some_and(|(country, subdivision)| {
        country.len() == 2
            && country.bytes().all(|byte| byte.is_ascii_alphabetic())
            && (1..=3).contains(&subdivision.len())
            && subdivision.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Whether all of the prefix is for private use (RFC 1918, RFC 4193).
fn is_private(prefix: IpNet) -> bool {
    match unmap(prefix) {
        IpNet::V4(net) => net.network().is_private() && net.broadcast().is_private(),
        IpNet::V6(net) => net.network().is_unique_local() && net.broadcast().is_unique_local(),
    }
}

#[cfg(test)]
#[path = "geofeed_tests.rs"]
mod tests;
