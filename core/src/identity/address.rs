//! The address of a client: the one that a translator put into it, and addresses that say nothing of a claim.

use core::net::IpAddr;

use super::Doubt;
use crate::request::Request;
use crate::request::nat64::untranslated;
use crate::ruleset::data::Ruleset;

impl Ruleset {
    /// The address that counts as the client's: the IPv4 address within one that NAT64 translates to.
    pub fn client_address(&self, request: &impl Request) -> Option<IpAddr> {
        request.address().map(|address| self.untranslated(address))
    }

    pub(crate) fn untranslated(&self, address: IpAddr) -> IpAddr {
        untranslated(&self.nat64, address)
    }
}

impl Doubt {
    /// The reason why an address says nothing of a claim, whatever feeds there are; `None` if a client on the Internet can
    /// have it.
    pub fn of(address: IpAddr) -> Option<Self> {
        doubt(address.to_canonical())
    }
}

/// The reason why an address says nothing of a claim: no client on the Internet has it, or others relay for it.
pub(crate) fn doubt(address: IpAddr) -> Option<Doubt> {
    match address {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            let is_carrier_nat = first == 100 && second & 0xc0 == 64;
            let is_local = v4.is_private() || v4.is_loopback() || v4.is_link_local();
            // "This network", multicast and reserved addresses (RFC 6890): no packet comes from there.
            let is_nobodys = first == 0 || first >= 224;
            (is_local || is_carrier_nat || is_nobodys).then_some(Doubt::PrivateAddress)
        }
        IpAddr::V6(v6) => match v6.segments() {
            [0x2002, ..] => Some(Doubt::SixToFour),
            [0x2001, 0, ..] => Some(Doubt::Teredo),
            // NAT64 of a network's own (RFC 8215), whose prefix has a length that only `nat64` can say.
            [0x64, 0xff9b, 1, ..] => Some(Doubt::PrivateAddress),
            _ => {
                let is_local = v6.is_loopback() || v6.is_unicast_link_local() || v6.is_unique_local();
                (is_local || v6.is_unspecified() || v6.is_multicast()).then_some(Doubt::PrivateAddress)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_no_client_on_the_internet_has_are_doubts() {
        let private = Some(Doubt::PrivateAddress);
        for (address, expected) in [
            ("10.0.0.5", private),
            ("172.31.255.255", private),
            ("172.32.0.0", None),
            ("192.168.1.1", private),
            ("127.0.0.1", private),
            ("169.254.0.1", private),
            ("100.64.0.1", private),
            ("100.127.255.255", private),
            ("100.128.0.0", None),
            ("0.0.0.0", private),
            ("223.255.255.255", None),
            ("224.0.0.1", private),
            ("255.255.255.255", private),
            ("8.8.8.8", None),
            ("::", private),
            ("::1", private),
            ("fe80::1", private),
            ("febf::1", private),
            ("fc00::1", private),
            ("fdff::1", private),
            ("ff02::1", private),
            ("64:ff9b:1::1", private),
            ("2002:c000:204::1", Some(Doubt::SixToFour)),
            ("2001::1", Some(Doubt::Teredo)),
            ("2001:1::1", None),
            ("2606:4700::1", None),
        ] {
            assert_eq!(doubt(address.parse().unwrap()), expected, "{address}");
            assert_eq!(Doubt::of(address.parse().unwrap()), expected, "{address}");
        }
    }
}
