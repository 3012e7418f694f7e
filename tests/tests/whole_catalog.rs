//! A new user: `crawlpike init`, then `crawlpike update`. A server on loopback plays all publishers of the catalog, reached
//! through a proxy, so that the URLs and the names in the certificates are the real ones.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::thread;

use crawlpike_core::sign::DIRECTORY_TYPE;
use crawlpike_tests::artefacts;
use crawlpike_tests::cases::CaseRequest;
use crawlpike_tests::nginx::{Folder, Nginx};
use crawlpike_tests::publisher::{Authority, Publisher, proxy_to, respond, trust};
use crawlpike_tests::sign::directory;
use serde_json::{Value, json};

/// The prefixes of a feed, by its number in the catalog: no other feed has them, and no guard finds them too large.
fn prefixes(number: usize) -> [String; 3] {
    [format!("11.{number}.0.0/28"), format!("11.{number}.1.7/32"), format!("2600:{number:x}::/64")]
}

/// Addresses in [`prefixes`].
fn addresses(number: usize) -> [String; 3] {
    [format!("11.{number}.0.9"), format!("11.{number}.1.7"), format!("2600:{number:x}::1")]
}

/// A list as its publisher writes it. One of which a copy ships has grown since.
fn list(feed: &Value, number: usize) -> String {
    let [first, second, third] = prefixes(number);
    let copy =
        artefacts::repository().join(format!("core/data/feeds/{}.json", feed["name"].as_str().unwrap()));
    if let Ok(copy) = std::fs::read(copy) {
        let mut copy: Value = serde_json::from_slice(&copy).unwrap();
        let new = json!([{ "ipv4Prefix": first }, { "ipv4Prefix": second }, { "ipv6Prefix": third }]);
        copy["prefixes"].as_array_mut().unwrap().extend(new.as_array().unwrap().clone());
        return copy.to_string();
    }
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
        (None, None, "datadog-synthetics") => {
            json!({ "version": 1, "modified": "2026-11-20-00-00-00", "synthetics":
                { "prefixes_ipv4": [first, second], "prefixes_ipv6": [third] } })
            .to_string()
        }
        (None, None, _) => google.to_string(),
        other => panic!("no publisher of the test writes {other:?}"),
    }
}

fn catalog() -> Value {
    let path = artefacts::repository().join("core/data/catalog.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The directories of keys that the catalog knows, with the agents whose keys they have. The number of a directory is that of
/// its only key.
fn directories(catalog: &Value) -> BTreeMap<String, (u8, String)> {
    let agents = catalog["agents"].as_array().unwrap().iter();
    let signing = agents.filter_map(|agent| Some((agent["keys"].as_array()?, agent["token"].as_str()?)));
    let urls = signing.flat_map(|(keys, token)| keys.iter().map(move |url| (url.as_str().unwrap(), token)));
    (1..).zip(urls).map(|(number, (url, token))| (url.to_owned(), (number, token.to_owned()))).collect()
}

/// A request of a browser that the agent of a directory has signed.
fn signed(directory: &str, key: u8) -> Value {
    let sign = json!({ "key": key, "directory": directory });
    let request = json!({ "ip": "203.0.113.50", "host": "example.com", "sign": sign });
    let mut request: CaseRequest = serde_json::from_value(request).unwrap();
    request.sign();
    json!({ "ip": request.ip, "host": request.host, "path": request.path, "headers": request.headers })
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// `nginx -t` with the new configuration.
fn nginx_takes(folder: &Folder, config: &str) {
    let check = Nginx::check(folder, &format!("crawlpike_config {config};"));
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
fn each_agent_is_verified_from_its_ranges_or_by_its_key_and_in_no_other_way() {
    // JAFAR-14, JAFAR-20, SIG-5, SIG-7
    let catalog = catalog();
    let feeds = catalog["feeds"].as_array().unwrap();
    let url = |feed: &Value| feed["url"].as_str().unwrap().to_owned();
    let lists: BTreeMap<String, String> =
        feeds.iter().enumerate().map(|(number, feed)| (url(feed), list(feed, number))).collect();
    let directories = directories(&catalog);
    let keys: BTreeMap<String, String> =
        directories.iter().map(|(url, (number, _))| (url.clone(), directory(&[*number]))).collect();
    let hosts: BTreeSet<String> =
        lists.keys().chain(keys.keys()).map(|url| url.split('/').nth(2).unwrap().to_owned()).collect();
    let authority = Authority::new();
    let publisher =
        Publisher::https(authority.identity_of(hosts.into_iter().collect()), move |asked, connection| {
            let url = format!("https://{}{}", asked.header("host").unwrap_or_default(), asked.target);
            let content_type = format!("Content-Type: {DIRECTORY_TYPE}");
            match (lists.get(&url), keys.get(&url)) {
                (Some(list), _) => respond(connection, "200 OK", &[], list),
                (None, Some(keys)) => respond(connection, "200 OK", &[&content_type], keys),
                (None, None) => respond(connection, "404 Not Found", &[], &url),
            }
        });
    let proxy = proxy_to(publisher.port());

    let folder = Folder::new();
    let config = folder.path().join("crawlpike/crawlpike.json").display().to_string();
    let init =
        Command::new(artefacts::cli()).arg("init").arg(folder.path().join("crawlpike")).output().unwrap();
    assert!(init.status.success(), "{}", said(&init));
    nginx_takes(&folder, &config);
    // From the copies that ship, until they are half a year old.
    let start = json!({ "ip": "132.196.86.7", "user_agent": "Mozilla/5.0 (compatible; GPTBot/1.3)" });
    let copy = std::fs::metadata(folder.path().join("crawlpike/feeds/openai-gptbot.json")).unwrap();
    let is_young = copy.modified().unwrap().elapsed().unwrap().as_secs() < 180 * 86_400;
    let identity = if is_young { "verified" } else { "unverified" };
    assert_eq!(decide(&config, &[start])[0]["identity"], identity);
    let mut update = Command::new(artefacts::cli());
    trust(&mut update, &authority.file());
    // The copy of this one has 14 addresses: it grows by more than the guard allows.
    update
        .args(["update", "--config", &config, "--accept", "perplexity-user"])
        .env("https_proxy", format!("http://127.0.0.1:{proxy}"));
    let update = update.output().unwrap();
    assert!(update.status.success(), "{}", said(&update));
    nginx_takes(&folder, &config);

    let number_of: BTreeMap<&str, usize> =
        feeds.iter().enumerate().map(|(number, feed)| (feed["name"].as_str().unwrap(), number)).collect();
    let (mut requests, mut expected) = (Vec::new(), Vec::new());
    let mut ask = |agent: &Value, ip: &str, identity: &'static str| {
        let token = agent["token"].as_str().unwrap();
        let user_agent = if agent["begins"] == true {
            format!("{token}/1.0")
        } else {
            format!("Mozilla/5.0 (compatible; {token}/1.0)")
        };
        requests.push(json!({ "ip": ip, "user_agent": user_agent }));
        expected.push((token.to_owned(), identity));
    };
    let mut agents = 0;
    for agent in catalog["agents"].as_array().unwrap() {
        let Some(names) = agent["feeds"].as_array() else { continue };
        agents += 1;
        let own: BTreeSet<usize> = names.iter().map(|name| number_of[name.as_str().unwrap()]).collect();
        for number in &own {
            addresses(*number).iter().for_each(|address| ask(agent, address, "verified"));
        }
        let elsewhere = if agent["ranges"] == "partial" { "unverified" } else { "spoofed" };
        ask(agent, "203.0.113.50", elsewhere);
        ask(agent, "2001:db8::50", elsewhere);
        let others = (0..feeds.len()).find(|number| !own.contains(number)).unwrap();
        ask(agent, &addresses(others)[0], elsewhere);
    }
    assert!(agents > 60, "{agents} agents have feeds");
    for (url, (number, token)) in &directories {
        requests.push(signed(url, *number));
        expected.push((token.clone(), "verified"));
        requests.push(signed(url, 200));
        expected.push((String::new(), "generic"));
    }
    assert!(directories.len() >= 6, "{directories:?}");
    let decisions = decide(&config, &requests);
    assert_eq!(decisions.len(), requests.len());
    for ((decision, request), (token, identity)) in decisions.iter().zip(&requests).zip(&expected) {
        let token = if token.is_empty() { Value::Null } else { json!(token) };
        assert_eq!((&decision["agent"], &decision["identity"]), (&token, &json!(identity)), "{request}");
        assert_eq!(
            (&decision["enforced"], &decision["action"] == "serve"),
            (&json!(false), false),
            "{request}"
        );
    }
}
