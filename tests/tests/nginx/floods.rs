//! Clients that ask for documents of large pages and leave, and more of them than a worker has memory for.

use std::env;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use crawlpike_tests::exposition::Exposition;
use crawlpike_tests::http::{Connection, Request, Response};
use crawlpike_tests::nginx::{Folder, Nginx, Setup, ask, local};
use crawlpike_tests::page_origin::{self, story};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::proc::{children, memory};
use crawlpike_tests::process::wait_for;

const DOCUMENT: &str = r#"{
  "catalog": "none",
  "sites": [ { "hosts": ["example.com"], "aiwebindex": { "document": true } } ]
}"#;

/// In bytes.
const LARGE: usize = 1_800_000;

/// The memory for documents, in KiB.
const MEMORY: u64 = 64 << 10;

/// The memory that a worker of a debug build needs beside, with its buffers and what the allocator keeps, in KiB.
const SLACK: u64 = 48 << 10;

/// The memory that may stay when all is over, in KiB: threads have their stacks and heaps.
const KEPT: u64 = 10 << 10;

const ATTACKERS: usize = 32;

/// The duration of an attack.
const ATTACK: Duration = Duration::from_secs(4);

struct Flooded {
    nginx: Nginx,
    port: u16,
    h2: u16,
    status: u16,
}

impl Flooded {
    fn start(directives: &str) -> Self {
        let (folder, port, h2, status) = (Folder::new(), free_port(), free_port(), free_port());
        folder.write("crawlpike.json", DOCUMENT);
        folder.write("www/large.html", story(LARGE));
        folder.write("www/small.html", story(2_000));
        let origin = page_origin::start();
        let http = format!(
            "crawlpike_config crawlpike.json;
             {directives}
             types {{ text/html html; }}
             server {{ listen 127.0.0.1:{port}; root www; location /slow/ {{ proxy_pass http://127.0.0.1:{origin}; }} }}
             server {{ listen 127.0.0.1:{h2} http2; root www; }}
             server {{ listen 127.0.0.1:{status}; location / {{ crawlpike_status; }} }}"
        );
        let main = "thread_pool default threads=4;".to_owned();
        let nginx = Nginx::set_up(folder, &http, Setup { workers: 1, main, ..Setup::default() });
        Self { nginx, port, h2, status }
    }

    fn worker(&self) -> i32 {
        let master = self.nginx.server().pid().as_raw_nonzero().get();
        wait_for("a worker", || children(master).first().copied())
    }

    fn counted(&self, outcome: &str) -> f64 {
        let page = Exposition::parse(&ask(self.status, &Request::get("/")).text());
        let labels = [("form", "markdown"), ("outcome", outcome)];
        page.sum("crawlpike_documents_total", &labels).unwrap_or_default()
    }

    /// Has each of the attackers do the same again and again. Returns the most anonymous memory of the worker, in KiB.
    fn attack(&self, once: impl Fn() + Sync) -> u64 {
        let (worker, is_over) = (self.worker(), AtomicBool::new(false));
        let mut most = 0;
        thread::scope(|scope| {
            for _ in 0..ATTACKERS {
                scope.spawn(|| {
                    while !is_over.load(Relaxed) {
                        once();
                    }
                });
            }
            let end = Instant::now() + ATTACK;
            while Instant::now() < end {
                most = most.max(memory(worker).anonymous);
                thread::sleep(Duration::from_millis(20));
            }
            is_over.store(true, Relaxed);
        });
        // Work that a thread has taken is not taken from it.
        wait_for("an answer to an honest client", || {
            (self.markdown("/small.html").status == 200).then_some(())
        });
        most.max(memory(worker).anonymous)
    }

    /// Checks the most anonymous memory of the worker, and waits until it is back, in KiB.
    fn check_memory(&self, before: u64, most: u64) {
        // Under a sanitizer, the memory is that of the sanitizer.
        if env::var_os("SANITIZE_REPORTS").is_some() {
            return;
        }
        assert!(most < before + MEMORY + SLACK, "{before} KiB became {most}");
        let worker = self.worker();
        wait_for("the memory to come back", || (memory(worker).anonymous < before + KEPT).then_some(()));
        eprintln!("{before} KiB became {most}, and {} at last", memory(worker).anonymous);
    }

    fn markdown(&self, path: &str) -> Response {
        ask(self.port, &get(path))
    }
}

fn get(path: &str) -> Request {
    Request::new("GET", path, "example.com").header("Accept", "text/markdown")
}

fn is_markdown(response: &Response) -> bool {
    response.header("content-type").is_some_and(|kind| kind.starts_with("text/markdown"))
}

#[test]
fn clients_that_leave_cost_no_memory() {
    let flooded = Flooded::start("");
    let before = memory(flooded.worker()).anonymous;
    let leave = || {
        let Ok(mut stream) = TcpStream::connect(local(flooded.port)) else { return };
        let _ = stream.write_all(&get("/large.html").bytes());
        thread::sleep(Duration::from_millis(30));
    };
    let most = flooded.attack(leave);
    flooded.check_memory(before, most);
    // On a busy machine, all can leave before nginx comes to them.
    wait_for("the work of those that left", || {
        leave();
        (flooded.counted("gone") > 0.0).then_some(())
    });
    wait_for("a document of a large page", || is_markdown(&flooded.markdown("/large.html")).then_some(()));
    assert!(!flooded.nginx.folder().read("error.log").contains("[alert]"));
}

/// The frames of HTTP/2 (RFC 9113) for a request on each of some streams, and a reset of it.
fn reset_streams(stream: &mut TcpStream, first: u32, count: u32) -> std::io::Result<()> {
    const HEADERS: u8 = 1;
    const RST_STREAM: u8 = 3;
    let mut block = vec![0x82, 0x86];
    // Literals without Huffman coding, by the numbers of their names in the static table: `:path`, `:authority`, `accept`.
    for (name, value) in [(&[4_u8][..], "/large.html"), (&[1], "example.com"), (&[0x0f, 4], "text/markdown")]
    {
        block.extend(name);
        block.push(u8::try_from(value.len()).unwrap());
        block.extend(value.as_bytes());
    }
    let frame = |kind: u8, flags: u8, id: u32, payload: &[u8]| {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags], &id.to_be_bytes(), payload].concat()
    };
    let ids = || (0..count).map(|number| first + 2 * number);
    stream.write_all(&ids().flat_map(|id| frame(HEADERS, 0x05, id, &block)).collect::<Vec<u8>>())?;
    thread::sleep(Duration::from_millis(30));
    stream
        .write_all(&ids().flat_map(|id| frame(RST_STREAM, 0, id, &8_u32.to_be_bytes())).collect::<Vec<u8>>())
}

#[test]
fn streams_that_are_reset_cost_no_memory() {
    let flooded = Flooded::start("");
    let before = memory(flooded.worker()).anonymous;
    let reset = || {
        let Ok(mut stream) = TcpStream::connect(local(flooded.h2)) else { return };
        let _ = stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
        for round in 0..10 {
            if reset_streams(&mut stream, 1 + 2 * 4 * round, 4).is_err() {
                return;
            }
        }
    };
    let most = flooded.attack(reset);
    flooded.check_memory(before, most);
    wait_for("the work of those that left", || {
        reset();
        (flooded.counted("gone") > 0.0).then_some(())
    });
    wait_for("a document of a large page", || is_markdown(&flooded.markdown("/large.html")).then_some(()));
    assert!(!flooded.nginx.folder().read("error.log").contains("[alert]"));
}

#[test]
fn pages_beyond_the_memory_for_documents_go_out_as_they_are() {
    let flooded = Flooded::start("crawlpike_document_memory 1m;");
    let large = flooded.markdown("/large.html");
    assert!(!is_markdown(&large) && large.text() == story(LARGE), "{}", large.body.len());
    assert_eq!(large.joined_header("vary").as_deref(), Some("Accept"));
    assert!(is_markdown(&flooded.markdown("/small.html")));
    assert_eq!((flooded.counted("busy"), flooded.counted("made")), (1.0, 1.0));
    // Also on a connection that stays.
    let mut connection = Connection::open(local(flooded.port)).unwrap();
    for _ in 0..3 {
        assert!(!is_markdown(&connection.send(&get("/large.html")).unwrap()));
        assert!(is_markdown(&connection.send(&get("/small.html")).unwrap()));
    }
    assert_eq!((flooded.counted("busy"), flooded.counted("made")), (4.0, 4.0));
    let off = Flooded::start("crawlpike_document_memory 0;");
    assert!(!is_markdown(&off.markdown("/small.html")));
}

/// Pages that come slowly, all at the same pace, more than there is room for: each that is refused gives back what it has as soon as
/// that is sent, so that the others find room, and each that is complete waits until others are converted.
#[test]
fn slow_pages_beyond_the_memory_keep_no_others_from_becoming_documents() {
    const PAGES: usize = 120;
    let flooded = Flooded::start("crawlpike_document_memory 8m;");
    thread::scope(|scope| {
        for _ in 0..PAGES {
            scope.spawn(|| {
                let page = flooded.markdown("/slow/100000");
                assert!(is_markdown(&page) || page.text() == story(100_000));
            });
        }
    });
    let (made, busy) = (flooded.counted("made"), flooded.counted("busy"));
    assert!(made >= 10.0 && busy > 0.0 && (made + busy - PAGES as f64).abs() < 0.5, "{made} and {busy}");
    let log = flooded.nginx.folder().read("error.log");
    assert_eq!(log.matches("[warn]").count(), 1, "{log}");
    assert!(log.contains("crawlpike: pages go out as they are (busy): "), "{log}");
}

/// The part that slow clients have not read yet counts, too, until they have.
#[test]
fn documents_that_nobody_reads_are_bounded_and_come_back() {
    let flooded = Flooded::start("crawlpike_document_memory 40m;");
    let held: Vec<TcpStream> = (0..ATTACKERS)
        .map(|_| {
            let mut stream = TcpStream::connect(local(flooded.port)).unwrap();
            stream.write_all(&get("/large.html").bytes()).unwrap();
            stream
        })
        .collect();
    let answered = || flooded.counted("made") + flooded.counted("busy");
    wait_for("all answers", || (answered() >= 32.0).then_some(()));
    assert!(flooded.counted("busy") >= 10.0);
    drop(held);
    wait_for("a document of a large page", || is_markdown(&flooded.markdown("/large.html")).then_some(()));
}
