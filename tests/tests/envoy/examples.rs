//! The files in `examples/envoy`, with ports and paths of the test's own.

use std::collections::BTreeMap;
use std::fs;

use crawlpike_tests::artefacts;
use crawlpike_tests::envoy::{Envoy, write_resource_of, write_resource_with};
use crawlpike_tests::http::{Request, Response};
use crawlpike_tests::lab::{FIREFOX, from};
use crawlpike_tests::nginx::{Folder, ask};
use crawlpike_tests::origin::Origin;
use crawlpike_tests::page_origin::{self, MARKDOWN, page};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;

/// An Envoy with one of the examples.
pub(crate) struct Example {
    pub(crate) envoy: Envoy,
    _origin: Option<Origin>,
    pub(crate) port: u16,
}

impl Example {
    /// Starts it, with these paths besides the ports replaced.
    pub(crate) fn start(folder: Folder, file: &str, paths: &BTreeMap<&str, String>) -> Self {
        let origin = Origin::start();
        let port = origin.port();
        Self { _origin: Some(origin), ..Self::start_before(port, folder, file, paths) }
    }

    /// The same, before an origin at this port.
    fn start_before(origin: u16, folder: Folder, file: &str, paths: &BTreeMap<&str, String>) -> Self {
        let (port, admin) = (free_port(), free_port());
        let ports =
            [("port_value: 8090 ", port), ("port_value: 9901 ", admin), ("port_value: 8000 ", origin)];
        let ports = ports.map(|(old, port)| (old, format!("port_value: {port} ")));
        let all: Vec<_> = ports.into_iter().chain(paths.clone()).collect();
        let text = artefacts::adapted(&format!("examples/envoy/{file}"), &all);
        folder.write(file, text);
        Self { envoy: Envoy::boot_file(folder, file, admin, 2, &[]), _origin: None, port }
    }

    pub(crate) fn ask(&self, address: &str, agent: &str, path: &str) -> Response {
        ask(self.port, &from(address, Request::get(path).agent(agent)))
    }

    /// Gates publish what they count once a second.
    fn wait_for_metric(&self, line: &str) {
        wait_for(line, || {
            let page = self.envoy.admin("/stats/prometheus");
            page.lines().any(|found| found == line).then_some(())
        });
    }
}

/// A folder with the examples' document and its files.
fn policy() -> Folder {
    let folder = Folder::new();
    folder.copy_of_repository("examples/envoy");
    folder
}

const OWN_ADDRESS: &str = "192.0.2.1";
const OTHER_ADDRESS: &str = "203.0.113.9";

#[test]
fn the_document_can_be_in_a_static_configuration() {
    let paths = BTreeMap::from([("/etc/envoy/crawlpike.wasm", artefacts::wasm().display().to_string())]);
    let example = Example::start(Folder::new(), "static.yaml", &paths);
    let status = |address, agent, path| example.ask(address, agent, path).status;
    assert_eq!(status(OWN_ADDRESS, "PartnerBot/1.0", "/"), 200);
    assert_eq!(status(OTHER_ADDRESS, "PartnerBot/1.0", "/"), 403);
    assert_eq!(status(OTHER_ADDRESS, "curl/8", "/"), 200);
    assert_eq!(status(OTHER_ADDRESS, "curl/8", "/private/"), 403);
    assert_eq!(status(OTHER_ADDRESS, FIREFOX, "/private/"), 200);
    let expected = r#"crawlpike_requests_total{action="deny",enforced="true",reason="robots-disallowed",identity="generic",agent="",site="default"} 1"#;
    example.wait_for_metric(expected);
}

#[test]
fn the_native_module_reads_the_document_and_limits_by_metadata() {
    let folder = policy();
    let document = folder.path().join("examples/envoy/crawlpike.json").display().to_string();
    let paths = BTreeMap::from([("/etc/crawlpike/crawlpike.json", document)]);
    let example = Example::start(folder, "native.yaml", &paths);
    let status = |address, agent, path| example.ask(address, agent, path).status;
    assert_eq!(status(OTHER_ADDRESS, "PartnerBot/1.0", "/"), 403);
    assert_eq!(status(OTHER_ADDRESS, "PartnerBot/1.0", "/api/"), 200);
    assert_eq!(status(OTHER_ADDRESS, "curl/8", "/private/"), 403);
    for _ in 0..20 {
        assert_eq!(status(OTHER_ADDRESS, FIREFOX, "/private/"), 200);
    }
    wait_for("the end of the burst", || {
        let response = example.ask(OWN_ADDRESS, "PartnerBot/1.0", "/");
        assert!([200, 429].contains(&response.status), "{response:?}");
        (response.status == 429).then_some(())
    });
    let expected = r#"crawlpike_requests_total{action="deny",enforced="true",reason="robots-disallowed",identity="generic",agent="",site="default"} 1"#;
    example.wait_for_metric(expected);
}

/// AIWI-9
#[test]
fn the_second_filter_makes_documents() {
    let folder = policy();
    let config = folder.path().join("examples/envoy/crawlpike.json");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(
        &config,
        text.replace("[ { \"robots_txt\"", "[ { \"aiwebindex\": { \"document\": true }, \"robots_txt\""),
    )
    .unwrap();
    let resource = |name: &str| folder.path().join(name);
    let (policies, documents) = (resource("crawlpike.json"), resource("crawlpike-documents.json"));
    for output in [
        write_resource_with(&config, &policies, &[]),
        write_resource_of(
            &artefacts::wasm_documents(),
            &config,
            &documents,
            &["--name", "crawlpike-documents"],
        ),
    ] {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let paths = BTreeMap::from([
        ("/etc/envoy/crawlpike.json }", format!("{} }}", policies.display())),
        ("/etc/envoy/crawlpike-documents.json }", format!("{} }}", documents.display())),
    ]);
    let example = Example::start_before(page_origin::start(), folder, "documents.yaml", &paths);
    let ask = |agent: &str, path: &str| {
        let request = Request::get(path).agent(agent).header("Accept", "text/markdown");
        ask(example.port, &from(OTHER_ADDRESS, request))
    };
    assert!(ask("curl/8", "/page").text().starts_with(MARKDOWN));
    assert_eq!(ask("curl/8", "/private/").status, 403);
    assert_eq!(ask("curl/8", "/private").text(), page(""));
}

/// AIWI-17, AIWI-18
#[test]
fn agents_have_a_rate_each_and_people_none() {
    let folder = policy();
    let (document, resource) =
        (folder.path().join("examples/envoy/crawlpike.json"), folder.path().join("crawlpike.json"));
    let output = write_resource_with(&document, &resource, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let paths = BTreeMap::from([("/etc/envoy/crawlpike.json", resource.display().to_string())]);
    let example = Example::start(folder, "rate-limit.yaml", &paths);
    let exhaust = |address, agent| {
        let limited = wait_for("the end of the burst", || {
            let response = example.ask(address, agent, "/");
            assert!([200, 429].contains(&response.status), "{response:?}");
            (response.status == 429).then_some(response)
        });
        assert_eq!(limited.header("retry-after"), Some("2"));
    };
    // Of each automated client, at least ten requests pass: the burst.
    for _ in 0..10 {
        assert_eq!(example.ask(OWN_ADDRESS, "PartnerBot/1.0", "/").status, 200);
    }
    exhaust(OWN_ADDRESS, "PartnerBot/1.0");
    // Others have buckets of their own: each address that is not verified, and nobody else's is used up by it.
    assert_eq!(example.ask(OTHER_ADDRESS, "curl/8", "/").status, 200);
    exhaust(OTHER_ADDRESS, "curl/8");
    assert_eq!(example.ask("198.51.100.1", "curl/8", "/").status, 200);
    // A denial is a denial, and not a matter of rates.
    assert_eq!(example.ask(OTHER_ADDRESS, "PartnerBot/1.0", "/").status, 403);
    // People from the same address are not counted, nor are they when they say that they are automated clients.
    let forged = |n: usize| {
        let person = from(OTHER_ADDRESS, Request::get("/").agent(FIREFOX));
        person.header(
            "X-Crawlpike",
            if n < 25 { "identity=generic" } else { r#"identity=verified, agent="PartnerBot""# },
        )
    };
    for n in 0..50 {
        assert_eq!(example.ask(OTHER_ADDRESS, FIREFOX, "/").status, 200);
        assert_eq!(ask(example.port, &forged(n)).status, 200);
    }
    // The agent's bucket is one for all of its addresses.
    exhaust("192.0.2.77", "PartnerBot/1.0");
}
