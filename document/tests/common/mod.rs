//! Parts of several tests: documents that hold to the schema, and markdown that is read again.

pub(crate) mod schema;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

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
