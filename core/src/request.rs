//! What the core asks of a host about one request.

use core::net::IpAddr;

/// One request, read only as far as a decision needs it.
///
/// In a Wasm filter each fact costs a call into the host, so an implementation fetches a fact when it is first asked
/// for and keeps it. Bytes, not strings: nothing here need be UTF-8.
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
