//! The files that publishers publish.

use std::fmt::Write;
use std::sync::Arc;

use crawlpike_core::rfc_3339;

/// Networks of length 24, by their first 24 bits, in order.
pub(crate) type Networks = Arc<[u32]>;

/// A file, as a publisher or a mirror answers it. Two are the same version if they are the same object, as if they had the same
/// validator.
#[derive(Debug)]
pub(crate) struct File {
    /// The content.
    pub(crate) bytes: Vec<u8>,
    /// True if it says what its publisher means to say, so that an operator who asks the publisher accepts it.
    pub(crate) is_right: bool,
}

impl File {
    /// A file that says what its publisher means.
    pub(crate) fn right(networks: &[u32], created: i64) -> Arc<Self> {
        Arc::new(Self { bytes: list(networks, created).into_bytes(), is_right: true })
    }

    /// A file that says something else, or nothing.
    pub(crate) fn wrong(text: impl Into<Vec<u8>>) -> Arc<Self> {
        Arc::new(Self { bytes: text.into(), is_right: false })
    }
}

/// A list as Google publishes it.
pub(crate) fn list(networks: &[u32], created: i64) -> String {
    list_of(networks.iter().map(|network| format!("{}/24", dotted(*network))), created)
}

/// The same, of any prefixes.
pub(crate) fn list_of(prefixes: impl Iterator<Item = String>, created: i64) -> String {
    let created = rfc_3339(created).unwrap_or_default();
    let mut text = format!("{{\"creationTime\": \"{created}\", \"prefixes\": [");
    for (number, prefix) in prefixes.enumerate() {
        let comma = if number == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}{{\"ipv4Prefix\": \"{prefix}\"}}");
    }
    text + "]}\n"
}

/// The first address of a network.
pub(crate) fn dotted(network: u32) -> String {
    std::net::Ipv4Addr::from(network << 8).to_string()
}
