//! The IPv4 address within one that NAT64 translates to (RFC 6052).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::Ipv6Net;

/// The well-known prefix of translated addresses (RFC 6052, 2.1).
const WELL_KNOWN: (Ipv6Addr, u8) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

/// The address that was translated, if it is in one of these prefixes or the well-known one; otherwise the address itself.
pub(crate) fn untranslated(nat64: &[Ipv6Net], address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address.to_canonical() else { return address.to_canonical() };
    let of_document = nat64.iter().find(|prefix| prefix.contains(&v6)).map(Ipv6Net::prefix_len);
    let is_well_known = || v6.octets().starts_with(&WELL_KNOWN.0.octets()[..12]);
    match of_document.or_else(|| is_well_known().then_some(WELL_KNOWN.1)) {
        Some(length) => IpAddr::V4(within(v6, length)),
        None => address,
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
}
