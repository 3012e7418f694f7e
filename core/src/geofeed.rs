//! Self-published IP geolocation feeds (RFC 8805): where prefixes are used, as CSV.

use crate::diagnostic::Diagnostics;
use crate::feed::FeedBuilder;

/// Reads the feed into a builder; `None` after an error.
pub(crate) fn read(_text: &str, _builder: FeedBuilder, diagnostics: &mut Diagnostics) -> Option<FeedBuilder> {
    diagnostics.error(None, "GEO-3", "geofeeds are not read yet");
    None
}
