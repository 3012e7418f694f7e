//! The things that a page lists: each has its price, or a headline that leads to its own page.

use super::measure::Measures;
use super::rules::is_never_content;
use super::{is_in, teasers};
use crate::html::{Node, NodeId, Tag, Tree};

/// Fewer are one thing, or a few beside it.
const FEWEST: usize = 8;
/// The bytes of a text that is a price and hardly anything else.
const LONGEST: u32 = 32;
/// The prose for each price, and for each headline, that a list of things has at most: an article may mention prices, too, and
/// stand beside the headlines of others.
const MOST_PROSE_FOR_PRICE: u32 = 400;
const MOST_PROSE_FOR_HEADLINE: u32 = 200;
/// The link of a headline is in it, or right around it.
const FURTHEST: usize = 2;

/// The prices or the headlines, in document order; none if the page does not list things.
#[derive(Debug)]
pub(super) struct Things(Vec<NodeId>);

impl Things {
    pub(super) fn none() -> Self {
        Self(Vec::new())
    }

    /// The things that people see on a page, unless most of its prose comes first: they then are what else there is.
    pub(super) fn of(tree: &Tree, measures: &Measures) -> Self {
        let (mut prices, mut headlines, mut skip_to) = (Vec::new(), Vec::new(), Tree::ROOT);
        for (id, node) in tree.nodes() {
            if id < skip_to {
                continue;
            }
            if is_never_content(node) {
                skip_to = node.end;
            } else if says_price(tree, node) {
                prices.push(id);
            } else if node.tag.heading_level().is_some() && is_headline(tree, id) {
                headlines.push(id);
            }
        }
        let prose = measures.get(Tree::ROOT).prose;
        let after = |id: &NodeId| teasers::prose_after(tree, measures, Tree::ROOT, *id);
        let is_list = |things: &[NodeId], most_prose| {
            things.len() >= FEWEST
                && u32::try_from(things.len()).is_ok_and(|count| prose / most_prose <= count)
                && things.get(things.len() / 2).is_some_and(|middle| after(middle) >= prose / 2)
        };
        if is_list(&prices, MOST_PROSE_FOR_PRICE) {
            Self(prices)
        } else if is_list(&headlines, MOST_PROSE_FOR_HEADLINE) {
            Self(headlines)
        } else {
            Self::none()
        }
    }

    /// The things that are in none of some elements, which are in document order and none in another, if they still are many.
    pub(super) fn outside(mut self, tree: &Tree, elements: &[NodeId]) -> Self {
        self.0.retain(|id| !is_in(tree, elements, *id));
        if self.0.len() >= FEWEST { self } else { Self::none() }
    }

    fn count(&self, tree: &Tree, id: NodeId) -> usize {
        let before = |end: NodeId| self.0.partition_point(|thing| *thing < end);
        before(tree.node(id).end) - before(id)
    }

    pub(super) fn has_one_in(&self, tree: &Tree, id: NodeId) -> bool {
        self.count(tree, id) > 0
    }

    /// Returns true if an element has more than half of them.
    pub(super) fn are_mostly_in(&self, tree: &Tree, id: NodeId) -> bool {
        self.count(tree, id) > self.0.len() / 2
    }

    /// Returns true if an element has nearly all of them, or if there are none.
    pub(super) fn are_in(&self, tree: &Tree, id: NodeId) -> bool {
        self.count(tree, id) >= self.0.len().div_ceil(4) * 3
    }
}

/// Returns true if a heading is in a link to another page, or has one in it.
fn is_headline(tree: &Tree, heading: NodeId) -> bool {
    teasers::address(tree, heading, FURTHEST).is_some_and(|address| !address.starts_with('#'))
}

/// Returns true if a form has a choice in it: two labels or more with a price, as for the sizes of a product.
pub(super) fn is_choice(tree: &Tree, form: NodeId) -> bool {
    const MOST_LOOKED_AT: usize = 256;
    const MOST_TO_LABEL: usize = 4;
    let is_label = |(id, node): (NodeId, Node)| {
        says_price(tree, node) && tree.around(id).take(MOST_TO_LABEL).any(|(_, node)| node.tag == Tag::Label)
    };
    tree.inside(form).take(MOST_LOOKED_AT).filter(|inside| is_label(*inside)).nth(1).is_some()
}

/// Returns true if a node is a text that is a price and hardly anything else.
fn says_price(tree: &Tree, node: Node) -> bool {
    (1..=LONGEST).contains(&node.text_length()) && is_price(tree.text(node))
}

/// Returns true if a short text has an amount of money, or is the sign beside one.
fn is_price(text: &str) -> bool {
    const SIGNS: [char; 6] = ['$', '€', '£', '¥', '₹', '₩'];
    let text = text.trim();
    text.contains(SIGNS) && (text.contains(|c: char| c.is_ascii_digit()) || text.chars().count() == 1)
}

#[cfg(test)]
mod tests {
    use super::is_price;

    #[test]
    fn a_price_has_a_sign_and_digits() {
        for text in ["$5", "Sale price: €49,95", " 1 299 ₩", "£"] {
            assert!(is_price(text), "{text}");
        }
        for text in ["", "5", "Albania (USD $)", "$HOME"] {
            assert!(!is_price(text), "{text}");
        }
    }
}
