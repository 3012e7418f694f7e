//! The network of a client's address.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The network of a client's address, shown as a prefix: `192.0.2.0/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientNetwork {
    address: IpAddr,
    bits: u8,
}

impl ClientNetwork {
    /// The network of an address with these lengths for IPv4 and IPv6. An IPv4-mapped address is its IPv4 address.
    pub fn of(address: IpAddr, (v4, v6): (u8, u8)) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32_u32.saturating_sub(v4.into())).unwrap_or(0);
                Self { address: Ipv4Addr::from_bits(address.to_bits() & mask).into(), bits: v4 }
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128_u32.saturating_sub(v6.into())).unwrap_or(0);
                Self { address: Ipv6Addr::from_bits(address.to_bits() & mask).into(), bits: v6 }
            }
        }
    }

    /// The network that contains it with at most these lengths.
    #[must_use]
    pub fn at_most(self, (v4, v6): (u8, u8)) -> Self {
        Self::of(self.address, (self.bits.min(v4), self.bits.min(v6)))
    }
}

impl fmt::Display for ClientNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}
