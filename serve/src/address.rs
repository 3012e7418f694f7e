//! The places where the server listens.

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::net::AddressFamily;
use rustix::net::sockopt::socket_domain;
use tokio::net::{TcpStream, UnixStream as TokioUnixStream};

/// A place to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A port.
    Tcp(SocketAddr),
    /// A path. A socket that is there and that nobody serves is replaced.
    Unix(PathBuf),
    /// The sockets that systemd passes under the name of the listener: `http`, `grpc` or `admin`.
    Systemd,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "systemd" {
            return Ok(Self::Systemd);
        }
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Unix(path.into()));
        }
        text.parse().map(Self::Tcp).map_err(|_| {
            "expected an address such as 127.0.0.1:9191 or [::1]:9191, unix:PATH, or systemd".to_owned()
        })
    }
}

/// A socket that listens.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(tokio::net::TcpListener),
    Unix(tokio::net::UnixListener),
}

/// A connection.
pub(crate) enum Connection {
    Tcp(TcpStream),
    Unix(TokioUnixStream),
}

/// The sockets of systemd, each with its name.
pub(crate) type Passed = Vec<(Option<String>, OwnedFd)>;

/// The sockets that systemd passes to this process.
///
/// # Errors
///
/// The environment is damaged.
pub(crate) fn passed() -> io::Result<Passed> {
    let sockets = sd_listen_fds::get().map_err(io::Error::other)?;
    Ok(sockets.into_iter().map(|(name, socket)| (name, socket.into_std())).collect())
}

/// Listens at an address; `name` is that of the listener.
///
/// # Errors
///
/// That is not possible.
pub(crate) fn listen(address: &Address, name: &str, passed: &mut Passed) -> io::Result<Vec<Listener>> {
    match address {
        Address::Tcp(address) => Ok(vec![of_tcp(TcpListener::bind(address)?)?]),
        Address::Unix(path) => Ok(vec![of_unix(bind(path)?)?]),
        Address::Systemd => {
            let own = passed.extract_if(.., |(other, _)| other.as_deref() == Some(name));
            let listeners: Vec<Listener> =
                own.map(|(_, socket)| of_systemd(socket)).collect::<Result<_, _>>()?;
            match listeners.is_empty() {
                true => {
                    Err(io::Error::other(format!("systemd passes no socket with FileDescriptorName={name}")))
                }
                false => Ok(listeners),
            }
        }
    }
}

/// Binds a path, also if a server that is gone has left its socket there.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|there| there.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err_and(|why| why.kind() == io::ErrorKind::ConnectionRefused)
    {
        fs::remove_file(path)?;
    }
    UnixListener::bind(path)
}

fn of_systemd(socket: OwnedFd) -> io::Result<Listener> {
    match socket_domain(&socket)? {
        AddressFamily::UNIX => of_unix(socket.into()),
        _ => of_tcp(socket.into()),
    }
}

fn of_tcp(listener: TcpListener) -> io::Result<Listener> {
    listener.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(listener).map(Listener::Tcp)
}

fn of_unix(listener: UnixListener) -> io::Result<Listener> {
    listener.set_nonblocking(true)?;
    tokio::net::UnixListener::from_std(listener).map(Listener::Unix)
}

impl Listener {
    /// The next connection, with the address of its peer; that of a Unix socket has none.
    pub(crate) async fn accept(&self) -> io::Result<(Connection, Option<IpAddr>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // An answer is one small packet.
                stream.set_nodelay(true)?;
                Ok((Connection::Tcp(stream), Some(peer.ip())))
            }
            Self::Unix(listener) => Ok((Connection::Unix(listener.accept().await?.0), None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_port_a_path_or_systemd() {
        let read = |text: &str| text.parse::<Address>();
        assert_eq!(read("127.0.0.1:9191"), Ok(Address::Tcp("127.0.0.1:9191".parse().unwrap())));
        assert_eq!(read("unix:/run/crawlpike.sock"), Ok(Address::Unix("/run/crawlpike.sock".into())));
        assert_eq!(read("systemd"), Ok(Address::Systemd));
        for wrong in ["", "9191", "localhost:9191", "unix:", "/run/crawlpike.sock"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
