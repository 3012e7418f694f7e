//! The requests, as servers log them.

use std::io::Write;

use fastrand::Rng;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::client::Client;

/// The format of a logged request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// nginx's `combined`, which has no host.
    Combined,
    /// A `log_format` with `escape=json`.
    Json,
    /// Envoy's default.
    Envoy,
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    address: String,
    user_agent: &'static str,
    pub(super) time: i64,
    format: Format,
    pub(super) host: Option<&'static str>,
    path: String,
    pub(super) is_private: bool,
    pub(super) status: u16,
    pub(super) bytes: u64,
}

impl Request {
    pub(super) fn draw(client: &Client, time: i64, random: &mut Rng) -> Self {
        let format = [Format::Combined, Format::Json, Format::Envoy][random.usize(..3)];
        let is_private = random.u32(..5) == 0;
        let path = match random.u32(..3) {
            _ if is_private => format!("/private/{}", random.u32(..50)),
            0 => "/".to_string(),
            1 => format!("/item/{}", random.u32(..1_000_000)),
            _ => format!("/search?q={}", random.u32(..)),
        };
        Self {
            address: client.address.to_string(),
            user_agent: client.user_agent,
            time,
            format,
            host: (format != Format::Combined)
                .then(|| if random.u32(..4) == 0 { "blog.example" } else { "shop.example" }),
            path,
            is_private,
            status: [200, 200, 200, 301, 304, 404, 500][random.usize(..7)],
            bytes: random.u64(..60_000),
        }
    }

    /// One of a person.
    pub(super) fn example(format: Format) -> Self {
        Self {
            address: "192.0.2.1".to_string(),
            user_agent: "Mozilla/5.0",
            time: 1_795_331_112,
            format,
            host: Some("shop.example"),
            path: "/".to_string(),
            is_private: false,
            status: 200,
            bytes: 1,
        }
    }

    /// Writes the line, without its end.
    pub(super) fn write(&self, line: &mut Vec<u8>) {
        let Self { address, user_agent, path, status, bytes, .. } = self;
        let host = self.host.unwrap_or("-");
        let time = OffsetDateTime::from_unix_timestamp(self.time).expect("a time of this century");
        let done = match self.format {
            Format::Combined => {
                let month = time.month().to_string();
                let (hour, minute, second) = time.to_hms();
                let clock = format!("{hour:02}:{minute:02}:{second:02}");
                let time = format!("{:02}/{}/{}:{clock} +0000", time.day(), &month[..3], time.year());
                let user_agent = escaped(user_agent);
                write!(
                    line,
                    "{address} - - [{time}] \"GET {path} HTTP/1.1\" {status} {bytes} \"-\" \"{user_agent}\""
                )
            }
            Format::Json => {
                let time = time.format(&Rfc3339).expect("a time has a form");
                let user_agent = serde_json::Value::from(*user_agent);
                write!(
                    line,
                    "{{\"time\":\"{time}\",\"address\":\"{address}\",\"host\":\"{host}\",\"request\":\"GET {path} HTTP/2.0\",\
                     \"status\":{status},\"bytes\":{bytes},\"user_agent\":{user_agent}}}"
                )
            }
            Format::Envoy => {
                let time = time.format(&Rfc3339).expect("a time has a form");
                write!(
                    line,
                    "[{time}] \"GET {path} HTTP/2\" {status} - 0 {bytes} 5 4 \"10.9.9.9, {address}\" \"{user_agent}\" \"id\" \"{host}\" \
                     \"10.1.1.1:80\""
                )
            }
        };
        done.expect("a vector takes everything");
    }
}

/// As nginx escapes by default.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' | 0..32 | 127.. => escaped.push_str(&format!("\\x{byte:02X}")),
            _ => escaped.push(char::from(byte)),
        }
    }
    escaped
}
