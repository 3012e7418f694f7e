//! `crawlpike aiwebindex token`, `verify` and `document URL`, with DNS and HTTPS servers on loopback. The latter are reached
//! through a proxy, so that names and certificates are those of real domains.

use std::collections::BTreeSet;
use std::io;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use crawlpike_tests::dns::{DnsServer, Reply};
use crawlpike_tests::publisher::{Asked, Authority, Connection, Publisher, proxy_to, respond, trust};
use serde_json::Value;

use crate::done::{Done, finish};

const TOKEN: &str = "8a93c5f24b1e7d0c3f9a8b2e6d4c1f0e";
const PROOF: &str = "aiwi-verify=8a93c5f24b1e7d0c3f9a8b2e6d4c1f0e";

/// Servers of example.com, www.example.com and example.org, all of them one.
struct Web {
    authority: Authority,
    publisher: Publisher,
    proxy: u16,
}

impl Web {
    fn new(answer: impl Fn(&Asked, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let authority = Authority::new();
        let names = ["example.com", "www.example.com", "example.org"].map(String::from);
        let publisher = Publisher::https(authority.identity_of(names.into()), answer);
        let proxy = proxy_to(publisher.port());
        Self { authority, publisher, proxy }
    }

    fn run(&self, arguments: &[&str]) -> Done {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crawlpike"));
        trust(&mut command, &self.authority.file());
        command.arg("aiwebindex").args(arguments).stdin(Stdio::null());
        command.env("https_proxy", format!("http://127.0.0.1:{}", self.proxy));
        finish(command)
    }

    fn verify(&self, arguments: &[&str]) -> Done {
        self.run(&[&["verify", "example.com", "--token", TOKEN], arguments].concat())
    }
}

fn host(asked: &Asked) -> String {
    asked.header("host").unwrap_or_default().to_owned()
}

#[test]
fn aiwi_19_tokens_are_random_and_never_the_same() {
    // AIWI-19
    let web = Web::new(|_, _| Ok(()));
    let tokens: BTreeSet<String> = (0..20).map(|_| web.run(&["token"]).stdout).collect();
    assert_eq!(tokens.len(), 20);
    for token in &tokens {
        let token = token.strip_suffix('\n').unwrap();
        // 128 bits.
        assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    }
    web.run(&["token", "example.com"])
        .prints("_aiwebindex-verify.example.com. TXT \"aiwi-verify=")
        .prints("https://example.com/.well-known/aiwebindex-verify.txt");
}

#[test]
fn aiwi_14_several_resolvers_are_asked_for_the_txt_record() {
    // AIWI-14
    let web = Web::new(|_, _| Ok(()));
    let verify = |replies: &[Reply], more: &[&str]| {
        let servers: Vec<DnsServer> = replies.iter().cloned().map(DnsServer::new).collect();
        let addresses: Vec<String> = servers.iter().map(DnsServer::address).collect();
        let resolvers = addresses.iter().flat_map(|address| ["--resolver", address]);
        let arguments: Vec<&str> =
            ["--method", "dns"].into_iter().chain(resolvers).chain(more.iter().copied()).collect();
        let done = web.verify(&arguments);
        for server in &servers {
            assert!(server.asked().iter().all(|name| name == "_aiwebindex-verify.example.com."));
            assert!(!server.asked().is_empty());
        }
        (done.status, addresses.iter().fold(done.stdout, |text, address| text.replace(address, "R")))
    };
    let (status, text) = verify(&[Reply::text(PROOF)], &[]);
    let report = "TXT _aiwebindex-verify.example.com\n  R: verified\nexample.com is verified by DNS\n";
    assert_eq!((status, &*text), (0, report));
    // One that says so is enough, whatever the others do.
    let split = vec![vec!["other".into()], vec!["aiwi-verify=".into(), TOKEN.into()]];
    let replies = [Reply::NoName, Reply::Failure, Reply::text("aiwi-verify=0000"), Reply::Texts(split)];
    let (status, text) = verify(&replies, &[]);
    assert_eq!(status, 0, "{text}");
    for line in ["R: no aiwi-verify=\n", "R: the resolver answers ", "R: another token\n", "R: verified\n"] {
        assert!(text.contains(line), "{text}");
    }
    let long = vec![vec!["x".repeat(250)]; 20].into_iter().chain([vec![PROOF.to_owned()]]).collect();
    assert_eq!(verify(&[Reply::Long(long)], &[]).0, 0, "over TCP");
    assert_eq!(verify(&[Reply::Alias(vec![vec![PROOF.to_owned()]])], &[]).0, 0, "an alias");
    // Nobody's guess counts, and who says nothing keeps nobody waiting for ever.
    let replies = [Reply::Forged(vec![vec![PROOF.to_owned()]]), Reply::Silence];
    let (status, text) = verify(&replies, &["--timeout", "1"]);
    assert_eq!((status, text.matches("R: no answer within 1 s\n").count()), (1, 2), "{text}");
    for other in ["aiwi-verify=8a93", &format!("x{PROOF}"), &PROOF.to_uppercase(), TOKEN] {
        assert_eq!(verify(&[Reply::text(other)], &[]).0, 1, "{other}");
    }
}

#[test]
fn aiwi_15_the_file_is_fetched_over_https_with_redirects_inside_the_domain() {
    // AIWI-15, AIWI-2
    let web = Web::new(|_, connection| {
        respond(connection, "200 OK", &[], format!("# proofs\r\naiwi-verify=other\r\n{PROOF}\r\n"))
    });
    let done = web.verify(&["--method", "https", "--contact", "https://example.net/bot"]);
    let report = "https://example.com/.well-known/aiwebindex-verify.txt\n  verified\nexample.com is verified by HTTPS\n";
    done.ends(0).prints_only(report);
    let [asked] = &web.publisher.asked()[..] else { panic!("one request") };
    let product = concat!("Crawlpike/", env!("CARGO_PKG_VERSION"));
    let expected = format!("AIWebIndex/2.0 verification (+https://example.net/bot; {product})");
    assert_eq!(asked.header("user-agent"), Some(&*expected));

    let redirect = |from: &'static str, to: &'static str| {
        web.publisher.answer(move |asked, connection| {
            match host(asked) == from && asked.target.starts_with("/.well") {
                true => respond(connection, "302 Found", &[&format!("Location: {to}")], ""),
                false => respond(connection, "200 OK", &[], PROOF),
            }
        });
        web.verify(&["--method", "https", "--json"])
    };
    let json = |done: &Done| serde_json::from_str::<Value>(&done.stdout).unwrap();
    let done = redirect("example.com", "https://www.example.com/proof");
    assert_eq!(
        (done.status, &json(&done)["https"]["redirects"][0]),
        (0, &"https://www.example.com/proof".into())
    );
    for (to, reason) in [
        ("https://example.org/proof", "which is another domain"),
        ("http://example.com/proof", "only https is followed"),
        ("https://192.0.2.1/proof", "which is another domain"),
    ] {
        let done = redirect("example.com", to);
        let report = json(&done);
        assert_eq!(
            (done.status, &report["verified"], &report["https"]["outcome"]),
            (1, &false.into(), &"failed".into())
        );
        assert!(report["https"]["reason"].as_str().unwrap().contains(reason), "{report}");
    }
    web.publisher.answer(|_, connection| respond(connection, "200 OK", &[], "x".repeat(70_000)));
    web.verify(&["--method", "https"]).ends(1).prints("the answer has more than 65536 bytes, decompressed\n");
    // The fourth redirect is one too many.
    web.publisher.answer(|asked, connection| {
        let number = asked.target.trim_start_matches("/hop/").parse().unwrap_or(0);
        respond(connection, "302 Found", &[&format!("Location: /hop/{}", number + 1)], "")
    });
    web.publisher.asked();
    web.verify(&["--method", "https"]).ends(1).prints("more than 3 redirects");
    assert_eq!(web.publisher.asked().len(), 4);
}

#[test]
fn aiwi_18_a_server_that_is_busy_is_left_alone() {
    // AIWI-18
    static ASKED: AtomicU32 = AtomicU32::new(0);
    let web = Web::new(|_, connection| match ASKED.fetch_add(1, Ordering::Relaxed) {
        0 => respond(connection, "503 Service Unavailable", &["Retry-After: 1"], ""),
        1 => respond(connection, "429 Too Many Requests", &["Retry-After: 0"], ""),
        _ => respond(connection, "200 OK", &[], PROOF),
    });
    web.verify(&["--method", "https"])
        .ends(0)
        .prints("503 Service Unavailable; asking again in 1 s\n")
        .prints("429 Too Many Requests; asking again in 0 s\n");
    // Without a Retry-After for a minute, which is more than the patience.
    web.publisher.answer(|_, connection| respond(connection, "503 Service Unavailable", &[], ""));
    web.publisher.asked();
    web.verify(&["--method", "https", "--patience", "59"]).ends(1).prints("do not ask again within 60 s");
    assert_eq!(web.publisher.asked().len(), 1);
    web.run(&["document", "https://example.com/", "--patience", "59"])
        .ends(1)
        .says("do not ask again within 60 s");
}

#[test]
fn one_way_is_enough_and_arguments_are_checked() {
    let web = Web::new(|_, connection| respond(connection, "404 Not Found", &[], ""));
    let server = DnsServer::new(Reply::text(PROOF));
    let done = web.verify(&["--resolver", &server.address()]);
    done.ends(0);
    assert!(
        done.stdout.contains("the answer is 404") && done.stdout.ends_with("is verified by DNS\n"),
        "{done:?}"
    );
    for arguments in [
        ["verify", "192.0.2.1", "--token", TOKEN],
        ["verify", "example.com", "--token", "short"],
        ["verify", "https://example.com/", "--token", TOKEN],
    ] {
        assert_eq!(web.run(&arguments).status, 2);
    }
    assert_eq!(web.verify(&["--resolver", "dns.example"]).status, 2);
}

const PAGE: &str = "<title>Bread</title><main><p>Mix <b>flour</b> and <a href=/water>water</a>.</main>";

#[test]
fn aiwi_16_a_page_is_fetched_if_robots_txt_allows_it() {
    // AIWI-1, AIWI-16, AIWI-17, AIWI-20
    let times: &'static Mutex<Vec<Instant>> = Box::leak(Box::default());
    let web = Web::new(|asked, connection| {
        times.lock().unwrap().push(Instant::now());
        match &*asked.target {
            "/robots.txt" => {
                let rules =
                    "User-agent: *\nDisallow: /\n\nUser-agent: aiwebindex\nAllow: /\nDisallow: /private/\n";
                respond(connection, "200 OK", &[], rules)
            }
            "/moved" => respond(connection, "302 Found", &["Location: /private/page"], ""),
            "/away" => respond(connection, "301 Moved Permanently", &["Location: https://example.org/"], ""),
            _ => respond(connection, "200 OK", &["Content-Type: text/html; charset=utf-8"], PAGE),
        }
    });
    let done = web.run(&["document", "https://example.com/bread?x=1", "--format", "json"]);
    done.ends(0).says_only("");
    let document: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(document["source"]["url"], "https://example.com/bread?x=1");
    assert_eq!(
        (&document["source"]["status_code"], &document["cache"]["status"]),
        (&200.into(), &"miss".into())
    );
    let asked = web.publisher.asked();
    let targets: Vec<&str> = asked.iter().map(|asked| &*asked.target).collect();
    assert_eq!(targets, ["/robots.txt", "/bread?x=1"]);
    // The server sees the product and nothing of whoever asks.
    for asked in &asked {
        let names: BTreeSet<String> =
            asked.lines[1..].iter().filter_map(|line| Some(line.split_once(':')?.0.to_lowercase())).collect();
        let known = ["accept", "accept-encoding", "host", "user-agent"].map(String::from);
        assert!(names.is_subset(&known.into()), "{names:?}");
        assert!(asked.header("user-agent").unwrap().starts_with("AIWebIndex/2.0 (Crawlpike/"));
    }
    // Two seconds between two requests to one server.
    let times = times.lock().unwrap().clone();
    assert!(times[1].duration_since(times[0]).as_millis() >= 1_900);

    let done = web.run(&["document", "https://example.com/bread#flour"]);
    done.prints_only("# Bread\n\nMix **flour** and [water](https://example.com/water).\n");
    for (page, reason) in [
        ("/private/", "line 6 of robots.txt disallows /private/ for AIWebIndex"),
        (
            "/moved",
            "it redirects to https://example.com/private/page: line 6 of robots.txt disallows /private/page",
        ),
        ("/robots.txt", "/robots.txt is not a page"),
        ("/away", "it redirects to another server; ask for https://example.org/"),
    ] {
        web.publisher.asked();
        let done = web.run(&["document", &format!("https://example.com{page}")]);
        assert!(done.status == 1 && done.stderr.contains(reason) && done.stdout.is_empty(), "{done:?}");
        assert!(web.publisher.asked().iter().all(|asked| !asked.target.starts_with("/private")));
    }
}

#[test]
fn aiwi_21_only_public_pages_become_documents() {
    // AIWI-21, AIWI-16
    let web = Web::new(|_, connection| respond(connection, "404 Not Found", &[], ""));
    let page = |status: &'static str, headers: &'static [&'static str]| {
        web.publisher.answer(move |asked, connection| match &*asked.target {
            "/robots.txt" => respond(connection, "404 Not Found", &[], ""),
            _ => respond(connection, status, headers, PAGE),
        });
        web.run(&["document", "https://example.com/"])
    };
    assert_eq!(page("200 OK", &["Content-Type: text/html"]).status, 0);
    for (status, headers, reason) in [
        (
            "200 OK",
            &["Content-Type: text/html", "X-Robots-Tag: noindex", "Cache-Control: max-age=5, private"][..],
            "the page is not public",
        ),
        ("401 Unauthorized", &["WWW-Authenticate: Basic"], "401 Unauthorized; it needs a login"),
        ("200 OK", &["Content-Type: application/pdf"], "its Content-Type is \"application/pdf\""),
        ("200 OK", &[], "the answer is not HTML: it has no Content-Type"),
        ("302 Found", &["Location: javascript:1"], "it redirects to javascript:1; only https is followed"),
    ] {
        page(status, headers).ends(1).says(reason);
    }
    web.run(&["document", "https://user:password@example.com/"]).ends(2).says("user names and passwords");
    // Without a robots.txt that can be read, nothing is fetched.
    web.publisher.answer(|_, connection| respond(connection, "500 Internal Server Error", &[], ""));
    web.publisher.asked();
    web.run(&["document", "https://example.com/"]).ends(1).says("nothing is fetched, because");
    assert_eq!(web.publisher.asked().len(), 1);
}

/// The head of the answer counts as it does in a gate.
#[test]
fn headers_that_forbid_a_document_are_a_warning_and_the_reason() {
    // AIWI-21
    let web = Web::new(|_, connection| respond(connection, "404 Not Found", &[], ""));
    let document = |header: &'static str, more: &[&str]| {
        web.publisher.answer(move |asked, connection| match &*asked.target {
            "/robots.txt" => respond(connection, "404 Not Found", &[], ""),
            _ => respond(connection, "200 OK", &["Content-Type: text/html", header], PAGE),
        });
        web.run(&[&["document", "https://example.com/"], more].concat())
    };
    for (header, outcome, reason) in [
        ("X-Robots-Tag: noindex", "noindex", "in a header for robots"),
        ("X-Robots-Tag: aiwebindex: nosnippet", "nosnippet", "in a header for robots"),
        ("Cache-Control: no-transform", "no-transform", "by `Cache-Control: no-transform`"),
        ("X-Robots-Tag: otherbot: noindex", "made", "19 of 19 bytes of text are in the document"),
    ] {
        let done = document(header, &["--why"]);
        done.ends(0).says_only("");
        assert!(done.stdout.starts_with(&format!("{outcome}: ")) && done.stdout.contains(reason), "{done:?}");
    }
    document("Robots-Tag: *=noindex", &[])
        .ends(0)
        .says("warning: the page forbids such documents in a header");
}

#[test]
fn a_page_over_the_limit_is_cut_as_a_file_is() {
    let web = Web::new(|asked, connection| match &*asked.target {
        "/robots.txt" => respond(connection, "404 Not Found", &[], ""),
        "/closed" => Ok(()),
        _ => {
            let page = format!("<p>The ferry leaves at seven.{}", "<p>More of it.</p>".repeat(200_000));
            respond(connection, "200 OK", &["Content-Type: text/html"], page)
        }
    });
    let done = web.run(&["document", "https://example.com/"]);
    done.ends(0).says("warning: the page has more than 2097152 bytes; the rest of it is left out\n");
    done.prints("The ferry leaves at seven.");
    let done = web.run(&["document", "https://example.com/closed"]);
    done.ends(1).says("example.com closed the connection without an answer");
}
