//! The output of `crawlpike publish` for servers without Crawlpike, in these servers.

use std::fs;
use std::path::Path;
use std::process::Command;

use crawlpike_tests::artefacts;
use crawlpike_tests::http::Request;
use crawlpike_tests::nginx::{Folder, Nginx, ask};
use crawlpike_tests::ports::free_port;
use serde_json::{Value, json};

fn publish(arguments: &[&str], list: &Path) -> String {
    let output = Command::new(artefacts::cli()).arg("publish").args(arguments).arg(list).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn nginx_looks_up_prefixes_as_crawlpike_does() {
    let (folder, port) = (Folder::new(), free_port());
    folder.write("ranges.csv", "192.0.2.0/24,\n192.0.2.64/26,a \"quoted\" $service\n2001:db8::/32,six\n");
    let ranges =
        publish(&["jafar", "--format", "nginx-geo", "--name", "bot"], &folder.path().join("ranges.csv"));
    let googlebot = artefacts::feeds().join("google-googlebot.json");
    let google = publish(&["jafar", "--format", "nginx-geo", "--name", "googlebot"], &googlebot);
    // As in docs/publish.md.
    let page = fs::read_to_string(artefacts::repository().join("docs/publish.md")).unwrap();
    let map = &page[page.find("map \"$googlebot").unwrap()..];
    let map = &map[..map.find("```").unwrap()];
    let http = format!(
        "{ranges}{google}{map}server {{ listen 127.0.0.1:{port}; set_real_ip_from 127.0.0.1; real_ip_header X-Client; \
         location / {{ return 200 \"[$bot] [$googlebot] $is_impostor\"; }} }}"
    );
    let check = Nginx::check(&folder, &http);
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
    let _nginx = Nginx::without_module(folder, &http);
    for (address, expected) in [
        ("192.0.2.1", "[bot] [] 1"),
        ("192.0.2.64", "[a \"quoted\" $service] [] 1"),
        ("192.0.2.128", "[bot] [] 1"),
        ("2001:db8::1", "[six] [] 1"),
        ("203.0.113.1", "[] [] 1"),
        ("66.249.66.1", "[] [googlebot] 0"),
    ] {
        let response = ask(port, &Request::get("/").header("X-Client", address).agent("Googlebot/2.1"));
        assert_eq!(response.text(), expected, "{address}");
    }
}

#[test]
fn envoy_takes_the_tags() {
    let folder = Folder::new();
    folder.write("places.csv", "8.8.8.0/24,US,US-CA,,\n8.8.8.0/25,,,,\n2600::/32,PL,,,\n");
    let googlebot = artefacts::feeds().join("google-googlebot.json");
    for (kind, list) in [("jafar", &*googlebot), ("geofeed", &folder.path().join("places.csv"))] {
        let filter: Value =
            serde_json::from_str(&publish(&[kind, "--format", "envoy-ip-tagging"], list)).unwrap();
        let bootstrap = json!({ "static_resources": { "listeners": [ {
            "address": { "socket_address": { "address": "127.0.0.1", "port_value": 0 } },
            "filter_chains": [ { "filters": [ {
                "name": "envoy.filters.network.http_connection_manager",
                "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                    "stat_prefix": "http",
                    "route_config": { "virtual_hosts": [ { "name": "all", "domains": ["*"], "routes": [
                        { "match": { "prefix": "/" }, "direct_response": { "status": 200 } } ] } ] },
                    "http_filters": [ filter, {
                        "name": "envoy.filters.http.router",
                        "typed_config": { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" }
                    } ]
                }
            } ] } ]
        } ] } });
        let file = folder.path().join("envoy.json");
        fs::write(&file, bootstrap.to_string()).unwrap();
        let output = Command::new(artefacts::envoy())
            .args(["--mode", "validate", "--log-level", "error", "--concurrency", "1", "-c"])
            .arg(&file)
            .output()
            .unwrap();
        assert!(output.status.success(), "{kind}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
