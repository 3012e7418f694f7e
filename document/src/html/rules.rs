//! Which open elements a tag closes: the parts of the standard's tree construction that decide where text belongs.

use super::Tag;

/// The elements at which a search for an open element ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// To the cell, the table or the document around.
    Usual,
    /// Also to a list.
    List,
    /// Also to a button.
    Button,
    /// To the table or the document around; cells are passed.
    Table,
    /// To a select, or the document around.
    Select,
    /// To the document around.
    All,
}

impl Scope {
    /// Returns true if the search ends at an element.
    pub(super) fn ends_at(self, tag: Tag) -> bool {
        match tag {
            _ if self == Self::All => tag == Tag::Html,
            Tag::Html | Tag::Template | Tag::Table => self != Self::Select || tag == Tag::Html,
            Tag::Td | Tag::Th | Tag::Caption => matches!(self, Self::Usual | Self::List | Self::Button),
            Tag::Marquee | Tag::Object | Tag::ForeignObject | Tag::Svg => {
                !matches!(self, Self::Table | Self::Select)
            }
            Tag::Ul | Tag::Ol => self == Self::List,
            Tag::Button => self == Self::Button,
            Tag::Select => self == Self::Select,
            _ => false,
        }
    }
}

/// The range in which open elements are searched, and their names.
type Closing = (Scope, fn(Tag) -> bool);

/// The open elements that a start tag closes, each with everything inside: the outermost that a scope shows.
pub(super) fn closed_by_start(tag: Tag) -> Option<Closing> {
    Some(match tag {
        Tag::Li => (Scope::List, |open| open == Tag::Li),
        Tag::Dt | Tag::Dd => (Scope::Usual, |open| matches!(open, Tag::Dt | Tag::Dd)),
        Tag::Option => (Scope::Select, |open| open == Tag::Option),
        Tag::Optgroup => (Scope::Select, |open| matches!(open, Tag::Option | Tag::Optgroup)),
        Tag::Td | Tag::Th => {
            (Scope::Table, |open| matches!(open, Tag::Td | Tag::Th | Tag::Caption | Tag::Colgroup))
        }
        Tag::Tr => (Scope::Table, |open| matches!(open, Tag::Tr | Tag::Caption | Tag::Colgroup)),
        Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Caption | Tag::Colgroup => (Scope::Table, |open| {
            matches!(open, Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Tr | Tag::Caption | Tag::Colgroup)
        }),
        Tag::Rb | Tag::Rt | Tag::Rp | Tag::Rtc => {
            (Scope::Usual, |open| matches!(open, Tag::Rb | Tag::Rt | Tag::Rp))
        }
        Tag::Button => (Scope::Usual, |open| open == Tag::Button),
        Tag::A => (Scope::Usual, |open| open == Tag::A),
        Tag::Nobr => (Scope::Usual, |open| open == Tag::Nobr),
        _ => return None,
    })
}

/// Returns true if a start tag ends the paragraph that it stands in.
pub(super) fn closes_paragraph(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Address
            | Tag::Article
            | Tag::Aside
            | Tag::Blockquote
            | Tag::Center
            | Tag::Details
            | Tag::Dialog
            | Tag::Dir
            | Tag::Div
            | Tag::Dl
            | Tag::Dt
            | Tag::Dd
            | Tag::Fieldset
            | Tag::Figcaption
            | Tag::Figure
            | Tag::Footer
            | Tag::Form
            | Tag::H1
            | Tag::H2
            | Tag::H3
            | Tag::H4
            | Tag::H5
            | Tag::H6
            | Tag::Header
            | Tag::Hgroup
            | Tag::Hr
            | Tag::Li
            | Tag::Listing
            | Tag::Main
            | Tag::Menu
            | Tag::Nav
            | Tag::Ol
            | Tag::P
            | Tag::Plaintext
            | Tag::Pre
            | Tag::Search
            | Tag::Section
            | Tag::Summary
            | Tag::Table
            | Tag::Ul
            | Tag::Xmp
    )
}

/// The way in which an end tag finds its element.
pub(super) fn scope_of_end(tag: Tag) -> Scope {
    match tag {
        Tag::Li => Scope::List,
        Tag::P => Scope::Button,
        Tag::Template => Scope::All,
        Tag::Option | Tag::Optgroup | Tag::Select => Scope::Select,
        Tag::Table | Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Tr | Tag::Td | Tag::Th | Tag::Caption => {
            Scope::Table
        }
        _ => Scope::Usual,
    }
}

/// Returns true if an end tag finds its element only if no special element stands between: the standard's *any other end tag*.
pub(super) fn stops_at_special(tag: Tag) -> bool {
    !tag.is_special() && !tag.is_formatting() && !matches!(tag, Tag::Option | Tag::Optgroup | Tag::Svg)
}

/// Returns true if a start tag cannot be in a drawing or a formula, and so ends it.
pub(super) fn leaves_foreign(tag: Tag) -> bool {
    closes_paragraph(tag) && !matches!(tag, Tag::Plaintext | Tag::Xmp)
        || matches!(
            tag,
            Tag::B
                | Tag::Big
                | Tag::Body
                | Tag::Br
                | Tag::Code
                | Tag::Em
                | Tag::Embed
                | Tag::Head
                | Tag::I
                | Tag::Img
                | Tag::Meta
                | Tag::Nobr
                | Tag::Ruby
                | Tag::S
                | Tag::Small
                | Tag::Span
                | Tag::Strong
                | Tag::Strike
                | Tag::Sub
                | Tag::Sup
                | Tag::Tt
                | Tag::U
                | Tag::Var
        )
}

/// Returns true if an element can be in `head`.
pub(super) fn belongs_to_head(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Base
            | Tag::Link
            | Tag::Meta
            | Tag::Noframes
            | Tag::Noscript
            | Tag::Script
            | Tag::Style
            | Tag::Template
            | Tag::Title
    )
}

/// Returns true if an element of `head` says something about the page.
pub(super) fn states_something(tag: Tag) -> bool {
    matches!(tag, Tag::Base | Tag::Link | Tag::Meta | Tag::Title)
}

/// Returns true if an element is content for sure, so that `head` has ended although nobody says so.
pub(super) fn is_of_body(tag: Tag) -> bool {
    tag.heading_level().is_some()
        || matches!(
            tag,
            Tag::Article
                | Tag::Footer
                | Tag::Form
                | Tag::Header
                | Tag::Main
                | Tag::Nav
                | Tag::Ol
                | Tag::P
                | Tag::Section
                | Tag::Table
                | Tag::Ul
        )
}

/// Returns true if each blank of the text in the element counts.
pub(super) fn is_preformatted(tag: Tag) -> bool {
    matches!(tag, Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext | Tag::Script)
}

/// Returns true if a table is made of the element, so that blanks in it are not text.
pub(super) fn is_made_of_elements(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Table
            | Tag::Tbody
            | Tag::Thead
            | Tag::Tfoot
            | Tag::Tr
            | Tag::Ul
            | Tag::Ol
            | Tag::Dl
            | Tag::Colgroup
            | Tag::Select
    )
}

/// Returns true if an element holds rows or cells, not text.
pub(super) fn is_between_cells(tag: Tag) -> bool {
    matches!(tag, Tag::Table | Tag::Thead | Tag::Tbody | Tag::Tfoot | Tag::Tr)
}

/// Returns true if an element can have a shadow tree: some known ones, and those with names of their own.
pub(super) fn has_shadow(tag: Tag) -> bool {
    tag.heading_level().is_some()
        || matches!(
            tag,
            Tag::Article
                | Tag::Aside
                | Tag::Blockquote
                | Tag::Body
                | Tag::Div
                | Tag::Footer
                | Tag::Header
                | Tag::Main
                | Tag::Nav
                | Tag::P
                | Tag::Section
                | Tag::Span
                | Tag::Other
        )
}
