//! What a gate sends and what it does with a response.

pub(crate) mod denial;
pub(crate) mod document;
pub(crate) mod plan;
pub(crate) mod reply;
