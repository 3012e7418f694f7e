//! The binary format of MaxMind and DB-IP.

use std::collections::HashMap;

use crawlpike_core::TableBuilder;
use ipnet::IpNet;
use maxminddb::{MaxMindDbError, Reader, WithinOptions};
use serde_json::Value;

pub(super) fn read(bytes: &[u8], builder: &mut TableBuilder) -> Result<(), String> {
    let reader = Reader::from_source(bytes).map_err(invalid)?;
    // A tree has a network less than twice its nodes. What is laid out otherwise could have any number of them, so those without
    // data are counted, too.
    let mut rest = (reader.metadata().node_count as usize).saturating_mul(2).saturating_add(2);
    let mut known: HashMap<usize, Option<u32>> = HashMap::new();
    for found in reader.networks(WithinOptions::default().include_networks_without_data()).map_err(invalid)? {
        let found = found.map_err(invalid)?;
        rest = rest
            .checked_sub(1)
            .ok_or("the database is invalid: its tree has more networks than its nodes allow")?;
        let Some(offset) = found.offset() else { continue };
        let asn = match known.get(&offset) {
            Some(asn) => *asn,
            None => {
                let asn = system(found.decode(), builder);
                known.insert(offset, asn);
                asn
            }
        };
        let network = found.network().map_err(invalid)?;
        if let (Some(asn), Ok(prefix)) = (asn, IpNet::new(network.ip(), network.prefix())) {
            builder.prefix(prefix, asn)?;
        }
    }
    Ok(())
}

/// The number of the system of a record, which is added with its name.
fn system(record: Result<Option<Value>, MaxMindDbError>, builder: &mut TableBuilder) -> Option<u32> {
    match record {
        Ok(record) => {
            // As a value of any type: writers differ in the width of numbers.
            let record = record?;
            let asn = record.get("autonomous_system_number")?.as_u64()?;
            let asn = u32::try_from(asn).ok()?;
            builder.system(asn, record.get("autonomous_system_organization").and_then(Value::as_str), None);
            Some(asn)
        }
        Err(error) => {
            builder.unreadable(None, error.to_string());
            None
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn invalid(error: MaxMindDbError) -> String {
    error.to_string()
}
