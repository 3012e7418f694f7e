//! A feed that is read piece by piece is the same feed as in memory, with the same messages.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::feed::{Feed, FeedFormat, ReadOptions, Shape, read};
use crate::source::diagnostic::{Diagnostics, Load};
use crate::source::pages::{Pages, Source};

/// Bytes that come in pieces of all lengths.
struct Pieces<'a>(&'a [u8]);

impl Pages for Pieces<'_> {
    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, String> {
        let rest = &self.0[usize::try_from(offset).unwrap()..];
        let count = (1 + usize::try_from(offset % 70_001).unwrap()).min(rest.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

fn same(format: FeedFormat, text: &[u8], options: &ReadOptions<'_>) -> (Option<Feed>, Vec<String>) {
    let read = |source| {
        let mut diagnostics = Diagnostics::new("f", Load);
        let feed = read(format, source, options, &mut diagnostics);
        (feed, diagnostics.into_items().iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let (whole, paged) = (read(text.into()), read(Source::Pages(&Pieces(text))));
    // A feed that is refused because of one place is not read in memory, and read up to there in pieces.
    let messages = |all: &Vec<String>| all[if whole.0.is_none() { all.len() - 1 } else { 0 }..].to_vec();
    assert_eq!(messages(&whole.1), messages(&paged.1));
    assert!(whole.0 == paged.0, "{format:?}");
    paged
}

/// A prefix for each number.
fn prefix(n: u32) -> String {
    match n % 3 {
        0 => format!("2001:db8:{:x}::/48", n & 0xffff),
        _ => format!("10.{}.{}.{}/32", n >> 16, n >> 8 & 255, n & 255),
    }
}

#[test]
fn a_list_in_pieces_is_the_list() {
    let lines = (0..16_000).map(|n| match n % 4_000 {
        0 => "# a comment\r\n\r\n".to_string(),
        1 => format!("{} ; {}\r", prefix(n), "x".repeat(70_000)),
        2 => format!("#{}\n", "y".repeat(300_000)),
        3 => format!("{}\n", "zż".repeat(100_000)),
        4 => "oops\r\n".into(),
        5 => format!("{}\n", prefix(n - 4_000.min(n))),
        _ => format!("{}\r\n", prefix(n)),
    });
    let text: String = lines.collect();
    let (feed, messages) = same(FeedFormat::Cidr, text.as_bytes(), &ReadOptions::default());
    let feed = feed.unwrap();
    assert!(
        feed.entries.len() > 15_000 && feed.unreadable == 12,
        "{} {}",
        feed.entries.len(),
        feed.unreadable
    );
    assert!(messages.iter().any(|message| message.contains("longer than 65536 bytes")), "{messages:?}");
    for cut in 0..6 {
        let text = &text.as_bytes()[..text.len() - cut * 112_345];
        same(FeedFormat::Cidr, text, &ReadOptions::default());
    }
    let mut broken = text.into_bytes();
    broken.splice(800_000..800_000, [0xff]);
    assert_eq!(same(FeedFormat::Cidr, &broken, &ReadOptions::default()).0, None);
    for start in
        [&b"\xef\xbb\xbf192.0.2.1\n"[..], b"\xef\xbb1", b"\xff\xfe1\0", b" \n<html>", b"", b"\xef\xbb\xbf"]
    {
        same(FeedFormat::Cidr, start, &ReadOptions::default());
    }
}

#[test]
fn geo_3_a_geofeed_in_pieces_is_the_geofeed() {
    // GEO-3
    let records = (0..16_000).map(|n| match n % 4_000 {
        0 => format!("{},\"US\",\"US-AL\",\"Foo, \"\"\n{}\"\"\", # rest\r\n", prefix(n), "x".repeat(60_000)),
        1 => format!("\"{},never closed\n", prefix(n)),
        2 => format!("{},PL,,{},\n", prefix(n), "ż".repeat(40_000)),
        3 => "192.0.2.1,USA,,,\r".into(),
        4 => format!("# {}\n", "y".repeat(300_000)),
        _ if !n.is_multiple_of(5) => format!("{},PL,PL-{:02},\"Two\nlines\",\n", prefix(n), n % 17),
        _ => format!("{},PL,PL-{:02},City {},\r\n", prefix(n), n % 17, n % 1000),
    });
    let text: String = records.collect();
    let (feed, _) = same(FeedFormat::Geofeed, text.as_bytes(), &ReadOptions::default());
    assert!(feed.unwrap().entries.len() > 15_000);
    // A part ends inside of a quoted record.
    for cut in (0..40).step_by(3) {
        let before = "# y\n".repeat((256 << 10) / 4 - 50) + &"#".repeat(200 - cut);
        let text = format!(
            "{before}\n\"192.0.2.0/24\",PL,,\"Two\nlines\",\n{}",
            "198.51.100.0/24,PL,,,\n".repeat(9)
        );
        let (feed, messages) = same(FeedFormat::Geofeed, text.as_bytes(), &ReadOptions::default());
        assert_eq!(feed.map(|feed| feed.entries.len()), Some(2), "{messages:?}");
    }
    for cut in 0..6 {
        same(FeedFormat::Geofeed, &text.as_bytes()[..text.len() - cut * 154_321], &ReadOptions::default());
    }
}

#[test]
fn jafar_20_json_in_pieces_is_the_json() {
    // JAFAR-20
    let entry = |n: u32| match n % 4_000 {
        7 => "{\"service\": \"żółw\", \"ipv4Prefix\": 7}".to_string(),
        8 => format!("{{\"ipv4Prefix\": \"10.0.0.{}/24\"}}", n / 4_000 + 1),
        _ if n.is_multiple_of(3) => {
            format!("{{\"ipv6Prefix\": \"{}\",\r\n \"service\": \"s{}\"}}", prefix(n), n % 50)
        }
        _ if n.is_multiple_of(5) => {
            format!("{{\"ipv4Prefix\": \"{}\", \"service\": \"[a]}},{{\"}}", prefix(n))
        }
        _ => format!("{{\"ipv4Prefix\": \"{}\", \"service\": \"s\\u0061\"}}", prefix(n)),
    };
    let entries = (0..12_000).map(entry).collect::<Vec<_>>().join(",\n  ");
    let strings = (0..12_000).map(|n| format!("\"{}\"", prefix(n))).collect::<Vec<_>>().join(", ");
    let google = format!("\u{feff}{{\"prefixes\": [{entries}], \"creationTime\": \"2026-11-22T00:00:00Z\"}}");
    let azure = format!(
        "{{\"values\": [{{\"properties\": {{\"addressPrefixes\": [{strings}]}}, \"name\": \"a\"}}, \
         {{\"name\": \"b\", \"properties\": {{\"addressPrefixes\": [{strings}]}}}}]}}"
    );
    let plain = format!("[{strings}]");
    for text in [&google, &azure, &plain] {
        let (feed, _) = same(FeedFormat::Jafar, text.as_bytes(), &ReadOptions::default());
        assert!(feed.unwrap().entries.len() > 10_000);
        for cut in 1..5 {
            let text = &text.as_bytes()[..text.len() - cut * 40_321];
            let read = |source| {
                let mut diagnostics = Diagnostics::new("f", Load);
                read(FeedFormat::Jafar, source, &ReadOptions::default(), &mut diagnostics)
            };
            assert!(read(text.into()).is_none() && read(Source::Pages(&Pieces(text))).is_none());
        }
    }
    // Wherever the parts end, a comma too many is at the end of one.
    for count in 120..140 {
        let text = format!("[{}]", format!("\"192.0.2.1\"{},", " ".repeat(1000)).repeat(count));
        assert_eq!(same(FeedFormat::Jafar, text.as_bytes(), &ReadOptions::default()).0, None);
    }
    let page = format!("<html><pre>{google}</pre>");
    let html = Shape::parse("html").unwrap();
    let of_page = ReadOptions { shape: Some(&html), ..ReadOptions::default() };
    assert!(same(FeedFormat::Jafar, page.as_bytes(), &of_page).0.is_some());
    let behind_entries = google.replace("2026-11-22T", "2026-22-11T");
    let (_, messages) = same(FeedFormat::Jafar, behind_entries.as_bytes(), &ReadOptions::default());
    assert!(messages.iter().any(|message| message.contains("invalid time")), "{messages:?}");
    let shape = Shape::parse("x.*[]").unwrap();
    let options = ReadOptions { shape: Some(&shape), ..ReadOptions::default() };
    let text = format!("{{\"x\": {{\"EU\": [{strings}], \"date\": 5, \"US\": [\"192.0.2.0/24\"]}}}}");
    assert!(same(FeedFormat::Jafar, text.as_bytes(), &options).0.is_some());
    for text in [
        "{\"prefixes\": [{\"ipv4Prefix\": \"192.0.2.0/24\"}]}",
        "{\"Action needed\": \"update\"}",
        &format!("[{strings},]"),
        &format!("[{strings}, nothing, {strings}]"),
        "[]",
        "<html>",
        "[1",
        "",
        "{\"items\": [{\"x\": [\"192.0.2.0/24\"]}]}",
    ] {
        same(FeedFormat::Jafar, text.as_bytes(), &ReadOptions::default());
    }
}

#[test]
fn what_looks_like_another_encoding_does_so_in_pieces_as_well() {
    // Behind a byte order mark, or a part of one, every other byte is zero.
    for start in [&b"\xEF\x08\0]\0"[..], b"\xEF\xBB\xBF1\x009\0", b"\xEF\xBB\0#\0 ", b"1\x009\0"] {
        let text = [start, b"\r\n192.0.2.0/24,PL,,,\n"].concat();
        for format in [FeedFormat::Cidr, FeedFormat::Geofeed, FeedFormat::Jafar] {
            let (feed, messages) = same(format, &text, &ReadOptions::default());
            assert_eq!(feed, None, "{messages:?}");
        }
    }
}
