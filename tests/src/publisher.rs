//! Servers that publish feeds over HTTPS, and that answer whatever a test wants: the truth, or bytes that break every rule.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

pub use crate::serving::Asked;
use crate::serving::{serve, serve_at};

/// A certificate authority of the tests.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: TempDir,
}

/// The years in which a certificate is valid, the second one excluded.
pub type Years = (i32, i32);

/// Those of a good certificate.
pub const VALID: Years = (2020, 2120);

impl Authority {
    /// A new one, which nobody trusts but those who read [`Self::file`].
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Two authorities of one name would be one whose signature is wrong.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        params.distinguished_name.push(DnType::CommonName, format!("Authority {number} of a test"));
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2120, 1, 1));
        let key = KeyPair::generate().unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("authority.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(params, key), folder }
    }

    /// The file with its certificate, for `SSL_CERT_FILE`.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    /// The TLS configuration of a server on loopback that is trusted as long as its certificate is valid.
    pub fn identity(&self, years: Years) -> Arc<ServerConfig> {
        self.signed(on_loopback(years))
    }

    /// The TLS configuration of a server that is reached through a proxy, under names of others.
    pub fn identity_of(&self, names: Vec<String>) -> Arc<ServerConfig> {
        self.signed(named(names))
    }

    /// The certificate and the key of a server with these names, as PEM, for a server that is not a part of the test's process.
    pub fn pem_of(&self, names: Vec<String>) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let certificate = named(names).signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    fn signed(&self, params: CertificateParams) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        server(params.signed_by(&key, &self.issuer).unwrap(), &key)
    }
}

/// The TLS configuration of a server with a self-signed certificate.
pub fn self_signed() -> Arc<ServerConfig> {
    let key = KeyPair::generate().unwrap();
    server(on_loopback(VALID).self_signed(&key).unwrap(), &key)
}

fn named(names: Vec<String>) -> CertificateParams {
    let mut params = CertificateParams::new(names).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(VALID.0, 1, 1), date_time_ymd(VALID.1, 1, 1));
    params
}

fn on_loopback((from, until): Years) -> CertificateParams {
    let names = ["localhost", "127.0.0.1", "::1"].map(String::from);
    let mut params = CertificateParams::new(names).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(until, 1, 1));
    params
}

fn server(certificate: Certificate, key: &KeyPair) -> Arc<ServerConfig> {
    let chain = vec![CertificateDer::from(certificate)];
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Arc::new(config.unwrap().with_no_client_auth().with_single_cert(chain, key).unwrap())
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

/// A connection on which a publisher answers.
pub trait Connection: Read + Write {}
impl<T: Read + Write> Connection for T {}

/// A publisher's answer. An error ends the connection.
pub type Answer = dyn Fn(&Asked, &mut dyn Connection) -> io::Result<()> + Send + Sync;

/// A server on a free port of loopback.
pub struct Publisher {
    address: SocketAddr,
    scheme: &'static str,
    asked: Arc<Mutex<Vec<Asked>>>,
    answer: Arc<Mutex<Arc<Answer>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Publisher {
    /// A server with HTTPS.
    pub fn https(
        identity: Arc<ServerConfig>,
        answer: impl Fn(&Asked, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::start(Ipv4Addr::LOCALHOST.into(), Some(identity), Arc::new(answer))
    }

    /// A server without TLS.
    pub fn http(
        answer: impl Fn(&Asked, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::start(Ipv4Addr::LOCALHOST.into(), None, Arc::new(answer))
    }

    /// A server on another address of loopback.
    pub fn start(address: IpAddr, identity: Option<Arc<ServerConfig>>, answer: Arc<Answer>) -> Self {
        Self::listen(TcpListener::bind((address, 0)).unwrap(), identity, answer)
    }

    /// A server on a socket, such as one of a port that URLs need not name.
    pub fn listen(listener: TcpListener, identity: Option<Arc<ServerConfig>>, answer: Arc<Answer>) -> Self {
        let scheme = if identity.is_some() { "https" } else { "http" };
        let (asked, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(answer)));
        let (all_asked, current) = (Arc::clone(&asked), Arc::clone(&answer));
        let address =
            serve_at(listener, move |stream| converse(stream, identity.as_ref(), &all_asked, &current));
        Self { address, scheme, asked, answer }
    }

    /// Answers otherwise from now on.
    pub fn answer(
        &self,
        answer: impl Fn(&Asked, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static,
    ) {
        *lock(&self.answer) = Arc::new(answer);
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The requests since the last call.
    pub fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut lock(&self.asked))
    }
}

/// One connection, for one request.
fn converse(
    mut stream: &TcpStream,
    identity: Option<&Arc<ServerConfig>>,
    asked: &Mutex<Vec<Asked>>,
    answer: &Mutex<Arc<Answer>>,
) -> io::Result<()> {
    let Some(identity) = identity else {
        return reply(&mut stream, asked, answer);
    };
    let connection = ServerConnection::new(Arc::clone(identity)).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    reply(&mut stream, asked, answer)?;
    stream.conn.send_close_notify();
    stream.flush()
}

fn reply(
    connection: &mut dyn Connection,
    asked: &Mutex<Vec<Asked>>,
    answer: &Mutex<Arc<Answer>>,
) -> io::Result<()> {
    let request = Asked::read(connection)?;
    lock(asked).push(request.clone());
    let answer = Arc::clone(&lock(answer));
    answer(&request, connection)?;
    connection.flush()
}

/// Writes a response that keeps the rules; `headers` are whole lines.
///
/// # Errors
///
/// If the client has gone.
pub fn respond(
    connection: &mut dyn Connection,
    status: &str,
    headers: &[&str],
    body: impl AsRef<[u8]>,
) -> io::Result<()> {
    let body = body.as_ref();
    let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    for line in headers {
        head += line;
        head += "\r\n";
    }
    if !status.starts_with("304") {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    head += "\r\n";
    connection.write_all(head.as_bytes())?;
    connection.write_all(body)
}

/// A proxy that leads to one port of loopback, whatever it is asked for.
pub fn proxy_to(port: u16) -> u16 {
    serve(move |client| tunnel(client, port)).port()
}

fn tunnel(mut client: &TcpStream, port: u16) -> io::Result<()> {
    let asked = Asked::read(&mut client)?;
    assert!(asked.head.starts_with(b"CONNECT "), "only HTTPS is asked for");
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        let _ = io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    });
    io::copy(&mut &server, &mut client).map(drop)
}

/// Runs a command so that it trusts only this authority, and uses no proxy.
pub fn trust(command: &mut std::process::Command, authority: &Path) {
    for name in
        ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "SSL_CERT_DIR"]
    {
        command.env_remove(name);
    }
    command.env("SSL_CERT_FILE", authority);
}
