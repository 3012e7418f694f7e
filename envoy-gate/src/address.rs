//! Addresses as Envoy writes them.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The address in `ADDRESS:PORT`, such as `192.0.2.1:443` or `[2001:db8::1]:443`; `None` for a unix socket.
pub fn address_of(text: &[u8]) -> Option<IpAddr> {
    // Nearly every request has an address to read, and most are of IPv4. The standard library looks at it several times.
    match ipv4_of(text) {
        Some(address) => Some(address.into()),
        None => Some(core::str::from_utf8(text).ok()?.parse::<SocketAddr>().ok()?.ip()),
    }
}

fn ipv4_of(text: &[u8]) -> Option<Ipv4Addr> {
    const DOTS: u8 = 3;
    let (mut bits, mut dots, mut octet) = (0_u32, 0, None::<u32>);
    for byte in text {
        match byte {
            b'0'..=b'9' => {
                let value = octet.unwrap_or_default() * 10 + u32::from(byte - b'0');
                octet = (value <= u32::from(u8::MAX)).then_some(value);
                octet?;
            }
            b'.' if dots < DOTS => {
                bits = bits << u8::BITS | octet.take()?;
                dots += 1;
            }
            b':' if dots == DOTS => return Some(Ipv4Addr::from(bits << u8::BITS | octet?)),
            _ => return None,
        }
    }
    None
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
                }
            }
        }
        for address in ["::", "2001:db8::1", "::ffff:192.0.2.1"] {
            let written = SocketAddr::new(address.parse().unwrap(), 443);
            assert_eq!(address_of(written.to_string().as_bytes()), Some(written.ip()));
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
}
