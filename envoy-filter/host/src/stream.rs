//! The current stream, as both gates in Envoy see a stream.

use std::borrow::Cow;

use crawlpike_core::HeaderName;
use crawlpike_envoy_gate::{Change, ChangedHeaders, HeaderLines, NAME, Stream};
use proxy_wasm::types::MapType;

use crate::headers::HeaderMap;
use crate::host::Refused;
use crate::raw;
use crate::request::HostRequest;
use crate::trusted_hops::TrustedHops;

/// The stream that the host's call is about.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostStream<'g> {
    hops: Option<&'g TrustedHops>,
}

impl<'g> HostStream<'g> {
    /// `hops` is what gives the client's address without a call of the host, if the configuration has it.
    pub fn new(hops: Option<&'g TrustedHops>) -> Self {
        Self { hops }
    }
}

impl<'g> Stream for HostStream<'g> {
    type Error = Refused;
    type Request<'s>
        = HostRequest<'g>
    where
        Self: 's;
    type Lines<'s>
        = HeaderMap
    where
        Self: 's;

    const SEES_OWN_RESPONSES: bool = true;

    /// `crawlpike-documents.wasm` makes them.
    const MAKES_DOCUMENTS: bool = false;

    fn request(&self) -> Result<HostRequest<'g>, Refused> {
        HostRequest::fetch(self.hops)
    }

    /// One by one, since most responses have none: without a result, a call leaves the sandbox only once.
    fn response_has_any(&self, headers: &[HeaderName]) -> Result<bool, Refused> {
        for header in headers {
            if raw::header(MapType::HttpResponseHeaders, header.lowercase)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn lines(&self, headers: ChangedHeaders) -> Result<HeaderMap, Refused> {
        raw::all_headers(map_of(headers))
    }

    fn change(&mut self, headers: ChangedHeaders, name: &[u8], change: Change<'_>) -> Result<(), Refused> {
        raw::change_header(map_of(headers), name, change)
    }

    /// Envoy chooses the route again whenever a Wasm filter changes a header.
    fn change_path(&mut self, target: &[u8]) -> Result<(), Refused> {
        self.change(ChangedHeaders::Request, b":path", Change::Replace(target))
    }

    /// In the filter state, to whose names the host adds `wasm.`.
    fn show(&mut self, fact: Option<&str>, value: &str) -> Result<(), Refused> {
        let name = fact.map_or(Cow::Borrowed(NAME), |fact| format!("{NAME}.{fact}").into());
        raw::set_filter_state(&name, value.as_bytes())
    }

    fn respond(
        &mut self,
        status: u16,
        details: &str,
        headers: &[(&[u8], &[u8])],
        body: &[u8],
    ) -> Result<(), Refused> {
        raw::respond(status, details, headers, body)
    }
}

fn map_of(headers: ChangedHeaders) -> MapType {
    match headers {
        ChangedHeaders::Request => MapType::HttpRequestHeaders,
        ChangedHeaders::RequestTrailers => MapType::HttpRequestTrailers,
        ChangedHeaders::Response => MapType::HttpResponseHeaders,
        ChangedHeaders::ResponseTrailers => MapType::HttpResponseTrailers,
    }
}

impl HeaderLines for HeaderMap {
    fn lines(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.lines()
    }
}
