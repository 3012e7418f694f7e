//! The meaning of elements that hold no text of their own place: templates, style sheets, data, tasks.

use super::super::attribute::Attribute;
use super::super::parts::Boundary;
use super::super::values::Value;
use super::super::{NodeId, Tag, rules};
use super::{Builder, number};
use crate::addresses::pdf_name;

impl Builder<'_> {
    /// Returns true if a template holds what its parent shows.
    pub(super) fn is_shadow(&mut self, attributes: &[Value]) -> bool {
        let mode = attributes.iter().find(|value| value.attribute == Attribute::ShadowRootMode);
        let mode = mode.map(|mode| self.values.bytes(*mode)).unwrap_or_default();
        let is_mode = [&b"open"[..], b"closed"].iter().any(|known| mode.eq_ignore_ascii_case(known));
        let is_shadow = is_mode && self.open.last().is_some_and(|open| rules::has_shadow(open.name.tag));
        self.parts.has_shadows |= is_shadow;
        is_shadow
    }

    /// Returns true if a template has an id. Notes which part goes where if its attributes say so.
    pub(super) fn is_place(&mut self, attributes: &[Value]) -> bool {
        let get = |attribute| {
            let value = attributes.iter().find(|value| value.attribute == attribute)?;
            self.values.place(self.values.in_page(*value)?)
        };
        let target = get(Attribute::DataBid).or_else(|| get(Attribute::DataPid));
        let segment = get(Attribute::DataSid);
        let id = get(Attribute::Id);
        self.parts.add(target, segment);
        self.parts.places.extend(id.filter(|id| matches!(self.values.at(*id).get(..2), Some("B:" | "P:"))));
        id.is_some()
    }

    /// Takes a comment that begins or ends what stands in for a part.
    pub(in crate::html) fn boundary(&mut self, is_end: bool) {
        let at = NodeId(number(self.nodes.len()));
        let Some(parent) = self.current().node else { return };
        self.parts.boundaries.push(Boundary { at, parent, is_end });
    }

    /// Returns true if an element shows a PDF file, or another page, a video or a sound to people who look for it: it has a name
    /// or controls.
    pub(super) fn is_embedded(&self, tag: Tag, attributes: &[Value]) -> bool {
        let has = |attribute| attributes.iter().any(|value| value.attribute == attribute);
        let has_address = has(Attribute::Src) || has(Attribute::DataSrc);
        let is_frame = || self.name(attributes).is_some() || has(Attribute::AllowFullScreen);
        match tag {
            Tag::Video | Tag::Audio => has_address && self.media(attributes).is_some(),
            Tag::Iframe => {
                (has_address && is_frame() || self.is_pdf(attributes)) && !self.is_tiny(attributes)
            }
            Tag::Object | Tag::Embed => self.is_pdf(attributes) && !self.is_tiny(attributes),
            _ => false,
        }
    }

    fn is_pdf(&self, attributes: &[Value]) -> bool {
        attributes.iter().any(|value| {
            let bytes = self.values.bytes(*value);
            match value.attribute {
                Attribute::Src | Attribute::Data => pdf_name(bytes).is_some(),
                Attribute::Type => bytes.trim_ascii().eq_ignore_ascii_case(b"application/pdf"),
                _ => false,
            }
        })
    }

    /// Returns true if an object has nothing to show but what is in it.
    pub(super) fn is_plain_object(&self, attributes: &[Value]) -> bool {
        let shows = |value: &Value| match value.attribute {
            Attribute::Data | Attribute::Classid => !self.values.bytes(*value).trim_ascii().is_empty(),
            _ => false,
        };
        !attributes.iter().any(shows)
    }

    /// Returns true if the attributes of a frame leave it no room.
    fn is_tiny(&self, attributes: &[Value]) -> bool {
        let is_size = |value: &&Value| matches!(value.attribute, Attribute::Width | Attribute::Height);
        let is_small =
            |value: &Value| matches!(self.values.bytes(*value).trim_ascii(), b"0" | b"1" | b"0px" | b"1px");
        attributes.iter().filter(is_size).any(is_small)
    }

    /// A video or a sound that has a name or controls.
    pub(super) fn media(&self, attributes: &[Value]) -> Option<Media> {
        let name = self.name(attributes);
        let has_controls = attributes.iter().any(|value| value.attribute == Attribute::Controls);
        (has_controls || name.is_some()).then_some(Media { name })
    }

    /// The attribute that names an element, if it says something.
    fn name(&self, attributes: &[Value]) -> Option<Value> {
        let is_name = |attribute| matches!(attribute, Attribute::Title | Attribute::AriaLabel);
        let mut names = attributes.iter().filter(|value| is_name(value.attribute));
        names.find(|name| !self.values.bytes(**name).trim_ascii().is_empty()).copied()
    }

    /// Returns true if a control shows the state of a task, which nobody can change.
    pub(super) fn is_task(&self, attributes: &[Value]) -> bool {
        let get = |attribute| attributes.iter().find(|value| value.attribute == attribute);
        let kind = get(Attribute::Type).map(|value| self.values.bytes(*value)).unwrap_or_default();
        kind.trim_ascii().eq_ignore_ascii_case(b"checkbox") && get(Attribute::Disabled).is_some()
    }

    /// Returns true if a style sheet counts on all screens.
    pub(super) fn is_for_screens(&self, attributes: &[Value]) -> bool {
        let media = attributes.iter().find(|value| value.attribute == Attribute::Media);
        media.is_none_or(|media| {
            let media = self.values.bytes(*media).trim_ascii();
            [&b""[..], b"all", b"screen"].into_iter().any(|one| media.eq_ignore_ascii_case(one))
        })
    }

    /// Takes characters of a style sheet; true if they are a part of it. Nobody knows which elements those in templates are about.
    pub(in crate::html) fn style(&mut self, characters: &[u8], begins: bool) -> bool {
        let place = self.values.place(characters).filter(|_| !self.has_open(Tag::Template));
        let Some(place) = place else { return false };
        self.parts.has_imports |= memchr::memmem::find(characters, b"@import").is_some();
        self.parts.add_style(place, begins, self.style_counts);
        true
    }

    /// The kind of a script.
    pub(super) fn script(&self, attributes: &[Value]) -> Script {
        let kind = attributes.iter().find(|value| value.attribute == Attribute::Type);
        let kind = kind.map(|kind| self.values.bytes(*kind)).unwrap_or_default();
        let essence = kind.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        match essence.to_ascii_lowercase().as_slice() {
            b"application/ld+json" => Script::JsonLd,
            b"" | b"module" => Script::Program,
            b"math/tex" => Script::Tex,
            other if other.ends_with(b"javascript") || other.ends_with(b"ecmascript") => Script::Program,
            _ => Script::Other,
        }
    }
}

/// A video or a sound for people.
#[derive(Clone, Copy, Debug)]
pub(super) struct Media {
    pub(super) name: Option<Value>,
}

/// The kinds of scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// Data about the page.
    JsonLd,
    /// A browser runs it.
    Program,
    /// A formula, which a program shows.
    Tex,
    /// Data for other scripts.
    Other,
}
