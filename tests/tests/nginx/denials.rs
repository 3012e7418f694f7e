//! The response to a denied client, and the settings that cannot change it.

use std::time::Instant;

use crawlpike_tests::http::{Connection, Request, send_bytes};
use crawlpike_tests::lab::{ADDRESS_HEADER, FIREFOX, HTTP, lab, lab_with_robots, person, spoofed, verified};
use crawlpike_tests::nginx::{Nginx, Setup, ask, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;

const FILE: &str = "root .; location / { try_files /lab.txt =404; }";

fn start(server: &str) -> (Nginx, u16) {
    let port = free_port();
    let folder = lab();
    folder.write("denied.html", "our own page");
    // user: crawler, password: secret
    folder.write("passwords", "crawler:{PLAIN}secret\n");
    let http = format!("{HTTP} server {{ listen 127.0.0.1:{port}; {server} }}");
    (Nginx::start(folder, &http), port)
}

fn with_password(request: Request) -> Request {
    request.header("Authorization", "Basic Y3Jhd2xlcjpzZWNyZXQ=")
}

#[test]
fn a_denial_is_a_problem_document_that_no_cache_keeps() {
    let (_nginx, port) = start(FILE);
    let response = ask(port, &spoofed("/a?b"));
    assert_eq!(response.status, 403);
    assert_eq!(response.header("content-type"), Some("application/problem+json"));
    assert_eq!(response.header("cache-control"), Some("no-store"));
    assert_eq!(response.header("content-length"), Some(response.body.len().to_string().as_str()));
    let problem: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(problem["status"], 403);
    assert_eq!(problem["title"], "Forbidden");
    assert_eq!(problem["reason"], "spoofed-agent");
}

#[test]
fn a_connection_is_usable_after_denials() {
    let (_nginx, port) = start(FILE);
    let mut connection = Connection::open(local(port)).unwrap();
    let as_spoofed = |method| {
        Request::new(method, "/", "example.com").agent("LabBot/1.0").header(ADDRESS_HEADER, "203.0.113.9")
    };
    let length = ask(port, &spoofed("/")).header("content-length").map(str::to_owned);
    for _ in 0..3 {
        let head = connection.send(&as_spoofed("HEAD")).unwrap();
        assert_eq!((head.status, head.body.len()), (403, 0));
        assert_eq!(head.header("content-length").map(str::to_owned), length);
        // Larger than any buffer: nginx has to read it, and must not take it for the next request.
        let post = connection.send(&as_spoofed("POST").body(&vec![b'x'; 300_000])).unwrap();
        assert_eq!(post.denial_reason().as_deref(), Some("spoofed-agent"));
        assert_eq!(connection.send(&spoofed("/")).unwrap().status, 403);
        assert_eq!(connection.send(&verified("/")).unwrap().status, 200);
        assert_eq!(connection.send(&person("/")).unwrap().status, 200);
    }
}

#[test]
fn the_operators_error_page_is_shown_with_the_status() {
    let (nginx, port) = start(
        "root .;
        error_page 403 /denied.html;
        location = /denied.html { internal; }
        location / { try_files /lab.txt =404; }",
    );
    let response = ask(port, &spoofed("/"));
    assert_eq!((response.status, response.text().as_str()), (403, "our own page"));
    assert_eq!(ask(port, &verified("/")).status, 200);
    let error_log = nginx.folder().read("error.log");
    assert_eq!(error_log.matches("crawlpike: denied").count(), 1, "{error_log}");
}

#[test]
fn the_operators_error_page_may_change_the_status_or_be_a_named_location() {
    let (_nginx, port) = start(
        "root .;
        location / { error_page 403 =451 /denied.html; try_files /lab.txt =404; }
        location = /denied.html { internal; }
        location /named { error_page 403 = @refused; try_files /lab.txt =404; }
        location @refused { return 410 $crawlpike_reason; }
        location /other { error_page 404 500 /denied.html; try_files /lab.txt =404; }",
    );
    let response = ask(port, &spoofed("/"));
    assert_eq!((response.status, response.text().as_str()), (451, "our own page"));
    let response = ask(port, &spoofed("/named"));
    assert_eq!((response.status, response.text().as_str()), (410, "spoofed-agent"));
    assert_eq!(ask(port, &spoofed("/other")).denial_reason().as_deref(), Some("spoofed-agent"));
}

#[test]
fn satisfy_any_does_not_let_a_denied_client_in() {
    let (_nginx, port) = start(
        "root .; satisfy any;
        location / { allow all; try_files /lab.txt =404; }
        location /password {
            deny all; auth_basic x; auth_basic_user_file passwords; try_files /lab.txt =404;
        }",
    );
    assert_eq!(ask(port, &spoofed("/")).denial_reason().as_deref(), Some("spoofed-agent"));
    assert_eq!(ask(port, &verified("/")).status, 200);
    assert_eq!(ask(port, &person("/")).status, 200);
    let response = ask(port, &with_password(spoofed("/password")));
    assert_eq!(response.denial_reason().as_deref(), Some("spoofed-agent"));
}

#[test]
fn an_allowed_crawler_does_not_get_past_other_locks() {
    let lock = "auth_basic x; auth_basic_user_file passwords; try_files /lab.txt =404;";
    let (_nginx, port) = start(&format!(
        "root .;
        location /any {{ satisfy any; deny all; {lock} }}
        location /all {{ satisfy all; {lock} }}
        location /deny {{ deny all; try_files /lab.txt =404; }}"
    ));
    for request in [verified, person] {
        assert_eq!(ask(port, &request("/any")).status, 401);
        assert_eq!(ask(port, &request("/all")).status, 401);
        assert_eq!(ask(port, &with_password(request("/any"))).status, 200);
        assert_eq!(ask(port, &with_password(request("/all"))).status, 200);
        let response = ask(port, &request("/deny"));
        assert_eq!((response.status, response.denial_reason()), (403, None));
    }
}

#[test]
fn a_denied_client_with_http_1_0() {
    let (_nginx, port) = start(FILE);
    let request = Request::bare("GET", "/").http_1_0().agent("LabBot").header(ADDRESS_HEADER, "203.0.113.9");
    let reason = |request: &Request| {
        Connection::open(local(port)).unwrap().send(request).unwrap().problem().unwrap()["reason"].clone()
    };
    assert_eq!(reason(&request.clone().header("Host", "example.com")), "spoofed-agent");
    // It needs no Host: that is the site for all other hosts.
    assert_eq!(reason(&request), "spoofed-agent");
}

#[test]
fn automation_says_which_host_it_wants_and_people_need_not() {
    let (_nginx, port) = start(
        "root .;
        location / { try_files /lab.txt =404; }
        location /own { crawlpike_deny_status 404; try_files /lab.txt =404; }",
    );
    let asked = |target: &str, host: Option<&str>, agent: &str| {
        let request = Request::bare("GET", target).http_1_0().agent(agent);
        ask(port, &host.iter().fold(request, |request, host| request.header("Host", host)))
    };
    assert_eq!(asked("/", None, "curl/8").status, 200, "HTTP/1.0 needs no Host");
    for host in [Some("user;example.com"), Some("exam%70le.com"), Some("example.com;x")] {
        for target in ["/", "/own"] {
            let denied = asked(target, host, "curl/8");
            assert_eq!((denied.status, denied.lines("cache-control")), (400, vec!["no-store"]), "{denied:?}");
            assert_eq!(denied.problem().unwrap()["reason"], "invalid-host", "{host:?}");
        }
        assert_eq!(asked("/", host, FIREFOX).status, 200, "{host:?}");
        // The request line goes before the header.
        assert_eq!(asked("http://example.com/", host, "curl/8").status, 200, "{host:?}");
    }
    assert_eq!(asked("http://user@example.com/", Some("example.com"), "curl/8").status, 400);
}

#[test]
fn a_denial_on_the_way_to_an_error_page_has_its_own_status() {
    let (_nginx, port) = start(
        "root .;
        error_page 404 /lab.txt;
        error_page 410 =200 /lab.txt;
        error_page 403 =451 /denied.html;
        location = /lab.txt { }
        location /gone { return 404; }
        location /instead { return 410; }",
    );
    assert_eq!(ask(port, &verified("/gone")).status, 404);
    assert_eq!(ask(port, &verified("/instead")).status, 200);
    for target in ["/gone", "/instead"] {
        let response = ask(port, &spoofed(target));
        assert_eq!(response.status, 403, "{target}");
        assert_eq!(response.denial_reason().as_deref(), Some("spoofed-agent"), "{target}");
    }
}

#[test]
fn a_denial_has_no_headers_of_an_upstream_that_was_left() {
    let origin = free_port();
    let (_nginx, port) = start(&format!(
        r#"root .;
        location /accel {{ crawlpike off; proxy_pass http://127.0.0.1:{origin}; }}
        location /file {{ internal; try_files /lab.txt =404; }}
        location /page {{ internal; error_page 403 /denied.html; }}
        location = /denied.html {{ crawlpike off; }}
        }}
        server {{
            listen 127.0.0.1:{origin};
            crawlpike off;
            location / {{
                add_header X-Accel-Redirect $arg_to;
                add_header X-Accel-Charset koi8-r;
                add_header Set-Cookie session=1;
                add_header Set-Cookie visit=2;
                add_header Cache-Control public;
                add_header Cache-Control max-age=3600;
                add_header Content-Disposition attachment;
                add_header Accept-Ranges bytes;
                expires 1h;
                return 200;
            }}"#
    ));
    const CARRIED: [&str; 4] = ["set-cookie", "expires", "content-disposition", "accept-ranges"];
    let passed = ask(port, &verified("/accel?to=/file"));
    assert_eq!(passed.lines("set-cookie"), ["session=1", "visit=2"], "{passed:?}");
    assert!(CARRIED.iter().all(|name| passed.header(name).is_some()), "{passed:?}");
    let denied = ask(port, &spoofed("/accel?to=/file"));
    assert_eq!(denied.denial_reason().as_deref(), Some("spoofed-agent"));
    assert_eq!(denied.lines("cache-control"), ["no-store"]);
    assert_eq!(denied.lines("content-type"), ["application/problem+json"]);
    let page = ask(port, &spoofed("/accel?to=/page"));
    assert_eq!((page.status, page.text().as_str()), (403, "our own page"));
    assert_eq!(page.lines("cache-control"), ["no-store"]);
    for response in [denied, page] {
        let left: Vec<_> = CARRIED.iter().filter(|name| response.header(name).is_some()).collect();
        assert!(left.is_empty(), "{left:?} of {response:?}");
    }
}

#[test]
fn no_cache_keeps_the_page_in_a_denials_place() {
    let origin = free_port();
    let (_nginx, port) = start(&format!(
        r#"root .;
        location /page {{ error_page 403 /denied.html; try_files /lab.txt =404; }}
        location /as-ok {{ error_page 403 =200 /denied.html; try_files /lab.txt =404; }}
        location /gone {{ crawlpike_deny_status 410; error_page 410 /denied.html; try_files /lab.txt =404; }}
        location /far {{ error_page 403 =200 @origin; try_files /lab.txt =404; }}
        location /plain {{ try_files /denied.html =404; expires 1h; etag on; }}
        location = /denied.html {{ expires 1h; add_header CDN-Cache-Control max-age=9 always; }}
        location @origin {{ proxy_pass http://127.0.0.1:{origin}; }}
        }}
        server {{
            listen 127.0.0.1:{origin};
            crawlpike off;
            location / {{
                add_header Cache-Control "public, max-age=3600";
                add_header Surrogate-Control max-age=3600;
                add_header ETag '"a"';
                add_header Age 5;
                return 200 "our own page";
            }}"#
    ));
    const FOR_CACHES: [&str; 6] =
        ["expires", "etag", "last-modified", "age", "surrogate-control", "cdn-cache-control"];
    for (path, status) in [("/page", 403), ("/as-ok", 200), ("/gone", 410), ("/far", 200)] {
        let denied = ask(port, &spoofed(path));
        assert_eq!((denied.status, denied.text().as_str()), (status, "our own page"), "{path}");
        assert_eq!(denied.lines("cache-control"), ["no-store"], "{denied:?}");
        let left: Vec<_> = FOR_CACHES.iter().filter(|name| denied.header(name).is_some()).collect();
        assert!(left.is_empty(), "{path}: {left:?} of {denied:?}");
        // The client's copy of the page is not a reason for 304.
        let since = spoofed(path).header("If-Modified-Since", "Sun, 06 Nov 2044 08:49:37 GMT");
        assert_eq!(ask(port, &since).status, status, "{path}");
    }
    // Others may keep the same page.
    let page = ask(port, &person("/plain"));
    assert_eq!(page.lines("cache-control"), ["max-age=3600"], "{page:?}");
    assert!(page.header("etag").is_some() && page.header("last-modified").is_some(), "{page:?}");
}

#[test]
fn a_denied_client_is_not_asked_for_its_body() {
    let (_nginx, port) = start(FILE);
    let request = spoofed("/").header("Expect", "100-continue").header("Content-Length", "500000");
    let mut connection = Connection::open(local(port)).unwrap();
    let response = connection.send(&request).unwrap();
    assert_eq!((response.status, response.denial_reason().as_deref()), (403, Some("spoofed-agent")));
}

/// A request of somebody who says that he is LabBot, as it is written.
fn spoofed_text(method: &str, more: &str) -> String {
    format!(
        "{method} / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: LabBot/1.0\r\n{ADDRESS_HEADER}: 203.0.113.9\r\n{more}\r\n"
    )
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let (_nginx, port) = start(FILE);
    let post = spoofed_text("POST", "Content-Length: 11\r\n") + "GET /x HTTP";
    let chunked = spoofed_text("PUT", "Transfer-Encoding: chunked\r\n") + "3\r\nGET\r\n0\r\n\r\n";
    let last = "GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: LabBot/1.0\r\n\
        X-Forwarded-For: 192.0.2.1\r\nConnection: close\r\n\r\n";
    let answers =
        send_bytes(local(port), [&post, &chunked, &spoofed_text("GET", ""), last].concat().as_bytes())
            .unwrap();
    let statuses: Vec<&str> = answers.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
    assert_eq!(statuses, ["403", "403", "403", "200"], "{answers}");
    assert_eq!(answers.matches(r#""reason":"spoofed-agent""#).count(), 3, "{answers}");
}

#[test]
fn a_body_that_never_ends_is_not_waited_for() {
    let (_nginx, port) = start(FILE);
    let mut connection = Connection::open(local(port)).unwrap();
    // nginx answers at once, and reads the rest of the body while it waits for the next request.
    let request = spoofed_text("POST", "Content-Length: 1000000\r\n") + "the beginning";
    let response = connection.send_text(&request).unwrap();
    assert_eq!(response.denial_reason().as_deref(), Some("spoofed-agent"));
}

#[test]
fn head_has_no_body_whatever_answers() {
    let (_nginx, port) = start(
        "root .;
        location / { try_files /lab.txt =404; }
        location /page { error_page 403 /denied.html; try_files /lab.txt =404; }
        location /named { error_page 403 = @refused; try_files /lab.txt =404; }
        location @refused { return 410 refused; }
        location /status { crawlpike_deny_status 451; try_files /lab.txt =404; }",
    );
    let mut connection = Connection::open(local(port)).unwrap();
    for (target, status) in [("/", 403), ("/page", 403), ("/named", 410), ("/status", 451)] {
        let request = |method| {
            Request::new(method, target, "example.com")
                .agent("LabBot/1.0")
                .header(ADDRESS_HEADER, "203.0.113.9")
        };
        let head = connection.send(&request("HEAD")).unwrap();
        let get = connection.send(&request("GET")).unwrap();
        assert_eq!((head.status, head.body.len(), get.status), (status, 0, status), "{target}");
        for name in ["content-type", "content-length", "cache-control"] {
            assert_eq!(head.header(name), get.header(name), "{target}");
        }
    }
}

#[test]
fn http_0_9_gets_the_body_alone() {
    let (folder, port) = (lab_with_robots("User-agent: *\nDisallow: /\n"), free_port());
    let _nginx = Nginx::start(folder, &format!("{HTTP} server {{ listen 127.0.0.1:{port}; {FILE} }}"));
    // A client without a User-Agent is automated.
    let answer = send_bytes(local(port), b"GET /\r\n").unwrap();
    assert!(answer.starts_with('{') && answer.contains(r#""reason":"robots-disallowed""#), "{answer}");
    assert_eq!(send_bytes(local(port), b"GET /robots.txt\r\n").unwrap(), "User-agent: *\nDisallow: /\n");
}

#[test]
fn a_denial_that_an_upstream_has_no_part_in_is_not_intercepted() {
    let (_nginx, port) = start(
        "root .;
        proxy_intercept_errors on;
        location / { error_page 404 /denied.html; proxy_pass http://127.0.0.1:1; }",
    );
    assert_eq!(ask(port, &spoofed("/")).denial_reason().as_deref(), Some("spoofed-agent"));
}

#[test]
fn a_flood_of_denials_writes_a_line_a_second_and_reason_with_the_number_of_the_others() {
    let (folder, port, each) =
        (lab_with_robots("User-agent: *\nDisallow: /private\n"), free_port(), free_port());
    let http = format!(
        "{HTTP} keepalive_requests 10000; server {{ listen 127.0.0.1:{port}; {FILE} }}
         server {{ listen 127.0.0.1:{each}; crawlpike_log_level error; {FILE} }}"
    );
    let nginx = Nginx::set_up(folder, &http, Setup { workers: 1, ..Setup::default() });
    let start = Instant::now();
    let mut connection = Connection::open(local(port)).unwrap();
    for number in 0..2_000 {
        let request = if number % 10 == 0 { verified("/private") } else { spoofed("/") };
        assert_eq!(connection.send(&request).unwrap().status, 403);
    }
    let lines = |reason: &str| {
        let lines = nginx.folder().lines("error.log");
        lines
            .into_iter()
            .filter(|line| line.contains(&format!("crawlpike: denied, {reason}")))
            .collect::<Vec<_>>()
    };
    for (reason, request, requests) in
        [("spoofed-agent", spoofed("/"), 1_800), ("robots-disallowed", verified("/private"), 200)]
    {
        // The next one in another second has the rest of them.
        let counted = || {
            assert_eq!(ask(port, &request).status, 403);
            let lines = lines(reason);
            let more = lines.iter().filter_map(|line| {
                line.split_once(", and ")?.1.split_once(" more since the last line")?.0.parse::<usize>().ok()
            });
            (lines.len(), lines.len() + more.sum::<usize>())
        };
        let (written, all) =
            wait_for("the number of all", || Some(counted()).filter(|(_, all)| *all >= requests));
        let seconds = usize::try_from(start.elapsed().as_secs()).unwrap() + 2;
        assert!((1..=seconds).contains(&written), "{reason}: {written} lines for {all} in {seconds} s");
    }
    // With a level, each denial has a line.
    let before = lines("spoofed-agent").len();
    for _ in 0..50 {
        assert_eq!(ask(each, &spoofed("/")).status, 403);
    }
    wait_for("a line for each", || (lines("spoofed-agent").len() == before + 50).then_some(()));
}
