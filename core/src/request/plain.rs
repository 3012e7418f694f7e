//! A request as plain data.

use core::net::IpAddr;

use super::{Request, Scheme, SignatureBudget};

/// A request whose facts are all at hand, such as one from a log.
#[derive(Clone, Copy, Debug)]
pub struct PlainRequest<'a> {
    /// See [`Request::address`].
    pub address: Option<IpAddr>,
    /// See [`Request::scheme`].
    pub scheme: Option<Scheme>,
    /// See [`Request::authority`].
    pub authority: Option<&'a [u8]>,
    /// See [`Request::method`].
    pub method: &'a [u8],
    /// See [`Request::path`].
    pub path: &'a [u8],
    /// See [`Request::user_agent`].
    pub user_agent: Option<&'a [u8]>,
    /// The lines of other headers, with their names in lower case.
    pub headers: &'a [(&'a str, &'a [u8])],
    /// See [`Request::now`].
    pub now: i64,
    /// See [`Request::with_signature_budget`].
    pub signature_budget: Option<&'a SignatureBudget>,
}

impl Default for PlainRequest<'_> {
    /// `GET /`, at the Unix epoch, of which nothing else is known.
    fn default() -> Self {
        Self {
            address: None,
            scheme: None,
            authority: None,
            method: b"GET",
            path: b"/",
            user_agent: None,
            headers: &[],
            now: 0,
            signature_budget: None,
        }
    }
}

impl Request for PlainRequest<'_> {
    fn address(&self) -> Option<IpAddr> {
        self.address
    }

    fn scheme(&self) -> Option<Scheme> {
        self.scheme
    }

    fn authority(&self) -> Option<&[u8]> {
        self.authority
    }

    fn method(&self) -> &[u8] {
        self.method
    }

    fn path(&self) -> &[u8] {
        self.path
    }

    fn user_agent(&self) -> Option<&[u8]> {
        self.user_agent
    }

    fn now(&self) -> i64 {
        self.now
    }

    fn with_signature_budget<T>(&self, call: impl FnOnce(&SignatureBudget) -> T) -> Option<T> {
        self.signature_budget.map(call)
    }

    fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        self.headers.iter().filter(move |(known, _)| *known == name).map(|(_, value)| *value)
    }
}
