//! Two tiers: an outer nginx that decides, and an inner one that leaves what the outer one says.

use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{HTTP, VERIFIED, lab, person, spoofed, verified};
use crawlpike_tests::nginx::{Nginx, ask};
use crawlpike_tests::origin::{Origin, Received, start_echo};
use crawlpike_tests::ports::free_port;

const OBSERVED: &str = r#"action=deny, identity=spoofed, agent="LabBot""#;

#[test]
fn an_inner_tier_passes_on_what_the_outer_one_says() {
    let (origin, outer, inner) = (Origin::start(), free_port(), free_port());
    let _inner = Nginx::start(
        lab(),
        &format!(
            "crawlpike_config crawlpike.json;
            crawlpike off;
            map $uri $mode {{ default off; /asked/observe observe; }}
            server {{
                listen 127.0.0.1:{inner};
                location / {{ proxy_pass http://127.0.0.1:{origin}; }}
                location /trusted {{
                    crawlpike_trust_header on;
                    proxy_pass http://127.0.0.1:{origin};
                    location /trusted/not {{ crawlpike_trust_header off; proxy_pass http://127.0.0.1:{origin}; }}
                }}
                location /decided {{
                    crawlpike_trust_header on; crawlpike observe;
                    proxy_pass http://127.0.0.1:{origin};
                }}
                location /asked {{
                    crawlpike_trust_header on; crawlpike $mode;
                    proxy_pass http://127.0.0.1:{origin};
                }}
                location /moved {{ crawlpike_trust_header on; rewrite ^ /again last; }}
                location /again {{ try_files /none @last; }}
                location @last {{ crawlpike_trust_header on; proxy_pass http://127.0.0.1:{origin}; }}
            }}",
            origin = origin.port()
        ),
    );
    let _outer = Nginx::start(
        lab(),
        &format!(
            "{HTTP} crawlpike observe;
            server {{ listen 127.0.0.1:{outer}; location / {{ proxy_pass http://127.0.0.1:{inner}; }} }}"
        ),
    );
    let seen =
        |request: &Request| Received::of(&ask(outer, request)).expect("an answer of the origin").crawlpike;
    for path in ["/trusted", "/moved", "/again", "/asked"] {
        assert_eq!(seen(&verified(path)).as_deref(), Some(VERIFIED), "{path}");
        assert_eq!(seen(&spoofed(path)).as_deref(), Some(OBSERVED), "{path}");
        assert_eq!(seen(&person(path)), None, "{path}");
        let forged = person(path).header("X-Crawlpike", VERIFIED).header("X_Crawlpike", VERIFIED);
        assert_eq!(seen(&forged), None, "the outer tier removes what clients send: {path}");
    }
    for path in ["/", "/trusted/not"] {
        assert_eq!(seen(&verified(path)), None, "{path}");
    }
    // Its own decision, about the outer tier's address, which is a private one.
    let doubtful = r#"action=allow, identity=unverified, agent="LabBot""#;
    for path in ["/decided", "/asked/observe"] {
        assert_eq!(seen(&verified(path)).as_deref(), Some(doubtful), "{path}");
    }
}

#[test]
fn the_header_alone_is_trusted_in_no_other_spelling() {
    let (echo, port) = (start_echo(), free_port());
    let _nginx = Nginx::start(
        lab(),
        &format!(
            "crawlpike_config crawlpike.json;
            crawlpike off;
            crawlpike_trust_header on;
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
        let is_ours = |name: &str| name.to_ascii_lowercase().contains("crawlpike");
        let lines = text.split("\r\n").filter_map(|line| line.split_once(": "));
        lines
            .filter(|(name, _)| is_ours(name))
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(relayed(&["X-Crawlpike"]), [format!("X-Crawlpike={said}")]);
    assert_eq!(relayed(&["x-crawlpike"]), [format!("X-Crawlpike={said}")]);
    assert_eq!(relayed(&["X_Crawlpike", "X.Crawlpike", "X~Crawlpike"]), [""; 0]);
    let all = ["X_Crawlpike", "X-Crawlpike", "X.Crawlpike"];
    assert_eq!(relayed(&all), [format!("X-Crawlpike={said}")]);
    // Lines that a proxy before has not joined.
    assert_eq!(relayed(&["X-Crawlpike", "X-Crawlpike"]), [format!("X-Crawlpike={said},{said}")]);
}

#[test]
fn a_trusted_header_can_be_read_before_the_access_phase_where_the_server_says_so() {
    let (server, location) = (free_port(), free_port());
    let _nginx = Nginx::start(
        lab(),
        &format!(
            "crawlpike_config crawlpike.json;
            server {{
                listen 127.0.0.1:{server};
                crawlpike off; crawlpike_trust_header on;
                location / {{ return 200 $http_x_crawlpike; }}
            }}
            server {{
                listen 127.0.0.1:{location};
                location / {{ crawlpike off; crawlpike_trust_header on; return 200 $http_x_crawlpike; }}
                location /later {{ crawlpike off; crawlpike_trust_header on; try_files /none @later; }}
                location @later {{ return 200 $http_x_crawlpike; }}
            }}"
        ),
    );
    let request = |path| Request::get(path).header("X-Crawlpike", VERIFIED);
    assert_eq!(ask(server, &request("/")).text(), VERIFIED);
    assert_eq!(ask(location, &request("/")).text(), "");
    assert_eq!(ask(location, &request("/later")).text(), VERIFIED);
}
