use alloc::borrow::ToOwned;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;

use ed25519_dalek::{Signer, SigningKey, VerifyingKey};

use super::*;
use crate::ids::Id;
use crate::keys::{BASE64URL, Base64Url, thumbprint};
use crate::request::{SignatureBudget, budget};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use SignatureResult::*;

mod components;
mod peer;
mod profile;
mod several;
mod vectors;

const NOW: i64 = 1_800_000_000;
const DIRECTORY: &str = "https://signer.test";

/// A request of which each part can be changed.
#[derive(Clone)]
struct Sent {
    scheme: Option<Scheme>,
    authority: String,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    now: i64,
    budget: Option<Rc<SignatureBudget>>,
}

impl Request for Sent {
    fn address(&self) -> Option<IpAddr> {
        None
    }

    fn scheme(&self) -> Option<Scheme> {
        self.scheme
    }

    fn authority(&self) -> Option<&[u8]> {
        Some(self.authority.as_bytes())
    }

    fn method(&self) -> &[u8] {
        self.method.as_bytes()
    }

    fn path(&self) -> &[u8] {
        self.path.as_bytes()
    }

    fn user_agent(&self) -> Option<&[u8]> {
        None
    }

    fn now(&self) -> i64 {
        self.now
    }

    fn with_signature_budget<T>(&self, call: impl FnOnce(&SignatureBudget) -> T) -> Option<T> {
        self.budget.as_deref().map(call)
    }

    fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        self.headers.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_bytes())
    }
}

/// Examines the signatures of a request whose client has no address.
fn examine(ring: &KeyRing, sent: &Sent, claimed: Option<AgentId>) -> Option<Examined> {
    super::examine(ring, sent, claimed, None)
}

fn agent(number: usize) -> AgentId {
    AgentId::from_index(number).unwrap()
}

fn signing_key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

fn key_of(public: VerifyingKey) -> Key {
    Key::between(thumbprint(public.as_bytes()), public, None, None)
}

fn keyid(seed: u8) -> String {
    Base64Url(&thumbprint(signing_key(seed).verifying_key().as_bytes())).to_string()
}

/// A ring with one key of agent 1 at [`DIRECTORY`], and another agent's directory.
fn ring() -> KeyRing {
    let mut ring = KeyRing::new(60);
    for (number, url, seed) in [(1, DIRECTORY, 7), (2, "https://other.test", 8)] {
        let identifier = Identifier::of(url.as_bytes(), Reference::Any).unwrap();
        let identifier = String::from_utf8(identifier.to_vec()).unwrap();
        ring.add(&identifier, agent(number), [key_of(signing_key(seed).verifying_key())].into());
    }
    ring
}

/// The parts that are signed; each can be changed before it is.
#[derive(Clone)]
struct Plan {
    label: String,
    components: String,
    parameters: String,
    agent: Option<String>,
    seed: u8,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            label: "sig1".into(),
            components: r#""@authority" "signature-agent";key="sig1""#.into(),
            parameters: parameters(NOW - 10, NOW + 50, 7),
            agent: Some(format!("sig1=\"{DIRECTORY}\"")),
            seed: 7,
        }
    }
}

fn parameters(created: i64, expires: i64, seed: u8) -> String {
    format!(";created={created};expires={expires};keyid=\"{}\";tag=\"web-bot-auth\"", keyid(seed))
}

fn sent() -> Sent {
    Sent {
        scheme: Some(Scheme::Https),
        authority: "example.com".into(),
        method: "GET".into(),
        path: "/a%20b?c=%7e".into(),
        headers: Vec::new(),
        now: NOW,
        budget: None,
    }
}

impl Sent {
    fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    /// The request with a signature, over whatever the base is.
    fn signed(self, plan: &Plan) -> Self {
        let input = format!("{}=({}){}", plan.label, plan.components, plan.parameters);
        let sent = self.with("signature-input", &input);
        let sent = match &plan.agent {
            Some(agent) => sent.with("signature-agent", agent),
            None => sent,
        };
        let base = base_of(&sent, &plan.label).unwrap_or_default();
        let signature = signing_key(plan.seed).sign(&base).to_bytes();
        sent.with("signature", &format!("{}=:{}:", plan.label, STANDARD.encode(signature)))
    }

    /// A value of a header with one text put in another's place.
    fn altered(mut self, name: &str, from: &str, to: &str) -> Self {
        for (_, value) in self.headers.iter_mut().filter(|(known, _)| known == name) {
            assert!(value.contains(from), "{value}");
            *value = value.replace(from, to);
        }
        self
    }
}

fn base_of(sent: &Sent, label: &str) -> Result<Vec<u8>, NoBase> {
    let member = structured::member(sent.header_lines(INPUT), label.as_bytes())?;
    let Some(Member::List(input)) = member else { return Err(NoBase::Malformed) };
    let mut base = Vec::new();
    write_base(sent, input, Target::of(sent), &mut |bytes| base.extend_from_slice(bytes))?;
    Ok(base)
}

fn result(sent: &Sent) -> Option<SignatureResult> {
    examine(&ring(), sent, None).map(|examined| {
        let is_known = matches!(examined.result, Verified | BadSignature);
        assert_eq!(examined.agent.is_some(), is_known);
        examined.result
    })
}
