//! A request, as the filter sees it: facts are fetched from Envoy when they are first asked for, and kept.

use std::cell::OnceCell;
use std::net::{IpAddr, SocketAddr};

use crawlward_core::Request;

use crate::host_calls::{self, Headers};

/// The request of the current stream.
#[derive(Default)]
pub(crate) struct HostRequest {
    address: OnceCell<Option<IpAddr>>,
    headers: Fetched,
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

/// The headers that were asked for: a list that only grows, so that what was lent from it stays where it is.
#[derive(Default)]
struct Fetched(OnceCell<Box<FetchedHeader>>);

struct FetchedHeader {
    name: Box<str>,
    value: Option<Vec<u8>>,
    rest: Fetched,
}

impl Fetched {
    fn get(&self, name: &str) -> Option<&[u8]> {
        let mut list = self;
        loop {
            let header = list.0.get_or_init(|| {
                let value = host_calls::header(Headers::Request, name);
                Box::new(FetchedHeader { name: name.into(), value, rest: Self::default() })
            });
            if *header.name == *name {
                return header.value.as_deref();
            }
            list = &header.rest;
        }
    }
}
