//! The source of the client's address in nginx.

use std::net::{Ipv6Addr, SocketAddr};

use crawlpike_tests::http::{Connection, Request, send};
use crawlpike_tests::lab::{HTTP, from, lab, strict_lab};
use crawlpike_tests::nginx::{Nginx, ask};
use crawlpike_tests::ports::free_port;

/// `return` is done before the access phase; a file is not.
fn site(listen: &str) -> String {
    format!("server {{ listen {listen}; root .; location / {{ try_files /lab.txt =404; }} }}")
}

fn lab_bot() -> Request {
    Request::get("/").agent("LabBot/1.0")
}

#[test]
fn the_address_of_a_v4_connection() {
    let port = free_port();
    let http = format!("crawlpike_config crawlpike.json; {}", site(&format!("127.0.0.1:{port}")));
    let at_home = strict_lab();
    at_home.write("lab.txt", "127.0.0.1\n");
    let nginx = Nginx::start(at_home, &http);
    assert_eq!(ask(port, &lab_bot()).status, 200);
    drop(nginx);
    let _nginx = Nginx::start(strict_lab(), &http);
    assert_eq!(ask(port, &lab_bot()).denial_reason().as_deref(), Some("unverified-agent"));
}

#[test]
fn the_address_of_a_v6_connection() {
    let (yes, no) = (free_port(), free_port());
    let listen = |port| SocketAddr::from((Ipv6Addr::LOCALHOST, port));
    let folder = strict_lab();
    folder.write("lab.txt", "::1\n");
    let both = site(&listen(yes).to_string()) + &site(&format!("127.0.0.1:{no}"));
    let _nginx = Nginx::start(folder, &format!("crawlpike_config crawlpike.json; {both}"));
    assert_eq!(send(listen(yes), &lab_bot()).unwrap().status, 200);
    assert_eq!(ask(no, &lab_bot()).status, 403);
}

#[test]
fn a_v4_client_of_a_dual_stack_socket() {
    let port = free_port();
    let folder = strict_lab();
    // The kernel gives ::ffff:127.0.0.1.
    folder.write("lab.txt", "127.0.0.1\n");
    let http = format!("crawlpike_config crawlpike.json; {}", site(&format!("[::]:{port} ipv6only=off")));
    let _nginx = Nginx::start(folder, &http);
    assert_eq!(ask(port, &lab_bot()).status, 200);
    assert_eq!(send(SocketAddr::from((Ipv6Addr::LOCALHOST, port)), &lab_bot()).unwrap().status, 403);
}

#[test]
fn the_address_that_realip_finds() {
    let port = free_port();
    let _nginx = Nginx::start(strict_lab(), &(HTTP.to_owned() + &site(&format!("127.0.0.1:{port}"))));
    for (address, status) in [
        ("192.0.2.1", 200),
        ("2001:db8::7", 200),
        ("::ffff:192.0.2.1", 200),
        ("192.0.3.1", 403),
        ("2001:db9::7", 403),
        // realip takes no notice of it: the address is that of the connection.
        ("unknown", 403),
    ] {
        assert_eq!(ask(port, &from(address, lab_bot())).status, status, "{address}");
    }
}

#[test]
fn realip_of_a_location_counts_there() {
    let port = free_port();
    let http = format!(
        "crawlpike_config crawlpike.json;
        # The decision is asked for before the location is known.
        map $crawlpike_identity $before {{ default 1; }}
        server {{
            listen 127.0.0.1:{port};
            root .;
            if ($before = 0) {{ return 500; }}
            location /inside {{
                set_real_ip_from 127.0.0.1;
                real_ip_header X-Forwarded-For;
                try_files /lab.txt =404;
            }}
            location / {{ try_files /lab.txt =404; }}
        }}"
    );
    let _nginx = Nginx::start(strict_lab(), &http);
    let request = |target| from("192.0.2.1", Request::get(target).agent("LabBot/1.0"));
    assert_eq!(ask(port, &request("/inside")).status, 200);
    assert_eq!(ask(port, &request("/outside")).status, 403);
}

#[test]
fn who_comes_through_a_unix_socket_has_no_address_and_is_not_spoofed() {
    let folder = lab();
    let http = format!(
        "crawlpike_config crawlpike.json;
        log_format identity '$crawlpike_identity $crawlpike_action';
        {}",
        site(&format!("unix:{}/gate.sock; access_log identity.log identity", folder.path().display()))
    );
    let nginx = Nginx::start(folder, &http);
    let mut connection = Connection::open_unix(&nginx.folder().path().join("gate.sock")).unwrap();
    assert_eq!(connection.send(&lab_bot()).unwrap().status, 200);
    assert_eq!(nginx.wait_for_line("identity.log", ""), "unverified allow");
}
