//! Superscripts and subscripts: powers and indices, which are not further digits or letters.

use super::{Ending, Inside, Walk};
use crate::html::{Node, NodeId, Tag};

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
        // XIXe, 2o, 1a, no.
        const ORDINALS: [&str; 4] = ["e", "o", "a", "è"];
        const LONGEST: usize = 16;
        let is_sign = |c: char| matches!(c, '-' | '+' | '\u{2212}');
        let is_operator = |c: char| is_sign(c) || matches!(c, '*' | '/');
        let term = text.trim_start_matches(is_sign);
        if term.is_empty() || term.len() > LONGEST {
            return Self::End;
        }
        let is_number = term.bytes().all(|byte| byte.is_ascii_digit());
        let is_letter = term.chars().count() == 1 && term.starts_with(char::is_alphabetic);
        let is_counted = before.is_numeric() || before.is_uppercase() || before == 'n';
        let has_several = term.contains(|c: char| c.is_ascii_digit() || is_operator(c));
        if is_number || is_letter && !(ORDINALS.contains(&text) && is_counted) {
            Self::Term
        } else if term.starts_with(char::is_alphanumeric) && has_several {
            Self::Expression
        } else {
            Self::End
        }
    }
}

impl Walk<'_> {
    /// Begins a superscript.
    pub(super) fn superscript(&mut self, id: NodeId, node: Node) -> Inside {
        let is_inner = self.tree.node(node.parent).tag == Tag::Sup;
        let Some(before) = self.line.last().filter(|last| !is_inner && !last.is_whitespace()) else {
            return Inside::Walk;
        };
        let sort = Superscript::of(self.tree.all_text(id).trim(), before);
        let is_fraction = self.tree.text(self.tree.node(node.end)).starts_with(['/', '\u{2044}']);
        match sort {
            Superscript::End => {}
            // 1 1/2
            _ if is_fraction && before.is_numeric() => self.line.blank(),
            _ if is_fraction => {}
            Superscript::Term => self.line.push_markup("^"),
            Superscript::Expression => {
                self.line.push_markup("^");
                self.line.push("(");
                return self.ends_with(node, Ending::Text(")"));
            }
        }
        Inside::Walk
    }

    /// Begins a subscript: beside digits, an index is not one more of them.
    pub(super) fn subscript(&mut self, id: NodeId, node: Node) {
        let is_digit = |c: char| c.is_ascii_digit();
        let is_after_digit = self.line.last().is_some_and(is_digit);
        let is_before_digit = self.tree.text(self.tree.node(node.end)).starts_with(is_digit);
        if (is_after_digit || is_before_digit) && self.tree.all_text(id).trim().starts_with(is_digit) {
            self.line.push_markup("\\_");
        }
    }
}
