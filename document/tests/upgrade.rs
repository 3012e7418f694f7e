//! Documents of other versions, which become documents of version 2.0 that hold to the schema.

#[path = "common/schema.rs"]
mod schema;

use crawlpike_document::aidocument::{Upgraded, upgrade};
use schema::check_document;
use serde_json::{Value, json};

/// The new document, and the warnings. It holds to the schema.
#[track_caller]
fn upgraded(document: &Value) -> (Value, Vec<String>) {
    let Upgraded { document, warnings } = upgrade(document.to_string().as_bytes()).expect("a document");
    let document = serde_json::to_value(document).expect("a document is JSON");
    check_document(&document);
    (document, warnings)
}

#[track_caller]
fn refused(document: &Value, reason: &str) {
    let error = upgrade(document.to_string().as_bytes()).expect_err("no document").to_string();
    assert!(error.contains(reason), "{reason}\n{error}");
}

/// A document of version 1.0 with this value at a JSON pointer.
fn version_1(pointer: &str, value: Value) -> Value {
    let document = json!({ "url": "https://example.com/a/b", "markdown": "# A\n", "title": null, "canonical_url": null,
        "headings": [{ "level": 1, "text": "A", "id": null }], "links": [{ "url": "https://example.com/c" }],
        "images": [{ "url": "https://example.com/d.png", "alt": "" }], "structured_data": null,
        "meta": { "language": null, "word_count": null }, "crawl": { "fetched_at": null, "status_code": null } });
    with(document, pointer, value)
}

/// A document of version 2.0 with this value at a JSON pointer.
fn version_2(pointer: &str, value: Value) -> Value {
    let cost = json!({ "our_output": 0.003, "raw_html": 0.03, "savings": 0.027 });
    let economics = json!({ "output_tokens_approx": 1000, "raw_html_tokens_approx": 10_000, "token_savings": 9000,
        "token_savings_percent": 90, "estimated_cost_usd": cost,
        "pricing_basis": { "input_price_per_1k_usd": 0.003, "model_class": "mid-tier" } });
    let document = json!({ "schema": { "name": "AIDocument", "version": "2.0", "ref": null },
        "source": { "url": "https://example.com/a/b", "freshness_policy": "cache_first" },
        "cache": { "status": "hit", "origin_contacted": false, "body_fetched": false },
        "identity": {}, "content": { "markdown": "" }, "structure": {},
        "signals": { "has_json_ld": false, "heading_hierarchy_ok": false, "word_count": 0 },
        "economics": economics, "usage": { "preferences": "train-ai=n" } });
    with(document, pointer, value)
}

fn with(mut document: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = document.pointer_mut(parent).expect("a parent");
    match parent {
        Value::Array(items) => items[key.parse::<usize>().expect("an index")] = value,
        parent => parent[key] = value,
    }
    document
}

/// AIWI-13: null is as good as absent, and an empty text says nothing.
#[test]
fn optional_fields_may_be_null_or_empty() {
    for pointer in ["/title", "/description", "/canonical_url", "/meta", "/crawl", "/headings", "/links"] {
        let (document, warnings) = upgraded(&version_1(pointer, Value::Null));
        assert_eq!((&document["schema"]["version"], warnings), (&"2.0".into(), Vec::new()), "{pointer}");
    }
    for pointer in ["/title", "/canonical_url", "/meta/language", "/headings/0/id", "/links/0/rel"] {
        assert_eq!(upgraded(&version_1(pointer, "".into())).1, Vec::<String>::new(), "{pointer}");
    }
    let (document, warnings) = upgraded(&version_2("/usage/preferences", "".into()));
    assert_eq!((document.get("usage"), warnings), (None, Vec::new()));
    // Section 4.4 drops it.
    assert_eq!(upgraded(&version_1("/crawl/user_agent", "a".into())).1, Vec::<String>::new());
}

/// AIWI-13, AIWI-6
#[test]
fn addresses_become_absolute() {
    for (pointer, value, new, expected) in [
        ("/url", "https://e.com/a b#c", "/source/url", "https://e.com/a%20b"),
        ("/canonical_url", "/c", "/source/canonical_url", "https://example.com/c"),
        ("/canonical_url", "str", "/source/canonical_url", "https://example.com/a/str"),
        ("/links/0/url", "/rel", "/structure/links/0/url", "https://example.com/rel"),
        ("/images/0/url", "i.png", "/structure/images/0/url", "https://example.com/a/i.png"),
        ("/meta/language", "en_US", "/identity/language", "en-US"),
    ] {
        let (document, warnings) = upgraded(&version_1(pointer, value.into()));
        assert_eq!(document.pointer(new), Some(&expected.into()), "{pointer}");
        assert_eq!(warnings, Vec::<String>::new(), "{pointer}");
    }
    // AIWI-5: the same for the same page.
    let reference = |url: &str| upgraded(&version_1("/url", url.into())).0["schema"]["ref"].clone();
    assert_eq!(reference("https://example.com/a/b#c"), reference("https://example.com/a/b"));
}

/// AIWI-13
#[test]
fn values_that_version_2_0_does_not_have_are_left_out_with_a_warning() {
    let left_out = |document: Value, pointer: &str, path: &str| {
        let (document, warnings) = upgraded(&document);
        assert_eq!(document.pointer(pointer), None, "{document:#}");
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.starts_with(&format!("`{path}`: ")) && warning.ends_with("; left out"), "{warning}");
    };
    for (old, path, new, values) in [
        (
            "/canonical_url",
            "canonical_url",
            "/source/canonical_url",
            json!(["javascript:1", "#a", "http://["]),
        ),
        ("/links/0/url", "links[0].url", "/structure/links/0", json!(["javascript:1", "data:,a", "#a"])),
        ("/images/0/url", "images[0].url", "/structure/images/0", json!(["data:,a"])),
        ("/meta/language", "meta.language", "/identity/language", json!(["English (US)", "e"])),
        (
            "/crawl/fetched_at",
            "crawl.fetched_at",
            "/source/fetched_at",
            json!(["yesterday", "2026-05-01", "2026-05-01T00:00:00+0200", "2026-13-01T00:00:00Z"]),
        ),
        (
            "/crawl/status_code",
            "crawl.status_code",
            "/source/status_code",
            json!([0, 7, 99, 600, 70000, -1, 200.5]),
        ),
        ("/crawl/render_mode", "crawl.render_mode", "/source/render_mode", json!(["spa"])),
        ("/meta/word_count", "meta.word_count", "/signals/word_count", json!([-1, 1.5, 1e300])),
        ("/headings/0/slug", "headings[0].slug", "/structure/headings/0/slug", json!([1])),
        ("/author", "author", "/author", json!([{ "a": 1 }])),
    ] {
        for value in values.as_array().expect("values") {
            left_out(version_1(old, value.clone()), new, path);
        }
    }
    for (pointer, path, value) in [
        ("/schema/ref", "schema.ref", json!("other")),
        ("/usage/licenses", "usage.licenses[0]", json!(["javascript:1"])),
        ("/signals/score", "signals.score", json!(1)),
    ] {
        left_out(version_2(pointer, value), pointer, path);
    }
    // AIWI-12
    for (pointer, value) in [
        ("/economics/token_savings", json!(8999)),
        ("/economics/token_savings", json!(9000.5)),
        ("/economics/token_savings_percent", json!(10)),
        ("/economics/estimated_cost_usd/savings", json!(3)),
        ("/economics/estimated_cost_usd/raw_html", json!(null)),
        ("/economics/output_tokens_approx", json!(-1)),
        ("/economics/pricing_basis/model_class", json!("")),
    ] {
        left_out(version_2(pointer, value), "/economics", "economics");
    }
    assert!(upgraded(&version_2("/economics/token_savings", json!(9000.0))).0.get("economics").is_some());
}

/// AIWI-13
#[test]
fn a_later_version_2_becomes_version_2_0() {
    let (document, warnings) = upgraded(&version_2("/schema/version", "2.17".into()));
    assert_eq!((&document["schema"]["version"], warnings), (&"2.0".into(), Vec::new()));
    let numbers = upgraded(&version_1("/headings/0/level", json!(1.0))).0;
    assert_eq!(numbers["structure"]["headings"][0]["level"], 1);
    assert_eq!(upgraded(&version_1("/crawl/status_code", json!(200.0))).0["source"]["status_code"], 200);
}

/// AIWI-13, AIWI-20: what must be there is named with its path.
#[test]
fn what_is_missing_or_of_another_type_is_refused_with_its_path() {
    for (pointer, value, reason) in [
        ("/meta", json!(["en", 3, 1]), "`meta`: expected an object, found an array"),
        ("/headings", json!([[1, "Arr"]]), "`headings[0]`: expected an object, found an array"),
        ("/headings", json!({}), "`headings`: expected an array, found an object"),
        ("/structured_data", json!([]), "`structured_data`: expected an object, found an array"),
        ("/headings/0/level", json!(7), "`headings[0].level`: expected 1 to 6, found 7"),
        ("/headings/0/text", json!(null), "`headings[0].text`: it is missing"),
        ("/links/0/url", json!(null), "`links[0].url`: it is missing"),
        ("/title", json!(5), "`title`: expected a string, found a number"),
        ("/crawl/status_code", json!("200"), "`crawl.status_code`: expected a number, found a string"),
        ("/markdown", json!(null), "`markdown`: it is missing"),
        ("/url", json!("/a"), "`url`: expected the absolute http or https URL of the page, found \"/a\""),
        ("/url", json!("file:///etc/x"), "`url`: expected the absolute http"),
        ("/url", json!("https://u:p@e.com/"), "`url`: a user name and a password"),
        ("/url", json!(null), "not an AIDocument"),
    ] {
        refused(&version_1(pointer, value), reason);
    }
    for (pointer, value, reason) in [
        ("/schema/version", json!("1.0"), "`schema.version`: expected a version 2.x, found \"1.0\""),
        ("/schema/version", json!("2."), "`schema.version`: expected a version 2.x"),
        ("/schema/name", json!("Document"), "`schema.name`: expected \"AIDocument\""),
        ("/cache/status", json!("warm"), "`cache.status`: expected hit, miss, "),
        ("/cache/body_fetched", json!(true), "`cache.status` does not agree"),
        ("/source/freshness_policy", json!(null), "`source.freshness_policy`: it is missing"),
        ("/signals/has_json_ld", json!(null), "`signals.has_json_ld`: it is missing"),
        ("/structure", json!(null), "`structure`: it is missing"),
    ] {
        refused(&version_2(pointer, value), reason);
    }
    refused(&json!([1]), "expected an object, found an array");
    assert_eq!(upgrade(b" \n").expect_err("nothing").to_string(), "the file is empty");
    assert_eq!(upgrade(b"{\n \"url\": x}").expect_err("no JSON").position, Some((2, 9)));
}
