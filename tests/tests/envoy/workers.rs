//! Workers and processes that come and go: whatever their number, each request is decided by the same ruleset.

use crawlpike_tests::envoy::{Envoy, Filter, Listener, address, bootstrap, configuration, start_epoch};
use crawlpike_tests::http::{Connection, Request};
use crawlpike_tests::lab::{lab, person, spoofed, verified};
use crawlpike_tests::load::{self, Probe};
use crawlpike_tests::nginx::{Folder, ask, local};
use crawlpike_tests::origin::Origin;
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use serde_json::json;

for_both_gates!(
    any_number_of_workers_decides_the_same,
    a_hot_restart_loses_no_request_and_no_decision,
    a_draining_listener_still_decides,
);

fn probes() -> [Probe; 3] {
    [(verified("/"), 200), (spoofed("/"), 403), (person("/"), 200)]
        .map(|(request, status)| Probe { request, status })
}

fn listener(filter: Filter, folder: &Folder) -> Listener {
    let filter = filter.with(folder, &folder.path().join("crawlpike.json"));
    Listener { port: free_port(), filter, access_log: "access.log".into() }
}

fn any_number_of_workers_decides_the_same(filter: Filter) {
    let origin = Origin::start();
    for workers in [1, 2, 4] {
        let folder = lab();
        let listener = listener(filter, &folder);
        let configured = configuration(&folder, &listener);
        let envoy = Envoy::boot(folder, bootstrap(&[configured], origin.port()), workers, &[]);
        let report = load::during(local(listener.port), &probes(), || {
            wait_for("every worker has answered", || {
                let page =
                    envoy.admin(&format!("/stats?filter=listener.*{}.worker_.*cx_total", listener.port));
                let counts = page.lines().filter_map(|line| line.rsplit_once(": ")?.1.parse::<u64>().ok());
                (counts.filter(|count| *count > 0).count() == workers).then_some(())
            });
        });
        assert_eq!(report.failures, [""; 0], "{workers} workers");
        assert!(report.requests >= workers, "{report:?}");
    }
}

fn a_hot_restart_loses_no_request_and_no_decision(filter: Filter) {
    let (origin, folder, admin) = (Origin::start(), lab(), free_port());
    let listener = listener(filter, &folder);
    let mut bootstrap = bootstrap(&[configuration(&folder, &listener)], origin.port());
    bootstrap["admin"] = json!({ "address": address(admin) });
    folder.write("envoy.json", bootstrap.to_string());
    // A number that no other test's Envoy has.
    let base = listener.port.to_string();

    let mut first = start_epoch(&folder, "envoy-0.log", &base, 0);
    let mut second = None;
    let report = load::during(local(listener.port), &probes(), || {
        second = Some(start_epoch(&folder, "envoy-1.log", &base, 1));
        first.wait_for_end();
        let answered = || ask(admin, &Request::get("/server_info")).text().contains("\"restart_epoch\": 1");
        wait_for("the second process has taken over", || answered().then_some(()));
    });
    assert_eq!(report.failures, [""; 0]);
    assert!(report.requests > 100, "{report:?}");
    for Probe { request, status } in &probes() {
        assert_eq!(ask(listener.port, request).status, *status);
    }
    for log in ["envoy-0.log", "envoy-1.log"] {
        assert!(!folder.read(log).contains("panicked"), "{}", folder.read(log));
    }
    drop(second);
}

fn a_draining_listener_still_decides(filter: Filter) {
    let origin = Origin::start();
    let folder = lab();
    let listener = listener(filter, &folder);
    let configured = configuration(&folder, &listener);
    let envoy = Envoy::boot(folder, bootstrap(&[configured], origin.port()), 1, &[]);
    let mut connection = Connection::open(local(listener.port)).unwrap();
    assert_eq!(connection.send(&verified("/")).unwrap().status, 200);
    let drained =
        ask(envoy.admin_port(), &Request::new("POST", "/drain_listeners?graceful&skip_exit", "admin"));
    assert_eq!(drained.text(), "OK\n");
    // Envoy announces the end of the connection, and ends it after the response.
    let response = connection.send(&spoofed("/")).unwrap();
    assert_eq!(response.status, 403);
    let mut next = Connection::open(local(listener.port)).unwrap();
    assert_eq!(next.send(&person("/")).unwrap().status, 200);
}
