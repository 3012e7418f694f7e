//! Superscripts and subscripts: powers and indices, which are not further digits or letters.

use super::{Ending, Inside, Walk};
use crate::html::{Node, NodeId, Tag, Tree};

/// The sorts of superscripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Superscript {
    /// A number or a letter: a power, or the number of a note.
    Term,
    /// More than one term.
    Expression,
    /// Letters: the end of an ordinal or of an abbreviation.
    End,
}

impl Superscript {
    fn of(text: &str, before: char) -> Self {
        // 1st, 1er, XIXe, 2o, 1a, no, Mlle.
        const ENDS: [&str; 25] = [
            "st", "nd", "rd", "th", "er", "re", "ère", "ème", "eme", "ième", "me", "mes", "mr", "lle",
            "lles", "le", "gr", "os", "as", "da", "do", "ra", "ro", "tm", "sm",
        ];
        const ORDINALS: [&str; 5] = ["e", "o", "a", "è", "r"];
        const LONGEST: usize = 16;
        let is_sign = |c: char| matches!(c, '-' | '+' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '±');
        let is_operator = |c: char| is_sign(c) || matches!(c, '*' | '/' | '(' | '=');
        let term = text.trim_start_matches(is_sign);
        if term.is_empty() || text.len() > LONGEST || !term.starts_with(char::is_alphanumeric) {
            return Self::End;
        }
        let is_number = term.bytes().all(|byte| byte.is_ascii_digit());
        let is_letter = term.chars().count() == 1;
        let is_counted = before.is_numeric() || before.is_uppercase() || before == 'n';
        let has_several = term.contains(|c: char| c.is_ascii_digit() || is_operator(c));
        let is_end = ENDS.contains(&&*text.to_lowercase()) || ORDINALS.contains(&text) && is_counted;
        if is_number || is_letter && !is_end {
            Self::Term
        } else if has_several
            || !is_end && term.chars().all(char::is_alphanumeric) && term.chars().count() <= 4
        {
            Self::Expression
        } else {
            Self::End
        }
    }
}

/// The nodes of a superscript or a subscript; what has more is not one.
const MOST_NODES: usize = 16;

/// The text of an element, if it has few nodes.
fn text(tree: &Tree, id: NodeId) -> Option<String> {
    let is_small = tree.node(id).end.index() - id.index() <= MOST_NODES;
    is_small.then(|| tree.all_text(id).trim().to_owned())
}

/// The sign before a superscript in code.
pub(super) fn sign(tree: &Tree, id: NodeId, before: &str) -> &'static str {
    let last = before.chars().next_back().filter(|last| !last.is_whitespace());
    let sort = last.and_then(|last| Some(Superscript::of(&text(tree, id)?, last)));
    if sort.is_none_or(|sort| sort == Superscript::End) { "" } else { "^" }
}

impl Walk<'_> {
    /// Begins a superscript.
    pub(super) fn superscript(&mut self, id: NodeId, node: Node) -> Inside {
        let before = self.line.last().filter(|last| !last.is_whitespace() && *last != '^');
        let (Some(before), Some(text)) = (before, text(self.tree, id)) else { return Inside::Walk };
        match Superscript::of(&text, before) {
            Superscript::End => {}
            // 1 1/2
            _ if self.is_numerator(node) => {
                if before.is_numeric() {
                    self.line.blank();
                }
            }
            Superscript::Term if self.is_cents(&text) => self.line.push("."),
            // The number of a note behind a number is not a power of it.
            Superscript::Term if before.is_numeric() && self.is_linked(id) => self.line.blank(),
            Superscript::Term if !self.is_before(node, char::is_alphanumeric) => self.line.push_markup("^"),
            Superscript::Term | Superscript::Expression => {
                self.line.push_markup("^");
                self.line.push("(");
                return self.ends_with(node, Ending::Text(")"));
            }
        }
        Inside::Walk
    }

    /// Returns true if a stroke and a subscript follow a superscript.
    fn is_numerator(&self, node: Node) -> bool {
        let stroke = self.tree.node(node.end);
        matches!(self.tree.text(stroke).trim(), "/" | "\u{2044}")
            && self.tree.node(stroke.end).tag == Tag::Sub
    }

    /// Returns true if one of some characters stands right behind an element.
    fn is_before(&self, node: Node, is_it: fn(char) -> bool) -> bool {
        self.tree.text(self.tree.node(node.end)).starts_with(is_it)
    }

    /// Returns true if a superscript has the cents of a price.
    fn is_cents(&self, text: &str) -> bool {
        let currency = self.line.before_number().filter(|before| matches!(before, '$' | '€' | '£'));
        text.len() == 2 && currency.is_some() && text.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn is_linked(&self, id: NodeId) -> bool {
        self.tree.inside(id).take(MOST_NODES).any(|(_, node)| node.tag == Tag::A)
    }

    /// Begins a subscript: beside digits, an index is not one more of them.
    pub(super) fn subscript(&mut self, id: NodeId, node: Node) -> Inside {
        let is_digit: fn(char) -> bool = |c| c.is_ascii_digit();
        let is_before_digit = self.is_before(node, is_digit);
        let is_beside_digit = is_before_digit || self.line.last().is_some_and(is_digit);
        if !is_beside_digit || !text(self.tree, id).is_some_and(|text| text.starts_with(is_digit)) {
            return Inside::Walk;
        }
        self.line.push_markup("\\_");
        if is_before_digit {
            self.line.push("(");
            return self.ends_with(node, Ending::Text(")"));
        }
        Inside::Walk
    }
}
