//! The syntax of hosts in requests (RFC 9110 7.2).

use core::net::Ipv6Addr;

use crate::octets::is_in_table;

/// The most octets of a host name, and of one of its labels (RFC 1035 2.3.4).
const LONGEST: usize = 253;
const LONGEST_LABEL: usize = 63;

/// Returns true if this is a host, perhaps with a port: a name of letters, digits, `-` and `_` in labels, or an
/// address.
///
/// RFC 3986 lets names have other characters, encoded ones among them. No host of the Web has such a name, and servers
/// differ in what they take them for.
pub(crate) fn is_host(authority: &[u8]) -> bool {
    let end = match authority.first() {
        Some(b'[') => end_of_ipv6(authority),
        _ => end_of_name(authority),
    };
    let port = end.and_then(|end| authority.get(end..)).map(<[u8]>::split_first);
    match port {
        None => false,
        Some(None) => true,
        Some(Some((colon, digits))) => {
            *colon == b':' && digits.len() <= 5 && digits.iter().all(u8::is_ascii_digit)
        }
    }
}

/// Returns true if this is a name, and nothing but that. It may have a dot after its last label.
pub(crate) fn is_host_name(name: &[u8]) -> bool {
    end_of_name(name) == Some(name.len())
}

/// The end of the IPv6 address in brackets.
fn end_of_ipv6(authority: &[u8]) -> Option<usize> {
    let inner = authority.strip_prefix(b"[")?.split(|byte| *byte == b']').next()?;
    core::str::from_utf8(inner).ok()?.parse::<Ipv6Addr>().ok()?;
    let end = inner.len() + "[]".len();
    (authority.len() >= end).then_some(end)
}

/// The end of the name, which may have a dot after its last label. An IPv4 address is such a name, too.
fn end_of_name(authority: &[u8]) -> Option<usize> {
    let mut labels = 0;
    loop {
        let rest = authority.get(labels..)?;
        let label = rest.iter().position(|byte| !is_in_label(*byte)).unwrap_or(rest.len());
        let is_label = (1..=LONGEST_LABEL).contains(&label);
        match rest.get(label) {
            Some(b'.') if is_label => labels += label + 1,
            None | Some(b':') => {
                // Nothing, or the dot after the last label.
                let length = if label == 0 { labels.checked_sub(1)? } else { labels + label };
                return (is_label || label == 0).then_some(labels + label).filter(|_| length <= LONGEST);
            }
            Some(_) => return None,
        }
    }
}

/// Returns true if a label may have this byte.
fn is_in_label(byte: u8) -> bool {
    is_in_table!(byte, each => each.is_ascii_alphanumeric() || matches!(each, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use proptest::prelude::*;

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

    /// [`end_of_name`], byte by byte.
    fn end_of_name_by_bytes(authority: &[u8]) -> Option<usize> {
        let is_label = |label: usize| (1..=LONGEST_LABEL).contains(&label);
        let (mut label, mut end) = (0, 0);
        for byte in authority {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => label += 1,
                b'.' if is_label(label) => label = 0,
                b':' => break,
                _ => return None,
            }
            end += 1;
        }
        let length = if label == 0 { end - usize::from(end > 0) } else { end };
        (is_label(label) || label == 0 && end > 0).then_some(end).filter(|_| length <= LONGEST)
    }

    proptest! {
        #[test]
        fn a_name_ends_where_it_ends_for_a_reader_of_each_byte(
            text in prop_oneof!["[aZ0_.:\\- ]{0,12}", "(a{58,66}\\.?){0,5}:?", "(a{60,63}\\.){3}a{58,63}\\.?"],
        ) {
            prop_assert_eq!(end_of_name(text.as_bytes()), end_of_name_by_bytes(text.as_bytes()));
        }
    }
}
