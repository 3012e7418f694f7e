//! The markdown of a page at a path of its own: which settings decide, and when nginx evaluates them.

use crawlpike_tests::http::{Request, Response};
use crawlpike_tests::nginx::{Folder, Nginx, ask};
use crawlpike_tests::ports::free_port;

const DOCUMENT: &str = r#"{ "catalog": "none",
    "sites": [ { "hosts": ["example.com"], "aiwebindex": { "document": { "md_paths": true } } } ] }"#;

fn start(http: &str) -> Nginx {
    let folder = Folder::new();
    folder.write("crawlpike.json", DOCUMENT);
    for path in ["page.html", "files/page.html", "moved.html"] {
        folder.write(&format!("www/{path}"), "<title>Bread</title><h1>Bread</h1><p>Mix flour and water.</p>");
    }
    for path in ["files/page.html.md", "moved.html.md"] {
        folder.write(&format!("www/{path}"), "a file");
    }
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
fn the_location_of_the_page_decides() {
    let (upstream, port) = (free_port(), free_port());
    let _nginx = start(&format!(
        "server {{ listen 127.0.0.1:{upstream}; crawlpike off; return 200 $request_uri; }}
        server {{
            listen 127.0.0.1:{port};
            location /files/ {{ crawlpike off; }}
            location = /moved.html {{ crawlpike off; return 410; }}
            location /up/ {{ crawlpike off; proxy_pass http://127.0.0.1:{upstream}; }}
        }}"
    ));
    assert!(is_markdown(&ask(port, &get("/page.html.md"))));
    for path in ["/files/page.html.md", "/files/page.html.md?a", "/moved.html.md"] {
        let response = ask(port, &get(path));
        assert_eq!((response.status, &*response.text()), (200, "a file"), "{path}");
    }
    let as_it_was_sent = "/up/a%2Fb//c.md?d";
    assert_eq!(&*ask(port, &get(as_it_was_sent)).text(), as_it_was_sent);
}

#[test]
fn a_location_serves_markdown_where_its_server_is_off() {
    let port = free_port();
    let _nginx = start(&format!(
        "server {{
            listen 127.0.0.1:{port};
            crawlpike off;
            location / {{ crawlpike enforce; }}
            location /files/ {{ }}
        }}"
    ));
    let page = ask(port, &get("/page.html"));
    assert_eq!(page.header("link"), Some("</page.html.md>; rel=\"alternate\"; type=\"text/markdown\""));
    assert!(is_markdown(&ask(port, &get("/page.html.md"))));
    assert_eq!(ask(port, &get("/files/page.html")).header("link"), None);
    assert_eq!(&*ask(port, &get("/files/page.html.md")).text(), "a file");
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

/// nginx comes to a location for errors before any other one, and must not leave it.
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
        for path in ["/page.html", "/files/page.html", "/moved.html"] {
            for query in ["no", "later"] {
                let text = ask(port, &get(&format!("{path}.md?{query}"))).text();
                assert_eq!(text, "refused", "{server} {refused} {path} {query}");
            }
        }
    }
}

#[test]
fn a_path_that_comes_back_has_the_query_that_nginx_set() {
    let (upstream, port) = (free_port(), free_port());
    let _nginx = start(&format!(
        "server {{ listen 127.0.0.1:{upstream}; crawlpike off; return 200 $request_uri; }}
        server {{
            listen 127.0.0.1:{port};
            if ($arg_key) {{ set $args without; }}
            location / {{ crawlpike off; proxy_pass http://127.0.0.1:{upstream}; }}
        }}"
    ));
    for (sent, passed_on) in [("/a%2Fb.md?x", "/a%2Fb.md?x"), ("/a%2Fb.md?key=1", "/a/b.md?without")] {
        assert_eq!(ask(port, &get(sent)).text(), passed_on);
    }
}
