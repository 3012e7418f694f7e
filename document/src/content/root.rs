//! The element that holds the content.

use super::Claim;
use super::measure::{Measure, Measures};
use super::prices::Prices;
use crate::html::tree::Flags;
use crate::html::{Attribute, Node, NodeId, Tag, Tree};

/// The kind of a page's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Prose.
    Prose,
    /// Names, prices, links: a list of products, of articles, of anything.
    List,
}

impl Kind {
    /// The kind of a page with this measure, once all that surely is not content is left out.
    pub(super) fn of(whole: Measure, claim: Claim) -> Self {
        let share = if claim == Claim::Article { 2 * LIST_SHARE } else { LIST_SHARE };
        if whole.prose < whole.text / share { Self::List } else { Self::Prose }
    }

    /// The amount that counts.
    fn weight(self, measure: Measure) -> u32 {
        match self {
            Self::Prose => measure.prose,
            Self::List => measure.text,
        }
    }
}

/// A page is a list if less than one part in so many of its text is prose; in twice as many, if it says that it is an article.
const LIST_SHARE: u32 = 4;

/// Finds the element that holds the content, and the elements in it that are beside the content and its lead.
pub(super) fn find(
    tree: &Tree,
    measures: &Measures,
    kind: Kind,
    claim: Claim,
    prices: &Prices,
) -> (NodeId, Vec<NodeId>) {
    descend(tree, measures, kind, claim, prices, semantic(tree, measures, kind, prices))
}

/// Returns true if an element has a class that publishing systems give to the text of an article.
pub(super) fn has_body(tree: &Tree) -> bool {
    tree.nodes().any(|(_, node)| node.flags.has(Flags::ARTICLE_CLASS))
}

fn is_main(tree: &Tree, node: Node) -> bool {
    let role = || tree.attribute(node, Attribute::Role);
    node.tag == Tag::Main
        || node.flags.has(Flags::NAMED) && role().is_some_and(|role| role.trim().eq_ignore_ascii_case("main"))
}

/// The text that the main part of a page has at least. A script can fill it later.
const LEAST_MAIN: u32 = 200;

/// The first element that the page calls its main part, and its end, if it has text.
pub(super) fn main_part(tree: &Tree, measures: &Measures) -> Option<(NodeId, NodeId)> {
    let mut mains = tree.nodes().filter(|(_, node)| node.tag != Tag::Text && is_main(tree, *node));
    let main = mains.next().filter(|(id, _)| measures.get(*id).text >= LEAST_MAIN)?;
    Some((main.0, main.1.end))
}

/// The element that says that it holds the content, if one does and most of the page's prose is in it.
fn semantic(tree: &Tree, measures: &Measures, kind: Kind, prices: &Prices) -> NodeId {
    let whole = measures.get(Tree::ROOT);
    let is_body = |node: Node| node.flags.has(Flags::ARTICLE_BODY);
    let is_article = |node: Node| node.tag == Tag::Article;
    let is_main = |node: Node| is_main(tree, node);
    let kinds: [(&dyn Fn(Node) -> bool, u32); 3] = [(&is_body, 5), (&is_article, 3), (&is_main, 5)];
    for (is_it, share) in kinds {
        let (mut best, mut all, mut skip_to) = ((0, Tree::ROOT), 0, Tree::ROOT);
        for (id, node) in tree.nodes().filter(|(_, node)| node.tag != Tag::Text && is_it(*node)) {
            let weight = kind.weight(measures.get(id));
            if weight > best.0 {
                best = (weight, id);
            }
            if id >= skip_to {
                all += weight;
                skip_to = node.end;
            }
        }
        // One of many that are alike is not the content, least of all in a list.
        let most = if kind == Kind::List { all / 3 * 2 } else { all / 2 };
        let holds_most = best.0 >= kind.weight(whole) / share && best.0 >= most;
        if best.0 > 0 && holds_most && prices.are_in(tree, best.1) {
            return best.1;
        }
    }
    Tree::ROOT
}

/// Goes down as long as one child has most of the prose, and of all that is not a link. Gives the last of them, or the
/// outermost around it in which a lead stands, and then all that is beside both.
fn descend(
    tree: &Tree,
    measures: &Measures,
    kind: Kind,
    claim: Claim,
    prices: &Prices,
    from: NodeId,
) -> (NodeId, Vec<NodeId>) {
    let (mut root, mut top, mut beside) = (from, None, Vec::new());
    while let Some(child) = child_with_most(tree, measures, kind, claim, prices, root) {
        let leads = leads(tree, measures, root, child);
        if !leads.is_empty() {
            top = top.or(Some(root));
        }
        if top.is_some() {
            let others = tree
                .children(root)
                .map(|(id, _)| id)
                .filter(|id| *id != child && leads.binary_search(id).is_err());
            beside.extend(others);
            beside.extend(leads.iter().flat_map(|lead| around_sentences(tree, measures, *lead)));
        }
        root = child;
    }
    beside.sort_unstable();
    (top.unwrap_or(root), beside)
}

/// The child of an element that has nearly all of the content in it.
fn child_with_most(
    tree: &Tree,
    measures: &Measures,
    kind: Kind,
    claim: Claim,
    prices: &Prices,
    root: NodeId,
) -> Option<NodeId> {
    let tenths = if claim == Claim::Article { PROSE_TENTHS_OF_ARTICLE } else { PROSE_TENTHS };
    let whole = measures.get(root);
    let is_container = |node: Node| {
        let is_one_block = matches!(
            node.tag,
            Tag::P | Tag::Ul | Tag::Ol | Tag::Table | Tag::Pre | Tag::Blockquote | Tag::Li | Tag::Dl
        );
        node.tag != Tag::Text && !is_one_block && node.tag.heading_level().is_none()
    };
    let children =
        tree.children(root).filter(|(_, node)| is_container(*node)).map(|(id, _)| (id, measures.get(id)));
    let best = children.max_by_key(|(id, measure)| (kind.weight(*measure), std::cmp::Reverse(*id)));
    let holds_most = |measure: &Measure| {
        kind.weight(*measure) > 0
            && kind.weight(*measure) >= kind.weight(whole) / 10 * tenths
            && measure.plain() >= whole.plain() / 10 * TEXT_TENTHS
            // The things that a page lists are mostly links. The text beside them may be longer, but not all of the page.
            && (kind == Kind::List
                || measure.text >= whole.text / 10 * TEXT_TENTHS
                || measure.plain() >= whole.plain() / 10 * MOST_TENTHS)
    };
    best.filter(|(id, measure)| holds_most(measure) && prices.are_in(tree, *id)).map(|(id, _)| id)
}

/// The blocks of a lead that are not sentences: dates, names, pictures.
fn around_sentences(tree: &Tree, measures: &Measures, lead: NodeId) -> Vec<NodeId> {
    let is_block = |node: Node| node.tag != Tag::Text && !node.tag.is_inline();
    let (mut others, mut skip_to) = (Vec::new(), lead);
    for (id, node) in tree.inside(lead) {
        if id < skip_to || !is_block(node) {
            continue;
        }
        let is_innermost = || !tree.inside(id).skip(1).any(|(_, node)| is_block(node));
        if measures.get(id).prose == 0 || node.tag == Tag::Figure || is_innermost() && !is_sentence(tree, id)
        {
            others.push(id);
            skip_to = node.end;
        }
    }
    others
}

/// Returns true if a text ends like a sentence.
fn is_sentence(tree: &Tree, id: NodeId) -> bool {
    const ENDS: [char; 10] = ['.', '!', '?', '…', ':', '。', '！', '？', '؟', '।'];
    let text =
        tree.inside(id).map(|(_, node)| tree.text(node).trim_end()).filter(|text| !text.is_empty()).last();
    text.is_some_and(|text| text.trim_end_matches(['"', '”', '“', '’', '\'', '»', ')']).ends_with(ENDS))
}

/// The prose that a lead has at least.
const LEAST_LEAD: u32 = 100;

/// The lead: what has prose and stands between the heading of the page and a child of an element.
fn leads(tree: &Tree, measures: &Measures, parent: NodeId, child: NodeId) -> Vec<NodeId> {
    let mut has_heading = false;
    let is_lead = |(id, node): &(NodeId, Node)| {
        let heading = tree.inside(*id).find(|(_, node)| node.tag == Tag::H1);
        has_heading |= heading.is_some();
        let whole = measures.get(*id);
        let measure = heading.map_or(whole, |(heading, _)| whole.without(measures.get(heading)));
        has_heading
            && measure.prose >= LEAST_LEAD
            && measure.links < measure.text / 2
            && node.tag != Tag::Figure
    };
    let before = tree.children(parent).take_while(|(id, _)| *id < child);
    before.filter(is_lead).map(|(id, _)| id).collect()
}

/// The share of the prose, and of all text and of that outside of links, that a child must have to be the content by itself.
const PROSE_TENTHS: u32 = 9;
/// The same on the page of an article, which has other prose beside it.
const PROSE_TENTHS_OF_ARTICLE: u32 = 8;
const TEXT_TENTHS: u32 = 6;
/// The share of the text outside of links that is the content, however much else is in links.
const MOST_TENTHS: u32 = 8;
