//! The settings of the facts for limiters.

use crate::json::typed::{UpTo, json_object, json_words};

json_object! {
    /// The lengths of the networks by which clients are counted.
    pub struct NetworkBits {
        /// Of IPv4.
        pub v4: UpTo<32, 1> = { NetworkBits::default().v4 },
        /// Of IPv6.
        pub v6: UpTo<128, 1> = { NetworkBits::default().v6 },
    }
}

impl Default for NetworkBits {
    fn default() -> Self {
        Self { v4: UpTo(24), v6: UpTo(48) }
    }
}

json_words! {
    /// A part of `crowd_key`, by its key among the facts.
    pub enum CrowdPart {
        /// The network of the client's address.
        Network = "network",
        /// The number of its autonomous system.
        Asn = "asn",
        /// The kind of its autonomous system.
        AsKind = "as_kind",
        /// The consistency of what a browser sends.
        Browser = "browser",
        /// The fingerprint that the server has.
        Fingerprint = "fingerprint",
    }
}
