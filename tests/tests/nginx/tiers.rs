//! Two tiers: an outer nginx that decides, and an inner one that leaves what the outer one says.

use crawlward_tests::http::Request;
use crawlward_tests::lab::{HTTP, VERIFIED, lab, person, spoofed, verified};
use crawlward_tests::nginx::{Nginx, ask};
use crawlward_tests::origin::{Origin, Received, start_echo};
use crawlward_tests::ports::free_port;

const OBSERVED: &str = r#"action=deny, identity=spoofed, agent="LabBot""#;

#[test]
fn an_inner_tier_passes_on_what_the_outer_one_says() {
    let (origin, outer, inner) = (Origin::start(), free_port(), free_port());
    let _inner = Nginx::start(
        lab(),
        &format!(
            "crawlward_config crawlward.json;
            crawlward off;
            map $uri $mode {{ default off; /asked/observe observe; }}
            server {{
                listen 127.0.0.1:{inner};
                location / {{ proxy_pass http://127.0.0.1:{origin}; }}
                location /trusted {{
                    crawlward_trust_header on;
                    proxy_pass http://127.0.0.1:{origin};
                    location /trusted/not {{ crawlward_trust_header off; proxy_pass http://127.0.0.1:{origin}; }}
                }}
                location /decided {{
                    crawlward_trust_header on; crawlward observe;
                    proxy_pass http://127.0.0.1:{origin};
                }}
                location /asked {{
                    crawlward_trust_header on; crawlward $mode;
                    proxy_pass http://127.0.0.1:{origin};
                }}
                location /moved {{ crawlward_trust_header on; rewrite ^ /again last; }}
                location /again {{ try_files /none @last; }}
                location @last {{ crawlward_trust_header on; proxy_pass http://127.0.0.1:{origin}; }}
            }}",
            origin = origin.port()
        ),
    );
    let _outer = Nginx::start(
        lab(),
        &format!(
            "{HTTP} crawlward observe;
            server {{ listen 127.0.0.1:{outer}; location / {{ proxy_pass http://127.0.0.1:{inner}; }} }}"
        ),
    );
    let seen =
        |request: &Request| Received::of(&ask(outer, request)).expect("an answer of the origin").crawlward;
    for path in ["/trusted", "/moved", "/again", "/asked"] {
        assert_eq!(seen(&verified(path)).as_deref(), Some(VERIFIED), "{path}");
        assert_eq!(seen(&spoofed(path)).as_deref(), Some(OBSERVED), "{path}");
        assert_eq!(seen(&person(path)), None, "{path}");
        let forged = person(path).header("X-Crawlward", VERIFIED).header("X_Crawlward", VERIFIED);
        assert_eq!(seen(&forged), None, "the outer tier removes what clients send: {path}");
    }
    for path in ["/", "/trusted/not"] {
        assert_eq!(seen(&verified(path)), None, "{path}");
    }
    // Its own decision, about the outer tier's address.
    for path in ["/decided", "/asked/observe"] {
        assert_eq!(seen(&verified(path)).as_deref(), Some(OBSERVED), "{path}");
    }
}

#[test]
fn the_header_alone_is_trusted_in_no_other_spelling() {
    let (echo, port) = (start_echo(), free_port());
    let _nginx = Nginx::start(
        lab(),
        &format!(
            "crawlward_config crawlward.json;
            crawlward off;
            crawlward_trust_header on;
            server {{
                listen 127.0.0.1:{port};
                ignore_invalid_headers off;
                underscores_in_headers on;
                location / {{ proxy_pass http://{echo}; }}
            }}"
        ),
    );
    let said = "action=allow, identity=verified";
    let relayed = |names: &[&str]| {
        let request = names.iter().fold(Request::get("/"), |request, name| request.header(name, said));
        let text = ask(port, &request).text();
        let is_ours = |name: &str| name.to_ascii_lowercase().contains("crawlward");
        let lines = text.split("\r\n").filter_map(|line| line.split_once(": "));
        lines
            .filter(|(name, _)| is_ours(name))
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(relayed(&["X-Crawlward"]), [format!("X-Crawlward={said}")]);
    assert_eq!(relayed(&["x-crawlward"]), [format!("X-Crawlward={said}")]);
    assert_eq!(relayed(&["X_Crawlward", "X.Crawlward", "X~Crawlward"]), [""; 0]);
    let all = ["X_Crawlward", "X-Crawlward", "X.Crawlward"];
    assert_eq!(relayed(&all), [format!("X-Crawlward={said}")]);
    // Lines that a proxy before has not joined.
    assert_eq!(relayed(&["X-Crawlward", "X-Crawlward"]), [format!("X-Crawlward={said},{said}")]);
}

#[test]
fn a_trusted_header_can_be_read_before_the_access_phase_where_the_server_says_so() {
    let (server, location) = (free_port(), free_port());
    let _nginx = Nginx::start(
        lab(),
        &format!(
            "crawlward_config crawlward.json;
            server {{
                listen 127.0.0.1:{server};
                crawlward off; crawlward_trust_header on;
                location / {{ return 200 $http_x_crawlward; }}
            }}
            server {{
                listen 127.0.0.1:{location};
                location / {{ crawlward off; crawlward_trust_header on; return 200 $http_x_crawlward; }}
                location /later {{ crawlward off; crawlward_trust_header on; try_files /none @later; }}
                location @later {{ return 200 $http_x_crawlward; }}
            }}"
        ),
    );
    let request = |path| Request::get(path).header("X-Crawlward", VERIFIED);
    assert_eq!(ask(server, &request("/")).text(), VERIFIED);
    assert_eq!(ask(location, &request("/")).text(), "");
    assert_eq!(ask(location, &request("/later")).text(), VERIFIED);
}
