//! The request that a user describes, in arguments or as a line of JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use crawlpike_core::{Request, Ruleset, Scheme, is_token_byte, joined_lines};

/// A request as the gates would see it.
#[derive(Clone, Debug)]
pub(crate) struct DescribedRequest {
    pub(crate) address: IpAddr,
    pub(crate) scheme: Option<Scheme>,
    pub(crate) host: Option<Vec<u8>>,
    pub(crate) method: Method,
    pub(crate) path: Vec<u8>,
    user_agent: Option<Vec<u8>>,
    /// The lines of each header, by lower-case name.
    headers: BTreeMap<String, Vec<Vec<u8>>>,
}

impl DescribedRequest {
    /// A request without headers.
    pub(crate) fn new(address: IpAddr, host: Option<Vec<u8>>, method: Method, path: Vec<u8>) -> Self {
        Self { address, scheme: None, host, method, path, user_agent: None, headers: BTreeMap::new() }
    }

    /// Adds a line of a header.
    pub(crate) fn add(&mut self, name: &HeaderName, value: &[u8]) {
        self.headers.entry(name.0.clone()).or_default().push(value.trim_ascii().to_vec());
        if name.0 == "user-agent" {
            self.user_agent = joined_lines(self.header_lines(&name.0)).map(Cow::into_owned);
        }
    }

    /// Adds a line of a header, whose name is in lower case, if it is given.
    pub(crate) fn add_known(&mut self, name: &str, value: Option<&[u8]>) {
        if let Some(value) = value {
            self.add(&HeaderName(name.to_string()), value);
        }
    }
}

impl Request for DescribedRequest {
    fn address(&self) -> Option<IpAddr> {
        Some(self.address)
    }

    fn scheme(&self) -> Option<Scheme> {
        self.scheme
    }

    fn authority(&self) -> Option<&[u8]> {
        self.host.as_deref().or_else(|| self.header("host"))
    }

    fn method(&self) -> &[u8] {
        self.method.0.as_bytes()
    }

    fn path(&self) -> &[u8] {
        &self.path
    }

    fn now(&self) -> i64 {
        crawlpike_files::now()
    }

    fn user_agent(&self) -> Option<&[u8]> {
        self.user_agent.as_deref()
    }

    fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        self.headers.get(name).into_iter().flatten().map(Vec::as_slice)
    }
}

/// A method (RFC 9110 9.1); case-sensitive.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Method(String);

impl Default for Method {
    fn default() -> Self {
        Self("GET".to_string())
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Method {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if is_token(&text) { Ok(Self(text)) } else { Err(format!("invalid method `{text}`")) }
    }
}

/// The name of a header, in lower case.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct HeaderName(String);

impl HeaderName {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for HeaderName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if is_token(&text) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(format!("invalid header name `{text}`"))
        }
    }
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_token_byte)
}

/// A header as an argument has it: `Name: value`.
pub(crate) fn header(line: &[u8]) -> Result<(HeaderName, Vec<u8>), String> {
    let mut parts = line.splitn(2, |byte| *byte == b':');
    let (Some(name), Some(value)) = (parts.next(), parts.next()) else {
        return Err("expected `Name: value`".to_string());
    };
    check_header_value(value)?;
    Ok((HeaderName::try_from(String::from_utf8_lossy(name).into_owned())?, value.to_vec()))
}

/// Refuses a header value that no server accepts.
pub(crate) fn check_header_value(value: &[u8]) -> Result<(), String> {
    match value.iter().find(|byte| matches!(byte, b'\0' | b'\r' | b'\n')) {
        Some(byte) => Err(format!("a header value cannot contain the byte 0x{byte:02x}")),
        None => Ok(()),
    }
}

/// A request as a line of JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestLine {
    ip: IpAddr,
    scheme: Option<Scheme>,
    host: Option<String>,
    method: Option<Method>,
    path: Option<String>,
    user_agent: Option<HeaderValue>,
    purpose: Option<HeaderValue>,
    headers: Option<Headers>,
}

impl RequestLine {
    /// The request that is described.
    pub(crate) fn into_request(self, ruleset: &Ruleset) -> DescribedRequest {
        let path = self.path.unwrap_or_else(|| "/".to_string());
        let mut request = DescribedRequest::new(
            self.ip,
            self.host.map(String::into_bytes),
            self.method.unwrap_or_default(),
            path.into_bytes(),
        );
        request.scheme = self.scheme;
        for (name, value) in [("user-agent", &self.user_agent), (ruleset.purpose_header(), &self.purpose)] {
            request.add_known(name, value.as_ref().map(|value| value.0.as_bytes()));
        }
        for (name, value) in self.headers.into_iter().flat_map(|headers| headers.0) {
            request.add(&name, value.0.as_bytes());
        }
        request
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct HeaderValue(String);

impl TryFrom<String> for HeaderValue {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        check_header_value(text.as_bytes()).map(|()| Self(text))
    }
}

/// The members of an object in their order, repeated ones, too: that is what header lines are.
#[derive(Debug)]
struct Headers(Vec<(HeaderName, HeaderValue)>);

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Headers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of header names and values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
                let mut headers = Vec::new();
                while let Some(header) = map.next_entry()? {
                    headers.push(header);
                }
                Ok(Headers(headers))
            }
        }

        deserializer.deserialize_map(Members)
    }
}
