//! A request, as the filter sees it.
//!
//! Each call of the host that returns bytes costs about as much as all that is decided, since the host enters the virtual
//! machine again for the memory: so the headers come all at once. The address comes by itself.

use std::cell::OnceCell;
use std::net::{IpAddr, SocketAddr};

use crawlward_core::Request;

use crate::host_calls::{self, HeaderMap, Headers, Refused};

/// The downstream address, as Envoy computed it.
const ADDRESS: &str = "source\0address";

/// What that was before an internal redirect, in the filter state.
pub(crate) const FIRST_ADDRESS: &str = "crawlward.address";

/// Keeps the client's address, for the case that the current stream ends because of an internal redirect: for the stream
/// that Envoy makes of the request, it takes the address of the connection.
pub(crate) fn keep_address() -> Result<(), Refused> {
    if host_calls::property(FIRST_ADDRESS).is_none()
        && let Some(address) = host_calls::property(ADDRESS)
    {
        host_calls::set_filter_state(FIRST_ADDRESS, &address)?;
    }
    Ok(())
}

/// The request of the current stream.
pub(crate) struct HostRequest {
    headers: HeaderMap,
    /// Fetched when it is first asked for.
    address: OnceCell<Option<IpAddr>>,
}

impl HostRequest {
    pub(crate) fn fetch() -> Result<Self, Refused> {
        Ok(Self { headers: host_calls::all_headers(Headers::Request)?, address: OnceCell::new() })
    }
}

impl Request for HostRequest {
    /// The downstream address as Envoy computed it: with trusted hops of X-Forwarded-For, or the PROXY protocol.
    fn address(&self) -> Option<IpAddr> {
        *self.address.get_or_init(|| {
            // Envoy has the header after an internal redirect. A client may send it, too; then nothing was kept.
            let is_redirected = self.headers.get("x-envoy-original-url").is_some();
            let first = is_redirected.then(|| host_calls::property(FIRST_ADDRESS)).flatten();
            let value = first.or_else(|| host_calls::property(ADDRESS))?;
            let address: SocketAddr = std::str::from_utf8(&value).ok()?.parse().ok()?;
            Some(address.ip())
        })
    }

    fn host(&self) -> Option<&[u8]> {
        self.headers.get(":authority")
    }

    fn method(&self) -> &[u8] {
        self.headers.get(":method").unwrap_or_default()
    }

    fn path(&self) -> &[u8] {
        self.headers.get(":path").unwrap_or_default()
    }

    /// Envoy joins several lines of this header by itself.
    fn user_agent(&self) -> Option<&[u8]> {
        self.headers.get("user-agent")
    }

    fn now(&self) -> i64 {
        host_calls::now()
    }

    fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.get(name)
    }
}
