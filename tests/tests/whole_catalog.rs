//! A new user: `crawlward init`, then `crawlward update`. A server on loopback plays all publishers of the catalog, reached
//! through a proxy, so that the URLs and the names in the certificates are the real ones.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::thread;

use crawlward_tests::artefacts;
use crawlward_tests::nginx::{Folder, Nginx};
use crawlward_tests::publisher::{Authority, Publisher, respond, trust};
use serde_json::{Value, json};

/// The prefixes of a feed, by its number in the catalog: no other feed has them.
fn prefixes(number: usize) -> [String; 3] {
    [format!("11.{number}.0.0/24"), format!("11.{number}.1.7/32"), format!("2600:{number:x}::/48")]
}

/// Addresses in [`prefixes`].
fn addresses(number: usize) -> [String; 3] {
    [format!("11.{number}.0.200"), format!("11.{number}.1.7"), format!("2600:{number:x}::1")]
}

/// A list as its publisher writes it.
fn list(feed: &Value, number: usize) -> String {
    let [first, second, third] = prefixes(number);
    let google = json!({ "creationTime": "2026-11-22T00:00:00.000000", "prefixes":
        [{ "ipv4Prefix": first }, { "ipv4Prefix": second }, { "ipv6Prefix": third }] });
    match (feed["format"].as_str(), feed["shape"].as_str(), feed["name"].as_str().unwrap()) {
        (Some("cidr"), None, _) => format!("{first}\r\n{second}\r\n{third}\r\n"),
        (None, Some("html"), _) => {
            let json = format!("{google:#}").replace('"', "&quot;");
            format!("<!doctype html>\n<html><body class=\"x\"><pre>{json}</pre></body></html>")
        }
        (None, Some("*[]"), _) => json!({ "US": [first, second], "EU": [third] }).to_string(),
        (None, None, "checkly-ipv4" | "checkly-ipv6" | "updown-nodes") => {
            json!([first, second, third]).to_string()
        }
        (None, None, "ahrefs-crawler") => {
            json!({ "ips": [{ "ip_address": first }, { "ip_address": second }, { "ip_address": third }] })
                .to_string()
        }
        (None, None, "datadog-synthetics") => {
            json!({ "version": 1, "modified": "2026-11-20-00-00-00", "synthetics":
                { "prefixes_ipv4": [first, second], "prefixes_ipv6": [third] } })
            .to_string()
        }
        (None, None, _) => google.to_string(),
        other => panic!("no publisher of the test writes {other:?}"),
    }
}

/// A proxy that leads to one port of loopback, whatever it is asked for.
fn proxy_to(port: u16) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let own = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || drop(tunnel(client, port)));
        }
    });
    own
}

fn tunnel(mut client: TcpStream, port: u16) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < 4096 {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"CONNECT "), "only HTTPS is asked for");
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        let _ = io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    });
    io::copy(&mut &server, &mut client)?;
    client.shutdown(Shutdown::Write)
}

fn catalog() -> Value {
    let path = artefacts::repository().join("core/data/catalog.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// `nginx -t` with the new configuration.
fn nginx_takes(folder: &Folder, config: &str) {
    let check = Nginx::check(folder, &format!("crawlward_config {config};"));
    assert!(check.status.success(), "{}", said(&check));
}

/// The decisions of requests.
fn decide(config: &str, requests: &[Value]) -> Vec<Value> {
    let mut child = Command::new(artefacts::cli())
        .args(["explain", "--config", config, "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let writer = thread::spawn(move || stdin.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_agent_with_a_feed_is_verified_from_its_ranges_and_nowhere_else() {
    // JAFAR-14, JAFAR-20
    let catalog = catalog();
    let feeds = catalog["feeds"].as_array().unwrap();
    let url = |feed: &Value| feed["url"].as_str().unwrap().to_owned();
    let lists: BTreeMap<String, String> =
        feeds.iter().enumerate().map(|(number, feed)| (url(feed), list(feed, number))).collect();
    let hosts: BTreeSet<String> = lists.keys().map(|url| url.split('/').nth(2).unwrap().to_owned()).collect();
    let authority = Authority::new();
    let publisher =
        Publisher::https(authority.identity_of(hosts.into_iter().collect()), move |asked, connection| {
            let url = format!("https://{}{}", asked.header("host").unwrap_or_default(), asked.target);
            match lists.get(&url) {
                Some(list) => respond(connection, "200 OK", &[], list),
                None => respond(connection, "404 Not Found", &[], &url),
            }
        });
    let proxy = proxy_to(publisher.port());

    let folder = Folder::new();
    let config = folder.path().join("crawlward/crawlward.json").display().to_string();
    let init =
        Command::new(artefacts::cli()).arg("init").arg(folder.path().join("crawlward")).output().unwrap();
    assert!(init.status.success(), "{}", said(&init));
    nginx_takes(&folder, &config);
    let mut update = Command::new(artefacts::cli());
    trust(&mut update, &authority.file());
    update.args(["update", "--config", &config]).env("https_proxy", format!("http://127.0.0.1:{proxy}"));
    let update = update.output().unwrap();
    assert!(update.status.success(), "{}", said(&update));
    nginx_takes(&folder, &config);

    let number_of: BTreeMap<&str, usize> =
        feeds.iter().enumerate().map(|(number, feed)| (feed["name"].as_str().unwrap(), number)).collect();
    let (mut requests, mut expected) = (Vec::new(), Vec::new());
    let mut ask = |token: &str, ip: &str, identity: &'static str| {
        requests.push(json!({ "ip": ip, "user_agent": format!("Mozilla/5.0 (compatible; {token}/1.0)") }));
        expected.push((token.to_owned(), identity));
    };
    let mut agents = 0;
    for agent in catalog["agents"].as_array().unwrap() {
        let Some(names) = agent["feeds"].as_array() else { continue };
        agents += 1;
        let token = agent["token"].as_str().unwrap();
        let own: BTreeSet<usize> = names.iter().map(|name| number_of[name.as_str().unwrap()]).collect();
        for number in &own {
            addresses(*number).iter().for_each(|address| ask(token, address, "verified"));
        }
        let elsewhere = if agent["ranges"] == "partial" { "unverified" } else { "spoofed" };
        ask(token, "203.0.113.50", elsewhere);
        ask(token, "2001:db8::50", elsewhere);
        let others = (0..feeds.len()).find(|number| !own.contains(number)).unwrap();
        ask(token, &addresses(others)[0], elsewhere);
    }
    assert!(agents > 60, "{agents} agents have feeds");
    let decisions = decide(&config, &requests);
    assert_eq!(decisions.len(), requests.len());
    for ((decision, request), (token, identity)) in decisions.iter().zip(&requests).zip(&expected) {
        assert_eq!(
            (&decision["agent"], &decision["identity"]),
            (&json!(token), &json!(identity)),
            "{request}"
        );
        assert_eq!(
            (&decision["enforced"], &decision["action"] == "serve"),
            (&json!(false), false),
            "{request}"
        );
    }
}
