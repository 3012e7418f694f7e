//! A request, as the filter sees it.
//!
//! A call of the host that returns bytes costs about as much as deciding, because the host enters the virtual machine once
//! more to allocate memory. So all headers are fetched in one call, and the address in another.

use std::cell::{Cell, OnceCell};
use std::net::IpAddr;

use crawlward_core::{Request, Scheme, SignatureBudget};
use crawlward_envoy_gate as gate;
use proxy_wasm::types::MapType;

use crate::headers::HeaderMap;
use crate::host::{Refused, property};
use crate::raw;

/// The downstream address, as Envoy computed it.
const ADDRESS: [&str; 2] = ["source", "address"];

/// The filter state with the address from before an internal redirect.
const FIRST_ADDRESS: &str = "crawlward.address";

/// Has [`FIRST_ADDRESS`] last as long as the request, internal redirects included, where the current plugin sets it.
pub fn keep_address_for_redirects() -> Result<(), Refused> {
    // Envoy's `DeclarePropertyArguments`, a protocol buffer: field 1 is the name and its length, field 5 the life span, in
    // which 1 stands for the request.
    const LENGTH: u8 = FIRST_ADDRESS.len() as u8;
    const { assert!(FIRST_ADDRESS.len() < 0x80, "the length takes one byte") };
    let arguments = [&[0x0a, LENGTH], FIRST_ADDRESS.as_bytes(), &[0x28, 1]].concat();
    raw::call_foreign_function("declare_property", &arguments)
}

/// Keeps the client's address, in case the current stream ends because of an internal redirect: the stream that Envoy then
/// creates for the request has the address of the connection.
pub fn keep_address() -> Result<(), Refused> {
    if property(&[FIRST_ADDRESS])?.is_none()
        && let Some(address) = property(&ADDRESS)?
    {
        raw::set_filter_state(FIRST_ADDRESS, &address)?;
    }
    Ok(())
}

/// The request of the current stream.
pub struct HostRequest {
    headers: HeaderMap,
    /// Fetched when the core first asks for it.
    address: OnceCell<Option<IpAddr>>,
    /// The last refusal of a fact that the core asked for.
    refused: Cell<Option<Refused>>,
}

impl HostRequest {
    /// The headers of the request of the current stream.
    pub(crate) fn fetch() -> Result<Self, Refused> {
        let headers = raw::all_headers(MapType::HttpRequestHeaders)?;
        Ok(Self { headers, address: OnceCell::new(), refused: Cell::new(None) })
    }

    /// The fact; `None` where the host refused it, which [`gate::HostRequest::facts_complete`] then reports.
    fn granted<T>(&self, fact: Result<T, Refused>) -> Option<T> {
        fact.map_err(|refused| self.refused.set(Some(refused))).ok()
    }

    fn fetch_address(&self) -> Option<IpAddr> {
        // Envoy adds this header after an internal redirect. A client may send it, too; then no address was kept.
        let first = match self.headers.get("x-envoy-original-url") {
            Some(_) => self.granted(property(&[FIRST_ADDRESS])).flatten(),
            None => None,
        };
        let value = first.or_else(|| self.granted(property(&ADDRESS)).flatten())?;
        gate::address_of(&value)
    }
}

impl gate::HostRequest for HostRequest {
    type Error = Refused;

    fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.headers.lines().map(|(name, _)| name)
    }

    fn facts_complete(&self) -> Result<(), Refused> {
        self.refused.get().map_or(Ok(()), Err)
    }
}

impl Request for HostRequest {
    /// The downstream address as Envoy computed it: with trusted hops of X-Forwarded-For, or the PROXY protocol.
    fn address(&self) -> Option<IpAddr> {
        *self.address.get_or_init(|| self.fetch_address())
    }

    /// What the client used to reach the first proxy, where Envoy trusts that to say so.
    fn scheme(&self) -> Option<Scheme> {
        let scheme = std::str::from_utf8(self.headers.get(":scheme")?).ok()?;
        Scheme::from_word(scheme)
    }

    fn authority(&self) -> Option<&[u8]> {
        Some(self.headers.get(":authority").unwrap_or_default())
    }

    /// Every request that Envoy passes to filters has one.
    fn method(&self) -> &[u8] {
        self.headers.get(":method").unwrap_or_default()
    }

    /// CONNECT has none.
    fn path(&self) -> &[u8] {
        self.headers.get(":path").unwrap_or_default()
    }

    /// Envoy itself joins several lines of this header.
    fn user_agent(&self) -> Option<&[u8]> {
        self.headers.get("user-agent")
    }

    /// Where the host refuses the time, any will do: [`gate::HostRequest::facts_complete`] then rejects what is decided with it.
    fn now(&self) -> i64 {
        self.granted(raw::now()).unwrap_or_default()
    }

    fn signature_budget(&self) -> Option<&SignatureBudget> {
        static OF_THIS_WORKER: SignatureBudget = SignatureBudget::new();
        Some(&OF_THIS_WORKER)
    }

    fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        self.headers.lines().filter(move |(header, _)| *header == name.as_bytes()).map(|(_, value)| value)
    }
}
