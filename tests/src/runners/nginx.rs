//! nginx with the module.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::{Answer, CASE_HEADER, CLIENT_FACTS, Ports, Runner, client_facts, exchange_all, join, logged};
use crate::cases::Table;
use crate::nginx::{self, Folder};
use crate::origin::Origin;
use crate::process::wait_for;
use crate::tls;

/// nginx with the module: the decision from the variables in its access log.
#[derive(Clone, Copy, Debug)]
pub struct Nginx;

/// The variables with the fields of the decision that they show. There is none for `status`, `site` and
/// `robots_tag`.
const VARIABLES: [&str; 13] = [
    "action", "enforced", "reason", "identity", "proof", "agent", "feed", "service", "purpose", "country",
    "region", "city", "rule",
];

impl Runner for Nginx {
    fn name(&self) -> &'static str {
        "nginx"
    }

    fn run(&self, tables: &[Table]) -> Vec<Vec<Result<Answer, String>>> {
        let origin = Origin::start();
        tables.iter().map(|table| run_table(table, &origin)).collect()
    }
}

fn run_table(table: &Table, origin: &Origin) -> Vec<Result<Answer, String>> {
    let folder = Folder::new();
    let document = table.write(&folder);
    let (ports, origin) = (Ports::free(), origin.port());
    tls::write_certificate(&folder, &[]);
    let mut format = format!(
        r#"{{"address":"$remote_addr","case":"$http_{}""#,
        CASE_HEADER.to_ascii_lowercase().replace('-', "_")
    );
    for name in VARIABLES.iter().chain(&CLIENT_FACTS) {
        let _ = write!(format, r#","{name}":"$crawlpike_{name}""#);
    }
    let http = format!(
        r#"
    crawlpike_config {document};
    log_format decision escape=json '{format}}}';
    underscores_in_headers on;
    large_client_header_buffers 4 16k;
    set_real_ip_from 127.0.0.1;
    real_ip_header X-Forwarded-For;
    server {{
        listen 127.0.0.1:{plain};
        listen 127.0.0.1:{tls} ssl;
        ssl_certificate certificate.pem;
        ssl_certificate_key key.pem;
        access_log decisions.log decision;
        proxy_buffer_size 64k;
        proxy_buffers 4 64k;
        location / {{ proxy_pass http://127.0.0.1:{origin}; }}
        location = /server/direct {{ return 200 "direct"; }}
        location = /server/moved {{ return 301 /elsewhere; }}
        location = /server/missing {{ return 404; }}
        location = /server/tagged {{ add_header X-Robots-Tag noarchive; return 200 "tagged"; }}
    }}"#,
        document = document.display(),
        plain = ports.plain,
        tls = ports.tls,
    );
    let nginx = nginx::Nginx::start(folder, &http);
    let exchanges = exchange_all(table, ports);
    // A request that nginx refuses is logged, too.
    let log = wait_for("a line of each case in nginx's access log", || {
        logged(&nginx.folder().read("decisions.log"), table.cases.len())
    });
    join(exchanges, log, facts, client)
}

/// Variables that are not found are empty. For nginx, 255.255.255.255 in a header is an error, and the address remains that of the
/// connection.
fn client(line: &Value) -> BTreeMap<String, Value> {
    let names = CLIENT_FACTS.into_iter().filter(|_| line["address"] != "127.0.0.1");
    client_facts(names, |name| line[name].as_str().filter(|text| !text.is_empty()))
}

/// Variables are not found where the client is a person: then there is nothing but the identity.
fn facts(line: &Value) -> BTreeMap<String, Value> {
    let text = |name: &str| line[name].as_str().unwrap_or_default();
    if VARIABLES.iter().all(|name| text(name).is_empty()) {
        return BTreeMap::from([("identity".into(), "none".into())]);
    }
    let value = |name: &str| match (name, text(name)) {
        ("enforced", flag) => Value::from(flag == "1"),
        (_, "") => Value::Null,
        ("rule", text) => rule(text),
        (_, text) => text.into(),
    };
    VARIABLES.iter().map(|name| ((*name).to_owned(), value(name))).collect()
}

/// `file:line` as the JSON decision writes it.
fn rule(text: &str) -> Value {
    let (file, line) = text.rsplit_once(':').unwrap_or((text, ""));
    json!({ "file": file, "line": line.parse::<u32>().ok() })
}
