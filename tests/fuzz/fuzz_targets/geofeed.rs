//! The reader of geofeeds.
#![no_main]

#[path = "feed_properties.rs"]
mod feed_properties;

use crawlpike_core::FeedFormat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| feed_properties::check(FeedFormat::Geofeed, None, bytes));
