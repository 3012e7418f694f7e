//! IP prefixes and addresses from text, strictly.
//!
//! `ipnet` accepts `010.0.0.0/8`, `/08` and host bits, which are mistakes that a publisher should know about. So
//! `core::net` parses the address, and the length is parsed here.

use core::fmt;
use core::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};

/// The reason why a text is not a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixError {
    /// The part before the `/`, or the whole text without one, is not an address.
    Address,
    /// The part after the `/` is not a plain decimal number without leading zeros.
    Length,
    /// The length is greater than the family's (32 or 128).
    TooLong(u8),
    /// Host bits are set. Contains the prefix that was probably meant.
    HostBits(IpNet),
}

impl fmt::Display for PrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address => f.write_str("not an IP address"),
            Self::Length => f.write_str("invalid prefix length"),
            Self::TooLong(most) => write!(f, "the prefix length is greater than {most}"),
            Self::HostBits(meant) => write!(f, "host bits are set; write {meant}"),
        }
    }
}

impl core::error::Error for PrefixError {}

/// Parses `ADDRESS/LENGTH` (CIDR notation, RFC 4632 and RFC 4291), or an `ADDRESS`, which is a prefix of full length.
///
/// An IPv4-mapped IPv6 prefix stays IPv6: see [`unmap`].
///
/// # Errors
///
/// The error in the text.
///
/// ```
/// use crawlpike_core::internals::{PrefixError, parse_prefix};
///
/// assert_eq!(parse_prefix("192.0.2.0/24")?.to_string(), "192.0.2.0/24");
/// assert_eq!(parse_prefix("2001:DB8::1")?.to_string(), "2001:db8::1/128");
/// assert_eq!(parse_prefix("192.0.2.0/08"), Err(PrefixError::Length));
/// assert!(matches!(parse_prefix("192.0.2.1/24"), Err(PrefixError::HostBits(_))));
/// # Ok::<(), PrefixError>(())
/// ```
pub fn parse_prefix(text: &str) -> Result<IpNet, PrefixError> {
    match text.split_once('/') {
        Some((address, length)) => parse_parts(address, length),
        None => parse_address(text).map(IpNet::from),
    }
}

fn parse_parts(address: &str, length: &str) -> Result<IpNet, PrefixError> {
    let address = parse_address(address)?;
    let length = parse_length(length)?;
    let most: u8 = if address.is_ipv4() { 32 } else { 128 };
    let prefix = u8::try_from(length)
        .ok()
        .and_then(|length| IpNet::new(address, length).ok())
        .ok_or(PrefixError::TooLong(most))?;
    match prefix.trunc() {
        exact if exact == prefix => Ok(exact),
        meant => Err(PrefixError::HostBits(meant)),
    }
}

pub(crate) fn parse_address(text: &str) -> Result<IpAddr, PrefixError> {
    text.parse().map_err(|_| PrefixError::Address)
}

fn parse_length(text: &str) -> Result<u16, PrefixError> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if !plain || text.is_empty() {
        return Err(PrefixError::Length);
    }
    // Three digits hold every valid length and most mistakes; more are over the limit anyway.
    Ok(if text.len() > 3 { u16::MAX } else { text.parse().map_err(|_| PrefixError::Length)? })
}

/// The IPv4 prefix that an IPv4-mapped IPv6 prefix stands for, else the prefix.
///
/// A prefix shorter than `/96` that happens to cover the mapped range (`::/0`) stays IPv6 and covers no IPv4 address.
pub fn unmap(prefix: IpNet) -> IpNet {
    const MAPPED: u8 = 96;
    if let IpNet::V6(v6) = prefix
        && let Some(length) = v6.prefix_len().checked_sub(MAPPED)
        && let Some(v4) = v6.network().to_ipv4_mapped()
        && let Ok(net) = Ipv4Net::new(v4, length)
    {
        return IpNet::V4(net);
    }
    prefix
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn jafar_11_only_plain_cidr_is_a_prefix() {
        for (text, error) in [
            ("", PrefixError::Address),
            ("/8", PrefixError::Address),
            ("010.0.0.0/8", PrefixError::Address),
            ("10.0.0/8", PrefixError::Address),
            (" 10.0.0.0/8", PrefixError::Address),
            ("10.0.0.0/", PrefixError::Length),
            ("10.0.0.0/+8", PrefixError::Length),
            ("10.0.0.0/08", PrefixError::Length),
            ("10.0.0.0/8 ", PrefixError::Length),
            ("10.0.0.0/8/8", PrefixError::Length),
            ("10.0.0.0/33", PrefixError::TooLong(32)),
            ("::/129", PrefixError::TooLong(128)),
            ("::/99999999999999999999", PrefixError::TooLong(128)),
        ] {
            assert_eq!(parse_prefix(text), Err(error), "{text:?}");
        }
        assert_eq!(
            parse_prefix("66.249.66.1/19").unwrap_err().to_string(),
            "host bits are set; write 66.249.64.0/19"
        );
        for text in ["0.0.0.0/0", "::/0", "255.255.255.255/32", "2001:db8::1/128"] {
            assert_eq!(parse_prefix(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_address_stands_for_itself() {
        for (text, prefix) in [("192.0.2.1", "192.0.2.1/32"), ("2001:db8::1", "2001:db8::1/128")] {
            assert_eq!(parse_prefix(text).unwrap().to_string(), prefix);
        }
    }

    #[test]
    fn mapped_prefixes_become_ipv4() {
        let unmapped = |text| unmap(parse_prefix(text).unwrap()).to_string();
        assert_eq!(unmapped("::ffff:192.0.2.0/120"), "192.0.2.0/24");
        assert_eq!(unmapped("::ffff:0:0/96"), "0.0.0.0/0");
        assert_eq!(unmapped("::/0"), "::/0");
        assert_eq!(unmapped("2001:db8::/32"), "2001:db8::/32");
    }
}
