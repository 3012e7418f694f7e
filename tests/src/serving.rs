//! Servers in the test's own process: one way to accept connections, to read a request, and to close.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use crate::process::PATIENCE;

/// The longest head of a request that is read, in bytes.
const LONGEST_HEAD: usize = 64 << 10;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The target of the request line.
    pub target: String,
    /// The lines of the head, the request line first.
    pub lines: Vec<String>,
    /// The head, byte for byte.
    pub head: Vec<u8>,
    /// The body, of the length that the head states.
    pub body: Vec<u8>,
}

impl Asked {
    /// Reads one request whole: a server that closes a connection with unread bytes resets it, and what it sent is lost.
    ///
    /// # Errors
    ///
    /// Those of the connection, and a head that is too long.
    pub fn read(connection: &mut (impl Read + ?Sized)) -> io::Result<Self> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            connection.read_exact(&mut byte)?;
            head.push(byte[0]);
            if head.len() > LONGEST_HEAD {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        let text = String::from_utf8_lossy(&head);
        let lines: Vec<String> = text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        let target = lines.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
        let mut asked = Self { target, lines, head, body: Vec::new() };
        let length = asked.header("content-length").and_then(|length| length.parse().ok());
        asked.body.resize(length.unwrap_or_default(), 0);
        connection.read_exact(&mut asked.body)?;
        Ok(asked)
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.lines.iter().skip(1).filter_map(|line| line.split_once(':'));
        headers.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// Serves on a free port of 127.0.0.1 until the process ends. See [`serve_at`].
///
/// # Panics
///
/// If the machine has no free port.
pub fn serve(converse: impl Fn(&TcpStream) -> io::Result<()> + Send + Sync + 'static) -> SocketAddr {
    serve_at(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port"), converse)
}

/// Serves until the process ends, with a thread for each connection. If `converse` returns an error, the connection is
/// dropped at once; otherwise it is closed so that the client receives everything.
///
/// # Panics
///
/// If the socket is not bound.
pub fn serve_at(
    listener: TcpListener,
    converse: impl Fn(&TcpStream) -> io::Result<()> + Send + Sync + 'static,
) -> SocketAddr {
    let address = listener.local_addr().expect("a bound socket");
    let converse = Arc::new(converse);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let converse = Arc::clone(&converse);
            // A client may end early; only the client's side counts.
            thread::spawn(move || {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                converse(&stream).and_then(|()| close(&stream))
            });
        }
    });
    address
}

/// Closes a connection after the client has closed it: bytes that come after a close, or that are unread then, reset the
/// connection, and the end of the response is lost.
fn close(mut stream: &TcpStream) -> io::Result<()> {
    stream.flush()?;
    stream.shutdown(Shutdown::Write)?;
    io::copy(&mut stream, &mut io::sink()).map(drop)
}
