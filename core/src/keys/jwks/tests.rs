use super::*;
use crate::source::diagnostic::{Lint, Load};
use alloc::format;
use alloc::string::ToString;
use alloc::vec;

/// A key as directories have it; members are added behind it.
fn entry(seed: u8, more: &str) -> String {
    let public = ed25519_dalek::SigningKey::from_bytes(&[seed; 32]).verifying_key().to_bytes();
    let kid = Base64Url(&thumbprint(&public)).to_string();
    let x = Base64Url(&public);
    format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}","kid":"{kid}"{more}}}"#)
}

fn messages(directory: &str) -> (Option<usize>, Vec<String>) {
    let mut diagnostics = Diagnostics::new("d", Load);
    let keys = read(directory.as_bytes(), &mut diagnostics);
    (keys.map(|keys| keys.len()), diagnostics.items().iter().map(ToString::to_string).collect())
}

/// SIG-3.
#[test]
fn sig_3_the_thumbprint_is_that_of_the_rfc() {
    // RFC 8037, A.3, and the key of RFC 9421, B.1.4.
    for (x, expected) in [
        ("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"),
        ("JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs", "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"),
    ] {
        let public = BASE64URL.decode(x).unwrap();
        assert_eq!(Base64Url(&thumbprint(public.first_chunk().unwrap())).to_string(), expected);
    }
}

/// SIG-7.
#[test]
fn sig_7_keys_of_other_kinds_are_left_out() {
    for more in ["", r#","use":"sig""#, r#","alg":"EdDSA","nbf":1,"exp":4.5"#, r#","x5c":["a"]"#] {
        assert_eq!(messages(&format!(r#"{{"keys":[{}]}}"#, entry(1, more))), (Some(1), vec![]), "{more}");
    }
    let milliseconds = messages(&format!(r#"{{"keys":[{}]}}"#, entry(1, r#","nbf":1735689600000"#)));
    let warning =
        "d:1:10: warning: `nbf` and `exp` are read in milliseconds; RFC 7519 has them in seconds [SIG-7]";
    assert_eq!(milliseconds, (Some(1), vec![warning.into()]));
    for (key, why) in [
        ("7", "it must be an object"),
        (r#"{"kty":"EC","crv":"P-256","x":"a","y":"b"}"#, r#"this one has "EC" and "P-256""#),
        (r#"{"kty":"RSA","n":"a","e":"AQAB","alg":"PS512"}"#, r#"this one has "RSA" and """#),
        (r#"{"kty":"OKP","crv":"X25519","x":"a"}"#, r#"only keys with "kty": "OKP""#),
        (r#"{"kty":"oct","k":"c2VjcmV0"}"#, r#"only keys with "kty": "OKP""#),
        (r#"{"kty":"OKP","crv":"Ed25519"}"#, "it has no `x`"),
        (r#"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#, "`x` must be 32 octets in base64url"),
        (
            r#"{"kty":"OKP","crv":"Ed25519","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
            "`x` is not a valid Ed25519 key",
        ),
        (
            r#"{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}"#,
            "it is a test key of an RFC",
        ),
        (&entry(1, r#","d":"AAAA""#), "it contains its private half"),
        (&entry(1, r#","use":"enc""#), r#"its `use` is not "sig""#),
        (&entry(1, r#","alg":"rsa-pss-sha512""#), "its `alg` is not"),
        (&entry(1, r#","nbf":"soon""#), "`nbf` must be a time"),
        (&entry(1, r#","nbf":4.1e9"#), "`nbf` must be a time in seconds, without an exponent"),
        (&entry(1, r#","x":"AAAA""#), "it has two members `x`"),
    ] {
        let (keys, messages) = messages(&format!(r#"{{"keys":[{key},{}]}}"#, entry(2, "")));
        assert_eq!(keys, Some(1), "{key}");
        let [message] = &messages[..] else { panic!("{key}: {messages:?}") };
        assert!(message.starts_with("d:1:10: warning: key ignored: "), "{message}");
        assert!(message.contains(why) && message.ends_with("[SIG-7]"), "{message}");
    }
}

/// SIG-7.
#[test]
fn sig_7_what_is_no_directory_is_refused() {
    let deep = format!(r#"{{"keys":{}{}}}"#, "[".repeat(20), "]".repeat(20));
    let long = format!(r#"{{"keys":[]{}}}"#, " ".repeat(MOST_BYTES));
    for (directory, why) in [
        ("", "EOF"),
        ("<html>", "this is HTML"),
        ("[]", "expected one object"),
        ("{}", "expected one object"),
        (r#"{"keys":[],"keys":[]}"#, "expected one object"),
        (r#"{"keys":{}}"#, "`keys` must be an array"),
        (r#"{"keys":[]} {}"#, "more text"),
        (&deep, "nested deeper"),
        (&long, "bytes"),
    ] {
        let (keys, messages) = messages(directory);
        assert_eq!(keys, None, "{why}");
        assert!(messages[0].contains(why), "{messages:?}");
    }
    assert_eq!(messages(r#"{"keys":[],"purpose":"ai"}"#), (Some(0), vec![]), "which revokes every key");
}

/// SIG-7.
#[test]
fn sig_7_the_number_of_keys_is_bounded() {
    let keys: Vec<String> = (0..=u8::try_from(MOST_KEYS).unwrap()).map(|seed| entry(seed, "")).collect();
    let (count, messages) = messages(&format!(r#"{{"keys":[{}]}}"#, keys.join(",")));
    assert_eq!(count, Some(MOST_KEYS));
    assert_eq!(messages, ["d: warning: 101 keys; only the first 100 are used [SIG-7]"]);
}

/// SIG-3.
#[test]
fn sig_3_publishers_are_told_of_other_ids() {
    let mut diagnostics = Diagnostics::new("d", Lint);
    let short = entry(1, "").replace(r#""kid":""#, r#""kid":"k1"#);
    let directory = format!(r#"{{"keys":[{short},{},{short}]}}"#, entry(2, "").replace("kid", "kit"));
    read(directory.as_bytes(), &mut diagnostics).unwrap();
    let messages: Vec<String> = diagnostics.items().iter().map(ToString::to_string).collect();
    assert!(messages[0].starts_with("d:1:10: error: `kid` is \"k1"), "{messages:?}");
    assert!(messages[1].contains("warning: the key has no `kid`; add \"kid\": \""), "{messages:?}");
    assert!(messages[2].contains("error: duplicate key"), "{messages:?}");
}
