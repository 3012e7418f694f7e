//! The conditions for a signature to count: its members, parameters and times, and the headers it is in.

use super::*;

/// SIG-2.
#[test]
fn sig_2_a_signature_over_host_and_directory_holds() {
    let sent = sent().signed(&Plan::default());
    let examined = examine(&ring(), &sent, None).unwrap();
    assert_eq!((examined.result, examined.agent), (Verified, Some(agent(1))));
    assert!(!examined.is_long_lived);
    // Label and key of the member may differ.
    let plan = Plan {
        label: "a".into(),
        components: r#""@target-uri" "signature-agent";key="b""#.into(),
        agent: Some(format!("b=\"{DIRECTORY}\"")),
        ..Plan::default()
    };
    assert_eq!(result(&self::sent().signed(&plan)), Some(Verified));
}

/// SIG-1.
#[test]
fn sig_1_the_bare_string_of_older_drafts_is_one_member() {
    let plan = Plan {
        components: r#""@authority" "signature-agent""#.into(),
        agent: Some(format!("\"{DIRECTORY}\"")),
        ..Plan::default()
    };
    assert_eq!(result(&sent().signed(&plan)), Some(Verified));
    // The dictionary may be covered as a whole, too.
    let plan = Plan { agent: Some(format!("sig1=\"{DIRECTORY}\"")), ..plan };
    assert_eq!(result(&sent().signed(&plan)), Some(Verified));
    let plan = Plan { agent: Some(format!("other=\"{DIRECTORY}\"")), ..plan };
    assert_eq!(result(&sent().signed(&plan)), Some(NotCovered));
}

/// SIG-1.
#[test]
fn sig_1_types_of_members_are_told_apart() {
    let of = |value: &str| {
        result(&sent().signed(&Plan { agent: Some(format!("sig1={value}")), ..Plan::default() }))
    };
    let path = "/.well-known/http-message-signatures-directory";
    assert_eq!(of(&format!("\"{DIRECTORY}\";type=directory")), Some(Verified));
    assert_eq!(of(&format!("\"{DIRECTORY}{path}\"")), Some(Verified));
    assert_eq!(of(&format!("\"{DIRECTORY}{path}\";type=jwks_uri")), Some(Verified));
    assert_eq!(of(&format!("\"{DIRECTORY}\";type=jwks_uri")), Some(UnknownKey));
    for kind in ["cimd", "\"cimd\"", "new"] {
        assert_eq!(of(&format!("\"{DIRECTORY}\";type={kind}")), Some(NotCovered), "{kind}");
    }
    assert_eq!(of(&format!("\"{DIRECTORY}\";a=1")), Some(NotCovered));
    for value in ["\"http://signer.test\"", "\"signer.test\"", "token", "1", "\"https://user@signer.test\""] {
        assert_eq!(of(value), Some(Malformed), "{value}");
    }
    assert_eq!(of("\"https://nobody.test\""), Some(UnknownKey));
}

/// SIG-6.
#[test]
fn sig_6_a_key_counts_only_in_its_own_directory() {
    // Signed with the key of `other.test` in the name of `signer.test`.
    let plan = Plan { parameters: parameters(NOW, NOW + 50, 8), seed: 8, ..Plan::default() };
    assert_eq!(result(&sent().signed(&plan)), Some(UnknownKey));
    let plan = Plan { agent: Some("sig1=\"https://other.test\"".into()), ..plan };
    assert_eq!(examine(&ring(), &sent().signed(&plan), None).unwrap().agent, Some(agent(2)));
}

/// SIG-2.
#[test]
fn sig_2_nothing_is_attributed_to_a_member_that_is_not_covered() {
    for (components, agents) in [
        (r#""@authority""#, "sig1=\"https://signer.test\""),
        // Two covered members of which none has the label.
        (
            r#""@authority" "signature-agent";key="a" "signature-agent";key="b""#,
            "a=\"https://signer.test\", b=\"https://other.test\"",
        ),
        (r#""@authority" "signature-agent";key="b""#, "sig1=\"https://signer.test\""),
    ] {
        let plan = Plan { components: components.into(), agent: Some(agents.into()), ..Plan::default() };
        assert_eq!(result(&sent().signed(&plan)), Some(NotCovered), "{components}");
    }
    assert_eq!(result(&sent().signed(&Plan { agent: None, ..Plan::default() })), Some(NotCovered));
    // Over another's Signature-Agent: the member that is covered counts, whatever else there is.
    let plan = Plan {
        agent: Some("other=\"https://other.test\", sig1=\"https://signer.test\"".into()),
        ..Plan::default()
    };
    assert_eq!(examine(&ring(), &sent().signed(&plan), None).unwrap().agent, Some(agent(1)));
    let swapped = sent().signed(&Plan::default()).altered("signature-agent", "signer.test", "other.test");
    assert_eq!(result(&swapped), Some(UnknownKey));
}

/// SIG-2.
#[test]
fn sig_2_a_signature_names_the_host() {
    for components in
        ["", r#""signature-agent";key="sig1""#, r#""@method" "@path" "@scheme" "signature-agent";key="sig1""#]
    {
        let plan = Plan { components: components.into(), ..Plan::default() };
        assert_eq!(result(&sent().signed(&plan)), Some(NotCovered), "{components}");
    }
}

/// SIG-4.
#[test]
fn sig_4_times_are_checked_with_a_skew() {
    for (created, expires, expected) in [
        (NOW, NOW, Verified),
        (NOW - 100, NOW - 60, Verified),
        (NOW - 100, NOW - 61, Expired),
        (NOW + 60, NOW + 100, Verified),
        (NOW + 61, NOW + 100, NotYetValid),
        (NOW + 10, NOW + 5, Malformed),
        (-999_999_999_999_999, 999_999_999_999_999, Verified),
    ] {
        let plan = Plan { parameters: parameters(created, expires, 7), ..Plan::default() };
        assert_eq!(result(&sent().signed(&plan)), Some(expected), "{created} {expires}");
    }
    let is_long_lived = |seconds| {
        let plan = Plan { parameters: parameters(NOW, NOW + seconds, 7), ..Plan::default() };
        examine(&ring(), &sent().signed(&plan), None).unwrap().is_long_lived
    };
    assert_eq!([is_long_lived(24 * 3600), is_long_lived(24 * 3600 + 1)], [false, true]);
}

/// SIG-3.
#[test]
fn sig_3_the_parameters_of_the_profile_are_demanded() {
    let whole = parameters(NOW, NOW + 50, 7);
    let of = |from: &str, to: &str| {
        assert!(whole.contains(from));
        result(&sent().signed(&Plan { parameters: whole.replace(from, to), ..Plan::default() }))
    };
    let (created, expires) = (format!(";created={NOW}"), format!(";expires={}", NOW + 50));
    let id = format!(";keyid=\"{}\"", keyid(7));
    assert_eq!(of(&created, ""), Some(Malformed));
    assert_eq!(of(&expires, ""), Some(Malformed));
    assert_eq!(of(&id, ""), Some(Malformed));
    assert_eq!(of(&created, &format!(";created=\"{NOW}\"")), Some(Malformed));
    assert_eq!(of(&created, &format!(";created={NOW}.0")), Some(Malformed));
    assert_eq!(of(&id, &id.replace('"', "")), Some(Malformed));
    assert_eq!(of(&id, ";keyid=\"k1\""), Some(UnknownKey), "short ids");
    assert_eq!(of(&id, &format!(";keyid=\"{}=\"", keyid(7))), Some(Verified), "padded");
    // Not of the profile, so none of ours.
    assert_eq!(of(";tag=\"web-bot-auth\"", ""), None);
    assert_eq!(of("web-bot-auth", "http-message-signatures-directory"), None);
    assert_eq!(of(";tag=\"web-bot-auth\"", ";tag=web-bot-auth"), None);
    for algorithm in ["hmac-sha256", "rsa-pss-sha512", "ecdsa-p256-sha256", "ED25519"] {
        assert_eq!(of(&id, &format!("{id};alg=\"{algorithm}\"")), Some(Unsupported), "{algorithm}");
    }
    assert_eq!(of(&id, &format!("{id};alg=\"ed25519\";nonce=\"a/b+==\"")), Some(Verified));
    let other = id.replace(&keyid(7), &keyid(9));
    assert_eq!(of(&id, &format!("{other}{id}")), Some(Verified), "of two, the last one counts");
    assert_eq!(of(&id, &format!("{id}{other}")), Some(UnknownKey), "of two, the last one counts");
}

/// SIG-13.
#[test]
fn sig_13_one_changed_byte_is_a_forgery() {
    let good = Plan {
        components:
            r#""@authority" "@method" "@path" "@query" "@scheme" "accept" "signature-agent";key="sig1""#
                .into(),
        ..Plan::default()
    };
    let sent = sent().with("accept", "text/html").signed(&good);
    assert_eq!(result(&sent), Some(Verified));
    for forged in [
        Sent { authority: "example.co".into(), ..sent.clone() },
        Sent { authority: "example.com:80".into(), ..sent.clone() },
        Sent { authority: "example.com:8443".into(), ..sent.clone() },
        Sent { method: "get".into(), ..sent.clone() },
        Sent { path: "/a b?c=%7e".into(), ..sent.clone() },
        Sent { path: "/a%20b?c=~".into(), ..sent.clone() },
        Sent { path: "/a%20b".into(), ..sent.clone() },
        sent.clone().with("accept", "text/plain"),
        sent.clone().altered("accept", "html", "xml"),
        sent.clone().altered("signature-input", ";tag", ";nonce=\"x\";tag"),
        // A parameter that is dropped from the base would leave what the attacker wrote unsigned.
        sent.clone().altered("signature-input", "\"@method\" ", ""),
    ] {
        assert_eq!(result(&forged), Some(BadSignature), "{:?}", forged.headers);
    }
    let mut bytes = structured::decode::<64>(
        sent.headers.last().unwrap().1.trim_start_matches("sig1=:").trim_end_matches(':').as_bytes(),
    )
    .unwrap();
    for place in [0, 31, 32, 63] {
        bytes[place] ^= 1;
        let line = format!("sig1=:{}:", STANDARD.encode(bytes));
        assert_eq!(result(&sent.clone().without("signature").with("signature", &line)), Some(BadSignature));
        bytes[place] ^= 1;
    }
    bytes[63] |= 0xe0;
    let line = format!("sig1=:{}:", STANDARD.encode(bytes));
    assert_eq!(result(&sent.clone().without("signature").with("signature", &line)), Some(BadSignature));
}

/// SIG-12.
#[test]
fn sig_12_headers_that_cannot_be_read_prove_nothing() {
    let good = sent().signed(&Plan::default());
    for bad in [
        good.clone().without("signature-input"),
        good.clone().without("signature-input").with("signature-input", ""),
        good.clone().altered("signature-input", "sig1=", "sig1"),
        good.clone().altered("signature", "sig1=:", "sig2=:"),
        good.clone().altered("signature", "sig1=:", "sig1=:A"),
        good.clone().altered("signature", "=:", "=:AAAA:;x=:"),
        good.clone().altered("signature", ":", "\""),
        good.clone().without("signature").with("signature", "sig1=::"),
        good.clone().without("signature").with("signature", "sig1"),
        good.clone().without("signature").with("signature", ""),
        // Of two members with one label, the last one counts.
        good.clone().with("signature", "sig1=::"),
        good.clone().altered("signature-input", "\"@authority\"", "\"@authority\" \"@authority\""),
        good.clone().altered("signature-input", "\"@authority\"", "\"@authority\" \"Accept\""),
        good.clone().altered("signature-input", "\"@authority\"", "\"@authority\" \"signature\""),
        good.clone().altered("signature-input", "\"@authority\"", "\"@authority\" accept"),
    ] {
        assert_eq!(result(&bad), Some(Malformed), "{:?}", bad.headers);
    }
    for (changed, expected) in [
        (good.clone().altered("signature-input", "sig1=", "sig1=(), sig1="), Verified),
        (good.clone().altered("signature", "sig1=", "sig1=::, sig1="), Verified),
        (good.clone().with("signature-agent", "sig1=\"https://other.test\""), UnknownKey),
    ] {
        assert_eq!(result(&changed), Some(expected), "{:?}", changed.headers);
    }
    for component in [
        r#""@request-target""#,
        r#""@status""#,
        r#""@new""#,
        r#""@query-param";name="c";req"#,
        r#""@method";req"#,
        r#""accept";sf"#,
        r#""accept";req"#,
        r#""accept";bs"#,
        r#""accept";key="a""#,
    ] {
        let components = format!(r#""@authority" {component} "signature-agent";key="sig1""#);
        let sent = sent().with("accept", "a=1").signed(&Plan { components, ..Plan::default() });
        assert_eq!(result(&sent), Some(Unsupported), "{component}");
    }
    let missing = Plan {
        components: r#""@authority" "content-digest" "signature-agent";key="sig1""#.into(),
        ..Plan::default()
    };
    assert_eq!(result(&sent().signed(&missing)), Some(NotCovered));
    assert_eq!(result(&sent()), None, "no signature says nothing");
    assert_eq!(result(&good.without("signature")), None);
}
