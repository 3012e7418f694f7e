//! Documents that hold to the schema.

use std::sync::LazyLock;

use crawlpike_document::aidocument::{CacheInfo, SCHEMA, Upgraded, upgrade};
use jsonschema::Validator;
use serde_json::Value;

static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is a schema")
});

/// Fails if a document does not hold to the schema, or if its parts do not agree.
pub(crate) fn check_document(document: &Value) {
    // AIWI-3, AIWI-4
    let errors: Vec<String> = VALIDATOR
        .iter_errors(document)
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:?} in {document:#}");
    let text = document.to_string();
    let Upgraded { document: read, warnings } =
        upgrade(text.as_bytes()).expect("what is written can be read");
    assert_eq!(serde_json::to_value(&read).ok().as_ref(), Some(document), "{warnings:?}");
    assert!(warnings.is_empty(), "{warnings:?}");
    // AIWI-7
    assert_eq!(read.cache, CacheInfo::of(read.cache.status));
    // AIWI-12
    if let Some(economics) = &read.economics {
        let (output, page) = (economics.output_tokens_approx, economics.raw_html_tokens_approx);
        let savings = page.cast_signed() - output.cast_signed();
        assert_eq!(economics.token_savings, savings);
        let percent = savings as f64 / page as f64 * 100.0;
        assert!((economics.token_savings_percent - percent).abs() < 0.006, "{economics:?}");
        let price = economics.pricing_basis.input_price_per_1k_usd / 1000.0;
        let cost = &economics.estimated_cost_usd;
        for (dollars, tokens) in
            [(cost.our_output, output as f64), (cost.raw_html, page as f64), (cost.savings, savings as f64)]
        {
            assert!((dollars - tokens * price).abs() < 1e-9, "{economics:?}");
        }
    }
}
