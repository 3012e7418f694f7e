//! Policies that nginx serves for us, among what else a configuration does to responses. The rest is in the table.

use std::fs::File;
use std::time::{Duration, SystemTime};

use crawlpike_tests::http::{Connection, Request, Response};
use crawlpike_tests::lab::{HTTP, lab_with_robots};
use crawlpike_tests::nginx::{Nginx, ask, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;

const ROBOTS: &str = "User-agent: *\nDisallow: /closed\n";

fn start(server: &str) -> (Nginx, u16) {
    let (folder, port) = (lab_with_robots(ROBOTS), free_port());
    let file = File::options().write(true).open(folder.path().join("robots.txt")).unwrap();
    // The example of RFC 9110.
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)).unwrap();
    let http = format!("{HTTP} server {{ listen 127.0.0.1:{port}; root .; {server} }}");
    (Nginx::start(folder, &http), port)
}

fn robots() -> Request {
    Request::get("/robots.txt").agent("FreeBot/1.0")
}

fn etag(response: &Response) -> String {
    response.header("etag").unwrap_or_else(|| panic!("no tag: {response:?}")).to_owned()
}

#[test]
fn the_file_tells_its_date() {
    let (_nginx, port) = start("");
    let response = ask(port, &robots());
    assert_eq!(response.header("last-modified"), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
    assert_eq!(response.text(), ROBOTS);
}

#[test]
fn another_text_has_another_tag_after_a_reload() {
    let (nginx, port) = start("");
    let old = etag(&ask(port, &robots()));
    nginx.folder().write("robots.txt", "User-agent: *\n");
    nginx.reload();
    let revalidate = robots().header("If-None-Match", &old);
    let response = wait_for("the new policy", || {
        let response = ask(port, &revalidate);
        (response.status == 200).then_some(response)
    });
    assert_eq!(response.text(), "User-agent: *\n");
    assert_ne!(etag(&response), old);
}

#[test]
fn tags_in_several_lines_are_refused_by_nginx_itself() {
    let (_nginx, port) = start("");
    for name in ["If-None-Match", "If-Match"] {
        assert_eq!(ask(port, &robots().header(name, "\"a\"").header(name, "\"b\"")).status, 400);
    }
}

#[test]
fn a_compressed_policy_has_a_weak_tag_which_is_known_again() {
    let (_nginx, port) = start("gzip on; gzip_types text/plain; gzip_min_length 1; gzip_vary on;");
    let plain = ask(port, &robots());
    let tag = etag(&plain);
    assert!(tag.starts_with('"'), "{tag}");
    let zipped = ask(port, &robots().header("Accept-Encoding", "gzip"));
    assert_eq!(zipped.header("content-encoding"), Some("gzip"));
    assert_eq!(etag(&zipped), format!("W/{tag}"));
    assert_ne!(zipped.body, plain.body);
    for tag in [tag.clone(), format!("W/{tag}")] {
        for request in [robots(), robots().header("Accept-Encoding", "gzip")] {
            let response = ask(port, &request.header("If-None-Match", &tag));
            assert_eq!((response.status, response.body.len()), (304, 0));
            assert_eq!(response.header("content-encoding"), None);
        }
    }
}

#[test]
fn expires_takes_the_place_of_our_lifetime() {
    let (_nginx, port) = start("location = /robots.txt { expires 1d; add_header X-More yes; }");
    let response = ask(port, &robots());
    assert_eq!(response.joined_header("cache-control").as_deref(), Some("max-age=86400"));
    assert_eq!(response.header("x-more"), Some("yes"));
    assert_eq!(
        ask(port, &robots().header("If-None-Match", "*")).joined_header("cache-control"),
        response.joined_header("cache-control")
    );
    // A denial is none of the statuses that `expires` is for.
    let denied = ask(port, &Request::get("/closed").agent("FreeBot/1.0"));
    assert_eq!(denied.joined_header("cache-control").as_deref(), Some("no-store"));
}

#[test]
fn the_charset_is_told_once() {
    let (_nginx, port) = start("charset utf-8; charset_types text/plain application/problem+json;");
    let response = ask(port, &robots());
    assert_eq!(response.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(response.text(), ROBOTS);
}

#[test]
fn a_filter_that_changes_the_text_removes_what_tells_the_old_one() {
    let (_nginx, port) = start("sub_filter_types text/plain; sub_filter closed open;");
    let response = ask(port, &robots());
    assert_eq!(response.text(), ROBOTS.replace("closed", "open"));
    assert_eq!(response.header("last-modified"), None);
    assert!(response.header("etag").is_none_or(|tag| tag.starts_with("W/")), "{response:?}");
}

#[test]
fn a_connection_is_usable_after_what_has_no_body() {
    let (_nginx, port) = start("");
    let mut connection = Connection::open(local(port)).unwrap();
    let head = Request::new("HEAD", "/robots.txt", "example.com");
    for _ in 0..3 {
        assert_eq!(connection.send(&robots().header("If-None-Match", "*")).unwrap().status, 304);
        assert_eq!(connection.send(&robots().header("If-Match", "\"other\"")).unwrap().status, 412);
        assert_eq!(connection.send(&head).unwrap().status, 200);
        assert_eq!(connection.send(&robots()).unwrap().text(), ROBOTS);
    }
}

#[test]
fn an_error_page_is_for_errors_only() {
    let (nginx, port) = start(
        "error_page 304 412 /page.html;
        location = /page.html { internal; }",
    );
    nginx.folder().write("page.html", "our own page");
    let response = ask(port, &robots().header("If-None-Match", "*"));
    assert_eq!((response.status, response.text().as_str()), (304, ""));
    let response = ask(port, &robots().header("If-Match", "\"other\""));
    assert_eq!((response.status, response.text().as_str()), (412, "our own page"));
}
