//! TLS between a client and a server of the tests.

use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::sync::{Arc, LazyLock};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::nginx::Folder;
use crate::publisher::Authority;

/// The authority of all these servers.
static AUTHORITY: LazyLock<Authority> = LazyLock::new(Authority::new);

static CLIENT: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(AUTHORITY.file()).expect("the file of the authority");
    roots.add(authority).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Arc::new(config.expect("versions").with_root_certificates(roots).with_no_client_auth())
});

/// Writes `certificate.pem` and `key.pem` of a server on 127.0.0.1 with these names into a folder, and `authority.pem`.
///
/// # Panics
///
/// If the disk is full.
pub fn write_certificate(folder: &Folder, names: &[&str]) {
    let names = names.iter().chain(&["127.0.0.1"]).map(|name| (*name).to_owned());
    let (certificate, key) = AUTHORITY.pem_of(names.collect());
    folder.write("certificate.pem", certificate);
    folder.write("key.pem", key);
    folder.write("authority.pem", std::fs::read(AUTHORITY.file()).expect("the file of the authority"));
}

/// A connection to a server on 127.0.0.1 that has such a certificate.
///
/// # Errors
///
/// If TLS does not come about.
pub fn connect(stream: TcpStream) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let name = ServerName::IpAddress(Ipv4Addr::LOCALHOST.into());
    let client = ClientConnection::new(Arc::clone(&CLIENT), name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(client, stream))
}
