//! From a request to the head of its response.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::*;
use crate::request::tests::Asked;
use crate::{Decision, Mode, NoFiles, Overrides, Ruleset, decide};

const DOCUMENT: &str = r#"{
  "mode": "enforce", "catalog": "none",
  "agents": [ { "token": "ExampleBot" }, { "token": "BadBot", "action": "deny" } ],
  "sites": [
    { "hosts": ["example.com"], "aiwebindex": { "document": { "md_paths": true } }, "max_document_bytes": 1000,
      "modes": [ { "scope": "/off", "mode": "off" } ],
      "robots_tag": [ { "scope": "/drafts/", "rules": "noindex" }, { "scope": "/mine/", "rules": "ExampleBot=nosnippet" } ] },
    { "hosts": ["plain.test"], "aiwebindex": { "document": true } },
    { "hosts": ["used.test"], "aiwebindex": { "document": true },
      "usage": { "rules": [ { "preferences": "train-ai=n" } ], "send": true } },
    { "hosts": ["none.test"], "aiwebindex": { "document": false } }
  ]
}"#;

const MARKDOWN: (&str, &str) = ("accept", "text/markdown, text/html;q=0.5");
const HTML: (&str, &str) = ("content-type", "text/html; charset=utf-8");
const BROWSERS: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

fn ruleset() -> Ruleset {
    let compiled = Ruleset::compile("c.json", DOCUMENT.as_bytes(), &NoFiles);
    compiled.ruleset.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

fn wish(ruleset: &Ruleset, request: &Asked<'_>) -> (Decision, Option<DocumentWish>) {
    let decision = decide(ruleset, request, Overrides::default());
    let is_at_page = ruleset.added_to_page(request, Overrides::default()).is_some();
    (decision, ruleset.document_wish(&decision, request, is_at_page))
}

type Lines<'a> = &'a [(&'a str, &'a str)];

#[test]
fn a_page_has_the_address_that_was_asked_for() {
    let url =
        |path, is_at_page| page_url(&Asked { host: "example.com", path, ..Asked::default() }, is_at_page);
    assert_eq!(url("/a.md?b", true).as_deref(), Some("https://example.com/a?b"));
    assert_eq!(url("/a.md?b", false).as_deref(), Some("https://example.com/a.md?b"));
    let result = |outcome| DocumentResult::unread(DocumentForm::Markdown, outcome).as_str();
    assert_eq!([result(DocumentOutcome::Made), result(DocumentOutcome::Status)], ["markdown", "status"]);
}

#[test]
fn a_prospect_is_named_by_the_form_or_by_the_reason_against_it() {
    let prospect = |host, path, lines: Lines<'_>, status| {
        let ruleset = ruleset();
        let request = Asked { host, path, headers: lines, ..Asked::default() };
        let decision = decide(&ruleset, &request, Overrides::default());
        let response = [HTML].into_iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        ruleset.document_prospect(&decision, &request, status, response).as_str()
    };
    assert_eq!(prospect("example.com", "/", &[MARKDOWN], 200), Some("markdown"));
    assert_eq!(prospect("example.com", "/a.md", &[], 200), Some("markdown"));
    assert_eq!(prospect("example.com", "/", &[MARKDOWN], 404), Some("status"));
    assert_eq!(prospect("example.com", "/drafts/", &[MARKDOWN], 200), Some("noindex"));
    assert_eq!(prospect("example.com", "/", &[], 200), None);
    assert_eq!(prospect("none.test", "/", &[MARKDOWN], 200), None);
}

/// The plan for a response: `None` if it stays as it is.
fn treated(request: &Asked<'_>, status: u16, response: Lines<'_>) -> DocumentTreatment {
    let ruleset = ruleset();
    let (decision, wish) = wish(&ruleset, request);
    let wish = wish.expect("the site sends documents");
    let known = wish.request_edits(request).known;
    let plan = ruleset.document_plan(&decision, wish).expect("the same site");
    let lines = response.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    plan.treat(status, lines, request.path.as_bytes(), &known)
}

fn texts(headers: &DocumentHeaders) -> Vec<String> {
    let text = |line: &[u8]| String::from_utf8(line.to_vec()).unwrap();
    let shown = headers.replaced().map(|(name, lines)| {
        let lines: Vec<String> = lines.iter().map(|line| text(line)).collect();
        format!("{}: {}", name.sent, lines.join(" | "))
    });
    shown.collect()
}

fn asked<'a>(path: &'a str, headers: Lines<'a>) -> Asked<'a> {
    Asked { path, headers, user_agent: "OtherBot/1.0", ..Asked::default() }
}

/// The form, or what becomes of the head.
fn outcome(request: &Asked<'_>, status: u16, response: Lines<'_>) -> Result<DocumentForm, Vec<String>> {
    match treated(request, status, response) {
        DocumentTreatment::Unchanged => Err(Vec::new()),
        DocumentTreatment::Headers(headers) => Err(texts(&headers)),
        DocumentTreatment::Conversion(conversion) => Ok(conversion.form()),
    }
}

#[test]
fn where_documents_are_off_nothing_is_asked_for() {
    let ruleset = ruleset();
    for (host, path, method, user_agent) in [
        ("none.test", "/", "GET", "OtherBot/1.0"),
        ("other.test", "/", "GET", "OtherBot/1.0"),
        ("example.com", "/off", "GET", "OtherBot/1.0"),
        ("example.com", "/", "POST", "OtherBot/1.0"),
        ("example.com", "/", "GET", "BadBot/1.0"),
    ] {
        let request = Asked { host, path, method, user_agent, headers: &[MARKDOWN], ..Asked::default() };
        assert_eq!(wish(&ruleset, &request).1, None, "{host} {path} {method} {user_agent}");
        let facts = request.facts();
        assert!(!facts.iter().any(|fact| fact == "accept"), "{facts:?}");
    }
}

#[test]
fn a_page_becomes_a_document_for_a_client_that_prefers_it() {
    let markdown = || asked("/a", &[MARKDOWN]);
    assert_eq!(outcome(&markdown(), 200, &[HTML]), Ok(DocumentForm::Markdown));
    assert_eq!(
        outcome(&markdown(), 200, &[("content-type", "application/xhtml+xml")]),
        Ok(DocumentForm::Markdown)
    );
    let ai = asked("/a", &[("accept", "application/vnd.aiwebindex+json")]);
    assert_eq!(outcome(&ai, 200, &[HTML]), Ok(DocumentForm::AiDocument));
    for (status, response) in [
        (404, &[HTML][..]),
        (301, &[HTML]),
        (500, &[HTML]),
        (200, &[]),
        (200, &[("content-type", "text/markdown")]),
        (200, &[("content-type", "image/png")]),
    ] {
        assert_eq!(outcome(&markdown(), status, response), Err(Vec::new()), "{status} {response:?}");
    }
    for kept in [
        ("cache-control", "max-age=60, Private"),
        ("cache-control", "private=\"set-cookie\""),
        ("cache-control", "no-transform"),
        ("content-length", "1001"),
        ("content-encoding", "zstd"),
        ("content-encoding", "gzip, br"),
        ("x-robots-tag", "noindex"),
        ("robots-tag", "nosnippet"),
        ("x-robots-tag", "none"),
    ] {
        assert_eq!(
            outcome(&markdown(), 200, &[HTML, kept]),
            Err(["Vary: Accept".to_owned()].into()),
            "{kept:?}"
        );
    }
    for fine in [
        ("cache-control", "no-store"),
        ("content-length", "1000"),
        ("content-encoding", "gzip"),
        ("content-encoding", "Deflate"),
        ("content-encoding", "br"),
        ("content-encoding", "identity"),
        ("x-robots-tag", "nofollow"),
        ("x-robots-tag", "ExampleBot: noindex"),
    ] {
        assert_eq!(outcome(&markdown(), 200, &[HTML, fine]), Ok(DocumentForm::Markdown), "{fine:?}");
    }
    // A part of a page is none.
    let Err(headers) = outcome(&markdown(), 206, &[HTML]) else { panic!("a document") };
    assert_eq!(headers[0], "Vary: Accept");
}

#[test]
fn aiwi_21_no_document_for_a_request_with_credentials() {
    for credentials in [("authorization", "Basic eDp5"), ("cookie", "session=1")] {
        let headers = [MARKDOWN, credentials];
        let request = asked("/a", &headers);
        let edits = wish(&ruleset(), &request).1.unwrap().request_edits(&request);
        assert_eq!(edits, RequestEdits::default(), "the request goes on as it is");
        let Err(found) = outcome(&request, 200, &[HTML, ("vary", "accept-encoding")]) else {
            panic!("a document")
        };
        assert_eq!(found[0], "Vary: accept-encoding, Accept, Authorization, Cookie");
        let headers = [("accept", BROWSERS), credentials];
        let browser = asked("/a", &headers);
        let Err(headers) = outcome(&browser, 200, &[HTML]) else { panic!("a document") };
        assert_eq!(headers[0], "Vary: Accept");
    }
    let headers = [MARKDOWN, ("cache-control", "no-transform")];
    let Err(found) = outcome(&asked("/a", &headers), 200, &[HTML]) else { panic!("a document") };
    assert_eq!(found[0], "Vary: Accept, Cache-Control");
}

#[test]
fn tag_7_the_rules_for_the_client_count() {
    let headers = &[MARKDOWN];
    let drafts = asked("/drafts/a", headers);
    assert_eq!(outcome(&drafts, 200, &[HTML]), Err(["Vary: Accept".to_owned()].into()));
    // The origin is not asked for a page that becomes no document.
    let ruleset = ruleset();
    let form = |request| wish(&ruleset, request).1.and_then(DocumentWish::form);
    assert_eq!([form(&drafts), form(&asked("/a", headers))], [None, Some(DocumentForm::Markdown)]);
    let other = asked("/mine/a", headers);
    let example = Asked { user_agent: "ExampleBot/1.0", ..asked("/mine/a", headers) };
    assert_eq!(outcome(&example, 200, &[HTML]), Err(["Vary: Accept, User-Agent".to_owned()].into()));
    let DocumentTreatment::Conversion(conversion) = treated(&other, 200, &[HTML]) else {
        panic!("no document")
    };
    let made = Made { length: 5, tokens: 2, content: b"text\n", depends_on_agent: false };
    assert_eq!(texts(&conversion.document_headers(&made))[0], "Vary: Accept, User-Agent");
}

#[test]
fn pages_tell_that_they_vary_and_where_their_markdown_is() {
    let link = |target: &str| format!("Link: <{target}>; rel=\"alternate\"; type=\"text/markdown\"");
    let browser = |path| asked(path, &[("accept", BROWSERS)]);
    assert_eq!(
        outcome(&browser("/a?b"), 200, &[HTML]),
        Err(["Vary: Accept".to_owned(), link("/a.md?b")].into())
    );
    assert_eq!(
        outcome(&browser("/"), 200, &[HTML]),
        Err(["Vary: Accept".to_owned(), link("/index.md")].into())
    );
    // A page without markdown of its own, or that permits none.
    for (path, response) in [
        ("/index", &[HTML][..]),
        ("/drafts/a", &[HTML]),
        ("/a", &[HTML, ("x-robots-tag", "noindex")]),
        ("/a", &[HTML, ("cache-control", "private")]),
        ("/a", &[HTML, ("content-length", "1001")]),
    ] {
        assert_eq!(outcome(&browser(path), 200, response), Err(["Vary: Accept".to_owned()].into()), "{path}");
    }
    let css = ("link", "</a.css>; rel=preload");
    assert_eq!(
        outcome(&browser("/a"), 200, &[HTML, ("vary", "Cookie, ACCEPT"), css]),
        Err([link("/a.md").replace("<", "</a.css>; rel=preload | <")].into())
    );
    let plain = Asked { host: "plain.test", ..browser("/a") };
    assert_eq!(outcome(&plain, 200, &[HTML, ("vary", "*")]), Err(Vec::new()));
    // A 304 hardly ever has a media type; parts of pages do not name HTML.
    assert_eq!(outcome(&browser("/a"), 304, &[]), Err(["Vary: Accept".to_owned()].into()));
    assert_eq!(outcome(&asked("/a.png", &[("accept", "image/png,*/*;q=0.8")]), 304, &[]), Err(Vec::new()));
    assert_eq!(outcome(&browser("/a"), 304, &[("content-type", "image/png")]), Err(Vec::new()));
}

#[test]
fn markdown_has_a_path_of_its_own() {
    let ruleset = ruleset();
    let added =
        |host, path, overrides| ruleset.added_to_page(&Asked { host, path, ..Asked::default() }, overrides);
    let none = Overrides::default();
    assert_eq!(added("example.com", "/a.md?b", none), Some(".md"));
    assert_eq!(added("example.com", "/a/index.md", none), Some("index.md"));
    assert_eq!(added("example.com", "/a", none), None);
    assert_eq!(added("plain.test", "/a.md", none), None);
    assert_eq!(added("other.test", "/a.md", none), None);
    assert_eq!(added("example.com", "/off/a.md", none), None);
    assert_eq!(
        added("example.com", "/a.md", Overrides { mode: Some(Mode::Off), ..Overrides::default() }),
        None
    );
    assert_eq!(added("example.com", "/a.md", Overrides { keeps_path: true, ..Overrides::default() }), None);
    assert_eq!(
        added(
            "other.test",
            "/off/a.md",
            Overrides {
                mode: Some(Mode::Observe),
                site: ruleset.site("example.com"),
                ..Overrides::default()
            }
        ),
        Some(".md")
    );
    // Whatever the client prefers, the markdown is at its path.
    for accept in ["*/*", BROWSERS, "application/vnd.aiwebindex+json"] {
        let headers = [("accept", accept)];
        assert_eq!(outcome(&asked("/a.md", &headers), 200, &[HTML]), Ok(DocumentForm::Markdown));
    }
    // The page as it is, at that path.
    let request = asked("/a.md?b", &[("cookie", "a=b")]);
    let Err(headers) = outcome(&request, 200, &[HTML]) else { panic!("a document") };
    assert_eq!(headers[1], "Link: </a.md?b>; rel=\"alternate\"; type=\"text/markdown\"");
}

#[test]
fn the_origin_is_asked_for_the_whole_page() {
    let ruleset = ruleset();
    let edits = |headers: Lines<'_>| {
        let request = asked("/a", headers);
        let edits = wish(&ruleset, &request).1.unwrap().request_edits(&request);
        let shown = edits.replaced().map(|(name, value)| {
            format!("{}: {}", name.sent, value.map_or("-".into(), String::from_utf8_lossy))
        });
        shown.collect::<Vec<_>>()
    };
    assert_eq!(edits(&[MARKDOWN]), [""; 0]);
    assert_eq!(edits(&[("accept", BROWSERS), ("range", "bytes=0-9"), ("if-none-match", "\"a\"")]), [""; 0]);
    assert_eq!(
        edits(&[MARKDOWN, ("range", "bytes=0-9"), ("if-range", "\"a\"")]),
        ["Range: -", "If-Range: -"]
    );
    assert_eq!(edits(&[("accept", "text/markdown")]), ["Accept: text/markdown, text/html;q=0.5"]);
    // It has one weight for HTML.
    for (accept, sent) in [
        ("text/markdown, text/html;q=0", "text/markdown, text/html;q=0.5"),
        ("Text/HTML;level=1;q=0, text/markdown;q=0.9,", "text/markdown;q=0.9, text/html;q=0.5"),
    ] {
        assert_eq!(edits(&[("accept", accept)]), [format!("Accept: {sent}")]);
    }
    // Codings that cannot be read go.
    for (codings, sent) in [
        ("gzip, deflate, br, zstd", "gzip, deflate, br"),
        ("zstd, GZIP;q=0.5, *;q=0.1", "GZIP;q=0.5"),
        ("dcb, *", "identity"),
        ("", "identity"),
    ] {
        assert_eq!(edits(&[MARKDOWN, ("accept-encoding", codings)]), [format!("Accept-Encoding: {sent}")]);
    }
    for kept in ["gzip, deflate, br;q=0.9", "identity", "x-gzip"] {
        assert_eq!(edits(&[MARKDOWN, ("accept-encoding", kept)]), [""; 0]);
    }
    assert_eq!(edits(&[("accept", BROWSERS), ("accept-encoding", "zstd")]), [""; 0]);
    assert_eq!(edits(&[MARKDOWN, ("if-none-match", "\"a\"")]), ["If-None-Match: -"]);
    let since = ("if-modified-since", "Mon, 02 Nov 2026 10:00:00 GMT");
    assert_eq!(edits(&[MARKDOWN, since]), [""; 0]);
    assert_eq!(
        edits(&[MARKDOWN, ("if-none-match", "\"a\""), since]),
        ["If-None-Match: -", "If-Modified-Since: -"]
    );
    let version = env!("CARGO_PKG_VERSION");
    let known = format!("W/\"a;md=s;{version}\", \"a\"");
    assert_eq!(edits(&[MARKDOWN, ("if-none-match", &known)]), ["If-None-Match: \"a\""]);
}

#[test]
fn a_document_has_a_head_of_its_own() {
    let version = env!("CARGO_PKG_VERSION");
    let made = Made { length: 42, tokens: 11, content: b"text", depends_on_agent: true };
    let response = [
        HTML,
        ("content-length", "900"),
        ("content-encoding", "gzip"),
        ("etag", "\"a\""),
        ("accept-ranges", "bytes"),
        ("digest", "sha-256=x"),
        ("vary", "Accept-Encoding"),
        ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ];
    let converted = |request: &Asked<'_>, response: Lines<'_>| match treated(request, 200, response) {
        DocumentTreatment::Conversion(conversion) => conversion,
        other => panic!("{other:?}"),
    };
    let conversion = converted(&asked("/a", &[MARKDOWN]), &response);
    assert_eq!((conversion.coding, conversion.max_bytes), (Coding::Gzip, 1000));
    let headers = conversion.document_headers(&made);
    assert_eq!(headers.status, None);
    assert_eq!(
        texts(&headers),
        [
            "Vary: Accept-Encoding, Accept, User-Agent".into(),
            "Content-Encoding: ".to_string(),
            "Accept-Ranges: ".into(),
            "Digest: ".into(),
            format!("ETag: W/\"a;md=s;{version}\""),
            "Content-Type: text/markdown; charset=utf-8".into(),
            "Content-Length: 42".into(),
            "X-Markdown-Tokens: 11".into(),
        ]
    );
    assert_eq!(
        texts(&conversion.page_headers(DocumentOutcome::Thin, false)),
        ["Vary: Accept-Encoding, Accept"]
    );
    assert_eq!(
        texts(&conversion.page_headers(DocumentOutcome::Busy, true)),
        ["Vary: Accept-Encoding, Accept, User-Agent", "Cache-Control: no-store"]
    );
    // A HEAD has the headers that follow from the head of the page.
    let request = Asked { method: "HEAD", ..asked("/a", &[MARKDOWN]) };
    let DocumentTreatment::Headers(head) = treated(&request, 200, &response) else {
        panic!("a HEAD has no body to convert");
    };
    assert_eq!(
        texts(&head),
        [
            "Vary: Accept-Encoding, Accept, User-Agent".into(),
            "Content-Length: ".to_string(),
            "Content-Encoding: ".into(),
            "Accept-Ranges: ".into(),
            "Digest: ".into(),
            "Content-Type: text/markdown; charset=utf-8".into(),
            format!("ETag: W/\"a;md=s;{version}\""),
        ]
    );
    // A page without a tag: that of the document is made of it, and a client that has it gets a 304.
    let first = converted(&asked("/a", &[MARKDOWN]), &[HTML]).document_headers(&made);
    let etag =
        texts(&first).into_iter().find_map(|line| Some(line.strip_prefix("ETag: ")?.to_owned())).unwrap();
    let known = [MARKDOWN, ("if-none-match", &*etag)];
    let again = converted(&asked("/a", &known), &[HTML]);
    assert_eq!(again.document_headers(&made).status, Some(304));
    assert_eq!(again.document_headers(&Made { content: b"other", ..made }).status, None);
}

#[test]
fn only_a_document_with_metadata_has_the_preferences() {
    let states_usage = |form: &str| {
        let headers = [("accept", form)];
        let request = Asked { host: "used.test", ..asked("/", &headers) };
        match treated(&request, 200, &[HTML]) {
            DocumentTreatment::Conversion(conversion) => conversion.usage.is_some(),
            other => panic!("{other:?}"),
        }
    };
    assert!(states_usage("application/vnd.aiwebindex+json") && !states_usage("text/markdown"));
}

#[test]
fn a_304_of_the_origin_is_one_of_the_document() {
    let version = env!("CARGO_PKG_VERSION");
    let known = format!("W/\"a;md=s;{version}\"");
    let request = [MARKDOWN, ("if-none-match", &*known)];
    assert_eq!(
        outcome(&asked("/a", &request), 304, &[("etag", "\"a\""), ("accept-ranges", "bytes")]),
        Err(["Vary: Accept, User-Agent".to_owned(), "Accept-Ranges: ".into(), format!("ETag: {known}")]
            .into())
    );
    assert_eq!(
        outcome(&asked("/a", &request), 304, &[("etag", "\"a\""), HTML]),
        Err([
            "Vary: Accept, User-Agent".to_owned(),
            format!("ETag: {known}"),
            "Content-Type: text/markdown; charset=utf-8".into()
        ]
        .into())
    );
    // For the page as it is, its own tag stays.
    let browser = [("accept", BROWSERS), ("if-none-match", "\"a\"")];
    assert_eq!(
        outcome(&asked("/a", &browser), 304, &[("etag", "\"a\"")]),
        Err(["Vary: Accept".to_owned()].into())
    );
}

#[test]
fn a_page_that_stays_as_it_is_says_why() {
    let refusal = |request: Lines<'_>, status, response: Lines<'_>| {
        let treatment = treated(&asked("/a", &[&[MARKDOWN], request].concat()), status, response);
        match treatment {
            DocumentTreatment::Headers(headers) => headers.result.map(|result| result.outcome),
            DocumentTreatment::Unchanged | DocumentTreatment::Conversion(_) => None,
        }
    };
    let page = |line: (&'static str, &'static str)| refusal(&[], 200, &[HTML, line]);
    assert_eq!(refusal(&[], 200, &[HTML]), None);
    assert_eq!(refusal(&[], 404, &[HTML]), Some(DocumentOutcome::Status));
    assert_eq!(refusal(&[], 206, &[HTML]), Some(DocumentOutcome::Status));
    assert_eq!(refusal(&[], 200, &[("content-type", "image/png")]), Some(DocumentOutcome::Type));
    assert_eq!(page(("content-length", "99999999")), Some(DocumentOutcome::Size));
    assert_eq!(page(("content-length", "0")), Some(DocumentOutcome::Broken));
    assert_eq!(page(("cache-control", "private")), Some(DocumentOutcome::Private));
    assert_eq!(page(("cache-control", "no-transform")), Some(DocumentOutcome::NoTransform));
    assert_eq!(page(("content-encoding", "zstd")), Some(DocumentOutcome::Coding));
    assert_eq!(page(("x-robots-tag", "noindex")), Some(DocumentOutcome::NoIndex));
    assert_eq!(page(("robots-tag", "max-snippet:0")), Some(DocumentOutcome::NoSnippet));
    assert_eq!(refusal(&[("cookie", "a=b")], 200, &[HTML]), Some(DocumentOutcome::Credentials));
    assert_eq!(
        refusal(&[("cache-control", "no-transform")], 200, &[HTML]),
        Some(DocumentOutcome::NoTransform)
    );
    // Nobody asked.
    let browser = treated(&asked("/a", &[("accept", BROWSERS)]), 404, &[HTML]);
    assert!(matches!(browser, DocumentTreatment::Unchanged));
}
