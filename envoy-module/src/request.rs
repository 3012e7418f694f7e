//! A stream in the native module, for `crawlpike-envoy-gate`.

use std::cell::{Cell, OnceCell};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::IpAddr;

use crawlpike_core::{HeaderName, HeaderNames, NameLengths, Request, Scheme, SignatureBudget};
use crawlpike_envoy_gate::{
    Change, ChangedHeaders, HeaderLines, HostRequest, KNOWN_LENGTHS, KnownHeaders, NAME, Stream, address_of,
};

use crate::envoy::{HeaderSet, Lines, Refused, StreamHandle};

/// The stream of a hook.
pub(crate) struct HostStream<'s, 'h> {
    handle: &'s mut StreamHandle<'h>,
    /// True if the request that was read is one of gRPC.
    is_grpc: Cell<bool>,
}

impl<'s, 'h> HostStream<'s, 'h> {
    pub(crate) fn new(handle: &'s mut StreamHandle<'h>) -> Self {
        Self { handle, is_grpc: Cell::new(false) }
    }
}

impl<'h> Stream for HostStream<'_, 'h> {
    type Error = Refused;
    type Request<'s>
        = NativeRequest<'s, 'h>
    where
        Self: 's;
    type Lines<'s>
        = Lines<'s>
    where
        Self: 's;

    const SEES_OWN_RESPONSES: bool = false;
    const MAKES_DOCUMENTS: bool = true;

    #[inline]
    fn request(&self) -> Result<NativeRequest<'_, 'h>, Refused> {
        let lines = self.handle.headers(HeaderSet::Request)?;
        const LENGTHS: NameLengths = KNOWN_LENGTHS.and_of("content-type");
        let mut known = KnownHeaders::default();
        let mut is_grpc = false;
        for (name, value) in lines.with_name_length(|length| LENGTHS.may_have(length)) {
            match name {
                b"content-type" => is_grpc |= is_type_of_grpc(value),
                _ => known.see(name, value),
            }
        }
        self.is_grpc.set(is_grpc);
        Ok(NativeRequest { known, lines, handle: self.handle, address: OnceCell::new() })
    }

    /// In all headers: to look for one, Envoy makes an index of them first.
    fn response_has_any(&self, headers: &[HeaderName]) -> Result<bool, Refused> {
        let lines = self.lines(ChangedHeaders::Response)?;
        Ok(lines.iter().any(|(name, _)| headers.iter().any(|header| name == header.lowercase.as_bytes())))
    }

    fn lines(&self, headers: ChangedHeaders) -> Result<Lines<'_>, Refused> {
        self.handle.headers(header_set(headers))
    }

    fn change(&mut self, headers: ChangedHeaders, name: &[u8], change: Change<'_>) -> Result<(), Refused> {
        let headers = header_set(headers);
        match change {
            Change::Add(value) => self.handle.add_header(headers, name, value),
            Change::Replace(value) => self.handle.set_header(headers, name, Some(value)),
            Change::Remove => self.handle.set_header(headers, name, None),
        }
    }

    fn change_path(&mut self, target: &[u8]) -> Result<(), Refused> {
        self.handle.set_header(HeaderSet::Request, b":path", Some(target))?;
        self.handle.choose_route_again();
        Ok(())
    }

    /// In the filter state; a single fact is in the dynamic metadata, too, where other filters can use it.
    fn show(&mut self, fact: Option<&str>, value: &str) -> Result<(), Refused> {
        let Some(fact) = fact else {
            return self.handle.set_filter_state(NAME, value.as_bytes());
        };
        self.handle.set_metadata(NAME, fact, value);
        self.handle.set_filter_state(&format!("{NAME}.{fact}"), value.as_bytes())
    }

    fn respond(
        &mut self,
        status: u16,
        details: &str,
        headers: &[(&[u8], &[u8])],
        body: &[u8],
    ) -> Result<(), Refused> {
        // Envoy would report success to a client of gRPC: a module cannot leave the choice to Envoy, as a Wasm filter can.
        let grpc = self.is_grpc.get().then(|| (&b"grpc-status"[..], grpc_status(status)));
        let headers: Vec<_> = headers.iter().copied().chain(grpc).collect();
        self.handle.respond(status, &headers, body, details);
        Ok(())
    }
}

fn header_set(headers: ChangedHeaders) -> HeaderSet {
    match headers {
        ChangedHeaders::Request => HeaderSet::Request,
        ChangedHeaders::RequestTrailers => HeaderSet::RequestTrailers,
        ChangedHeaders::Response => HeaderSet::Response,
        ChangedHeaders::ResponseTrailers => HeaderSet::ResponseTrailers,
    }
}

/// Returns true if Envoy takes a request with this type for one of gRPC, to which it answers in its protocol.
fn is_type_of_grpc(content_type: &[u8]) -> bool {
    let suffix = content_type.strip_prefix(b"application/grpc");
    suffix.is_some_and(|suffix| matches!(suffix.first(), None | Some(b'+')))
}

/// The status of gRPC for one of HTTP, as Envoy and the mapping of gRPC have it.
fn grpc_status(status: u16) -> &'static [u8] {
    match status {
        400 => b"13",
        401 => b"16",
        403 => b"7",
        404 => b"12",
        429 | 502 | 503 | 504 => b"14",
        _ => b"2",
    }
}

impl HeaderLines for Lines<'_> {
    fn lines(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.iter()
    }
}

/// The request of a stream.
pub(crate) struct NativeRequest<'s, 'h> {
    lines: Lines<'s>,
    known: KnownHeaders<&'s [u8]>,
    handle: &'s StreamHandle<'h>,
    /// Fetched when the core first asks for it.
    address: OnceCell<Option<IpAddr>>,
}

impl NativeRequest<'_, '_> {
    fn fetch_address(&self) -> Option<IpAddr> {
        // Envoy adds this header after an internal redirect. A client may send it, too; then no address was kept.
        let kept = || self.handle.kept_address(NAME);
        let first = self.known.is_redirected.then(kept).flatten();
        first.or_else(|| address_of(self.handle.source_address()?))
    }
}

impl HostRequest for NativeRequest<'_, '_> {
    type Error = Refused;

    fn header_names(&self) -> HeaderNames {
        self.known.names
    }

    fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(|(name, _)| name)
    }

    /// Envoy gives each fact that there is.
    fn facts_complete(&self) -> Result<(), Refused> {
        Ok(())
    }
}

impl Request for NativeRequest<'_, '_> {
    /// The downstream address as Envoy computed it: with trusted hops of X-Forwarded-For, or the PROXY protocol.
    fn address(&self) -> Option<IpAddr> {
        *self.address.get_or_init(|| self.fetch_address())
    }

    /// The scheme that the client used to reach the first proxy, if Envoy trusts that proxy to say so.
    fn scheme(&self) -> Option<Scheme> {
        let scheme = std::str::from_utf8(self.known.scheme?).ok()?;
        Scheme::from_word(scheme)
    }

    fn authority(&self) -> Option<&[u8]> {
        Some(self.known.authority.unwrap_or_default())
    }

    /// Every request that Envoy passes to filters has one.
    fn method(&self) -> &[u8] {
        self.known.method.unwrap_or_default()
    }

    /// CONNECT has none.
    fn path(&self) -> &[u8] {
        self.known.path.unwrap_or_default()
    }

    /// Envoy itself joins several lines of this header.
    fn user_agent(&self) -> Option<&[u8]> {
        self.known.user_agent
    }

    fn now(&self) -> i64 {
        crawlpike_files::now()
    }

    fn with_signature_budget<T>(&self, call: impl FnOnce(&SignatureBudget) -> T) -> Option<T> {
        static OF_ALL_WORKERS: SignatureBudget = SignatureBudget::new();
        // The standard library's random keys of a hash are the system's.
        OF_ALL_WORKERS.seed(|| RandomState::new().build_hasher().finish());
        Some(call(&OF_ALL_WORKERS))
    }

    fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        self.lines.iter().filter(move |(line, _)| *line == name.as_bytes()).map(|(_, value)| value)
    }
}
