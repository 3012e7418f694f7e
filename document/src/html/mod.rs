//! HTML: bytes to a flat tree, within limits and in linear time.

pub(crate) mod attribute;
mod build;
mod compose;
mod input;
mod noscript;
pub(crate) mod notes;
pub(crate) mod openable;
mod parts;
mod reader;
mod roles;
mod rules;
#[cfg(test)]
mod standard;
mod tabs;
pub(crate) mod tag;
mod token;
pub(crate) mod tree;
mod values;
pub(crate) mod view;

pub(crate) use self::attribute::Attribute;
pub(crate) use self::reader::parse;
pub(crate) use self::tag::Tag;
pub(crate) use self::tree::{Node, NodeId, Tree};
