//! The readers of tables of autonomous systems, packed or not. The first byte chooses the format.
#![no_main]

use crawlpike_core::internals::{Diagnostics, FeedBounds, Load, ReadOptions, read_feed};
use crawlpike_core::{FeedFormat, TableFormat};
use crawlpike_files::read_table;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let format = TableFormat::ALL[usize::from(*choice) % TableFormat::ALL.len()];
    let bounds = FeedBounds { bytes: 1 << 20, entries: 500, ..FeedBounds::default() };
    let options = ReadOptions { bounds, tables: Some(read_table), ..ReadOptions::default() };
    let mut diagnostics = Diagnostics::new("t", Load);
    let feed = read_feed(FeedFormat::Table(format), bytes.into(), &options, &mut diagnostics);
    assert_eq!(feed.is_none(), diagnostics.has_errors(), "{diagnostics:?}");
    let Some(feed) = feed else { return };
    assert!(feed.entries.len() <= bounds.entries);
    assert!(feed.entries.iter().all(|(_, system)| (system as usize) < feed.systems.len()));
    for system in &feed.systems {
        assert!(![0, 65_535, u32::MAX].contains(&system.asn));
        let is_plain = |character: char| !character.is_control() && !['"', '\\'].contains(&character);
        assert!(system.name.as_ref().is_none_or(|name| name.chars().all(is_plain) && name.chars().count() <= 128));
    }
});
