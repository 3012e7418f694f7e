//! The meanings of nginx's variables, of Envoy's commands and of the keys of JSON logs.

/// A part of a request that a log may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// The client's address, with or without a port.
    Address,
    /// X-Forwarded-For: the last address is the one that the nearest proxy saw.
    ForwardedFor,
    Time,
    Scheme,
    Authority,
    /// `GET /path HTTP/1.1`
    RequestLine,
    Method,
    Target,
    UserAgent,
    Purpose,
    Accept,
    Status,
    UpstreamStatus,
    /// The action that a gate took.
    Action,
    Bytes,
}

impl Field {
    pub(crate) const COUNT: usize = Self::Bytes as usize + 1;
}

/// Returns true if these fields suffice to judge a request: the client, its claim, and the target.
pub(crate) fn suffice(has: impl Fn(Field) -> bool) -> bool {
    lacking(has).is_none()
}

/// The first of the fields that no request can be judged without and that is not there.
pub(crate) fn lacking(has: impl Fn(Field) -> bool) -> Option<Field> {
    if !has(Field::Address) && !has(Field::ForwardedFor) {
        return Some(Field::Address);
    }
    if !has(Field::UserAgent) {
        return Some(Field::UserAgent);
    }
    let has_request = has(Field::RequestLine) || has(Field::Method) && has(Field::Target);
    (!has_request).then_some(Field::RequestLine)
}

/// A field, and how much this source of it is preferred to others in the same line.
pub(crate) type Meaning = (Field, u8);

/// The rank of a target that is the one after rewrites and internal redirects.
pub(crate) const REWRITTEN: u8 = 1;

/// The meaning of a variable of nginx, without `$`; `None` if the report has no use for it.
pub(crate) fn of_variable(name: &str, purpose_header: &str) -> Option<Meaning> {
    if name.strip_prefix("http_").is_some_and(|header| is_header(header, purpose_header)) {
        return Some((Field::Purpose, 2));
    }
    Some(match name {
        "remote_addr" => (Field::Address, 3),
        "http_x_forwarded_for" | "proxy_add_x_forwarded_for" => (Field::ForwardedFor, 1),
        "msec" => (Field::Time, 3),
        "time_iso8601" => (Field::Time, 2),
        "time_local" => (Field::Time, 1),
        "scheme" => (Field::Scheme, 1),
        "http_host" => (Field::Authority, 3),
        "host" => (Field::Authority, 2),
        "server_name" => (Field::Authority, 1),
        "request" => (Field::RequestLine, 1),
        "request_method" => (Field::Method, 1),
        "request_uri" => (Field::Target, 3),
        "uri" | "document_uri" => (Field::Target, REWRITTEN),
        "http_user_agent" => (Field::UserAgent, 1),
        "http_accept" => (Field::Accept, 1),
        "crawlpike_purpose" => (Field::Purpose, 1),
        "crawlpike_action" => (Field::Action, 1),
        "status" => (Field::Status, 1),
        "upstream_status" => (Field::UpstreamStatus, 1),
        "body_bytes_sent" => (Field::Bytes, 2),
        "bytes_sent" => (Field::Bytes, 1),
        _ => return None,
    })
}

/// Returns true if a client can put spaces and brackets into this variable of nginx.
pub(crate) fn is_free(name: &str) -> bool {
    let is_one = ["remote_user", "request", "request_uri", "uri", "document_uri", "args", "query_string"]
        .contains(&name);
    is_one || ["http_", "arg_", "cookie_"].iter().any(|start| name.starts_with(start))
}

/// The meaning of a command of Envoy, such as `REQ` with the argument `:PATH`.
pub(crate) fn of_command(command: &str, argument: &str, purpose_header: &str) -> Option<Meaning> {
    match command {
        "REQ" | "REQUEST_HEADER" => {
            // `X?Y` is Y where X is missing. Both are of the same kind wherever that is of use.
            let header = argument.rsplit('?').next()?;
            of_header(header, purpose_header)
        }
        "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT" => Some((Field::Address, 3)),
        "DOWNSTREAM_REMOTE_ADDRESS" => Some((Field::Address, 2)),
        "START_TIME" => Some((Field::Time, 1)),
        "RESPONSE_CODE" => Some((Field::Status, 1)),
        "BYTES_SENT" => Some((Field::Bytes, 1)),
        _ => None,
    }
}

fn of_header(header: &str, purpose_header: &str) -> Option<Meaning> {
    if is_header(header, purpose_header) {
        return Some((Field::Purpose, 2));
    }
    Some(match &*header.to_ascii_lowercase() {
        ":authority" => (Field::Authority, 3),
        "host" => (Field::Authority, 2),
        ":method" => (Field::Method, 1),
        ":path" => (Field::Target, 3),
        ":scheme" => (Field::Scheme, 1),
        "user-agent" => (Field::UserAgent, 1),
        "accept" => (Field::Accept, 1),
        "x-forwarded-for" => (Field::ForwardedFor, 1),
        _ => return None,
    })
}

/// The meaning of a key in a JSON log whose format was not given: those of our examples, the names of nginx's variables,
/// and those that meshes use for Envoy's commands.
pub(crate) fn of_key(key: &str, purpose_header: &str) -> Option<Meaning> {
    Some(match key {
        "address" | "ip" | "client_ip" | "remote_address" => (Field::Address, 2),
        "downstream_remote_address" => (Field::Address, 2),
        "x_forwarded_for" => (Field::ForwardedFor, 1),
        "time" | "timestamp" | "@timestamp" | "start_time" | "ts" => (Field::Time, 1),
        "authority" | ":authority" => (Field::Authority, 3),
        "method" => (Field::Method, 1),
        "path" => (Field::Target, 3),
        "url" => (Field::Target, 2),
        "user_agent" | "agent_string" => (Field::UserAgent, 1),
        "purpose" => (Field::Purpose, 1),
        "accept" => (Field::Accept, 1),
        "action" => (Field::Action, 1),
        "response_code" => (Field::Status, 1),
        "bytes" => (Field::Bytes, 1),
        _ => return of_variable(key, purpose_header),
    })
}

/// Returns true if both names are those of one header, also as nginx writes it in variables.
fn is_header(name: &str, header: &str) -> bool {
    let fold = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
    name.len() == header.len() && name.bytes().map(fold).eq(header.bytes().map(fold))
}
