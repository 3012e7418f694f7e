//! Tables of autonomous systems, which are fetched as feeds are.

use std::io::Write;
use std::process::Command;
use std::sync::{Arc, Mutex};

use crawlpike_tests::publisher::respond;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::fixture::{Lab, finish};

/// Ranges of /24, with the systems that have them.
fn table(ranges: std::ops::Range<u8>, asn: u32) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    for third in ranges {
        writeln!(gzip, "45.0.{third}.0\t45.0.{third}.255\t{asn}\tPL\tExample").unwrap();
    }
    gzip.finish().unwrap()
}

#[test]
fn a_table_is_fetched_guarded_and_kept() {
    let answer = Arc::new(Mutex::new(table(0..40, 64500)));
    let published = Arc::clone(&answer);
    let lab = Lab::new(move |_, connection| {
        respond(connection, "200 OK", &["Cache-Control: max-age=0"], published.lock().unwrap().clone())
    });
    let network = json!({ "name": "as", "format": "iptoasn", "source": "as.tsv.gz", "url": lab.publisher.url("/as.tsv.gz") });
    lab.write("crawlpike.json", json!({ "catalog": "none", "networks": [network] }).to_string());
    let publish = |version: &[u8]| {
        version.clone_into(&mut answer.lock().unwrap());
        lab.forget();
    };
    let asn = |expected: &str| {
        let mut lookup = Command::new(env!("CARGO_BIN_EXE_crawlpike"));
        lookup.args(["lookup", "--config", "crawlpike.json", "--json", "45.0.3.7"]);
        lab.prepare(&mut lookup);
        assert!(finish(lookup).stdout.contains(&format!(r#""asn":{expected},"#)), "{expected}");
    };
    lab.update(&[]).ends(0).prints("as: updated, 40 prefixes");
    asn("64500");
    // Most of it may be replaced, but it may not vanish, nor become something else.
    publish(&table(3..60, 64501));
    lab.update(&[]).ends(0).prints("as: updated, 57 prefixes (20 added, 3 removed)");
    asn("64501");
    for (version, reason) in [
        (table(0..4, 64502), "it shrank from 57 to 4 prefixes, by more than 50%"),
        (b"<html>".to_vec(), "cannot read any of the 1 entries"),
        (vec![0x1f, 0x8b, 8], "it cannot be unpacked"),
    ] {
        publish(&version);
        lab.update(&[]).ends(1).says(reason);
        asn("64501");
    }
    let beside = ["", ".earlier-good", ".held", ".last-good"].map(|suffix| format!("as.tsv.gz{suffix}"));
    assert_eq!(lab.files()[..beside.len()], beside);
}
