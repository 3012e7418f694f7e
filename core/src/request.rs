//! What the core asks of a host about one request.

use core::net::IpAddr;

/// One request, read only as far as a decision needs it.
///
/// What a fact costs depends on the gate: the address is a call of the host in Envoy. So an implementation fetches what
/// costs when it is first asked for, and keeps it. Bytes, not strings: nothing here need be UTF-8.
pub trait Request {
    /// The client's address as the host computed it (`realip`, trusted hops). `None` over a unix socket.
    fn address(&self) -> Option<IpAddr>;

    /// The host of the request target or of the Host header, with or without port.
    fn host(&self) -> Option<&[u8]>;

    /// The method, as sent: case matters.
    fn method(&self) -> &[u8];

    /// The request target's path and query, as sent: `/a%20b?c`.
    fn path(&self) -> &[u8];

    /// The User-Agent header; several lines joined by `,`.
    fn user_agent(&self) -> Option<&[u8]>;

    /// The time, in seconds since the Unix epoch; asked for only where a feed can become stale.
    fn now(&self) -> i64;

    /// The first line of a header, by its lower-case name. `None` where there is none.
    fn header(&self, name: &str) -> Option<&[u8]>;
}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::collections::BTreeSet;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use core::cell::RefCell;
    use core::net::IpAddr;

    use super::Request;

    pub(crate) const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

    /// A request that notes what it is asked for.
    pub(crate) struct Asked<'a> {
        pub(crate) address: Option<IpAddr>,
        pub(crate) host: &'a str,
        pub(crate) method: &'a str,
        pub(crate) path: &'a str,
        pub(crate) user_agent: &'a str,
        pub(crate) headers: &'a [(&'a str, &'a str)],
        pub(crate) facts: RefCell<BTreeSet<String>>,
    }

    impl Default for Asked<'_> {
        fn default() -> Self {
            Self {
                address: None,
                host: "example.com",
                method: "GET",
                path: "/",
                user_agent: BROWSER,
                headers: &[],
                facts: RefCell::default(),
            }
        }
    }

    impl Asked<'_> {
        fn note(&self, fact: &str) {
            self.facts.borrow_mut().insert(fact.to_string());
        }

        pub(crate) fn facts(&self) -> Vec<String> {
            self.facts.borrow().iter().cloned().collect()
        }
    }

    impl Request for Asked<'_> {
        fn address(&self) -> Option<IpAddr> {
            self.note("address");
            self.address
        }

        fn host(&self) -> Option<&[u8]> {
            self.note("host");
            Some(self.host.as_bytes())
        }

        fn method(&self) -> &[u8] {
            self.note("method");
            self.method.as_bytes()
        }

        fn path(&self) -> &[u8] {
            self.note("path");
            self.path.as_bytes()
        }

        fn user_agent(&self) -> Option<&[u8]> {
            self.note("user-agent");
            Some(self.user_agent.as_bytes())
        }

        fn now(&self) -> i64 {
            self.note("now");
            1_800_000_000
        }

        fn header(&self, name: &str) -> Option<&[u8]> {
            self.note(name);
            self.headers.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_bytes())
        }
    }
}
