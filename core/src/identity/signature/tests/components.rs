//! The exact text that is signed of a request.

use super::*;

/// SIG-2.
#[test]
fn sig_2_the_key_of_a_member_is_signed() {
    let sent = sent().signed(&Plan::default());
    let base = String::from_utf8(base_of(&sent, "sig1").unwrap()).unwrap();
    let line = r#""signature-agent";key="sig1": "https://signer.test""#;
    assert!(base.lines().any(|own| own == line), "{base}");
    // A signer, or a verifier, that drops the parameter signs something else.
    let dropped = base.replace(r#";key="sig1": "#, ": ");
    let line = format!("sig1=:{}:", STANDARD.encode(signing_key(7).sign(dropped.as_bytes()).to_bytes()));
    assert_eq!(result(&sent.without("signature").with("signature", &line)), Some(BadSignature));
}

/// SIG-11.
#[test]
fn sig_11_what_no_proxy_has_to_keep_is_not_signed() {
    let plan = Plan {
        components: r#""@authority" "accept" "signature-agent";key="sig1""#.into(),
        ..Plan::default()
    };
    let sent = sent().with("accept", "a, b").signed(&plan);
    for same in [
        Sent { authority: "EXAMPLE.com".into(), ..sent.clone() },
        Sent { authority: "example.com:443".into(), ..sent.clone() },
        sent.clone().without("accept").with("accept", " a\t").with("accept", "b"),
        sent.clone().altered(
            "signature-input",
            "(\"@authority\" \"accept\" ",
            "(  \"@authority\"  \"accept\"   ",
        ),
        sent.clone().altered("signature-input", ";created=", "; created=00"),
        sent.clone().altered("signature-agent", "sig1=", "x=1 ,  sig1="),
    ] {
        assert_eq!(result(&same), Some(Verified), "{:?}", same.headers);
    }
    // Blanks inside a line are part of it.
    assert_eq!(result(&sent.clone().altered("accept", "a, b", "a,  b")), Some(BadSignature));
    // Over http, the other port is the default.
    let plain = Sent { scheme: Some(Scheme::Http), authority: "example.com:80".into(), ..self::sent() };
    let plain = plain.signed(&Plan::default());
    assert_eq!(result(&Sent { authority: "example.com".into(), ..plain.clone() }), Some(Verified));
    assert_eq!(result(&Sent { scheme: Some(Scheme::Https), ..plain }), Some(BadSignature));
    // Nobody knows the scheme: it is the one of the profile.
    let unknown = Sent { scheme: None, ..self::sent() }.signed(&Plan::default());
    assert_eq!(result(&Sent { authority: "example.com:443".into(), ..unknown }), Some(Verified));
}

/// SIG-11.
#[test]
fn sig_11_tls_may_end_before_the_gate() {
    for (component, host) in
        [("@scheme", "example.com"), ("@target-uri", "example.com"), ("@target-uri", "Example.com")]
    {
        let plan = Plan {
            components: format!(r#""@authority" "{component}" "signature-agent";key="sig1""#),
            ..Plan::default()
        };
        let by = |scheme| Sent { scheme: Some(scheme), authority: host.into(), ..sent() }.signed(&plan);
        for (sent, seen, expected) in [
            (Scheme::Https, Scheme::Http, Verified),
            (Scheme::Http, Scheme::Http, Verified),
            (Scheme::Http, Scheme::Https, BadSignature),
        ] {
            let seen = Sent { scheme: Some(seen), ..by(sent) };
            assert_eq!(result(&seen), Some(expected), "{component} {host} {sent:?}");
        }
        let other = Sent { scheme: Some(Scheme::Http), authority: "other.com".into(), ..by(Scheme::Https) };
        assert_eq!(result(&other), Some(BadSignature), "{component}");
    }
}

/// SIG-11.
#[test]
fn sig_11_the_base_is_that_of_the_rfc() {
    // RFC 9421, 2.2: absent paths and queries.
    let base = |path: &str, component: &str| {
        let sent =
            Sent { path: path.into(), ..sent() }.with("signature-input", &format!("s=(\"{component}\")"));
        let base = String::from_utf8(base_of(&sent, "s").unwrap()).unwrap();
        base.lines().next().unwrap().to_owned()
    };
    for (path, component, expected) in [
        ("", "@path", r#""@path": /"#),
        ("/a/../b%2F?x", "@path", r#""@path": /a/../b%2F"#),
        ("/a", "@query", r#""@query": ?"#),
        ("/a?", "@query", r#""@query": ?"#),
        ("/a?b=%20+c", "@query", r#""@query": ?b=%20+c"#),
        ("/a?b", "@target-uri", r#""@target-uri": https://example.com/a?b"#),
        ("", "@target-uri", r#""@target-uri": https://example.com/"#),
        ("/", "@scheme", r#""@scheme": https"#),
    ] {
        assert_eq!(base(path, component), expected, "{path}");
    }
}

/// SIG-14.
#[test]
fn sig_14_a_parameter_of_the_query_is_encoded_in_one_way() {
    let base = |query: &str, name: &str| {
        let sent = Sent { path: format!("/a{query}"), ..sent() }
            .with("signature-input", &format!("s=(\"@query-param\";name=\"{name}\")"));
        let base = base_of(&sent, "s").map(|base| String::from_utf8(base).unwrap());
        base.map(|base| base.lines().next().unwrap().split_once("\": ").unwrap().1.to_owned())
    };
    // The examples of RFC 9421, 2.2.8.
    let first = "?param=value&foo=bar&baz=batman&qux=";
    let second = "?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something";
    for (query, name, expected) in [
        (first, "baz", "batman"),
        (first, "qux", ""),
        (first, "param", "value"),
        (second, "var", "this%20is%20a%20big%0Amultiline%20value"),
        (second, "bar", "with%20plus%20whitespace"),
        (second, "fa%C3%A7ade%22%3A%20", "something"),
        // Whatever the client encodes.
        ("?b=1&%61=%7e%zz*", "a", "%7E%25zz*"),
        ("?&&a", "a", ""),
        ("?a=b=c", "a", "b%3Dc"),
        ("?=x", "", "x"),
        ("?a=%C3%A9", "a", "%C3%A9"),
        ("?a=%e2%82%ac%F0%9F%A6%88", "a", "%E2%82%AC%F0%9F%A6%88"),
    ] {
        assert_eq!(base(query, name).as_deref(), Ok(expected), "{query} {name}");
    }
    for (query, name, expected) in [
        ("", "a", NoBase::Missing),
        ("?b=1", "a", NoBase::Missing),
        ("?A=1", "a", NoBase::Missing),
        ("?a=1&b=2&%61=3", "a", NoBase::Malformed),
        ("?a=%ff", "a", NoBase::Unsupported),
        ("?a=%C3", "a", NoBase::Unsupported),
        (&format!("?b={}", "b".repeat((8 << 10) - 2)), "a", NoBase::TooMuch),
        (&format!("?b={}", "b".repeat((8 << 10) - 3)), "a", NoBase::Missing),
    ] {
        assert_eq!(base(query, name), Err(expected), "{query:.20} {name}");
    }
}

/// SIG-7.
#[test]
fn sig_7_few_members_of_dictionaries_are_covered() {
    let covered =
        |components: String| base_of(&sent().with("signature-input", &format!("s=({components})")), "s");
    let members =
        |count: usize| covered((0..count).map(|n| format!("\"signature-agent\";key=\"a{n}\" ")).collect());
    assert_eq!([members(6), members(7)], [Err(NoBase::Missing), Err(NoBase::TooMuch)]);
    assert_eq!(covered("\"signature-agent\";key=1".into()), Err(NoBase::Malformed));
    assert_eq!(covered("\"accept\";key=1".into()), Err(NoBase::Unsupported));
}

/// SIG-14.
#[test]
fn sig_14_signers_may_cover_parameters_of_the_query() {
    let covered = |parameters: &str| {
        let components = format!(r#""@authority" {parameters} "signature-agent";key="sig1""#);
        let plan = Plan { components, ..Plan::default() };
        Sent { path: "/a?q=x%20y&page=2&page=3&r=1".into(), ..sent() }.signed(&plan)
    };
    let sent = covered(r#""@query-param";name="q" "@query-param";name="r""#);
    assert_eq!(result(&sent), Some(Verified));
    for (path, expected) in [
        ("/b?r=1&q=x+y", Verified),
        ("/a?q=x%20z&r=1", BadSignature),
        ("/a?q=x%20y&r=1&q=x%20y", Malformed),
        ("/a?q=x%20y", NotCovered),
    ] {
        assert_eq!(result(&Sent { path: path.into(), ..sent.clone() }), Some(expected), "{path}");
    }
    for (parameters, expected) in [
        (r#""@query-param";name="page""#, Malformed),
        (r#""@query-param";name="q" "@query-param";name="q""#, Malformed),
        (r#""@query-param""#, Malformed),
        (r#""@query-param";name=q"#, Malformed),
        (r#""@query-param";name="q";req"#, Unsupported),
    ] {
        assert_eq!(result(&covered(parameters)), Some(expected), "{parameters}");
    }
}

/// SIG-1, SIG-5.
#[test]
fn sig_1_a_value_is_an_origin_or_the_url_of_a_key_set() {
    let well_known = format!("{DIRECTORY}/.well-known/http-message-signatures-directory");
    for (agent, expected) in [
        (format!("sig1=\"{DIRECTORY}\""), Verified),
        (format!("sig1=\"{well_known}\""), Verified),
        (format!("sig1=\"{DIRECTORY}\";type=directory"), Verified),
        (format!("sig1=\"{well_known}\";type=jwks_uri"), Verified),
        (format!("sig1=\"{well_known}\";new"), NotCovered),
        (format!("sig1=\"{DIRECTORY}/other\""), UnknownKey),
    ] {
        let plan = Plan { agent: Some(agent.clone()), ..Plan::default() };
        assert_eq!(result(&sent().signed(&plan)), Some(expected), "{agent}");
    }
}

/// SIG-2.
#[test]
fn sig_2_a_target_uri_holds_with_the_host_in_lower_case_and_as_it_was_sent() {
    for component in ["@target-uri", "@authority"] {
        let components = format!("\"{component}\" \"signature-agent\";key=\"sig1\"");
        let plan = Plan { components, ..Plan::default() };
        let sent = Sent { authority: "Example.COM".into(), ..sent() };
        let signed_as = |spelling| {
            let sent = sent.clone().signed(&plan);
            let Ok(Some(Member::List(input))) = structured::member(sent.header_lines(INPUT), b"sig1") else {
                panic!("a list")
            };
            let mut base = Vec::new();
            write_base(&sent, input, Target { host: spelling, ..Target::of(&sent) }, &mut |bytes| {
                base.extend_from_slice(bytes);
            })
            .unwrap();
            let base = match (component, spelling) {
                ("@authority", HostSpelling::Sent) => {
                    String::from_utf8(base).unwrap().replace("example.com", "Example.COM").into_bytes()
                }
                _ => base,
            };
            let signature = STANDARD.encode(signing_key(7).sign(&base).to_bytes());
            result(&sent.without("signature").with("signature", &format!("sig1=:{signature}:")))
        };
        assert_eq!(signed_as(HostSpelling::LowerCase), Some(Verified), "{component}");
        // RFC 9421, 2.2.3, has the authority in lower case.
        let expected = if component == "@authority" { BadSignature } else { Verified };
        assert_eq!(signed_as(HostSpelling::Sent), Some(expected), "{component}");
        // Whatever the spelling, another target was not signed.
        let elsewhere = Sent { path: "/elsewhere".into(), ..sent.clone().signed(&plan) };
        let expected = if component == "@authority" { Verified } else { BadSignature };
        assert_eq!(result(&elsewhere), Some(expected), "{component}");
    }
}
