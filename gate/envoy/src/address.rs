//! Addresses as Envoy writes them.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The address in `ADDRESS:PORT`, such as `192.0.2.1:443` or `[2001:db8::1]:443`; `None` for a unix socket.
pub fn address_of(text: &[u8]) -> Option<IpAddr> {
    // Nearly every request has an address to read, and most are of IPv4. The standard library looks at it several times.
    match ipv4_at_start(text) {
        Some((address, [b':', ..])) => Some(address.into()),
        _ => any_address_of(text),
    }
}

/// Apart, since it needs more room than all the rest.
#[inline(never)]
fn any_address_of(text: &[u8]) -> Option<IpAddr> {
    Some(core::str::from_utf8(text).ok()?.parse::<SocketAddr>().ok()?.ip())
}

/// The address in text that has nothing but an address, such as `192.0.2.1` or `2001:db8::1`.
pub(crate) fn bare_address_of(text: &[u8]) -> Option<IpAddr> {
    match ipv4_at_start(text) {
        Some((address, [])) => Some(address.into()),
        Some(_) => None,
        None => Some(core::str::from_utf8(text).ok()?.parse::<Ipv6Addr>().ok()?.into()),
    }
}

/// The address with which the text begins, and what follows it. As for `inet_pton`, no part of it has a zero in front.
fn ipv4_at_start(text: &[u8]) -> Option<(Ipv4Addr, &[u8])> {
    let (mut bits, mut rest) = octet_at_start(text)?;
    for _ in 1..4 {
        let [b'.', others @ ..] = rest else { return None };
        let (octet, others) = octet_at_start(others)?;
        (bits, rest) = (bits << u8::BITS | octet, others);
    }
    Some((Ipv4Addr::from(bits), rest))
}

/// The octet of up to three digits with which the text begins, and what follows it.
fn octet_at_start(text: &[u8]) -> Option<(u32, &[u8])> {
    let (first, rest) = digit_at_start(text)?;
    let Some((second, rest)) = digit_at_start(rest) else { return Some((first, rest)) };
    let two = first * 10 + second;
    let (octet, rest) = digit_at_start(rest).map_or((two, rest), |(third, rest)| (two * 10 + third, rest));
    (first != 0 && octet <= u32::from(u8::MAX)).then_some((octet, rest))
}

fn digit_at_start(text: &[u8]) -> Option<(u32, &[u8])> {
    let (first, rest) = text.split_first()?;
    let digit = u32::from(first.wrapping_sub(b'0'));
    (digit < 10).then_some((digit, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn what_an_address_is_written_as_is_read_as_it() {
        let octets = [0, 1, 9, 10, 99, 100, 199, 255];
        for (place, octet) in (0..4).flat_map(|place| octets.map(|octet| (place, octet))) {
            for others in octets {
                let mut address = [others; 4];
                address[place] = octet;
                for port in [0, 80, u16::MAX] {
                    let written = SocketAddr::new(address.into(), port);
                    assert_eq!(address_of(written.to_string().as_bytes()), Some(written.ip()));
                    assert_eq!(bare_address_of(written.ip().to_string().as_bytes()), Some(written.ip()));
                }
            }
        }
        for address in ["::", "2001:db8::1", "::ffff:192.0.2.1"] {
            let written = SocketAddr::new(address.parse().unwrap(), 443);
            assert_eq!(address_of(written.to_string().as_bytes()), Some(written.ip()));
            assert_eq!(bare_address_of(address.as_bytes()), Some(written.ip()));
        }
    }

    #[test]
    fn what_is_no_address_is_none() {
        for text in [
            "",
            ":",
            "192.0.2.1",
            "192.0.2:80",
            "192.0.2.:80",
            ".192.0.2.1:80",
            "192..2.1:80",
            "192.0.2.256:80",
            "192.0.2.1.1:80",
            "99999999999.0.2.1:80",
            "2001:db8::1",
            "[2001:db8::1]",
            "/run/envoy.sock",
            "@envoy",
            "\u{1}",
        ] {
            assert_eq!(address_of(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn what_is_more_or_less_than_an_address_is_none() {
        for text in [
            "",
            "192.0.2.1:80",
            "192.0.2.01",
            "192.0.2.1 ",
            "192.0.2.",
            "192.0.2",
            "192.0.2.1.1",
            "192.0.2.256",
            "0xc0.0.2.1",
            "[2001:db8::1]",
            "2001:db8::1%eth0",
            "2001:db8::1::",
            "unknown",
        ] {
            assert_eq!(bare_address_of(text.as_bytes()), None, "{text}");
        }
    }
}
