//! Policies that Envoy serves for us. The rest is in the table.

use crawlpike_tests::envoy::{Filter, Gate};
use crawlpike_tests::http::{Connection, Request};
use crawlpike_tests::lab::lab_with_robots;
use crawlpike_tests::nginx::local;

const ROBOTS: &str = "User-agent: *\nDisallow: /closed\n";

fn robots() -> Request {
    Request::get("/robots.txt").agent("FreeBot/1.0")
}

fn the_file_tells_its_date_and_tags_may_come_in_several_lines(filter: Filter) {
    let gate = Gate::start(filter, lab_with_robots(ROBOTS));
    let response = gate.ask(&robots());
    let date = response.header("last-modified").expect("the date of the file");
    assert!(date.ends_with(" GMT"), "{date}");
    assert_eq!(gate.status(&robots().header("If-Modified-Since", date)), 304);
    let tag = response.header("etag").expect("a tag");
    let lines = |name: &str| robots().header(name, "\"a\"").header(name, "\"b\", \"c\"").header(name, tag);
    assert_eq!(gate.status(&lines("If-None-Match")), 304);
    assert_eq!(gate.status(&lines("If-Match")), 200);
    let others = robots().header("If-Match", "\"a\"").header("If-Match", "\"b\"");
    assert_eq!(gate.status(&others), 412);
}

fn a_connection_is_usable_after_what_has_no_body(filter: Filter) {
    let gate = Gate::start(filter, lab_with_robots(ROBOTS));
    let mut connection = Connection::open(local(gate.port)).unwrap();
    let head = Request::new("HEAD", "/robots.txt", "example.com");
    for _ in 0..3 {
        assert_eq!(connection.send(&robots().header("If-None-Match", "*")).unwrap().status, 304);
        assert_eq!(connection.send(&robots().header("If-Match", "\"other\"")).unwrap().status, 412);
        assert_eq!(connection.send(&head).unwrap().status, 200);
        assert_eq!(connection.send(&robots()).unwrap().text(), ROBOTS);
    }
}

for_both_gates!(
    the_file_tells_its_date_and_tags_may_come_in_several_lines,
    a_connection_is_usable_after_what_has_no_body
);
