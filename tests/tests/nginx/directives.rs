//! The scope of the directives, apart from `crawlpike` itself (see `modes`).

use crawlpike_tests::http::{Request, Response, send};
use crawlpike_tests::lab::{HTTP, lab, lab_with_sites, person, spoofed, verified};
use crawlpike_tests::nginx::{Folder, Nginx, ask, local};
use crawlpike_tests::ports::free_port;

fn start(folder: Folder, before: &str, server: &str) -> (Nginx, u16) {
    let port = free_port();
    let http = format!("{HTTP} {before} server {{ listen 127.0.0.1:{port}; root .; {server} }}");
    (Nginx::start(folder, &http), port)
}

const FILE: &str = "try_files /lab.txt =404;";

/// The status of a denial, which its body must have, too.
fn denied(response: &Response) -> u16 {
    assert_eq!(response.denial_reason().as_deref(), Some("spoofed-agent"), "{response:?}");
    assert_eq!(response.problem().unwrap()["status"], response.status);
    response.status
}

#[test]
fn the_innermost_deny_status_counts() {
    let (_nginx, port) = start(
        lab(),
        "crawlpike_deny_status 404;",
        &format!(
            "location / {{ {FILE} }}
            location /451 {{
                crawlpike_deny_status 451; {FILE}
                location /451/429 {{ crawlpike_deny_status 429; {FILE} }}
                location /451/inside {{ {FILE} }}
            }}
            # A file, for the location that nginx makes of an `if` inherits no `try_files`.
            location = /lab.txt {{ crawlpike_deny_status 410; if ($args = if) {{ add_header X-If yes; }} }}
            location /599 {{ crawlpike_deny_status 599; {FILE} }}
            location /moved {{ rewrite ^ /451 last; }}"
        ),
    );
    let table = [
        ("/", 404, "Not Found"),
        ("/451", 451, "Unavailable For Legal Reasons"),
        ("/451/429", 429, "Too Many Requests"),
        ("/451/inside", 451, "Unavailable For Legal Reasons"),
        ("/lab.txt", 410, "Gone"),
        ("/lab.txt?if", 410, "Gone"),
        ("/moved", 451, "Unavailable For Legal Reasons"),
    ];
    for (target, status, title) in table {
        let response = ask(port, &spoofed(target));
        assert_eq!(denied(&response), status, "{target}");
        assert_eq!(response.problem().unwrap()["title"], title, "{target}");
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert_eq!(ask(port, &verified(target)).status, 200, "{target}");
        assert_eq!(ask(port, &person(target)).status, 200, "{target}");
    }
    let response = ask(port, &spoofed("/599"));
    assert_eq!(denied(&response), 599);
    assert_eq!(response.problem().unwrap().get("title"), None, "there is no such status");
}

#[test]
fn a_deny_status_that_closes_the_connection() {
    let (nginx, port) = start(
        lab(),
        "log_format decided '$uri $status $crawlpike_action';",
        &format!(
            "access_log decided.log decided;
            error_page 403 /denied.html;
            location / {{ {FILE} }}
            location /444 {{ crawlpike_deny_status 444; {FILE} }}
            location /408 {{ crawlpike_deny_status 408; {FILE} }}
            location /499 {{ crawlpike_deny_status 499; {FILE} }}"
        ),
    );
    for status in ["444", "408", "499"] {
        let target = format!("/{status}");
        assert!(send(local(port), &spoofed(&target)).is_err(), "there is no response");
        assert_eq!(nginx.wait_for_line("decided.log", &target), format!("{target} {status} deny"));
        assert_eq!(ask(port, &verified(&target)).status, 200);
    }
}

#[test]
fn an_error_page_belongs_to_the_deny_status() {
    let folder = lab();
    folder.write("denied.html", "our own page");
    let (_nginx, port) = start(
        folder,
        "",
        &format!(
            "crawlpike_deny_status 451;
            error_page 451 /denied.html;
            location = /denied.html {{ internal; }}
            location / {{ {FILE} }}
            location /other {{ error_page 403 /denied.html; {FILE} }}"
        ),
    );
    let response = ask(port, &spoofed("/"));
    assert_eq!((response.status, response.text().as_str()), (451, "our own page"));
    assert_eq!(denied(&ask(port, &spoofed("/other"))), 451);
}

#[test]
fn a_deny_status_denies_nobody_by_itself() {
    let (_nginx, port) = start(
        lab(),
        "crawlpike_deny_status 451;",
        &format!(
            "location / {{ crawlpike observe; {FILE} }}
            location /off {{ crawlpike off; {FILE} }}"
        ),
    );
    assert_eq!(ask(port, &spoofed("/")).status, 200);
    assert_eq!(ask(port, &spoofed("/off")).status, 200);
}

#[test]
fn the_innermost_log_level_counts() {
    let (nginx, port) = start(
        lab(),
        "crawlpike_log_level warn;",
        &format!(
            "location / {{ {FILE} }}
            location /notice {{ crawlpike_log_level notice; {FILE} location /notice/inside {{ {FILE} }} }}
            location /error {{ crawlpike_log_level error; {FILE} }}
            location /info {{ crawlpike_log_level info; {FILE} }}
            location /observe {{ crawlpike observe; {FILE} }}"
        ),
    );
    for target in ["/info", "/observe", "/warn", "/notice/inside", "/error"] {
        ask(port, &spoofed(target));
    }
    for (target, level) in [("/warn", "[warn]"), ("/notice/inside", "[notice]"), ("/error", "[error]")] {
        let line = nginx.wait_for_line("error.log", &format!("\"GET {target} "));
        assert!(line.contains(level) && line.contains("crawlpike: denied, spoofed-agent"), "{line}");
    }
    // The log of these tests takes no `info`; and where nobody is denied, nothing is logged.
    let log = nginx.folder().read("error.log");
    assert!(!log.contains("/info") && !log.contains("/observe"), "{log}");
}

#[test]
fn an_error_unless_said_otherwise() {
    let (nginx, port) = start(lab(), "", &format!("location / {{ {FILE} }}"));
    ask(port, &spoofed("/"));
    let line = nginx.wait_for_line("error.log", "crawlpike: denied");
    assert!(line.contains("[error]"), "{line}");
}

/// `open` allows all, `closed` (the default site, by its name) nothing.
fn sites() -> Folder {
    let folder = lab_with_sites(
        r#"{ "hosts": ["open.example"], "robots_txt": "open.txt" },
        { "name": "closed", "robots_txt": "closed.txt" }"#,
    );
    folder.write("open.txt", "User-agent: *\nDisallow:\n");
    folder.write("closed.txt", "User-agent: *\nDisallow: /\n");
    folder
}

#[test]
fn a_site_by_its_name_whatever_the_host() {
    let port = free_port();
    // Before `crawlpike_config`, which defines the sites.
    let http = format!(
        "server {{
            listen 127.0.0.1:{port};
            root .;
            crawlpike_site closed;
            location / {{ {FILE} }}
            location /open {{ crawlpike_site open.example; {FILE} location /open/inside {{ {FILE} }} }}
            location = /open/robots.txt {{ crawlpike_site open.example; rewrite ^ /open last; }}
            location /moved {{ rewrite ^ /open last; }}
        }}
        {HTTP}"
    );
    let _nginx = Nginx::start(sites(), &http);
    let bot = |host: &str, target: &str| {
        let request = Request::new("GET", target, host).agent("FreeBot/1.0");
        let response = ask(port, &request);
        response.denial_reason().unwrap_or_else(|| response.status.to_string())
    };
    for host in ["open.example", "closed.example", "other.example"] {
        assert_eq!(bot(host, "/"), "robots-disallowed", "{host}");
        assert_eq!(bot(host, "/open"), "200", "{host}");
        assert_eq!(bot(host, "/open/inside"), "200", "{host}");
        assert_eq!(bot(host, "/moved"), "200", "the site of the location that serves, {host}");
        let robots = ask(port, &Request::new("GET", "/robots.txt", host));
        assert_eq!(robots.text(), "User-agent: *\nDisallow: /\n", "{host}");
    }
}

#[test]
fn a_lookup_needs_a_resolver_and_a_time() {
    let folder = lab();
    let message = |http: &str| {
        let output = Nginx::check(&folder, &format!("crawlpike_config crawlpike.json; {http}"));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.success(), !text.contains("[emerg]"), "{text}");
        text
    };
    let needs =
        "\"crawlpike_rdns\" directive requires a \"resolver\" in the same block or an enclosing one in ";
    for http in [
        "crawlpike_rdns 1s; server { listen 1; }",
        "crawlpike_rdns 1s; server { listen 1; resolver 127.0.0.1; } server { listen 2; }",
        "server { listen 1; location / { crawlpike_rdns 1s; } location /a { resolver 127.0.0.1; } }",
    ] {
        assert!(message(http).contains(needs), "{http}");
    }
    for http in [
        "crawlpike_rdns 1s; server { listen 1; resolver 127.0.0.1; }",
        "resolver 127.0.0.1; server { listen 1; location / { crawlpike_rdns 1s; } }",
        "crawlpike_rdns 1s; server { listen 1; crawlpike_rdns off; }",
    ] {
        assert!(!message(http).contains("[emerg]"), "{http}: {}", message(http));
    }
    for value in ["on", "11s", "-1", "1 s"] {
        let expected = "in \"crawlpike_rdns\" directive, it must be at most \"10s\", or \"off\"";
        assert!(
            message(&format!("crawlpike_rdns \"{value}\"; server {{ listen 1; }}")).contains(expected),
            "{value}"
        );
    }
    let twice = "crawlpike_rdns 1s; crawlpike_rdns off;";
    assert!(message(twice).contains("\"crawlpike_rdns\" directive is duplicate"));
}
