//! The element that holds the content.

use super::evidence::sort;
use super::leads;
use super::measure::{Measure, Measures};
use super::things::Things;
use super::{Claim, evidence, is_in};
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
    things: &Things,
) -> (NodeId, Vec<NodeId>) {
    let is_thing = matches!(claim, Claim::Product | Claim::Recipe);
    let name = is_thing.then(|| leads::heading_in(tree, Tree::ROOT)).flatten();
    let page = Page { tree, measures, kind, claim, things, name };
    leads::around(tree, measures, page.descend(page.semantic()))
}

/// Returns true if an element has a class that publishing systems give to the text of an article.
pub(super) fn has_body(tree: &Tree) -> bool {
    tree.nodes().any(|(_, node)| node.flags.has(Flags::ARTICLE_CLASS))
}

pub(super) fn is_main(tree: &Tree, node: Node) -> bool {
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

/// A page, and the facts about it.
#[derive(Clone, Copy, Debug)]
struct Page<'p> {
    tree: &'p Tree<'p>,
    measures: &'p Measures,
    kind: Kind,
    claim: Claim,
    things: &'p Things,
    /// The heading that names the thing which the page is about, if it is about one.
    name: Option<NodeId>,
}

impl Page<'_> {
    /// The element that says that it holds the content, if one does and most of the page's prose is in it.
    fn semantic(self) -> NodeId {
        let Self { tree, measures, kind, .. } = self;
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
            // The ingredients of a recipe are at times an article of their own, without prose.
            let is_whole = self.claim != Claim::Recipe || self.has_name(best.1);
            let is_post = self.claim != Claim::Article && self.has_answers(best.1);
            if best.0 > 0 && holds_most && is_whole && !is_post && self.things.are_in(tree, best.1) {
                return best.1;
            }
        }
        Tree::ROOT
    }

    /// Returns true if the name of the thing is in an element, or if there is none.
    fn has_name(self, id: NodeId) -> bool {
        self.name.is_none_or(|name| is_in(self.tree, &[id], name))
    }

    /// Goes down from an element as long as one child has most of the prose, and of all that is not a link.
    fn descend(self, from: NodeId) -> NodeId {
        let mut root = from;
        while let Some(child) = self.child_with_most(root) {
            // The text about a thing, and the list of its parts, stand beside its name.
            if self.has_name(root) && !self.has_name(child) {
                break;
            }
            root = child;
        }
        root
    }

    /// The child of an element that has nearly all of the content in it.
    fn child_with_most(self, root: NodeId) -> Option<NodeId> {
        let Self { tree, measures, kind, .. } = self;
        let is_article = self.claim == Claim::Article;
        let tenths = if is_article { PROSE_TENTHS_OF_ARTICLE } else { PROSE_TENTHS };
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
        let (child, _) = best.filter(|(_, measure)| holds_most(measure))?;
        if self.has_footnotes(child) {
            return None;
        }
        let is_one_of_many = kind == Kind::Prose
            && !is_article
            && (self.has_alike(child) || self.has_sections(child) || self.has_answers(child));
        (!is_one_of_many && self.things.are_in(tree, child)).then_some(child)
    }

    /// Returns true if an element is an `article` beside others of its class that have text of their own, as posts have, or if
    /// each of them stands in such an element.
    fn has_answers(self, id: NodeId) -> bool {
        let Self { tree, measures, .. } = self;
        let has_others = |id: NodeId| {
            let post = tree.node(id);
            let is_post = |(other, node): (NodeId, Node)| {
                other != id
                    && node.tag == post.tag
                    && sort(tree, node) == sort(tree, post)
                    && measures.get(other).is_text(LEAST_SECTION)
                    && evidence::has(tree, other, Tag::Article)
            };
            tree.children(post.parent).any(is_post)
        };
        let post = tree.node(id);
        post.tag == Tag::Article
            && (has_others(id) || sort(tree, tree.node(post.parent)).is_some() && has_others(post.parent))
    }

    /// Returns true if footnotes stand behind an element: their marks lead back into it.
    fn has_footnotes(self, id: NodeId) -> bool {
        const BACK: [&str; 5] = ["#_ftnref", "#_ednref", "#fnref", "#footnote-ref", "#cite_ref"];
        const MOST_LOOKED_AT: usize = 64;
        let leads_back = |node: Node| {
            let href = self.tree.attribute(node, Attribute::Href).map(str::trim);
            href.is_some_and(|href| BACK.iter().any(|back| href.starts_with(back)))
        };
        let mut beside = self.tree.after(id);
        beside.any(|(id, _)| self.tree.inside(id).take(MOST_LOOKED_AT).any(|(_, node)| leads_back(node)))
    }

    /// Returns true if sections with a heading and text of their own stand beside an element.
    fn has_sections(self, id: NodeId) -> bool {
        let Self { tree, measures, .. } = self;
        let section = tree.node(id);
        let is_section = |(other, node): (NodeId, Node)| {
            other != id
                && node.tag == Tag::Section
                && measures.get(other).is_text(LEAST_SECTION)
                && evidence::has_heading(tree, other)
                && !evidence::has_any(tree, other, &[Tag::Form, Tag::Button])
        };
        section.tag == Tag::Section && tree.children(section.parent).any(is_section)
    }

    /// Returns true if an element is one post, or one section, of many: others beside it have the same class, and prose.
    fn has_alike(self, id: NodeId) -> bool {
        let node = self.tree.node(id);
        let class = |node: Node| self.tree.attribute(node, Attribute::Class).unwrap_or_default();
        let name = class(node);
        let is_alike = |(other, beside): (NodeId, Node)| {
            other != id
                && beside.tag == node.tag
                && class(beside) == name
                && self.measures.get(other).prose > 0
        };
        !name.trim().is_empty() && self.tree.children(node.parent).any(is_alike)
    }
}

/// The text outside of links that a section has at least.
const LEAST_SECTION: u32 = 30;
/// The share of the prose, and of all text and of that outside of links, that a child must have to be the content by itself.
const PROSE_TENTHS: u32 = 9;
/// The same on the page of an article, which has other prose beside it.
const PROSE_TENTHS_OF_ARTICLE: u32 = 8;
const TEXT_TENTHS: u32 = 6;
/// The share of the text outside of links that is the content, however much else is in links.
const MOST_TENTHS: u32 = 8;
