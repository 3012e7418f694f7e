//! The calls of Envoy that a gate makes about one stream.

use core::convert::Infallible;

use crawlpike_core::{HeaderName, HeaderNames, PlainRequest, Request};

/// The name of the filter, and of the filter state for the access log.
pub const NAME: &str = "crawlpike";

/// A change to the lines of one header.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// Adds a line.
    Add(&'a [u8]),
    /// Replaces all lines by one.
    Replace(&'a [u8]),
    /// Removes all lines.
    Remove,
}

/// The headers, or trailers, that are read or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedHeaders {
    /// The request's.
    Request,
    /// The trailers of the request.
    RequestTrailers,
    /// The response's.
    Response,
    /// The trailers of the response.
    ResponseTrailers,
}

/// A request, as far as Envoy has given it.
pub trait HostRequest: Request {
    /// The reason that Envoy refuses a call.
    type Error;

    /// The facts that the names of all header lines give.
    fn header_names(&self) -> HeaderNames;

    /// The name of each header line, in lower case.
    fn names(&self) -> impl Iterator<Item = &[u8]>;

    /// Checks that Envoy gave every fact that the core asked for: a decision without one does not count.
    ///
    /// # Errors
    ///
    /// Envoy refused a fact.
    fn facts_complete(&self) -> Result<(), Self::Error>;
}

/// A request whose facts have come with it, as those of a question to a server.
impl HostRequest for PlainRequest<'_> {
    type Error = Infallible;

    fn header_names(&self) -> HeaderNames {
        let mut names = HeaderNames::default();
        self.names().for_each(|name| names.see(name));
        names
    }

    fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.headers.iter().map(|(name, _)| name.as_bytes())
    }

    fn facts_complete(&self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Header lines, as far as Envoy has given them.
pub trait HeaderLines {
    /// The lines, as name and value; names are in lower case.
    fn lines(&self) -> impl Iterator<Item = (&[u8], &[u8])>;
}

/// A request with its response, in Envoy. Names of headers are in lower case.
pub trait Stream {
    /// The reason that Envoy refuses a call.
    type Error;

    /// The request. A change of its headers ends the borrow.
    type Request<'s>: HostRequest<Error = Self::Error>
    where
        Self: 's;

    /// Lines of headers.
    type Lines<'s>: HeaderLines
    where
        Self: 's;

    /// True if Envoy shows the gate the responses that the gate itself sends.
    const SEES_OWN_RESPONSES: bool;

    /// True if the gate makes documents of pages.
    const MAKES_DOCUMENTS: bool;

    /// The request.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    fn request(&self) -> Result<Self::Request<'_>, Self::Error>;

    /// Returns true if the response has any of these headers.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    fn response_has_any(&self, headers: &[HeaderName]) -> Result<bool, Self::Error>;

    /// All lines of some headers.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    fn lines(&self, headers: ChangedHeaders) -> Result<Self::Lines<'_>, Self::Error>;

    /// Changes the lines of a header.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    fn change(&mut self, headers: ChangedHeaders, name: &[u8], change: Change<'_>)
    -> Result<(), Self::Error>;

    /// Replaces the path and query of the request, so that Envoy chooses the route by it.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    fn change_path(&mut self, target: &[u8]) -> Result<(), Self::Error>;

    /// Shows the value of `X-Crawlpike`, or a single fact, to the access log and to other filters. `fact` is the name of the
    /// single fact.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    fn show(&mut self, fact: Option<&str>, value: &str) -> Result<(), Self::Error>;

    /// Answers the request instead of the upstream; `details` is for `%RESPONSE_CODE_DETAILS%`.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    fn respond(
        &mut self,
        status: u16,
        details: &str,
        headers: &[(&[u8], &[u8])],
        body: &[u8],
    ) -> Result<(), Self::Error>;
}
