//! Clients who ask for documents of pages, of which the origin sends many only in part; some clients leave before the end.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};

use crawlpike_document::aidocument::{CacheStatus, Fetch, FreshnessPolicy};
use crawlpike_document::{Limits, read};
use crawlpike_tests::http::{Request, Response};
use crawlpike_tests::nginx::{Folder, local};
use crawlpike_tests::page_origin::{Way, numbered, numbered_path};
use fastrand::Rng;
use serde_json::Value;

use crate::clients::{connect, pause};
use crate::gate::DOCUMENT;
use crate::scene::{Moment, Scene};

const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
const AIDOCUMENT: &str = "application/vnd.aiwebindex+json";

/// The targets of the requests.
const WISHES: [&str; 4] = ["text/markdown", "text/markdown", AIDOCUMENT, "text/html"];

/// The sizes of pages: within one buffer of a proxy, within some, more than go to another thread, and more than become a document.
const SIZES: [usize; 8] = [0, 500, 3_000, 20_000, 60_000, 100_000, 400_000, 2_200_000];

/// The largest page that becomes a document.
const MOST: usize = 2 << 20;

/// The number of a page distinguishes it from others.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A folder for gates that make documents of all pages.
pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    folder.write(
        DOCUMENT,
        r#"{ "mode": "enforce", "catalog": "none", "sites": [ { "aiwebindex": { "document": true } } ] }"#,
    );
    folder
}

/// A page that was asked for.
struct Asked {
    way: Way,
    page: String,
    url: String,
    wish: &'static str,
}

/// Asks for one page after the other, each in a way of its own.
pub(crate) fn clients(scene: &Scene, mut random: Rng) {
    while !scene.is_over() {
        let since = scene.now();
        let Some(mut connection) = connect(scene, since, &mut random) else { continue };
        for turn in 0..random.usize(1..6) {
            let (asked, request) = any_page(&mut random);
            if random.u8(..5) == 0 {
                leave(scene, &request, &mut random);
                continue;
            }
            match connection.send_for_part(&request) {
                Ok((response, true)) => asked.check_whole(scene, &response),
                Ok((response, false)) => {
                    asked.check_part(scene, since, &response);
                    break;
                }
                // A connection that was kept can end at any time.
                Err(_) if turn > 0 => break,
                Err(_) if asked.way.breaks_off() => {
                    scene.count("pages that break off: no answer");
                    break;
                }
                Err(error) => {
                    scene.unanswered(since, &format!("{error}: {request:?}"));
                    break;
                }
            }
            pause(&mut random, 10);
        }
    }
}

fn any_page(random: &mut Rng) -> (Asked, Request) {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let way = random.choice(Way::ALL).unwrap_or(Way::Whole);
    let size = random.choice(SIZES).unwrap_or_default();
    let wish = random.choice(WISHES).unwrap_or_default();
    let folder = random.choice(["", "/unbuffered"]).unwrap_or_default();
    let target = format!("{folder}{}", numbered_path(way, number, size));
    let url = format!("http://example.com{target}");
    let request = Request::get(&target).agent("OtherAgent/1.0").header("Accept", wish);
    (Asked { way, page: numbered(number, size), url, wish }, request)
}

/// Asks, and is gone somewhere in the middle of the response.
fn leave(scene: &Scene, request: &Request, random: &mut Rng) {
    scene.count("clients that left");
    let Ok(mut stream) = TcpStream::connect(local(scene.port)) else { return };
    let mut part = vec![0; random.usize(1..50_000)];
    if stream.write_all(&request.bytes()).is_ok() {
        pause(random, 30);
        if random.bool() {
            let _ = stream.read(&mut part);
        }
    }
}

impl Asked {
    /// Looks at a response that is whole: it has the document, or the page.
    fn check_whole(&self, scene: &Scene, response: &Response) {
        let kind = response.header("content-type");
        if self.way.breaks_off() {
            match response.status {
                502 => scene.count("pages that break off: the status 502"),
                503 => scene.count("pages that break off: the status 503"),
                _ => self.fail(scene, "a page that breaks off looks whole", response),
            }
            return;
        }
        let (expected_kind, expected) = self.expected(response);
        if (response.status, kind) != (200, Some(expected_kind)) || response.body != expected {
            self.fail(scene, "another response than expected", response);
        }
        scene.check_counted(match expected_kind {
            MARKDOWN => "documents in markdown",
            AIDOCUMENT => "documents in JSON",
            _ => "pages as they are",
        });
    }

    /// Looks at a response that broke off: as did the page, of which it is a part.
    fn check_part(&self, scene: &Scene, since: Moment, response: &Response) {
        if !self.way.breaks_off() {
            let length = response.body.len();
            scene
                .unanswered(since, &format!("{} as {} breaks off after {length} bytes", self.url, self.wish));
            return;
        }
        let is_page = (response.status, response.header("content-type")) == (200, Some(HTML));
        if !is_page || !self.page.as_bytes().starts_with(&response.body) {
            self.fail(scene, "no part of the page", response);
        }
        scene.count("pages that break off: a part");
    }

    /// The type and the body of the response, if all goes well.
    fn expected(&self, response: &Response) -> (&'static str, Vec<u8>) {
        let stays = self.wish == "text/html" || self.way == Way::PartOfGzip || self.page.len() > MOST;
        if stays {
            return (HTML, self.way.body(&self.page));
        }
        let document = read(self.page.as_bytes(), &Limits::default(), Some(HTML), Some(&self.url));
        if self.wish != AIDOCUMENT {
            return (MARKDOWN, document.into_markdown().into_bytes());
        }
        let received: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let fetch = Fetch {
            fetched_at: received["source"]["fetched_at"].as_str().map(str::to_owned),
            status_code: Some(200),
            freshness_policy: FreshnessPolicy::CacheFirst,
            cache: CacheStatus::Miss,
            usage: None,
        };
        let document = document.to_ai_document(&fetch);
        (AIDOCUMENT, serde_json::to_vec(&document).unwrap_or_default())
    }

    fn fail(&self, scene: &Scene, why: &str, response: &Response) {
        let Response { status, headers, body } = response;
        let start: String = String::from_utf8_lossy(body).chars().take(300).collect();
        let end: String = String::from_utf8_lossy(&body[body.len().saturating_sub(100)..]).into_owned();
        scene.fail(format!(
            "{why}: {:?} {} as {}: {status} {headers:?}, {} bytes: {start:?} … {end:?}",
            self.way,
            self.url,
            self.wish,
            body.len()
        ));
    }
}
