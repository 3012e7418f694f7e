//! `crawlpike sign`, and what the other commands say of signatures.

use std::os::unix::fs::PermissionsExt;

use crate::fixture::{Done, Folder};

/// A folder with a key, its directory, and a configuration that has it.
fn folder() -> Folder {
    let folder = Folder::new();
    let done = folder.run(&["sign", "key", "agent.pem"]);
    assert_eq!((done.status, done.stdout.trim().len()), (0, 43), "{done:?}");
    let directory = folder.run(&["sign", "directory", "agent.pem"]).stdout;
    assert!(directory.contains(done.stdout.trim()), "{directory}");
    folder.write("keys.json", directory);
    folder.write(
        "crawlpike.json",
        r#"{ "catalog": "none", "sites": [ {} ], "agents": [ { "token": "SigningBot",
             "keys": [ { "directory": "https://agent.example", "source": "keys.json" } ] } ] }"#,
    );
    folder
}

fn signed(folder: &Folder, options: &[&str]) -> Done {
    let request = ["sign", "request", "--key", "agent.pem", "--directory", "https://agent.example"];
    folder.run(&[&request[..], options].concat())
}

/// The part of an explanation about the signature, of a request for `https://example.com/a?b` with these headers.
fn explained(folder: &Folder, headers: &str, options: &[&str]) -> String {
    let mut arguments =
        vec!["explain", "--config", "crawlpike.json", "--ip", "192.0.2.1", "--user-agent", "Firefox"];
    if !options.contains(&"--path") {
        arguments.extend(["--path", "/a?b"]);
    }
    arguments.extend(["--host", "example.com"]);
    arguments.extend(headers.lines().flat_map(|line| ["--header", line]));
    arguments.extend(options);
    let done = folder.run(&arguments);
    done.ends(0);
    let is_wanted =
        |line: &&str| ["signature", "claim", "identity"].iter().any(|word| line.starts_with(word));
    done.stdout.lines().filter(is_wanted).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_signed_request_is_explained() {
    // SIG-3, SIG-12
    let folder = folder();
    let headers = signed(&folder, &["https://example.com/a?b"]).stdout;
    assert_eq!(
        explained(&folder, &headers, &[]),
        "signature verified: a signature holds\n\
         claim     SigningBot, whose key the signature names\n\
         identity  verified: a key of SigningBot signed the request"
    );
    let forged = explained(&folder, &headers, &["--method", "POST"]);
    assert!(forged.starts_with("signature bad-signature: "), "{forged}");
    assert!(
        forged.ends_with("the signature names a key of SigningBot, which did not sign this request"),
        "{forged}"
    );
    let long = signed(&folder, &["--lifetime", "100000", "https://example.com/a?b"]);
    assert!(long.stderr.starts_with("warning: "), "{long:?}");
    let long = explained(&folder, &long.stdout, &[]);
    assert!(long.contains("a signature holds; it lives longer than 24 hours"), "{long}");
    let old = signed(&folder, &["--created", "1700000000", "https://example.com/a?b"]).stdout;
    assert!(explained(&folder, &old, &[]).starts_with("signature expired: the signature has expired\n"));
    // The scheme matters where the signature covers it.
    let plain = signed(&folder, &["--cover", "@target-uri", "http://example.com/a?b"]).stdout;
    assert!(explained(&folder, &plain, &[]).starts_with("signature bad-signature"));
    assert!(explained(&folder, &plain, &["--scheme", "http"]).starts_with("signature verified"));
    // A parameter of the query.
    let cover =
        ["--cover", "@authority", "--cover", "@query-param;name=a b", "https://example.com/?c&a+b=%7e"];
    let one = signed(&folder, &cover).stdout;
    assert!(one.contains(r#" "@query-param";name="a%20b" "#), "{one}");
    assert!(explained(&folder, &one, &["--path", "/x?a%20b=~"]).starts_with("signature verified"));
    assert!(explained(&folder, &one, &["--path", "/x?a%20b=1"]).starts_with("signature bad-signature"));
    // SIG-1: the URL of the set of keys, or what earlier drafts have.
    let url = "https://agent.example/.well-known/http-message-signatures-directory";
    assert!(headers.starts_with(&format!("Signature-Agent: sig1=\"{url}\"\n")), "{headers}");
    let given = signed(&folder, &["--as-given", "https://example.com/a?b"]).stdout;
    assert!(given.starts_with("Signature-Agent: sig1=\"https://agent.example\"\n"), "{given}");
    assert!(explained(&folder, &given, &[]).starts_with("signature verified"));
    // Headers that the signature covers.
    let cover = ["--cover", "@authority", "--cover", "accept", "--header", "Accept: text/html"];
    let headers = signed(&folder, &[&cover[..], &["https://example.com/"]].concat()).stdout;
    assert!(explained(&folder, &headers, &[]).starts_with("signature not-covered"));
    assert!(
        explained(&folder, &headers, &["--header", "accept:  text/html "]).starts_with("signature verified")
    );
}

#[test]
fn keys_are_private_and_never_overwritten() {
    let folder = folder();
    let mode = folder.path("agent.pem").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    folder
        .run(&["sign", "key", "agent.pem"])
        .ends(2)
        .says_only("crawlpike: error: cannot create agent.pem: File exists (os error 17)\n");
    folder.run(&["sign", "directory", "keys.json"]).ends(2).says("keys.json is not an Ed25519 private key");
    for wrong in [
        &["ftp://example.com/"][..],
        &["--label", "Sig", "https://example.com/"],
        &["--cover", "@new", "https://example.com/"],
        &["--cover", "accept", "https://example.com/"],
        &["--cover", "a\"b", "https://example.com/"],
    ] {
        assert_eq!(signed(&folder, wrong).status, 2, "{wrong:?}");
    }
}

#[test]
fn no_signature_is_made_that_nobody_could_verify() {
    // SIG-1, SIG-2
    let folder = folder();
    for directory in ["http://agent.example", "agent.example", "https://", ""] {
        let arguments =
            ["sign", "request", "--key", "agent.pem", "--directory", directory, "https://a.test/"];
        folder
            .run(&arguments)
            .ends(2)
            .prints_only("")
            .says("--directory: expected an https URL, such as https://agent.example");
    }
    signed(&folder, &["--cover", "@method", "https://example.com/"])
        .ends(2)
        .prints_only("")
        .says("--cover: a signature that does not cover the host proves nothing; add --cover @authority");
    signed(&folder, &["--created", "9999999999999999", "https://example.com/"])
        .ends(2)
        .says("15 digits at most");
    let headers = |host| folder.run(&["sign", "directory", "--headers-for", host, "agent.pem"]);
    headers("https://agent.example").ends(2).prints_only("").says("such as agent.example");
    headers("agent.example:8443").ends(0);
}

#[test]
fn a_url_is_signed_only_if_all_clients_send_it_as_it_is_written() {
    let folder = folder();
    for (url, written) in [
        ("https://example.com/?q='x'", "https://example.com/?q=%27x%27,"),
        ("https://example.com/a/%2e%2e/b", "https://example.com/b,"),
        ("https://example.com/{x}", "https://example.com/%7Bx%7D,"),
        ("https://example.com/a\"b", "https://example.com/a%22b,"),
        ("https://example.com/a<b>", "https://example.com/a%3Cb%3E,"),
        ("https://example.com/a\\b", "https://example.com/a/b,"),
        ("https://example.com/ż#part", "https://example.com/%C5%BC,"),
        ("https:example.com/a", "https://example.com/a,"),
    ] {
        let done = signed(&folder, &[url]);
        done.ends(2).prints_only("").says(&format!("write {written} here and in the request"));
    }
    let done = signed(&folder, &["https://example.com/?a|b"]);
    done.ends(2)
        .prints_only("")
        .says("clients differ in how they send `|`; write %7C, here and in the request");
    for url in
        ["https://example.com", "https://EXAMPLE.com?b#c", "https://ż.test/a//b?c[]=d?", "http://[::1]:80/?"]
    {
        signed(&folder, &[url]).ends(0).says_only("");
    }
}

#[test]
fn directories_are_checked_for_their_publishers() {
    // SIG-7
    let folder = folder();
    let lint = |file: &str| folder.run(&["lint", "--format", "key-directory", file]);
    assert_eq!((lint("keys.json").status, &*lint("keys.json").stderr), (0, ""));
    folder.write("empty.json", r#"{"keys":[]}"#);
    lint("empty.json").ends(0).says("warning: no key can be used");
    for (kind, why) in [
        (r#""kty":"RSA","n":"a","e":"AQAB""#, r#"are supported; this one has "RSA" and """#),
        (r#""kty":"EC","crv":"P-256","x":"a","y":"b""#, r#"are supported; this one has "EC" and "P-256""#),
    ] {
        folder.write("other.json", format!("{{\"keys\":[{{{kind}}}]}}"));
        lint("other.json").says("other.json:1:10: error: key ignored: only keys with ").ends(1).says(why);
    }
    assert_eq!(lint("agent.pem").status, 1);
    let with_times =
        |folder: &Folder, times| folder.read("keys.json").replace("\"use\"", &format!("{times},\"use\""));
    folder.write("never.json", with_times(&folder, r#""nbf":1700000000,"exp":1600000000"#));
    lint("never.json").ends(0).says(" never holds: its `exp` is not after its `nbf` [SIG-7]");
    // The gates load what the configuration has; that it is over shows in `lint` and `doctor`.
    let over = "crawlpike.json: warning: no key of https://agent.example/.well-known/http-message-signatures-directory holds now";
    for (times, is_over) in [(r#""exp":1700000000"#, true), (r#""nbf":1700000000"#, false)] {
        let folder = self::folder();
        folder.write("keys.json", with_times(&folder, times));
        let done = folder.run(&["lint", "--format", "config", "crawlpike.json"]);
        assert_eq!(done.stderr.contains(over), is_over, "{}", done.stderr);
    }
}

#[test]
fn agents_with_keys_are_verifiable() {
    let folder = folder();
    let verifiable = || {
        let done = folder.run(&["agents", "--config", "crawlpike.json", "--json"]);
        let agent: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
        agent["verifiable"].as_bool().unwrap()
    };
    assert!(verifiable());
    folder.write("keys.json", r#"{"keys":[]}"#);
    assert!(!verifiable());
    folder.run(&["compile", "--config", "crawlpike.json", "--output", "compiled"]).ends(0);
}
