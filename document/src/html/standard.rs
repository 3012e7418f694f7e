//! A comparison with the standard: the tokenizer with html5lib's tests, and the text of pages with html5ever.
//!
//! `CRAWLPIKE_CORPORA` names a directory whose pages and tests are checked as well, as `make bench-document` unpacks them.

use std::fs;
use std::path::{Path, PathBuf};

use html5ever::tendril::TendrilSink;
use html5ever::{LocalName, ParseOpts, parse_document};
use html5gum::{DefaultEmitter, Emitter, State, Token, Tokenizer};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::input::Input;
use super::reader::tree_of as parse;
use super::{Attribute, Tag, Tree};
use crate::{Limits, encoding};

/// The files with an ending in a folder of this crate's tests, and in all folders of the corpora.
fn files(folder: &str, end: &str) -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut folders = vec![own];
    if let Some(corpora) = std::env::var_os("CRAWLPIKE_CORPORA") {
        let entries = fs::read_dir(&corpora).expect("CRAWLPIKE_CORPORA is a directory");
        folders.extend(entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()));
    }
    let all = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let mut files: Vec<_> = all.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|other| other == end));
    files.sort();
    files
}

#[test]
fn the_tokenizer_passes_the_tests_of_html5lib() {
    let mut count = 0;
    for file in files("html5lib", "test") {
        let tests: Value = serde_json::from_slice(&fs::read(&file).expect("a file")).expect("JSON");
        for test in tests["tests"].as_array().into_iter().flatten() {
            let states = test["initialStates"].as_array().cloned().unwrap_or(vec![json!("Data state")]);
            let is_escaped = test["doubleEscaped"] == true;
            let Some(input) = text_of(&test["input"], is_escaped) else { continue };
            let Some(expected) = expected(&test["output"], is_escaped) else { continue };
            for state in states {
                let is = tokens(&input, state_named(&state), test["lastStartTag"].as_str());
                assert_eq!(is, expected, "{}: {} in {state}: {input:?}", file.display(), test["description"]);
                count += 1;
            }
        }
    }
    assert!(count > 1000, "only {count} tests were read");
}

fn state_named(name: &Value) -> State {
    match name.as_str() {
        Some("Data state") => State::Data,
        Some("PLAINTEXT state") => State::PlainText,
        Some("RCDATA state") => State::RcData,
        Some("RAWTEXT state") => State::RawText,
        Some("Script data state") => State::ScriptData,
        Some("CDATA section state") => State::CdataSection,
        _ => panic!("an unknown state: {name}"),
    }
}

/// The string of a test; none if it has a character that UTF-8 has not.
fn text_of(value: &Value, is_escaped: bool) -> Option<String> {
    let text = value.as_str().expect("a string");
    if is_escaped {
        serde_json::from_str(&format!("\"{}\"", text.replace('"', "\\\""))).ok()
    } else {
        Some(text.to_owned())
    }
}

/// The tokens that a test expects, without a difference between one run of characters and several.
fn expected(output: &Value, is_escaped: bool) -> Option<Vec<Value>> {
    let mut all = Vec::new();
    for token in output.as_array().expect("tokens") {
        let text = |at: usize| text_of(&token[at], is_escaped);
        match token[0].as_str().expect("the sort of a token") {
            "Character" => push_text(&mut all, &text(1)?),
            "Comment" => all.push(json!(["Comment", text(1)?])),
            "EndTag" => all.push(json!(["EndTag", text(1)?])),
            "StartTag" => {
                let mut attributes = serde_json::Map::new();
                for (name, value) in token[2].as_object().expect("attributes") {
                    attributes.insert(text_of(&json!(name), is_escaped)?, json!(text_of(value, is_escaped)?));
                }
                all.push(json!(["StartTag", text(1)?, attributes, token[3] == true]));
            }
            _ => all.push(json!(["DOCTYPE"])),
        }
    }
    Some(all)
}

fn push_text(tokens: &mut Vec<Value>, text: &str) {
    if let Some(Value::Array(last)) = tokens.last_mut()
        && last.first() == Some(&json!("Character"))
        && let Some(Value::String(before)) = last.get_mut(1)
    {
        before.push_str(text);
    } else {
        tokens.push(json!(["Character", text]));
    }
}

fn tokens(input: &str, state: State, last_start_tag: Option<&str>) -> Vec<Value> {
    let mut emitter = DefaultEmitter::<()>::default();
    emitter.set_last_start_tag(last_start_tag.map(str::as_bytes));
    let mut tokenizer = Tokenizer::new_with_emitter(Input::new(input), emitter);
    tokenizer.set_state(state);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8 stays UTF-8");
    let mut all = Vec::new();
    for Ok(token) in tokenizer {
        match token {
            Token::StartTag(tag) => {
                let attributes = tag.attributes.iter().map(|(name, value)| (text(name), json!(text(value))));
                let attributes: serde_json::Map<_, _> = attributes.collect();
                all.push(json!(["StartTag", text(&tag.name), attributes, tag.self_closing]));
            }
            Token::EndTag(tag) => all.push(json!(["EndTag", text(&tag.name)])),
            Token::String(characters) => push_text(&mut all, &text(&characters)),
            Token::Comment(comment) => all.push(json!(["Comment", text(&comment)])),
            Token::Doctype(_) => all.push(json!(["DOCTYPE"])),
            Token::Error(_) => {}
        }
    }
    all
}

/// The text of our tree in its order, without blanks, and without elements that are never content.
fn own_text(tree: &Tree<'_>) -> String {
    let mut text = String::new();
    let mut skip_to = Tree::ROOT;
    for (id, node) in tree.nodes() {
        if id >= skip_to {
            let is_script = node.tag == Tag::Math && tree.attribute(node, Attribute::Type).is_some();
            if is_script || is_left_out(node.tag) {
                skip_to = node.end;
            }
            text.extend(tree.text(node).chars().filter(|c| !is_blank(*c)));
        }
    }
    text
}

/// The same of a page as html5ever reads it.
fn text_of_html5ever(page: &str) -> String {
    let options = ParseOpts {
        tree_builder: html5ever::tree_builder::TreeBuilderOpts {
            scripting_enabled: false,
            ..Default::default()
        },
        ..Default::default()
    };
    let dom = parse_document(RcDom::default(), options).one(page);
    let mut text = String::new();
    let mut next: Vec<Handle> = vec![dom.document.clone()];
    while let Some(node) = next.pop() {
        match &node.data {
            NodeData::Text { contents } => text.extend(contents.borrow().chars().filter(|c| !is_blank(*c))),
            NodeData::Element { name, attrs, .. } => {
                let shows = |name: &LocalName| matches!(&**name, "data" | "classid");
                let is_empty = |one: &html5ever::Attribute| one.value.is_empty() || !shows(&one.name.local);
                let is_plain = attrs.borrow().iter().all(is_empty);
                match Tag::named(name.local.as_bytes()) {
                    Tag::Object if is_plain => {}
                    tag if is_left_out(tag) => continue,
                    _ => {}
                }
            }
            _ => {}
        }
        next.extend(node.children.borrow().iter().rev().cloned());
    }
    text
}

fn is_left_out(tag: Tag) -> bool {
    tag.is_without_text() && tag != Tag::Noscript
}

/// A NUL, which html5ever keeps in some places, is not text.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\0' || c == '\u{fffd}'
}

/// Shows where two texts differ.
fn first_difference(one: &str, other: &str) -> Option<String> {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let from = same.saturating_sub(30);
    let part = |text: &str| text.chars().skip(from).take(90).collect::<String>();
    (one != other).then(|| format!("ours {:?}\nhtml5ever {:?}", part(one), part(other)))
}

#[test]
fn pages_have_the_text_that_html5ever_finds() {
    let limits = Limits { bytes: usize::MAX, nodes: 1 << 24, depth: 512 };
    let mut differing = Vec::new();
    let files = files("pages", "html");
    for file in &files {
        let bytes = fs::read(file).expect("a page");
        let page = encoding::decode(&bytes, None);
        if let Some(difference) =
            first_difference(&own_text(&parse(&page, &limits)), &text_of_html5ever(&page))
        {
            println!("{}\n{difference}", file.display());
            differing.push(file);
        }
    }
    // Browsers move text that is in a table but in no cell before the table; few pages have some.
    assert!(1000 * differing.len() <= files.len(), "{differing:?}");
}

/// A part of a page that is not well formed.
fn part() -> impl Strategy<Value = String> {
    const NAMES: [&str; 40] = [
        "p",
        "div",
        "a",
        "b",
        "i",
        "em",
        "span",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "h1",
        "h2",
        "pre",
        "code",
        "blockquote",
        "section",
        "article",
        "nav",
        "main",
        "header",
        "footer",
        "form",
        "button",
        "br",
        "hr",
        "img",
        "x-y",
        "figure",
        "details",
        "summary",
        "nobr",
        "font",
        "ruby",
        "rt",
        "label",
        "address",
        "center",
    ];
    const TEXTS: [&str; 14] = [
        "one",
        "&amp;",
        "&lt;b&gt;",
        "&notin",
        "&#x41;",
        "a < b",
        " ",
        "\r\n",
        "<!-- c -->",
        "<!",
        "</",
        "é",
        "<3",
        "&",
    ];
    let name = || proptest::sample::select(&NAMES[..]);
    let number = 0..1000_u32;
    prop_oneof![
        4 => name().prop_map(|name| format!("<{name}>")),
        3 => name().prop_map(|name| format!("</{name}>")),
        1 => name().prop_map(|name| format!("<{name} class='a>b' id=\"c\" hidden>")),
        3 => number.prop_map(|number| format!("t{number} ")),
        1 => proptest::sample::select(&TEXTS[..]).prop_map(str::to_owned),
        1 => Just("<script>if (a < b) '</b>'</script>".to_owned()),
        1 => Just("<style>b > i {}</style>".to_owned()),
        1 => Just("<table><tr><td>cell<td><b>cell</table>".to_owned()),
    ]
}

proptest! {
    #[test]
    fn tag_soup_has_the_text_that_html5ever_finds(parts in proptest::collection::vec(part(), 0..40)) {
        let page = parts.concat();
        let tree = parse(&page, &Limits::default());
        let difference = first_difference(&own_text(&tree), &text_of_html5ever(&page));
        prop_assert!(difference.is_none(), "{page}\n{}", difference.unwrap_or_default());
    }
}
