//! The tab-separated values of iptoasn.com: first address, last address, number, country, name.

use std::net::IpAddr;

use crawlpike_core::TableBuilder;
use csv::{ByteRecord, ReaderBuilder};
use ipnet::{IpSubnets, Ipv4Subnets, Ipv6Subnets};

use super::ipverse::line;
use super::number;

pub(super) fn read(bytes: &[u8], builder: &mut TableBuilder) -> Result<(), String> {
    let mut reader = ReaderBuilder::new()
        .delimiter(b'\t')
        .has_headers(false)
        .quoting(false)
        .flexible(true)
        .from_reader(bytes);
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|error| error.to_string())? {
        let Some((mut prefixes, asn)) = range(&record) else {
            builder.unreadable(line(&record), "expected two addresses and the number of an AS between tabs");
            continue;
        };
        builder.system(asn, record.get(4).map(String::from_utf8_lossy).as_deref(), None);
        prefixes.try_for_each(|prefix| builder.prefix(prefix, asn))?;
    }
    Ok(())
}

/// The prefixes that make up the range of a line, and the number.
fn range(record: &ByteRecord) -> Option<(IpSubnets, u32)> {
    let address = |place| std::str::from_utf8(record.get(place)?).ok()?.trim().parse().ok();
    let prefixes = match (address(0)?, address(1)?) {
        (IpAddr::V4(first), IpAddr::V4(last)) if first <= last => Ipv4Subnets::new(first, last, 0).into(),
        (IpAddr::V6(first), IpAddr::V6(last)) if first <= last => Ipv6Subnets::new(first, last, 0).into(),
        _ => return None,
    };
    Some((prefixes, number(record.get(2)?)?))
}
