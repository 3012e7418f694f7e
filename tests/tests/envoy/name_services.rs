//! The cluster that names come from: over TLS and HTTP/2, and while the configuration that asked is replaced.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use crawlpike_tests::envoy::discovered_filter;
use crawlpike_tests::name_lab::{bot, zone};
use crawlpike_tests::nginx::{Folder, Nginx, ask};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use crawlpike_tests::tls;
use serde_json::json;

use super::examples::Example;
use super::names::{Started, cluster, filter, folder, held, identity, name_queries, serving};

/// The filter as a resource that Envoy discovers, moved to where it looks.
fn publish(folder: &Folder, version: u32, timeout: &str) {
    let mut resource = filter(folder, timeout);
    resource["@type"] = json!("type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig");
    let response = json!({ "version_info": version.to_string(), "resources": [resource] });
    folder.write("next.json", response.to_string());
    fs::rename(folder.path().join("next.json"), folder.path().join("filter.json")).unwrap();
}

// RDNS-1
#[test]
fn a_request_that_waits_outlives_its_configuration() {
    let (dns, release) = held(zone());
    let folder = folder();
    publish(&folder, 1, "20s");
    let discovered = discovered_filter(&folder.path().join("filter.json"));
    let envoy = Started::with(folder, discovered, cluster(dns.port()));
    let port = envoy.port;
    let waiting = ["192.0.2.1", "192.0.2.9", "2001:db8::1"]
        .map(|address| thread::spawn(move || identity(&ask(port, &bot(address)))));
    wait_for("the queries", || (name_queries(&dns) == 3).then_some(()));
    // Another timeout makes it another configuration; Envoy drops the old one when nothing needs it any more.
    for (version, timeout) in [(2, "19s"), (3, "18s")] {
        publish(envoy.envoy.folder(), version, timeout);
        wait_for("the new configuration", || {
            (envoy.envoy.update_count("config_reload") >= u64::from(version)).then_some(())
        });
    }
    // A client of the new configuration asks for itself.
    let newer = thread::spawn(move || identity(&ask(port, &bot("192.0.2.1"))));
    wait_for("its query", || (name_queries(&dns) == 4).then_some(()));
    release.store(true, SeqCst);
    assert_eq!(waiting.map(|client| client.join().unwrap()), ["verified", "unverified", "verified"]);
    assert_eq!(newer.join().unwrap(), "verified");
    assert_eq!(envoy.identity("192.0.2.9"), "unverified");
    envoy.assert_clean();
}

// RDNS-1
#[test]
fn names_come_over_tls_and_http_2() {
    let dns = serving(zone());
    let port = free_port();
    // nginx speaks TLS and HTTP/2 for the server behind it, and notes what it was asked in.
    let server = Folder::new();
    tls::write_certificate(&server, &["dns.example.net"]);
    let authority = server.path().join("authority.pem").display().to_string();
    let http = format!(
        r#"
    log_format spoken "$server_protocol $ssl_protocol $ssl_server_name $host";
    server {{
        listen 127.0.0.1:{port} ssl http2;
        access_log {path}/spoken.log spoken;
        ssl_certificate {path}/certificate.pem;
        ssl_certificate_key {path}/key.pem;
        location / {{ proxy_pass http://127.0.0.1:{dns}; proxy_http_version 1.1; proxy_set_header Host dns.test; }}
    }}"#,
        path = server.path().display(),
        dns = dns.port()
    );
    let nginx = Nginx::start(server, &http);
    let folder = folder();
    let document = folder.path().join("crawlpike.json").display().to_string();
    let paths = BTreeMap::from([
        ("/etc/crawlpike/crawlpike.json", document),
        ("192.0.2.53, port_value: 443 ", format!("127.0.0.1, port_value: {port} ")),
        ("/etc/ssl/certs/ca-certificates.crt", authority),
    ]);
    let example = Example::start(folder, "names.yaml", &paths);
    for (address, expected) in
        [("192.0.2.1", "verified"), ("2001:db8::1", "verified"), ("192.0.2.9", "unverified")]
    {
        assert_eq!(identity(&ask(example.port, &bot(address))), expected, "{address}");
    }
    let line = nginx.wait_for_line("spoken.log", "HTTP/2.0");
    assert!(line.contains("TLSv1.") && line.ends_with(" dns.example.net dns.example.net"), "{line}");
    let log = example.envoy.folder().read("envoy.log");
    assert!(!log.contains("crawlpike"), "{log}");
}

// RDNS-2
#[test]
fn lookups_are_counted_by_result() {
    use crawlpike_tests::dns::{DohServer, Reply};
    let zone = zone().name("192.0.2.10", "a.other.example.");
    let dns = DohServer::answering(move |name, kind| match &*name.to_ascii() {
        "50.2.0.192.in-addr.arpa." => Reply::Silence,
        "51.2.0.192.in-addr.arpa." => Reply::Failure,
        _ => zone.reply(name, kind),
    });
    let envoy = Started::new(dns.port(), "0.5s");
    // Last the one whose zone is not asked for a while after it.
    for last in [1, 1, 10, 99, 98, 51, 50, 50] {
        envoy.identity(&format!("192.0.2.{last}"));
    }
    let counted = |result: &str, count: usize| {
        let line = format!("crawlpike_name_lookups_total{{result=\"{result}\"}} {count}\n");
        wait_for(&line, || envoy.envoy.admin("/stats/prometheus").contains(&line).then_some(()));
    };
    for (result, count) in [("confirmed", 1), ("refuted", 1), ("no-name", 2), ("timed-out", 1), ("failed", 1)]
    {
        counted(result, count);
    }
    envoy.assert_clean();
}
