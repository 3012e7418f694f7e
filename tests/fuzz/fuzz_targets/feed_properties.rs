//! Properties of every feed, for any bytes.

use std::collections::HashSet;

use crawlpike_core::{FeedFormat, Pages, Shape, Source};
use crawlpike_core::internals::{Diagnostics, FeedBounds, FeedValue, LenientLint, Lint, Load, ReadOptions, read_feed, unmap};

/// Reads `bytes` as an edge and as a publisher would, and checks what every caller relies on.
pub fn check(format: FeedFormat, shape: Option<&Shape>, bytes: &[u8]) {
    let bounds = FeedBounds { bytes: 1 << 20, entries: 200, line: 200, nesting: 16 };
    let options = ReadOptions { bounds, shape, ..ReadOptions::default() };
    let mut load = Diagnostics::new("f", Load);
    let mut lint = Diagnostics::new("f", Lint);
    let feed = read_feed(format, bytes.into(), &options, &mut load);
    let linted = read_feed(format, bytes.into(), &options, &mut lint);

    assert_eq!(feed.is_none(), load.has_errors(), "unusable means an error, and an error unusable: {load:?}");
    assert!(linted.is_some() || lint.has_errors());
    assert!(load.errors() + load.warnings() <= lint.errors() + lint.warnings() + 1, "lint says more");
    let lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r')).count();
    for position in load.items().iter().chain(lint.items()).filter_map(|item| item.position) {
        assert!((1..=lines).contains(&(position.line as usize)), "{position:?}");
        assert!((1..=bytes.len() + 1).contains(&(position.column as usize)), "{position:?}");
    }
    let paged = Paged(bytes);
    let mut again = Diagnostics::new("f", Load);
    assert_eq!(read_feed(format, Source::Pages(&paged), &options, &mut again), feed, "as if it were in memory");
    // A feed that is refused because of one place is read up to there.
    match &feed {
        Some(_) => assert_eq!(again.items(), load.items()),
        None => assert!(again.has_errors()),
    }
    let mut lenient = Diagnostics::new("f", LenientLint);
    let reviewed = read_feed(format, bytes.into(), &options, &mut lenient);
    assert_eq!((&reviewed, lenient.has_errors()), (&feed, feed.is_none()), "no error where it can be loaded");
    let Some(feed) = feed else { return };
    assert_eq!(linted.as_ref(), Some(&feed), "lint reads the same");
    assert!(feed.entries.len() <= bounds.entries);
    let mut seen = HashSet::new();
    for (prefix, value) in feed.entries.iter() {
        assert!(seen.insert(prefix), "{prefix} twice");
        assert_eq!((prefix.trunc(), unmap(prefix)), (prefix, prefix));
        assert!((value as usize) < feed.values.len());
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

/// Bytes that come one at a time.
struct Paged<'a>(&'a [u8]);

impl Pages for Paged<'_> {
    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, String> {
        match (self.0.get(offset as usize), buffer.first_mut()) {
            (Some(byte), Some(place)) => *place = *byte,
            _ => return Ok(0),
        }
        Ok(1)
    }
}
