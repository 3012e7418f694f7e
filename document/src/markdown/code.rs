//! Blocks of code, and the language that they are in.

use super::line::longest_run;
use crate::html::tree::Flags;
use crate::html::{Attribute, Node, NodeId, Tag, Tree};
use crate::text::is_invisible;

/// The distance around and inside a block within which its language may be named.
const NEAR: usize = 3;

/// A block of code with its fence; none if it has no text, or only the numbers of lines.
pub(super) fn block(tree: &Tree, id: NodeId, node: Node) -> Option<String> {
    let lines = lines(tree, id, node)?;
    let fence = "`".repeat(longest_run(&lines, '`').max(2) + 1);
    let language = language(tree, id, node).unwrap_or_default();
    Some(format!("{fence}{language}\n{lines}\n{fence}"))
}

/// The lines of a block of code; none if it has no text, or only the numbers of lines.
pub(super) fn lines(tree: &Tree, id: NodeId, node: Node) -> Option<String> {
    let mut text = String::new();
    let (mut line_end, mut skip_to) = (None, id);
    for (at, inner) in tree.inside(id) {
        if at < skip_to {
            continue;
        }
        let is_left_out = inner.flags.has(Flags::HIDDEN) || inner.tag.is_without_text();
        if is_left_out || inner.tag == Tag::Button || is_number_of_line(tree, at, inner) {
            skip_to = inner.end;
            continue;
        }
        let ends_line = line_end.take_if(|end| at >= *end).is_some();
        let is_apart = match inner.tag {
            Tag::Br => false,
            Tag::Text => ends_line && !tree.text(inner).starts_with('\n'),
            Tag::Span if is_line(tree, inner) => {
                line_end = Some(inner.end);
                true
            }
            tag => ends_line || !tag.is_inline() && tag != node.tag,
        };
        if is_apart && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        match inner.tag {
            Tag::Text => text.extend(tree.text(inner).chars().filter(|c| !is_invisible(*c) && *c != '\r')),
            Tag::Br => text.push('\n'),
            _ => {}
        }
    }
    let lines: Vec<&str> = text.trim_end().split('\n').map(str::trim_end).collect();
    let first = lines.iter().position(|line| !line.is_empty())?;
    let lines = lines.get(first..).unwrap_or_default();
    let is_number = |(at, line): (usize, &&str)| line.trim().parse() == Ok(at + 1);
    let is_only_numbers = lines.len() > 1 && lines.iter().enumerate().all(is_number);
    (!is_only_numbers).then(|| lines.join("\n"))
}

/// Returns true if an element is the number of a line, by its class and its text.
fn is_number_of_line(tree: &Tree, id: NodeId, node: Node) -> bool {
    const NAMES: [&str; 6] = ["lineno", "line-number", "linenumber", "line_number", "ln-num", "gutter"];
    let is_number = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_whitespace();
    let mut texts =
        tree.inside(id).map(|(_, node)| tree.text(node)).filter(|text| !text.is_empty()).peekable();
    // Most words of code are none.
    let may_be = node.flags.has(Flags::NAMED)
        && texts.peek().is_some_and(|text| text.bytes().next().is_some_and(is_number));
    if !may_be {
        return false;
    }
    let class = tree.attribute(node, Attribute::Class).unwrap_or_default().to_ascii_lowercase();
    let is_named = class
        .split_ascii_whitespace()
        .any(|name| matches!(name, "ln" | "lnt") || NAMES.iter().any(|number| name.contains(number)));
    is_named && texts.all(|text| text.bytes().all(is_number))
}

/// Returns true if an element is a line by its class, so that a style sheet makes a block of it: `line`, `code-line`.
fn is_line(tree: &Tree, node: Node) -> bool {
    let class = tree.attribute(node, Attribute::Class).unwrap_or_default();
    class.split_ascii_whitespace().any(|name| name == "line" || name.ends_with("-line"))
}

/// The language that the names of a block, of its first element or of those around it mention.
fn language(tree: &Tree, id: NodeId, node: Node) -> Option<String> {
    let inside = tree.inside(id).take(NEAR).map(|(_, node)| node);
    let around = std::iter::successors(Some(node), |node| Some(tree.node(node.parent))).skip(1).take(NEAR);
    let mut all = inside.chain(around).filter(|node| node.tag != Tag::Text && node.tag != Tag::Body);
    all.find_map(|node| {
        let data = [Attribute::DataLang, Attribute::DataLanguage];
        let stated = data.into_iter().find_map(|attribute| tree.attribute(node, attribute));
        stated.and_then(name).or_else(|| tree.attribute(node, Attribute::Class).and_then(in_class))
    })
}

fn in_class(class: &str) -> Option<String> {
    const BEGINNINGS: [&str; 5] = ["language-", "lang-", "highlight-source-", "highlight-", "src-"];
    let mut words = class.split_ascii_whitespace();
    while let Some(word) = words.next() {
        // Of SyntaxHighlighter: "brush: js; toolbar: false".
        if word == "brush:" {
            return words.next().and_then(|word| name(word.trim_end_matches(';')));
        }
        if let Some(rest) = BEGINNINGS.iter().find_map(|beginning| word.strip_prefix(beginning)) {
            return name(rest);
        }
    }
    // Of Pandoc and others: "sourceCode python".
    let mut words = class.split_ascii_whitespace();
    matches!(words.next(), Some("sourceCode" | "hljs" | "prettyprint" | "src"))
        .then(|| words.find_map(name))?
}

/// A name of a language, if it can be one.
fn name(word: &str) -> Option<String> {
    const NONE: [&str; 11] = [
        "line",
        "lines",
        "none",
        "default",
        "text",
        "plain",
        "plaintext",
        "auto",
        "nohighlight",
        "notranslate",
        "linenums",
    ];
    let word = word.trim().to_ascii_lowercase();
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '#' | '_' | '.');
    let is_name = (1..=24).contains(&word.len()) && word.chars().all(is_part) && !NONE.contains(&&*word);
    is_name.then_some(word)
}
