//! Signing requests as verifiers expect it, for those who operate an agent: the counterpart of what the gates verify.
//!
//! The key stays with the caller, who is asked for the signature of a text.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::http::authority::is_host;
use crate::http::structured::{self, Member};
use crate::identity::signature::{ALGORITHM, NoBase, TAG, Target, encode_in_query, write_base};
use crate::keys::identifier::Location;
use crate::keys::{Base64Url, thumbprint};
use crate::request::{Request, forward_facts};

/// The media type of a directory of keys.
pub const DIRECTORY_TYPE: &str = "application/http-message-signatures-directory+json";

/// A public key of Ed25519.
pub type PublicKey = [u8; 32];

/// A signature of Ed25519.
pub type Signature = [u8; 64];

/// The largest integer of a structured field (RFC 9651, 3.3.1).
const MOST_SECONDS: u64 = 999_999_999_999_999;

/// The statements of a signature about itself.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// The label that ties the headers together, a key of a dictionary such as `sig1`.
    pub label: &'a str,
    /// The key that signs.
    pub key: &'a PublicKey,
    /// When the signature was created, in seconds since the Unix epoch.
    pub created: i64,
    /// Until when it holds.
    pub expires: i64,
    /// A text that is different for each signature, if verifiers are to notice a replay.
    pub nonce: Option<&'a str>,
}

/// The reason why there is no signature.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignError {
    /// The label is not a valid key of a dictionary.
    Label,
    /// A time has more digits than a structured field can have.
    Time,
    /// The server is not a host, perhaps with a port.
    Host,
    /// The URL, the nonce or the name of a component has characters that no header has.
    Text,
    /// The request lacks a component, or the component is not supported.
    Components,
}

impl fmt::Display for SignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Label => "the label must start with a lower-case letter or `*`; lower-case letters, digits, `_`, `-`, `.` and `*` may follow",
            Self::Time => "the times of the signature must be in seconds since 1970, with 15 digits at most",
            Self::Host => "the server must be a host, with its port unless that is 443, such as agent.example",
            Self::Text => "the directory, the nonce and the components must be printable ASCII without `\"` and `\\`",
            Self::Components => "a component is not supported, occurs twice, or is not in the request",
        })
    }
}

impl core::error::Error for SignError {}

/// The names and values of headers.
pub type Headers = Vec<(&'static str, String)>;

/// The headers that sign a request: `Signature-Agent`, `Signature-Input` and `Signature`.
///
/// `directory` is the URL at which the key is published, as [`key_set_url`] gives it, or an origin for verifiers that know
/// earlier drafts only. The signature covers `components`, such as `@authority`, `@method`, `@query-param;name=q` or the name of
/// a header, and the directory.
///
/// # Errors
///
/// The reason why the request cannot be signed like that.
pub fn sign_request(
    request: &impl Request,
    directory: &str,
    components: &[&str],
    statement: &Statement<'_>,
    sign: impl FnOnce(&[u8]) -> Signature,
) -> Result<Headers, SignError> {
    let label = statement.label;
    if [directory].iter().chain(components).any(|text| !is_plain(text)) {
        return Err(SignError::Text);
    }
    let agent = format!("{label}=\"{directory}\"");
    let mut covered = String::new();
    for component in components {
        // Writing to a String can't fail.
        let _ = match component.strip_prefix("@query-param;name=") {
            Some(name) => write!(covered, "\"@query-param\";name=\"{}\" ", encoded(name)?),
            None => write!(covered, "\"{component}\" "),
        };
    }
    let input = format!("({covered}\"signature-agent\";key=\"{label}\"){}", parameters(statement, TAG)?);
    let input_line = format!("{label}={input}");
    let signed = Signed { request, agent: agent.as_bytes(), input: input_line.as_bytes() };
    let member = structured::members(core::iter::once(signed.input)).next();
    let Some(Ok((_, Member::List(list)))) = member else { return Err(SignError::Label) };
    let mut base = Vec::new();
    let written = write_base(&signed, list, Target::of(&signed), &mut |bytes| base.extend_from_slice(bytes));
    written.map_err(|_: NoBase| SignError::Components)?;
    let signature = format!("{label}=:{}:", STANDARD.encode(sign(&base)));
    Ok([("Signature-Agent", agent), ("Signature-Input", input_line), ("Signature", signature)].into())
}

/// The URL of the set of keys that a client names in `Signature-Agent`: of an origin, that of its directory. `None` if verifiers
/// take the text for no URL of keys: it must be `https`, with a host.
pub fn key_set_url(directory: &str) -> Option<String> {
    Location::of(directory).map(|location| location.url)
}

/// The name of a parameter of the query, as a signature states it.
fn encoded(name: &str) -> Result<String, SignError> {
    let mut encoded = String::new();
    let mut append = |bytes: &[u8]| encoded.extend(bytes.iter().copied().map(char::from));
    encode_in_query(name.as_bytes(), &mut append).map_err(|_| SignError::Components)?;
    Ok(encoded)
}

/// The headers with which the server at `authority`, a host that may have a port, proves that it has the keys of the directory
/// that it serves, one signature for one key. The signed content is `directory`, byte for byte.
///
/// # Errors
///
/// The reason why it cannot be signed like that.
pub fn sign_directory(
    authority: &str,
    directory: &[u8],
    statement: &Statement<'_>,
    sign: impl FnOnce(&[u8]) -> Signature,
) -> Result<Headers, SignError> {
    let label = statement.label;
    if !is_host(authority.as_bytes()) {
        return Err(SignError::Host);
    }
    let digest = format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(directory)));
    let parameters = parameters(statement, "http-message-signatures-directory")?;
    let input = format!("(\"@authority\";req \"content-digest\"){parameters}");
    let authority = authority.to_ascii_lowercase();
    // Directories are fetched over https only.
    let authority =
        authority.strip_suffix(":443").or_else(|| authority.strip_suffix(':')).unwrap_or(&authority);
    let base = format!(
        "\"@authority\";req: {authority}\n\"content-digest\": {digest}\n\"@signature-params\": {input}"
    );
    let signature = format!("{label}=:{}:", STANDARD.encode(sign(base.as_bytes())));
    Ok([
        ("Content-Type", DIRECTORY_TYPE.into()),
        ("Content-Digest", digest),
        ("Signature-Input", format!("{label}={input}")),
        ("Signature", signature),
    ]
    .into())
}

/// A directory of keys: a JSON Web Key Set.
pub fn key_directory(keys: &[PublicKey]) -> String {
    let keys: Vec<String> = keys.iter().map(key_in_directory).collect();
    format!("{{\"keys\":[{}]}}\n", keys.join(","))
}

fn key_in_directory(key: &PublicKey) -> String {
    let (kid, x) = (key_id(key), Base64Url(key));
    format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"{kid}","x":"{x}","use":"sig"}}"#)
}

/// The thumbprint of a key (RFC 7638), as `keyid` and `kid` have it.
pub fn key_id(key: &PublicKey) -> String {
    format!("{}", Base64Url(&thumbprint(key)))
}

/// The parameters of a signature.
fn parameters(statement: &Statement<'_>, tag: &str) -> Result<String, SignError> {
    let Statement { label, key, created, expires, nonce } = statement;
    let line = format!("{label}=1");
    let read = structured::member(core::iter::once(line.as_bytes()), label.as_bytes());
    if !matches!(read, Ok(Some(_))) {
        return Err(SignError::Label);
    }
    let nonce = match nonce {
        Some(nonce) if is_plain(nonce) => format!(";nonce=\"{nonce}\""),
        Some(_) => return Err(SignError::Text),
        None => String::new(),
    };
    if [created, expires].into_iter().any(|time| time.unsigned_abs() > MOST_SECONDS) {
        return Err(SignError::Time);
    }
    let keyid = key_id(key);
    Ok(format!(
        ";created={created};expires={expires};keyid=\"{keyid}\";alg=\"{ALGORITHM}\"{nonce};tag=\"{tag}\""
    ))
}

/// Returns true if a string of a structured field has the text as it is.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'))
}

/// A request with the headers that its signature covers.
struct Signed<'s, R> {
    request: &'s R,
    agent: &'s [u8],
    input: &'s [u8],
}

impl<R: Request> Request for Signed<'_, R> {
    forward_facts!(request);

    fn user_agent(&self) -> Option<&[u8]> {
        self.request.user_agent()
    }

    fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        let own = match name {
            "signature-agent" => Some(self.agent),
            "signature-input" => Some(self.input),
            _ => None,
        };
        let others = own.is_none().then(|| self.request.header_lines(name)).into_iter().flatten();
        own.into_iter().chain(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_https_is_left_out() {
        let statement = Statement { label: "a", key: &[0; 32], created: 1, expires: 2, nonce: None };
        for (given, expected) in [
            ("Agent.example:443", "agent.example"),
            ("agent.example:", "agent.example"),
            ("[::1]:8443", "[::1]:8443"),
        ] {
            let mut signed = Vec::new();
            let sign = |base: &[u8]| {
                signed.extend_from_slice(base);
                [0; 64]
            };
            sign_directory(given, b"{}", &statement, sign).unwrap();
            let start = format!("\"@authority\";req: {expected}\n");
            assert!(signed.starts_with(start.as_bytes()), "{given}");
        }
    }
}
