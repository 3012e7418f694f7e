//! The view of a page that people have: what its declarations hide is marked, and what they can open is not.

use super::openable::{Alike, Openable};
use super::tree::{Flags, Node};
use super::{Attribute, NodeId, Tag, Tree, tabs};
use crate::css::{Changes, Color, FontSize, KnownNames, Look, Name, Sheet, Sight, Style};
use crate::memo::Memo;

/// The most text that only a screen reader reads and that is kept: a label.
const LONGEST_LABEL: usize = 80;
/// The nodes in which such text is looked for.
const MOST_LOOKED_AT: usize = 64;
/// The elements in each other that have most of the text of a page, and that a script lets appear.
const MOST_PAGES: u32 = 4;
/// The names of an element that are compared with rules.
const MOST_NAMES: usize = 64;

/// Marks what people cannot see; gives the parts with names, each with the element that names it.
pub(super) fn view(tree: &mut Tree<'_>) {
    let sheet = if tree.parts.styles.is_empty() {
        Sheet::default()
    } else {
        let styles = tree.parts.styles.iter().map(|style| (tree.values.at(style.place), style.is_always));
        Sheet::of(styles, &known_names(tree))
    };
    let (marks, blocks, mut tabs, sets) = {
        let openable = Openable::of(tree);
        let (marks, blocks) = Marks {
            tree,
            sheet: &sheet,
            openable: &openable,
            alike: Alike::default(),
            marks: Vec::new(),
            blocks: Vec::new(),
            around: Vec::new(),
            names: Vec::new(),
            of_rules: Memo::new(),
            own_styles: Memo::new(),
            has_outer_sheet: has_outer_sheet(tree),
            all_text: None,
            pages_left: MOST_PAGES,
            only: (NodeId(u32::MAX), None),
        }
        .all();
        (
            marks,
            blocks,
            openable.tabs(tree),
            if tree.parts.has_panels { tabs::sets(tree) } else { Vec::new() },
        )
    };
    for (id, is_hidden) in marks {
        if let Some(node) = tree.nodes.get_mut(id.index()) {
            node.flags.set(Flags::HIDDEN, is_hidden);
        }
    }
    // A label that nobody sees says nothing, and a heading, or one around the panel, stays where it is.
    tabs.retain(|(panel, label)| {
        let is_around = label <= panel && *panel < tree.node(*label).end;
        let is_hidden = |node: Node| node.flags.has(Flags::HIDDEN);
        let mut around = std::iter::once(*label).chain(tree.around(*label).map(|(id, _)| id));
        !is_around
            && !around.any(|id| is_hidden(tree.node(id)) || tree.node(id).tag.heading_level().is_some())
            && !tree.inside(*label).take(MOST_LOOKED_AT).any(|(_, node)| node.tag.heading_level().is_some())
    });
    for id in blocks {
        if let Some(node) = tree.nodes.get_mut(id.index()) {
            node.tag = Tag::Div;
        }
    }
    // Each label stands above its part only.
    let labels = sets.iter().map(|set| set.labels).chain(tabs.iter().map(|(_, label)| *label));
    let labels: Vec<NodeId> = labels.collect();
    let parts = sets.into_iter().flat_map(|set| set.parts);
    let is_new = |(part, label): &(NodeId, NodeId)| {
        let is_hidden = tree.node(*label).flags.has(Flags::HIDDEN);
        !is_hidden && tabs.binary_search_by_key(part, |(panel, _)| *panel).is_err()
    };
    let parts: Vec<_> = parts.filter(is_new).collect();
    tabs.extend(parts);
    tabs.sort_unstable();
    for id in labels {
        if let Some(node) = tree.nodes.get_mut(id.index()) {
            node.flags.add(Flags::HIDDEN);
        }
    }
    tree.tabs = tabs;
    tree.is_cut |= sheet.is_cut;
}

/// The names of all elements.
fn known_names(tree: &Tree<'_>) -> KnownNames {
    let mut known = KnownNames::default();
    let mut tags = [false; 256];
    for (_, node) in tree.nodes() {
        if let Some(is_known) = tags.get_mut(node.tag as usize).filter(|is_known| !**is_known) {
            *is_known = true;
            known.add(Name::element(node.tag.name()));
        }
    }
    let mut seen = Memo::new();
    for value in &tree.attributes {
        let text = || tree.values.text(*value).unwrap_or_default();
        match value.attribute {
            Attribute::Class => {
                let mut add = || classes(text()).for_each(|name| known.add(name));
                match tree.values.in_page(*value) {
                    Some(class) => seen.get_at((), class, add),
                    None => add(),
                }
            }
            Attribute::Id => known.add(Name::id(text().trim())),
            _ => {}
        }
    }
    known
}

/// The attributes that give an element its names.
#[derive(Clone, Copy, Debug, Default)]
struct Named<'t> {
    class: &'t str,
    id: Option<&'t str>,
}

impl<'t> Named<'t> {
    fn of(tree: &'t Tree<'_>, node: Node) -> Self {
        let mut named = Self::default();
        if !node.flags.has(Flags::NAMED) {
            return named;
        }
        for value in tree.values_of(node) {
            match value.attribute {
                Attribute::Class => named.class = tree.values.text(*value).unwrap_or_default(),
                Attribute::Id => named.id = tree.values.text(*value),
                _ => {}
            }
        }
        named
    }

    /// The names by which rules can mean the element: first that of its sort.
    fn names(self, tag: Tag) -> impl Iterator<Item = Name> + 't {
        let id = self.id.map(|id| Name::id(id.trim()));
        std::iter::once(Name::element(tag.name())).chain(classes(self.class)).chain(id)
    }
}

fn classes(class: &str) -> impl Iterator<Item = Name> + '_ {
    class.split_ascii_whitespace().take(MOST_NAMES).map(Name::class)
}

/// The properties that an element gives to those in it.
#[derive(Clone, Copy, Debug)]
struct Around {
    end: NodeId,
    font: FontSize,
    color: Option<Color>,
    background: Option<Color>,
    /// People see only elements in it that are `visible` themselves.
    is_invisible: bool,
    /// The element may have most of the text of the page.
    may_be_page: bool,
    /// The element around whose children are blocks.
    parted: Option<NodeId>,
}

impl Around {
    /// Returns true if text has the color of what is behind it.
    fn is_lost(self) -> bool {
        self.color.zip(self.background).is_some_and(|(color, behind)| color.is_lost_on(behind))
    }
}

/// The walk that finds what is hidden.
struct Marks<'t, 'p> {
    tree: &'t Tree<'p>,
    sheet: &'t Sheet,
    openable: &'t Openable<'t>,
    alike: Alike<'t>,
    marks: Vec<(NodeId, bool)>,
    /// The elements in lines that a browser shows as blocks.
    blocks: Vec<NodeId>,
    around: Vec<Around>,
    /// The names of the element that is looked at.
    names: Vec<Name>,
    /// The rules about elements of one sort with the same class.
    of_rules: Memo<'t, (Style, Changes), Tag>,
    /// The declarations of elements themselves.
    own_styles: Memo<'t, Style>,
    /// The page has sheets that nobody reads here.
    has_outer_sheet: bool,
    /// All text of the page, in bytes, once it is known.
    all_text: Option<u32>,
    /// The elements that may still be found to have most of it.
    pages_left: u32,
    /// The element that was looked at last for one that has all of it, and that one.
    only: (NodeId, Option<NodeId>),
}

fn has_outer_sheet(tree: &Tree<'_>) -> bool {
    let is_sheet = |node: Node| {
        let rel = || tree.attribute(node, Attribute::Rel).unwrap_or_default();
        node.tag == Tag::Link
            && rel().split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case("stylesheet"))
    };
    tree.parts.has_imports || tree.nodes().any(|(_, node)| is_sheet(node))
}

impl Marks<'_, '_> {
    fn all(mut self) -> (Vec<(NodeId, bool)>, Vec<NodeId>) {
        // If an outer sheet may give another background, none is white for sure.
        let background = (!self.has_outer_sheet).then_some(Color::WHITE);
        let page = Around {
            end: NodeId(u32::MAX),
            font: FontSize::Some,
            color: None,
            background,
            is_invisible: false,
            may_be_page: true,
            parted: None,
        };
        let mut skip_to = Tree::ROOT;
        for (id, node) in self.tree.nodes() {
            if id < skip_to {
                continue;
            }
            while self.around.pop_if(|around| around.end <= id).is_some() {}
            let around = self.around.last().copied().unwrap_or(page);
            if node.tag == Tag::Text {
                if around.is_lost()
                    || around.is_invisible
                    || around.font == FontSize::Zero
                    || around.color == Some(Color::Transparent)
                {
                    self.marks.push((id, true));
                }
            } else if self.element(id, node, around) {
                skip_to = node.end;
            }
        }
        (self.marks, self.blocks)
    }

    /// Sees an element; true if it is hidden.
    fn element(&mut self, id: NodeId, node: Node, around: Around) -> bool {
        let is_openable = self.openable.has(self.tree, id, node);
        if node.flags.has(Flags::HIDDEN) {
            if !is_openable && !self.alike.is_opened(self.tree, id) {
                return true;
            }
            self.marks.push((id, false));
        }
        let look = self.look(node);
        let is_plain = look == Look::default() && !matches!(node.tag, Tag::Pre | Tag::Embed);
        if is_plain && !around.is_invisible && around.parted != Some(node.parent) {
            return false;
        }
        let is_cell = matches!(node.tag, Tag::Td | Tag::Th);
        let look = if is_cell || node.tag.is_inline() { look.without_box(is_cell) } else { look };
        let is_whole = matches!(node.tag, Tag::Html | Tag::Body);
        let is_main = node.tag == Tag::Main;
        let fades_in = is_main || !is_openable && self.is_page(id, look);
        let look = if fades_in { look.after_fade(is_main) } else { look };
        let is_box = node.tag == Tag::Embed && look.is_without_room();
        let sight = match if is_box { Sight::Hidden } else { look.sight() } {
            Sight::Shown => Sight::Shown,
            // A browser never hides a whole page for good.
            _ if is_openable || is_whole || self.is_all(id) || self.alike.is_opened(self.tree, id) => {
                Sight::Shown
            }
            Sight::Clipped if self.is_for_listeners(id, node) => Sight::Shown,
            other => other,
        };
        let is_invisible = match sight {
            Sight::Shown => around.is_invisible && look.visibility().is_none(),
            _ => look.is_only_invisible() && (around.is_invisible || self.has_visible(id)),
        };
        if sight != Sight::Shown && !is_invisible {
            if is_cell && look.keeps_place() {
                // The others of its row stay in their columns.
                self.marks.extend(self.tree.children(id).map(|(id, _)| (id, true)));
            } else {
                self.marks.push((id, true));
            }
            return true;
        }
        let is_leaf = node.end.0 == id.0 + 1;
        if is_invisible && is_leaf {
            self.marks.push((id, true));
        }
        let is_block = look.is_block() || around.parted == Some(node.parent);
        if is_block && node.tag == Tag::Span && self.is_apart(node) {
            self.blocks.push(id);
        }
        // Most outer sheets give code a background of its own.
        let is_colored = node.tag == Tag::Pre && look.background.is_none() && self.has_outer_sheet;
        let has_own = look != Look::default() || is_colored;
        if has_own && !is_leaf {
            let color = look.letters().or(around.color).filter(|_| !look.has_background_in_text());
            let background = match look.background {
                _ if is_colored => None,
                Some(own) => own.before(around.background),
                None => around.background,
            };
            let font = look.font().unwrap_or(around.font);
            let parted = look.parts_children().then_some(id).or(around.parted);
            let mut own = Around { end: node.end, font, color, background, is_invisible, parted, ..around };
            if own.is_lost() {
                // People read the text of a page, so that what is behind it is another color, by a rule that is not known.
                if is_whole || around.may_be_page && self.has_most(id) {
                    own.background = None;
                } else {
                    own.may_be_page = false;
                }
            }
            self.around.push(own);
        }
        false
    }

    /// Returns true if an element has another one in it that is `visible`, and that no attribute hides.
    fn has_visible(&mut self, id: NodeId) -> bool {
        let mut skip_to = id;
        for (id, node) in self.tree.inside(id) {
            if id < skip_to || node.tag == Tag::Text {
                continue;
            }
            if node.flags.has(Flags::HIDDEN) {
                skip_to = node.end;
            } else if self.look(node).visibility() == Some(true) {
                return true;
            }
        }
        false
    }

    /// Returns true if no text stands directly beside an element.
    fn is_apart(&self, node: Node) -> bool {
        let mut beside = self.tree.children(node.parent).take(MOST_LOOKED_AT);
        let is_in_line = self.tree.node(node.parent).tag == Tag::Span;
        !is_in_line && beside.all(|(_, node)| node.tag != Tag::Text || self.tree.is_blank(node))
    }

    /// Returns true if an element has all of the page, or of its main part, in it.
    fn is_all(&mut self, id: NodeId) -> bool {
        const MOST_AROUND: usize = 6;
        let mut part = id;
        for _ in 0..MOST_AROUND {
            let node = self.tree.node(part);
            if node.tag == Tag::Body || node.tag == Tag::Main && part != id {
                return true;
            }
            if self.only_in(node.parent) != Some(part) {
                return false;
            }
            part = node.parent;
        }
        false
    }

    /// The element that has all that an element has: of several that are hidden, a script shows the largest.
    fn only_in(&mut self, parent: NodeId) -> Option<NodeId> {
        if self.only.0 != parent {
            self.only = (parent, self.find_only_in(parent));
        }
        self.only.1
    }

    fn find_only_in(&self, parent: NodeId) -> Option<NodeId> {
        let is_something = |(_, node): &(NodeId, Node)| match node.tag {
            Tag::Text => !self.tree.text(*node).trim().is_empty(),
            Tag::Script | Tag::Style | Tag::Template | Tag::Link | Tag::Meta | Tag::Noscript => false,
            _ => true,
        };
        let inside = || self.tree.children(parent).take(MOST_LOOKED_AT).filter(is_something);
        let (largest, _) = inside().max_by_key(|(id, node)| node.end.index() - id.index())?;
        let is_hidden = |node: Node| {
            let style = || self.tree.attribute(node, Attribute::Style).map(|style| Style::of(style).look());
            node.flags.has(Flags::HIDDEN) || style().is_some_and(|look| look.sight() != Sight::Shown)
        };
        inside()
            .all(|(id, node)| id == largest || node.tag != Tag::Text && is_hidden(node))
            .then_some(largest)
    }

    /// Returns true if an element that only its opacity hides has most of the text of the page, which a script lets appear.
    fn is_page(&mut self, id: NodeId, look: Look) -> bool {
        look.sight() != Sight::Shown && look.after_fade(false).sight() == Sight::Shown && self.has_most(id)
    }

    /// Returns true if an element has most of the text of the page.
    fn has_most(&mut self, id: NodeId) -> bool {
        if self.pages_left == 0 {
            return false;
        }
        let amount = |id| {
            let (mut amount, mut skip_to) = (0, Tree::ROOT);
            for (id, node) in self.tree.inside(id).filter(|(_, node)| !node.flags.has(Flags::IN_HEAD)) {
                if node.tag.is_without_text() {
                    skip_to = skip_to.max(node.end);
                } else if id >= skip_to {
                    amount += node.text_length();
                }
            }
            amount
        };
        let all = *self.all_text.get_or_insert_with(|| amount(Tree::ROOT));
        let has_most = amount(id) > all / 2;
        // The content of an element that has most of it is looked through once more.
        self.pages_left -= u32::from(has_most);
        has_most
    }

    /// The declarations about an element, with what other rules may change.
    fn look(&mut self, node: Node) -> Look {
        let (mut style, mut changes) = (Style::default(), Changes::default());
        if !self.sheet.is_empty() {
            let (sheet, names, named) = (self.sheet, &mut self.names, Named::of(self.tree, node));
            let mut of_rules = || {
                names.clear();
                names.extend(named.names(node.tag).filter(|name| sheet.may_have(*name)));
                if names.is_empty() {
                    return (Style::default(), sheet.anywhere());
                }
                (sheet.style(names), sheet.changes(names, Name::element(node.tag.name())))
            };
            (style, changes) = match named.id {
                None => self.of_rules.get_at(node.tag, named.class.as_bytes(), of_rules),
                Some(_) => of_rules(),
            };
        }
        if node.flags.has(Flags::STYLED)
            && let Some(own) = self.tree.attribute(node, Attribute::Style)
        {
            let own = self.own_styles.get_at((), own.as_bytes(), || Style::of(own));
            style.add(&own);
            changes = changes.beside(&own);
        }
        self.with_attributes(node, style.look_with(changes))
    }

    /// The look with what attributes say about it in old pages.
    fn with_attributes(&self, node: Node, mut look: Look) -> Look {
        let of_attribute = |value| {
            // Each rule counts more than an attribute.
            if self.has_outer_sheet { Color::Unknown } else { Color::of_attribute(value) }
        };
        let color = |attribute| self.tree.attribute(node, attribute).map(of_attribute);
        if matches!(node.tag, Tag::Table | Tag::Tr | Tag::Td | Tag::Th | Tag::Body)
            && look.background.is_none()
        {
            let image = self.tree.attribute(node, Attribute::Background).map(|_| Color::Unknown);
            look.background = image.or_else(|| color(Attribute::Bgcolor));
        }
        if node.tag == Tag::Font && look.color.is_none() {
            look.color = color(Attribute::Color);
        }
        look
    }

    /// Returns true if what is clipped is text that a screen reader reads: people hear it.
    fn is_for_listeners(&self, id: NodeId, node: Node) -> bool {
        let inside = || self.tree.inside(id).take(MOST_LOOKED_AT);
        // Formulas, which are drawn beside.
        if inside().any(|(_, node)| node.tag == Tag::Math) {
            return true;
        }
        let class = self.tree.attribute(node, Attribute::Class).unwrap_or_default();
        let text: usize = inside().map(|(_, node)| self.tree.text(node).len()).sum();
        let is_whole = node.end.0 - id.0 <= u32::try_from(MOST_LOOKED_AT).unwrap_or(u32::MAX);
        is_for_listeners(class) && is_whole && text <= LONGEST_LABEL
    }
}

/// Returns true if a class names text that only a screen reader reads.
pub(crate) fn is_for_listeners(class: &str) -> bool {
    const NAMES: [&str; 8] = [
        "sr-only",
        "visually-hidden",
        "visuallyhidden",
        "screen-reader-text",
        "screen-reader-only",
        "screenreader-only",
        "sr",
        "u-sr-only",
    ];
    class.split_ascii_whitespace().any(|class| NAMES.iter().any(|name| class.eq_ignore_ascii_case(name)))
}
