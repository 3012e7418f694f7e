//! From a request to the document that answers it, by the same calls that a gate makes.

mod common;

use common::{asked, job_within};
use crawlpike_core::metrics::{Direction, Event};
use crawlpike_core::{DocumentForm, DocumentHeaders, DocumentOutcome, DocumentResult, PlainRequest};
use crawlpike_document_gate::{Finished, Job, Memory, clock};

const PAGE: &str = "<title>Bread</title><nav><a href=/>Home</a></nav><main><p>Mix flour and <a href=/water>water</a>.</main>";
const MARKDOWN: &str = "# Bread\n\nMix flour and [water](https://example.com/water).\n";

/// More than any page here takes.
const ENOUGH: usize = 64 << 20;

fn job(request: &PlainRequest<'_>, response: &[(&str, &str)]) -> Job {
    static MEMORY: Memory = Memory::new();
    job_within(&MEMORY, ENOUGH, request, response)
}

const MARKDOWN_ASKED: &[(&str, &[u8])] = &[("accept", b"text/markdown")];
const DOCUMENT_ASKED: &[(&str, &[u8])] = &[("accept", b"application/vnd.aiwebindex+json")];
const HTML: (&str, &str) = ("content-type", "text/html");

fn finished(request: &PlainRequest<'_>, page: &[u8]) -> Finished {
    let mut job = job(request, &[HTML]);
    for part in page.chunks(7) {
        assert!(job.push(part));
    }
    assert_eq!(job.body(), page);
    job.finish(&|| true, None, clock)
}

fn line(headers: &DocumentHeaders, name: &str) -> Option<String> {
    let lines = headers.replaced().find(|(known, _)| known.lowercase == name)?.1;
    Some(String::from_utf8_lossy(lines.first()?).into_owned())
}

#[test]
fn a_page_becomes_its_markdown() {
    for path in ["/bread", "/bread.md"] {
        let Finished { headers, document, .. } = finished(&asked(path, MARKDOWN_ASKED), PAGE.as_bytes());
        assert_eq!(document.unwrap().as_ref(), MARKDOWN.as_bytes());
        assert_eq!(headers.status, None);
        for (name, value) in [
            ("content-type", "text/markdown; charset=utf-8"),
            ("content-length", "59"),
            ("x-markdown-tokens", "15"),
            ("vary", "Accept"),
        ] {
            assert_eq!(line(&headers, name).as_deref(), Some(value), "{name}");
        }
        // A client that has it gets a 304, whatever the form of the others that it has.
        let etag = line(&headers, "etag").unwrap();
        let known = [MARKDOWN_ASKED[0], ("if-none-match", etag.as_bytes())];
        let Finished { headers, document, .. } = finished(&asked(path, &known), PAGE.as_bytes());
        assert_eq!(document.unwrap().as_ref(), b"");
        assert_eq!((headers.status, line(&headers, "etag")), (Some(304), Some(etag)));
    }
}

#[test]
fn aiwi_20_a_document_names_no_client() {
    let headers = [
        DOCUMENT_ASKED[0],
        ("x-forwarded-for", &b"203.0.113.77"[..]),
        ("from", b"alice@example.org"),
        ("referer", b"https://elsewhere.example/alice"),
        ("automation-purpose", b"purpose-of-alice"),
    ];
    let user_agent = Some(&b"alice-reader/1.0 (+https://alice.example/)"[..]);
    let request = PlainRequest { user_agent, ..asked("/bread", &headers) };
    let Finished { headers, document, .. } = finished(&request, PAGE.as_bytes());
    let text = String::from_utf8(document.unwrap().as_ref().to_vec()).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["source"]["url"], "https://example.com/bread");
    assert_eq!(document["source"]["fetched_at"], "2026-05-13T12:34:56Z");
    assert_eq!(document["content"]["markdown"], MARKDOWN);
    assert_eq!(line(&headers, "content-type").as_deref(), Some("application/vnd.aiwebindex+json"));
    assert_eq!(line(&headers, "x-markdown-tokens"), None);
    for secret in ["alice", "203.0.113.77", "elsewhere"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

#[test]
fn tag_8_a_page_can_forbid_documents() {
    // TAG-8
    for (meta, is_forbidden) in [
        ("<head><meta name=robots content='nosnippet'></head>", true),
        ("<head><meta name=ROBOTS content='follow, NoIndex'></head>", true),
        ("<head><meta name=examplebot content='noindex'></head>", true),
        ("<head><meta name=otherbot content='noindex'></head>", false),
        ("<head><meta name=robots content='nofollow'></head>", false),
        ("<head></head><body><meta name=robots content='noindex'>", false),
    ] {
        let request = PlainRequest { user_agent: Some(b"ExampleBot/1.0"), ..asked("/a", MARKDOWN_ASKED) };
        let page = format!("{meta}{PAGE}");
        let Finished { headers, document, .. } = finished(&request, page.as_bytes());
        assert_eq!(document.is_none(), is_forbidden, "{meta}");
        let vary = if meta.contains("bot content='noindex'") && !meta.contains("robot") {
            "Accept, User-Agent"
        } else {
            "Accept"
        };
        assert_eq!(line(&headers, "vary").as_deref(), Some(vary), "{meta}");
    }
}

#[test]
fn what_makes_no_document_is_sent_as_it_is() {
    assert!(finished(&asked("/", MARKDOWN_ASKED), b"").document.is_none());
    // Deeper than the limit, so that a part would be missing.
    let nested = "<div>".repeat(1000) + PAGE;
    assert!(finished(&asked("/", MARKDOWN_ASKED), nested.as_bytes()).document.is_none());
    let mut broken = job(&asked("/", MARKDOWN_ASKED), &[HTML, ("content-encoding", "gzip")]);
    assert!(broken.push(PAGE.as_bytes()));
    assert!(broken.finish(&|| true, None, clock).document.is_none());
    let length = PAGE.len().to_string();
    let mut cut = job(&asked("/", MARKDOWN_ASKED), &[HTML, ("content-length", &length)]);
    assert!(cut.push(&PAGE.as_bytes()[..PAGE.len() - 1]));
    assert_eq!(cut.finish(&|| true, None, clock).result.outcome, DocumentOutcome::Broken);
    assert!(cut.push(&PAGE.as_bytes()[PAGE.len() - 1..]));
    assert_eq!(cut.finish(&|| true, None, clock).result.outcome, DocumentOutcome::Made);
    let mut large = job(&asked("/", MARKDOWN_ASKED), &[HTML]);
    assert!(large.push(&[b'a'; 100_000]));
    assert!(!large.push(b"b") && large.push(b""));
    assert_eq!(
        (large.body().len(), line(&large.refused().headers, "vary").as_deref()),
        (100_000, Some("Accept"))
    );
    assert_eq!(large.into_body().as_ref().len(), 100_000);
}

#[test]
fn each_outcome_has_its_reason() {
    static MEMORY: Memory = Memory::new();
    let reason = |most: usize, page: &[u8], is_wanted: bool| {
        let mut job = job_within(&MEMORY, most, &asked("/", MARKDOWN_ASKED), &[HTML]);
        let finished = if job.push(page) { job.finish(&|| is_wanted, None, clock) } else { job.refused() };
        assert_eq!(finished.document.is_some(), finished.result.outcome == DocumentOutcome::Made);
        finished.result.outcome
    };
    let [forbidden, hidden] =
        ["nosnippet", "none"].map(|rule| format!("<head><meta name=robots content={rule}></head>{PAGE}"));
    let shell = "<title>Bread</title><div id=root>Loading…</div><script src=/app.js></script>";
    let nested = "<div>".repeat(1000) + PAGE;
    for (most, page, is_wanted, outcome) in [
        (ENOUGH, PAGE, true, DocumentOutcome::Made),
        (ENOUGH, PAGE, false, DocumentOutcome::Gone),
        (ENOUGH, "", true, DocumentOutcome::Broken),
        (ENOUGH, &forbidden, true, DocumentOutcome::NoSnippet),
        (ENOUGH, &hidden, true, DocumentOutcome::NoIndex),
        (ENOUGH, shell, true, DocumentOutcome::Thin),
        (ENOUGH, &nested, true, DocumentOutcome::Depth),
        (ENOUGH, &"a".repeat(100_001), true, DocumentOutcome::Size),
        // Room to collect it, but not to convert it.
        (10_000, &"a".repeat(5_000), true, DocumentOutcome::Busy),
        // No room to collect it.
        (4_000, PAGE, true, DocumentOutcome::Busy),
    ] {
        assert_eq!(reason(most, page.as_bytes(), is_wanted), outcome);
    }
    assert_eq!(MEMORY.held(), 0);
}

/// The documentation says how much memory the largest page needs.
#[test]
fn the_largest_page_needs_the_memory_that_is_documented() {
    static MEMORY: Memory = Memory::new();
    const PAGE_BYTES: usize = 100_000;
    let documented = include_str!("../../../docs/nginx.md");
    let (before, _) = documented.split_once(" times `max_document_bytes`").expect("the sentence");
    let times: usize = before.rsplit(' ').next().and_then(|times| times.parse().ok()).expect("a number");
    let outcome = |most| {
        let mut job = job_within(&MEMORY, most, &asked("/", MARKDOWN_ASKED), &[HTML]);
        assert!(job.push(&[b'a'; PAGE_BYTES]));
        job.finish(&|| true, None, clock).result.outcome
    };
    assert_eq!(outcome(times * PAGE_BYTES), DocumentOutcome::Made);
    assert_eq!(outcome(times * PAGE_BYTES - 1), DocumentOutcome::Busy);
}

#[test]
fn a_document_holds_its_own_bytes_and_no_others() {
    static MEMORY: Memory = Memory::new();
    let page = PAGE.repeat(100);
    let mut job = job_within(&MEMORY, ENOUGH, &asked("/", MARKDOWN_ASKED), &[HTML]);
    assert!(job.push(page.as_bytes()));
    assert!(MEMORY.held() >= page.len());
    let body = job.finish(&|| true, None, clock).document.unwrap();
    drop(job);
    assert_eq!(MEMORY.held(), body.as_ref().len());
    drop(body);
    assert_eq!(MEMORY.held(), 0);
}

#[test]
fn a_result_says_what_was_saved() {
    let Finished { result, .. } = finished(&asked("/", MARKDOWN_ASKED), PAGE.as_bytes());
    assert_eq!((result.page_bytes, result.document_bytes), (PAGE.len(), MARKDOWN.len()));
    assert_eq!(result.as_str(), "markdown");
    let result = DocumentResult { microseconds: 1_204, ..result };
    assert_eq!(
        result.to_string(),
        format!("markdown of a page: made, {} bytes in, {} bytes out, 1.204 ms", PAGE.len(), MARKDOWN.len())
    );
    let bytes = |direction| Event::DocumentBytes(DocumentForm::Markdown, direction);
    let [page, document] = [PAGE, MARKDOWN].map(|text| text.len() as u64);
    let made = Event::Document(DocumentForm::Markdown, DocumentOutcome::Made);
    let added = [(made, 1), (Event::DocumentTime, 1_204)];
    let saved = [(bytes(Direction::In), page), (bytes(Direction::Out), document)];
    assert!(Event::of_document(&result).eq(added.into_iter().chain(saved)));
    let thin = DocumentResult { outcome: DocumentOutcome::Thin, document_bytes: 0, ..result };
    assert_eq!(thin.as_str(), "thin");
    let thin = Event::of_document(&thin).collect::<Vec<_>>();
    assert_eq!(thin, [(Event::Document(DocumentForm::Markdown, DocumentOutcome::Thin), 1), added[1]]);
}
