//! Bodies that are cut, endless, slow, damaged, or compressed beyond measure.

use std::io::{self, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use serde_json::json;

use super::{fails, then};
use crate::fixture::{BETTER, says};

#[test]
fn lies_about_the_length_are_noticed() {
    let raw = |head: &'static str, body: &'static str| {
        then(move |_, connection| {
            connection.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}").as_bytes())
        })
    };
    let short = "the answer is incomplete: it ended after ";
    fails(&raw("Content-Length: 500", BETTER), &[], short);
    fails(&raw("Transfer-Encoding: chunked", "d\r\n192.0.2.0/24\n\r\nff\r\n198"), &[], short);
    fails(&raw("Transfer-Encoding: chunked", "d\r\n192.0.2.0/24\n\r\n"), &[], short);
    fails(&raw("Transfer-Encoding: chunked", "zz\r\n192.0.2.0/24\n"), &[], "");
    fails(&raw("Content-Length: nine", BETTER), &[], "");
    fails(&raw("Content-Length: 5\r\nContent-Length: 70", BETTER), &[], "");
    // The bytes after the length are not part of the answer.
    let lab = then(|_, connection| {
        let length = BETTER.len();
        write!(connection, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{BETTER}10.0.0.0/8\n")
    });
    assert_eq!((lab.update(&[]).status, lab.read("lab.txt")), (0, BETTER.into()));
}

#[test]
fn an_answer_that_is_cut_off_without_a_length_is_noticed() {
    // Only TLS distinguishes the end of such an answer from a broken connection.
    let lab = then(|_, connection| {
        connection.write_all(format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{BETTER}").as_bytes())?;
        connection.flush()?;
        Err(io::ErrorKind::BrokenPipe.into())
    });
    fails(&lab, &[], "the answer is incomplete");
}

#[test]
fn an_answer_that_never_ends_does() {
    let lab = then(|_, connection| {
        connection.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        loop {
            connection.write_all(&b"# and so on and so forth\n".repeat(4096))?;
        }
    });
    lab.configure(&[json!({ "limits": { "bytes": 3_000_000 } })]);
    fails(&lab, &[], "the answer has more than 3000000 bytes, decompressed (`limits.bytes` of a feed)");
}

#[test]
fn an_answer_of_one_byte_a_second_is_given_up() {
    let slow = |pause: u64, head: &'static str| {
        then(move |_, connection| {
            connection.write_all(head.as_bytes())?;
            for byte in b"#".iter().cycle() {
                connection.write_all(&[*byte])?;
                connection.flush()?;
                sleep(Duration::from_millis(pause));
            }
            Ok(())
        })
    };
    let started = Instant::now();
    let reason = "the answer stalled after ";
    fails(&slow(100, "HTTP/1.1 200 OK\r\n\r\n"), &["--stall", "1"], reason);
    fails(&slow(5000, "HTTP/1.1 200 OK\r\n\r\n"), &["--stall", "1"], reason);
    let slow_head = slow(100, "HTTP/1.1 200 OK\r\nX: ");
    fails(&slow_head, &["--stall", "1"], "did not begin its answer within 1 s");
    let fast_enough = then(|_, connection| {
        connection.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        loop {
            connection.write_all(&b"# and so on and so forth\n".repeat(100))?;
            connection.flush()?;
            sleep(Duration::from_millis(100));
        }
    });
    fails(&fast_enough, &["--stall", "1", "--timeout", "2"], "the answer took longer than 2 s");
    assert!(started.elapsed() < Duration::from_secs(30));
}

/// A megabyte of nothing, as often as it takes to exceed the limit of the test by far.
fn zeros(encoder: &mut impl Write) {
    let megabyte = vec![b'#'; 1 << 20];
    for _ in 0..50 {
        encoder.write_all(&megabyte).unwrap();
    }
}

#[test]
fn bombs_do_not_go_off() {
    let limit = json!({ "limits": { "bytes": 2_000_000 } });
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    zeros(&mut gzip);
    let gzip = gzip.finish().unwrap();
    assert!(gzip.len() < 100_000);
    let lab = then(says(&["Content-Encoding: gzip"], gzip.clone()));
    lab.configure(std::slice::from_ref(&limit));
    fails(&lab, &[], "the answer has more than 2000000 bytes, decompressed (`limits.bytes` of a feed)");
    // Other encodings were not asked for, and are not unpacked.
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
    zeros(&mut deflate);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zeros(&mut zlib);
    for (encoding, body) in [
        ("deflate", deflate.finish().unwrap()),
        ("deflate", zlib.finish().unwrap()),
        ("br", b"\x0b\x02\x80hello\x03".to_vec()),
        ("zstd", b"\x28\xb5\x2f\xfd\x00".to_vec()),
        ("gzip, gzip", gzip),
    ] {
        let header: &'static str = format!("Content-Encoding: {encoding}").leak();
        let lab = then(says(Box::leak(Box::new([header])), body));
        lab.configure(std::slice::from_ref(&limit));
        fails(
            &lab,
            &[],
            &format!("the answer has the Content-Encoding \"{encoding}\"; only gzip was asked for"),
        );
    }
}

#[test]
fn compressed_answers_are_read_and_damaged_ones_are_not() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(BETTER.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let lab = then(says(&["Content-Encoding: gzip", "Cache-Control: no-cache"], gzip.clone()));
    assert_eq!((lab.update(&[]).status, lab.read("lab.txt")), (0, BETTER.into()));
    let half = gzip[..gzip.len() / 2].to_vec();
    fails(&then(says(&["Content-Encoding: gzip"], half)), &[], "the answer is damaged: ");
    fails(&then(says(&["Content-Encoding: gzip"], BETTER)), &[], "the answer is damaged: ");
    let mut wrong = gzip;
    let checksum = wrong.len() - 8;
    wrong[checksum] ^= 1;
    fails(&then(says(&["Content-Encoding: gzip"], wrong)), &[], "the answer is damaged: ");
}

#[test]
fn the_bytes_count_whatever_the_headers_call_them() {
    let utf16: Vec<u8> = "\u{feff}192.0.2.0/24\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fails(&then(says(&["Content-Type: text/plain; charset=utf-8"], utf16)), &[], "UTF-16");
    let latin1 = b"192.0.2.0/24 # caf\xe9\n".to_vec();
    fails(&then(says(&["Content-Type: text/plain; charset=iso-8859-1"], latin1)), &[], "UTF-8");
    for kind in ["Content-Type: text/html; charset=utf-16", "Content-Type: image/png", "Content-Type: ;;;"] {
        let lab = then(says(Box::leak(Box::new([kind, "Cache-Control: no-cache"])), BETTER));
        assert_eq!((lab.update(&[]).status, lab.read("lab.txt")), (0, BETTER.into()), "{kind}");
    }
}
