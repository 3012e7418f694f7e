//! Sources as bytes: their encoding, positions in them, and what there is to report about them.

pub(crate) mod by_cause;
pub(crate) mod byte_order_mark;
pub(crate) mod cause;
pub(crate) mod diagnostic;
pub(crate) mod lines;
pub(crate) mod pages;
pub(crate) mod parts;
pub(crate) mod position;
pub(crate) mod quoted;
pub(crate) mod suggestion;
pub(crate) mod text;
