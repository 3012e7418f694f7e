//! Signed requests: the headers for the core, the fact for the model.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{LazyLock, Mutex};

use crawlpike_core::sign::{Statement, key_directory, sign_request};
use crawlpike_core::{NoFiles, Overrides, PlainRequest, Ruleset, Scheme, SignatureBudget, decide};
use crawlpike_model::Signature;
use ed25519_dalek::{Signer, SigningKey};
use serde_json::json;

use crate::harness::NOW;

/// The state of a request's signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Signed {
    No,
    /// By the key of this number.
    By(u8),
    /// It names the key of this number, and another one has made it.
    Forged(u8),
    /// By a key that no directory has.
    Unknown,
    /// It expired before.
    Expired,
    /// The gate has examined too many in this second. It would hold.
    NotExamined,
}

/// The directory with the key of a number.
pub(crate) fn directory(key: u8) -> String {
    format!("https://keys{key}.test")
}

/// Its content.
pub(crate) fn keys(key: u8) -> String {
    key_directory(&[signing_key(key).verifying_key().to_bytes()])
}

fn signing_key(key: u8) -> SigningKey {
    SigningKey::from_bytes(&[key; 32])
}

type Headers = Vec<(String, String)>;

impl Signed {
    pub(crate) fn fact(self, host: &str) -> Signature {
        match self {
            _ if self.headers(host).is_empty() => Signature::Nothing,
            Self::No | Self::Unknown | Self::Expired => Signature::Nothing,
            Self::By(key) => Signature::Good(directory(key)),
            Self::Forged(key) => Signature::Wrong(directory(key)),
            Self::NotExamined => Signature::NotExamined,
        }
    }

    /// The headers of a request to a host, which are the same each time.
    pub(crate) fn headers(self, host: &str) -> Headers {
        static KNOWN: LazyLock<Mutex<BTreeMap<(Signed, String), Headers>>> = LazyLock::new(Mutex::default);
        let (key, named, expires) = match self {
            Self::No => return Headers::new(),
            Self::By(key) => (key, key, NOW + 1_000_000),
            Self::Forged(key) => (99, key, NOW + 1_000_000),
            Self::Unknown => (98, 98, NOW + 1_000_000),
            Self::Expired => (1, 1, NOW - 1_000_000),
            Self::NotExamined => (1, 1, NOW + 1_000_000),
        };
        let mut known = KNOWN.lock().expect("no test panics with it");
        let headers = known.entry((self, host.to_owned())).or_insert_with(|| {
            let public = signing_key(named).verifying_key().to_bytes();
            let statement =
                Statement { label: "sig1", key: &public, created: NOW - 2_000_000, expires, nonce: None };
            let request = PlainRequest {
                scheme: Some(Scheme::Https),
                authority: Some(host.as_bytes()),
                ..PlainRequest::default()
            };
            let sign = |base: &[u8]| signing_key(key).sign(base).to_bytes();
            let headers = sign_request(&request, &directory(named), &["@authority"], &statement, sign);
            // A host that is none cannot be signed for.
            headers
                .unwrap_or_default()
                .into_iter()
                .map(|(name, value)| (name.to_ascii_lowercase(), value))
                .collect()
        });
        headers.clone()
    }

    /// Calls a function with a gate's budget that others in the client's network have spent, where that is the state.
    pub(crate) fn with_budget<T>(
        self,
        request: &PlainRequest<'_>,
        call: impl FnOnce(&PlainRequest<'_>) -> T,
    ) -> T {
        if self != Self::NotExamined {
            return call(request);
        }
        type Spent = BTreeMap<(Option<IpAddr>, i64), Box<SignatureBudget>>;
        static SPENT: LazyLock<Mutex<Spent>> = LazyLock::new(Mutex::default);
        let mut spent = SPENT.lock().expect("no test panics with it");
        let budget = spent.entry((request.address, request.now)).or_insert_with(|| spend(request));
        call(&PlainRequest { signature_budget: Some(budget), ..*request })
    }
}

/// A budget that forgeries from the client's network in the same second have spent.
fn spend(request: &PlainRequest<'_>) -> Box<SignatureBudget> {
    static RULESET: LazyLock<Ruleset> = LazyLock::new(|| {
        let agents = json!([{ "token": "ABot", "keys": [{ "directory": directory(1), "source": "keys1" }] }]);
        let files = json!({ "keys1": { "text": keys(1) } });
        let document = json!({ "mode": "enforce", "catalog": "none", "agents": agents, "files": files, "nat64": ["2001:db8:64::/96"] });
        let compiled = Ruleset::compile("c.json", document.to_string().as_bytes(), &NoFiles);
        compiled.ruleset.expect("it is valid")
    });
    let budget = Box::new(SignatureBudget::new());
    let forged = Signed::Forged(1).headers("one.test");
    let headers: Vec<(&str, &[u8])> =
        forged.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let bad = PlainRequest {
        headers: &headers,
        authority: Some(b"one.test"),
        signature_budget: Some(&budget),
        user_agent: None,
        ..*request
    };
    for _ in 0..40 {
        decide(&RULESET, &bad, Overrides::default());
    }
    budget
}
