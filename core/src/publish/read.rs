//! Reading the lists of a publisher.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use ipnet::IpNet;

use super::{Kind, Source, united};
use crate::feed::csv::{Field, Record, Records, Unquoter};
use crate::feed::prefix::unmap;
use crate::feed::{self, FeedBounds, FeedFormat, FeedValue, ReadOptions, cidr};
use crate::source::byte_order_mark::without_byte_order_mark;
use crate::source::diagnostic::{Diagnostic, Diagnostics, Load, Severity};
use crate::source::position::Locator;
use crate::source::quoted::Quoted;
use crate::source::text::{self, Expected};

type Entries = Vec<(IpNet, FeedValue)>;

/// The entries of a list.
pub(super) fn read(kind: Kind, source: &Source<'_>) -> Result<Entries, Vec<Diagnostic>> {
    let start = without_byte_order_mark(source.bytes).trim_ascii_start().first();
    let has_fields = has_fields(source.bytes);
    let format = match kind {
        Kind::Jafar if source.shape.is_some() || matches!(start, Some(b'{' | b'[')) => FeedFormat::Jafar,
        Kind::Jafar if has_fields => return services(source),
        Kind::Geofeed if has_fields => FeedFormat::Geofeed,
        Kind::Jafar | Kind::Geofeed => FeedFormat::Cidr,
    };
    let options = ReadOptions { shape: source.shape, ..ReadOptions::default() };
    let feed =
        whole(source.name, |diagnostics| feed::read(format, source.bytes.into(), &options, diagnostics))?;
    let fallback = fallback(kind, source, format)?;
    let value = |place: u32| usize::try_from(place).ok().and_then(|place| feed.values.get(place));
    let entries = feed.entries.iter().filter_map(|(prefix, place)| {
        let known = value(place)?;
        let is_silent = matches!(known, FeedValue::Range { services } if services.is_empty());
        Some((prefix, fallback.as_ref().filter(|_| is_silent).unwrap_or(known).clone()))
    });
    Ok(entries.collect())
}

/// The parts that are read without any loss.
fn whole<T>(name: &str, read: impl FnOnce(&mut Diagnostics) -> Option<T>) -> Result<T, Vec<Diagnostic>> {
    let mut diagnostics = Diagnostics::new(name, Load);
    let content = read(&mut diagnostics);
    let lost = diagnostics.into_items_by_position();
    match content {
        Some(content) if lost.is_empty() => Ok(content),
        _ => Err(lost.into_iter().map(|one| Diagnostic { severity: Severity::Error, ..one }).collect()),
    }
}

/// The meaning of entries that have none.
fn fallback(
    kind: Kind,
    source: &Source<'_>,
    format: FeedFormat,
) -> Result<Option<FeedValue>, Vec<Diagnostic>> {
    match (kind, source.meaning) {
        (Kind::Jafar, Some(service)) => Ok(Some(FeedValue::Range { services: vec![service.into()].into() })),
        (Kind::Jafar, None) => Ok(None),
        (Kind::Geofeed, _) if format == FeedFormat::Geofeed => Ok(None),
        (Kind::Geofeed, None) => {
            let message = "the list has no places; write them into the file, or use --place";
            Err(vec![Diagnostic::error(source.name, message)])
        }
        (Kind::Geofeed, Some(place)) => {
            let line = format!("192.0.2.0/24,{place}");
            let options = ReadOptions::default();
            let read = |diagnostics: &mut _| {
                feed::read(FeedFormat::Geofeed, line.as_bytes().into(), &options, diagnostics)
            };
            // The position would be that in the line.
            let no_position = |one| Diagnostic { position: None, ..one };
            let place = whole("--place", read);
            let place =
                place.map_err(|problems| problems.into_iter().map(no_position).collect::<Vec<_>>())?;
            Ok(place.values.into_iter().next())
        }
    }
}

/// Returns true if some line has fields, apart from its comment.
fn has_fields(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.any(|line| {
        let mut content = line.split(|byte| matches!(byte, b'#' | b';'));
        content.next().is_some_and(|content| content.contains(&b','))
    })
}

/// Reads `prefix,service`, with a heading or without.
fn services(source: &Source<'_>) -> Result<Entries, Vec<Diagnostic>> {
    whole(source.name, |diagnostics| {
        let expected = Expected { what: "CSV", requirement: None };
        let text = text::read(source.bytes, expected, diagnostics)?;
        let mut locator = Locator::new(text.as_bytes());
        let mut unquoter = Unquoter::new();
        let mut entries = Entries::new();
        for (number, record) in Records::new(text, FeedBounds::default().line).enumerate() {
            let (Record::Plain(line) | Record::Quoted(line) | Record::TooLong(line) | Record::Unclosed(line)) =
                record;
            let fields = match record {
                Record::Plain(line) => Some(line.split(',').map(Field::plain).collect()),
                Record::Quoted(line) => unquoter.fields(line),
                Record::TooLong(_) | Record::Unclosed(_) => None,
            };
            let read = match fields.as_deref() {
                Some([first, ..]) if number == 0 && first.text.eq_ignore_ascii_case("prefix") => continue,
                Some([prefix, rest @ ..]) if rest.len() <= 1 => entry(prefix, rest.first(), source.meaning),
                _ => Err("expected prefix,service".into()),
            };
            match read {
                Ok(read) => entries.extend(read),
                Err(problem) => diagnostics.lost(locator.position_of(line.as_bytes()), None, problem),
            }
        }
        Some(merged(entries))
    })
}

fn entry(prefix: &Field<'_>, service: Option<&Field<'_>>, meaning: Option<&str>) -> Result<Entries, String> {
    let prefixes = cidr::prefixes(&prefix.text)?;
    let stated = service.map(|service| &*service.text).filter(|service| !service.is_empty());
    if let Some(stated) = stated.filter(|stated| cidr::prefixes(stated).is_ok()) {
        return Err(format!("{} is an address, not a service; write one prefix a line", Quoted(stated)));
    }
    if let Some(stated) = stated.filter(|stated| stated.contains(';')) {
        return Err(format!("the service {} contains `;`; in CSV, `#` starts a comment", Quoted(stated)));
    }
    let service = stated.or(meaning);
    if let Some(service) = service.filter(|service| service.chars().any(char::is_control)) {
        return Err(format!("the service {} contains control characters", Quoted(service)));
    }
    let services: Box<[Box<str>]> = service.into_iter().map(Box::from).collect();
    Ok(prefixes
        .into_iter()
        .map(|prefix| (unmap(prefix), FeedValue::Range { services: services.clone() }))
        .collect())
}

/// Each prefix once, with all its services.
fn merged(entries: Entries) -> Entries {
    let mut known = alloc::collections::BTreeMap::<IpNet, Box<[Box<str>]>>::new();
    for (prefix, value) in entries {
        if let FeedValue::Range { services } = value {
            let all = known.entry(prefix).or_default();
            *all = united(all, &services);
        }
    }
    known.into_iter().map(|(prefix, services)| (prefix, FeedValue::Range { services })).collect()
}
