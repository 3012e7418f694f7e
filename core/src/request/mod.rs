//! The facts about one request: those that a gate gives when it is asked, and those that it has set or found out before.
//!
//! Everything that looks at a request is above this module: HTTP, identities, decisions, responses. The types here know
//! neither the ruleset nor a policy. A fact that must be computed from both the request and the ruleset belongs into
//! `identity` or `decide`.

pub(crate) mod budget;
mod name_fact;
pub(crate) mod nat64;
mod overrides;
mod plain;

use alloc::borrow::Cow;
use core::net::IpAddr;

use crate::json::typed::json_words;

pub(crate) use budget::Holding;
pub use budget::{NetworkKey, SignatureBudget};
pub use name_fact::{NameFact, NameOutcome};
pub use overrides::Overrides;
pub use plain::PlainRequest;

json_words! {
    /// The scheme of a request's target URI.
    pub enum Scheme {
        /// Without TLS between the client and the server.
        Http = "http",
        /// With TLS.
        Https = "https",
    }
}

/// One request, read only as far as a decision needs it.
///
/// The cost of a fact depends on the gate: in Envoy, the address is a call of the host. So an implementation fetches
/// what costs when it is first asked for, and keeps it; it allocates nothing of its own. Facts are bytes, not strings:
/// none of them has to be UTF-8.
pub trait Request {
    /// The client's address as the host computed it (`realip`, trusted hops). `None` over a unix socket.
    fn address(&self) -> Option<IpAddr>;

    /// The scheme by which the client reached the server. `None` if the host does not know it.
    fn scheme(&self) -> Option<Scheme>;

    /// The host and port that the request is for, as the client sent them: those of an absolute request target, else of
    /// `:authority`, else the Host header; empty where the client sent none. `None` where nobody knows.
    fn authority(&self) -> Option<&[u8]>;

    /// The method, as sent: case matters.
    fn method(&self) -> &[u8];

    /// The request target's path and query, as sent: `/a%20b?c`. Empty for CONNECT, whose target is a host and a port: that
    /// is decided as `/`.
    fn path(&self) -> &[u8];

    /// The User-Agent header. A client that sends several lines means all of them: see [`joined_lines`].
    fn user_agent(&self) -> Option<&[u8]>;

    /// The time, in seconds since the Unix epoch; asked for only where a feed can become stale.
    fn now(&self) -> i64;

    /// Calls a function with the gate's budget for signatures that may not hold. `None`: it has none, and all are examined.
    fn with_signature_budget<T>(&self, _call: impl FnOnce(&SignatureBudget) -> T) -> Option<T> {
        None
    }

    /// The lines of a header in the order in which they were sent, by its lower-case name.
    fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]>;

    /// The first line of a header, by its lower-case name. `None` where there is none.
    fn header<'r>(&'r self, name: &str) -> Option<&'r [u8]> {
        self.header_lines(name).next()
    }
}

/// The facts of the request in a field, for a wrapper that implements [`Request`] and changes some of the others.
macro_rules! forward_facts {
    ($field:ident) => {
        fn address(&self) -> Option<core::net::IpAddr> {
            self.$field.address()
        }

        fn scheme(&self) -> Option<$crate::request::Scheme> {
            self.$field.scheme()
        }

        fn authority(&self) -> Option<&[u8]> {
            self.$field.authority()
        }

        fn method(&self) -> &[u8] {
            self.$field.method()
        }

        fn path(&self) -> &[u8] {
            self.$field.path()
        }

        fn now(&self) -> i64 {
            self.$field.now()
        }

        fn with_signature_budget<T>(
            &self,
            call: impl FnOnce(&$crate::request::SignatureBudget) -> T,
        ) -> Option<T> {
            self.$field.with_signature_budget(call)
        }
    };
}

pub(crate) use forward_facts;

/// The lines of a header as one value: joined by `,`, and without the empty ones, as Envoy joins those of a User-Agent.
/// `None` where there is no line; copied only where there are several with content.
#[inline]
pub fn joined_lines<'r>(lines: impl Iterator<Item = &'r [u8]>) -> Option<Cow<'r, [u8]>> {
    lines.fold(None, |joined, line| match joined {
        Some(joined) if !joined.is_empty() => Some(with_line(joined, line)),
        _ => Some(Cow::Borrowed(line)),
    })
}

#[cold]
fn with_line<'r>(mut joined: Cow<'r, [u8]>, line: &[u8]) -> Cow<'r, [u8]> {
    if !line.is_empty() {
        let joined = joined.to_mut();
        joined.push(b',');
        joined.extend_from_slice(line);
    }
    joined
}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::collections::BTreeSet;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use core::cell::RefCell;

    use super::*;

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

        fn scheme(&self) -> Option<Scheme> {
            self.note("scheme");
            Some(Scheme::Https)
        }

        fn authority(&self) -> Option<&[u8]> {
            self.note("authority");
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

        fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]> {
            self.note(name);
            self.headers.iter().filter(move |(key, _)| *key == name).map(|(_, value)| value.as_bytes())
        }
    }

    #[test]
    fn lines_are_joined_without_the_empty_ones() {
        let joined = |lines: &[&'static str]| {
            joined_lines(lines.iter().map(|line| line.as_bytes())).map(Cow::into_owned)
        };
        for (lines, expected) in [
            (&[][..], None),
            (&[""], Some("")),
            (&["", ""], Some("")),
            (&["a"], Some("a")),
            (&["", "a"], Some("a")),
            (&["a", ""], Some("a")),
            (&["a", "", "b"], Some("a,b")),
            (&["a", "b", "c"], Some("a,b,c")),
        ] {
            assert_eq!(joined(lines).as_deref(), expected.map(str::as_bytes), "{lines:?}");
        }
    }
}
