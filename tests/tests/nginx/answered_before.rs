//! Responses of nginx before the access phase: their log lines, and the directives that deny them.

use std::io;

use crawlpike_tests::exposition::Exposition;
use crawlpike_tests::http::{Connection, Request, Response};
use crawlpike_tests::lab::{ADDRESS_HEADER, HTTP, lab, person, spoofed, verified};
use crawlpike_tests::nginx::{Nginx, ask, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;

/// An nginx that logs what was decided and whether that was done.
struct Gate {
    nginx: Nginx,
    port: u16,
    status: u16,
}

impl Gate {
    fn start(before: &str, server: &str) -> Self {
        let (port, status) = (free_port(), free_port());
        let http = format!(
            "{HTTP} {before}
            log_format decided '$request_uri $status $crawlpike_action $crawlpike_enforced';
            server {{ listen 127.0.0.1:{status}; location / {{ crawlpike_status; }} }}
            server {{
                listen 127.0.0.1:{port};
                root .;
                access_log decided.log decided;
                {server}
            }}"
        );
        let folder = lab();
        folder.write("page.html", "our page");
        Self { nginx: Nginx::start(folder, &http), port, status }
    }

    /// Sends a request, and gives what comes of it when nginx has logged it.
    fn ask(&self, request: &Request) -> io::Result<Response> {
        let folder = self.nginx.folder();
        let before = folder.lines("decided.log").len();
        let response = Connection::open(local(self.port))?.send(request);
        wait_for("its line", || (folder.lines("decided.log").len() > before).then_some(()));
        response
    }

    /// Sends a request, and checks its line in the log.
    fn logs(&self, request: &Request, expected: &str) {
        // The connection may be closed without an answer.
        let _ = self.ask(request);
        let log = self.nginx.folder().lines("decided.log");
        assert_eq!(log.last().map(String::as_str), Some(expected), "{request:?}: {log:?}");
    }

    /// Waits until so many requests are counted, and gives how many of them were denied.
    fn denied_of(&self, total: f64) -> f64 {
        let page = || Exposition::parse(&ask(self.status, &Request::get("/")).text());
        const REQUESTS: &str = "crawlpike_requests_total";
        wait_for("the count", || (page().sum(REQUESTS, &[]) == Some(total)).then_some(()));
        page().sum(REQUESTS, &[("action", "deny"), ("enforced", "true")]).unwrap_or(0.0)
    }
}

#[test]
fn no_log_tells_of_a_denial_where_nginx_itself_answered() {
    let gate = Gate::start(
        "limit_req_zone $crawlpike_rate_key zone=crawlers:1m rate=1r/m;
        map $crawlpike_action $is_denied { deny 1; default 0; }",
        "location / { try_files /lab.txt =404; }
        location /return { return 200 ok; }
        location /redirect { return 302 /; }
        location /gone { return 410; }
        location /read { if ($is_denied) { set $x 1; } return 410; }
        location /set { set $x $crawlpike_enforced; return 200 $x; }
        location /late { return 410 $crawlpike_enforced; }
        location /limited { limit_req zone=crawlers; limit_req_status 429; try_files /lab.txt =404; }
        location /observed { crawlpike observe; try_files /lab.txt =404; }
        location /page { error_page 410 /denied-too; return 410; }",
    );
    gate.logs(&spoofed("/"), "/ 403 deny 1");
    gate.logs(&verified("/"), "/ 200 allow 1");
    gate.logs(&spoofed("/observed"), "/observed 200 deny 0");
    for (path, status) in
        [("/return", 200), ("/redirect", 302), ("/gone", 410), ("/read", 410), ("/set", 200)]
    {
        gate.logs(&spoofed(path), &format!("{path} {status} deny 0"));
        gate.logs(&verified(path), &format!("{path} {status} allow 0"));
        let response = gate.ask(&spoofed(path)).unwrap();
        assert_eq!(response.header("cache-control"), None, "nobody was denied: {response:?}");
    }
    assert_eq!(gate.ask(&spoofed("/set")).unwrap().text(), "1", "the access phase is still to come");
    assert_eq!(gate.ask(&spoofed("/late")).unwrap().text(), "0", "nginx answers");
    // The first one uses up the rate.
    gate.logs(&verified("/limited"), "/limited 200 allow 1");
    gate.logs(&verified("/limited"), "/limited 429 allow 0");
    gate.logs(&spoofed("/limited"), "/limited 403 deny 1");
    gate.logs(&spoofed("/limited"), "/limited 429 deny 0");
    // The access phase of the error page denies.
    gate.logs(&spoofed("/page"), "/page 403 deny 1");
    assert_eq!(gate.denied_of(6.0), 3.0);
}

/// The expected results of each way to deny before a `return`.
fn denies(gate: &Gate, path: &str, status: u16) {
    let request = spoofed(path);
    gate.logs(&request, &format!("{path} {status} deny 1"));
    let denied = gate.ask(&request).unwrap();
    assert_eq!((denied.status, denied.lines("cache-control")), (status, vec!["no-store"]), "{denied:?}");
    for request in [verified(path), person(path)] {
        let response = gate.ask(&request).unwrap();
        assert_eq!((response.status, response.text().as_str()), (200, "ok"), "{response:?}");
        assert_eq!(response.header("cache-control"), None, "{response:?}");
    }
}

#[test]
fn nginx_conf_can_deny_before_a_return() {
    let gate = Gate::start(
        "map $crawlpike_action$crawlpike_enforced $cw { deny1 1; default 0; }",
        r#"location / { if ($cw) { return 403; } return 200 ok; }
        location /set {
            set $said $crawlpike_action$crawlpike_enforced;
            if ($said = deny1) { return 403; }
            return 200 ok;
        }
        location /named { error_page 403 @page; if ($cw) { return 403; } return 200 ok; }
        location @page { crawlpike off; add_header Cache-Control max-age=9 always; return 403 "a page"; }
        location /page { error_page 403 /page.html; if ($cw) { return 403; } return 200 ok; }
        location = /page.html { crawlpike off; expires 1h; }
        location /guarded { error_page 403 /guarded.html; if ($cw) { return 403; } return 200 ok; }
        location = /guarded.html { expires 1h; }
        # This error page is the way to an application.
        location /routed { set $said $crawlpike_enforced; error_page 418 = @routed; return 418; }
        location @routed { try_files /page.html =404; }
        location /text { if ($cw) { return 404 "no page"; } return 200 ok; }
        location /kept {
            if ($cw) { add_header Cache-Control max-age=9 always; return 403; }
            return 200 ok;
        }
        location /observed { crawlpike observe; if ($cw) { return 403; } return 200 ok; }
        location /closed { if ($cw) { return 444; } return 200 ok; }"#,
    );
    for (path, status) in [("/", 403), ("/set", 403), ("/text", 404), ("/kept", 403)] {
        denies(&gate, path, status);
    }
    gate.logs(&spoofed("/observed"), "/observed 200 deny 0");
    gate.logs(&spoofed("/closed"), "/closed 444 deny 1");
    for (path, page) in [("/named", "a page"), ("/page", "our page")] {
        denies(&gate, path, 403);
        assert_eq!(gate.ask(&spoofed(path)).unwrap().text(), page, "{path}");
    }
    // Of a page for which the mode is not `off`, the module decides.
    for path in ["/guarded", "/routed"] {
        gate.logs(&spoofed(path), &format!("{path} 403 deny 1"));
        assert_eq!(gate.ask(&spoofed(path)).unwrap().denial_reason().as_deref(), Some("spoofed-agent"));
    }
    // Two or three of each, and the one whose connection was closed. The others were not decided about.
    assert_eq!(gate.denied_of(19.0), 19.0);
}

#[test]
fn the_module_denies_before_a_return_in_a_named_location() {
    let gate = Gate::start(
        "",
        r#"location / { try_files "" @answer; }
        location @answer { return 200 ok; }"#,
    );
    denies(&gate, "/", 403);
    let request = Request::get("/").agent("LabBot/1.0").header(ADDRESS_HEADER, "203.0.113.9");
    assert_eq!(gate.ask(&request).unwrap().denial_reason().as_deref(), Some("spoofed-agent"));
}
