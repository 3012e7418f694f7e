//! The decision about one request.

pub(crate) mod decision;
mod denial_line;
pub(crate) mod facts;
pub(crate) mod judge;
mod lazy_target;
pub(crate) mod policies;
mod public_resource;
pub(crate) mod purpose;
mod ruling;
pub(crate) mod step;
#[cfg(test)]
mod tests;
pub(crate) mod upstream_header;
