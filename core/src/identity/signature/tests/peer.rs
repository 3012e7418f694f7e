//! Compared with the crate `web-bot-auth`: both verify what is right and refuse what was changed, and the rest is where they differ.

use super::*;
use sfv::{Parser, SerializeValue};
use web_bot_auth::WebBotAuthVerifier;
use web_bot_auth::components::{CoveredComponent, DerivedComponent, HTTPField, HTTPFieldParameters};
use web_bot_auth::keyring::{Algorithm, KeyRing as TheirRing};
use web_bot_auth::message_signatures::SignedMessage;

impl SignedMessage for Sent {
    fn lookup_component(&self, component: &CoveredComponent) -> Vec<String> {
        match component {
            CoveredComponent::HTTP(HTTPField { name, parameters }) => {
                let lines = self.headers.iter().filter(|(known, _)| known == name);
                let lines = lines.map(|(_, value)| value.clone());
                match &parameters.0[..] {
                    [HTTPFieldParameters::Key(key)] => {
                        let lines: Vec<String> = lines.collect();
                        let all = lines.join(", ");
                        let Ok(mut members) = Parser::new(&all).parse_dictionary() else { return Vec::new() };
                        let member = members.shift_remove(key.as_str());
                        member.and_then(|member| Vec::from([member]).serialize_value()).into_iter().collect()
                    }
                    _ => lines.collect(),
                }
            }
            CoveredComponent::Derived(DerivedComponent::Authority { .. }) => [self.authority.clone()].into(),
            CoveredComponent::Derived(DerivedComponent::Method { .. }) => [self.method.clone()].into(),
            CoveredComponent::Derived(_) => Vec::new(),
        }
    }
}

/// Returns true if `web-bot-auth` verifies a request, with the keys that [`ring`] has.
fn verifies(sent: &Sent) -> bool {
    let mut ring = TheirRing::default();
    for seed in [7, 8] {
        let public = signing_key(seed).verifying_key().to_bytes().to_vec();
        assert!(ring.import_raw(keyid(seed), Algorithm::Ed25519, public));
    }
    WebBotAuthVerifier::parse(sent).is_ok_and(|verifier| verifier.verify(&ring, None).is_ok())
}

/// SIG-13.
#[test]
fn sig_13_another_verifier_agrees_on_what_is_signed() {
    let plan = Plan {
        components: r#""@authority" "@method" "accept" "signature-agent";key="sig1""#.into(),
        ..Plan::default()
    };
    let good = sent().with("accept", "text/html").signed(&plan);
    assert!(verifies(&good));
    assert_eq!(result(&good), Some(Verified));
    for forged in [
        Sent { authority: "example.org".into(), ..good.clone() },
        Sent { method: "POST".into(), ..good.clone() },
        good.clone().altered("accept", "html", "xml"),
        good.clone().altered("signature-agent", "signer", "other"),
        good.clone().altered("signature-input", "\"@method\" ", ""),
        good.clone().altered("signature-input", ";tag", ";nonce=\"x\";tag"),
    ] {
        assert!(!verifies(&forged), "{:?}", forged.headers);
        assert_ne!(result(&forged), Some(Verified), "{:?}", forged.headers);
    }
}

/// SIG-2, SIG-4, SIG-6, SIG-12.
#[test]
fn sig_4_another_verifier_accepts_what_has_expired_and_other_things() {
    let timed = |created, expires| Plan { parameters: parameters(created, expires, 7), ..Plan::default() };
    let good = sent().signed(&Plan::default());
    for (why, sent, expected) in [
        ("it leaves the times to its caller", sent().signed(&timed(1_000, 2_000)), Expired),
        ("also that of creation", sent().signed(&timed(NOW + 10_000, NOW + 20_000)), NotYetValid),
        ("an end before the beginning", sent().signed(&timed(NOW, NOW - 10)), Malformed),
        (
            "it finds keys by their numbers alone: here another's key signs in the name of this directory",
            sent().signed(&Plan { parameters: parameters(NOW, NOW + 50, 8), seed: 8, ..Plan::default() }),
            UnknownKey,
        ),
        (
            "a directory that cannot be one",
            sent().signed(&Plan { agent: Some("sig1=\"ftp://signer.test\"".into()), ..Plan::default() }),
            Malformed,
        ),
        (
            "no directory at all",
            sent().signed(&Plan { components: r#""@authority""#.into(), agent: None, ..Plan::default() }),
            NotCovered,
        ),
        ("it skips a line that it cannot read", good.clone().with("signature-input", "sig2=("), Malformed),
        (
            "of two members with one label, the last one counts",
            good.clone().altered("signature", "sig1=:", "sig1=:AAAA:, sig1=:"),
            Verified,
        ),
    ] {
        assert!(verifies(&sent), "{why}");
        assert_eq!(result(&sent), Some(expected), "{why}");
    }
}
