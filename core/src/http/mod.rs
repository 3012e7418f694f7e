//! The parts of HTTP that decisions and replies need (RFC 9110), without any policy.

pub(crate) mod accept;
pub(crate) mod authority;
pub(crate) mod date;
pub(crate) mod domains;
pub(crate) mod header_name;
pub(crate) mod host;
pub(crate) mod host_index;
pub(crate) mod representation;
pub(crate) mod structured;
pub(crate) mod token;
pub(crate) mod vary;
