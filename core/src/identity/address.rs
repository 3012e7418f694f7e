//! The address of a client: the one that a translator put into it, and addresses that say nothing of a claim.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::Ipv6Net;

use super::Doubt;
use crate::request::Request;
use crate::ruleset::data::Ruleset;

/// The well-known prefix of translated addresses (RFC 6052, 2.1).
const WELL_KNOWN: (Ipv6Addr, u8) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

impl Ruleset {
    /// The address that counts as the client's: the IPv4 address within one that NAT64 translates to.
    pub(crate) fn client_address(&self, request: &impl Request) -> Option<IpAddr> {
        request.address().map(|address| self.untranslated(address))
    }

    pub(crate) fn untranslated(&self, address: IpAddr) -> IpAddr {
        let IpAddr::V6(v6) = address.to_canonical() else { return address.to_canonical() };
        let of_document = self.nat64.iter().find(|prefix| prefix.contains(&v6)).map(Ipv6Net::prefix_len);
        let is_well_known = || v6.octets().starts_with(&WELL_KNOWN.0.octets()[..12]);
        match of_document.or_else(|| is_well_known().then_some(WELL_KNOWN.1)) {
            Some(length) => IpAddr::V4(within(v6, length)),
            None => address,
        }
    }
}

/// Returns true if all addresses of a prefix are translated ones.
pub(crate) fn is_translated(nat64: &[Ipv6Net], prefix: &Ipv6Net) -> bool {
    let is_well_known = || {
        prefix.prefix_len() >= WELL_KNOWN.1
            && prefix.network().octets().starts_with(&WELL_KNOWN.0.octets()[..12])
    };
    nat64.iter().any(|translated| translated.contains(prefix)) || is_well_known()
}

/// The IPv4 address within a translated one: behind the prefix, without the octet `u` (RFC 6052, 2.2).
fn within(address: Ipv6Addr, length: u8) -> Ipv4Addr {
    let octets = address.octets().into_iter().enumerate().skip(usize::from(length / 8));
    let mut within = [0; 4];
    let places = octets.filter(|(place, _)| *place != 8 || length == 96);
    within.iter_mut().zip(places).for_each(|(to, (_, from))| *to = from);
    within.into()
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
    fn the_address_within_a_translated_one_is_found_for_every_length() {
        // The examples of RFC 6052, 2.4.
        for (translated, length) in [
            ("2001:db8:c000:221::", 32),
            ("2001:db8:1c0:2:21::", 40),
            ("2001:db8:122:c000:2:2100::", 48),
            ("2001:db8:122:3c0:0:221::", 56),
            ("2001:db8:122:344:c0:2:2100::", 64),
            ("2001:db8:122:344::192.0.2.33", 96),
            ("64:ff9b::192.0.2.33", 96),
        ] {
            let address: Ipv6Addr = translated.parse().unwrap();
            assert_eq!(within(address, length), Ipv4Addr::new(192, 0, 2, 33), "{translated}");
        }
    }

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
        }
    }
}
