//! What holds for every feed, whatever the bytes.

use std::collections::HashSet;

use crawlward_core::diagnostic::{Diagnostics, Strictness};
use crawlward_core::feed::{FeedBounds, FeedFormat, FeedValue, ReadOptions, read};
use crawlward_core::prefix::unmap;

/// Reads `bytes` as an edge and as a publisher would, and checks what every caller relies on.
pub fn check(format: FeedFormat, bytes: &[u8]) {
    let bounds = FeedBounds { bytes: 1 << 20, entries: 200, line: 200, nesting: 16 };
    let options = ReadOptions { bounds, authority: &[] };
    let mut load = Diagnostics::new("f", Strictness::Load);
    let mut lint = Diagnostics::new("f", Strictness::Lint);
    let feed = read(format, bytes, &options, &mut load);
    let linted = read(format, bytes, &options, &mut lint);

    assert_eq!(feed.is_none(), load.has_errors(), "unusable means an error, and an error unusable: {load:?}");
    assert!(linted.is_some() || lint.has_errors());
    assert!(load.errors() + load.warnings() <= lint.errors() + lint.warnings() + 1, "lint says more");
    let lines = bytes.split(|byte| *byte == b'\n').count();
    for position in load.items().iter().chain(lint.items()).filter_map(|item| item.position) {
        assert!((1..=lines).contains(&(position.line as usize)), "{position:?}");
        assert!((1..=bytes.len() + 1).contains(&(position.column as usize)), "{position:?}");
    }
    let Some(feed) = feed else { return };
    assert_eq!(linted.as_ref(), Some(&feed), "lint reads the same");
    assert!(feed.entries.len() <= bounds.entries);
    let mut seen = HashSet::new();
    for (prefix, value) in &feed.entries {
        assert!(seen.insert(*prefix), "{prefix} twice");
        assert_eq!((prefix.trunc(), unmap(*prefix)), (*prefix, *prefix));
        assert!((*value as usize) < feed.values.len());
    }
    for value in &feed.values {
        if let FeedValue::Place { country, region, city } = value {
            assert!(country.is_none_or(|code| code.iter().all(u8::is_ascii_uppercase)));
            assert!(
                region.is_none()
                    || region.as_ref().map(|region| &region.as_bytes()[..2])
                        == country.as_ref().map(|code| &code[..])
            );
            assert!(!city.as_deref().unwrap_or_default().chars().any(char::is_control));
        }
    }
}
