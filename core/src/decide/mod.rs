//! The decision about one request.

mod asked_once;
pub(crate) mod decision;
mod denial_line;
pub(crate) mod facts;
pub(crate) mod header_names;
pub(crate) mod judge;
mod name_lookup;
mod page;
#[cfg(test)]
mod passing_tests;
pub(crate) mod policies;
mod public_resource;
pub(crate) mod purpose;
pub(crate) mod recent_headers;
mod ruling;
#[cfg(test)]
mod shown_tests;
pub(crate) mod step;
#[cfg(test)]
mod tests;
pub(crate) mod upstream_header;
pub(crate) mod usage;
