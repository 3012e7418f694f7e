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

use crate::feed::FeedValue;
use crate::feed::build::{Added, FeedBuilder};
use crate::feed::csv::{Field, Record, Records, Unquoter};
use crate::feed::prefix::{parse_prefix, unmap};
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::lines::Lines;
use crate::source::pages::Source;
use crate::source::parts::each_part;
use crate::source::position::{Locator, Position};
use crate::source::quoted::Quoted;
use crate::source::text::Expected;
use countries::Code;

mod countries;

/// The number of fields of an entry (section 2.1).
const FIELDS: usize = 5;

/// Means no location, like blank fields (section 2.1.2).
const NOWHERE: [u8; 2] = *b"ZZ";

/// The most texts of places that are remembered. More would take more memory than they spare time.
const REMEMBERED: usize = 1 << 14;

/// Reads the feed into `builder`; `None` after an error.
pub(crate) fn read<S: Strictness>(
    source: Source<'_>,
    expected: Expected,
    builder: &mut FeedBuilder,
    diagnostics: &mut Diagnostics<S>,
) -> Option<()> {
    let (mut unquoter, mut places, mut is_inside) = (Unquoter::new(), HashMap::new(), false);
    let longest = builder.bounds.line;
    let least = longest.saturating_add(2);
    each_part(source, expected, least, diagnostics, &mut |part, diagnostics| {
        let lines = Lines::new(part.text, part.is_last, is_inside);
        let mut records = Records::of_part(lines, longest);
        let (unquoter, places) = (&mut unquoter, &mut places);
        let mut reader = Reader { locator: part.locator, builder, diagnostics, unquoter, places };
        for record in records.by_ref() {
            reader.record(record)?;
        }
        let lines = records.into_lines();
        is_inside = lines.is_inside();
        Some(part.text.len() - lines.rest().len())
    })
}

struct Reader<'a, 'd, S> {
    locator: Locator<'a>,
    builder: &'d mut FeedBuilder,
    diagnostics: &'d mut Diagnostics<S>,
    unquoter: &'d mut Unquoter,
    /// The value for each text after a prefix that needs no diagnostic. A feed with a million entries has a few thousand
    /// locations.
    places: &'d mut HashMap<Box<str>, u32>,
}

impl<'a, S: Strictness> Reader<'a, '_, S> {
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
            Record::Quoted(text) => match self.unquoter.fields(text) {
                Some(fields) => self.entry(&fields, None),
                None => {
                    self.lose(text, "GEO-3", "cannot split the record into fields".into());
                    self.builder.unreadable();
                    Some(())
                }
            },
            Record::TooLong(line) => {
                let message = format!("the line is longer than {} bytes", self.builder.bounds.line);
                self.lose(line, "GEO-3", message);
                self.builder.unreadable();
                Some(())
            }
            Record::Unclosed(line) => {
                let message = format!(
                    "a quoted record does not end within {} bytes; check for a missing closing quote",
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
                format_args!("{count} fields, expected {FIELDS}: prefix,alpha2code,region,city,postal_code");
            self.diagnostics.lint_warning(position, requirement, message);
        }
        if let (Some(place), Some(value), true) = (place, value, reported == self.reported())
            && self.places.len() < REMEMBERED
        {
            self.places.insert(place.into(), value);
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
            let message = format!("{prefix} is a duplicate; the first entry counts");
            diagnostics.lost(position(), "GEO-10", message);
        }
        Some(())
    }

    fn prefix(&mut self, field: &Field<'a>) -> Option<IpNet> {
        if field.text.is_empty() {
            self.lose(
                field.source,
                "GEO-4",
                "the first field is empty; it must be a prefix or an address".into(),
            );
            return None;
        }
        match parse_prefix(&field.text) {
            Ok(prefix) => {
                if is_private(prefix) {
                    let position = self.at(field.source);
                    let message = format_args!("{prefix} is private address space; remove it");
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
                let message = format_args!("the region {region} has no alpha2code; add it");
                self.diagnostics.lint_warning(position, "GEO-7", message);
                let country = region.as_bytes().first_chunk().copied();
                country.into_iter().for_each(|code| self.check_country(code, fields.get(2)));
                country
            }
            (country, _) => country,
        };
        let place = if country == Some(NOWHERE) {
            FeedValue::Place { country: None, region: None, city: None }
        } else {
            FeedValue::Place { country, region, city }
        };
        self.builder.value(place)
    }

    /// `Some(None)` for a blank field, `None` for a bad one.
    #[expect(clippy::option_option, reason = "a bad field differs from a blank one")]
    fn country(&mut self, field: Option<&Field<'a>>) -> Option<Option<[u8; 2]>> {
        let Some(field) = field.filter(|field| !field.text.is_empty()) else { return Some(None) };
        let code: Option<[u8; 2]> = field.text.to_ascii_uppercase().into_bytes().try_into().ok();
        match code {
            Some(code) if code.iter().all(u8::is_ascii_uppercase) => {
                self.check_country(code, Some(field));
                Some(Some(code))
            }
            _ => {
                let message = format!("{} is not a two-letter ISO 3166-1 code", Quoted(&field.text));
                self.lose(field.source, "GEO-6", message);
                None
            }
        }
    }

    /// Warns of a code that other readers do not take for a country.
    fn check_country(&mut self, code: [u8; 2], field: Option<&Field<'a>>) {
        let shown = String::from_utf8_lossy(&code);
        let message = match Code::of(code) {
            Code::Known => return,
            Code::UnitedKingdom => "the ISO 3166-1 code of the United Kingdom is GB, not UK".into(),
            Code::PrivateUse => {
                format!("{shown} is for private use in ISO 3166-1; other readers do not know it")
            }
            Code::Unassigned => format!("{shown} is not assigned in ISO 3166-1"),
        };
        let position = field.and_then(|field| self.at(field.source));
        self.diagnostics.lint_warning(position, "GEO-6", message);
    }

    /// `Some(None)` for a blank field, `None` for a bad one.
    #[expect(clippy::option_option, reason = "a bad field differs from a blank one")]
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
            let message =
                "the city contains a comma, `#` or control character, which some parsers cannot read";
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

    /// The number of diagnostics.
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

/// Returns true if all of the prefix is for private use (RFC 1918, RFC 4193).
fn is_private(prefix: IpNet) -> bool {
    match unmap(prefix) {
        IpNet::V4(net) => net.network().is_private() && net.broadcast().is_private(),
        IpNet::V6(net) => net.network().is_unique_local() && net.broadcast().is_unique_local(),
    }
}

#[cfg(test)]
mod tests;
