//! Reading a feed: its bounds, its text, and the reader of its format.

use alloc::format;

use ipnet::IpNet;

use crate::feed::build::FeedBuilder;
use crate::feed::jafar::Shape;
use crate::feed::table::{self, TableReader};
use crate::feed::{Feed, FeedFormat, cidr, geofeed, jafar};
use crate::json::typed::json_object;
use crate::source::byte_order_mark::without_byte_order_mark;
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::pages::Source;
use crate::source::text::Expected;

json_object! {
    /// The limits on the cost of one feed. A feed over `bytes`, `entries` or `nesting` is unusable; a line over `line`
    /// is lost.
    pub struct FeedBounds {
        /// The size of the source in bytes; default 256 MiB.
        pub bytes: usize = { FeedBounds::default().bytes },
        /// The number of distinct prefixes; default 4 million, four times the IPv4 routes of the whole Internet.
        pub entries: usize = { FeedBounds::default().entries },
        /// The length of a line in bytes, or of a CSV record that spans several; default 64 KiB.
        pub line: usize = { FeedBounds::default().line },
        /// The depth to which JSON arrays and objects may be nested; default 64. The format itself needs 3.
        pub nesting: usize = { FeedBounds::default().nesting },
    }
}

impl Copy for FeedBounds {}

impl Default for FeedBounds {
    fn default() -> Self {
        Self { bytes: 256 << 20, entries: 4_000_000, line: 64 << 10, nesting: 64 }
    }
}

/// The way to read a feed. The type of the [`Diagnostics`] says how strictly.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions<'a> {
    /// The limits on the cost.
    pub bounds: FeedBounds,
    /// The prefixes for which the publisher may speak (RFC 8805 3.2); entries outside are ignored. Empty: all.
    pub authority: &'a [IpNet],
    /// True if the feed comes from a URL: its publisher cannot claim special-purpose addresses, so entries with them are
    /// left out.
    pub is_published: bool,
    /// The paths of the prefixes in JSON; `None` if the file has the shape of the format or of a known publisher.
    pub shape: Option<&'a Shape>,
    /// Reads tables of autonomous systems.
    pub tables: Option<TableReader>,
}

/// Returns true if the file is JSON as publishers deployed it before there was a specification, so that it does not
/// claim to conform to one.
pub(crate) fn is_of_a_deployed_shape(format: FeedFormat, bytes: &[u8]) -> bool {
    format == FeedFormat::Jafar
        && core::str::from_utf8(without_byte_order_mark(bytes))
            .is_ok_and(|text| !jafar::claims_the_specified_format(text))
}

/// Reads a feed.
///
/// `None` when it is unusable; then `diagnostics` has an error that says why. Entries that can't be used are left out,
/// each with a diagnostic; a feed that has entries but not one readable is unusable, because taking it for an empty
/// one would turn every client of its publisher into an impostor.
///
/// ```
/// use crawlpike_core::internals::{Diagnostics, Load, ReadOptions, read_feed};
/// use crawlpike_core::FeedFormat;
///
/// let mut diagnostics = Diagnostics::new("partners.txt", Load);
/// let source = b"192.0.2.0/24\n192.0.2.300\n";
/// let feed = read_feed(FeedFormat::Cidr, source[..].into(), &ReadOptions::default(), &mut diagnostics);
/// assert_eq!(feed.map(|feed| feed.entries.len()), Some(1));
/// assert_eq!(
///     diagnostics.items()[0].to_string(),
///     r#"partners.txt:2:1: warning: "192.0.2.300": not an IP address"#
/// );
/// ```
pub fn read<S: Strictness>(
    format: FeedFormat,
    source: Source<'_>,
    options: &ReadOptions<'_>,
    diagnostics: &mut Diagnostics<S>,
) -> Option<Feed> {
    let expected = match format {
        FeedFormat::Jafar => Expected { what: "JSON", requirement: Some("JAFAR-1") },
        FeedFormat::Geofeed => Expected { what: "CSV", requirement: Some("GEO-1") },
        FeedFormat::Cidr => Expected { what: "a list of prefixes", requirement: None },
        FeedFormat::Table(_) => Expected { what: "a table of autonomous systems", requirement: None },
    };
    let (length, most) = (source.length(), options.bounds.bytes);
    if usize::try_from(length).map_or(true, |length| length > most) {
        let message = format!("the file has {length} bytes; the limit is {most}");
        diagnostics.error(None, expected.requirement, message);
        return None;
    }
    let entries = match source {
        // All prefixes have a slash; bare addresses make the collections grow.
        Source::Bytes(bytes) => bytes.iter().filter(|byte| **byte == b'/').count(),
        Source::Pages(_) => 0,
    };
    let mut builder = FeedBuilder::new(format, options, entries);
    match format {
        FeedFormat::Jafar => jafar::read(source, expected, options.shape, &mut builder, diagnostics),
        FeedFormat::Geofeed => geofeed::read(source, expected, &mut builder, diagnostics),
        FeedFormat::Cidr => cidr::read(source, expected, &mut builder, diagnostics),
        // A Wasm filter has no reader, and no room for the code around one: documents with tables are refused before.
        FeedFormat::Table(_) if cfg!(target_family = "wasm") => None,
        FeedFormat::Table(format) => {
            return table::read(format, source, options, expected, builder, diagnostics);
        }
    }?;
    builder.finish(expected, diagnostics)
}
