//! The responses that a gate sends, and the changes that it makes to those of others.

pub(crate) mod document;
pub(crate) mod plan;
pub(crate) mod reply;
pub(crate) mod usage;
