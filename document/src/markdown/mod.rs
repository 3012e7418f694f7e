//! From the content of a page to markdown, and to the fields of a document, in one walk.

mod blocks;
mod code;
mod escape;
mod line;
mod table;
mod walk;

use serde::Serialize;

pub(crate) use self::table::is_data;
pub(crate) use self::walk::{CAPTION_DISTANCE, write};

/// A heading of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Heading {
    /// From 1 to 6.
    pub level: u8,
    /// The text, without markup.
    pub text: Box<str>,
    /// The page's name for the place of the heading, for a fragment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Box<str>>,
}

/// A link of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The target.
    pub url: Box<str>,
    /// Its text, without markup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Box<str>>,
    /// True if it leads to the host of the page.
    pub internal: bool,
    /// The relation of the page to the target, such as `nofollow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rel: Option<Box<str>>,
}

/// An image of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Image {
    /// The address.
    pub url: Box<str>,
    /// The text that describes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alt: Option<Box<str>>,
}

/// The result of one walk through the content of a page.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) markdown: String,
    pub(crate) headings: Vec<Heading>,
    pub(crate) links: Vec<Link>,
    pub(crate) images: Vec<Image>,
    /// There was more than the limit permits.
    pub(crate) is_cut: bool,
}
