//! Addresses, and the networks that they are cut to.

use std::fmt;
use std::net::IpAddr;

use crawlpike_core::ClientNetwork;

/// An address, or the network that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Client {
    Address(IpAddr),
    Network(ClientNetwork),
}

impl Client {
    /// The lengths of networks of IPv4 and IPv6.
    pub(crate) const BITS: (u8, u8) = (24, 48);

    /// The address itself, or its network if `is_cut`.
    pub(crate) fn new(address: IpAddr, is_cut: bool) -> Self {
        if is_cut { Self::network_of(address) } else { Self::Address(address.to_canonical()) }
    }

    /// The /24 of an IPv4 address, or the /48 of an IPv6 address.
    pub(crate) fn network_of(address: IpAddr) -> Self {
        Self::Network(ClientNetwork::of(address, Self::BITS))
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Network(network) => network.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_cut() {
        for (address, whole, network) in [
            ("192.0.2.255", "192.0.2.255", "192.0.2.0/24"),
            ("::ffff:192.0.2.1", "192.0.2.1", "192.0.2.0/24"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(Client::new(address, false).to_string(), whole);
            assert_eq!(Client::new(address, true).to_string(), network);
        }
    }
}
