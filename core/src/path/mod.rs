//! Paths of requests: patterns that match them, sets of patterns, rules, and the spellings of one path.

mod normal_form;
pub(crate) mod page;
pub(crate) mod pattern;
pub(crate) mod request;
pub(crate) mod rules;
pub(crate) mod set;
pub(crate) mod spelling;
