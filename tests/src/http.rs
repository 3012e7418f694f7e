//! A client that sends exactly the bytes that it is given, and reads one response.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::process::PATIENCE;
use crate::tls;

/// A request; headers are sent in their order, as often as they are given.
#[derive(Clone, Debug)]
pub struct Request {
    method: String,
    target: Vec<u8>,
    version: &'static str,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Request {
    /// A request with a Host header, and no other.
    pub fn new(method: &str, target: &str, host: &str) -> Self {
        Self::bare(method, target).header("Host", host)
    }

    /// A request without any header.
    pub fn bare(method: &str, target: &str) -> Self {
        let (method, target) = (method.into(), target.into());
        Self { method, target, version: "HTTP/1.1", headers: Vec::new(), body: Vec::new() }
    }

    /// The same in HTTP/1.0, which asks for no header at all.
    #[must_use]
    pub fn http_1_0(mut self) -> Self {
        self.version = "HTTP/1.0";
        self
    }

    /// `GET` from `example.com`.
    pub fn get(target: &str) -> Self {
        Self::new("GET", target, "example.com")
    }

    /// Adds a header line.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.into(), value.as_ref().to_vec()));
        self
    }

    /// Adds a User-Agent line.
    #[must_use]
    pub fn agent(self, user_agent: impl AsRef<[u8]>) -> Self {
        self.header("User-Agent", user_agent)
    }

    /// Adds a body with its length.
    #[must_use]
    pub fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.header("Content-Length", body.len().to_string())
    }

    /// The header lines.
    pub fn headers(&self) -> &[(String, Vec<u8>)] {
        &self.headers
    }

    /// As it goes over the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let line = [self.method.as_bytes(), &self.target, self.version.as_bytes()].join(&b' ');
        let mut bytes = [&line[..], b"\r\n"].concat();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// A response.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The header lines.
    pub headers: Vec<(String, String)>,
    /// The body, whole.
    pub body: Vec<u8>,
}

impl Response {
    /// The first line of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// A header's value: its lines joined by `, ` (RFC 9110 5.3).
    pub fn joined_header(&self, name: &str) -> Option<String> {
        let lines = self.lines(name);
        (!lines.is_empty()).then(|| lines.join(", "))
    }

    /// The lines of a header.
    pub fn lines(&self, name: &str) -> Vec<&str> {
        let lines = self.headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        lines.map(|(_, value)| value.as_str()).collect()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A denial's problem document; `None` if the response is not one.
    pub fn problem(&self) -> Option<serde_json::Value> {
        let is_problem = self.header("content-type") == Some("application/problem+json");
        is_problem.then(|| serde_json::from_slice(&self.body).ok())?
    }

    /// The reason in a denial's problem document.
    pub fn denial_reason(&self) -> Option<String> {
        Some(self.problem()?.get("reason")?.as_str()?.to_owned())
    }
}

trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

/// A connection that is kept for several requests.
pub struct Connection {
    stream: Box<dyn Stream>,
    /// The bytes that were read beyond the last response.
    unread: Vec<u8>,
}

impl Connection {
    /// Connects by TCP.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: Box::new(stream), unread: Vec::new() })
    }

    /// Connects by TCP and TLS to a server that has a certificate of [`tls::write_certificate`].
    ///
    /// # Errors
    ///
    /// Those of the socket, and of TLS.
    pub fn open_tls(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream: Box::new(tls::connect(stream)?), unread: Vec::new() })
    }

    /// Connects to a unix socket.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub fn open_unix(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream: Box::new(stream), unread: Vec::new() })
    }

    /// Sends a request and reads its response.
    ///
    /// # Errors
    ///
    /// Those of the socket, and a response that is cut off or not HTTP.
    pub fn send(&mut self, request: &Request) -> io::Result<Response> {
        self.exchange(&request.bytes(), request.method == "HEAD")
    }

    /// Sends a request as it is written, whose method is not HEAD, and reads its response.
    ///
    /// # Errors
    ///
    /// See [`Connection::send`].
    pub fn send_text(&mut self, request: &str) -> io::Result<Response> {
        self.exchange(request.as_bytes(), false)
    }

    /// Sends a request in pieces of this many bytes, with a pause after each, and reads its response.
    ///
    /// # Errors
    ///
    /// See [`Connection::send`].
    pub fn send_slowly(
        &mut self,
        request: &Request,
        piece: usize,
        mut pause: impl FnMut(),
    ) -> io::Result<Response> {
        for piece in request.bytes().chunks(piece) {
            // The response is read even if the server has closed the connection.
            let _ = self.stream.write_all(piece);
            pause();
        }
        self.exchange(&[], request.method == "HEAD")
    }

    /// Sends a request and reads its response, whose body may be cut off; also gives whether it is whole.
    ///
    /// # Errors
    ///
    /// Those of the socket, and a head that is cut off or not HTTP.
    pub fn send_for_part(&mut self, request: &Request) -> io::Result<(Response, bool)> {
        let (mut response, framing) = self.begin(&request.bytes(), request.method == "HEAD")?;
        let is_whole = self.body(framing, &mut response.body).is_ok();
        Ok((response, is_whole))
    }

    fn exchange(&mut self, request: &[u8], is_head: bool) -> io::Result<Response> {
        let (mut response, framing) = self.begin(request, is_head)?;
        self.body(framing, &mut response.body)?;
        Ok(response)
    }

    /// Sends a request and reads the head of its response. A server may answer and close before it has read everything, so
    /// that an error of writing counts only if there is no response.
    fn begin(&mut self, request: &[u8], is_head: bool) -> io::Result<(Response, Framing)> {
        let written = self.stream.write_all(request);
        self.head(is_head).map_err(|error| written.err().unwrap_or(error))
    }

    /// Adds the body as far as it comes.
    fn body(&mut self, framing: Framing, body: &mut Vec<u8>) -> io::Result<()> {
        match framing {
            Framing::Length(length) => self.take(length, body),
            Framing::Chunked => self.chunks(body),
            Framing::UntilClose => {
                body.append(&mut self.unread);
                self.stream.read_to_end(body).map(drop)
            }
        }
    }

    fn head(&mut self, is_head: bool) -> io::Result<(Response, Framing)> {
        loop {
            let mut lines = [httparse::EMPTY_HEADER; 100];
            let mut parsed = httparse::Response::new(&mut lines);
            if let httparse::Status::Complete(length) =
                parsed.parse(&self.unread).map_err(io::Error::other)?
            {
                let headers = parsed.headers.iter().map(|line| {
                    (line.name.to_owned(), String::from_utf8_lossy(line.value).trim().to_owned())
                });
                let response = Response {
                    status: parsed.code.unwrap_or_default(),
                    headers: headers.collect(),
                    body: Vec::new(),
                };
                self.unread.drain(..length);
                let framing = Framing::of(&response, is_head);
                return Ok((response, framing));
            }
            self.more()?;
        }
    }

    fn more(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        // A read with a time limit ends early where the process was stopped meanwhile.
        let read = loop {
            match self.stream.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        match read {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the response is cut off")),
            length => {
                self.unread.extend_from_slice(&buffer[..length]);
                Ok(())
            }
        }
    }

    /// Moves so many bytes, or as many as come.
    fn take(&mut self, length: usize, to: &mut Vec<u8>) -> io::Result<()> {
        while self.unread.len() < length {
            if let Err(error) = self.more() {
                to.append(&mut self.unread);
                return Err(error);
            }
        }
        to.extend(self.unread.drain(..length));
        Ok(())
    }

    fn chunks(&mut self, body: &mut Vec<u8>) -> io::Result<()> {
        loop {
            let size = httparse::parse_chunk_size(&self.unread)
                .map_err(|_| io::Error::other("a chunk's size is not a number"))?;
            let httparse::Status::Complete((length, size)) = size else {
                self.more()?;
                continue;
            };
            self.unread.drain(..length);
            let size = usize::try_from(size).map_err(io::Error::other)?;
            self.take(size, body)?;
            let mut line_end = Vec::new();
            self.take(b"\r\n".len(), &mut line_end)?;
            // No server here sends trailers.
            if size == 0 {
                return Ok(());
            }
        }
    }
}

/// The end of a body (RFC 9112 6.3).
enum Framing {
    Length(usize),
    Chunked,
    UntilClose,
}

impl Framing {
    fn of(response: &Response, is_head: bool) -> Self {
        if is_head || matches!(response.status, 204 | 304) {
            return Self::Length(0);
        }
        if response.header("transfer-encoding").is_some() {
            return Self::Chunked;
        }
        let length = response.header("content-length").and_then(|length| length.parse().ok());
        length.map_or(Self::UntilClose, Self::Length)
    }
}

/// Sends bytes, which need be no request, and gives all that comes until the server closes the connection.
///
/// # Errors
///
/// Those of the socket; a connection that is reset after an answer is none.
pub fn send_bytes(address: SocketAddr, bytes: &[u8]) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let written = stream.write_all(bytes);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if answer.is_empty() => Err(written.err().unwrap_or(error)),
        _ => Ok(String::from_utf8_lossy(&answer).into_owned()),
    }
}

/// Sends one request over a connection of its own.
///
/// # Errors
///
/// See [`Connection::send`].
pub fn send(address: SocketAddr, request: &Request) -> io::Result<Response> {
    Connection::open(address)?.send(&request.clone().header("Connection", "close"))
}
