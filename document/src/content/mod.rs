//! What a page is about: the part of the tree that holds it, and what is left out of that part.

mod measure;
mod words;

use self::measure::{Measure, Measures};
use self::words::Strength;
use crate::html::tree::Flags;
use crate::html::{Attribute, Node, NodeId, Tag, Tree};

/// The part of a page that is its content.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) root: NodeId,
    /// The elements in it that are left out, in document order; each with all that is in it.
    left_out: Vec<NodeId>,
}

impl Content {
    /// The nodes of the content that are left out begin here; for a walk in document order.
    pub(crate) fn left_out(&self) -> &[NodeId] {
        &self.left_out
    }

    /// Whether a node is left out, by itself or with an element around it.
    pub(crate) fn has_left_out(&self, tree: &Tree, id: NodeId) -> bool {
        let before = self.left_out.partition_point(|other| *other <= id);
        let last = before.checked_sub(1).and_then(|at| self.left_out.get(at));
        last.is_some_and(|last| tree.node(*last).end > id)
    }

    /// Finds the content of a page.
    pub(crate) fn of(tree: &Tree) -> Self {
        let mut best = Self { root: Tree::ROOT, left_out: Vec::new() };
        let mut has_visible_text = false;
        for rules in [Rules::All, Rules::WithoutNames, Rules::WithoutHiding] {
            let all = Measures::of(tree, |_, node| rules.is_never_content(node));
            let whole = all.get(Tree::ROOT);
            // What people cannot see must not speak to agents beside what they can.
            if rules == Rules::WithoutHiding && has_visible_text {
                break;
            }
            has_visible_text |= whole.text > 0;
            let (content, measure) = Self::by(tree, &all, rules);
            best = content;
            if measure.text >= ENOUGH_TEXT && measure.prose >= whole.prose / ENOUGH_SHARE {
                break;
            }
        }
        if best.has_text(tree) { best } else { Self::all_visible(tree) }
    }

    /// All that people can see, for a page on which the rules find nothing.
    fn all_visible(tree: &Tree) -> Self {
        let mut left_out = Vec::new();
        let mut skip_to = Tree::ROOT;
        for (id, node) in tree.nodes() {
            if id >= skip_to && Rules::All.is_never_content(node) {
                left_out.push(id);
                skip_to = node.end;
            }
        }
        Self { root: Tree::ROOT, left_out }
    }

    fn has_text(&self, tree: &Tree) -> bool {
        let mut left_out = self.left_out.iter().copied().peekable();
        let mut skip_to = self.root;
        tree.inside(self.root).any(|(id, node)| {
            if id < skip_to {
                return false;
            }
            while left_out.peek().is_some_and(|other| *other < id) {
                left_out.next();
            }
            if left_out.peek() == Some(&id) {
                skip_to = node.end;
                return false;
            }
            !tree.text(node).trim().is_empty()
        })
    }

    fn by(tree: &Tree, all: &Measures, rules: Rules) -> (Self, Measure) {
        let whole = all.get(Tree::ROOT).prose;
        let mut left_out = Vec::new();
        let measures = Measures::of(tree, |id, node| {
            if rules.is_never_content(node) {
                return true;
            }
            // No rule may leave out half of what the page says, and one that is not sure much less.
            let prose = all.get(id).prose;
            let is_left_out = match rules.against(tree, node) {
                Some(Strength::Strong) => prose <= whole / 2,
                Some(Strength::Weak) => prose <= whole / WEAK_SHARE,
                None => false,
            };
            if is_left_out {
                left_out.push(id);
            }
            is_left_out
        });
        let root = descend(tree, &measures, semantic_root(tree, &measures));
        let mut content = Self { root, left_out: Vec::new() };
        content.prune(tree, &measures, &left_out, rules);
        (content, measures.get(root))
    }

    /// Leaves out the lists of links in the content, and all that was left out before.
    fn prune(&mut self, tree: &Tree, measures: &Measures, before: &[NodeId], rules: Rules) {
        let whole = measures.get(self.root);
        let mut before = before.iter().copied().peekable();
        let mut skip_to = NodeId(self.root.0 + 1);
        for (id, node) in tree.inside(self.root) {
            if id < skip_to {
                continue;
            }
            while before.peek().is_some_and(|other| *other < id) {
                before.next();
            }
            let measure = measures.get(id);
            if rules.is_never_content(node)
                || before.peek() == Some(&id)
                || is_list_of_links(node, measure) && measure.text <= whole.text / 2
            {
                self.left_out.push(id);
                skip_to = node.end;
            }
        }
    }
}

/// Text below this is too little, if the page has more.
const ENOUGH_TEXT: u32 = 250;
/// The part of all prose that is enough.
const ENOUGH_SHARE: u32 = 8;

/// The part of all prose that a rule which is not sure may leave out.
const WEAK_SHARE: u32 = 12;

/// Which rules leave parts of a page out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rules {
    All,
    /// All but those about names, headers and forms.
    WithoutNames,
    /// Also without that about parts that people cannot see, for pages that show all of themselves by a script.
    WithoutHiding,
}

impl Rules {
    /// How surely an element is not content, by what it is or how it is named.
    fn against(self, tree: &Tree, node: Node) -> Option<Strength> {
        match node.tag {
            Tag::Text
            | Tag::Body
            | Tag::Html
            | Tag::Article
            | Tag::Main
            | Tag::Pre
            | Tag::Code
            | Tag::Table
            | Tag::Tbody => {
                return None;
            }
            _ if tree.is_admonition(node) => return None,
            Tag::Nav | Tag::Aside | Tag::Footer | Tag::Menu | Tag::Dialog | Tag::Search | Tag::Button => {
                return Some(Strength::Strong);
            }
            _ => {}
        }
        if self != Self::All {
            return None;
        }
        if matches!(node.tag, Tag::Header | Tag::Form | Tag::Fieldset) {
            return Some(Strength::Weak);
        }
        if !node.flags.has(Flags::NAMED) {
            return None;
        }
        if tree.attribute(node, Attribute::Role).is_some_and(is_role_of_other) {
            return Some(Strength::Strong);
        }
        let names = |attribute| tree.attribute(node, attribute).and_then(words::against);
        let strength = names(Attribute::Class).max(names(Attribute::Id));
        // A link or a heading is part of what is around it.
        let is_part = node.tag == Tag::A || node.tag.heading_level().is_some();
        strength.filter(|strength| !is_part || *strength == Strength::Strong)
    }

    /// Whether the element is never text of the page.
    fn is_never_content(self, node: Node) -> bool {
        node.flags.has(Flags::HIDDEN) && self != Self::WithoutHiding
            || node.flags.has(Flags::IN_HEAD)
            || node.tag.is_without_text()
    }
}

fn is_role_of_other(role: &str) -> bool {
    const ROLES: [&str; 14] = [
        "alert",
        "alertdialog",
        "banner",
        "button",
        "complementary",
        "contentinfo",
        "dialog",
        "form",
        "menu",
        "menubar",
        "navigation",
        "search",
        "tablist",
        "toolbar",
    ];
    ROLES.iter().any(|other| role.trim().eq_ignore_ascii_case(other))
}

/// Whether a block has little else than links.
fn is_list_of_links(node: Node, measure: Measure) -> bool {
    let is_block = matches!(
        node.tag,
        Tag::Ul
            | Tag::Ol
            | Tag::Dl
            | Tag::Div
            | Tag::Section
            | Tag::P
            | Tag::Table
            | Tag::Center
            | Tag::Figure
    );
    is_block && measure.text > 0 && measure.links > measure.text / 3 * 2 && measure.prose < measure.text / 4
}

/// The element that says that it holds the content, if one does and most of the page's prose is in it.
fn semantic_root(tree: &Tree, measures: &Measures) -> NodeId {
    let whole = measures.get(Tree::ROOT);
    let is_body = |node: Node| {
        tree.attribute(node, Attribute::Itemprop).is_some_and(|names| {
            names.split_ascii_whitespace().any(|name| name.eq_ignore_ascii_case("articlebody"))
        })
    };
    let is_article = |node: Node| node.tag == Tag::Article;
    let is_main = |node: Node| {
        node.tag == Tag::Main
            || tree
                .attribute(node, Attribute::Role)
                .is_some_and(|role| role.trim().eq_ignore_ascii_case("main"))
    };
    let kinds: [(&dyn Fn(Node) -> bool, u32); 3] = [(&is_body, 5), (&is_article, 3), (&is_main, 2)];
    for (is_it, share) in kinds {
        let best = tree
            .nodes()
            .filter(|(_, node)| node.tag != Tag::Text && is_it(*node))
            .map(|(id, _)| (measures.get(id).prose, id))
            .fold((0, Tree::ROOT), |best, next| if next.0 > best.0 { next } else { best });
        if best.0 > 0 && best.0 >= whole.prose / share {
            return best.1;
        }
    }
    Tree::ROOT
}

/// Goes down as long as one child has most of the prose, and of all that is not a link.
fn descend(tree: &Tree, measures: &Measures, from: NodeId) -> NodeId {
    let mut root = from;
    loop {
        let whole = measures.get(root);
        let is_container = |node: Node| {
            let is_one_block = matches!(
                node.tag,
                Tag::P | Tag::Ul | Tag::Ol | Tag::Table | Tag::Pre | Tag::Blockquote | Tag::Li | Tag::Dl
            );
            node.tag != Tag::Text && !is_one_block
        };
        let children =
            tree.children(root).filter(|(_, node)| is_container(*node)).map(|(id, _)| (id, measures.get(id)));
        let best = children.max_by_key(|(id, measure)| (measure.prose, std::cmp::Reverse(*id)));
        let holds_most = |measure: &Measure| {
            measure.prose > 0
                && measure.prose >= whole.prose / 10 * PROSE_TENTHS
                && measure.text - measure.links >= (whole.text - whole.links) / 10 * TEXT_TENTHS
        };
        match best {
            Some((id, measure)) if holds_most(&measure) => root = id,
            _ => return root,
        }
    }
}

/// How much of the prose, and of the text outside of links, a child must have to be the content by itself.
const PROSE_TENTHS: u32 = 8;
const TEXT_TENTHS: u32 = 6;
