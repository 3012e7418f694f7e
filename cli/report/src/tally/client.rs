//! Addresses, and the networks that they are cut to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address, or the network that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Client {
    address: IpAddr,
    is_network: bool,
}

impl Client {
    /// The address itself, or its network if `is_cut`.
    pub(crate) fn new(address: IpAddr, is_cut: bool) -> Self {
        if is_cut {
            Self::network_of(address)
        } else {
            Self { address: address.to_canonical(), is_network: false }
        }
    }

    /// The /24 of an IPv4 address, or the /48 of an IPv6 address.
    pub(crate) fn network_of(address: IpAddr) -> Self {
        let address = match address.to_canonical() {
            IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() >> 8 << 8).into(),
            IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 80 << 80).into(),
        };
        Self { address, is_network: true }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.address)?;
        match (self.is_network, self.address) {
            (false, _) => Ok(()),
            (true, IpAddr::V4(_)) => f.write_str("/24"),
            (true, IpAddr::V6(_)) => f.write_str("/48"),
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
