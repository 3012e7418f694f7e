use super::*;
use crate::draws::draws;

type Lines<'l> = &'l [(&'l str, &'l str)];

/// A question as the dialects read it: name, client, scheme, method, host and target, or the reason that it is not clear.
fn read(dialect: Option<&str>, method: &str, target: &str, headers: Lines<'_>) -> String {
    let headers: Vec<(&str, &[u8])> = headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    let question = Question { method: method.as_bytes(), target: target.as_bytes(), headers: &headers };
    let configured = dialect.map(|name| super::dialect(name).unwrap());
    match question.parts(configured, &Trust::new(Vec::new())) {
        Ok((dialect, Parts { address, scheme, authority, method, target })) => {
            let text = String::from_utf8_lossy;
            let scheme = scheme.map_or("-", Scheme::as_str);
            format!(
                "{} {address} {scheme} {} {} {}",
                dialect.name,
                text(method),
                text(authority),
                text(target)
            )
        }
        Err(why) => format!("{why:?}"),
    }
}

/// As Traefik 2 and 3, Caddy 2, and the plugin `forward-auth` of APISIX 3 send them; Traefik and Caddy beside all headers of the client.
const FORWARDED_HEADERS: [(&str, &str); 6] = [
    ("user-agent", "Googlebot/2.1"),
    ("x-forwarded-for", "192.0.2.1"),
    ("x-forwarded-host", "shop.test:8443"),
    ("x-forwarded-method", "POST"),
    ("x-forwarded-proto", "https"),
    ("x-forwarded-uri", "/a%20b?c=/d"),
];

/// As the example for nginx sends them.
const ORIGINAL_HEADERS: [(&str, &str); 4] = [
    ("host", "shop.test"),
    ("x-original-method", "GET"),
    ("x-original-uri", "/a?b"),
    ("x-real-ip", "192.0.2.1"),
];

/// As ingress-nginx sends them, whose Host is that of the server that is asked.
const INGRESS_HEADERS: [(&str, &str); 6] = [
    ("host", "crawlpike.default.svc"),
    ("x-original-method", "GET"),
    ("x-original-url", "https://shop.test/a?b"),
    ("x-real-ip", "192.0.2.1"),
    ("x-sent-from", "nginx-ingress-controller"),
    ("x-forwarded-for", "203.0.113.9"),
];

/// The headers, but for one that has other lines.
fn with<'l>(headers: Lines<'l>, name: &'l str, lines: &[&'l str]) -> Vec<(&'l str, &'l str)> {
    let others = headers.iter().copied().filter(|(other, _)| *other != name);
    others.chain(lines.iter().map(|line| (name, *line))).collect()
}

#[test]
fn each_dialect_has_its_places() {
    let parts = "192.0.2.1 https POST shop.test:8443 /a%20b?c=/d";
    for name in ["traefik", "caddy", "haproxy", "kong", "apisix"] {
        let expected = format!("{name} {parts}");
        assert_eq!(read(None, "GET", &format!("/{name}"), &FORWARDED_HEADERS), expected);
        assert_eq!(read(Some(name), "GET", "/anything", &FORWARDED_HEADERS), expected);
    }
    assert_eq!(read(None, "GET", "/", &FORWARDED_HEADERS), format!("traefik {parts}"));
    for target in ["/nginx", "/", "/nginx/?x"] {
        assert_eq!(read(None, "GET", target, &ORIGINAL_HEADERS), "nginx 192.0.2.1 - GET shop.test /a?b");
        assert_eq!(read(None, "GET", target, &INGRESS_HEADERS), "nginx 192.0.2.1 https GET shop.test /a?b");
    }
    let envoy = [("host", "shop.test"), ("x-forwarded-for", "192.0.2.1"), ("x-forwarded-proto", "http")];
    assert_eq!(read(None, "PUT", "/envoy/a?b", &envoy), "envoy 192.0.2.1 http PUT shop.test /a?b");
    assert_eq!(read(Some("envoy"), "GET", "/nginx/a", &envoy), "envoy 192.0.2.1 http GET shop.test /nginx/a");
}

#[test]
fn a_part_that_is_missing_or_contradictory_is_not_guessed() {
    for (name, _) in &FORWARDED_HEADERS[1..] {
        let missing = read(None, "GET", "/traefik", &with(&FORWARDED_HEADERS, name, &[]));
        let empty = read(None, "GET", "/traefik", &with(&FORWARDED_HEADERS, name, &[""]));
        let twice = read(None, "GET", "/traefik", &with(&FORWARDED_HEADERS, name, &["/1", "/2"]));
        match *name {
            // Signatures alone need the scheme.
            "x-forwarded-proto" => {
                for got in [missing, empty, twice] {
                    assert_eq!(got, "traefik 192.0.2.1 - POST shop.test:8443 /a%20b?c=/d");
                }
            }
            "x-forwarded-for" => {
                assert_eq!(missing, "Missing(\"x-forwarded-for\")");
                assert_eq!([empty, twice], ["Unreadable(\"x-forwarded-for\")"; 2]);
            }
            // A client that sends no Host, such as a health check by HTTP/1.0.
            "x-forwarded-host" => {
                assert_eq!(missing, "Missing(\"x-forwarded-host\")");
                assert_eq!(empty, "traefik 192.0.2.1 https POST  /a%20b?c=/d");
                assert_eq!(twice, "Contradictory(\"x-forwarded-host\")");
            }
            name => {
                assert_eq!([missing, empty], [format!("Missing({name:?})"), format!("Missing({name:?})")]);
                assert_eq!(twice, format!("Contradictory({name:?})"));
            }
        }
    }
    let of_nginx = |headers: &[_]| read(Some("nginx"), "GET", "/", headers);
    for (name, _) in &ORIGINAL_HEADERS[1..] {
        let missing = of_nginx(&with(&ORIGINAL_HEADERS, name, &[]));
        assert_eq!(missing, format!("Missing({name:?})"));
    }
    // nginx sends no empty header.
    assert_eq!(of_nginx(&with(&ORIGINAL_HEADERS, "host", &[])), "nginx 192.0.2.1 - GET  /a?b");
    for url in ["shop.test/a", "https://"] {
        let got = of_nginx(&with(&INGRESS_HEADERS, "x-original-url", &[url]));
        assert_eq!(got, "Unreadable(\"x-original-url\")", "{url}");
    }
    for (url, parts) in
        [("https:///a", " /a"), ("https://shop.test", "shop.test "), ("http://a.test?b", "a.test ?b")]
    {
        let got = of_nginx(&with(&INGRESS_HEADERS, "x-original-url", &[url]));
        assert!(got.ends_with(&format!(" GET {parts}")), "{url}: {got}");
    }
}

#[test]
fn a_target_without_a_path_is_read_and_other_words_are_not() {
    let of = |method, target| {
        let headers = with(&ORIGINAL_HEADERS, "x-original-uri", &[target]);
        read(Some("nginx"), "GET", "/", &with(&headers, "x-original-method", &[method]))
    };
    for target in ["?b", "*"] {
        assert_eq!(of("GET", target), format!("nginx 192.0.2.1 - GET shop.test {target}"));
    }
    for target in ["a", "https://shop.test/a", "shop.test:443"] {
        assert_eq!(of("GET", target), "Unreadable(\"x-original-uri\")");
    }
    assert_eq!(of("CONNECT", "shop.test:443"), "nginx 192.0.2.1 - CONNECT shop.test ");
}

#[test]
fn headers_that_a_client_adds_take_no_part_away_from_the_proxy() {
    // With the path, only the places of that dialect count.
    let both =
        [&FORWARDED_HEADERS[..], &[("x-original-uri", "/forged"), ("x-real-ip", "203.0.113.1")]].concat();
    assert_eq!(
        read(None, "GET", "/traefik", &both),
        "traefik 192.0.2.1 https POST shop.test:8443 /a%20b?c=/d"
    );
    assert_eq!(read(None, "GET", "/", &both), "Dialect");
    assert_eq!(read(None, "GET", "/", &[]), "Dialect");
    let forged = [&ORIGINAL_HEADERS[..], &[("x-forwarded-for", "203.0.113.1")]].concat();
    assert_eq!(read(None, "GET", "/nginx", &forged), "nginx 192.0.2.1 - GET shop.test /a?b");
    // A URL would have a host, too.
    let forged = [&ORIGINAL_HEADERS[..], &[("x-original-url", "https://other.test/a?b")]].concat();
    assert_eq!(read(None, "GET", "/nginx", &forged), "Contradictory(\"x-original-url\")");
}

#[test]
fn the_user_agent_of_the_proxy_is_nobodys() {
    for name in ["kong", "apisix"] {
        let own = with(&FORWARDED_HEADERS, "user-agent", &["lua-resty-http/0.17 (Lua) ngx_lua/10026"]);
        assert_eq!(read(Some(name), "GET", "/", &own), "Missing(\"user-agent\")");
    }
}

#[test]
fn whatever_is_sent_is_read_or_refused() {
    const NAMES: [&str; 9] = [
        "host",
        "user-agent",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-method",
        "x-forwarded-uri",
        "x-original-method",
        "x-original-uri",
        "x-original-url",
    ];
    const VALUES: [&[u8]; 9] = [
        b"",
        b"/",
        b"GET",
        b"a.test:1",
        b"https://a.test/b",
        b"://",
        b"192.0.2.1, [::1]:2",
        b",,",
        b"\xff\x80",
    ];
    const TARGETS: [&[u8]; 6] = [b"", b"/", b"/envoy", b"/envoy/a", b"/nginx?/", b"*"];
    let mut draw = draws();
    let mut read = 0;
    for _ in 0..200_000 {
        let headers: Vec<(&str, &[u8])> =
            (0..draw(8)).map(|_| (NAMES[draw(NAMES.len())], VALUES[draw(VALUES.len())])).collect();
        let question = Question { method: b"GET", target: TARGETS[draw(TARGETS.len())], headers: &headers };
        let configured = DIALECTS.get(draw(DIALECTS.len() * 2)).copied();
        if let Ok((_, parts)) = question.parts(configured, &Trust::new(Vec::new())) {
            read += 1;
            assert!(matches!(parts.target, [] | [b'/' | b'?' | b'*', ..]) && !parts.method.is_empty());
        }
    }
    assert!(read > 100, "{read}");
}
