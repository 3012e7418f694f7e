//! The layouts of ipverse: a JSON object for each autonomous system, several of them, an array of them, or the CSV of names.

use std::borrow::Cow;

use crawlpike_core::{AsKind, TableBuilder};
use csv::{ByteRecord, ReaderBuilder};
use serde::Deserialize;

use super::number;

#[derive(Deserialize)]
struct System<'a> {
    asn: u32,
    #[serde(borrow)]
    metadata: Option<Metadata<'a>>,
    #[serde(borrow)]
    prefixes: Option<Prefixes<'a>>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow)]
    handle: Option<Cow<'a, str>>,
    #[serde(borrow)]
    description: Option<Cow<'a, str>>,
    #[serde(borrow)]
    category: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Prefixes<'a> {
    #[serde(borrow, default)]
    ipv4: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    ipv6: Vec<Cow<'a, str>>,
}

pub(super) fn read(bytes: &[u8], builder: &mut TableBuilder) -> Result<(), String> {
    let first = bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace());
    match first {
        Some(b'[') => {
            let systems: Vec<System<'_>> =
                serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
            systems.iter().try_for_each(|system| system.give(builder))
        }
        Some(b'{') => serde_json::Deserializer::from_slice(bytes)
            .into_iter::<System<'_>>()
            .try_for_each(|system| system.map_err(|error| error.to_string())?.give(builder)),
        _ => read_csv(bytes, builder),
    }
}

impl System<'_> {
    fn give(&self, builder: &mut TableBuilder) -> Result<(), String> {
        if let Some(Metadata { handle, description, category }) = &self.metadata {
            let name = [description, handle].into_iter().flatten().find(|name| !name.trim().is_empty());
            builder.system(self.asn, name.map(|name| &**name), category.as_deref().and_then(kind));
        }
        let Some(Prefixes { ipv4, ipv6 }) = &self.prefixes else { return Ok(()) };
        for text in ipv4.iter().chain(ipv6) {
            match text.parse() {
                Ok(prefix) => builder.prefix(prefix, self.asn)?,
                Err(_) => builder.unreadable(None, format!("{text:?} of AS{} is not a prefix", self.asn)),
            }
        }
        Ok(())
    }
}

/// The kind that a category of ipverse stands for.
fn kind(category: &str) -> Option<AsKind> {
    match category {
        "education_research" => Some(AsKind::Education),
        "government_admin" => Some(AsKind::Government),
        other => AsKind::from_word(other),
    }
}

/// `asn,handle,description,country-code`.
fn read_csv(bytes: &[u8], builder: &mut TableBuilder) -> Result<(), String> {
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(bytes);
    let names = reader.byte_headers().map_err(|error| error.to_string())?;
    if names.get(0) != Some(b"asn") {
        return Err("it is neither JSON nor CSV of ipverse: the first column is not `asn`".to_owned());
    }
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|error| error.to_string())? {
        let name = [2, 1].into_iter().filter_map(|place| record.get(place)).find(|name| !name.is_empty());
        match record.get(0).and_then(number) {
            Some(asn) => builder.system(asn, name.map(String::from_utf8_lossy).as_deref(), None),
            None => builder.unreadable(line(&record), "the first field is not the number of an AS"),
        }
    }
    Ok(())
}

/// The line of a record.
pub(super) fn line(record: &ByteRecord) -> Option<u32> {
    record.position().and_then(|position| u32::try_from(position.line()).ok())
}
