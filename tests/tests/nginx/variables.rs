//! The variables, wherever nginx takes variables.

use crawlward_tests::http::Request;
use crawlward_tests::lab::{HTTP, VERIFIED, from, lab, person, spoofed, verified};
use crawlward_tests::nginx::{Nginx, ask};
use crawlward_tests::origin::{Origin, Received};
use crawlward_tests::ports::free_port;

#[test]
fn a_log_line_tells_the_decision_about_denied_requests_too() {
    let port = free_port();
    let http = format!(
        "{HTTP}
        log_format crawlward '$uri:$status:$crawlward_action:$crawlward_enforced:$crawlward_reason:'
            '$crawlward_identity:$crawlward_proof:$crawlward_agent:$crawlward_feed:$crawlward_rate_key';
        server {{
            listen 127.0.0.1:{port};
            root .;
            access_log decisions.log crawlward;
            location / {{ try_files /lab.txt =404; }}
        }}"
    );
    let nginx = Nginx::start(lab(), &http);
    ask(port, &verified("/verified"));
    ask(port, &spoofed("/spoofed"));
    ask(port, &from("2001:db8:1:2:3::4", Request::get("/generic").agent("curl/8.5.0")));
    ask(port, &from("2001:db9:1:2:3::4", Request::get("/free").agent("FreeBot")));
    ask(port, &person("/person"));
    for line in [
        "/lab.txt:200:allow:1:allowed:verified:ip-range:LabBot:lab:LabBot",
        "/spoofed:403:deny:1:spoofed-agent:spoofed:-:LabBot:-:203.0.113.9",
        "/lab.txt:200:allow:1:allowed:undeclared:-:-:lab:2001:db8:1:2::/64",
        "/lab.txt:200:allow:1:allowed:unverified:-:FreeBot:-:2001:db9:1:2::/64",
        "/lab.txt:200:-:-:-:-:-:-:-:-",
    ] {
        let found = nginx.wait_for_line("decisions.log", line);
        assert_eq!(found, line);
    }
    // A denial has a line in the error log, too; an allowed request has none.
    nginx.wait_for_line("error.log", r#"crawlward: denied, spoofed-agent, agent: "LabBot""#);
    assert!(!nginx.folder().read("error.log").contains("/verified"));
}

#[test]
fn rate_limits_by_rate_key_meet_no_person() {
    let port = free_port();
    let http = format!(
        "{HTTP}
        limit_req_zone $crawlward_rate_key zone=crawlers:1m rate=1r/m;
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
        map $crawlward_identity $class {{ verified crawler; "" person; default other; }}
        server {{
            listen 127.0.0.1:{port};
            add_header X-Class $class;
            location / {{
                if ($crawlward_agent = FreeBot) {{ return 204; }}
                proxy_set_header User-Agent "$crawlward_agent/$crawlward_feed/$class";
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
    assert_eq!(received.crawlward.as_deref(), Some(VERIFIED));
    assert_eq!(ask(port, &person("/")).text(), "//person");
    assert_eq!(ask(port, &from("203.0.113.9", Request::get("/").agent("FreeBot"))).status, 204);
    assert_eq!(ask(port, &Request::get("/").agent("curl/8.5.0")).text(), "//other");
}

#[test]
fn unknown_variables_of_ours_are_refused() {
    let output = Nginx::check(&lab(), "log_format x '$crawlward_mood';");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains(r#"unknown "crawlward_mood" variable"#), "{text}");
}
