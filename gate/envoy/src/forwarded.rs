//! The client's address as Envoy takes it from `X-Forwarded-For`.

use core::net::IpAddr;

use crate::address::bare_address_of;

/// The headers of a request that show whose address Envoy took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forwarded<'r> {
    /// `X-Forwarded-For`, if it is one line: Envoy joins several, and adds the address of its peer.
    pub forwarded_for: Option<&'r [u8]>,
    /// `X-Envoy-External-Address`. An Envoy at the edge sets it to the address that it took.
    pub external_address: Option<&'r [u8]>,
    /// True if there is `X-Envoy-Internal`, which no client can send: Envoy then takes the client for one of its own network.
    pub is_internal: bool,
}

impl Forwarded<'_> {
    /// The address that Envoy took, where the headers leave no doubt: that before so many addresses at the end, as in Envoy's
    /// `xff_num_trusted_hops`. With `use_remote_address`, one of these is the peer's, which Envoy has added.
    ///
    /// The headers leave doubt:
    ///
    /// - if any of these entries is not an address, or there are fewer: Envoy then takes the peer's, which need not be here. Envoy
    ///   adds no peer on a unix domain socket, so a wrong entry can also mean that an entry is missing;
    /// - if Envoy itself names another address, as with `skip_xff_append` or another number of hops;
    /// - if the client is internal: Envoy then adds its own address instead of that of a loopback peer.
    pub fn address(&self, hops: u8) -> Option<IpAddr> {
        if self.is_internal {
            return None;
        }
        let mut entries = self.forwarded_for?.rsplit(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        for _ in 0..hops {
            bare_address_of(entries.next()?)?;
        }
        let address = bare_address_of(entries.next()?)?;
        let is_confirmed = |external: &[u8]| bare_address_of(external) == Some(address);
        self.external_address.is_none_or(is_confirmed).then_some(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn took(forwarded_for: &str, hops: u8) -> Option<alloc::string::String> {
        let forwarded = Forwarded { forwarded_for: Some(forwarded_for.as_bytes()), ..Forwarded::default() };
        forwarded.address(hops).map(|address| address.to_string())
    }

    #[test]
    fn it_is_the_address_before_the_trusted_ones() {
        let three = "192.0.2.1, 2001:db8::2,\t198.51.100.3 ";
        assert_eq!(took(three, 0).as_deref(), Some("198.51.100.3"));
        assert_eq!(took(three, 1).as_deref(), Some("2001:db8::2"));
        assert_eq!(took(three, 2).as_deref(), Some("192.0.2.1"));
        assert_eq!(took(three, 3), None);
        assert_eq!(took(three, u8::MAX), None);
    }

    #[test]
    fn an_entry_that_is_no_address_leaves_doubt_where_it_counts() {
        for wrong in ["", "unknown", "192.0.2.1:80", "[2001:db8::1]", "192.0.2.01"] {
            assert_eq!(took(wrong, 0), None, "{wrong}");
            assert_eq!(took(&[wrong, "192.0.2.1"].join(","), 1), None, "{wrong}");
            assert_eq!(took(&["192.0.2.1", wrong].join(","), 1), None, "{wrong}");
            assert_eq!(took(&[wrong, "192.0.2.1"].join(","), 0).as_deref(), Some("192.0.2.1"), "{wrong}");
        }
    }

    #[test]
    fn what_envoy_says_otherwise_leaves_doubt() {
        let said = |external: &'static [u8], is_internal| {
            let forwarded = Forwarded {
                forwarded_for: Some(b"192.0.2.1,198.51.100.2"),
                external_address: Some(external),
                is_internal,
            };
            forwarded.address(1)
        };
        assert!(said(b"192.0.2.1", false).is_some());
        assert!(said(b"192.0.2.1", true).is_none());
        assert!(said(b"198.51.100.2", false).is_none());
        assert!(said(b"", false).is_none());
        assert!(Forwarded::default().address(0).is_none());
    }
}
