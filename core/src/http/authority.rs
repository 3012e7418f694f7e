//! Whether a request says which host it is for (RFC 9110 7.2).

use core::net::Ipv6Addr;

/// The most octets of a host name, and of one of its labels (RFC 1035 2.3.4).
const LONGEST: usize = 253;
const LONGEST_LABEL: usize = 63;

/// Whether this is a host, perhaps with a port: a name of letters, digits, `-` and `_` in labels, or an address.
///
/// RFC 3986 lets names have other characters, encoded ones among them. No host of the Web has such a name, and servers
/// differ in what they take them for.
pub(crate) fn is_host(authority: &[u8]) -> bool {
    let (host, port) = match authority.first() {
        Some(b'[') => match authority.iter().position(|byte| *byte == b']') {
            Some(bracket) => authority.split_at_checked(bracket + 1).unwrap_or((authority, &[])),
            None => return false,
        },
        _ => {
            let end = authority.iter().position(|byte| *byte == b':').unwrap_or(authority.len());
            authority.split_at_checked(end).unwrap_or((authority, &[]))
        }
    };
    let is_port = match port.split_first() {
        None => true,
        Some((b':', digits)) => digits.len() <= 5 && digits.iter().all(u8::is_ascii_digit),
        Some(_) => false,
    };
    is_port && (is_ipv6(host) || is_name(host))
}

fn is_ipv6(host: &[u8]) -> bool {
    let inner = host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]"));
    let text = inner.and_then(|address| core::str::from_utf8(address).ok());
    text.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

/// An IPv4 address is such a name, too.
fn is_name(host: &[u8]) -> bool {
    let host = host.strip_suffix(b".").unwrap_or(host);
    let is_label = |label: &[u8]| {
        (1..=LONGEST_LABEL).contains(&label.len())
            && label.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    host.len() <= LONGEST && host.split(|byte| *byte == b'.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn hosts_are_names_and_addresses_with_or_without_a_port() {
        for host in [
            "example.com",
            "EXAMPLE.com.",
            "localhost",
            "xn--w-uga1v8h.example",
            "my_service.cluster.local:8080",
            "-a-.test",
            "192.0.2.1",
            "192.0.2.1:80",
            "[2001:db8::1]",
            "[::1]:8443",
            "example.com:",
            "a.test:65535",
        ] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        let label = "a".repeat(63);
        let long = [&*label; 4].join(".");
        assert!(is_host(label.as_bytes()) && is_host(&long.as_bytes()[..253]));
        assert!(!is_host(format!("{label}a").as_bytes()) && !is_host(&long.as_bytes()[..254]));
    }

    #[test]
    fn everything_else_is_none() {
        for host in [
            "",
            ".",
            ":80",
            "user@example.com",
            "example.com..",
            ".example.com",
            "a..b",
            "exam%70le.com",
            "example.com;x",
            "example.com,example.net",
            "example.com, example.com",
            "example.com/",
            "example com",
            " example.com",
            "*.example.com",
            "żółw.example",
            "example.com:80:80",
            "example.com:http",
            "example.com:123456",
            "2001:db8::1",
            "[2001:db8::1",
            "[]",
            "[192.0.2.1]",
            "[::1]x",
            "a[::1]",
            "\u{0}",
        ] {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
    }
}
