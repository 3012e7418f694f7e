//! Large pages, many at once, and clients that leave.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use crawlpike_tests::envoy::{Filter, manager};
use crawlpike_tests::lab::lab_with_sites;
use crawlpike_tests::nginx::local;
use crawlpike_tests::page_origin::{self, MARKDOWN, story};
use crawlpike_tests::proc;
use crawlpike_tests::process::wait_for;

use super::{HTML, MARKDOWN_TYPE, SITE, Site, has_no_errors, request, vary};
use crate::binary::{EXPORTS_OF_DOCUMENTS, IMPORTS_OF_DOCUMENTS};
use crate::refusals::all_but;

/// Envoy's own buffers end at 1 MiB.
fn pages_of_any_size(gate: Filter) {
    let site = Site::shared(gate);
    for how in ["sized", "slow", "trailers"] {
        for size in [10, 1000, 900 << 10, 3 << 19, 2 << 20] {
            let path = format!("/{how}/{size}");
            let markdown = site.page(&path, "text/markdown");
            assert_eq!(
                (markdown.status, markdown.header("content-type")),
                (200, Some(MARKDOWN_TYPE)),
                "{path}"
            );
            let text = markdown.text();
            assert!(text.starts_with("Kettle."), "{path}");
            assert_eq!(
                text.matches(" of a long story about a kettle").count(),
                story(size).matches(" of a long story about a kettle").count(),
                "{path}"
            );
            assert_eq!(markdown.header("content-length"), Some(text.len().to_string()).as_deref(), "{path}");
            assert_eq!(
                (vary(&markdown).as_str(), markdown.header("robots-tag")),
                ("accept", Some("noai")),
                "{path}"
            );
        }
        for size in [(2 << 20) + 1, 3 << 20] {
            let path = format!("/{how}/{size}");
            let page = site.page(&path, "text/markdown");
            assert_eq!(
                (page.status, page.header("content-type"), page.header("robots-tag")),
                (200, Some(HTML), Some("noai")),
                "{path}"
            );
            assert!(page.text() == story(size), "{path}");
        }
    }
    // Deeper than any page that becomes a document.
    let nested = site.page("/nested", "text/markdown");
    assert_eq!((nested.status, nested.header("content-type")), (200, Some(HTML)));
    has_no_errors(&site);
}

/// A client that reads less at once than arrives at once.
fn small_buffers_change_nothing(gate: Filter) {
    let site = Site::start(gate, lab_with_sites(SITE), |listener| {
        listener["per_connection_buffer_limit_bytes"] = 4096.into();
    });
    for how in ["sized", "trailers"] {
        let path = format!("/{how}/{}", 900 << 10);
        assert_eq!(site.page(&path, "text/markdown").header("content-type"), Some(MARKDOWN_TYPE));
        let path = format!("/{how}/{}", 3 << 20);
        assert!(site.page(&path, "text/markdown").text() == story(3 << 20));
    }
    has_no_errors(&site);
}

/// Of a page, each worker needs some times its size, and keeps that for the next one.
fn memory_is_in_proportion_to_the_page(gate: Filter) {
    const MOST_TIMES: u64 = 12;
    let site = Site::documents(gate);
    // Anonymous: the program itself is shared with the servers of other tests, until they end.
    let memory = || proc::memory(site.envoy.server().pid().as_raw_nonzero().get()).anonymous << 10;
    let ask = |size: usize| {
        for _ in 0..30 {
            let response = site.page(&format!("/sized/{size}"), "text/markdown");
            assert_eq!(response.header("content-type"), Some(MARKDOWN_TYPE));
        }
    };
    ask(1000);
    let before = memory();
    for size in [100 << 10, 2 << 20] {
        ask(size);
        let (grown, size) = (memory().saturating_sub(before), size as u64);
        // Two workers; the rest is Envoy's and the allocator's, whatever the size of the page.
        assert!(grown <= 2 * MOST_TIMES * size + (6 << 20), "{grown} bytes for a page of {size}");
        println!("{gate:?}: {grown} bytes for a page of {size}");
    }
}

/// Clients that leave before the page is complete free what was collected for them.
fn many_pages_at_once(gate: Filter) {
    let folder = lab_with_sites(SITE);
    // Enough for all pages of one network.
    let document = folder.read("crawlpike.json");
    folder.write("crawlpike.json", document.replacen('{', r#"{ "document_memory": 268435456,"#, 1));
    let site = Site::start(gate, folder, |_| {});
    let leave = |path: &str| {
        let mut stream = TcpStream::connect(local(site.port)).unwrap();
        stream.write_all(&request(path, "text/markdown").bytes()).unwrap();
        thread::sleep(Duration::from_millis(300));
    };
    thread::scope(|scope| {
        for client in 0..16 {
            let (site, leave) = (&site, &leave);
            scope.spawn(move || {
                for turn in 0..20 {
                    let size = [10, 40 << 10, 3 << 19, 3 << 20][(client + turn) % 4];
                    match (client + turn / 4) % 3 {
                        0 => leave(&format!("/slow/{}", 2 << 20)),
                        1 => {
                            let broken = std::panic::catch_unwind(|| site.page("/cut", "text/markdown"));
                            assert!(
                                broken.is_err() || broken.is_ok_and(|cut| !cut.text().starts_with(MARKDOWN))
                            );
                        }
                        _ => {
                            let how = ["sized", "trailers"][turn % 2];
                            let response = site.page(&format!("/{how}/{size}"), "text/markdown");
                            let kind = if size <= 2 << 20 { MARKDOWN_TYPE } else { HTML };
                            assert_eq!((response.status, response.header("content-type")), (200, Some(kind)));
                            assert!(size <= 2 << 20 || response.text() == story(size));
                        }
                    }
                }
            });
        }
    });
    // Each worker, of which one may have answered the last requests.
    for _ in 0..20 {
        assert!(site.page("/page", "text/markdown").text().starts_with(MARKDOWN));
    }
    has_no_errors(&site);
}

/// The memory of a virtual machine never shrinks, so what it collects at a time is bounded.
#[test]
fn a_page_for_which_wasm_has_no_room_goes_on() {
    const SIZE: usize = 2 << 20;
    let site = Site::start(Filter::Wasm, lab_with_sites(SITE), |listener| {
        // On a busy machine, so many pages take longer than Envoy's limits of 15 seconds, and of one second for a client to
        // read the end of the last response.
        manager(listener)["delayed_close_timeout"] = "60s".into();
        let routes = &mut manager(listener)["route_config"]["virtual_hosts"][0]["routes"];
        routes.as_array_mut().unwrap().last_mut().unwrap()["route"]["timeout"] = "0s".into();
    });
    const PAGES: usize = 80;
    let kinds: Vec<bool> = thread::scope(|scope| {
        let ask = || {
            let response = site.page(&format!("/held/{SIZE}"), "text/markdown");
            let is_document = response.header("content-type") == Some(MARKDOWN_TYPE);
            assert!(is_document || response.text() == story(SIZE));
            is_document
        };
        let asked: Vec<_> = (0..PAGES).map(|_| scope.spawn(ask)).collect();
        wait_for("Envoy has all but the ends of the pages", || {
            let count = site.envoy.admin("/stats?filter=^cluster.origin.upstream_cx_rx_bytes_total$");
            let count: usize = count.trim().rsplit(": ").next()?.parse().ok()?;
            (count >= PAGES * SIZE / 20 * 19).then_some(())
        });
        page_origin::release();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    assert!(kinds.contains(&true) && kinds.contains(&false), "{kinds:?}");
    site.envoy.wait_for_line("envoy.log", "crawlpike: pages go out as they are (busy): ");
    has_no_errors(&site);
}

/// The collected bytes of a body are released.
#[test]
fn a_page_for_which_envoy_refuses_a_call_of_wasm_is_whole() {
    let page = story(100_000);
    for (call, is_page) in [
        ("proxy_get_header_map_pairs", true),
        ("proxy_get_current_time_nanoseconds", false),
        ("proxy_set_buffer_bytes", true),
        ("proxy_replace_header_map_value", true),
        ("proxy_define_metric", false),
    ] {
        let site = Site::start(Filter::Wasm, lab_with_sites(SITE), |listener| {
            let all = manager(listener)["http_filters"].as_array_mut().unwrap();
            all.remove(0);
            let config = &mut all[0]["typed_config"]["config"];
            config["capability_restriction_config"] =
                all_but(call, IMPORTS_OF_DOCUMENTS, EXPORTS_OF_DOCUMENTS);
        });
        for how in ["sized", "trailers"] {
            let response = site.page(&format!("/{how}/{}", page.len()), "text/markdown");
            assert_eq!((response.status, response.text() == page), (200, is_page), "{call} {how}");
        }
    }
}

for_both_gates!(
    pages_of_any_size,
    small_buffers_change_nothing,
    memory_is_in_proportion_to_the_page,
    many_pages_at_once,
);
