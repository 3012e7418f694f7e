//! A request as a log has it.

use std::borrow::Cow;
use std::net::IpAddr;

use crawlpike_core::{Request, Scheme};

/// A text of a line: borrowed, unless the log escaped a part of it.
pub(crate) type Text<'l> = Cow<'l, [u8]>;

/// A request as a line of a log has it. What the log lacks is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'l> {
    /// The client; `None` for a client on a unix socket, too.
    pub address: Option<IpAddr>,
    /// When the server logged it, in seconds since the Unix epoch.
    pub time: Option<i64>,
    /// The scheme by which the client reached the server.
    pub scheme: Option<Scheme>,
    /// The host, with or without a port.
    pub authority: Option<Text<'l>>,
    /// The method.
    pub method: Text<'l>,
    /// The path with the query. Empty for CONNECT.
    pub target: Text<'l>,
    /// The User-Agent.
    pub user_agent: Option<Text<'l>>,
    /// The purposes that the client declared.
    pub purpose: Option<Text<'l>>,
    /// The status that the server sent.
    pub status: Option<u16>,
    /// The number of bytes that the server sent; 0 if the log does not have it.
    pub bytes: u64,
}

/// A record with the values that the log lacks, as the core asks for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) record: &'a Record<'a>,
    /// The name of the header with the purposes.
    pub(crate) purpose_header: &'a str,
    /// The time at which feeds are judged.
    pub(crate) now: i64,
}

impl Request for Asked<'_> {
    fn address(&self) -> Option<IpAddr> {
        self.record.address
    }

    fn scheme(&self) -> Option<Scheme> {
        self.record.scheme
    }

    fn authority(&self) -> Option<&[u8]> {
        self.record.authority.as_deref()
    }

    fn method(&self) -> &[u8] {
        &self.record.method
    }

    fn path(&self) -> &[u8] {
        &self.record.target
    }

    fn user_agent(&self) -> Option<&[u8]> {
        self.record.user_agent.as_deref()
    }

    fn now(&self) -> i64 {
        self.now
    }

    fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        let purpose = self.record.purpose.as_deref();
        purpose.filter(|_| name == self.purpose_header).into_iter()
    }
}
