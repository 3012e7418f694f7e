//! The networks of clients: which prefix an address is in, and which autonomous system announces it.
//!
//! These are facts for limiters and logs. Decisions do not read them, so their table is not part of the prefix table: see
//! `docs/decisions/systems-table.md`.

#[cfg(not(target_family = "wasm"))]
mod build;
#[cfg(target_family = "wasm")]
#[path = "no_build.rs"]
mod build;
mod client_network;
mod table;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;

use crate::config::CrowdPart;

pub(crate) use build::SystemsBuilder;
pub use client_network::ClientNetwork;
pub use table::SystemInfo;
pub(crate) use table::SystemTable;

/// The settings and the table of the facts about clients.
#[derive(Debug)]
pub(crate) struct ClientSettings {
    pub(crate) systems: SystemTable,
    /// The lengths of networks of IPv4 and of IPv6.
    pub(crate) bits: (u8, u8),
    pub(crate) crowd_key: Box<[CrowdPart]>,
    /// In lower case.
    pub(crate) fingerprint_header: Option<Box<str>>,
    /// True if Envoy's filter state shows any of these facts.
    pub(crate) is_shown: bool,
}
