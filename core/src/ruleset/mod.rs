//! The ruleset: configuration, feeds and policies, compiled.

pub(crate) mod compile;
pub(crate) mod data;
pub(crate) mod exempt;
pub(crate) mod info;
mod site_usage;
pub(crate) mod sites;
pub(crate) mod stored;
pub(crate) mod usage;
