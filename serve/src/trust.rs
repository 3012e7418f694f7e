//! The peers that may ask, and whose entries in `X-Forwarded-For` are passed over.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

use crate::unclear::Unclear;

/// The addresses of the operator's proxies.
#[derive(Clone, Debug)]
pub struct Trust(Vec<IpNet>);

impl Trust {
    /// These prefixes; none: loopback.
    pub fn new(prefixes: Vec<IpNet>) -> Self {
        let loopback =
            || ["127.0.0.0/8", "::1/128"].iter().filter_map(|prefix| prefix.parse().ok()).collect();
        Self(if prefixes.is_empty() { loopback() } else { prefixes })
    }

    /// Returns true if the address is one of a proxy.
    pub(crate) fn covers(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|prefix| prefix.contains(&address))
    }

    /// The client's address by the lines of `X-Forwarded-For`, to which each proxy appends that of its peer: the last one that is
    /// not a proxy's, or the first one if all are. `None`: there is no entry.
    pub(crate) fn client<'l>(
        &self,
        lines: impl DoubleEndedIterator<Item = &'l [u8]>,
    ) -> Result<Option<IpAddr>, Unclear> {
        let entries = lines.rev().flat_map(|line| line.rsplit(|byte| *byte == b','));
        let mut client = None;
        for entry in entries {
            let address = address(entry.trim_ascii()).ok_or(Unclear::Unreadable("x-forwarded-for"))?;
            client = Some(address);
            if !self.covers(address) {
                break;
            }
        }
        Ok(client)
    }
}

/// An address, with or without a port.
pub(crate) fn address(text: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(text).ok()?;
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_with_and_without_a_port() {
        for (text, expected) in [
            ("192.0.2.1", Some("192.0.2.1")),
            ("192.0.2.1:80", Some("192.0.2.1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("[2001:db8::1]:443", Some("2001:db8::1")),
            ("", None),
            ("unix:", None),
            ("unknown", None),
            ("192.0.2.1,192.0.2.2", None),
        ] {
            assert_eq!(address(text.as_bytes()), expected.map(|text| text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn the_client_is_the_last_that_is_not_a_proxy() {
        let trust = Trust::new(vec!["127.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()]);
        let client = |lines: &[&str]| {
            let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
            trust.client(lines.into_iter()).map(|client| client.map(|client| client.to_string()))
        };
        let found = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(client(&[]), Ok(None));
        assert_eq!(client(&["192.0.2.1"]), found("192.0.2.1"));
        assert_eq!(client(&["192.0.2.1, 198.51.100.1"]), found("198.51.100.1"));
        assert_eq!(client(&["192.0.2.1, 127.0.0.1,2001:db8::1"]), found("192.0.2.1"));
        assert_eq!(client(&["unknown, 192.0.2.1", "::ffff:127.0.0.2"]), found("192.0.2.1"));
        assert_eq!(client(&["127.0.0.3, 127.0.0.2"]), found("127.0.0.3"));
        for wrong in ["unknown", "", "192.0.2.1, ", "192.0.2.1, unknown, 127.0.0.1"] {
            assert_eq!(client(&[wrong]), Err(Unclear::Unreadable("x-forwarded-for")), "{wrong}");
        }
    }
}
