//! Facts about clients that claim nothing, and limits by them.

use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{DOCUMENT, FIREFOX, HTTP, from, lab};
use crawlpike_tests::nginx::{Folder, Nginx, ask};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::swarm::{attack, check};

/// The lab with a table, costly paths and a fingerprint.
fn folder() -> Folder {
    let folder = lab();
    let settings = r#"{
        "networks": [ { "name": "as", "format": "iptoasn", "source": "as.tsv" } ],
        "crowd_key": ["asn", "network"],
        "fingerprint_header": "X-JA4",
        "sites": [ { "costly": ["/costly/"] } ],"#;
    folder.write("crawlpike.json", DOCUMENT.replacen('{', settings, 1));
    folder.write("as.tsv", "45.0.0.0\t45.255.255.255\t64500\tUS\tSwarm \"1\"\n");
    folder
}

#[test]
fn variables_show_the_facts_about_everybody() {
    let port = free_port();
    let http = format!(
        r#"{HTTP}
        server {{
            listen 127.0.0.1:{port};
            location / {{
                return 200 "$crawlpike_network|$crawlpike_asn|$crawlpike_as_name|$crawlpike_as_kind|$crawlpike_costly|$crawlpike_browser|$crawlpike_fingerprint|$crawlpike_crowd_key";
            }}
        }}"#
    );
    let _nginx = Nginx::start(folder(), &http);
    for (address, path, user_agent, expected) in [
        ("45.1.2.3", "/costly/1", FIREFOX, "45.1.2.0/24|64500|Swarm '1'||1|unknown|t13d|64500 45.1.2.0/24"),
        ("45.1.2.3", "/", FIREFOX, "45.1.2.0/24|64500|Swarm '1'|||unknown|t13d|"),
        ("2001:db9:1:2::3", "/costly/", "curl/8", "2001:db9:1::/48||||1|unknown|t13d|- 2001:db9:1::/48"),
        ("192.0.2.1", "/costly/1", "LabBot/1.0", "192.0.2.0/24||||1|unknown|t13d|"),
    ] {
        let request = Request::get(path).agent(user_agent).header("X-JA4", "t13d");
        assert_eq!(ask(port, &from(address, request)).text(), expected, "{address} {path}");
    }
}

#[test]
fn limit_req_by_the_crowds_key_holds_for_a_swarm_and_spares_a_verified_agent() {
    let port = free_port();
    let http = format!(
        "{HTTP}
        limit_req_zone $crawlpike_crowd_key zone=swarm:10m rate=1r/m;
        limit_req_status 429;
        limit_req_log_level info;
        server {{
            listen 127.0.0.1:{port};
            root .;
            limit_req zone=swarm burst=20 nodelay;
            location / {{ try_files /lab.txt =404; }}
        }}"
    );
    let _nginx = Nginx::start(folder(), &http);
    check(&attack(port, "/costly/1"), 21);
}
