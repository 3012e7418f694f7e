//! The variables, wherever nginx takes variables.

use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{HTTP, VERIFIED, from, lab, person, spoofed, verified};
use crawlpike_tests::nginx::{Nginx, ask};
use crawlpike_tests::origin::{Origin, Received};
use crawlpike_tests::ports::free_port;

#[test]
fn a_log_line_tells_the_decision_about_denied_requests_too() {
    let port = free_port();
    let http = format!(
        "{HTTP}
        log_format crawlpike '$uri:$status:$crawlpike_action:$crawlpike_enforced:$crawlpike_reason:'
            '$crawlpike_identity:$crawlpike_proof:$crawlpike_agent:$crawlpike_feed:$crawlpike_rate_key';
        server {{
            listen 127.0.0.1:{port};
            root .;
            access_log decisions.log crawlpike;
            location / {{ try_files /lab.txt =404; }}
        }}"
    );
    let nginx = Nginx::start(lab(), &http);
    ask(port, &verified("/verified"));
    ask(port, &spoofed("/spoofed"));
    ask(port, &from("2001:db8:1:2:3::4", Request::get("/generic").agent("curl/8.5.0")));
    ask(port, &from("2001:db9:1:2:3::4", Request::get("/free").agent("FreeBot")));
    ask(port, &from("64:ff9b::203.0.113.9", Request::get("/translated").agent("FreeBot")));
    ask(port, &person("/person"));
    for line in [
        "/lab.txt:200:allow:1:allowed:verified:ip-range:LabBot:lab:LabBot",
        "/spoofed:403:deny:1:spoofed-agent:spoofed:-:LabBot:-:203.0.113.9",
        "/lab.txt:200:allow:1:allowed:undeclared:-:-:lab:2001:db8:1:2::/64",
        "/lab.txt:200:allow:1:allowed:unverified:-:FreeBot:-:2001:db9:1:2::/64",
        "/lab.txt:200:allow:1:allowed:unverified:-:FreeBot:-:203.0.113.9",
        "/lab.txt:200:-:-:-:-:-:-:-:-",
    ] {
        let found = nginx.wait_for_line("decisions.log", line);
        assert_eq!(found, line);
    }
    // A denial has a line in the error log, too; an allowed request has none.
    nginx.wait_for_line("error.log", r#"crawlpike: denied, spoofed-agent, agent: "LabBot""#);
    assert!(!nginx.folder().read("error.log").contains("/verified"));
}

#[test]
fn rate_limits_by_rate_key_meet_no_person() {
    let port = free_port();
    let http = format!(
        "{HTTP}
        limit_req_zone $crawlpike_rate_key zone=crawlers:1m rate=1r/m;
        server {{
            listen 127.0.0.1:{port};
            root .;
            limit_req zone=crawlers;
            limit_req_status 429;
            location / {{ try_files /lab.txt =404; }}
        }}"
    );
    let _nginx = Nginx::start(lab(), &http);
    let status = |request: &Request| ask(port, request).status;
    assert_eq!(status(&verified("/")), 200);
    assert_eq!(status(&verified("/")), 429);
    let other_address = from("192.0.2.200", Request::get("/").agent("LabBot/1.0"));
    assert_eq!(status(&other_address), 429, "a verified agent is one client");
    let free = |address| from(address, Request::get("/").agent("FreeBot"));
    assert_eq!(status(&free("203.0.113.1")), 200);
    assert_eq!(status(&free("203.0.113.1")), 429);
    assert_eq!(status(&free("203.0.113.2")), 200, "anybody else is counted by address");
    for _ in 0..5 {
        assert_eq!(status(&person("/")), 200);
    }
}

#[test]
fn variables_in_map_if_and_proxy_set_header() {
    let (origin, port) = (Origin::start(), free_port());
    let http = format!(
        r#"{HTTP}
        map $crawlpike_identity $class {{ verified crawler; "" person; default other; }}
        server {{
            listen 127.0.0.1:{port};
            add_header X-Class $class;
            location / {{
                if ($crawlpike_agent = FreeBot) {{ return 204; }}
                proxy_set_header User-Agent "$crawlpike_agent/$crawlpike_feed/$class";
                proxy_pass http://127.0.0.1:{};
            }}
        }}"#,
        origin.port()
    );
    let _nginx = Nginx::start(lab(), &http);
    let response = ask(port, &verified("/"));
    assert_eq!(response.header("x-class"), Some("crawler"));
    let received = Received::of(&response).unwrap();
    assert_eq!(received.user_agent, "LabBot/lab/crawler");
    assert_eq!(received.crawlpike.as_deref(), Some(VERIFIED));
    assert_eq!(ask(port, &person("/")).text(), "//person");
    assert_eq!(ask(port, &from("203.0.113.9", Request::get("/").agent("FreeBot"))).status, 204);
    assert_eq!(ask(port, &Request::get("/").agent("curl/8.5.0")).text(), "//other");
}

#[test]
fn unknown_variables_of_ours_are_refused() {
    let output = Nginx::check(&lab(), "log_format x '$crawlpike_mood';");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains(r#"unknown "crawlpike_mood" variable"#), "{text}");
}

/// Asks for a target as LabBot from home and as a person, and gives both bodies.
fn bodies(port: u16, target: &str) -> (String, String) {
    (ask(port, &verified(target)).text(), ask(port, &person(target)).text())
}

#[test]
fn variables_before_the_access_phase() {
    let port = free_port();
    let http = format!(
        r#"{HTTP}
        split_clients "$crawlpike_agent" $half {{ 50% first; * second; }}
        map "$crawlpike_identity:$half" $both {{ default $crawlpike_identity; }}
        server {{
            listen 127.0.0.1:{port};
            root .;
            set $known "$crawlpike_agent/$crawlpike_feed";
            if ($crawlpike_agent) {{ set $known "$known/if"; }}
            location /return {{ return 200 "$known $crawlpike_action $both"; }}
            location /rewrite {{ rewrite ^ /$crawlpike_agent.txt last; }}
            location /LabBot.txt {{ return 200 "for $crawlpike_agent"; }}
            location /.txt {{ return 200 "for people"; }}
            location /redirect {{ return 302 /as/$crawlpike_agent; }}
        }}"#
    );
    let _nginx = Nginx::start(lab(), &http);
    assert_eq!(bodies(port, "/return"), ("LabBot/lab/if allow verified".into(), "/  ".into()));
    assert_eq!(bodies(port, "/rewrite"), ("for LabBot".into(), "for people".into()));
    let response = ask(port, &verified("/redirect"));
    assert!(response.header("location").is_some_and(|to| to.ends_with("/as/LabBot")), "{response:?}");
}

#[test]
fn variables_in_internal_redirects_and_parts_of_files() {
    let (port, inner) = (free_port(), free_port());
    let folder = lab();
    folder.write("LabBot.html", "a page for LabBot");
    folder.write("page.html", "a page for people");
    folder.write("large.bin", "0123456789".repeat(100));
    let http = format!(
        r#"{HTTP}
        server {{
            listen 127.0.0.1:{inner};
            root .;
            crawlpike off;
            location / {{ add_header X-Accel-Redirect /internal; return 200; }}
            location /large.bin {{ }}
        }}
        server {{
            listen 127.0.0.1:{port};
            root .;
            add_header X-Agent $crawlpike_agent always;
            location /try {{ try_files /$crawlpike_agent.html /page.html; }}
            location /accel {{ proxy_pass http://127.0.0.1:{inner}; }}
            location /internal {{ internal; try_files /$crawlpike_agent.html /page.html; }}
            location /error {{ error_page 404 /$crawlpike_agent.html; try_files /nothing =404; }}
            location = /large.bin {{
                slice 100;
                proxy_set_header Range $slice_range;
                proxy_set_header X-Agent $crawlpike_agent;
                proxy_pass http://127.0.0.1:{inner};
            }}
        }}"#
    );
    let _nginx = Nginx::start(folder, &http);
    let pages = ("a page for LabBot".to_owned(), "a page for people".to_owned());
    for target in ["/try", "/accel"] {
        assert_eq!(bodies(port, target), pages, "{target}");
        assert_eq!(ask(port, &verified(target)).joined_header("x-agent").as_deref(), Some("LabBot"));
        assert_eq!(ask(port, &person(target)).header("x-agent"), None);
        assert_eq!(ask(port, &spoofed(target)).denial_reason().as_deref(), Some("spoofed-agent"));
        assert_eq!(ask(port, &spoofed(target)).header("x-agent"), Some("LabBot"));
    }
    assert_eq!(ask(port, &verified("/error")).text(), "a page for LabBot");
    // Ten subrequests.
    assert_eq!(ask(port, &verified("/large.bin")).body.len(), 1000);
}

#[test]
fn a_log_of_its_own_for_crawlers() {
    let port = free_port();
    let http = format!(
        "{HTTP}
        log_format decided '$uri $crawlpike_identity';
        server {{
            listen 127.0.0.1:{port};
            root .;
            access_log crawlers.log decided if=$crawlpike_identity;
            access_log everybody.log decided;
            location / {{ try_files /lab.txt =404; }}
        }}"
    );
    let nginx = Nginx::start(lab(), &http);
    ask(port, &person("/person"));
    ask(port, &spoofed("/spoofed"));
    ask(port, &verified("/verified"));
    nginx.wait_for_line("crawlers.log", "/spoofed spoofed");
    nginx.wait_for_line("crawlers.log", "/lab.txt verified");
    nginx.wait_for_line("everybody.log", "/lab.txt -");
    let mut crawlers = nginx.folder().lines("crawlers.log");
    crawlers.sort();
    assert_eq!(crawlers, ["/lab.txt verified", "/spoofed spoofed"]);
}
