//! Documents on their way: the input is the `Accept` of a request, its `If-None-Match`, its path, and the head of a response,
//! each in a line. What is asked for is what `Accept` names, and tags of documents lead back to those of pages.
#![no_main]

use std::sync::LazyLock;

use crawlpike_core::{
    DocumentForm, DocumentTreatment, Made, NoFiles, Overrides, PlainRequest, Ruleset, decide, page_url,
};
use libfuzzer_sys::fuzz_target;

static RULESET: LazyLock<Ruleset> = LazyLock::new(|| {
    let document = br#"{ "catalog": "none", "agents": [ { "token": "A" } ],
        "sites": [ { "aiwebindex": { "document": { "md_paths": true } }, "robots_tag": [ { "scope": "/a", "rules": "A=noindex" } ] } ] }"#;
    Ruleset::compile("c", document, &NoFiles).ruleset.expect("a valid document")
});

fn asked<'a>(path: &'a [u8], headers: &'a [(&'a str, &'a [u8])]) -> PlainRequest<'a> {
    PlainRequest {
        authority: Some(b"example.com"),
        path,
        user_agent: Some(b"A/1.0"),
        headers,
        ..PlainRequest::default()
    }
}

fuzz_target!(|bytes: &[u8]| {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let headers: Vec<_> = ["accept", "if-none-match"].into_iter().zip(lines.iter().copied()).collect();
    let request = asked(lines.get(2).copied().unwrap_or(b"/"), &headers);
    let decision = decide(&RULESET, &request, Overrides::default());
    let added = RULESET.added_to_page(&request, Overrides::default());
    assert!(
        added.is_none_or(|added| request.path.windows(added.len()).any(|part| part == added.as_bytes()))
    );
    let wish = RULESET.document_wish(&decision, &request, added.is_some()).expect("the site sends documents");
    if let (Some(form), None) = (wish.form(), added) {
        let accept = lines[0].to_ascii_lowercase();
        let names = |text: &str| accept.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(names(form.media_type()) || names("/*"), "{}", accept.escape_ascii());
    }
    let edits = wish.request_edits(&request);
    assert!(wish.form().is_some() || edits.replaced().next().is_none());
    page_url(&request, added.is_some());
    let plan = RULESET.document_plan(&decision, wish).expect("the same site");
    let names =
        ["etag", "vary", "cache-control", "content-encoding", "x-robots-tag", "content-length", "link"];
    let head = names.iter().map(|name| name.as_bytes()).zip(lines.iter().skip(3).copied());
    let head = head.chain([(&b"content-type"[..], &b"text/html"[..])]);
    if let DocumentTreatment::Conversion(conversion) = plan.treat(200, head, request.path, &edits.known) {
        let made = Made { length: 1, tokens: 1, content: bytes, depends_on_agent: false };
        let headers = conversion.document_headers(&made);
        let etag =
            headers.replaced().find(|(name, _)| name.lowercase == "etag").expect("a tag").1[0].to_vec();
        assert!(etag.starts_with(b"W/\"") && etag.ends_with(b"\""));
        // The client that has it asks for the page's tag, or knows that of the document.
        let accept = conversion.form().media_type().as_bytes();
        let path = if conversion.form() == DocumentForm::Markdown { request.path } else { b"/" };
        let headers = [("accept", accept), ("if-none-match", &*etag)];
        let again = asked(path, &headers);
        let edits =
            RULESET.document_wish(&decision, &again, false).expect("the same site").request_edits(&again);
        let leads_back =
            edits.replaced().any(|(name, value)| name.lowercase == "if-none-match" && value.is_some());
        assert!(leads_back || edits.known.iter().any(|known| **known == *etag), "{}", etag.escape_ascii());
    }
});
