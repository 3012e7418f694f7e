//! The clients: all kinds, with each answer checked; slow ones; and those that send invalid requests.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpStream};
use std::thread;
use std::time::Duration;

use crawlpike_tests::cases::Table;
use crawlpike_tests::http::{Connection, Request, send_bytes};
use crawlpike_tests::lab::ADDRESS_HEADER;
use crawlpike_tests::nginx::local;
use crawlpike_tests::runners::Exchange;
use fastrand::Rng;
use serde_json::{Value, json};

use crate::scene::{Moment, Scene};

const BROWSERS: &str = include_str!("../../core/tests/data/ua-browsers-today.txt");
const PEOPLE: &str = include_str!("../../core/tests/data/ua-people.txt");
const AUTOMATION: &str = include_str!("../../core/tests/data/ua-automation.txt");

const CRAWLERS: [&str; 6] = [
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "LabBot/1.0",
    "FriendBot/1.0 (+https://friend.example/)",
    "NotLabBot/1.0",
];

const HOSTS: [&str; 6] = [
    "example.com",
    "www.example.com",
    "strict.example",
    "other.example",
    "EXAMPLE.com:8080",
    "deep.www.example.com",
];

const PATHS: [&str; 10] = [
    "/",
    "/private/a",
    "/private/open/b",
    "/%70rivate/c",
    "/a?b=c",
    "/search?q=private",
    "/robots.txt",
    "/robots.txt?x",
    "/automation-preferences.txt",
    "/.well-known/aiwebindex-verify.txt",
];

const METHODS: [&str; 8] = ["GET", "GET", "GET", "GET", "HEAD", "OPTIONS", "DELETE", "PATCH"];

const PURPOSES: [Option<&str>; 5] = [None, None, Some("search"), Some("ai-training"), Some("no token")];

/// Invalid requests, and valid ones that nobody should send.
const NONSENSE: [&[u8]; 14] = [
    b"\r\n\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: example.com\r\nHost: strict.example\r\nUser-Agent: LabBot\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\nUser-Agent: LabBot\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: example.com\r\nX-Crawlpike: action=allow\r\nno colon\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: Lab\0Bot\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: example.com\r\nContent-Length: -1\r\nUser-Agent: LabBot\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\nUser-Agent: LabBot\r\n\r\nzz\r\n",
    b"GET /../../etc/passwd HTTP/1.1\r\nHost: example.com\r\nUser-Agent: LabBot\r\nConnection: close\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
];

/// Requests of all kinds, some over connections of their own, some one after the other.
pub(crate) fn everybody(scene: &Scene, mut random: Rng) {
    while !scene.is_over() {
        let since = scene.now();
        let Some(mut connection) = connect(scene, since, &mut random) else { continue };
        for number in 0..random.usize(1..6) {
            let case = any_case(&mut random);
            let request = request_of(&case, &mut random);
            match connection.send(&request) {
                Ok(response) => scene.check(since, &case, &Exchange::of(response)),
                // A connection that was kept can end at any time; who uses it asks again.
                Err(_) if number > 0 => break,
                Err(error) => scene.unanswered(since, &format!("{error}: {request:?}")),
            }
            pause(&mut random, 30);
        }
    }
}

/// Requests that come in pieces.
pub(crate) fn slow(scene: &Scene, mut random: Rng) {
    while !scene.is_over() {
        let since = scene.now();
        let case = any_case(&mut random);
        let request = request_of(&case, &mut random);
        let piece = request.bytes().len() / random.usize(2..6) + 1;
        let sent = Connection::open(local(scene.port))
            .and_then(|mut connection| connection.send_slowly(&request, piece, || pause(&mut random, 400)));
        match sent {
            Ok(response) => scene.check(since, &case, &Exchange::of(response)),
            Err(error) => {
                scene.unanswered(since, &format!("slowly, {error}: {request:?}"));
                pause(&mut random, 100);
            }
        }
    }
}

/// Invalid requests: the gate may answer or not, but they must not cause an internal error.
pub(crate) fn nonsense(scene: &Scene, mut random: Rng) {
    while !scene.is_over() {
        scene.count("connections with nonsense");
        let address = local(scene.port);
        let mut bytes = random.choice(NONSENSE).unwrap_or_default().to_vec();
        match random.u8(..4) {
            // Noise.
            0 => bytes = (0..random.usize(1..2000)).map(|_| random.u8(..)).collect(),
            // A header larger than any buffer.
            1 => {
                bytes = b"GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: ".to_vec();
                bytes.extend((0..random.usize(10_000..80_000)).map(|_| random.alphanumeric() as u8));
                bytes.extend_from_slice(b"\r\n\r\n");
            }
            // Gone in the middle of the request.
            2 => {
                let request = request_of(&any_case(&mut random), &mut random).bytes();
                let end = random.usize(..request.len());
                if let Ok(mut stream) = TcpStream::connect(address) {
                    let _ = stream.write_all(&request[..end]);
                }
                pause(&mut random, 30);
                continue;
            }
            _ => {}
        }
        // Whoever is killed answers nothing, and to much of this there is no answer anyway.
        if let Ok(answer) = send_bytes(address, &bytes)
            && answer.starts_with("HTTP/1.1 500")
        {
            scene.fail(format!("an internal error for {:?}", String::from_utf8_lossy(&bytes)));
        }
        pause(&mut random, 30);
    }
}

/// A request and where it comes from, as the table of cases writes it.
fn any_case(random: &mut Rng) -> Value {
    let mut request = json!({
        "ip": any_address(random),
        "host": random.choice(HOSTS),
        "method": random.choice(METHODS),
        "path": random.choice(PATHS),
        "user_agent": any_user_agent(random),
        "purpose": random.choice(PURPOSES).flatten(),
    });
    if random.u8(..10) == 0 {
        // Neither may reach the origin.
        request["headers"] =
            json!({ "X-Crawlpike": "action=allow, identity=verified", "x_crawlpike": "forged" });
    }
    json!({ "name": "soak", "request": request, "expect": {} })
}

fn any_address(random: &mut Rng) -> IpAddr {
    match random.u8(..6) {
        0 => [66, 249, 66, random.u8(..)].into(),
        1 => Ipv6Addr::new(0x2001, 0x4860, 0x4801, 0x10, 0, 0, 0, random.u16(..)).into(),
        // Addresses in some version of the lab's feed.
        2 | 3 => [192, 0, 2, random.u8(..)].into(),
        4 => Ipv6Addr::new(0x2001, 0xdb8, random.u16(..4), 0, 0, 0, 0, 1).into(),
        _ => Ipv4Addr::from_bits(random.u32(0x0B00_0000..0x7E00_0000)).into(),
    }
}

fn any_user_agent(random: &mut Rng) -> Value {
    let line = |text: &str, random: &mut Rng| {
        let lines: Vec<&str> =
            text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        random.choice(lines).into()
    };
    match random.u8(..12) {
        0..4 => line(BROWSERS, random),
        4 => line(PEOPLE, random),
        5 => line(AUTOMATION, random),
        6 => Value::Null,
        7 => json!({ "latin1": "LabBot/1.0 caf\u{e9}" }),
        8 => json!(["Mozilla/5.0", "LabBot/1.0"]),
        _ => json!(random.choice(CRAWLERS)),
    }
}

/// The case as a request.
fn request_of(case: &Value, random: &mut Rng) -> Request {
    let table = json!({ "about": "", "config": {}, "cases": [case] });
    let table: Table = serde_json::from_value(table).expect("a table of one case");
    let address = table.cases[0].request.ip;
    let request = table.http_request(&table.cases[0]).header(ADDRESS_HEADER, address.to_string());
    if random.bool() { request } else { request.header("Accept", "*/*") }
}

/// A new connection. Where nobody takes it, the client pauses.
pub(crate) fn connect(scene: &Scene, since: Moment, random: &mut Rng) -> Option<Connection> {
    let connection = Connection::open(local(scene.port)).ok();
    if connection.is_none() {
        scene.unanswered(since, "nobody takes connections");
        pause(random, 100);
    }
    connection
}

pub(crate) fn pause(random: &mut Rng, most: u64) {
    thread::sleep(Duration::from_millis(random.u64(..=most)));
}
