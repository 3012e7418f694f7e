//! The number of calls of a request from the sandbox to its host, counted in Envoy's own trace.

use std::collections::BTreeMap;

use crawlpike_tests::envoy::{Filter, Gate, RESOURCE, update_resource};
use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{DOCUMENT, lab, person, spoofed, unguarded, verified};
use crawlpike_tests::nginx::{Folder, ask};
use crawlpike_tests::process::wait_for;

/// The calls of a gate's clock, for any number of requests.
const OF_THE_CLOCK: [&str; 4] = [
    "proxy_increment_metric",
    "proxy_record_metric",
    "proxy_get_current_time_nanoseconds",
    "proxy_get_shared_data",
];

/// The calls in the trace since a place in the log, by name.
fn calls(log: &str) -> BTreeMap<String, usize> {
    let mut calls = BTreeMap::new();
    for line in log.lines() {
        if let Some((_, call)) = line.split_once("[vm->host] env.")
            && let Some((name, _)) = call.split_once('(')
            && !OF_THE_CLOCK.contains(&name)
        {
            *calls.entry(name.to_owned()).or_default() += 1;
        }
    }
    calls
}

/// One call each fetches the headers and the address. What is known of automation goes to the log
/// and to upstream, or the request is denied.
#[test]
fn a_request_makes_only_the_calls_that_it_needs() {
    makes_only_needed_calls(lab(), &["proxy_get_property"]);
}

/// Nor is Envoy asked for the address, if X-Forwarded-For has it.
#[test]
fn with_trusted_hops_no_call_fetches_the_address() {
    let folder = lab();
    folder.write("crawlpike.json", DOCUMENT.replacen('{', r#"{ "trusted_hops": 1,"#, 1));
    makes_only_needed_calls(folder, &[]);
}

fn makes_only_needed_calls(folder: Folder, for_the_address: &[&str]) {
    let gate = Gate::start(Filter::Wasm, folder);
    let both_workers = |request: &Request| (0..20).for_each(|_| drop(gate.ask(request)));
    // One-time calls, such as the definition of a counter, are over by then in each worker.
    for request in [person("/"), verified("/"), spoofed("/")] {
        both_workers(&request);
    }
    ask(gate.envoy.admin_port(), &Request::new("POST", "/logging?wasm=trace", "admin"));
    for (request, expected) in [
        (person("/"), [("proxy_get_header_map_pairs", 1)].as_slice()),
        (
            verified("/"),
            &[
                ("proxy_add_header_map_value", 1),
                ("proxy_get_header_map_pairs", 1),
                ("proxy_set_property", 1),
            ],
        ),
        (
            spoofed("/"),
            &[
                // Those of the request, and those of the response, which Envoy may have made another one.
                ("proxy_get_header_map_pairs", 2),
                ("proxy_send_local_response", 1),
                ("proxy_set_property", 1),
            ],
        ),
    ] {
        let before = gate.folder().read("envoy.log").len();
        gate.ask(&request);
        let for_the_address = for_the_address.iter().map(|name| (*name, 1));
        let expected: BTreeMap<String, usize> = expected
            .iter()
            .copied()
            .chain(for_the_address)
            .map(|(name, count)| (name.to_owned(), count))
            .collect();
        // The context's end is the last that a request has to do with the filter.
        let log = wait_for("the end of the request in the trace", || {
            let log = gate.folder().read("envoy.log");
            let of_request = log.get(before..)?;
            of_request.contains("proxy_on_delete return").then(|| of_request.to_owned())
        });
        assert_eq!(calls(&log), expected, "{log}");
    }
}

/// Envoy keeps the timer of a plugin that was replaced, and would wake up for each as long as it runs.
#[test]
fn the_clock_of_a_replaced_ruleset_is_stopped() {
    let folder = lab();
    update_resource(&folder);
    let gate = Gate::discover(folder, RESOURCE);
    ask(gate.envoy.admin_port(), &Request::new("POST", "/logging?wasm=trace", "admin"));
    gate.folder().write("lab.txt", "192.0.2.0/24\n");
    gate.folder().write("crawlpike.json", unguarded());
    update_resource(gate.folder());
    gate.envoy.wait_for_line("envoy.log", "[vm->host] env.proxy_set_tick_period_milliseconds(0)");
}
