//! An origin with pages, for gates that make documents of them.

use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::net::sockopt::set_socket_linger;

use crate::serving::{Asked, serve};

/// The main part of each page, as markdown.
pub const MARKDOWN: &str = "# Kettle\n\nA kettle of brushed steel boils water, [keeps it warm]";

/// The tag of `/page`.
pub const TAG: &str = "\"v1\"";

/// The page, with something in its head.
pub fn page(head: &str) -> String {
    format!(
        "<!DOCTYPE html><html lang=en><head><title>Kettle</title>{head}</head><body><nav><a href=/>Home</a> <a href=/cart>Cart</a>\
         </nav><article><h1>Kettle</h1><p>A kettle of brushed steel boils water, <a href=\"/warm\">keeps it warm</a> for an hour, \
         and is quiet while it does. It has a warranty of two years.</p></article><footer>Free returns.</footer></body></html>"
    )
}

/// A page of so many bytes, at least 10, most of which are text.
pub fn story(size: usize) -> String {
    let start = "<p>Kettle.";
    let lines = (1..).map(|line| format!("<p>Line {line} of a long story about a kettle.\n"));
    let mut page: String = std::iter::once(start.to_owned()).chain(lines.take(size / 40)).collect();
    page.truncate(size);
    page.extend(std::iter::repeat_n('.', size.saturating_sub(page.len())));
    page
}

/// The way an origin sends a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// With its length.
    Whole,
    /// In chunks.
    Chunked,
    /// In chunks, with pauses.
    Slow,
    /// Compressed.
    Gzip,
    /// Until it closes the connection.
    UntilClose,
    /// Compressed, and only a part of that, with the length of the part.
    PartOfGzip,
    /// A part of what the length says.
    PartOfLength,
    /// In chunks, of which the last ones don't come.
    PartOfChunks,
    /// A part, and then the connection is reset.
    Reset,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Whole,
        Self::Chunked,
        Self::Slow,
        Self::Gzip,
        Self::UntilClose,
        Self::PartOfGzip,
        Self::PartOfLength,
        Self::PartOfChunks,
        Self::Reset,
    ];

    /// True if the response breaks off.
    pub fn breaks_off(self) -> bool {
        matches!(self, Self::PartOfLength | Self::PartOfChunks | Self::Reset)
    }

    /// The body of the response, if that does not break off.
    ///
    /// # Panics
    ///
    /// Never: memory takes everything.
    pub fn body(self, page: &str) -> Vec<u8> {
        let mut body = page.as_bytes().to_vec();
        if matches!(self, Self::Gzip | Self::PartOfGzip) {
            body = gzip(&body).expect("memory takes everything");
        }
        if self == Self::PartOfGzip {
            body.truncate(body.len() / 2);
        }
        body
    }
}

/// A page of about so many bytes that is like no other: its number is in each line.
pub fn numbered(number: usize, size: usize) -> String {
    let lines = (0..=size / 60)
        .map(|line| format!("<p>Line {line} of page {number}, about a kettle that boils water.\n"));
    let lines: String = lines.collect();
    format!(
        "<!DOCTYPE html><html lang=en><head><title>Page {number}</title></head><body><nav><a href=/>Home</a></nav><article>\
         <h1>Page {number}</h1>{lines}</article><footer>The end of page {number}.</footer></body></html>"
    )
}

/// The path of a [`numbered`] page that is sent in this way.
pub fn numbered_path(way: Way, number: usize, size: usize) -> String {
    format!("/numbered/{way:?}/{number}/{size}")
}

/// Starts the origin, which serves until the process ends, and returns its port.
///
/// | path | response |
/// |---|---|
/// | `/page`, `/folder/` | the page with a tag, or 304 |
/// | `/chunked` | the page in chunks of 7 bytes |
/// | `/gzip` | the page, compressed |
/// | `/large` | a page of 3 MiB, in chunks |
/// | `/private`, `/nosnippet`, `/meta`, `/meta-of-others` | a page that permits no document, or none to some |
/// | `/missing` | a page with the status 404 |
/// | `/text` | a text |
/// | `/nested` | a page of 100,000 nested elements |
/// | `/cut` | a page that breaks off |
/// | `/sized/N`, `/slow/N`, `/trailers/N` | the [`story`] of N bytes: in chunks, with a pause after each, or with trailers |
/// | `/held/N` | the story, the last twentieth of which waits for [`release`] |
/// | `/numbered/WAY/NUMBER/SIZE`, also below other folders | the [`numbered`] page, sent in this [`Way`] |
/// | `/echo` | the head of the request, as a text |
pub fn start() -> u16 {
    serve(answer).port()
}

fn answer(mut stream: &TcpStream) -> io::Result<()> {
    let asked = Asked::read(&mut stream)?;
    let path = asked.target.split('?').next().unwrap_or_default();
    let is_known = asked.header("if-none-match") == Some(TAG);
    let page = page(match path {
        "/meta" => "<meta name=robots content=noindex>",
        "/meta-of-others" => "<meta name=OtherBot content=noindex>",
        _ => "",
    });
    if let Some((_, numbered)) = path.split_once("/numbered/") {
        return send_numbered(stream, numbered);
    }
    let sized = path.strip_prefix('/').and_then(|path| path.split_once('/'));
    let sized = sized.and_then(|(how, size)| Some((how, size.parse::<usize>().ok()?)));
    let (status, lines, body) = match path {
        _ if sized.is_some() => (200, String::new(), story(sized.map_or(0, |(_, size)| size)).into_bytes()),
        "/page" | "/folder/" if is_known => {
            (304, format!("ETag: {TAG}\r\nCache-Control: max-age=60"), Vec::new())
        }
        "/page" | "/folder/" => (
            200,
            format!("ETag: {TAG}\r\nCache-Control: max-age=60\r\nAccept-Ranges: bytes"),
            page.into_bytes(),
        ),
        "/chunked" | "/meta" | "/meta-of-others" => (200, String::new(), page.into_bytes()),
        "/gzip" => (200, "Content-Encoding: gzip".to_owned(), gzip(page.as_bytes())?),
        "/large" => (200, String::new(), [page.into_bytes(), vec![b' '; 3 << 20]].concat()),
        "/private" => (200, "Cache-Control: private".to_owned(), page.into_bytes()),
        "/nosnippet" => (200, "X-Robots-Tag: nosnippet".to_owned(), page.into_bytes()),
        "/nested" => (200, String::new(), "<div>".repeat(100_000).into_bytes()),
        "/cut" => (200, String::new(), page.into_bytes()),
        "/missing" => (404, String::new(), page.into_bytes()),
        _ => (200, String::new(), asked.head.clone()),
    };
    let kind = if matches!(path, "/text" | "/echo") { "text/plain" } else { "text/html; charset=utf-8" };
    let lines = if lines.is_empty() { lines } else { format!("{lines}\r\n") };
    let start = format!("HTTP/1.1 {status} A\r\nContent-Type: {kind}\r\nConnection: close\r\n{lines}");
    let chunk = match (path, sized) {
        ("/chunked", _) => Some(7),
        ("/large", _) | (_, Some(("sized" | "trailers", _))) => Some(16 << 10),
        (_, Some((_, size))) => Some(size.div_ceil(20)),
        _ => None,
    };
    let pause = matches!(sized, Some(("slow", _))).then_some(Duration::from_millis(20));
    if status == 304 || asked.head.starts_with(b"HEAD ") {
        return write!(stream, "{start}\r\n");
    }
    let Some(chunk) = chunk else {
        let length = body.len() + if path == "/cut" { 9 } else { 0 };
        write!(stream, "{start}Content-Length: {length}\r\n\r\n")?;
        return stream.write_all(&body);
    };
    write!(stream, "{start}Transfer-Encoding: chunked\r\n\r\n")?;
    let last = body.len().div_ceil(chunk).saturating_sub(1);
    for (number, chunk) in body.chunks(chunk).enumerate() {
        if number == last && matches!(sized, Some(("held", _))) {
            wait_for_release();
        }
        write!(stream, "{:x}\r\n", chunk.len())?;
        stream.write_all(chunk)?;
        stream.write_all(b"\r\n")?;
        pause.into_iter().for_each(thread::sleep);
    }
    let trailers = match sized {
        Some(("trailers", _)) => "Server-Timing: page;dur=1\r\nRepr-Digest: sha-256=:AAAA:\r\n",
        _ => "",
    };
    write!(stream, "0\r\n{trailers}\r\n")
}

static IS_RELEASED: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// Lets all responses to `/held/N` end.
pub fn release() {
    *IS_RELEASED.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
    IS_RELEASED.1.notify_all();
}

fn wait_for_release() {
    let is_released = IS_RELEASED.0.lock().unwrap_or_else(PoisonError::into_inner);
    drop(IS_RELEASED.1.wait_while(is_released, |is_released| !*is_released));
}

fn send_numbered(mut stream: &TcpStream, path: &str) -> io::Result<()> {
    let mut parts = path.split('/');
    let way = parts.next().and_then(|name| Way::ALL.into_iter().find(|way| format!("{way:?}") == name));
    let mut numbers = parts.filter_map(|part| part.parse::<usize>().ok());
    let (Some(way), Some(number), Some(size)) = (way, numbers.next(), numbers.next()) else {
        return stream.write_all(b"HTTP/1.1 404 A\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let body = way.body(&numbered(number, size));
    // Somewhere, at another place in each page.
    let part = &body[..body.len() * (number % 10) / 10];
    write!(stream, "HTTP/1.1 200 A\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n")?;
    if matches!(way, Way::Gzip | Way::PartOfGzip) {
        write!(stream, "Content-Encoding: gzip\r\n")?;
    }
    let length = body.len();
    match way {
        Way::Whole | Way::Gzip | Way::PartOfGzip => {
            write!(stream, "Content-Length: {length}\r\n\r\n")?;
            stream.write_all(&body)
        }
        Way::UntilClose => {
            write!(stream, "\r\n")?;
            stream.write_all(&body)
        }
        Way::PartOfLength | Way::Reset => {
            write!(stream, "Content-Length: {length}\r\n\r\n")?;
            stream.write_all(part)?;
            if way == Way::Reset {
                // Bytes that have not been sent by then may be lost.
                set_socket_linger(stream, Some(Duration::ZERO))?;
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            Ok(())
        }
        Way::Chunked | Way::Slow | Way::PartOfChunks => {
            write!(stream, "Transfer-Encoding: chunked\r\n\r\n")?;
            let is_part = way == Way::PartOfChunks;
            let body = if is_part { part } else { &body };
            for chunk in body.chunks(length.div_ceil(10)) {
                write!(stream, "{:x}\r\n", chunk.len())?;
                stream.write_all(chunk)?;
                stream.write_all(b"\r\n")?;
                if way == Way::Slow {
                    thread::sleep(Duration::from_millis(20));
                }
            }
            if is_part { Ok(()) } else { stream.write_all(b"0\r\n\r\n") }
        }
    }
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}
