//! Which parts of a page are not its content, by what they are and how they are named.

use std::collections::HashMap;

use super::evidence::{self, Doubtful};
use super::measure::{Measure, Measures};
use super::notes;
use super::root::{self, Kind};
use super::things::{self, Things};
use super::words::{self, Strength};
use super::{Claim, is_in, outermost_of};
use super::{buttons, faq, headers, leads};
use crate::html::notes::Note;
use crate::html::openable;
use crate::html::tree::Flags;
use crate::html::view::is_for_listeners;
use crate::html::{Attribute, Node, NodeId, Tag, Tree};
use crate::markdown::{CAPTION_DISTANCE, is_data};
use crate::memo::Memo;

/// Which rules leave parts of a page out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    All,
    /// All but those about names, headers and forms; of names, those about consent.
    WithoutNames,
}

/// Returns true if an element is never text of the page.
pub(super) fn is_never_content(node: Node) -> bool {
    node.flags.has(Flags::HIDDEN) || node.flags.has(Flags::IN_HEAD) || node.tag.is_without_text()
}

/// The tables of a page: whether each holds rows of data.
#[derive(Debug, Default)]
struct Tables(HashMap<NodeId, bool>);

impl Tables {
    /// Returns true if others lose their meaning without an element: a row or a cell of data, a term, a caption.
    fn would_have_a_hole(&mut self, tree: &Tree, id: NodeId, node: Node) -> bool {
        match node.tag {
            Tag::Dt | Tag::Dd | Tag::Figcaption => return true,
            Tag::Tr | Tag::Td | Tag::Th => {}
            _ => return false,
        }
        let table = tree.around(id).take(MOST_TO_TABLE).find(|(_, node)| node.tag == Tag::Table);
        table.is_some_and(|(id, node)| *self.0.entry(id).or_insert_with(|| is_data(tree, id, node)))
    }
}

/// The rules that speak against an element, one bit each: those about elements, then those about words.
pub(super) type Hits = u128;

/// The rule about an element's sort or role, by its bit and how sure it is.
const ELEMENTS: [(&[Tag], Strength); 9] = [
    (&[Tag::Menu], Strength::Leading),
    (&[Tag::Nav], Strength::Strong),
    (&[Tag::Aside], Strength::Strong),
    (&[Tag::Footer], Strength::Strong),
    (&[Tag::Dialog], Strength::Strong),
    (&[Tag::Search], Strength::Strong),
    (&[Tag::Button], Strength::Strong),
    (&[Tag::Header], Strength::Label),
    (&[Tag::Form, Tag::Fieldset], Strength::Label),
];
const MENU: usize = 0;
const FOOTER: usize = 3;
const FORM: usize = 8;
const ROLE: usize = ELEMENTS.len();
const FIRST_WORD: usize = ROLE + 1;
/// The rules about elements and roles.
const ELEMENTS_ALONE: Hits = (1 << FIRST_WORD) - 1;
/// The rules of all sorts.
const COUNT: usize = FIRST_WORD + words::COUNT;
const _: () = assert!(COUNT <= Hits::BITS as usize);

/// An element that rules speak against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspect {
    pub(super) id: NodeId,
    pub(super) hits: Hits,
}

/// The rules about words that also name parts of the content.
const DOUBTFUL: Doubtful = Doubtful { leading: LEADING, talk: TALK };
/// The words for parts that lead elsewhere.
const LEADING: Hits =
    (words::of_strength(Strength::Leading) | words::of_strength(Strength::Weak)) << FIRST_WORD | 1 << MENU;
/// The words for what readers and buyers say.
const TALK: Hits = (words::of_strength(Strength::Talk) | REVIEW) << FIRST_WORD;
/// The words that say nothing against a part.
const TEXT: Hits = words::of_strength(Strength::Text) << FIRST_WORD;
const REVIEW: Hits = words::of_strength(Strength::Review);
/// The words for dates and other facts about a part.
const DETAIL: Hits = words::of_strength(Strength::Detail) << FIRST_WORD;
/// The words for what an image shows.
const CAPTION: Hits = words::of_strength(Strength::Caption) << FIRST_WORD;
/// The words for pictures of authors.
const PORTRAIT: Hits = words::of_strength(Strength::Portrait) << FIRST_WORD;
/// The words for what few people see.
const UNSEEN: Hits = words::of_strength(Strength::Unseen) << FIRST_WORD;
/// The words for questions about cookies.
const CONSENT: Hits = words::of_strength(Strength::Consent) << FIRST_WORD;

/// The part of all prose that a rule which is not sure may leave out with one element, and the part of all text outside of
/// links that it may leave out with all.
const UNSURE_SHARE: u32 = 12;
const UNSURE_SHARE_OF_ALL: u32 = 3;
/// The nodes of a list of tabs in which a panel is looked for.
const MOST_IN_TABS: usize = 256;
/// The elements from a cell to its table: the row and a group of rows.
const MOST_TO_TABLE: usize = 3;
/// The elements around a footer that are looked at.
const MOST_AROUND: usize = 15;
/// The nodes of a heading that are looked at.
const MOST_IN_HEADING: usize = 64;
/// The prose that a page must have beside its footer, or what readers say about it.
const REST: u32 = 250;

impl Rules {
    /// The elements that the rules leave out, in document order, none in another.
    ///
    /// No rule leaves out half of what the page says, neither with one element nor with all that it speaks against: a
    /// page that names most of its content by a word means something else by it. A rule that is not sure leaves out
    /// much less. None leaves out the things that a page lists. These limits do not apply to elements beside
    /// the main part of the page, or to its footer.
    pub(super) fn left_out(
        self,
        tree: &Tree,
        measures: &Measures,
        claim: Claim,
        things: &Things,
    ) -> Vec<NodeId> {
        let notes = notes::find(tree, measures);
        let mut suspects = self.suspects(tree, measures, &notes, claim);
        evidence::weigh(tree, measures, DOUBTFUL, &mut suspects);
        let main = root::main_part(tree, measures);
        let is_beside = |id: NodeId| {
            main.is_some_and(|(main, end)| id >= end || tree.node(id).end <= main)
                || is_footer_of_page(tree, measures, id)
        };
        let outer: Vec<NodeId> =
            outermost_of(tree, suspects.iter().map(|suspect| suspect.id).filter(|id| is_beside(*id)))
                .collect();
        suspects.retain(|suspect| !is_in(tree, &outer, suspect.id));
        let all = outer.iter().fold(measures.get(Tree::ROOT), |all, id| all.without(measures.get(*id)));
        let is_list = Kind::of(all, claim) == Kind::List;
        // On a page without prose, a word speaks against text.
        let counts_text = |rule| is_list && rule >= FIRST_WORD;
        let amount = |rule, of: Measure| if counts_text(rule) { of.text } else { of.prose };
        let limit = |rule| limit(rule, amount(rule, all), claim);
        let mut taken = [0_u32; COUNT];
        let mut ends = [Tree::ROOT; COUNT];
        for suspect in &suspects {
            let measure = measures.get(suspect.id);
            for rule in bits(suspect.hits) {
                let (Some(taken), Some(end)) = (taken.get_mut(rule), ends.get_mut(rule)) else { continue };
                if suspect.id >= *end {
                    *taken += match strength(rule) {
                        strength if strength.is_unsure() && !counts_text(rule) => measure.plain(),
                        _ => amount(rule, measure),
                    };
                    *end = tree.node(suspect.id).end;
                }
            }
        }
        let allowed = taken.iter().enumerate().fold(0, |allowed, (rule, taken)| {
            let most = match strength(rule) {
                strength if strength.is_unsure() && counts_text(rule) => all.text / UNSURE_SHARE_OF_ALL,
                strength if strength.is_unsure() => all.plain() / UNSURE_SHARE_OF_ALL,
                _ => limit(rule),
            };
            if *taken <= most { allowed | 1 << rule } else { allowed }
        });
        let hits = suspects.iter().filter(|suspect| {
            let measure = measures.get(suspect.id);
            let is_little = bits(suspect.hits & allowed).any(|rule| amount(rule, measure) <= limit(rule));
            is_little && !things.are_mostly_in(tree, suspect.id)
        });
        let mut left_out: Vec<NodeId> = hits.map(|suspect| suspect.id).chain(outer).collect();
        left_out.sort_unstable();
        headers::keep(tree, measures, &mut left_out);
        outermost_of(tree, left_out.into_iter()).collect()
    }

    /// The elements that rules speak against.
    fn suspects(self, tree: &Tree, measures: &Measures, notes: &[NodeId], claim: Claim) -> Vec<Suspect> {
        let known = if claim == Claim::Product { !TEXT } else { !(TEXT | REVIEW << FIRST_WORD) };
        let (mut suspects, mut code, mut quotes) = (Vec::new(), Vec::new(), Vec::new());
        let mut names = Memo::new();
        let mut tables = Tables::default();
        let (mut skip_to, mut note_end) = (Tree::ROOT, Tree::ROOT);
        for (id, node) in tree.nodes() {
            if id < skip_to || node.tag == Tag::Text || node.is_nothing(id) {
                continue;
            }
            // Code names its parts by what they are in its language: comments, tags.
            let is_never_content = is_never_content(node);
            if is_never_content || node.tag == Tag::Pre {
                if !is_never_content {
                    code.push(id);
                }
                skip_to = node.end;
                continue;
            }
            if node.tag == Tag::Blockquote {
                quotes.push(id);
            }
            if notes::has(notes, id) {
                note_end = note_end.max(node.end);
                continue;
            }
            if node.tag == Tag::Footer && has_questions(tree, id) {
                let others = faq::around(tree, id);
                suspects.extend(others.into_iter().map(|id| Suspect { id, hits: 1 << FOOTER }));
                continue;
            }
            let mut hits = self.against(tree, id, node, &mut names) & known;
            // No word speaks against a panel, or against a part of a note.
            if node.flags.has(Flags::PANEL) || id < note_end {
                hits &= ELEMENTS_ALONE;
            }
            // Elsewhere, it is a filter of what the page lists.
            if hits & 1 << FORM != 0 && claim == Claim::Product && things::is_choice(tree, id) {
                hits &= !(1 << FORM);
            }
            if hits != 0 && tables.would_have_a_hole(tree, id, node) {
                // A row that a script lets appear is not a column for other screens.
                hits &= if node.tag == Tag::Tr { 0 } else { UNSEEN };
            }
            if hits != 0 {
                suspects.push(Suspect { id, hits });
            }
        }
        suspects.sort_by_key(|suspect| suspect.id);
        // A block of code is content, whatever word names what is around it, and so is a quote that is all in it.
        for suspect in &mut suspects {
            let first = |ids: &[NodeId]| {
                let next = ids.get(ids.partition_point(|at| *at < suspect.id)).copied();
                next.filter(|id| *id < tree.node(suspect.id).end)
            };
            let text = measures.get(suspect.id).text;
            if first(&code).is_some() || first(&quotes).is_some_and(|quote| measures.get(quote).text == text)
            {
                suspect.hits &= ELEMENTS_ALONE | TALK;
            }
        }
        suspects.retain(|suspect| suspect.hits != 0);
        suspects
    }

    /// The rules that speak against an element.
    fn against<'t>(self, tree: &'t Tree, id: NodeId, node: Node, names: &mut Memo<'t, Hits>) -> Hits {
        let is_exempt = matches!(
            node.tag,
            Tag::Body | Tag::Html | Tag::Article | Tag::Main | Tag::Code | Tag::Table | Tag::Tbody
        );
        let hits = if is_exempt { 0 } else { self.by_names(tree, id, node, names) };
        let is_content = || {
            is_note(tree, node)
                || tree.is_title_of_note(node)
                || buttons::is_heading(tree, id, node)
                || is_spoken_label(tree, node)
                || node.tag == Tag::Footer && is_of_text(tree, id)
        };
        if hits == 0 || is_content() { 0 } else { hits }
    }

    /// The rules that speak against what an element is and how it is named.
    fn by_names<'t>(self, tree: &'t Tree, id: NodeId, node: Node, names: &mut Memo<'t, Hits>) -> Hits {
        let mut hits = 0;
        for (bit, (tags, strength)) in ELEMENTS.iter().enumerate() {
            if tags.contains(&node.tag) && (self == Self::All || *strength == Strength::Strong) {
                hits |= 1 << bit;
            }
        }
        if !node.flags.has(Flags::NAMED) {
            return hits;
        }
        let mut named = |attribute| {
            let value = tree.attribute(node, attribute).map(str::as_bytes);
            value.map_or(0, |value| names.get_at((), value, || words::against(value)) << FIRST_WORD)
        };
        if self != Self::All {
            return hits | CONSENT & (named(Attribute::Class) | named(Attribute::Id));
        }
        if tree.attribute(node, Attribute::Role).is_some_and(is_role_of_other) && !has_panels(tree, id) {
            hits |= 1 << ROLE;
        }
        hits |= named(Attribute::Class);
        let by_id = named(Attribute::Id);
        if by_id & !hits != 0 && !is_linked_section(tree, id, node) {
            hits |= by_id;
        }
        if hits & CAPTION != 0 && (evidence::has(tree, id, Tag::Img) || !is_behind_image(tree, id)) {
            hits &= !CAPTION;
        }
        if hits & UNSEEN != 0 && is_at_button(tree, id) {
            hits &= !UNSEEN;
        }
        if hits & PORTRAIT != 0 && has_words(tree, id) {
            hits &= !PORTRAIT;
        }
        if hits & DETAIL != 0
            && (is_sentence(tree, id) || is_of_things(tree, id) || is_of_recipe(tree, id, node))
        {
            hits &= !DETAIL;
        }
        // A link, a heading, or a word in a sentence is part of what is around it.
        if node.tag.heading_level().is_some() {
            hits &= ELEMENTS_ALONE;
        } else if node.tag == Tag::A || node.tag.is_inline() && is_in_sentence(tree, node) {
            for rule in bits(hits & !(UNSEEN | PORTRAIT)).filter(|rule| strength(*rule).is_unsure()) {
                hits &= !(1 << rule);
            }
        }
        hits
    }
}

/// Returns true if an element is a sentence or several, without links and buttons.
fn is_sentence(tree: &Tree, id: NodeId) -> bool {
    const LEAST_TEXT: usize = 25;
    const MOST_LOOKED_AT: usize = 16;
    let text: usize =
        tree.inside(id).take(MOST_LOOKED_AT).map(|(_, node)| tree.text(node).trim().len()).sum();
    text >= LEAST_TEXT && !evidence::has_controls(tree, id) && leads::is_sentence(tree, id)
}

/// Returns true if an element with a sentence is what a button right before or behind it opens.
fn is_at_button(tree: &Tree, id: NodeId) -> bool {
    let is_before = || tree.element_before(id).is_some_and(|(id, node)| buttons::is_heading(tree, id, node));
    let is_behind = || tree.next_element(id).is_some_and(|(_, node)| openable::is_button(tree, node));
    (is_before() || is_behind()) && leads::is_sentence(tree, id)
}

/// Returns true if an element has more text than the first letters of a name.
fn has_words(tree: &Tree, id: NodeId) -> bool {
    const INITIALS: usize = 3;
    const MOST_LOOKED_AT: usize = 64;
    let letters = |node| tree.text(node).trim().chars().take(INITIALS + 1).count();
    let mut inside = tree.inside(id).map(|(_, node)| node);
    let letters: usize = inside.by_ref().take(MOST_LOOKED_AT).map(letters).sum();
    letters > INITIALS || inside.next().is_some()
}

/// Returns true if an element is a part of a recipe, by its class: the time to cook, the number of servings.
fn is_of_recipe(tree: &Tree, id: NodeId, node: Node) -> bool {
    let is_named = tree.attribute(node, Attribute::Class).is_some_and(|class| class.contains("recipe"));
    // On a card it says something about another page.
    is_named && !tree.around(id).take(MOST_AROUND).any(|(_, node)| node.tag == Tag::A)
}

/// Returns true if an element says something about one of several things beside each other, as the date of an event does.
fn is_of_things(tree: &Tree, id: NodeId) -> bool {
    evidence::is_of_several(tree, id) && !evidence::has(tree, id, Tag::A)
}

/// Returns true if an image stands right before an element, which is then its title.
fn is_behind_image(tree: &Tree, id: NodeId) -> bool {
    let mut before = (id.0.saturating_sub(CAPTION_DISTANCE)..id.0).rev().map(|id| tree.node(NodeId(id)));
    before.any(|node| node.tag == Tag::Img)
}

/// Returns true if an element in a line stands in a heading, or beside text of its own.
fn is_in_sentence(tree: &Tree, node: Node) -> bool {
    const LEAST_TEXT: usize = 12;
    const MUCH_TEXT: u32 = 64;
    const MOST_LOOKED_AT: usize = 16;
    let mut beside = tree.children(node.parent).take(MOST_LOOKED_AT).map(|(_, node)| node);
    let is_text = |node: Node| node.text_length() > MUCH_TEXT || tree.text(node).trim().len() >= LEAST_TEXT;
    tree.node(node.parent).tag.heading_level().is_some() || beside.any(is_text)
}

/// Returns true if an element is the footer of the page, which has other prose.
fn is_footer_of_page(tree: &Tree, measures: &Measures, id: NodeId) -> bool {
    let is_section = |tag| matches!(tag, Tag::Article | Tag::Main | Tag::Section);
    let mut around = tree.around(id).take(MOST_AROUND);
    let rest = measures.get(Tree::ROOT).without(measures.get(id));
    tree.node(id).tag == Tag::Footer && rest.prose >= REST && !around.any(|(_, node)| is_section(node.tag))
}

/// Returns true if a footer says something about the text that it is in: where a quote is from, or a sentence without links.
fn is_of_text(tree: &Tree, id: NodeId) -> bool {
    let is_quote = |tag| matches!(tag, Tag::Blockquote | Tag::Figure);
    let is_section = |tag| matches!(tag, Tag::Article | Tag::Section);
    let around = || tree.around(id).take(MOST_AROUND).map(|(_, node)| node.tag);
    // Perhaps behind blanks.
    let mut before = tree.all_before(id).take(2);
    around().next().is_some_and(is_quote)
        || before.any(|id| tree.node(id).tag == Tag::Blockquote)
        || around().any(is_section) && leads::is_sentence(tree, id) && !evidence::has_controls(tree, id)
}

/// Returns true if the footer of a section has questions with their answers.
fn has_questions(tree: &Tree, id: NodeId) -> bool {
    let around = || tree.around(id).take(MOST_AROUND).map(|(_, node)| node.tag);
    let is_in_section = around().any(|tag| matches!(tag, Tag::Article | Tag::Section));
    is_in_section && !around().any(|tag| tag == Tag::Footer) && faq::is_one(tree, id)
}

/// Returns true if the page calls a block a note, which is not an alert about the page itself.
fn is_note(tree: &Tree, node: Node) -> bool {
    let is_it = |note: Note| note.is_named && note.kind != Some("Alert");
    node.tag != Tag::Aside && tree.note(node).is_some_and(is_it)
}

/// Returns true if an element holds what its tabs show, and not only the tabs.
fn has_panels(tree: &Tree, id: NodeId) -> bool {
    let is_tabs = tree.attribute(tree.node(id), Attribute::Role).is_some_and(|role| role.trim() == "tablist");
    let is_panel = |(id, node): (NodeId, Node)| {
        node.flags.has(Flags::PANEL) || node.tag == Tag::P && leads::is_sentence(tree, id)
    };
    is_tabs && tree.inside(id).take(MOST_IN_TABS).any(is_panel)
}

/// Returns true if an element is a label for those who cannot see an icon.
fn is_spoken_label(tree: &Tree, node: Node) -> bool {
    let class = || tree.attribute(node, Attribute::Class).unwrap_or_default();
    let may_be = node.tag.is_inline() && node.tag != Tag::A || matches!(node.tag, Tag::Th | Tag::Td);
    may_be && node.flags.has(Flags::NAMED) && is_for_listeners(class())
}

/// Returns true if an element is a section of the text by a mark in its heading that leads to it. Its id is then made of the heading.
fn is_linked_section(tree: &Tree, id: NodeId, node: Node) -> bool {
    let name = tree.attribute(node, Attribute::Id).unwrap_or_default().trim();
    let is_place = |node: &Node| node.tag == Tag::Span && node.end.0 <= id.0 + 3;
    let first = tree.children(id).find(|(_, node)| !tree.is_blank(*node) && !is_place(node));
    let heading = first.filter(|(_, node)| node.tag.heading_level().is_some());
    heading.is_some_and(|(heading, _)| {
        tree.inside(heading).take(MOST_IN_HEADING).any(|(id, node)| {
            let target = tree.attribute(node, Attribute::Href).and_then(|href| href.trim().strip_prefix('#'));
            target.is_some_and(|target| !target.is_empty() && name.ends_with(target))
                && tree.is_permalink(id, node)
        })
    })
}

/// The certainty of a rule.
fn strength(rule: usize) -> Strength {
    match rule.checked_sub(FIRST_WORD) {
        Some(word) => words::strength(word),
        None => ELEMENTS.get(rule).map_or(Strength::Strong, |(_, strength)| *strength),
    }
}

/// The most prose of one element that a rule leaves out.
fn limit(rule: usize, whole: u32, claim: Claim) -> u32 {
    match strength(rule) {
        strength if strength.is_unsure() => whole / UNSURE_SHARE,
        // A page that says that it is an article or a product is not what its readers say about it.
        Strength::Talk | Strength::Review if claim != Claim::None => whole.saturating_sub(REST),
        _ => whole / 2,
    }
}

/// The rules in a set.
fn bits(mut hits: Hits) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = hits.trailing_zeros();
        (next < Hits::BITS).then(|| {
            hits &= hits - 1;
            next as usize
        })
    })
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
    let role = role.trim();
    ROLES.iter().any(|other| role.eq_ignore_ascii_case(other))
}
