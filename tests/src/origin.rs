//! What stands behind the gates.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;

use crate::cases::upstream_line;
use crate::http::Response;
use crate::nginx::{Folder, Nginx};
use crate::ports::free_port;

/// An nginx without Crawlpike that tells what it received.
#[derive(Debug)]
pub struct Origin {
    nginx: Nginx,
    port: u16,
}

/// What an [`Origin`] received.
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
        for name in ["Robots-Tag", "X-Robots-Tag"] {
            for number in 0..3 {
                let variable = upstream_line(name, number).to_ascii_lowercase().replace('-', "_");
                let _ = writeln!(tags, "add_header {name} $http_{variable};");
            }
        }
        // What a request's header says goes into response headers, so that HEAD requests show it, too; the
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
    /// What the origin received, according to a response that a gate relayed; `None` where it came from the gate.
    pub fn of(response: &Response) -> Option<Self> {
        response.header("x-origin")?;
        Some(Self {
            crawlpike: response.header("x-origin-crawlpike").map(str::to_owned),
            user_agent: response.text(),
        })
    }
}

/// An origin that answers with the head of the request as it came, byte for byte: nginx itself can't show the order
/// of headers. It takes up every upgrade. It serves until the process ends.
///
/// # Panics
///
/// Where the machine has no port left.
pub fn start_echo() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || echo_head(stream));
        }
    });
    address
}

fn echo_head(mut stream: TcpStream) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    // A proxy passes no other response to an upgrade on with its body.
    if String::from_utf8_lossy(&head).to_ascii_lowercase().contains("\r\nupgrade:") {
        stream.write_all(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        )?;
    } else {
        let length = head.len();
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    }
    stream.write_all(&head)
}
