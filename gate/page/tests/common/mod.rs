//! Jobs as a gate makes them.

use crawlpike_core::{
    DocumentTreatment, NetworkKey, NoFiles, Overrides, PlainRequest, Request, Ruleset, Scheme, decide,
    page_url, rfc_3339,
};
use crawlpike_document_gate::{Job, Memory, PageSource};

/// A job for the page that answers a request with these lines.
pub(crate) fn job_within(
    memory: &'static Memory,
    most: usize,
    request: &PlainRequest<'_>,
    response: &[(&str, &str)],
) -> Job {
    let document = br#"{ "catalog": "none", "agents": [ { "token": "ExampleBot" } ],
        "sites": [ { "hosts": ["example.com"], "max_document_bytes": 100000,
                     "aiwebindex": { "document": { "md_paths": true } } } ] }"#;
    let ruleset = Ruleset::compile("c.json", document, &NoFiles).ruleset.expect("a valid document");
    let decision = decide(&ruleset, request, Overrides::default());
    let is_at_page = ruleset.added_to_page(request, Overrides::default()).is_some();
    let wish = ruleset.document_wish(&decision, request, is_at_page).expect("the site sends documents");
    let known = wish.request_edits(request).known;
    let plan = ruleset.document_plan(&decision, wish).expect("the same site");
    let lines = response.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    let DocumentTreatment::Conversion(conversion) = plan.treat(200, lines, request.path(), &known) else {
        panic!("no document")
    };
    let source = PageSource {
        url: page_url(request, is_at_page),
        fetched_at: rfc_3339(request.now()),
        ..PageSource::default()
    };
    Job::new(conversion, source, memory.share(most, NetworkKey::of(request.address)))
}

/// A request of a client.
pub(crate) fn asked<'a>(path: &'a str, headers: &'a [(&'a str, &'a [u8])]) -> PlainRequest<'a> {
    PlainRequest {
        address: Some([203, 0, 113, 77].into()),
        scheme: Some(Scheme::Https),
        authority: Some(b"example.com"),
        path: path.as_bytes(),
        user_agent: Some(b"OtherBot/1.0 (+https://bot.example/)"),
        headers,
        now: 1_778_675_696,
        ..PlainRequest::default()
    }
}
