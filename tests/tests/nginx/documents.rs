//! Documents: where the module is among nginx's filters, conditional requests, caches, and upstreams that break off.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;
use std::time::Duration;

use crawlpike_tests::http::{Request, Response};
use crawlpike_tests::nginx::{Folder, Nginx, ask};
use crawlpike_tests::page_origin::{self, Way, numbered, numbered_path};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use crawlpike_tests::serving::{Asked, serve};

const DOCUMENT: &str = r#"{
  "catalog": "none",
  "sites": [
    { "hosts": ["example.com"], "max_document_bytes": 300000, "aiwebindex": { "document": { "md_paths": true } } },
    { "hosts": ["small.test"], "max_document_bytes": 10000, "aiwebindex": { "document": true } },
    { "hosts": ["usage.test"], "aiwebindex": { "document": true },
      "usage": { "rules": [ { "scope": "/", "preferences": "train-ai=n" } ], "send": true,
                 "license": "https://example.com/license.xml" } },
    { "hosts": ["plain.test"] } ]
}"#;

const MARKDOWN: &str = "# Bread\n\nMix flour and [water](http://example.com/water), then wait.\n";

/// A page of about so many bytes.
fn page(end: &str, length: usize) -> String {
    let filling = "many words ".repeat(length / 11);
    let paragraph = if length > 0 { format!("<p>{filling}</p>") } else { String::new() };
    format!(
        "<title>Bread</title><nav><a href=/>Home</a></nav>\
         <main><h1>Bread</h1><p>Mix flour and <a href=/water>water</a>, {end}.</p>{paragraph}</main>"
    )
}

const LARGE: usize = 200_000;
const TOO_LARGE: usize = 400_000;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crawlpike.json", DOCUMENT);
    folder.write("www/page.html", page("then wait", 0));
    folder.write("www/folder/index.html", page("then wait", 0));
    folder.write("www/sub.html", page("REPLACED", 0));
    folder.write("www/ssi.html", page("<!--# include virtual=\"/part.txt\" -->", 0));
    folder.write("www/part.txt", "then wait");
    folder.write("www/large.html", page("then wait", LARGE));
    folder.write("www/too-large.html", page("then wait", TOO_LARGE));
    folder.write(
        "www/forbidden.html",
        format!("<head><meta name=robots content=nosnippet></head>{}", page("then wait", 0)),
    );
    folder
}

fn start(folder: Folder, upstream: u16) -> (Nginx, u16) {
    let (port, origin) = (free_port(), free_port());
    let http = format!(
        r#"
    crawlpike_config crawlpike.json;
    types {{ text/html html; text/plain txt; }}
    proxy_cache_path cache keys_zone=pages:1m;
    server {{
        listen 127.0.0.1:{origin};
        crawlpike off;
        root www;
        gzip on;
        gzip_min_length 1;
        gzip_proxied any;
    }}
    server {{
        listen 127.0.0.1:{port};
        root www;
        index index.html;
        location /search-no/ {{ alias www/; add_header Content-Usage search=n; }}
        location /sub.html {{ sub_filter REPLACED "then wait"; }}
        location /ssi.html {{ ssi on; }}
        location /gzip/ {{ alias www/; gzip on; gzip_min_length 1; gzip_types text/markdown; }}
        location /proxy/ {{ proxy_pass http://127.0.0.1:{origin}/; }}
        location /unbuffered/ {{ proxy_buffering off; proxy_pass http://127.0.0.1:{origin}/; }}
        location /cached/ {{ proxy_cache pages; proxy_cache_valid 1m; proxy_pass http://127.0.0.1:{origin}/; }}
        location /broken/ {{ proxy_pass http://127.0.0.1:{upstream}; }}
        location /broken-unbuffered/ {{ proxy_buffering off; proxy_pass http://127.0.0.1:{upstream}; }}
        location /slices/ {{ slice 64k; proxy_set_header Range $slice_range; proxy_pass http://127.0.0.1:{upstream}; }}
        location = /off.html {{ crawlpike off; alias www/page.html; }}
        location = /private.html {{ add_header Cache-Control private; alias www/page.html; }}
    }}"#
    );
    (Nginx::start(folder, &http), port)
}

fn get(path: &str, accept: &str) -> Request {
    Request::new("GET", path, "example.com").header("Accept", accept)
}

fn markdown(port: u16, path: &str) -> Response {
    ask(port, &get(path, "text/markdown"))
}

#[test]
fn aiwi_9_a_page_of_any_origin_becomes_markdown() {
    let (_nginx, port) = start(folder(), free_port());
    for path in [
        "/page.html",
        "/page.html.md",
        "/folder/index.md",
        "/sub.html",
        "/ssi.html",
        "/gzip/page.html",
        "/proxy/page.html",
        "/proxy/page.html.md",
        "/unbuffered/page.html",
        "/cached/page.html",
        "/cached/page.html",
    ] {
        for encoding in ["identity", "gzip"] {
            if path.starts_with("/gzip") && encoding == "gzip" {
                continue;
            }
            let response = ask(port, &get(path, "text/markdown").header("Accept-Encoding", encoding));
            assert_eq!((response.status, &*response.text()), (200, MARKDOWN), "{path} {encoding}");
            let header = |name| response.joined_header(name);
            assert_eq!(header("content-type").as_deref(), Some("text/markdown; charset=utf-8"), "{path}");
            assert_eq!(header("content-length"), Some(MARKDOWN.len().to_string()), "{path}");
            assert_eq!(header("x-markdown-tokens").as_deref(), Some("18"), "{path}");
            assert_eq!(header("vary").as_deref(), Some("Accept"), "{path}");
            assert!(header("etag").is_some_and(|etag| etag.starts_with("W/\"")), "{path}");
            for none in ["accept-ranges", "content-encoding", "link"] {
                assert_eq!(header(none), None, "{path} {none}");
            }
        }
    }
    let compressed = ask(port, &get("/gzip/page.html", "text/markdown").header("Accept-Encoding", "gzip"));
    assert_eq!(compressed.header("content-encoding"), Some("gzip"));
    let document: serde_json::Value =
        serde_json::from_slice(&ask(port, &get("/page.html", "application/vnd.aiwebindex+json")).body)
            .unwrap();
    assert_eq!(document["content"]["markdown"], MARKDOWN);
    assert_eq!(document["source"]["url"], "http://example.com/page.html");
    assert_eq!(document.get("usage"), None);
    for (status, is_asked) in [("miss", true), ("hit", false)] {
        let request = get("/cached/page.html?once", "application/vnd.aiwebindex+json");
        let document: serde_json::Value = serde_json::from_slice(&ask(port, &request).body).unwrap();
        let cache =
            serde_json::json!({ "status": status, "origin_contacted": is_asked, "body_fetched": is_asked });
        assert_eq!(document["cache"], cache);
    }
}

#[test]
fn use_8_use_10_an_aidocument_says_what_may_be_done_with_it() {
    let (_nginx, port) = start(folder(), free_port());
    for (path, preferences) in
        [("/page.html", "train-ai=n"), ("/search-no/page.html", "search=n, train-ai=n")]
    {
        let request =
            Request::new("GET", path, "usage.test").header("Accept", "application/vnd.aiwebindex+json");
        let response = ask(port, &request);
        let document: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
        let licenses = ["https://example.com/license.xml"];
        assert_eq!(
            document["usage"],
            serde_json::json!({ "preferences": preferences, "licenses": licenses })
        );
        assert_eq!(response.joined_header("content-usage").as_deref(), Some(preferences));
    }
}

#[test]
fn large_pages_are_converted_and_larger_ones_stay_as_they_are() {
    let (_nginx, port) = start(folder(), free_port());
    for folder in ["", "/proxy", "/unbuffered", "/cached"] {
        let large = markdown(port, &format!("{folder}/large.html"));
        assert!(large.text().starts_with("# Bread\n") && large.body.len() > LARGE, "{folder}");
        let too_large = markdown(port, &format!("{folder}/too-large.html"));
        assert_eq!(too_large.text(), page("then wait", TOO_LARGE), "{folder}");
        assert_eq!(too_large.joined_header("vary").as_deref(), Some("Accept"));
    }
}

/// nginx then passes some buffers at once, of which the first ones fit.
#[test]
fn a_page_of_unknown_length_that_is_too_large_is_whole() {
    let (nginx, port) = start(folder(), page_origin::start());
    for (number, way) in [Way::Chunked, Way::UntilClose, Way::Gzip].into_iter().cycle().take(30).enumerate() {
        for folder in ["/broken", "/broken-unbuffered"] {
            let path = format!("{folder}{}", numbered_path(way, number, 40_000));
            let request = Request::new("GET", &path, "small.test").header("Accept", "text/markdown");
            let response = ask(port, &request);
            assert!(response.body == way.body(&numbered(number, 40_000)), "{path}");
        }
    }
    // The origin answers with the head of the request.
    let request = Request::new("GET", "/broken/head", "small.test").header("Accept", "text/markdown");
    let head = ask(port, &request.header("Accept-Encoding", "zstd, gzip")).text();
    assert!(head.contains("Accept-Encoding: gzip") && !head.contains("zstd"), "{head}");
    assert!(!nginx.folder().read("error.log").contains("[alert]"));
}

#[test]
fn tag_8_a_page_that_permits_no_document_stays_as_it_is() {
    let (_nginx, port) = start(folder(), free_port());
    let is_page = |request: &Request| {
        let response = ask(port, request);
        assert!(
            response.header("content-type").is_some_and(|kind| kind.starts_with("text/html")),
            "{response:?}"
        );
        assert!(response.text().ends_with("</main>"), "{response:?}");
        response
    };
    let agent = |path: &str| get(path, "text/markdown");
    is_page(&agent("/forbidden.html"));
    is_page(&agent("/private.html"));
    is_page(&agent("/off.html"));
    is_page(&agent("/page.html").header("Authorization", "Basic eDp5"));
    is_page(&Request::new("GET", "/page.html", "plain.test").header("Accept", "text/markdown"));
    let browser = is_page(&get("/page.html", "text/html,*/*;q=0.8"));
    assert_eq!(browser.header("vary"), Some("Accept"));
    assert_eq!(browser.header("link"), Some("</page.html.md>; rel=\"alternate\"; type=\"text/markdown\""));
    assert_eq!(browser.header("accept-ranges"), Some("bytes"));
    let part = ask(port, &get("/page.html", "text/html").header("Range", "bytes=0-6"));
    assert_eq!((part.status, &*part.text()), (206, "<title>"));
    let whole = ask(port, &get("/page.html", "text/markdown").header("Range", "bytes=0-6"));
    assert_eq!((whole.status, &*whole.text()), (200, MARKDOWN));
    let text = markdown(port, "/part.txt");
    assert_eq!((&*text.text(), text.header("vary")), ("then wait", None));
    assert_eq!(markdown(port, "/missing.html").status, 404);
}

/// nginx chooses the location by the path of the page, and the location can have a site of its own, which serves no markdown.
#[test]
fn the_markdown_of_a_page_gets_past_no_rule_of_another_site() {
    let (folder, port) = (folder(), free_port());
    let robots = r#"{ "name": "closed", "hosts": ["closed.test"], "robots_txt": "robots.txt" },"#;
    let document = DOCUMENT.replacen('{', r#"{ "mode": "enforce", "agents": [ { "token": "FreeBot" } ],"#, 1);
    folder.write("crawlpike.json", document.replace(r#""sites": ["#, &format!(r#""sites": [ {robots}"#)));
    folder.write("robots.txt", "User-agent: *\nDisallow: /page.html$\n");
    let http = format!(
        r#"
    crawlpike_config crawlpike.json;
    server {{
        listen 127.0.0.1:{port};
        root www;
        location = /page.html {{ crawlpike_site closed; }}
    }}"#
    );
    let _nginx = Nginx::start(folder, &http);
    let status = |path: &str| ask(port, &get(path, "text/markdown").agent("FreeBot/1.0")).status;
    assert_eq!(["/page.html", "/page.html.md", "/folder/index.md"].map(status), [403, 403, 200]);
}

#[test]
fn a_document_has_a_tag_of_its_own_that_leads_to_a_304() {
    let (_nginx, port) = start(folder(), free_port());
    for path in [
        "/page.html",
        "/proxy/page.html",
        "/unbuffered/page.html",
        "/cached/page.html",
        "/ssi.html",
        "/large.html",
    ] {
        let etag = markdown(port, path).header("etag").unwrap().to_owned();
        let again = |accept, etag: &str| ask(port, &get(path, accept).header("If-None-Match", etag));
        let known = again("text/markdown", &etag);
        assert_eq!((known.status, known.header("etag"), known.body.len()), (304, Some(&*etag), 0), "{path}");
        // A page without a tag is read all the same.
        let vary = if path == "/ssi.html" { "Accept" } else { "Accept, User-Agent" };
        assert_eq!(known.header("vary"), Some(vary), "{path}");
        // In another form, the client does not have it.
        assert_eq!(again("application/vnd.aiwebindex+json", &etag).status, 200, "{path}");
        assert_eq!(again("text/html", &etag).status, 200, "{path}");
        if let Some(page) = ask(port, &get(path, "text/html")).header("etag").map(str::to_owned) {
            assert_eq!(again("text/markdown", &page).status, 200, "{path}");
            assert_eq!(again("text/html", &page).status, 304, "{path}");
        }
    }
    let head =
        ask(port, &Request::new("HEAD", "/page.html", "example.com").header("Accept", "text/markdown"));
    assert_eq!(head.header("content-type"), Some("text/markdown; charset=utf-8"));
    assert_eq!(head.header("content-length"), None);
    assert_eq!(head.header("etag"), markdown(port, "/page.html").header("etag"));
}

/// An origin that breaks off in the middle of each page: its path says how.
fn break_off(mut stream: &TcpStream) -> std::io::Result<()> {
    let asked = Asked::read(&mut stream)?;
    let (is, page) = (|word| asked.target.contains(word), page("then wait", LARGE));
    let half = &page[..page.len() / 2];
    if let Some(range) = asked.header("range") {
        return break_off_slice(stream, range, &page, is("head"));
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n")?;
    if is("chunked") {
        return write!(stream, "Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{half}\r\n", half.len());
    }
    write!(stream, "Content-Length: {}\r\n\r\n{half}", page.len())?;
    if is("until-left") {
        let _ = stream.read(&mut [0])?;
    }
    Ok(())
}

/// Sends a slice of a page. Of the second one comes nothing, or half.
fn break_off_slice(
    mut stream: &TcpStream,
    range: &str,
    page: &str,
    is_without_head: bool,
) -> std::io::Result<()> {
    let (start, end) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-')).unwrap();
    let (start, end) = (start.parse::<usize>().unwrap(), end.parse::<usize>().unwrap().min(page.len() - 1));
    let is_second = (1..=SLICE).contains(&start);
    if is_second && is_without_head {
        return Ok(());
    }
    let slice = &page[start..=end];
    write!(
        stream,
        "HTTP/1.1 206 A\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: {}\r\n\
         Content-Range: bytes {start}-{end}/{}\r\n\r\n{}",
        slice.len(),
        page.len(),
        &slice[..if is_second { slice.len() / 2 } else { slice.len() }]
    )
}

/// In bytes.
const SLICE: usize = 64 << 10;

#[test]
fn a_page_that_breaks_off_is_sent_as_far_as_it_came() {
    let (nginx, port) = start(folder(), serve(break_off).port());
    for path in [
        "/broken/length",
        "/broken/chunked",
        "/broken-unbuffered/length",
        "/broken-unbuffered/chunked",
        "/slices/head",
        "/slices/half",
    ] {
        for accept in ["text/markdown", "text/html"] {
            // Without a document, nginx does not end the connection after slices of which a part is missing.
            let is_kept = path == "/slices/half" && accept == "text/markdown";
            let request =
                get(path, accept).header("Connection", if is_kept { "keep-alive" } else { "close" });
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
            stream.write_all(&request.bytes()).unwrap();
            let mut received = Vec::new();
            stream.read_to_end(&mut received).unwrap();
            let received = String::from_utf8_lossy(&received);
            assert!(
                received.contains("text/html") && received.contains("<title>Bread</title>"),
                "{path} {accept}"
            );
            let is_cut = path == "/slices/half" || !received.contains("</main>");
            assert!(is_cut && !received.contains("# Bread"), "{path} {accept}");
            assert!((SLICE..LARGE).contains(&received.len()), "{path} {accept}: {}", received.len());
        }
    }
    // The worker goes on.
    assert_eq!(markdown(port, "/page.html").text(), MARKDOWN);
    let log = nginx.folder().read("error.log");
    assert!(!log.contains("exited on signal") && !log.contains("[alert]"), "{log}");
}

/// Each line of the access log is about one request.
fn logged(nginx: &Nginx, lines: usize) -> Vec<String> {
    wait_for("the access log", || {
        let log = nginx.folder().read("documents.log");
        let all: Vec<String> = log.lines().map(str::to_owned).collect();
        (all.len() == lines).then_some(all)
    })
}

#[test]
fn the_logs_and_counters_show_what_became_of_each_request() {
    let (port, counters, upstream) = (free_port(), free_port(), serve(break_off).port());
    let http = format!(
        r#"
    crawlpike_config crawlpike.json;
    types {{ text/html html; text/plain txt; }}
    log_format documents '$crawlpike_document';
    server {{
        listen 127.0.0.1:{port};
        root www;
        access_log documents.log documents;
        error_log debug.log debug;
        location /broken/ {{ proxy_pass http://127.0.0.1:{upstream}; }}
        location /slices/ {{ slice 64k; proxy_set_header Range $slice_range; proxy_pass http://127.0.0.1:{upstream}; }}
        location = /private.html {{ add_header Cache-Control private; alias www/page.html; }}
        location = /chosen {{ error_page 404 = /page.html; return 404; }}
    }}
    server {{ listen 127.0.0.1:{counters}; location / {{ crawlpike_status; }} }}"#
    );
    let folder = folder();
    folder.write(
        "www/thin.html",
        "<title>Bread</title><div id=root>Loading…</div><script src=/app.js></script>",
    );
    let nginx = Nginx::start(folder, &http);
    let aidocument = "application/vnd.aiwebindex+json";
    let person = |path, accept| get(path, accept).agent("Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0");
    let asked = [
        (get("/page.html", "text/markdown"), "markdown"),
        (person("/page.html", aidocument), "aidocument"),
        (get("/large.html", "text/markdown"), "markdown"),
        (get("/chosen", "text/markdown"), "markdown"),
        (Request::new("HEAD", "/page.html", "example.com").header("Accept", "text/markdown"), "markdown"),
        (get("/page.html", "text/html"), "-"),
        (get("/thin.html", "text/markdown"), "thin"),
        (get("/too-large.html", "text/markdown"), "size"),
        (get("/part.txt", "text/markdown"), "type"),
        (get("/none.html", "text/markdown"), "status"),
        (get("/private.html", "text/markdown"), "private"),
        (person("/page.html", "text/markdown").header("Cookie", "a=b"), "credentials"),
        (get("/forbidden.html", "text/markdown"), "nosnippet"),
        (Request::new("GET", "/page.html", "plain.test").header("Accept", "text/markdown"), "-"),
    ];
    for (number, (request, expected)) in asked.iter().enumerate() {
        ask(port, request);
        assert_eq!(logged(&nginx, number + 1)[number], *expected, "{request:?}");
    }
    let broken = [
        ("/broken/length", "broken"),
        ("/slices/head", "broken"),
        ("/slices/half", "broken"),
        ("/broken/until-left", "gone"),
    ];
    for (number, (path, expected)) in broken.into_iter().enumerate() {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream.write_all(&get(path, "text/markdown").bytes()).unwrap();
        match expected {
            "gone" => thread::sleep(Duration::from_millis(100)),
            _ => drop(stream.read_to_end(&mut Vec::new()).unwrap()),
        }
        drop(stream);
        assert_eq!(logged(&nginx, asked.len() + number + 1)[asked.len() + number], expected, "{path}");
        let line = format!("crawlpike: markdown of a page: {expected}, 0 bytes in, 0 bytes out, ");
        let debug = nginx.folder().read("debug.log");
        assert!(debug.lines().any(|entry| entry.contains(&line) && entry.ends_with(path)), "{path}");
    }

    let debug = nginx.folder().read("debug.log");
    let line = debug.lines().find(|line| line.contains("crawlpike: markdown of a page: made, ")).unwrap();
    let (page, document) = (page("then wait", 0).len(), MARKDOWN.len());
    assert!(line.contains(&format!("made, {page} bytes in, {document} bytes out, ")), "{line}");
    assert!(line.contains("[debug]") && line.ends_with("http://example.com/page.html"), "{line}");
    let count = |series: &str| {
        let text = ask(counters, &Request::get("/")).text();
        let value =
            text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse::<usize>().ok());
        value.unwrap_or_else(|| panic!("{series}: {text}"))
    };
    for (outcome, expected) in [("made", 4), ("broken", 3), ("gone", 1)] {
        let series = format!(r#"crawlpike_documents_total{{form="markdown",outcome="{outcome}"}}"#);
        assert_eq!(count(&series), expected, "{outcome}");
    }
    let bytes = |direction| {
        count(&format!(r#"crawlpike_document_bytes_total{{form="markdown",direction="{direction}"}}"#))
    };
    assert!(bytes("in") > LARGE && bytes("out") > LARGE && bytes("in") > bytes("out"));
    assert!(count("crawlpike_document_microseconds_total") > 0);
}
