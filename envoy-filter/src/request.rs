//! A request, as the filter sees it.
//!
//! Each call of the host that returns bytes costs about as much as all that is decided, since the host enters the virtual
//! machine again for the memory: so the headers come all at once. The address comes by itself.

use std::cell::OnceCell;
use std::net::{IpAddr, SocketAddr};

use crawlward_core::Request;

use crate::host_calls::{self, HeaderMap, Headers, Refused};

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
            let value = host_calls::property("source\0address")?;
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
