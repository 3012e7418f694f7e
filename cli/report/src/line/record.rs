//! A request as a log has it.

use std::borrow::Cow;
use std::net::IpAddr;

use crawlpike_core::{PlainRequest, Scheme};

/// A text of a line: borrowed, unless the log escaped a part of it.
pub(crate) type Text<'l> = Cow<'l, [u8]>;

/// A request as a line of a log has it. What the log lacks is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'l> {
    /// The client; `None` for a client on a unix socket, too.
    pub address: Option<IpAddr>,
    /// When the server logged it, in seconds since the Unix epoch.
    pub time: Option<i64>,
    /// The milliseconds behind these seconds; `None` if the log has whole seconds.
    pub milliseconds: Option<u16>,
    /// The scheme by which the client reached the server.
    pub scheme: Option<Scheme>,
    /// The host, with or without a port.
    pub authority: Option<Text<'l>>,
    /// The method.
    pub method: Text<'l>,
    /// The path with the query. Empty for CONNECT.
    pub target: Text<'l>,
    /// True if the log has only the path after rewrites and internal redirects.
    pub is_rewritten: bool,
    /// The User-Agent.
    pub user_agent: Option<Text<'l>>,
    /// The purposes that the client declared.
    pub purpose: Option<Text<'l>>,
    /// The Accept.
    pub accept: Option<Text<'l>>,
    /// The status that the server sent.
    pub status: Option<u16>,
    /// The number of bytes that the server sent; 0 if the log does not have it.
    pub bytes: u64,
}

impl Record<'_> {
    /// The request for the core, with these headers.
    pub(crate) fn request<'r>(&'r self, headers: &'r [(&'r str, &'r [u8])], now: i64) -> PlainRequest<'r> {
        PlainRequest {
            address: self.address,
            scheme: self.scheme,
            authority: self.authority.as_deref(),
            method: &self.method,
            path: &self.target,
            user_agent: self.user_agent.as_deref(),
            headers,
            now,
            signature_budget: None,
        }
    }
}
