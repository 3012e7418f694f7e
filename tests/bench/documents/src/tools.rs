//! Crawlpike and its peers behind one function each.

use crawlpike_document::aidocument::{CacheStatus, Fetch, FreshnessPolicy};
use crawlpike_document::{Document, Limits};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

const URL: &str = "https://example.com/page";

/// A program that makes text of a page.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// Its output.
    pub(crate) run: fn(&[u8]) -> String,
    /// The text of what it makes.
    pub(crate) text: fn(String) -> String,
    /// The same without the title of the page.
    pub(crate) without_title: fn(String) -> String,
}

impl Tool {
    /// Its output for a page. Some peers panic on some pages, which then have no text. Valgrind finds the function by its
    /// name.
    #[inline(never)]
    pub(crate) fn convert(&self, page: &[u8]) -> String {
        std::panic::catch_unwind(|| (self.run)(page)).unwrap_or_default()
    }
}

/// The tools in Rust.
pub(crate) const TOOLS: &[Tool] = &[
    Tool { name: "crawlpike", run: |page| read(page).markdown().to_owned(), text: text_of, without_title },
    Tool { name: "dom_smoothie", run: dom_smoothie, text: |text| text, without_title: |made| made },
    Tool { name: "rs-trafilatura", run: rs_trafilatura, text: |text| text, without_title: |made| made },
    Tool { name: "htmd", run: htmd, text: text_of, without_title: |made| made },
    Tool { name: "fast_html2md", run: fast_html2md, text: text_of, without_title: |made| made },
];

pub(crate) fn read(page: &[u8]) -> Document {
    crawlpike_document::read(page, &Limits { bytes: 64 << 20, ..Limits::default() }, None, Some(URL))
}

/// All that an AIDocument has, as JSON.
pub(crate) fn all_fields(page: &[u8]) -> String {
    let fetch = Fetch {
        fetched_at: None,
        status_code: Some(200),
        freshness_policy: FreshnessPolicy::CacheFirst,
        cache: CacheStatus::Miss,
        usage: None,
    };
    let document = read(page).to_ai_document(&fetch).expect("the address is known");
    serde_json::to_string(&document).expect("a document is JSON")
}

fn dom_smoothie(page: &[u8]) -> String {
    let page = String::from_utf8_lossy(page);
    let reader = dom_smoothie::Readability::new(&*page, Some(URL), None);
    reader
        .and_then(|mut reader| reader.parse())
        .map(|article| article.text_content.to_string())
        .unwrap_or_default()
}

fn rs_trafilatura(page: &[u8]) -> String {
    rs_trafilatura::extract(&String::from_utf8_lossy(page))
        .map(|result| result.content_text)
        .unwrap_or_default()
}

fn htmd(page: &[u8]) -> String {
    htmd::convert(&String::from_utf8_lossy(page)).unwrap_or_default()
}

fn fast_html2md(page: &[u8]) -> String {
    html2md::rewrite_html(&String::from_utf8_lossy(page), false)
}

/// The text of markdown, a line for each block.
fn text_of(markdown: String) -> String {
    let mut text = String::new();
    let mut images = 0;
    for event in Parser::new_ext(&markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
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

/// Crawlpike's markdown begins with the title.
fn without_title(markdown: String) -> String {
    let rest = markdown.strip_prefix("# ").and_then(|rest| rest.split_once('\n'));
    rest.map(|(_, rest)| rest.to_owned()).unwrap_or(markdown)
}
