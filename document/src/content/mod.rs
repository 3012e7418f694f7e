//! The content of a page: the part of the tree that holds it, and the nodes that are left out of that part.

mod buttons;
mod copies;
mod evidence;
mod faq;
mod headers;
mod leads;
mod lists;
mod measure;
mod notes;
mod root;
mod rules;
mod teasers;
mod things;
mod words;

use self::measure::{Measure, Measures};
use self::root::Kind;
use self::rules::{Rules, is_never_content};
use self::things::Things;
use crate::html::tree::Flags;
use crate::html::{NodeId, Tag, Tree};
use crate::thin::TextAmount;

/// The part of a page that is its content.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) root: NodeId,
    /// The elements in it that are left out, in document order; each with all that is in it.
    left_out: Vec<NodeId>,
}

/// The sort that a page says it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    Article,
    Product,
    Recipe,
    None,
}

/// Text below this is too little, if the page has more.
const ENOUGH_TEXT: u32 = 250;
/// The part of all prose, or of all text if it is a list, that is enough.
const ENOUGH_SHARE: u32 = 8;

impl Content {
    /// The nodes of the content that are left out begin here; for a walk in document order.
    pub(crate) fn left_out(&self) -> &[NodeId] {
        &self.left_out
    }

    /// Returns true if a node is left out, by itself or with an element around it.
    pub(crate) fn has_left_out(&self, tree: &Tree, id: NodeId) -> bool {
        is_in(tree, &self.left_out, id)
    }

    /// Finds the content of a page.
    pub(crate) fn of(tree: &Tree, content_type: Option<&str>) -> Self {
        let claim = match content_type {
            Some("product") => Claim::Product,
            Some("article") => Claim::Article,
            Some("recipe") => Claim::Recipe,
            _ if tree.has_one_product() => Claim::Product,
            _ if root::has_body(tree) => Claim::Article,
            _ => Claim::None,
        };
        let mut best = Self { root: Tree::ROOT, left_out: Vec::new() };
        for rules in [Rules::All, Rules::WithoutNames] {
            let measures = Measures::of(tree, is_never_content);
            let is_enough;
            (best, is_enough) = Self::by(tree, measures, rules, claim);
            if is_enough {
                break;
            }
        }
        if best.has_text(tree) { best } else { Self::all_visible(tree) }
    }

    /// All that people can see, for a page on which the rules find nothing.
    fn all_visible(tree: &Tree) -> Self {
        Self { root: Tree::ROOT, left_out: outermost(tree, Tree::ROOT, &[]) }
    }

    /// The text of the page, and the part of it that is in the content.
    pub(crate) fn amount(&self, tree: &Tree) -> TextAmount {
        let mut amount = TextAmount::default();
        let end = tree.node(self.root).end;
        let mut left_out = self.left_out.iter().copied().peekable();
        let (mut head_to, mut skip_to) = (Tree::ROOT, self.root);
        for (id, node) in tree.nodes() {
            while left_out.next_if(|other| *other < id).is_some() {}
            if left_out.peek() == Some(&id) {
                skip_to = skip_to.max(node.end);
            }
            if node.flags.has(Flags::IN_HEAD) || node.tag == Tag::Script {
                head_to = head_to.max(node.end);
            }
            // A blank alone is not text.
            let text = node.text_length() as usize;
            if id < head_to || text < 2 {
                continue;
            }
            amount.seen += text;
            if id >= skip_to && id < end {
                amount.kept += text;
            }
        }
        amount
    }

    fn has_text(&self, tree: &Tree) -> bool {
        let mut left_out = self.left_out.iter().copied().peekable();
        let mut skip_to = self.root;
        tree.inside(self.root).any(|(id, node)| {
            if id < skip_to {
                return false;
            }
            while left_out.next_if(|other| *other < id).is_some() {}
            if left_out.peek() == Some(&id) {
                skip_to = node.end;
                return false;
            }
            !tree.text(node).trim().is_empty()
        })
    }

    /// The content as some rules find it, and whether it is enough of the page.
    fn by(tree: &Tree, mut measures: Measures, rules: Rules, claim: Claim) -> (Self, bool) {
        let whole = measures.get(Tree::ROOT);
        let things = if claim == Claim::None { Things::of(tree, &measures) } else { Things::none() };
        let mut left_out = rules.left_out(tree, &measures, claim, &things);
        measures.without(tree, &left_out);
        let things = things.outside(tree, &left_out);
        let kind = Kind::of(measures.get(Tree::ROOT), claim);
        let (root, beside) = root::find(tree, &measures, kind, claim, &things);
        measures.without(tree, &beside);
        left_out.extend(beside);
        if kind == Kind::Prose {
            left_out.extend(lists::find(tree, &measures, root, claim, &things));
        }
        if claim != Claim::None {
            left_out.extend(teasers::find(tree, &measures, root));
        }
        left_out.sort_unstable();
        let mut left_out = outermost(tree, root, &left_out);
        left_out.extend(copies::find(tree, root, &left_out));
        left_out.sort_unstable();
        let is_enough = is_enough(measures.get(root), whole, kind, claim);
        (Self { root, left_out: outermost(tree, root, &left_out) }, is_enough)
    }
}

/// Returns true if the content that was found is enough of a page.
fn is_enough(content: Measure, page: Measure, kind: Kind, claim: Claim) -> bool {
    let has_prose = content.prose >= (page.prose / ENOUGH_SHARE).min(ENOUGH_TEXT);
    // The text beside a list, such as that about cookies, may be all prose of a page.
    let is_list = kind == Kind::List && (claim == Claim::Product || content.text >= page.text / ENOUGH_SHARE);
    content.text >= ENOUGH_TEXT && (has_prose || is_list)
}

/// Of some elements and those that are never content, those in an element, and none in another; all in document order.
fn outermost(tree: &Tree, root: NodeId, elements: &[NodeId]) -> Vec<NodeId> {
    let mut elements = elements.iter().copied().peekable();
    let (mut left_out, mut skip_to) = (Vec::new(), NodeId(root.0 + 1));
    for (id, node) in tree.inside(root) {
        if id < skip_to {
            continue;
        }
        while elements.next_if(|other| *other < id).is_some() {}
        if is_never_content(node) || elements.peek() == Some(&id) {
            left_out.push(id);
            skip_to = node.end;
        }
    }
    left_out
}

/// Those of some elements in document order that are in no other of them.
fn outermost_of(tree: &Tree, elements: impl Iterator<Item = NodeId>) -> impl Iterator<Item = NodeId> {
    let mut end = Tree::ROOT;
    elements.filter(move |id| {
        let is_outside = *id >= end;
        end = end.max(tree.node(*id).end);
        is_outside
    })
}

/// Returns true if an element is one of others, which are in document order and none in another, or in one of them.
fn is_in(tree: &Tree, others: &[NodeId], id: NodeId) -> bool {
    let before = others.partition_point(|other| *other <= id);
    let last = before.checked_sub(1).and_then(|at| others.get(at));
    last.is_some_and(|last| tree.node(*last).end > id)
}
