//! Pages in the forms that agents read.

mod sizes;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crawlpike_tests::envoy::{Envoy, Filter, manager};
use crawlpike_tests::http::{Request, Response};
use crawlpike_tests::lab::lab_with_sites;
use crawlpike_tests::nginx::{Folder, ask, local};
use crawlpike_tests::page_origin::{self, MARKDOWN, TAG, Way, numbered_path, page, story};
use crawlpike_tests::process::wait_for;
use serde_json::{Value, json};

const AGENT: &str = "OtherAgent/1.0 (+https://agent.example/bot)";
const AIDOCUMENT: &str = "application/vnd.aiwebindex+json";
const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN_TYPE: &str = "text/markdown; charset=utf-8";

const SITE: &str = r#"{ "aiwebindex": { "document": { "md_paths": true } }, "robots_tag": [ { "rules": "noai" } ],
    "usage": { "rules": [ { "scope": "/", "preferences": "train-ai=n" } ], "send": true } }"#;

struct Site {
    // Before the port, so that it lives as long as this.
    envoy: Envoy,
    port: u16,
}

impl Site {
    /// `change` makes the listener what a test needs.
    fn start(gate: Filter, folder: Folder, change: impl FnOnce(&mut Value)) -> Self {
        let filters = gate.with_documents(&folder, &folder.path().join("crawlpike.json"));
        let (envoy, port) = Envoy::start_one(folder, Value::Null, page_origin::start(), |listener| {
            let all = manager(listener)["http_filters"].as_array_mut().unwrap();
            all.splice(..1, filters);
            change(listener);
        });
        Self { envoy, port }
    }

    fn documents(gate: Filter) -> Self {
        Self::start(gate, lab_with_sites(SITE), |_| {})
    }

    /// One that other tests use, too, if they run at the same time: each start compiles two Wasm modules.
    fn shared(gate: Filter) -> Arc<Self> {
        static SITES: Mutex<[Weak<Site>; 2]> = Mutex::new([Weak::new(), Weak::new()]);
        let mut sites = SITES.lock().unwrap_or_else(PoisonError::into_inner);
        let site = &mut sites[usize::from(gate == Filter::Wasm)];
        site.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Self::documents(gate));
            *site = Arc::downgrade(&started);
            started
        })
    }

    fn ask(&self, request: &Request) -> Response {
        ask(self.port, request)
    }

    fn page(&self, target: &str, accept: &str) -> Response {
        self.ask(&request(target, accept))
    }
}

fn request(target: &str, accept: &str) -> Request {
    Request::get(target).agent(AGENT).header("Accept", accept)
}

fn vary(response: &Response) -> String {
    response.joined_header("vary").unwrap_or_default().to_ascii_lowercase()
}

fn aiwi_9_the_form_that_the_client_prefers(gate: Filter) {
    let site = Site::shared(gate);
    let markdown = site.page("/page", "text/markdown");
    assert_eq!((markdown.status, markdown.header("content-type")), (200, Some(MARKDOWN_TYPE)));
    assert!(markdown.text().starts_with(MARKDOWN), "{}", markdown.text());
    assert!(
        !markdown.text().contains("Cart") && !markdown.text().contains("Free returns"),
        "{}",
        markdown.text()
    );
    assert!(markdown.header("x-markdown-tokens").is_some_and(|tokens| tokens.parse::<u32>().is_ok()));
    assert_eq!(markdown.header("content-length"), Some(markdown.text().len().to_string()).as_deref());
    assert_eq!((vary(&markdown).as_str(), markdown.header("accept-ranges")), ("accept", None));

    let document = site.page("/page", AIDOCUMENT);
    assert_eq!((document.status, document.header("content-type")), (200, Some(AIDOCUMENT)));
    let document: Value = serde_json::from_str(&document.text()).unwrap();
    assert_eq!(document["schema"]["version"], "2.0");
    assert!(document["source"]["url"].as_str().unwrap().ends_with("example.com/page"), "{document}");
    assert_eq!(document["usage"], json!({ "preferences": "train-ai=n" }));

    for accept in ["text/html, text/markdown;q=0.9", "*/*", "text/html"] {
        let html = site.page("/page", accept);
        assert_eq!((html.header("content-type"), html.text()), (Some(HTML), page("")), "{accept}");
        assert_eq!(vary(&html), "accept");
        assert_eq!(html.lines("link"), ["</page.md>; rel=\"alternate\"; type=\"text/markdown\""]);
    }
    let person = site.ask(
        &Request::get("/page").agent(crawlpike_tests::lab::FIREFOX).header("Accept", "text/html,*/*;q=0.8"),
    );
    assert_eq!((person.header("etag"), person.text()), (Some(TAG), page("")));
}

fn bodies_in_any_form_and_length(gate: Filter) {
    let site = Site::shared(gate);
    for path in ["/chunked", "/gzip", "/folder/"] {
        let response = site.page(path, "text/markdown");
        assert!(response.text().starts_with(MARKDOWN), "{path}: {}", response.text());
        assert_eq!(response.header("content-encoding"), None, "{path}");
    }
    // A page over the limit is passed on unchanged and whole.
    let large = site.page("/large", "text/markdown");
    assert_eq!((large.status, large.header("content-type")), (200, Some(HTML)));
    assert_eq!(large.text().len(), page("").len() + (3 << 20));
    assert!(large.text().starts_with(&page("")));
    let head = site
        .ask(&Request::new("HEAD", "/page", "example.com").agent(AGENT).header("Accept", "text/markdown"));
    assert_eq!(
        (head.status, head.header("content-type"), head.text().as_str()),
        (200, Some(MARKDOWN_TYPE), "")
    );
}

fn aiwi_21_tag_8_what_permits_no_document_stays_as_it_is(gate: Filter) {
    let site = Site::shared(gate);
    for path in ["/private", "/nosnippet", "/meta", "/missing"] {
        let response = site.page(path, "text/markdown");
        assert_eq!(response.header("content-type"), Some(HTML), "{path}");
        assert!(response.text().contains("Free returns"), "{path}: {}", response.text());
    }
    assert!(site.page("/meta-of-others", "text/markdown").text().starts_with(MARKDOWN));
    assert_eq!(site.page("/text", "text/markdown").header("content-type"), Some("text/plain"));
    for header in ["Authorization", "Cookie"] {
        let response = site.ask(&request("/page", "text/markdown").header(header, "a=b"));
        assert_eq!((response.header("content-type"), response.text()), (Some(HTML), page("")), "{header}");
    }
}

fn validators_are_those_of_the_form(gate: Filter) {
    let site = Site::shared(gate);
    let tag = |accept: &str| site.page("/page", accept).header("etag").unwrap().to_owned();
    let (markdown, document) = (tag("text/markdown"), tag(AIDOCUMENT));
    assert!(markdown.starts_with("W/\"") && document.starts_with("W/\""), "{markdown} {document}");
    assert!(markdown != document && tag("text/html") == TAG);

    let again = |accept: &str, tag: &str| site.ask(&request("/page", accept).header("If-None-Match", tag));
    let same = again("text/markdown", &markdown);
    assert_eq!((same.status, same.header("etag"), same.text().as_str()), (304, Some(&*markdown), ""));
    for other in [TAG, &document] {
        let other = again("text/markdown", other);
        assert!(
            other.status == 200 && other.text().starts_with(MARKDOWN),
            "{} {}",
            other.status,
            other.text()
        );
    }
    assert_eq!(again("text/html", TAG).status, 304);
    // A page without a tag has documents with one.
    let own = site.page("/chunked", "text/markdown").header("etag").unwrap().to_owned();
    let same = site.ask(&request("/chunked", "text/markdown").header("If-None-Match", &own));
    assert_eq!((same.status, same.text().as_str()), (304, ""));
    // Ranges are of the page only.
    let range = site.ask(&request("/page", "text/markdown").header("Range", "bytes=0-3"));
    assert!(range.status == 200 && range.text().starts_with(MARKDOWN));
}

fn the_markdown_of_a_page_has_a_path_of_its_own(gate: Filter) {
    let site = Site::shared(gate);
    for (path, page) in
        [("/page.md", "/page"), ("/folder/index.md", "/folder/"), ("/page.md?a=b", "/page?a=b")]
    {
        let response = site.page(path, "*/*");
        assert_eq!(response.header("content-type"), Some(MARKDOWN_TYPE), "{path}");
        assert!(response.text().starts_with(MARKDOWN), "{path}: {}", response.text());
        let echo = site.page(&path.replace("/page", "/echo"), "*/*");
        if path.contains("/page") {
            assert!(
                echo.text().starts_with(&format!("GET {} ", page.replace("/page", "/echo"))),
                "{}",
                echo.text()
            );
        }
    }
}

fn the_origin_is_asked_for_codings_that_can_be_read(gate: Filter) {
    let site = Site::shared(gate);
    let echo = site.ask(&request("/echo", "text/markdown").header("Accept-Encoding", "zstd, gzip")).text();
    assert!(echo.contains("ccept-encoding: gzip") && !echo.contains("zstd"), "{echo}");
}

fn a_page_that_breaks_off_is_no_document(gate: Filter) {
    let site = Site::shared(gate);
    for _ in 0..3 {
        let broken = std::panic::catch_unwind(|| site.page("/cut", "text/markdown"));
        assert!(broken.is_err() || broken.is_ok_and(|response| !response.text().starts_with(MARKDOWN)));
        assert!(site.page("/page", "text/markdown").text().starts_with(MARKDOWN));
    }
}

fn a_site_without_documents_sends_pages_as_they_are(gate: Filter) {
    let site = Site::start(gate, lab_with_sites("{}"), |_| {});
    let response = site.page("/page", "text/markdown");
    assert_eq!((response.header("content-type"), response.text()), (Some(HTML), page("")));
    assert_eq!((response.header("vary"), response.header("link")), (None, None));
    assert_eq!(response.header("etag"), Some(TAG));
}

fn the_logs_and_counters_show_what_became_of_each_request(gate: Filter) {
    let site = r#"{ "aiwebindex": { "document": { "md_paths": true } }, "filter_state": ["document"] }"#;
    let name = format!("{}.document", gate.state());
    let site = Site::start(gate, lab_with_sites(site), |listener| {
        let format = manager(listener).pointer_mut("/access_log/0/typed_config/log_format/json_format");
        *format.unwrap() = json!({
            "case": "%REQ(X-TEST-CASE)%",
            "document": format!("%FILTER_STATE({name}:PLAIN)%"),
            "path": "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%",
            "digest": "%TRAILER(REPR-DIGEST)%",
        });
    });
    let levels = ask(site.envoy.admin_port(), &Request::new("POST", "/logging?level=debug", "localhost"));
    assert_eq!(levels.status, 200, "{}", levels.text());
    let firefox =
        |accept| Request::get("/page").agent(crawlpike_tests::lab::FIREFOX).header("Accept", accept);
    for (case, request, expected) in [
        ("made", request("/page", "text/markdown"), Some("markdown")),
        ("path", request("/page.md?a", "*/*").header("X-Envoy-Original-Path", "/forged"), Some("markdown")),
        ("trailers", request("/trailers/1000", "text/markdown"), Some("markdown")),
        ("page with trailers", request("/trailers/1000", "text/html"), None),
        ("person", firefox(AIDOCUMENT), Some("aidocument")),
        ("browser", firefox("text/html"), None),
        ("private", request("/private", "text/markdown"), Some("private")),
        ("type", request("/text", "text/markdown"), Some("type")),
        ("status", request("/missing", "text/markdown"), Some("status")),
        ("size", request("/large", "text/markdown"), Some("size")),
        ("meta", request("/meta", "text/markdown"), Some("noindex")),
        ("cookie", request("/page", "text/markdown").header("Cookie", "a=b"), Some("credentials")),
        ("empty", request("/sized/0", "text/markdown"), Some("broken")),
        ("length", request("/cut", "text/markdown"), Some("broken")),
        ("chunks", request(&numbered_path(Way::PartOfChunks, 5, 9000), "text/markdown"), Some("broken")),
        ("reset", request(&numbered_path(Way::Reset, 5, 9000), "text/markdown"), Some("broken")),
        ("gone", request("/slow/2000000", "text/markdown"), Some("gone")),
    ] {
        let mut stream = TcpStream::connect(local(site.port)).unwrap();
        stream.write_all(&request.header("X-Test-Case", case).header("Connection", "close").bytes()).unwrap();
        if case == "gone" {
            thread::sleep(Duration::from_millis(100));
        } else {
            stream.read_to_end(&mut Vec::new()).unwrap();
        }
        drop(stream);
        let line = site.envoy.wait_for_line("access.log", &format!(r#""case":"{case}""#));
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["document"].as_str(), expected, "{case}: {line}");
        // The Wasm filter sends a response of Envoy's own, without the trailers that the log has.
        let has_digest = case == "page with trailers" || case == "trailers" && gate == Filter::Wasm;
        let digest = has_digest.then_some("sha-256=:AAAA:");
        assert_eq!(line["digest"].as_str(), digest, "{case}: {line}");
        assert!(case != "path" || line["path"] == "/page.md?a", "{line}");
    }
    let made = format!("crawlpike: markdown of a page: made, {} bytes in, ", page("").len());
    let line = site.envoy.wait_for_line("envoy.log", &made);
    assert!(line.contains("[debug]") && line.ends_with("example.com/page"), "{line}");
    for (outcome, count) in [("broken", 4), ("gone", 1)] {
        let series = format!(r#"crawlpike_documents_total{{form="markdown",outcome="{outcome}"}}"#);
        wait_for(&series, || (site.envoy.value(&series) == Some(count)).then_some(()));
    }
    let bytes = r#"crawlpike_document_bytes_total{form="markdown",direction="in"}"#;
    let read = 2 * page("").len() + story(1000).len();
    wait_for(bytes, || (site.envoy.value(bytes) == Some(read as u64)).then_some(()));
    assert!(site.envoy.value("crawlpike_document_microseconds_total{}").is_some());
    has_no_errors(&site);
}

fn has_no_errors(site: &Site) {
    let log = site.envoy.folder().read("envoy.log");
    assert!(!log.contains("internal error") && !log.contains("panicked"), "{log}");
}

for_both_gates!(
    aiwi_9_the_form_that_the_client_prefers,
    bodies_in_any_form_and_length,
    aiwi_21_tag_8_what_permits_no_document_stays_as_it_is,
    validators_are_those_of_the_form,
    the_markdown_of_a_page_has_a_path_of_its_own,
    the_origin_is_asked_for_codings_that_can_be_read,
    a_page_that_breaks_off_is_no_document,
    a_site_without_documents_sends_pages_as_they_are,
    the_logs_and_counters_show_what_became_of_each_request,
);
