//! One line of a log: which format it has, and which request it is about.

mod builder;
mod envoy;
mod escape;
mod format;
mod json;
pub(crate) mod moment;
mod names;
mod nginx;
pub(crate) mod record;
mod template;

pub use builder::Fault;
pub use format::LineReader;
pub use record::Record;

#[cfg(test)]
mod tests;
