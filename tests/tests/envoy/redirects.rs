//! Internal redirects: Envoy takes a redirect of the upstream's itself, and begins the request anew.

use crawlpike_tests::envoy::{Envoy, Filter, manager};
use crawlpike_tests::http::{Connection, Request};
use crawlpike_tests::lab::{VERIFIED, lab_with_sites, person, spoofed, verified};
use crawlpike_tests::nginx::{Folder, Nginx, ask, local};
use crawlpike_tests::ports::free_port;
use serde_json::{Value, json};

const SITE: &str = r#"{ "robots_txt": "robots.txt", "modes": [ { "scope": "/off", "mode": "off" } ] }"#;

/// Envoy, behind a proxy that says whose requests it brings, in front of an origin that redirects.
fn start(filter: Filter) -> (Envoy, u16, Nginx) {
    let origin = free_port();
    let redirects = ["/once /end", "/twice /once", "/off /end", "/closed /private"].map(|redirect| {
        let (from, to) = redirect.split_once(' ').expect("two paths");
        format!("location = {from} {{ return 302 http://example.com{to}; }}")
    });
    let nginx = Nginx::without_module(
        Folder::new(),
        &format!(
            r#"server {{
                listen 127.0.0.1:{origin};
                {}
                location / {{ return 200 "$uri $http_x_crawlpike"; }}
            }}"#,
            redirects.join("\n")
        ),
    );
    let folder = lab_with_sites(SITE);
    folder.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let filter = filter.with(&folder, &folder.path().join("crawlpike.json"));
    let (envoy, port) = Envoy::start_one(folder, filter, origin, |listener| {
        let routes = manager(listener).pointer_mut("/route_config/virtual_hosts/0/routes");
        let to_origin = routes.and_then(Value::as_array_mut).and_then(|routes| routes.last_mut());
        to_origin.expect("a route")["route"]["internal_redirect_policy"] =
            json!({ "max_internal_redirects": 3 });
    });
    (envoy, port, nginx)
}

fn the_client_keeps_its_address(filter: Filter) {
    let (envoy, port, _origin) = start(filter);
    for path in ["/end", "/once", "/twice", "/off"] {
        assert_eq!(ask(port, &verified(path)).text(), format!("/end {VERIFIED}"), "{path}");
        assert_eq!(ask(port, &person(path)).text(), "/end ", "{path}");
    }
    assert_eq!(ask(port, &verified("/closed")).denial_reason().as_deref(), Some("robots-disallowed"));
    for path in ["/twice", "/off"] {
        assert_eq!(ask(port, &spoofed(path)).denial_reason().as_deref(), Some("spoofed-agent"), "{path}");
    }
    // A client that claims to be redirected keeps its own address.
    let redirected = |request: Request| request.header("X-Envoy-Original-Url", "http://example.com/once");
    let mut connection = Connection::open(local(port)).unwrap();
    for _ in 0..3 {
        assert_eq!(connection.send(&verified("/twice")).unwrap().text(), format!("/end {VERIFIED}"));
        assert_eq!(connection.send(&redirected(spoofed("/end"))).unwrap().status, 403);
        assert_eq!(connection.send(&redirected(verified("/end"))).unwrap().status, 200);
    }
    let page = envoy.admin("/stats/prometheus");
    assert!(page.contains("\ncrawlpike_errors_total{} 0\n"), "{page}");
}

for_both_gates!(the_client_keeps_its_address);
