//! The statements of a page about itself: title, description, language, canonical address, robots, JSON-LD.

use serde_json::{Map, Value};

use crate::aidocument::language_tag;
use crate::html::tree::Flags;
use crate::html::{Attribute, Node, NodeId, Tag, Tree};

/// The bytes of JSON-LD that are read in a page.
const MOST_JSON_LD: usize = 256 << 10;

/// The objects of JSON-LD in an element that are read: so many, and one for so many bytes. Each takes ten times as much memory.
const MOST_OBJECTS: usize = 64;
const BYTES_OF_OBJECT: usize = 64;

/// The most bytes of a heading that may be the title of a page.
const LONGEST_HEADING: u32 = 1 << 10;

/// The headings of each level that may be the title of a page.
const MOST_HEADINGS: usize = 16;

/// The statements of a page about itself.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) title: Option<String>,
    /// The `title` element.
    pub(crate) element: Option<String>,
    /// The first headings of level 1 or 2 that people see, with their text.
    pub(crate) headings: Vec<(NodeId, String)>,
    pub(crate) description: Option<String>,
    pub(crate) language: Option<String>,
    /// As the page has it.
    pub(crate) canonical: Option<String>,
    pub(crate) base: Option<String>,
    /// `og:type`.
    kind: Option<String>,
    /// The rules of `meta` elements for robots, by product token.
    robots: Vec<(String, String)>,
    /// The page has JSON-LD, which may be no JSON.
    pub(crate) has_json_ld: bool,
    pub(crate) structured_data: Option<Map<String, Value>>,
}

impl Head {
    pub(crate) fn of(tree: &Tree) -> Self {
        let mut head = Self::default();
        let mut found = Found::default();
        let mut json_ld = Vec::new();
        let mut room = MOST_JSON_LD;
        let (mut first_left, mut second_left) = (MOST_HEADINGS, MOST_HEADINGS);
        let mut hidden_to = Tree::ROOT;
        let is_short = |id| {
            let text: u32 = tree.inside(id).map(|(_, node)| node.text_length()).sum();
            text <= LONGEST_HEADING
        };
        for (id, node) in tree.nodes() {
            if node.flags.has(Flags::HIDDEN) {
                hidden_to = hidden_to.max(node.end);
            }
            match node.tag {
                Tag::Script => {
                    let text: String = tree.inside(id).map(|(_, node)| tree.text(node)).collect();
                    head.has_json_ld |= !text.trim().is_empty();
                    if let Some(rest) = room.checked_sub(text.len()) {
                        room = rest;
                        json_ld.extend(parse_json_ld(&text));
                    }
                }
                Tag::H1 | Tag::H2 => {
                    let left = if node.tag == Tag::H1 { &mut first_left } else { &mut second_left };
                    if *left > 0
                        && id >= hidden_to
                        && is_short(id)
                        && let Some(text) = text(&tree.heading_text(id))
                    {
                        *left -= 1;
                        head.headings.push((id, text));
                    }
                }
                Tag::Title if node.flags.has(Flags::IN_HEAD) => keep(&mut found.title, &tree.all_text(id)),
                Tag::Meta if node.flags.has(Flags::IN_HEAD) => head.read_meta(tree, node, &mut found),
                Tag::Base => {
                    head.base =
                        head.base.take().or_else(|| tree.address(node, Attribute::Href).map(str::to_owned));
                }
                Tag::Link if head.canonical.is_none() => {
                    let rel = tree.attribute(node, Attribute::Rel).unwrap_or_default();
                    if rel.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case("canonical")) {
                        head.canonical = tree.address(node, Attribute::Href).map(str::to_owned);
                    }
                }
                _ => {}
            }
        }
        let root = tree.node(Tree::ROOT);
        let stated = [Attribute::Lang, Attribute::XmlLang]
            .into_iter()
            .find_map(|one| tree.attribute(root, one))
            .map(str::to_owned);
        let languages = [stated, found.content_language, found.locale];
        head.language =
            languages.into_iter().flatten().find_map(|tags| language_tag(tags.split(',').next()?));
        let h1 = || head.headings.iter().find(|(id, _)| tree.node(*id).tag == Tag::H1);
        head.title =
            found.og_title.or_else(|| h1().map(|(_, text)| text.clone())).or_else(|| found.title.clone());
        head.element = found.title;
        head.description = found.description.or(found.og_description);
        head.structured_data = merge(json_ld);
        head
    }

    fn read_meta(&mut self, tree: &Tree, node: Node, found: &mut Found) {
        let Some(content) = tree.attribute(node, Attribute::Content) else { return };
        let http = tree.attribute(node, Attribute::HttpEquiv).unwrap_or_default();
        if http.trim().eq_ignore_ascii_case("content-language") {
            keep(&mut found.content_language, content);
        }
        for attribute in [Attribute::Name, Attribute::Property] {
            let Some(name) = tree.attribute(node, attribute) else { continue };
            let name = name.trim().to_ascii_lowercase();
            match &*name {
                "og:title" => keep(&mut found.og_title, content),
                "og:description" => keep(&mut found.og_description, content),
                "og:type" => keep(&mut self.kind, content),
                "og:locale" => keep(&mut found.locale, content),
                "description" => keep(&mut found.description, content),
                _ if attribute == Attribute::Name && !name.is_empty() => {
                    self.robots.push((name, content.to_owned()));
                }
                _ => {}
            }
        }
    }

    /// The rule with which the page forbids a document of it, to all or to one of these product tokens.
    pub(crate) fn forbidding_rule(&self, tokens: &[&str]) -> Option<&'static str> {
        self.robots.iter().find_map(|(name, rules)| {
            let is_for =
                name == "robots" || tokens.iter().any(|token| name.eq_ignore_ascii_case(token.trim()));
            forbidding(rules, FORBIDDING).filter(|_| is_for)
        })
    }

    /// Returns true if the page forbids a document to some robots by their product tokens.
    pub(crate) fn forbids_some(&self) -> bool {
        // `none` has another meaning in `<meta name="msapplication-config" content="none">`.
        let without_none = FORBIDDING.split_last().map_or(FORBIDDING, |(_, others)| others);
        self.robots.iter().any(|(name, rules)| {
            let is_other = name.starts_with("msapplication-") || name == "referrer" || name.contains(':');
            name != "robots" && forbidding(rules, if is_other { without_none } else { FORBIDDING }).is_some()
        })
    }

    /// The sort of the page, if it names one that documents have.
    pub(crate) fn content_type(&self) -> Option<&'static str> {
        let schema = self.structured_data.as_ref().and_then(content_type_of);
        schema.or_else(|| match &*self.kind.as_ref()?.to_ascii_lowercase() {
            "article" => Some("article"),
            "product" | "og:product" | "product.item" => Some("product"),
            "profile" => Some("profile"),
            _ => None,
        })
    }
}

/// The first of each that the page has.
#[derive(Debug, Default)]
struct Found {
    og_title: Option<String>,
    title: Option<String>,
    description: Option<String>,
    og_description: Option<String>,
    content_language: Option<String>,
    locale: Option<String>,
}

/// Keeps a text, unless there is one.
fn keep(place: &mut Option<String>, value: &str) {
    if place.is_none() {
        *place = text(value);
    }
}

/// A text with one space between words, without what nobody sees; none if there is nothing.
fn text(value: &str) -> Option<String> {
    let is_plain = !value.contains("  ") && value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain {
        return Some(value.trim().to_owned()).filter(|words| !words.is_empty());
    }
    let visible: String = value.chars().filter(|c| !crate::text::is_invisible(*c)).collect();
    let words = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(words).filter(|words| !words.is_empty())
}

/// The rules that forbid a document: it is a copy of the page's text, and longer than any snippet.
const FORBIDDING: &[&str] = &["noindex", "nosnippet", "max-snippet:0", "none"];

/// The first of these that is among the rules for robots.
fn forbidding(rules: &str, forbidding: &[&'static str]) -> Option<&'static str> {
    let mut rules = rules.split([',', ';']).flat_map(|rule| {
        // `max-snippet: 0` is one rule, `noindex nofollow` are two.
        let is_valued = rule.contains(':');
        let words = rule.split_whitespace();
        if is_valued { vec![words.collect::<String>()] } else { words.map(str::to_owned).collect() }
    });
    rules.find_map(|rule| forbidding.iter().find(|forbidding| rule.eq_ignore_ascii_case(forbidding)).copied())
}

/// The objects of a block of JSON-LD.
fn parse_json_ld(text: &str) -> Vec<Map<String, Value>> {
    let text = text.trim();
    // As pages have it for readers that do not know scripts.
    let text = text.strip_prefix("<!--").map_or(text, |text| text.trim_end().trim_end_matches("-->"));
    let text = text
        .trim()
        .strip_prefix("//<![CDATA[")
        .map_or(text, |text| text.trim_end().trim_end_matches("//]]>"));
    let text = text.trim_start_matches('\u{feff}').trim_end_matches(';');
    let most = MOST_OBJECTS + text.len() / BYTES_OF_OBJECT;
    if memchr::memchr_iter(b'{', text.as_bytes()).count() > most {
        return Vec::new();
    }
    // Many pages have line ends in their strings, which JSON has not.
    let without_controls = || text.replace(|c: char| c.is_ascii_control(), " ");
    match serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_controls())) {
        Ok(Value::Object(object)) => vec![object],
        Ok(Value::Array(values)) => values
            .into_iter()
            .filter_map(|value| match value {
                Value::Object(object) => Some(object),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// One object that says what all say: several become the `@graph` of one.
fn merge(mut objects: Vec<Map<String, Value>>) -> Option<Map<String, Value>> {
    if objects.len() < 2 {
        return objects.pop().filter(|object| !object.is_empty());
    }
    let context = objects.iter().find_map(|object| object.get("@context")).cloned();
    let is_shared = |object: &Map<String, Value>| {
        object.get("@context").is_none_or(|other| Some(other) == context.as_ref())
    };
    let can_share = objects.iter().all(is_shared);
    let mut graph = Vec::new();
    for mut object in objects {
        if can_share {
            object.remove("@context");
        }
        match object.remove("@graph") {
            Some(Value::Array(inner)) if object.is_empty() => graph.extend(inner),
            Some(inner) => {
                object.insert("@graph".to_owned(), inner);
                graph.push(Value::Object(object));
            }
            None => graph.push(Value::Object(object)),
        }
    }
    let mut merged = Map::new();
    if let Some(context) = context.filter(|_| can_share) {
        merged.insert("@context".to_owned(), context);
    }
    merged.insert("@graph".to_owned(), Value::Array(graph));
    Some(merged)
}

/// The sort of the page by its JSON-LD. A page with several products or recipes lists them.
fn content_type_of(data: &Map<String, Value>) -> Option<&'static str> {
    let graph = data.get("@graph").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let objects = std::iter::once(data).chain(graph.iter().filter_map(Value::as_object));
    let sort = |object: &Map<String, Value>| match object.get("@type")? {
        Value::String(kind) => content_type_named(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find_map(content_type_named),
        _ => None,
    };
    let sorts: Vec<&str> = objects.filter_map(sort).collect();
    let is_one = |sort: &&&str| {
        !matches!(**sort, "product" | "recipe") || sorts.iter().filter(|other| other == sort).count() == 1
    };
    sorts.iter().find(is_one).copied()
}

fn content_type_named(kind: &str) -> Option<&'static str> {
    let kind = kind.rsplit(['/', ':']).next().unwrap_or(kind);
    Some(match kind {
        "Product" | "ProductGroup" => "product",
        "ItemList" | "CollectionPage" | "SearchResultsPage" => "listing",
        "ProfilePage" => "profile",
        "Recipe" => "recipe",
        _ if kind.ends_with("Article") || kind.ends_with("BlogPosting") || kind == "Report" => "article",
        _ => return None,
    })
}
