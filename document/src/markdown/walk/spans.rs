//! Words that only a style sheet parts: `<span class="price">€89</span><span class="before">€98</span>`.

use super::Walk;
use crate::html::{Attribute, Node, NodeId, Tag};

/// The nodes in which the first text of an element is looked for.
const MOST_LOOKED_AT: usize = 8;
/// The fewest letters of a word that is not the beginning or the end of another one.
const WORD: usize = 3;

impl Walk<'_> {
    /// Parts the words of two elements that stand next to each other, where they surely are two.
    pub(super) fn part_words(&mut self, id: NodeId, node: Node) {
        let Some(last) = self.line.last_word(WORD + 1) else { return };
        let is_one = |node: Node| matches!(node.tag, Tag::Span | Tag::Small | Tag::Time);
        let before = self.tree.before(id).map(|before| self.tree.node(before));
        let Some(before) = before.filter(|before| is_one(*before)) else { return };
        let mut inside = self.tree.inside(id).take(MOST_LOOKED_AT).map(|(_, node)| self.tree.text(node));
        let first = inside.find(|text| !text.is_empty()).unwrap_or_default();
        let class = |node| self.tree.attribute(node, Attribute::Class);
        let are_alike = before.tag == node.tag && class(before) == class(node);
        if are_two(last, first, are_alike) {
            self.line.part_captures();
            self.line.blank();
        }
    }
}

/// Returns true if text begins another word than the one before it. Editors part words where letters begin to look different, so
/// that two small letters may be of one word; letters that appear one after the other are in elements that are alike.
fn are_two(last: &str, text: &str, are_alike: bool) -> bool {
    let letters =
        |word: &mut dyn Iterator<Item = char>| word.take_while(|c| c.is_alphabetic()).take(WORD).count();
    let (before, after) = (letters(&mut last.chars().rev()), letters(&mut text.chars()));
    let (end, mut begin) = (last.chars().next_back().unwrap_or_default(), text.chars());
    let first = begin.next().unwrap_or_default();
    let is_price = matches!(first, '$' | '€' | '£' | '¥') && begin.next().is_some_and(char::is_numeric);
    let is_capitalized = first.is_uppercase() && after > 1;
    // 5g, but not the first letter of a name: iPhone.
    let is_unit = before < last.chars().count();
    if is_price || end.is_lowercase() && is_capitalized && (before > 1 || is_unit) {
        return true;
    }
    !are_alike
        && match (end.is_numeric(), first.is_numeric()) {
            (true, true) => true,
            (true, false) => is_capitalized || after == WORD,
            (false, true) => before == WORD,
            (false, false) => is_capitalized && before == WORD && after == WORD,
        }
}
