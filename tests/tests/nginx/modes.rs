//! The scope of `crawlpike off|observe|enforce|$variable`.

use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{DOCUMENT, FIREFOX, HTTP, VERIFIED, from, lab, person, spoofed, verified};
use crawlpike_tests::nginx::{Nginx, ask};
use crawlpike_tests::origin::{Origin, Received};
use crawlpike_tests::ports::free_port;

/// The result for a client: a denial, or the header that the origin received.
fn seen(port: u16, request: &Request) -> Option<Option<String>> {
    let response = ask(port, request);
    match Received::of(&response) {
        Some(received) => Some(received.crawlpike),
        None => {
            assert_eq!(response.denial_reason().as_deref(), Some("spoofed-agent"), "{response:?}");
            None
        }
    }
}

const OBSERVED: &str = r#"action=deny, identity=spoofed, agent="LabBot""#;

#[test]
fn the_innermost_level_counts() {
    let (origin, inner, outer) = (Origin::start(), free_port(), free_port());
    let pass = format!("proxy_pass http://127.0.0.1:{};", origin.port());
    let http = format!(
        "{HTTP}
        crawlpike observe;
        server {{
            listen 127.0.0.1:{inner};
            crawlpike enforce;
            location / {{ {pass} }}
            location /off {{ crawlpike off; {pass} location /off/on {{ crawlpike enforce; {pass} }} }}
            location /observe {{ crawlpike observe; {pass} }}
        }}
        server {{ listen 127.0.0.1:{outer}; location / {{ {pass} }} }}"
    );
    let _nginx = Nginx::start(lab(), &http);
    assert_eq!(seen(inner, &spoofed("/")), None);
    assert_eq!(seen(inner, &spoofed("/off")), Some(None));
    assert_eq!(seen(inner, &spoofed("/off/on")), None);
    assert_eq!(seen(inner, &spoofed("/observe")), Some(Some(OBSERVED.into())));
    assert_eq!(seen(outer, &spoofed("/")), Some(Some(OBSERVED.into())));
}

#[test]
fn a_document_without_a_mode_denies_nobody() {
    let (origin, port) = (Origin::start(), free_port());
    let folder = lab();
    folder.write("crawlpike.json", DOCUMENT.replace(r#""mode": "enforce","#, ""));
    let pass = format!("proxy_pass http://127.0.0.1:{};", origin.port());
    let http = format!(
        "{HTTP} server {{
            listen 127.0.0.1:{port};
            location / {{ {pass} }}
            location /private {{ crawlpike enforce; {pass} }}
        }}"
    );
    let _nginx = Nginx::start(folder, &http);
    assert_eq!(seen(port, &spoofed("/")), Some(Some(OBSERVED.into())));
    assert_eq!(seen(port, &spoofed("/private")), None);
}

#[test]
fn without_a_document_the_module_does_nothing() {
    let (origin, port) = (Origin::start(), free_port());
    let http = format!(
        "crawlpike enforce;
        server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{}; }} }}",
        origin.port()
    );
    let _nginx = Nginx::start(lab(), &http);
    assert_eq!(seen(port, &spoofed("/")), Some(None));
}

#[test]
fn a_map_from_the_agent_to_the_mode() {
    let (origin, port) = (Origin::start(), free_port());
    let http = format!(
        "{HTTP}
        map $crawlpike_agent $mode {{ LabBot observe; FreeBot off; default enforce; }}
        map $http_x_mode $asked {{ default $http_x_mode; }}
        server {{
            listen 127.0.0.1:{port};
            location / {{ crawlpike $mode; proxy_pass http://127.0.0.1:{origin}; }}
            location /asked {{ crawlpike $asked; proxy_pass http://127.0.0.1:{origin}; }}
        }}",
        origin = origin.port()
    );
    let nginx = Nginx::start(lab(), &http);
    assert_eq!(seen(port, &spoofed("/")), Some(Some(OBSERVED.into())));
    let free = from("203.0.113.9", Request::get("/").agent("FreeBot"));
    assert_eq!(seen(port, &free), Some(None));
    assert_eq!(seen(port, &person("/")), Some(None));

    let asked = |mode: &str| seen(port, &spoofed("/asked").header("X-Mode", mode));
    assert_eq!(asked("observe"), Some(Some(OBSERVED.into())));
    assert_eq!(asked("off"), Some(None));
    assert_eq!(asked("enforce"), None);
    assert_eq!(asked(""), None, "an empty value: the document's mode");
    assert_eq!(asked("maybe"), None, "an unknown value: the document's mode");
    nginx.wait_for_line("error.log", r#"crawlpike: invalid mode "maybe", using the document's"#);
}

#[test]
fn the_mode_of_the_location_that_serves_counts() {
    let (origin, port) = (Origin::start(), free_port());
    let http = format!(
        "{HTTP}
        server {{
            listen 127.0.0.1:{port};
            location /old {{ crawlpike off; rewrite ^/old(.*) /new$1 last; }}
            location /new {{ crawlpike enforce; proxy_pass http://127.0.0.1:{origin}; }}
            location /lenient {{ crawlpike off; proxy_pass http://127.0.0.1:{origin}; }}
            location /strict {{ crawlpike enforce; rewrite ^/strict(.*) /lenient$1 last; }}
        }}",
        origin = origin.port()
    );
    let _nginx = Nginx::start(lab(), &http);
    assert_eq!(seen(port, &spoofed("/old/a")), None);
    // A rewrite comes before the access phase: nothing but the last location is ever entered.
    assert_eq!(seen(port, &spoofed("/strict/a")), Some(None));
    assert!(seen(port, &verified("/old/a")).flatten().is_some());
    assert!(ask(port, &person("/old/a")).text().contains(FIREFOX));
}

#[test]
fn a_variable_that_is_no_mode_is_told_once_and_forges_no_line() {
    let (origin, port) = (Origin::start(), free_port());
    let http = format!(
        "{HTTP}
        log_format decided '$crawlpike_action $crawlpike_reason $crawlpike_agent';
        map $uri $mode {{ ~^/mode/(?<said>[\\s\\S]+) $said; }}
        server {{
            listen 127.0.0.1:{port};
            access_log decided.log decided;
            crawlpike $mode;
            location / {{ proxy_pass http://127.0.0.1:{}; }}
        }}",
        origin.port()
    );
    let nginx = Nginx::start(lab(), &http);
    for _ in 0..3 {
        assert_eq!(seen(port, &spoofed("/mode/x%0a%1b%5b31mforged")), None, "the document's mode counts");
    }
    assert_eq!(seen(port, &spoofed("/mode/observe")), Some(Some(OBSERVED.into())));
    let line = nginx.wait_for_line("error.log", "invalid mode");
    assert!(line.contains(r#"invalid mode "x\n\u{1b}[31mforged", using the document's"#), "{line}");
    // Each worker says it once a minute.
    assert!(nginx.folder().read("error.log").matches("invalid mode").count() <= 2);
}

#[test]
fn a_mode_that_comes_too_late_changes_nothing_that_is_told() {
    let (origin, port, judge) = (Origin::start(), free_port(), free_port());
    let http = format!(
        "{HTTP}
        log_format decided '$crawlpike_action $crawlpike_enforced';
        server {{ listen 127.0.0.1:{judge}; crawlpike off; add_header X-Mode off; return 204; }}
        server {{
            listen 127.0.0.1:{port};
            access_log decided.log decided;
            location / {{
                auth_request /auth;
                auth_request_set $mode $upstream_http_x_mode;
                crawlpike $mode;
                proxy_pass http://127.0.0.1:{};
            }}
            location = /auth {{ internal; proxy_pass http://127.0.0.1:{judge}; }}
        }}",
        origin.port()
    );
    let nginx = Nginx::start(lab(), &http);
    // nginx asks the judge after the decision, by the document's mode.
    assert_eq!(seen(port, &spoofed("/")), None);
    assert_eq!(seen(port, &verified("/")), Some(Some(VERIFIED.into())));
    nginx.wait_for_line("decided.log", "deny 1");
    assert_eq!(nginx.wait_for_line("decided.log", "allow"), "allow 1");
}
