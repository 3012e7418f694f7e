//! Lines as servers write them.

use std::fs;

use crawlpike_core::Scheme;

use super::{Fault, LineReader, Record};

const COMBINED: &str =
    r#"192.0.2.7 - - [22/Nov/2026:07:05:12 +0000] "GET /a?b=c HTTP/1.1" 200 512 "-" "curl/8.5.0""#;

fn reader(nginx: &[&str], envoy: &[&str]) -> Result<LineReader, String> {
    let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    LineReader::of(&owned(nginx), &owned(envoy), "automation-purpose")
}

fn detecting() -> LineReader {
    reader(&[], &[]).unwrap()
}

/// The record in words: what a decision needs, and the host, the time, the status and the bytes.
fn shown(record: &Record<'_>) -> String {
    let text = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    let optional = |value: &Option<_>| value.as_deref().map_or_else(|| "-".to_string(), text);
    format!(
        "{} {} {} {} {} {} {} {}",
        record.address.map_or_else(|| "-".to_string(), |address| address.to_string()),
        text(&record.method),
        optional(&record.authority),
        text(&record.target),
        record.time.unwrap_or_default(),
        record.status.unwrap_or_default(),
        record.bytes,
        optional(&record.user_agent),
    )
}

fn read(reader: &LineReader, line: &str) -> String {
    match reader.read(line.as_bytes()) {
        Ok(record) => shown(&record),
        Err(fault) => format!("{fault:?}"),
    }
}

#[test]
fn formats_are_detected_line_by_line() {
    let reader = detecting();
    for (line, expected) in [
        (COMBINED.to_string(), "192.0.2.7 GET - /a?b=c 1795331112 200 512 curl/8.5.0"),
        // The format of nginx.org's packages has X-Forwarded-For behind it; the address is that of the connection.
        (format!(r#"{COMBINED} "198.51.100.1""#), "192.0.2.7 GET - /a?b=c 1795331112 200 512 curl/8.5.0"),
        (
            r#"2001:db8::1 - a b [22/Nov/2026:07:05:12 +0000] "HEAD / HTTP/2.0" 304 0 "https://x/ y" "-""#.to_string(),
            "2001:db8::1 HEAD - / 1795331112 304 0 -",
        ),
        (
            r#"[2026-11-22T07:05:12.123Z] "GET /a HTTP/1.1" 200 - 0 512 3 2 "10.0.0.1, 192.0.2.7" "curl/8" "id" "example.com" "10.1.1.1:80""#
                .to_string(),
            "192.0.2.7 GET example.com /a 1795331112 200 512 curl/8",
        ),
        (
            r#"{"time":"2026-11-22T07:05:12+00:00","address":"192.0.2.7","host":"example.com","request":"GET /a HTTP/1.1","status":200,"bytes":512,"user_agent":"say \"x\" \u00e9"}"#
                .to_string(),
            "192.0.2.7 GET example.com /a 1795331112 200 512 say \"x\" é",
        ),
        // Istio's names.
        (
            r#"{"start_time":"2026-11-22T07:05:12.5Z","downstream_remote_address":"[2001:db8::1]:4711","authority":"example.com:8443","method":"GET","path":"/a","response_code":200,"bytes_sent":512,"user_agent":null,"x":{"y":[1]}}"#
                .to_string(),
            "2001:db8::1 GET example.com:8443 /a 1795331112 200 512 -",
        ),
        (r#"{"level":"info","msg":"started"}"#.to_string(), "Unreadable"),
        (r#"{"address":"192.0.2.7","request":"GET / HTTP/1.1"}"#.to_string(), "Unreadable"),
        (r#"{"address":"192.0.2.7","request":"GET / HT"#.to_string(), "Unreadable"),
        ("hello".to_string(), "Unreadable"),
        (COMBINED[..40].to_string(), "Unreadable"),
        (COMBINED.replace("192.0.2.7", "example.com"), "Unreadable"),
        (COMBINED.replace(" 200 ", " 99999 "), "Unreadable"),
    ] {
        assert_eq!(read(&reader, &line), expected, "{line}");
    }
}

/// As nginx logs `/private/a` after `try_files $uri /index.html`.
#[test]
fn the_path_is_the_one_that_was_sent() {
    let reader = detecting();
    let ending = r#""uri":"/index.html","address":"192.0.2.7","user_agent":"x"}"#;
    for (fields, target, is_rewritten) in [
        (r#"{"request":"GET /private/a HTTP/1.1","request_method":"GET","#, "/private/a", false),
        (r#"{"request_uri":"/private/a","request_method":"GET","#, "/private/a", false),
        (r#"{"request_method":"GET","#, "/index.html", true),
    ] {
        let line = format!("{fields}{ending}");
        let record = reader.read(line.as_bytes()).unwrap();
        assert_eq!((&*record.target, record.is_rewritten), (target.as_bytes(), is_rewritten), "{line}");
    }
}

/// Lines of nginx 1.22 for `curl -u 'x [y:z'` and the like.
#[test]
fn a_client_cannot_hide_by_what_it_sends() {
    let own =
        r#"$remote_addr $remote_user [$time_local] $request_time "$http_user_agent" $request $status $uri"#;
    let own = reader(&[own], &[]).unwrap();
    for user in ["x [y", "x] [22/Nov/2026:07:05:12 +0000] \\x22GET / ", " [", "[x] 0.1"] {
        let line = COMBINED.replace(" - - ", &format!(" - {user} "));
        assert_eq!(read(&detecting(), &line), read(&detecting(), COMBINED), "{line}");
        let line = format!(
            r#"192.0.2.7 {user} [22/Nov/2026:07:05:12 +0000] 0.002 "curl/8.5.0" GET /a?b=c HTTP/1.1 200 /a"#
        );
        assert_eq!(read(&own, &line), "192.0.2.7 GET - /a?b=c 1795331112 200 0 curl/8.5.0", "{line}");
    }
}

/// Lines of nginx 1.22 for headers that come too late, are too large, or lack the Host.
#[test]
fn what_nginx_refuses_before_a_gate_sees_it_is_no_request() {
    let own = r#"$remote_addr "$request" $status "$upstream_status" "$http_user_agent""#;
    let own = reader(&[own], &[]).unwrap();
    for (status, upstream, is_request) in [
        (200, "-", true),
        (400, "-", false),
        (400, "400", true),
        (408, "-", false),
        (408, "408", true),
        (414, "-", false),
        (494, "-", false),
    ] {
        let line = format!(r#"192.0.2.7 "GET / HTTP/1.1" {status} "{upstream}" "-""#);
        assert_eq!(own.read(line.as_bytes()).is_ok(), is_request, "{line}");
        let line = format!(
            r#"{{"address":"192.0.2.7","request":"GET / HTTP/1.1","status":"{status}","user_agent":"","upstream_status":"{}"}}"#,
            upstream.trim_matches('-'),
        );
        assert_eq!(detecting().read(line.as_bytes()).is_ok(), is_request, "{line}");
    }
    // A gate has decided about it.
    for (action, is_request) in [("", false), ("deny", true)] {
        let line = format!(
            r#"{{"address":"192.0.2.7","request":"GET / HTTP/1.1","status":400,"user_agent":"","upstream_status":"","action":"{action}"}}"#
        );
        assert_eq!(detecting().read(line.as_bytes()).is_ok(), is_request, "{line}");
    }
    for (status, is_request) in [("400", true), ("408", false), ("494", false)] {
        let line = COMBINED.replace(" 200 ", &format!(" {status} "));
        assert_eq!(detecting().read(line.as_bytes()).is_ok(), is_request, "{line}");
        // Envoy has the head of a request whose time is over.
        let envoy = format!(
            r#"{{"address":"192.0.2.7","method":"GET","path":"/","status":{status},"user_agent":"x"}}"#
        );
        assert!(detecting().read(envoy.as_bytes()).is_ok(), "{envoy}");
    }
}

#[test]
fn a_time_keeps_its_milliseconds() {
    let reader = detecting();
    for (time, expected) in [
        (r#""time":"2026-11-22T07:05:12+00:00","msec":1795331112.123"#, Some(123)),
        (r#""time":"2026-11-22T07:05:12.5Z""#, Some(500)),
        (r#""time":"2026-11-22T07:05:12Z""#, None),
        (r#""time":1795331112"#, None),
        (r#""time":1795331112123"#, Some(123)),
        (r#""time":1795331112123456789"#, Some(123)),
        (r#""time":1795331112123.456"#, Some(123)),
    ] {
        let line = format!(r#"{{{time},"address":"192.0.2.7","request":"GET / HTTP/1.1","user_agent":"x"}}"#);
        let record = reader.read(line.as_bytes()).unwrap();
        assert_eq!((record.time, record.milliseconds), (Some(1_795_331_112), expected), "{line}");
    }
}

#[test]
fn what_is_between_the_quotes_is_a_request_or_none() {
    let reader = detecting();
    for (request, expected) in [
        ("GET /a HTTP/1.0", "GET - /a"),
        ("GET /", "GET - /"),
        ("GET /with space HTTP/1.1", "GET - /with space"),
        (r"GET /\x22q\x22\xE9 HTTP/1.1", "GET - /\"q\"\u{fffd}"),
        ("GET http://other.test:80/a?b HTTP/1.1", "GET other.test:80 /a?b"),
        ("GET https://other.test?x HTTP/1.1", "GET other.test /?x"),
        ("CONNECT other.test:443 HTTP/1.1", "CONNECT other.test:443 "),
        ("OPTIONS * HTTP/1.1", "OPTIONS - *"),
    ] {
        let shown = read(&reader, &COMBINED.replace("GET /a?b=c HTTP/1.1", request));
        assert!(shown.starts_with(&format!("192.0.2.7 {expected} 1795331112")), "{request}: {shown}");
    }
    for request in
        ["", "-", r"\x16\x03\x01\x02", "PRI * HTTP/2.0", "GET", "GET  HTTP/1.1", r"\x00 / HTTP/1.1"]
    {
        let line = COMBINED.replace("GET /a?b=c HTTP/1.1", request);
        assert_eq!(reader.read(line.as_bytes()), Err(Fault::NoRequest), "{request}");
    }
}

#[test]
fn a_client_on_a_unix_socket_has_no_address() {
    let record = COMBINED.replace("192.0.2.7", "unix:");
    assert_eq!(detecting().read(record.as_bytes()).unwrap().address, None);
}

#[test]
fn bytes_that_are_not_utf_8_are_read() {
    let reader = detecting();
    let json = b"{\"address\":\"192.0.2.7\",\"request\":\"GET / HTTP/1.1\",\"user_agent\":\"caf\xe9bot\"}";
    assert_eq!(reader.read(json).unwrap().user_agent.as_deref(), Some("caf\u{fffd}bot".as_bytes()));
    let combined =
        [&b"192.0.2.7 - - [22/Nov/2026:07:05:12 +0000] \"GET / HTTP/1.1\" 200 1 \"-\" \"caf\xe9\""[..]]
            .concat();
    assert_eq!(reader.read(&combined).unwrap().user_agent.as_deref(), Some(&b"caf\xe9"[..]));
}

/// The directives that our documentation and examples show, as they stand there.
#[test]
fn a_log_format_is_given_as_text_or_as_a_directive() {
    let text = r#"$remote_addr|$time_iso8601|$host|"$request"|$status|${bytes_sent}|$http_user_agent|$http_automation_purpose"#;
    let line = r#"192.0.2.7|2026-11-22T07:05:12+00:00|example.com|"GET /a HTTP/1.1"|200|512|curl/8 x|search"#;
    let of_text = reader(&[text], &[]).unwrap();
    assert_eq!(read(&of_text, line), "192.0.2.7 GET example.com /a 1795331112 200 512 curl/8 x");
    assert_eq!(of_text.read(line.as_bytes()).unwrap().purpose.as_deref(), Some(&b"search"[..]));
    assert_eq!(read(&of_text, COMBINED), "Unreadable");
    // Several formats: the first one that fits.
    let both = reader(&[text, super::nginx::COMBINED], &[]).unwrap();
    assert!(read(&both, COMBINED).starts_with("192.0.2.7 GET"));
    assert!(read(&both, line).starts_with("192.0.2.7 GET"));

    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/nginx/observe/crawlpike.conf");
    let example = fs::read_to_string(example).unwrap();
    let directive = &example[example.find("log_format").unwrap()..];
    let of_directive = reader(&[directive], &[]).unwrap();
    let line = concat!(
        r#"{"time":"2026-11-22T07:05:12+00:00","address":"192.0.2.7","host":"example.com","request":"GET /\"q\" HTTP/1.1","status":200,"#,
        r#""user_agent":"GPTBot\u001B[2J","action":"deny","enforced":"0","reason":"robots-disallowed","identity":"verified","agent":"GPTBot","#,
        r#""feed":"","country":"","purpose":"","rule":"robots.txt:4"}"#
    );
    assert_eq!(
        read(&of_directive, line),
        "192.0.2.7 GET example.com /\"q\" 1795331112 200 0 GPTBot\u{1b}[2J"
    );
    assert_eq!(read(&of_directive, line), read(&detecting(), line));
}

#[test]
fn an_envoy_format_is_a_string_or_the_object_of_a_json_format() {
    let text = r#"%START_TIME(%s.%3f)% %DOWNSTREAM_REMOTE_ADDRESS% "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH):256%" %RESPONSE_CODE% 100%% "%REQ(USER-AGENT)%" %REQ(:SCHEME)%"#;
    let reader_of_text = reader(&[], &[text]).unwrap();
    let line = r#"1795331112.123 192.0.2.7:4711 "GET /a" 200 100% "curl "8"" https"#;
    assert_eq!(read(&reader_of_text, line), "192.0.2.7 GET - /a 1795331112 200 0 curl \"8\"");
    assert_eq!(reader_of_text.read(line.as_bytes()).unwrap().scheme, Some(Scheme::Https));
    let object = r#"{"at":"%START_TIME%","who":"%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%","m":"%REQ(:METHOD)%","p":"%REQ(:PATH)%","ua":"%REQ(USER-AGENT)%","code":"%RESPONSE_CODE%","h":"%REQ(:AUTHORITY)%","path":"%UPSTREAM_HOST%"}"#;
    let reader_of_object = reader(&[], &[object]).unwrap();
    let line = r#"{"ua":"curl/8","path":"10.0.0.1:80","p":"/a","who":"192.0.2.7","m":"GET","code":200,"h":"example.com","at":"2026-11-22T07:05:12.123Z"}"#;
    assert_eq!(read(&reader_of_object, line), "192.0.2.7 GET example.com /a 1795331112 200 0 curl/8");
}

#[test]
fn a_format_that_cannot_be_used_is_refused_with_the_reason() {
    for (nginx, envoy, reason) in [
        (r#"$remote_addr "$request" $status"#, "", "lacks $http_user_agent"),
        (r#""$request" "$http_user_agent""#, "", "lacks $remote_addr"),
        (r#"$remote_addr "$http_user_agent""#, "", "lacks $request"),
        ("$remote_addr$request $http_user_agent", "", "nothing separates $remote_addr from $request"),
        ("$remote_addr $", "", "`$` without the name"),
        ("log_format main '$remote_addr", "", "a quote"),
        ("log_format main;", "", "no format"),
        ("", "%START_TIME", "has no end"),
        ("", "%REQ(:PATH", "has no end"),
        ("", "% %", "without the name"),
        ("", "{\"a\":", "invalid"),
        ("", r#"{"who":"%DOWNSTREAM_REMOTE_ADDRESS%"}"#, "lacks %REQ(USER-AGENT)%"),
    ] {
        let texts = |text: &'static str| if text.is_empty() { vec![] } else { vec![text] };
        let error = reader(&texts(nginx), &texts(envoy)).unwrap_err();
        assert!(error.contains(reason), "{nginx}{envoy}: {error}");
    }
}
