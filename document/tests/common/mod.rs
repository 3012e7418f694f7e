//! Parts of several tests: documents that hold to the schema, and markdown that is read again.

use std::sync::LazyLock;

use crawlpike_document::aidocument::{AiDocument, CacheInfo, SCHEMA};
use jsonschema::Validator;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
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
    let read: AiDocument = serde_json::from_value(document.clone()).expect("what is written can be read");
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

/// The text of markdown, a line for each block. Fails if it holds HTML: none is ever written.
pub(crate) fn text_of(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS
        | Options::ENABLE_FOOTNOTES;
    let mut text = String::new();
    let mut images = 0;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => panic!("HTML in markdown: {html} in {markdown}"),
            Event::Start(Tag::MetadataBlock(_) | Tag::FootnoteDefinition(_)) => {
                panic!("metadata in {markdown}")
            }
            Event::FootnoteReference(_) => panic!("a footnote in {markdown}"),
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => images -= 1,
            Event::Text(part) | Event::Code(part) if images == 0 => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak | Event::Rule => text.push('\n'),
            Event::End(TagEnd::TableCell) => text.push(' '),
            Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::Item
                | TagEnd::CodeBlock
                | TagEnd::TableRow
                | TagEnd::TableHead,
            ) => text.push('\n'),
            _ => {}
        }
    }
    text
}
