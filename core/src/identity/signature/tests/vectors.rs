//! The test vectors of the RFC and of the draft.

use super::*;

/// The public key of RFC 9421, B.1.4, which no configuration can have.
fn key_of_the_rfc() -> Key {
    let public = BASE64URL.decode("JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs").unwrap();
    key_of(VerifyingKey::from_bytes(public.first_chunk().unwrap()).unwrap())
}

/// SIG-13.
#[test]
fn sig_13_the_vector_of_the_rfc_holds() {
    // B.2.6: neither tag nor expires, so only the base and the key are put to the test.
    let input = concat!(
        r#"sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length")"#,
        r#";created=1618884473;keyid="test-key-ed25519""#
    );
    let sent = Sent { method: "POST".into(), path: "/foo?param=Value&Pet=dog".into(), ..sent() }
        .with("date", "Tue, 20 Apr 2021 02:07:55 GMT")
        .with("content-type", "application/json")
        .with("content-length", "18")
        .with("signature-input", input);
    let signature = structured::decode(
        b"wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==",
    )
    .unwrap();
    let is_right = |sent: &Sent, signature: &[u8; 64]| {
        let Ok(Some(Member::List(input))) = structured::member(sent.header_lines(INPUT), b"sig-b26") else {
            panic!("a list")
        };
        let ring = ring();
        let examination = Examination {
            ring: &ring,
            request: sent,
            claimed: None,
            comparisons: 0,
            verifications: Cell::new(0),
            holding: None,
        };
        examination.is_of(&key_of_the_rfc(), signature, input, &[])
    };
    assert_eq!(is_right(&sent, &signature), Ok(true));
    for place in 0..64 {
        let mut other = signature;
        other[place] ^= 0x10;
        assert_eq!(is_right(&sent, &other), Ok(false));
    }
    assert_eq!(is_right(&Sent { path: "/fo?".into(), ..sent.clone() }, &signature), Ok(false));
    assert_eq!(is_right(&sent.altered("date", "55", "56"), &signature), Ok(false));
}

/// SIG-13.
#[test]
fn sig_13_the_vectors_of_the_draft_hold() {
    const KEYID: &str = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";
    for (agent_line, component, expires, nonce, signature) in [
        (
            r#"agent2="https://signature-agent.test""#,
            r#""signature-agent";key="agent2""#,
            4_889_289_600_i64,
            "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==",
            "RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==",
        ),
        (
            r#""https://signature-agent.test""#,
            r#""signature-agent""#,
            1_735_693_200,
            "e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==",
            "jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==",
        ),
    ] {
        let mut ring = KeyRing::new(60);
        let identifier = "https://signature-agent.test/.well-known/http-message-signatures-directory";
        ring.add(identifier, agent(0), [key_of_the_rfc()].into());
        let input = format!(
            "sig2=(\"@authority\" {component});created=1735689600;keyid=\"{KEYID}\";alg=\"ed25519\"\
             ;expires={expires};nonce=\"{nonce}\";tag=\"web-bot-auth\""
        );
        let sent = Sent { now: 1_735_690_000, ..sent() }
            .with("signature-agent", agent_line)
            .with("signature-input", &input)
            .with("signature", &format!("sig2=:{signature}:"));
        let of = |sent: &Sent| examine(&ring, sent, None).unwrap().result;
        assert_eq!(of(&sent), Verified);
        assert_eq!(of(&Sent { authority: "examplf.com".into(), ..sent.clone() }), BadSignature);
        assert_eq!(of(&sent.clone().altered("signature-input", "nonce=\"", "nonce=\"x")), BadSignature);
        let other = if signature.starts_with('R') { "sig2=:S" } else { "sig2=:k" };
        assert_eq!(
            of(&sent.altered("signature", &format!("sig2=:{}", signature.chars().next().unwrap()), other)),
            BadSignature
        );
    }
}
