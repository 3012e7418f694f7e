//! The messages of `envoy.service.auth.v3`, as far as they are read and written here. The numbers of the fields are Envoy's; what is not
//! declared is skipped.

use std::collections::HashMap;

use prost::{Message, Oneof};

/// `envoy.service.auth.v3.CheckRequest`
#[derive(Clone, PartialEq, Message)]
pub struct CheckRequest {
    /// The attributes of the request that Envoy asks about.
    #[prost(message, optional, tag = "1")]
    pub attributes: Option<Attributes>,
}

/// `envoy.service.auth.v3.AttributeContext`
#[derive(Clone, PartialEq, Message)]
pub struct Attributes {
    /// The peer of Envoy.
    #[prost(message, optional, tag = "1")]
    pub source: Option<Peer>,
    /// The request.
    #[prost(message, optional, tag = "4")]
    pub request: Option<Request>,
    /// The settings of the route.
    #[prost(map = "string, string", tag = "10")]
    pub context_extensions: HashMap<String, String>,
}

/// `envoy.service.auth.v3.AttributeContext.Peer`
#[derive(Clone, PartialEq, Message)]
pub struct Peer {
    /// Its address.
    #[prost(message, optional, tag = "1")]
    pub address: Option<Address>,
}

/// `envoy.config.core.v3.Address`
#[derive(Clone, PartialEq, Message)]
pub struct Address {
    /// That of a socket; none for a pipe.
    #[prost(message, optional, tag = "1")]
    pub socket_address: Option<SocketAddress>,
}

/// `envoy.config.core.v3.SocketAddress`
#[derive(Clone, PartialEq, Message)]
pub struct SocketAddress {
    /// The IP address.
    #[prost(string, tag = "2")]
    pub address: String,
}

/// `envoy.service.auth.v3.AttributeContext.Request`
#[derive(Clone, PartialEq, Message)]
pub struct Request {
    /// The request of HTTP.
    #[prost(message, optional, tag = "2")]
    pub http: Option<HttpRequest>,
}

/// `envoy.service.auth.v3.AttributeContext.HttpRequest`
#[derive(Clone, PartialEq, Message)]
pub struct HttpRequest {
    /// The method.
    #[prost(string, tag = "2")]
    pub method: String,
    /// The headers, the lines of one name joined by commas. Bytes that are not UTF-8 are replaced.
    #[prost(map = "string, string", tag = "3")]
    pub headers: HashMap<String, String>,
    /// The path and query.
    #[prost(string, tag = "4")]
    pub path: String,
    /// The authority.
    #[prost(string, tag = "5")]
    pub host: String,
    /// The scheme.
    #[prost(string, tag = "6")]
    pub scheme: String,
    /// The headers line by line and byte for byte, with `encode_raw_headers`.
    #[prost(message, optional, tag = "13")]
    pub header_map: Option<HeaderMap>,
}

/// `envoy.config.core.v3.HeaderMap`
#[derive(Clone, PartialEq, Message)]
pub struct HeaderMap {
    /// The lines.
    #[prost(message, repeated, tag = "1")]
    pub headers: Vec<HeaderValue>,
}

/// `envoy.config.core.v3.HeaderValue`
#[derive(Clone, PartialEq, Message)]
pub struct HeaderValue {
    /// The name.
    #[prost(string, tag = "1")]
    pub key: String,
    /// The value, if it is text.
    #[prost(string, tag = "2")]
    pub value: String,
    /// The value otherwise.
    #[prost(bytes = "vec", tag = "3")]
    pub raw_value: Vec<u8>,
}

/// `envoy.service.auth.v3.CheckResponse`
#[derive(Clone, PartialEq, Message)]
pub struct CheckResponse {
    /// OK if the request is permitted.
    #[prost(message, optional, tag = "1")]
    pub status: Option<Status>,
    /// The consequences.
    #[prost(oneof = "HttpResponse", tags = "2, 3")]
    pub http_response: Option<HttpResponse>,
    /// The facts, for other filters and the access log.
    #[prost(message, optional, tag = "4")]
    pub dynamic_metadata: Option<Struct>,
}

/// `google.rpc.Status`
#[derive(Clone, PartialEq, Message)]
pub struct Status {
    /// A code of gRPC.
    #[prost(int32, tag = "1")]
    pub code: i32,
}

/// The consequences of a decision.
#[derive(Clone, PartialEq, Oneof)]
pub enum HttpResponse {
    /// Envoy answers.
    #[prost(message, tag = "2")]
    Denied(DeniedResponse),
    /// The request goes on.
    #[prost(message, tag = "3")]
    Ok(OkResponse),
}

/// `envoy.service.auth.v3.DeniedHttpResponse`
#[derive(Clone, PartialEq, Message)]
pub struct DeniedResponse {
    /// The status.
    #[prost(message, optional, tag = "1")]
    pub status: Option<HttpStatus>,
    /// The headers.
    #[prost(message, repeated, tag = "2")]
    pub headers: Vec<HeaderOption>,
    /// The body.
    #[prost(string, tag = "3")]
    pub body: String,
}

/// `envoy.type.v3.HttpStatus`
#[derive(Clone, PartialEq, Message)]
pub struct HttpStatus {
    /// The status, as a number.
    #[prost(int32, tag = "1")]
    pub code: i32,
}

/// `envoy.service.auth.v3.OkHttpResponse`
#[derive(Clone, PartialEq, Message)]
pub struct OkResponse {
    /// Headers of the request.
    #[prost(message, repeated, tag = "2")]
    pub headers: Vec<HeaderOption>,
    /// Headers that go from the request.
    #[prost(string, repeated, tag = "5")]
    pub headers_to_remove: Vec<String>,
    /// Headers of the response.
    #[prost(message, repeated, tag = "6")]
    pub response_headers_to_add: Vec<HeaderOption>,
}

/// `envoy.config.core.v3.HeaderValueOption`
#[derive(Clone, PartialEq, Message)]
pub struct HeaderOption {
    /// The line.
    #[prost(message, optional, tag = "1")]
    pub header: Option<HeaderValue>,
    /// The treatment of lines of the name that are there.
    #[prost(enumeration = "Append", tag = "3")]
    pub append_action: i32,
}

/// `envoy.config.core.v3.HeaderValueOption.HeaderAppendAction`
#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum Append {
    /// They stay.
    AppendIfExistsOrAdd = 0,
    /// If there are any, the line is left out.
    AddIfAbsent = 1,
    /// The line takes their place.
    OverwriteIfExistsOrAdd = 2,
}

/// `google.protobuf.Struct`
#[derive(Clone, PartialEq, Message)]
pub struct Struct {
    /// The fields.
    #[prost(map = "string, message", tag = "1")]
    pub fields: HashMap<String, Value>,
}

/// `google.protobuf.Value`
#[derive(Clone, PartialEq, Message)]
pub struct Value {
    /// A text.
    #[prost(string, optional, tag = "3")]
    pub text: Option<String>,
}
