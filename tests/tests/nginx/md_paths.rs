//! The markdown of a page at a path of its own: which settings decide, and when nginx evaluates them.

use crawlpike_tests::http::{Request, Response};
use crawlpike_tests::nginx::{Folder, Nginx, ask};
use crawlpike_tests::ports::free_port;

const DOCUMENT: &str = r#"{ "catalog": "none",
    "sites": [ { "hosts": ["example.com"], "aiwebindex": { "document": { "md_paths": true } } } ] }"#;

fn start(http: &str) -> Nginx {
    let folder = Folder::new();
    folder.write("crawlpike.json", DOCUMENT);
    for path in ["page.html", "files/page.html"] {
        folder.write(&format!("www/{path}"), "<title>Bread</title><h1>Bread</h1><p>Mix flour and water.</p>");
    }
    folder.write("www/files/page.html.md", "a file");
    let http = format!("crawlpike_config crawlpike.json; types {{ text/html html; }} root www; {http}");
    Nginx::start(folder, &http)
}

fn get(path: &str) -> Request {
    Request::new("GET", path, "example.com")
}

fn is_markdown(response: &Response) -> bool {
    response.header("content-type") == Some("text/markdown; charset=utf-8")
}

#[test]
fn the_server_decides() {
    let (on, off) = (free_port(), free_port());
    let _nginx = start(&format!(
        "server {{ listen 127.0.0.1:{on}; location /files/ {{ crawlpike off; }} }}
        server {{ listen 127.0.0.1:{off}; crawlpike off; location / {{ crawlpike enforce; }} location /files/ {{ }} }}"
    ));
    let page = ask(on, &get("/page.html"));
    assert_eq!(page.header("link"), Some("</page.html.md>; rel=\"alternate\"; type=\"text/markdown\""));
    assert!(is_markdown(&ask(on, &get("/page.html.md"))));
    // The location of the page is one without documents.
    assert!(ask(on, &get("/files/page.html.md")).text().starts_with("<title>"));
    // Nothing is announced that is not there.
    let page = ask(off, &get("/page.html").header("Accept", "text/markdown"));
    assert!(is_markdown(&page), "{page:?}");
    assert_eq!(ask(off, &get("/page.html")).header("link"), None);
    assert_eq!(ask(off, &get("/page.html.md")).status, 404);
    assert_eq!(ask(off, &get("/files/page.html.md")).text(), "a file");
}

#[test]
fn variables_have_the_values_that_they_have_without_it() {
    let port = free_port();
    let nginx = start(&format!(
        "map $mode$area$remote_addr $by_address {{ observe203.0.113.9 off; default enforce; }}
        server {{
            listen 127.0.0.1:{port};
            set_real_ip_from 127.0.0.1;
            real_ip_header X-Forwarded-For;
            set $mode observe;
            set $area \"\";
            add_header X-Address $remote_addr;
            add_header X-Mode $by_address;
            crawlpike $by_address;
            location /files/ {{ set $area private; crawlpike $by_address; }}
        }}"
    ));
    for address in ["203.0.113.9", "203.0.113.10"] {
        let asked = |path| ask(port, &get(path).header("X-Forwarded-For", address));
        let page = asked("/page.html");
        assert_eq!((page.status, page.header("x-address")), (200, Some(address)));
        // A mode in a variable counts as one that is not `off` for the path, and as it is for the response.
        let by_markdown = asked("/page.html.md");
        assert_eq!((by_markdown.status, is_markdown(&by_markdown)), (200, address != "203.0.113.9"));
        assert_eq!(by_markdown.header("x-mode"), page.header("x-mode"), "{address}");
        let private = asked("/files/page.html.md");
        assert!(is_markdown(&private) && private.header("x-mode") == Some("enforce"), "{private:?}");
    }
    let log = nginx.folder().read("error.log");
    assert!(!log.contains("uninitialized"), "{log}");
}

#[test]
fn a_path_of_markdown_gets_past_no_refusal() {
    for (server, refused) in
        [("crawlpike off;", "crawlpike enforce;"), ("", "crawlpike off;"), ("crawlpike $mode;", "")]
    {
        let port = free_port();
        let _nginx = start(&format!(
            "map $args $mode {{ x off; default enforce; }}
            server {{
                listen 127.0.0.1:{port};
                {server}
                error_page 403 @refused;
                error_page 503 /refused;
                if ($args = no) {{ return 403; }}
                if ($args = later) {{ return 503; }}
                location / {{ }}
                location = /refused {{ {refused} return 200 refused; }}
                location @refused {{ {refused} return 200 refused; }}
            }}"
        ));
        for path in ["/page.html", "/files/page.html"] {
            for query in ["no", "later"] {
                let text = ask(port, &get(&format!("{path}.md?{query}"))).text();
                assert_eq!(text, "refused", "{server} {refused} {path} {query}");
            }
        }
    }
}

/// nginx has resolved the segments of the path before.
#[test]
fn a_path_of_markdown_leads_out_of_no_folder() {
    let (upstream, port) = (free_port(), free_port());
    let _nginx = start(&format!(
        "server {{ listen 127.0.0.1:{upstream}; crawlpike off; return 200 $request_uri; }}
        server {{ listen 127.0.0.1:{port}; location /open/ {{ proxy_pass http://127.0.0.1:{upstream}; }} }}"
    ));
    for path in ["/open/...md", "/open/..md", "/open/%2e%2e.md", "/open/a%2F...md", "/open/a%2f.%2E.md"] {
        assert_eq!(ask(port, &get(path)).text(), path);
    }
}
