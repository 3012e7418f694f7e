//! Internal redirects and subrequests: one decision, logged once.

use crawlpike_tests::http::{Request, Response};
use crawlpike_tests::lab::{FIREFOX, HTTP, VERIFIED, from, lab, lab_with_sites, person, spoofed, verified};
use crawlpike_tests::nginx::{Nginx, ask};
use crawlpike_tests::origin::{Origin, Received, start_echo};
use crawlpike_tests::ports::free_port;

fn start(server: &str) -> (Nginx, u16) {
    let port = free_port();
    let folder = lab();
    folder.write("page.shtml", r#"<!--# echo var="crawlpike_agent" -->, <!--# include virtual="/part" -->"#);
    let http = format!("{HTTP} server {{ listen 127.0.0.1:{port}; root .; {server} }}");
    (Nginx::start(folder, &http), port)
}

fn at_origin(response: &Response) -> Option<String> {
    Received::of(response).unwrap_or_else(|| panic!("not from the origin: {response:?}")).crawlpike
}

#[test]
fn redirects_within_nginx_tell_the_origin_once() {
    let (origin_server, echo) = (Origin::start(), start_echo());
    let origin = origin_server.port();
    let (_nginx, port) = start(&format!(
        "location /try {{ try_files /nothing @app; }}
        location /error {{ error_page 404 = @app; try_files /nothing =404; }}
        location /rewrite {{ rewrite ^ /app last; }}
        location /twice {{ try_files /nothing /rewrite; }}
        location /app {{ proxy_pass http://127.0.0.1:{origin}; }}
        location @app {{ proxy_pass http://127.0.0.1:{origin}; }}
        location /lines {{ try_files /nothing @echo; }}
        location @echo {{ proxy_pass http://{echo}; }}"
    ));
    for target in ["/try", "/error", "/rewrite", "/twice", "/app"] {
        let forged = |request: Request| request.header("X-Crawlpike", "forged");
        assert_eq!(at_origin(&ask(port, &forged(verified(target)))).as_deref(), Some(VERIFIED), "{target}");
        assert_eq!(at_origin(&ask(port, &forged(person(target)))), None, "{target}");
        let denied = ask(port, &forged(spoofed(target)));
        assert_eq!(denied.denial_reason().as_deref(), Some("spoofed-agent"), "{target}");
    }
    let head = ask(port, &verified("/lines").header("X-Crawlpike", "forged")).text();
    assert_eq!(head.to_ascii_lowercase().matches("x-crawlpike:").count(), 1, "{head}");
}

#[test]
fn an_auth_request_sees_what_is_known() {
    let origin = Origin::start();
    let judge = free_port();
    let judge_nginx = format!(
        r#"server {{
            listen 127.0.0.1:{judge};
            if ($http_x_crawlpike ~ "identity=verified") {{ return 204; }}
            return 401;
        }}"#
    );
    let _judge = Nginx::without_module(lab(), &judge_nginx);
    let (_nginx, port) = start(&format!(
        "location / {{ auth_request /auth; proxy_pass http://127.0.0.1:{}; }}
        location = /auth {{ internal; proxy_pass http://127.0.0.1:{judge}; }}",
        origin.port()
    ));
    assert_eq!(at_origin(&ask(port, &verified("/"))).as_deref(), Some(VERIFIED));
    assert_eq!(ask(port, &person("/").header("X-Crawlpike", VERIFIED)).status, 401);
    assert_eq!(ask(port, &spoofed("/")).denial_reason().as_deref(), Some("spoofed-agent"));
}

#[test]
fn pages_made_of_parts_know_the_agent_in_each() {
    let (_nginx, port) = start(
        "ssi on; ssi_types *;
        location / { try_files /page.shtml =404; }
        location = /part { return 200 'part for $crawlpike_agent'; }",
    );
    assert_eq!(ask(port, &verified("/")).text(), "LabBot, part for LabBot");
    assert_eq!(ask(port, &person("/")).text(), "(none), part for ");
    assert_eq!(ask(port, &spoofed("/")).status, 403);
}

#[test]
fn mirrored_requests_carry_what_is_known_and_denied_ones_are_not_mirrored() {
    let (origin, mirror) = (Origin::start(), free_port());
    let mirror_nginx = format!(
        "log_format seen '$uri [$http_x_crawlpike] $http_user_agent';
        server {{ listen 127.0.0.1:{mirror}; access_log seen.log seen; return 204; }}"
    );
    let mirrored = Nginx::without_module(lab(), &mirror_nginx);
    let (_nginx, port) = start(&format!(
        "location / {{ mirror /mirror; proxy_pass http://127.0.0.1:{}; }}
        location = /mirror {{ internal; proxy_pass http://127.0.0.1:{mirror}$request_uri; }}",
        origin.port()
    ));
    ask(port, &spoofed("/spoofed"));
    ask(port, &person("/person").header("X-Crawlpike", "forged"));
    assert_eq!(at_origin(&ask(port, &verified("/verified"))).as_deref(), Some(VERIFIED));
    let line = mirrored.wait_for_line("seen.log", "/verified");
    // nginx's log escapes quotes.
    assert!(line.contains("action=allow, identity=verified, agent="), "{line}");
    let line = mirrored.wait_for_line("seen.log", "/person");
    assert!(line.contains("[-]") && line.contains(FIREFOX), "{line}");
    assert!(!mirrored.folder().read("seen.log").contains("/spoofed"));
}

#[test]
fn the_method_is_that_of_the_client_whatever_a_redirect_makes_of_it() {
    let (port, origin) = (free_port(), free_port());
    let folder = lab_with_sites(r#"{ "automation_preferences": "preferences.txt" }"#);
    folder.write("preferences.txt", "scope: /\nallowed-methods: GET, HEAD\n");
    let http = format!(
        "{HTTP}
        server {{ listen 127.0.0.1:{origin}; crawlpike off; add_header X-Accel-Redirect /lab.txt; return 200; }}
        server {{
            listen 127.0.0.1:{port};
            root .;
            error_page 404 /lab.txt;
            location = /lab.txt {{ }}
            location /gone {{ return 404; }}
            location /accel {{ crawlpike off; proxy_pass http://127.0.0.1:{origin}; }}
        }}"
    );
    let _nginx = Nginx::start(folder, &http);
    for (target, status) in [("/gone", 404), ("/accel", 200)] {
        assert_eq!(ask(port, &verified(target)).status, status, "{target}");
        let post = |agent| from("192.0.2.1", Request::new("POST", target, "example.com").agent(agent));
        let denied = ask(port, &post("LabBot/1.0"));
        assert_eq!(denied.denial_reason().as_deref(), Some("method-not-allowed"), "{target}");
    }
}
