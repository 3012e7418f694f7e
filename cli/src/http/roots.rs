//! The authorities that this system trusts.

use std::sync::Arc;

use rustls::RootCertStore;
use ureq::tls::Certificate;

/// The certificates of the authorities that this system trusts.
pub(super) fn roots() -> Result<Arc<Vec<Certificate<'static>>>, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut usable = RootCertStore::empty();
    usable.add_parsable_certificates(found.certs.iter().cloned());
    if usable.is_empty() {
        let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        return Err(format!(
            "this machine has no certificates of authorities{why}; install the package ca-certificates, or set SSL_CERT_FILE"
        ));
    }
    Ok(Arc::new(found.certs.iter().map(|der| Certificate::from_der(der).to_owned()).collect()))
}
