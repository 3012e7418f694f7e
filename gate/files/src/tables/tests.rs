use std::fs;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};

use crawlpike_core::{Compiled, Ruleset};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::{FilesBeside, compile};

const MMDB: &[u8] = include_bytes!("data/asn.mmdb");

/// Compiles a document with a table of this format, and with further ones.
fn load(format: &str, table: &[u8], more: &[(&str, &[u8])]) -> Compiled {
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("crawlpike.json");
    let files = [(format, table)].into_iter().chain(more.iter().copied());
    let networks = files.zip(0..).map(|((format, bytes), number)| {
        fs::write(folder.path().join(number.to_string()), bytes).unwrap();
        format!(r#"{{ "name": "t{number}", "format": "{format}", "source": "{number}" }}"#)
    });
    let networks = networks.collect::<Vec<_>>().join(", ");
    fs::write(&document, format!(r#"{{ "catalog": "none", "networks": [{networks}] }}"#)).unwrap();
    compile(&document, &FilesBeside::new(&document)).unwrap()
}

fn shown(ruleset: &Ruleset, address: &str) -> String {
    match ruleset.system_of(address.parse().unwrap()) {
        Some(system) => {
            let kind = system.kind.map_or("-", |kind| kind.as_str());
            format!("{} {kind} {}", system.asn, system.name.unwrap_or("-"))
        }
        None => "none".to_owned(),
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, name, *bytes).unwrap();
    }
    archive.into_inner().unwrap()
}

const IPTOASN: &[u8] = b"192.0.2.0\t192.0.2.130\t64500\tUS\tEXAMPLE \"A\" \\ \x01\n\
    198.51.100.0\t198.51.100.255\t0\tNone\tNot routed\n203.0.113.0\t203.0.113.255\t4294967295\tNone\tLast\n\
    192.0.2.200\t192.0.2.190\t64501\tUS\tBackwards\n192.0.2.240\t::1\t64501\tUS\tMixed\nnonsense\n\
    2001:db8::\t2001:db8:0:ffff:ffff:ffff:ffff:ffff\t64501\tDE\t\n";
const ONE: &[u8] = br#"{ "asn": 64500, "metadata": { "handle": "ONE-AS", "description": "One \u0007 \"Ltd\"", "countryCode": "US",
    "category": "isp", "networkRole": "stub" }, "prefixes": { "ipv4": ["192.0.2.0/24", "x"], "ipv6": ["2001:db8::/48"] } }"#;
const TWO: &[u8] =
    br#"{ "asn": 64501, "metadata": { "handle": "TWO-AS", "description": "", "category": null },
    "prefixes": { "ipv4": ["192.0.2.128/25"], "ipv6": [] } }"#;
const NAMES: &[u8] =
    b"asn,handle,description,country-code\n0,IANA-RSVD-0,Nobody,US\n64500,H,\"Names, Inc.\",US\n\
    64501,ONLY-HANDLE,,US\nAS64502,X,Y,US\nx,y,z,w\n";
const METADATA: &[u8] = br#"[ { "asn": 64500, "metadata": { "description": "Meta", "category": "government_admin" }, "stats": null },
    { "asn": 64501, "metadata": { "handle": "M", "category": "education_research" } } ]"#;

#[test]
fn each_layout_is_read_plain_and_packed() {
    let both = [ONE, TWO].join(&b'\n');
    let array = [&b"[ "[..], ONE, b", ", TWO, b" ]"].concat();
    let members: &[(&str, &[u8])] = &[
        ("d/as/64500/aggregated.json", ONE),
        ("d/as/64500/ipv4.txt", b"#"),
        ("d/as/64501/aggregated.json", TWO),
    ];
    let archive = tar(members);
    let expected_of_ipverse = ["64500 isp One   'Ltd'", "64501 - TWO-AS", "64500 isp One   'Ltd'"];
    let asked = ["192.0.2.1", "192.0.2.130", "2001:db8::1"];
    for packed in [&both, &array, &archive, &gzip(&both), &gzip(&archive)] {
        let compiled = load("ipverse", packed, &[]);
        let ruleset = compiled.ruleset.as_ref().unwrap();
        assert_eq!(asked.map(|address| shown(ruleset, address)), expected_of_ipverse);
        assert!(compiled.diagnostics[0].to_string().contains(r#""x" of AS64500 is not a prefix"#));
    }
    for packed in [IPTOASN, &gzip(IPTOASN), &tar(&[("a.tsv", IPTOASN)])] {
        let compiled = load("iptoasn", packed, &[("ipverse", METADATA), ("ipverse", NAMES)]);
        let ruleset = compiled.ruleset.as_ref().unwrap();
        let asked = ["192.0.2.130", "192.0.2.131", "198.51.100.1", "203.0.113.1", "2001:db8::1"];
        let names = ["64500 government EXAMPLE 'A' '", "none", "none", "none", "64501 education M"];
        assert_eq!(asked.map(|address| shown(ruleset, address)), names);
        assert_eq!(compiled.diagnostics.len(), 4, "{:?}", compiled.diagnostics);
        assert!(compiled.diagnostics[0].to_string().contains("/0:4:1: warning: expected two addresses"));
        assert!(compiled.diagnostics[3].to_string().contains("/2:6:1: warning: the first field"));
    }
    for packed in [
        MMDB,
        &gzip(MMDB),
        &gzip(&tar(&[("GeoLite2-ASN/COPYRIGHT.txt", b"c"), ("GeoLite2-ASN/a.mmdb", MMDB)])),
    ] {
        let compiled = load("mmdb", packed, &[("ipverse", NAMES)]);
        let ruleset = compiled.ruleset.as_ref().unwrap();
        let asked = [
            "192.0.2.9",
            "198.51.100.1",
            "198.51.100.129",
            "203.0.113.5",
            "2001:db8:9::",
            "2a00:1::",
            "::c000:201",
        ];
        let quoted = "64510 - Quote ' and ' and   tab";
        let names = [quoted, quoted, "none", "none", "64511 - Six", "4200000000 - Ünïcode", "none"];
        assert_eq!(asked.map(|address| shown(ruleset, address)), names);
    }
}

#[test]
fn a_table_that_cannot_be_read_is_refused_with_the_reason() {
    let bomb = gzip(&vec![b'\n'; 300 << 20]);
    for (format, bytes, reason) in [
        ("iptoasn", &b"\x1f\x8b\x08broken"[..], "it cannot be unpacked: "),
        ("iptoasn", &bomb, "it is larger than `limits.bytes` when unpacked"),
        ("iptoasn", &tar(&[("a.txt", IPTOASN)]), "the archive has no file whose name ends with .tsv"),
        ("iptoasn", b"<html>", "cannot read any of the 1 entries"),
        ("ipverse", b"<html>", "it is neither JSON nor CSV of ipverse"),
        ("ipverse", br#"{ "asn": -1 }"#, "invalid value: integer `-1`"),
        ("ipverse", b"[ { \"asn\": 1 }", "EOF while parsing"),
        ("ipverse", &tar(&[("b.json", b"{")]), "b.json: EOF while parsing"),
        ("mmdb", b"", "Invalid"),
        ("mmdb", &MMDB[..MMDB.len() / 2], "Invalid"),
        ("mmdb", IPTOASN, "Invalid"),
    ] {
        let compiled = load(format, bytes, &[]);
        let said: Vec<String> = compiled.diagnostics.iter().map(ToString::to_string).collect();
        assert!(compiled.ruleset.is_none(), "{format} {reason}");
        assert!(
            said.iter().any(|line| line.to_lowercase().contains(&reason.to_lowercase())),
            "{format}: {said:?}"
        );
    }
}

#[test]
fn a_damaged_database_is_refused_or_read() {
    for place in (0..MMDB.len()).step_by(3) {
        let mut damaged = MMDB.to_vec();
        damaged[place] ^= 1 << (place % 8);
        _ = load("mmdb", &damaged, &[]);
    }
}

#[test]
fn a_database_says_of_each_address_what_its_own_reader_says() {
    let ruleset = load("mmdb", MMDB, &[]).ruleset.unwrap();
    let reader = maxminddb::Reader::from_source(MMDB).unwrap();
    let networks = reader.networks(maxminddb::WithinOptions::default()).unwrap();
    let networks: Vec<_> =
        networks.filter_map(|found| found.unwrap().network().ok()?.ip().to_canonical().into()).collect();
    for number in 0..100_000_u32 {
        // Near the networks, and in them.
        let bits = match networks[number as usize % networks.len()] {
            IpAddr::V4(v4) => v4.to_bits(),
            IpAddr::V6(_) => number.wrapping_mul(2_654_435_761),
        };
        let address =
            IpAddr::from(Ipv4Addr::from_bits(bits.wrapping_add(number / 131 % 768).wrapping_sub(256)));
        let own: Option<serde_json::Value> = reader.lookup(address).unwrap().decode().unwrap();
        let asn = own.and_then(|own| own["autonomous_system_number"].as_u64()).filter(|asn| *asn != 0);
        assert_eq!(ruleset.system_of(address).map(|system| u64::from(system.asn)), asn, "{address}");
    }
}
