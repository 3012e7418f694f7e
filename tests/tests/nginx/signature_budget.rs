//! The budget for signatures that do not hold: all workers share it, and it outlives them.

use crawlpike_tests::cases::CaseRequest;
use crawlpike_tests::http::{Connection, Request, Response};
use crawlpike_tests::lab::from;
use crawlpike_tests::nginx::{Folder, Nginx, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use crawlpike_tests::sign::directory;
use serde_json::json;

/// A request from an address that one key has signed and that names another one.
fn signed(address: &str, path: &str, key: u8, named: u8) -> Request {
    let sign = json!({ "key": key, "named": named, "directory": "https://signer.test" });
    let case = json!({ "ip": address, "host": "example.com", "path": path, "sign": sign });
    let mut case: CaseRequest = serde_json::from_value(case).unwrap();
    case.sign();
    let request = from(address, Request::get(path).agent("SigningBot/1.0"));
    case.headers.iter().fold(request, |request, (name, value)| request.header(name, value))
}

fn is_refused_for_now(response: &Response) -> bool {
    response.status == 503 && response.header("retry-after") == Some("1")
}

// SIG-12
#[test]
fn an_attack_does_not_reach_networks_that_signed_before_a_reload() {
    let (folder, port) = (Folder::new(), free_port());
    folder.write("keys.json", directory(&[1]));
    let keys = json!([{ "directory": "https://signer.test", "source": "keys.json" }]);
    let document = json!({
        "mode": "enforce", "agents": [{ "token": "SigningBot", "keys": keys }], "sites": [{ "unverified": "deny" }],
    });
    folder.write("crawlpike.json", document.to_string());
    let http = format!(
        "crawlpike_config crawlpike.json; set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;
        server {{ listen 127.0.0.1:{port}; keepalive_requests 1000000; location / {{ empty_gif; }} }}"
    );
    let nginx = Nginx::start(folder, &http);
    let ask = |request: &Request| Connection::open(local(port)).unwrap().send(request).unwrap();
    let genuine = |address, path| ask(&signed(address, path, 1, 1));
    let first = signed("192.0.2.1", "/1", 1, 1);
    assert_eq!(ask(&first).status, 200);
    // Whoever has seen a request can send it from elsewhere, too. That makes the other network no better known.
    let replayed = String::from_utf8(first.bytes()).unwrap().replace("192.0.2.1", "203.0.113.1");
    let replay = || Connection::open(local(port)).unwrap().send_text(&replayed).unwrap();
    assert_eq!(replay().status, 200);
    nginx.reload();
    nginx.wait_for_line("error.log", "exited with code 0");
    // As long as the budget of all others is spent, those that are known have theirs.
    let forged = String::from_utf8(signed("11.0.0.1", "/", 2, 1).bytes()).unwrap();
    let mut connection = Connection::open(local(port)).unwrap();
    let mut number = 0_u32;
    // Sends forged requests at once, each from another network, and returns true if the last one is refused.
    let mut is_spent = |count: u32| {
        let requests: String = (number..number + count)
            .map(|number| {
                forged.replace("11.0.0.1", &format!("11.{}.{}.1", number / 250 % 250, number % 250))
            })
            .collect();
        number += count;
        let first = connection.send_text(&requests).unwrap();
        let last = (1..count).map(|_| connection.send_text("").unwrap()).last();
        is_refused_for_now(&last.unwrap_or(first))
    };
    wait_for("a second in which all is spent", || {
        (0..20).any(|_| is_spent(100)).then_some(())?;
        let (known, replay) = (genuine("192.0.2.9", "/2"), replay());
        is_spent(1).then_some(())?;
        assert_eq!(known.status, 200, "from the network of the first request");
        assert!(is_refused_for_now(&replay), "{replay:?}");
        Some(())
    });
}
