//! A request, as the filter sees it.
//!
//! A call of the host that returns bytes costs about as much as deciding, because the host enters the virtual machine once
//! more to allocate memory. So all headers are fetched in one call, and the address in another,
//! unless the headers have it.

use std::cell::{Cell, OnceCell};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::IpAddr;

use crawlpike_core::{HeaderNames, Request, Scheme, SignatureBudget};
use crawlpike_envoy_gate::{self as gate, Forwarded, KNOWN_LENGTHS, KnownHeaders};
use proxy_wasm::types::MapType;

use crate::headers::{HeaderMap, Place};
use crate::host::Refused;
use crate::raw;
use crate::trusted_hops::TrustedHops;

/// The downstream address, as Envoy computed it.
const ADDRESS: &str = "source\0address";

/// The filter state with the address from before an internal redirect.
const FIRST_ADDRESS: &str = "crawlpike.address";

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
    if raw::property(FIRST_ADDRESS)?.is_none()
        && let Some(address) = raw::property(ADDRESS)?
    {
        raw::set_filter_state(FIRST_ADDRESS, &address)?;
    }
    Ok(())
}

/// The places of the headers that say whose address Envoy took.
#[derive(Default)]
struct Forwarding {
    forwarded_for: Option<Place>,
    external_address: Option<Place>,
    /// True if there are several lines of X-Forwarded-For. Envoy would have made one line of them.
    is_forwarded_twice: bool,
    is_internal: bool,
}

impl Forwarding {
    fn see(&mut self, name: &[u8], value: Place) {
        match name {
            b"x-forwarded-for" => {
                self.is_forwarded_twice |= self.forwarded_for.is_some();
                self.forwarded_for.get_or_insert(value);
            }
            b"x-envoy-external-address" => {
                self.external_address.get_or_insert(value);
            }
            b"x-envoy-internal" => self.is_internal = true,
            _ => {}
        }
    }
}

/// The request of the current stream.
pub struct HostRequest<'g> {
    headers: HeaderMap,
    known: KnownHeaders<Place>,
    forwarding: Forwarding,
    hops: Option<&'g TrustedHops>,
    /// Fetched when the core first asks for it.
    address: OnceCell<Option<IpAddr>>,
    /// The last refusal of a fact that the core asked for.
    refused: Cell<Option<Refused>>,
}

impl<'g> HostRequest<'g> {
    /// The headers of the request of the current stream.
    pub(crate) fn fetch(hops: Option<&'g TrustedHops>) -> Result<Self, Refused> {
        let (mut known, mut forwarding) = (KnownHeaders::default(), Forwarding::default());
        let headers = raw::all_headers_shown(MapType::HttpRequestHeaders, |name, value| {
            if KNOWN_LENGTHS.may_have(name.len()) {
                known.see(name, value);
            }
            if hops.is_some() {
                forwarding.see(name, value);
            }
        })?;
        Ok(Self { headers, known, forwarding, hops, address: OnceCell::new(), refused: Cell::new(None) })
    }

    /// The fact; `None` where the host refused it, which [`gate::HostRequest::facts_complete`] then reports.
    fn granted<T>(&self, fact: Result<T, Refused>) -> Option<T> {
        fact.map_err(|refused| self.refused.set(Some(refused))).ok()
    }

    fn value(&self, place: Option<Place>) -> Option<&[u8]> {
        self.headers.value(place?)
    }

    fn fetch_address(&self) -> Option<IpAddr> {
        let ask = || gate::address_of(&self.granted(raw::property(ADDRESS)).flatten()?);
        // Envoy adds this header after an internal redirect, and the address of its peer to X-Forwarded-For once more. A client
        // may send the header, too; then no address was kept.
        if self.known.is_redirected {
            return match self.granted(raw::property(FIRST_ADDRESS)).flatten() {
                Some(first) => gate::address_of(&first),
                None => ask(),
            };
        }
        match self.hops {
            Some(hops) => hops.address(&self.forwarded(), ask),
            None => ask(),
        }
    }

    fn forwarded(&self) -> Forwarded<'_> {
        let Forwarding { forwarded_for, external_address, is_forwarded_twice, is_internal } = self.forwarding;
        Forwarded {
            forwarded_for: self.value(forwarded_for.filter(|_| !is_forwarded_twice)),
            external_address: self.value(external_address),
            is_internal,
        }
    }
}

impl gate::HostRequest for HostRequest<'_> {
    type Error = Refused;

    fn header_names(&self) -> HeaderNames {
        self.known.names
    }

    fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.headers.lines().map(|(name, _)| name)
    }

    fn facts_complete(&self) -> Result<(), Refused> {
        self.refused.get().map_or(Ok(()), Err)
    }
}

impl Request for HostRequest<'_> {
    /// The downstream address as Envoy computed it: with trusted hops of X-Forwarded-For, or the PROXY protocol.
    fn address(&self) -> Option<IpAddr> {
        *self.address.get_or_init(|| self.fetch_address())
    }

    /// The scheme that the client used to reach the first proxy, if Envoy trusts that proxy to say so.
    fn scheme(&self) -> Option<Scheme> {
        let scheme = std::str::from_utf8(self.value(self.known.scheme)?).ok()?;
        Scheme::from_word(scheme)
    }

    fn authority(&self) -> Option<&[u8]> {
        Some(self.value(self.known.authority).unwrap_or_default())
    }

    /// Every request that Envoy passes to filters has one.
    fn method(&self) -> &[u8] {
        self.value(self.known.method).unwrap_or_default()
    }

    /// CONNECT has none.
    fn path(&self) -> &[u8] {
        self.value(self.known.path).unwrap_or_default()
    }

    /// Envoy itself joins several lines of this header.
    fn user_agent(&self) -> Option<&[u8]> {
        self.value(self.known.user_agent)
    }

    /// If the host refuses the time, any will do: [`gate::HostRequest::facts_complete`] then rejects what is decided with it.
    fn now(&self) -> i64 {
        self.granted(raw::now()).unwrap_or_default()
    }

    fn with_signature_budget<T>(&self, call: impl FnOnce(&SignatureBudget) -> T) -> Option<T> {
        // A new configuration keeps the virtual machine, and so this.
        static OF_THIS_WORKER: SignatureBudget = SignatureBudget::new();
        // The standard library's random keys of a hash are the host's.
        OF_THIS_WORKER.seed(|| RandomState::new().build_hasher().finish());
        Some(call(&OF_THIS_WORKER))
    }

    fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        self.headers.lines().filter(move |(header, _)| *header == name.as_bytes()).map(|(_, value)| value)
    }
}
