//! The reader of JSON IP-range feeds. An input may start with a line `shape PATHS`.
#![no_main]

#[path = "feed_properties.rs"]
mod feed_properties;

use crawlpike_core::{FeedFormat, Shape};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let line = input.iter().position(|byte| *byte == b'\n').and_then(|end| Some((input.get(..end)?, input.get(end + 1..)?)));
    let paths = line.and_then(|(line, rest)| Some((str::from_utf8(line).ok()?.strip_prefix("shape ")?, rest)));
    match paths.and_then(|(paths, rest)| Some((Shape::parse(paths).ok()?, rest))) {
        Some((shape, rest)) => feed_properties::check(FeedFormat::Jafar, Some(&shape), rest),
        None => feed_properties::check(FeedFormat::Jafar, None, input),
    }
});
