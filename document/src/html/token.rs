//! The tag that is being read: its name and the attributes that matter, within limits.

use super::attribute::{LONGEST_NAME, LONGEST_VALUE};
use super::tree::Flags;
use super::values::{Value, Values};
use super::{Attribute, Tag};
use super::{notes, roles, tabs};
use crate::css::Style;
use crate::memo::Memo;

/// The bytes of an element's name that are kept; the longest known one has 13.
const LONGEST_TAG: usize = 24;

/// A name within a limit. No longer one is known.
#[derive(Debug)]
struct Name<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Name<N> {
    const fn new() -> Self {
        Self { bytes: [0; N], length: 0 }
    }

    fn push(&mut self, more: &[u8]) {
        // The tokenizer gives the first byte of a name by itself.
        if let ([byte], Some(place)) = (more, self.bytes.get_mut(self.length)) {
            *place = *byte;
            self.length += 1;
            return;
        }
        let end = self.length.saturating_add(more.len());
        match self.bytes.get_mut(self.length..end) {
            Some(place) => place.copy_from_slice(more),
            // Also distinguishes most long names with different rests.
            None => more.iter().zip(&mut self.bytes).for_each(|(byte, place)| *place ^= byte.rotate_left(1)),
        }
        self.length = end;
    }

    /// The name; empty if it is longer than any known one.
    fn known(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Distinguishes names (FNV-1a).
    fn hash(&self) -> u32 {
        let kept = self.bytes.get(..self.length.min(N)).unwrap_or_default();
        kept.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
    }
}

/// A name of an element: its meaning, and a number that distinguishes it from others without a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TagName {
    pub(super) tag: Tag,
    pub(super) hash: u32,
}

impl TagName {
    /// The number of counters of open elements.
    pub(super) const BUCKETS: usize = 256;
    /// Those of known elements come first.
    const KNOWN: usize = 160;

    /// Which counter of open elements counts this one: known elements have their own.
    pub(super) fn bucket(self) -> usize {
        match self.tag {
            Tag::Other => Self::KNOWN + self.hash as usize % (Self::BUCKETS - Self::KNOWN),
            tag => tag as usize,
        }
    }
}

const _: () =
    assert!((Tag::ForeignObject as usize) < TagName::KNOWN, "the last known element has its own counter");

/// Returns true if the sorts of an item have a product among them.
fn is_product(sorts: &[u8]) -> bool {
    sorts.split(u8::is_ascii_whitespace).any(|sort| sort.ends_with(b"//schema.org/Product"))
}

/// The tag that is being read.
#[derive(Debug)]
pub(super) struct Token<'p> {
    pub(super) is_end: bool,
    name: Name<LONGEST_TAG>,
    attribute_name: Name<LONGEST_NAME>,
    /// The attribute whose value is being read.
    attribute: Option<Attribute>,
    /// The attributes that the tag has had; of those with one name, the first counts.
    seen: u64,
    /// The attributes that are kept, and the bytes of copied values before theirs.
    pub(super) attributes: Vec<Value>,
    copied_before: usize,
    pub(super) flags: Flags,
    /// The elements so far that the page calls a product.
    pub(super) products: u32,
    /// An element has a role that makes it a part of a table or a list, or a heading.
    pub(super) has_roles: bool,
    /// An element has a class that names a set of tabs.
    pub(super) has_tabs: bool,
    /// The classes and declarations so far, each with its first place: equal ones are one value, which is read once.
    classes: Memo<'p, (Class, Value)>,
    styles: Memo<'p, (Flags, Value)>,
}

impl<'p> Token<'p> {
    pub(super) fn new() -> Self {
        Self {
            is_end: false,
            name: Name::new(),
            attribute_name: Name::new(),
            attribute: None,
            seen: 0,
            attributes: Vec::new(),
            copied_before: 0,
            flags: Flags::NONE,
            products: 0,
            has_roles: false,
            has_tabs: false,
            classes: Memo::new(),
            styles: Memo::new(),
        }
    }

    pub(super) fn begin(&mut self, is_end: bool, values: &Values<'_>) {
        self.is_end = is_end;
        self.name.length = 0;
        self.attribute_name.length = 0;
        self.attribute = None;
        self.seen = 0;
        self.attributes.clear();
        self.copied_before = values.copied();
        self.flags = Flags::NONE;
    }

    pub(super) fn push_name(&mut self, more: &[u8]) {
        self.name.push(more);
    }

    pub(super) fn name(&self) -> TagName {
        let tag = Tag::named(self.name.known());
        TagName { tag, hash: if tag == Tag::Other { self.name.hash() } else { 0 } }
    }

    /// Returns true if an end tag is that of the element whose content is raw text.
    pub(super) fn ends(&self, raw: Tag) -> bool {
        self.is_end && self.name().tag == raw
    }

    pub(super) fn begin_attribute(&mut self, values: &mut Values<'p>) {
        self.end_attribute(values);
        self.attribute_name.length = 0;
    }

    pub(super) fn push_attribute_name(&mut self, more: &[u8]) {
        self.attribute_name.push(more);
    }

    /// The name of the attribute is complete.
    pub(super) fn begin_value(&mut self) {
        let attribute = Attribute::named(self.attribute_name.known());
        self.attribute_name.length = 0;
        let Some(attribute) = attribute else { return };
        let bit = 1_u64 << attribute as u32;
        if self.is_end || self.seen & bit != 0 {
            return;
        }
        self.seen |= bit;
        self.attribute = Some(attribute);
        self.attributes.push(Value::empty(attribute));
    }

    pub(super) fn push_value(&mut self, values: &mut Values<'_>, more: &[u8]) {
        if let Some(value) = self.attributes.last_mut().filter(|_| self.attribute.is_some()) {
            values.push(value, more);
        }
    }

    /// The value of the attribute is complete: what only counts for the flags is not kept.
    fn end_attribute(&mut self, values: &mut Values<'p>) {
        // An attribute without a value.
        if self.attribute_name.length > 0 {
            self.begin_value();
        }
        let Some(attribute) = self.attribute.take() else { return };
        let is_seen = attribute == Attribute::AriaHidden
            && matches!(self.name().tag, Tag::Img | Tag::Td | Tag::Th | Tag::Main | Tag::Body);
        let Some(value) = self.attributes.last_mut() else { return };
        let text = values.bytes(*value);
        let (is_kept, flags) = match attribute {
            Attribute::Hidden => {
                (false, if text.eq_ignore_ascii_case(b"until-found") { Flags::NONE } else { Flags::HIDDEN })
            }
            // People see an image or a cell that nobody hears of, and the page behind a dialog.
            Attribute::AriaHidden if is_seen => (false, Flags::NONE),
            Attribute::AriaHidden => {
                (false, if text.eq_ignore_ascii_case(b"true") { Flags::HIDDEN } else { Flags::NONE })
            }
            Attribute::Popover => (false, Flags::HIDDEN),
            Attribute::Style => {
                let flags = meaning(&mut self.styles, values, value, flags_of_style);
                (flags.has(Flags::STYLED), flags)
            }
            Attribute::Class => {
                let class = meaning(&mut self.classes, values, value, Class::of);
                self.has_tabs |= class.names_tabs;
                (true, class.flags.with(Flags::NAMED))
            }
            Attribute::Role if text.trim_ascii().eq_ignore_ascii_case(b"tabpanel") => {
                (true, Flags::NAMED.with(Flags::PANEL))
            }
            Attribute::Role if notes::is_role_of_note(text) => (true, Flags::NAMED.with(Flags::NOTE)),
            Attribute::Role => {
                self.has_roles |= roles::is_of_structure(text);
                self.has_tabs |= text.trim_ascii().eq_ignore_ascii_case(b"tablist");
                (true, Flags::NAMED)
            }
            Attribute::Id => (true, Flags::NAMED),
            Attribute::Itemprop if has_word(text, &["articlebody"]) => (true, Flags::ARTICLE_BODY),
            Attribute::Itemtype => {
                self.products += u32::from(is_product(text));
                (false, Flags::NONE)
            }
            _ => (true, Flags::NONE),
        };
        self.flags.add(flags);
        if !is_kept {
            values.shorten(value, 0);
            self.attributes.pop();
            return;
        }
        // A value that was cut may end within a character.
        if usize::from(value.length) == LONGEST_VALUE {
            let whole = text.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
            values.shorten(value, whole);
        }
    }

    /// The tag is complete.
    pub(super) fn end(&mut self, values: &mut Values<'p>) {
        self.end_attribute(values);
    }

    /// The tag makes no element: its values go.
    pub(super) fn discard(&mut self, values: &mut Values<'_>) {
        values.forget(self.copied_before);
        self.attributes.clear();
    }
}

/// The meaning of a value. If an equal one came before, the value is that one from now on, and its meaning is known.
fn meaning<'p, T: Copy>(
    known: &mut Memo<'p, (T, Value)>,
    values: &Values<'p>,
    value: &mut Value,
    of: impl Fn(&[u8]) -> T,
) -> T {
    let (meaning, first) = match values.in_page(*value) {
        Some(text) => known.get(text, || (of(text), *value)),
        None => (of(values.bytes(*value)), *value),
    };
    *value = first;
    meaning
}

/// The meaning of a class for its element.
#[derive(Clone, Copy, Debug)]
struct Class {
    flags: Flags,
    names_tabs: bool,
}

impl Class {
    fn of(class: &[u8]) -> Self {
        const ARTICLE: [&str; 4] = ["entry-content", "post-content", "article-body", "article-content"];
        let (mut flags, mut names_tabs) = (Flags::NONE, false);
        if notes::may_be_note(class) {
            flags.add(Flags::NOTE);
        }
        // Most words have another length.
        let words = class
            .split(u8::is_ascii_whitespace)
            .filter(|word| matches!(word.len(), 4 | 7 | 8 | 10 | 12 | 13 | 15 | 19));
        for word in words {
            let is_one = |other: &&str| word.eq_ignore_ascii_case(other.as_bytes());
            if ARTICLE.iter().any(is_one) {
                flags.add(Flags::ARTICLE_CLASS);
            }
            names_tabs |= tabs::NAMES.iter().any(is_one);
        }
        Self { flags, names_tabs }
    }
}

/// Returns true if one of the words is among those of a value.
fn has_word(value: &[u8], words: &[&str]) -> bool {
    let mut parts = value.split(u8::is_ascii_whitespace);
    parts.any(|part| words.iter().any(|word| part.eq_ignore_ascii_case(word.as_bytes())))
}

/// The meaning of declarations for their element: whether they may hide its text.
fn flags_of_style(style: &[u8]) -> Flags {
    let may_hide = !Style::of(&String::from_utf8_lossy(style)).is_empty();
    if may_hide { Flags::STYLED } else { Flags::NONE }
}
