//! Words that only a style sheet parts: `<span class="price">€89</span><span class="before">€98</span>`, links beside each other.

use super::Walk;
use crate::html::tree::Flags;
use crate::html::{Attribute, Node, NodeId, Tag};

/// The nodes in which the first text of an element is looked for.
const MOST_LOOKED_AT: usize = 8;
/// The fewest letters of a word that is not the beginning or the end of another one.
const WORD: usize = 3;

impl Walk<'_> {
    /// Parts the words of two elements that stand next to each other, where they surely are two.
    pub(super) fn part_words(&mut self, id: NodeId, node: Node) {
        let before = self.tree.before(id).map(|before| (before, self.tree.node(before)));
        // A place that a link leads to parts nothing, unlike an icon.
        let is_place = |id: NodeId, node: Node| node.tag == Tag::A && node.end.0 == id.0 + 1;
        let is_word = |(id, node): &(NodeId, Node)| may_be_word(node.tag) && !is_place(*id, *node);
        let Some((id_before, before)) = before.filter(is_word) else { return };
        let inside = |id| self.tree.inside(id).take(MOST_LOOKED_AT);
        let mut skip_to = id;
        let first = inside(id).find(|(id, node)| {
            if node.flags.has(Flags::HIDDEN) {
                skip_to = skip_to.max(node.end);
            }
            *id >= skip_to && !self.tree.text(*node).is_empty()
        });
        let Some((_, first)) = first else { return };
        let (line, text) = (self.line.before_marks(), self.tree.text(first));
        if line.ends_with(is_of_unspaced_script) || text.starts_with(is_of_unspaced_script) {
            return;
        }
        let has_words = || inside(id_before).any(|(_, node)| self.tree.text(node).trim().contains(' '));
        let is_same =
            |attribute| self.tree.attribute(before, attribute) == self.tree.attribute(node, attribute);
        let are_links = before.tag == Tag::A && node.tag == Tag::A;
        let is_part = match last_word(line) {
            // The name of a module in a program.
            "" if line.ends_with('.') && !has_words() => false,
            "" => {
                begins_word(text) && is_end(line)
                    || text.starts_with(char::is_alphanumeric) && is_amount(line)
            }
            _ if are_links && !is_same(Attribute::Href) => text.starts_with(char::is_alphanumeric),
            // An editor may emphasize the last digit of a number.
            last if (is_emphasis(before) || is_emphasis(node))
                && last.ends_with(char::is_numeric)
                && text.starts_with(char::is_numeric) =>
            {
                false
            }
            last => {
                // Nothing is known of elements that pages define.
                let is_known = node.tag != Tag::Other;
                are_two(last, text, is_known && before.tag == node.tag && is_same(Attribute::Class))
            }
        };
        if is_part {
            self.line.part_captures();
            self.line.blank();
        }
    }
}

fn is_emphasis(node: Node) -> bool {
    matches!(node.tag, Tag::Strong | Tag::B | Tag::Em | Tag::I)
}

/// The letters and digits at the end of a line: as many as say whether it is a word.
fn last_word(line: &str) -> &str {
    let from_end = line.char_indices().rev().take(WORD + 1);
    let start = from_end.take_while(|(_, c)| c.is_alphanumeric()).last();
    start.and_then(|(start, _)| line.get(start..)).unwrap_or_default()
}

/// Returns true if a line ends with an image, a sentence, or a part of one. Names in programs have two colons.
fn is_end(line: &str) -> bool {
    line.ends_with(['.', '!', '?', ':', ';', ',', ')']) && !line.ends_with("::")
}

/// Returns true if text begins with a word that has a capital, not with an initial.
fn begins_word(text: &str) -> bool {
    let mut begin = text.chars();
    begin.next().is_some_and(char::is_uppercase)
        && begin.next().is_some_and(|c| c.is_alphabetic() || c.is_whitespace())
}

/// Returns true if a line ends with a percentage or an amount of money.
fn is_amount(line: &str) -> bool {
    let amount = line.strip_suffix(['%', '€', '£', '¥']).unwrap_or_default();
    amount.strip_suffix(char::is_whitespace).unwrap_or(amount).ends_with(char::is_numeric)
}

/// Returns true if a character is of a script that has no blanks between words: Chinese, Japanese, Thai and others.
fn is_of_unspaced_script(character: char) -> bool {
    matches!(
        character,
        '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{2e80}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff00}'..='\u{ffef}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// Returns true if an element in a line may have a word, or several, that stand apart.
pub(super) fn may_be_word(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Span
            | Tag::Small
            | Tag::Time
            | Tag::Other
            | Tag::Strong
            | Tag::B
            | Tag::Em
            | Tag::I
            | Tag::A
            | Tag::Label
    )
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
