//! Addresses that nobody on the Internet has to itself: IANA's registries of special-purpose addresses, multicast, and the
//! prefixes by which translators and relays carry the traffic of others.

use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// A row of the registries.
#[derive(Clone, Copy, Debug)]
struct Row {
    prefix: IpNet,
    purpose: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Not globally reachable, or carries what others send.
    Special,
    /// For documentation: no packet comes from there, and examples have nothing else.
    Documentation,
    /// Globally reachable, inside a prefix that is not.
    Reachable,
}

use Kind::{Documentation, Reachable, Special};

const fn v4(octets: [u8; 4], length: u8, purpose: &'static str, kind: Kind) -> Row {
    let [a, b, c, d] = octets;
    Row { prefix: IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)), purpose, kind }
}

const fn v6(words: [u16; 4], length: u8, purpose: &'static str, kind: Kind) -> Row {
    let [a, b, c, d] = words;
    let address = Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0);
    Row { prefix: IpNet::V6(Ipv6Net::new_assert(address, length)), purpose, kind }
}

/// The IANA IPv4 and IPv6 Special-Purpose Address Registries, as of November 2026, without rows inside others of the same kind
/// and without globally reachable ones that are inside no other; and multicast (RFC 5771, RFC 4291), which sends nothing. The
/// most specific row counts.
static ROWS: [Row; 36] = [
    v4([0, 0, 0, 0], 8, "this network", Special),
    v4([10, 0, 0, 0], 8, "private use", Special),
    v4([100, 64, 0, 0], 10, "shared by the customers of a carrier's NAT", Special),
    v4([127, 0, 0, 0], 8, "loopback", Special),
    v4([169, 254, 0, 0], 16, "link-local", Special),
    v4([172, 16, 0, 0], 12, "private use", Special),
    v4([192, 0, 0, 0], 24, "protocol assignments", Special),
    v4([192, 0, 0, 9], 32, "Port Control Protocol anycast", Reachable),
    v4([192, 0, 0, 10], 32, "TURN anycast", Reachable),
    v4([192, 0, 2, 0], 24, "documentation", Documentation),
    v4([192, 88, 99, 0], 24, "relays of 6to4", Special),
    v4([192, 168, 0, 0], 16, "private use", Special),
    v4([198, 18, 0, 0], 15, "benchmarking", Special),
    v4([198, 51, 100, 0], 24, "documentation", Documentation),
    v4([203, 0, 113, 0], 24, "documentation", Documentation),
    v4([224, 0, 0, 0], 4, "multicast", Special),
    v4([240, 0, 0, 0], 4, "reserved", Special),
    // ::/96, with the unspecified address and loopback, and ::ffff:0:0/96 behind it.
    v6([0, 0, 0, 0], 80, "loopback, and IPv4 addresses within IPv6", Special),
    v6([0x64, 0xff9b, 0, 0], 96, "translation of IPv4 (NAT64)", Special),
    v6([0x64, 0xff9b, 1, 0], 48, "translation of IPv4 (NAT64)", Special),
    v6([0x100, 0, 0, 0], 64, "discarded traffic", Special),
    v6([0x100, 0, 0, 1], 64, "dummy prefix", Special),
    v6([0x2001, 0, 0, 0], 23, "protocol assignments", Special),
    v6([0x2001, 0, 0, 0], 32, "relays of Teredo", Special),
    v6([0x2001, 3, 0, 0], 32, "relays of multicast (AMT)", Reachable),
    v6([0x2001, 4, 0x112, 0], 48, "AS112", Reachable),
    v6([0x2001, 0x20, 0, 0], 28, "ORCHIDv2", Reachable),
    v6([0x2001, 0x30, 0, 0], 28, "identities of drones", Reachable),
    v6([0x2001, 0xdb8, 0, 0], 32, "documentation", Documentation),
    v6([0x2002, 0, 0, 0], 16, "relays of 6to4", Special),
    v6([0x3fff, 0, 0, 0], 20, "documentation", Documentation),
    v6([0x5f00, 0, 0, 0], 16, "segment routing", Special),
    v6([0xfc00, 0, 0, 0], 7, "unique-local", Special),
    v6([0xfe80, 0, 0, 0], 10, "link-local", Special),
    v6([0xfec0, 0, 0, 0], 10, "site-local", Special),
    v6([0xff00, 0, 0, 0], 8, "multicast", Special),
];

/// The most specific row that has all of a prefix.
fn row(prefix: &IpNet) -> Option<&'static Row> {
    let with_all = ROWS.iter().filter(|row| row.prefix.contains(prefix));
    with_all.max_by_key(|row| row.prefix.prefix_len())
}

/// The purpose for which an address is reserved, if nobody on the Internet has it to itself.
pub fn special_purpose(address: IpAddr) -> Option<&'static str> {
    row(&IpNet::from(address)).filter(|row| row.kind != Reachable).map(|row| row.purpose)
}

/// The purpose of a prefix that a publisher cannot say to be its own. Those for documentation are left alone: nobody has them,
/// so they verify nobody either.
pub(crate) fn not_to_be_published(prefix: &IpNet) -> Option<&'static str> {
    row(prefix).filter(|row| row.kind == Special).map(|row| row.purpose)
}

/// The length from which on a prefix has no special-purpose prefix in it.
fn longest(prefix: &IpNet) -> u8 {
    if prefix.addr().is_ipv4() { 24 } else { 96 }
}

/// The parts that are left of a prefix that is not itself [special-purpose](not_to_be_published) without those in it. `None`: all of it.
pub(crate) fn without_special(prefix: &IpNet) -> Option<Vec<IpNet>> {
    if prefix.prefix_len() >= longest(prefix) {
        return None;
    }
    let has_special = |prefix: &IpNet| {
        ROWS.iter()
            .any(|row| row.kind == Special && (prefix.contains(&row.prefix) || row.prefix.contains(prefix)))
    };
    if !has_special(prefix) {
        return None;
    }
    let (mut left, mut halves) = (Vec::new(), alloc::vec![*prefix]);
    // Each half that is divided has a special-purpose prefix in it, so few are.
    while let Some(part) = halves.pop() {
        if !has_special(&part) {
            left.push(part);
        } else if not_to_be_published(&part).is_none() {
            halves.extend(part.subnets(part.prefix_len().saturating_add(1)).into_iter().flatten());
        }
    }
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::prefix::{parse_prefix, unmap};

    #[test]
    fn what_is_reserved_is_nobodys() {
        let special = |text: &str| not_to_be_published(&unmap(parse_prefix(text).unwrap())).is_some();
        for text in [
            "0.0.0.0",
            "10.0.0.0/8",
            "10.1.2.3",
            "100.64.0.0/10",
            "127.0.0.1",
            "169.254.169.254",
            "172.31.0.0/16",
            "192.0.0.8",
            "192.88.99.1",
            "192.168.1.0/24",
            "198.19.255.255",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::/96",
            "::7f00:1",
            "::ffff:10.0.0.0/104",
            "64:ff9b::/96",
            "64:ff9b::8.8.8.8",
            "64:ff9b:1::/48",
            "100::1",
            "2001::/32",
            "2001::1",
            "2001:1::4",
            "2001:2::/48",
            "2002::/16",
            "2002:808:808::/48",
            "5f00::1",
            "fc00::/7",
            "fd00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(special(text), "{text}");
        }
        for text in [
            "8.8.8.0/24",
            "11.0.0.0/8",
            "100.128.0.0/10",
            "192.0.0.9",
            "192.0.2.0/24",
            "203.0.113.7",
            "64:ff9a::1",
            "2001:20::1",
            "2001:3::1",
            "2001:200::/32",
            "2001:db8::/32",
            "2001:4860::/32",
            "2003::/16",
            "2a00::/12",
            // These have more in them than what is reserved.
            "192.0.0.0/8",
            "0.0.0.0/0",
            "::/0",
        ] {
            assert!(!special(text), "{text}");
        }
        let purpose = |text: &str| special_purpose(text.parse().unwrap());
        assert_eq!((purpose("192.0.2.1"), purpose("8.8.8.8")), (Some("documentation"), None));
        assert_eq!((purpose("2001:20::1"), purpose("10.0.0.1")), (None, Some("private use")));
    }

    #[test]
    fn long_prefixes_have_nothing_in_them() {
        let is_short = |row: &Row| row.kind != Special || row.prefix.prefix_len() <= longest(&row.prefix);
        assert!(ROWS.iter().all(is_short));
    }

    #[test]
    fn a_prefix_is_left_without_what_is_reserved_in_it() {
        let left = |text: &str| without_special(&parse_prefix(text).unwrap());
        assert_eq!((left("8.8.8.0/24"), left("10.0.0.0/8")), (None, Some(Vec::new())));
        for (text, inside, outside) in [
            (
                "192.0.0.0/8",
                &["192.168.0.1", "192.0.0.1", "192.88.99.1"][..],
                &["192.169.0.0", "192.0.2.1"][..],
            ),
            ("0.0.0.0/0", &["10.0.0.1", "255.255.255.255"], &["8.8.8.8", "223.255.255.255"]),
            (
                "::/0",
                &["64:ff9b::1", "2002::1", "::1", "fe80::1"],
                &["2606:4700::1", "64:ff9b:0:0:0:1::", "1::"],
            ),
        ] {
            let left = left(text).unwrap();
            let has =
                |address: &&str| left.iter().any(|part| part.contains(&address.parse::<IpAddr>().unwrap()));
            assert!(!inside.iter().any(&has), "{text}");
            assert!(outside.iter().all(has), "{text}");
            assert!(left.len() < 500, "{}", left.len());
        }
    }
}
