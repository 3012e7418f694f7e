//! The Wasm filters in Envoy: one that carries out policies, and one that makes documents.

use crawlpike_tests::envoy::{
    Envoy, Filter, Listener, RESOURCE, bootstrap, configuration, discovered_filter, manager,
};
use crawlpike_tests::faults::{Kind, Plan};
use crawlpike_tests::http::{Request, send_bytes};
use crawlpike_tests::lab::{person, spoofed, verified};
use crawlpike_tests::nginx::{Folder, ask, local};
use crawlpike_tests::page_origin;
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use serde_json::Value;

use crate::envoy::{ERRORS, folder, judge_both, page_and_document};
use crate::{Excused, each_fault, errors, judge_response};

/// The plan of one filter, which is in its virtual machine.
struct FilterFaults {
    port: u16,
    /// The header that has the filter answer.
    header: &'static str,
}

impl FilterFaults {
    /// Gives the filter a plan, and returns what failed by the last one.
    fn replace(&self, number: u64) -> String {
        let answer = ask(self.port, &person("/plan").header(self.header, &number.to_string()));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.text()
    }
}

impl Plan for FilterFaults {
    /// All that a filter can do is to call the host.
    fn begin(&self, kind: Kind, number: u64) {
        self.replace(if kind == Kind::Host { number } else { 0 });
    }

    fn end(&self) -> Option<String> {
        Some(self.replace(0)).filter(|name| !name.is_empty())
    }
}

struct Lab {
    envoy: Envoy,
    port: u16,
}

impl Lab {
    /// Starts Envoy with one worker, so that one virtual machine has all requests.
    fn start(folder: Folder, filters: Vec<Value>) -> Self {
        let port = free_port();
        let listener = Listener { port, filter: filters[0].clone(), access_log: "access.log".into() };
        let mut listener = configuration(&folder, &listener);
        let all = manager(&mut listener)["http_filters"].as_array_mut().expect("an array");
        all.splice(..1, filters);
        let bootstrap = bootstrap(&[listener], page_origin::start());
        Self { envoy: Envoy::boot(folder, bootstrap, 1, &[]), port }
    }

    fn with_documents() -> Self {
        let folder = folder();
        let filters = Filter::Wasm.with_documents(&folder, &folder.path().join("crawlpike.json"));
        Self::start(folder, filters)
    }

    fn faults(&self, header: &'static str) -> FilterFaults {
        FilterFaults { port: self.port, header }
    }

    fn each_fault_in(
        &self,
        situation: &str,
        header: &'static str,
        request: &Request,
        is_good: impl Fn(u16, &str) -> bool,
    ) {
        let bytes = request.clone().header("Connection", "close").bytes();
        let run = || send_bytes(local(self.port), &bytes);
        let before = self.envoy.sum(ERRORS);
        let failed = each_fault(&self.faults(header), situation, Excused::default(), run, |_, answer| {
            judge_response(answer, &is_good).and_then(|()| judge_both(self.port))
        });
        // Without the time, a document lacks its own, and its time is not measured.
        let all = errors(&failed, &["proxy_get_current_time_nanoseconds"]);
        assert_eq!(self.envoy.sum(ERRORS) - before, all, "{failed:?}");
    }
}

const POLICIES: &str = "X-Faults-Of-Policies";
const DOCUMENTS: &str = "X-Faults-Of-Documents";

#[test]
fn the_filter_lets_a_request_pass() {
    let lab = Lab::with_documents();
    lab.each_fault_in("Wasm, request", POLICIES, &verified("/page"), |status, _| status == 200);
    lab.each_fault_in("Wasm, denied request", POLICIES, &spoofed("/page"), |status, _| {
        [200, 403].contains(&status)
    });
}

#[test]
fn the_filter_sends_the_page_or_its_document() {
    let lab = Lab::with_documents();
    let (whole, document) = page_and_document(lab.port);
    let request = verified("/page").header("Accept", "text/markdown");
    lab.each_fault_in("Wasm, document", DOCUMENTS, &request, |status, body| {
        status == 200 && (body == whole || body == document)
    });
}

#[test]
fn the_filter_keeps_the_ruleset_where_a_reload_fails() {
    let folder = folder();
    let (config, resource) = (folder.path().join("crawlpike.json"), folder.path().join(RESOURCE));
    Filter::Wasm.write_resource(&config, &resource);
    let lab = Lab::start(folder, vec![discovered_filter(&resource)]);
    let document = lab.envoy.folder().read("crawlpike.json");
    let mut version = 0;
    let run = || {
        version += 1;
        let before = lab.envoy.update_count("config_reload");
        // Another ruleset each time, since Envoy ignores the same.
        let tag = format!(r#""rules": "max-snippet={version}""#);
        lab.envoy.folder().write("crawlpike.json", document.replace(r#""rules": "noindex=""#, &tag));
        Filter::Wasm.write_resource(&config, &resource);
        wait_for("the new ruleset", || (lab.envoy.update_count("config_reload") > before).then_some(()));
    };
    let failed = each_fault(&lab.faults(POLICIES), "Wasm, reload", Excused::default(), run, |_, ()| {
        judge_both(lab.port)
    });
    assert_eq!(lab.envoy.sum(ERRORS), errors(&failed, &[]), "{failed:?}");
}
