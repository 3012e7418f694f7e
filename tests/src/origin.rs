//! The origin behind the gates.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};

use crate::cases::upstream_line;
use crate::http::Response;
use crate::nginx::{Folder, Nginx};
use crate::ports::free_port;
use crate::serving::{Asked, serve};

/// An nginx without Crawlpike that returns the headers that it received.
#[derive(Debug)]
pub struct Origin {
    nginx: Nginx,
    port: u16,
}

/// The request that an [`Origin`] received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The `X-Crawlpike` header; `None` where there is none.
    pub crawlpike: Option<String>,
    /// The `User-Agent` header, as far as it is text.
    pub user_agent: String,
}

impl Origin {
    /// Starts one on a free port.
    pub fn start() -> Self {
        let port = free_port();
        let mut tags = String::new();
        for name in ["Robots-Tag", "X-Robots-Tag", "Content-Usage", "Link", "Vary"] {
            for number in 0..3 {
                let variable = upstream_line(name, number).to_ascii_lowercase().replace('-', "_");
                let _ = writeln!(tags, "add_header {name} $http_{variable};");
            }
        }
        // The values of a request's headers go into response headers, so that HEAD requests show it, too; the
        // User-Agent can be larger than nginx likes headers of an upstream to be, and goes into the body.
        let http = format!(
            r#"
            underscores_in_headers on;
            large_client_header_buffers 4 64k;
            server {{
                listen 127.0.0.1:{port};
                add_header X-Origin reached;
                add_header X-Origin-Crawlpike $http_x_crawlpike;
                {tags}
                location / {{ return 200 "$http_user_agent"; }}
            }}"#
        );
        Self { nginx: Nginx::without_module(Folder::new(), &http), port }
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// See [`crate::process::Server::leave_running`].
    pub fn leave_running(&mut self) {
        self.nginx.leave_running();
    }

    /// The nginx that it is.
    pub fn nginx(&self) -> &Nginx {
        &self.nginx
    }
}

impl Received {
    /// The request at the origin, according to a response that a gate relayed; `None` if the response came from the gate.
    pub fn of(response: &Response) -> Option<Self> {
        response.header("x-origin")?;
        Some(Self {
            crawlpike: response.header("x-origin-crawlpike").map(str::to_owned),
            user_agent: response.text(),
        })
    }
}

/// Starts an origin that answers with the head of the request as it came, byte for byte: nginx itself can't show the order
/// of headers. It takes up every upgrade. It serves until the process ends.
pub fn start_echo() -> SocketAddr {
    serve(echo_head)
}

fn echo_head(mut stream: &TcpStream) -> io::Result<()> {
    let asked = Asked::read(&mut stream)?;
    // A proxy passes no other response to an upgrade on with its body.
    if asked.header("upgrade").is_some() {
        stream.write_all(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        )?;
    } else {
        let length = asked.head.len();
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    }
    stream.write_all(&asked.head)
}
