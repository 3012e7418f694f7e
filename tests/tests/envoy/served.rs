//! Policies that Envoy serves for us. The rest is in the table.

use crawlward_tests::envoy::{Envoy, Listener, static_filter};
use crawlward_tests::http::{Connection, Request};
use crawlward_tests::lab::{DOCUMENT, lab};
use crawlward_tests::nginx::{ask, local};
use crawlward_tests::origin::start_echo;
use crawlward_tests::ports::free_port;

const ROBOTS: &str = "User-agent: *\nDisallow: /closed\n";

fn start() -> (Envoy, u16) {
    let (folder, port) = (lab(), free_port());
    let site = r#""sites": [ { "robots_txt": "robots.txt" } ], "catalog""#;
    folder.write("crawlward.json", DOCUMENT.replace(r#""catalog""#, site));
    folder.write("robots.txt", ROBOTS);
    let filter = static_filter(&folder, &folder.path().join("crawlward.json"));
    let listener = Listener { port, filter, access_log: "access.log".into() };
    (Envoy::start(folder, &[listener], start_echo().port()), port)
}

fn robots() -> Request {
    Request::get("/robots.txt").agent("FreeBot/1.0")
}

#[test]
fn the_file_tells_its_date_and_tags_may_come_in_several_lines() {
    let (_envoy, port) = start();
    let response = ask(port, &robots());
    let date = response.header("last-modified").expect("the date of the file");
    assert!(date.ends_with(" GMT"), "{date}");
    assert_eq!(ask(port, &robots().header("If-Modified-Since", date)).status, 304);
    let tag = response.header("etag").expect("a tag");
    let lines = |name: &str| robots().header(name, "\"a\"").header(name, "\"b\", \"c\"").header(name, tag);
    assert_eq!(ask(port, &lines("If-None-Match")).status, 304);
    assert_eq!(ask(port, &lines("If-Match")).status, 200);
    let others = robots().header("If-Match", "\"a\"").header("If-Match", "\"b\"");
    assert_eq!(ask(port, &others).status, 412);
}

#[test]
fn a_connection_is_usable_after_what_has_no_body() {
    let (_envoy, port) = start();
    let mut connection = Connection::open(local(port)).unwrap();
    let head = Request::new("HEAD", "/robots.txt", "example.com");
    for _ in 0..3 {
        assert_eq!(connection.send(&robots().header("If-None-Match", "*")).unwrap().status, 304);
        assert_eq!(connection.send(&robots().header("If-Match", "\"other\"")).unwrap().status, 412);
        assert_eq!(connection.send(&head).unwrap().status, 200);
        assert_eq!(connection.send(&robots()).unwrap().text(), ROBOTS);
    }
}
