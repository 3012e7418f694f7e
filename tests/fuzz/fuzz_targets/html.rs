//! HTML pages: what is made of them is bounded by the page, is the same each time, and is read back as what was written.
#![no_main]

use crawlpike_document::aidocument::{CacheStatus, Fetch, FreshnessPolicy, upgrade};
use crawlpike_document::{Limits, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { nodes: 1 << 12, depth: 64, ..Limits::default() };
    let document = read(bytes, &limits, None, Some("https://example.com/a"));
    // Three bytes in UTF-8 for each of a page in another encoding, and as much again for escapes.
    assert!(document.markdown().len() <= 4096 + 2 * 3 * bytes.len(), "{}", document.markdown().len());
    let again = read(bytes, &limits, None, Some("https://example.com/a"));
    assert_eq!(document.markdown(), again.markdown());
    document.is_forbidden(&["A"]);
    let fetch = Fetch {
        fetched_at: None,
        status_code: Some(200),
        freshness_policy: FreshnessPolicy::CacheFirst,
        cache: CacheStatus::Miss,
        usage: None,
    };
    let made = document.to_ai_document(&fetch).expect("an absolute address");
    let text = serde_json::to_vec(&made).expect("a document");
    assert_eq!(upgrade(&text).expect("the same document").document, made);
});
