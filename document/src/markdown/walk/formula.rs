//! Formulas in presentation MathML, in a line.

use crate::html::tree::Flags;
use crate::html::{NodeId, Tag, Tree};

/// An element of a formula that parts its children.
#[derive(Debug)]
struct Open {
    end: NodeId,
    tag: Tag,
    children: usize,
    /// It is in parentheses.
    has_parentheses: bool,
}

/// A formula as text: `(a+b)/2`, `x^2`, `√(x)`.
pub(super) fn in_a_line(tree: &Tree, math: NodeId) -> String {
    let mut out = String::new();
    let mut open: Vec<Open> = Vec::new();
    let (mut skip_to, mut last_is_word, mut is_after_script) = (math, false, false);
    for (id, node) in tree.inside(math) {
        while let Some(ended) = open.pop_if(|open| open.end <= id) {
            close(&ended, &mut out);
            is_after_script |= has_operands(ended.tag);
        }
        if id < skip_to {
            continue;
        }
        let is_left_out = matches!(node.tag, Tag::Annotation | Tag::AnnotationXml);
        if node.flags.has(Flags::HIDDEN) || node.tag.is_without_text() || is_left_out {
            skip_to = node.end;
            continue;
        }
        let text = tree.text(node);
        if node.tag == Tag::Text {
            let text = text.trim();
            if !text.is_empty() {
                // sin x, and x^2 y, but 2x and xy.
                let is_word = |text: &str| text.chars().take_while(|c| c.is_alphabetic()).nth(1).is_some();
                let are_letters = out.ends_with(char::is_alphabetic) && text.starts_with(char::is_alphabetic);
                let is_factor = is_after_script && text.starts_with(char::is_alphanumeric);
                let are_digits = out.ends_with(char::is_numeric) && text.starts_with(char::is_numeric);
                if is_factor || are_digits || are_letters && (is_word(text) || last_is_word) {
                    out.push(' ');
                }
                is_after_script = false;
                last_is_word = is_word(text);
                out.push_str(text);
            }
            continue;
        }
        let mut has_parentheses = matches!(node.tag, Tag::Msqrt | Tag::Mroot);
        if let Some(around) = open.last_mut() {
            around.children += 1;
            out.push_str(before(around.tag, around.children));
            has_parentheses |= has_operands(around.tag) && has_several(tree, id);
        }
        out.push_str(if matches!(node.tag, Tag::Msqrt | Tag::Mroot) { "√" } else { "" });
        out.push_str(if has_parentheses { "(" } else { "" });
        open.push(Open { end: node.end, tag: node.tag, children: 0, has_parentheses });
    }
    while let Some(ended) = open.pop() {
        close(&ended, &mut out);
    }
    out
}

fn close(ended: &Open, out: &mut String) {
    out.push_str(if ended.has_parentheses { ")" } else { "" });
}

/// Returns true if the children of an element are operands.
fn has_operands(tag: Tag) -> bool {
    matches!(tag, Tag::Mfrac | Tag::Msup | Tag::Msub | Tag::Msubsup | Tag::Munder | Tag::Munderover)
}

/// The sign before a child of an element, by its number.
fn before(tag: Tag, child: usize) -> &'static str {
    match (tag, child) {
        (Tag::Mfrac, 2) => "/",
        (Tag::Msup, 2) | (Tag::Msubsup | Tag::Munderover, 3) => "^",
        (Tag::Msub | Tag::Msubsup | Tag::Munder | Tag::Munderover, 2) => "_",
        (Tag::Mroot, 2) | (Tag::Mtable, 2..) => "; ",
        (Tag::Mtr, 2..) => " ",
        _ => "",
    }
}

/// Returns true if an element has more than one run of text.
fn has_several(tree: &Tree, id: NodeId) -> bool {
    const MOST: usize = 64;
    let texts = tree.inside(id).take(MOST).filter(|(_, node)| !tree.text(*node).trim().is_empty());
    texts.take(2).count() > 1
}
