//! JSON with the position of every value.

pub(crate) mod slices;
pub(crate) mod typed;
pub(crate) mod units;
