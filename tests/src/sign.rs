//! Requests of the table that are signed: with a key that stands for an agent's, and the time of the run.

use crawlpike_core::sign::{PublicKey, Statement, key_directory, sign_request};
use crawlpike_core::{PlainRequest, Request};
use ed25519_dalek::{Signer, SigningKey};
use serde::Deserialize;

use crate::cases::CaseRequest;

/// The signature of a request, and the parts of the request that differ from the signed ones.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sign {
    /// The key: the byte of which its seed consists.
    pub key: u8,
    /// The key whose number the signature names, where it is another one.
    #[serde(default)]
    pub named: Option<u8>,
    /// The stated URL of the key.
    pub directory: String,
    /// The other covered components.
    #[serde(default = "components")]
    pub covers: Vec<String>,
    /// Its age in seconds.
    #[serde(default)]
    pub age: i64,
    /// Its lifetime in seconds.
    #[serde(default = "life")]
    pub life: i64,
    /// The path that is signed.
    #[serde(default)]
    pub path: Option<String>,
    /// The host that is signed.
    #[serde(default)]
    pub host: Option<String>,
    /// A header of the signature that is left out, in lower case.
    #[serde(default)]
    pub without: Option<String>,
}

fn components() -> Vec<String> {
    ["@authority", "@method", "@path"].map(str::to_owned).into()
}

/// Longer than a run of the table.
fn life() -> i64 {
    3600
}

/// The key of a seed.
pub fn signing_key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

/// Its public half.
pub fn public_key(seed: u8) -> PublicKey {
    signing_key(seed).verifying_key().to_bytes()
}

/// The directory of the keys of these seeds.
pub fn directory(seeds: &[u8]) -> String {
    key_directory(&seeds.iter().map(|seed| public_key(*seed)).collect::<Vec<_>>())
}

/// The headers of a signature over a request.
///
/// # Panics
///
/// If it can't be signed like that.
pub fn headers(request: &impl Request, sign: &Sign) -> Vec<(&'static str, String)> {
    let public = public_key(sign.named.unwrap_or(sign.key));
    let created = crawlpike_files::now() - sign.age;
    let statement = Statement {
        label: "sig1",
        key: &public,
        created,
        expires: created + sign.life,
        nonce: Some("bm9uY2U="),
    };
    let components: Vec<&str> = sign.covers.iter().map(String::as_str).collect();
    let key = signing_key(sign.key);
    let headers =
        sign_request(request, &sign.directory, &components, &statement, |base| key.sign(base).to_bytes());
    let mut headers = headers.expect("the request can be signed");
    headers.retain(|(name, _)| sign.without.as_deref() != Some(&*name.to_ascii_lowercase()));
    headers
}

impl CaseRequest {
    /// Adds the headers of the signature that the case asks for.
    ///
    /// # Panics
    ///
    /// If it can't be signed like that.
    pub fn sign(&mut self) {
        let Some(sign) = &self.sign else { return };
        let names: Vec<String> = self.headers.keys().map(|name| name.to_ascii_lowercase()).collect();
        let values = self.headers.values().map(String::as_bytes);
        let lines: Vec<(&str, &[u8])> = names.iter().map(String::as_str).zip(values).collect();
        let request = PlainRequest {
            address: Some(self.ip),
            scheme: Some(self.scheme()),
            authority: Some(sign.host.as_ref().unwrap_or(&self.host).as_bytes()),
            method: self.method.as_bytes(),
            path: sign.path.as_ref().unwrap_or(&self.path).as_bytes(),
            headers: &lines,
            now: crawlpike_files::now(),
            ..PlainRequest::default()
        };
        let headers = headers(&request, sign);
        self.headers.extend(headers.into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
}
