//! The domains that have the names of an agent's addresses.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use twox_hash::XxHash3_64;

use crate::http::authority::is_host_name;
use crate::sort::sort_and_dedup;

/// Domains in lower case, each with all names below it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Domains {
    sorted: Box<[Box<str>]>,
    hash: u64,
}

impl Domains {
    /// Domains from [`domain`].
    pub(crate) fn new(mut domains: Vec<Box<str>>) -> Self {
        sort_and_dedup(&mut domains);
        // No domain has a blank.
        let hash = XxHash3_64::oneshot(domains.join(" ").as_bytes());
        Self { sorted: domains.into(), hash }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.sorted.iter().map(|domain| &**domain)
    }

    /// Equal for equal domains, in whatever ruleset.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns true if a name in lower case is one of the domains, or below one.
    pub(crate) fn contain(&self, name: &str) -> bool {
        self.iter().any(|domain| {
            name.strip_suffix(domain).is_some_and(|below| below.is_empty() || below.ends_with('.'))
        })
    }
}

/// A domain as it is compared: in lower case, without a dot at the end.
///
/// # Errors
///
/// The reason why the text cannot be such a domain, for the person who wrote it.
pub(crate) fn domain(text: &str) -> Result<Box<str>, &'static str> {
    if text.starts_with("*.") || text.starts_with('.') {
        return Err("write it without the leading `*.` or `.`: all names below a domain count");
    }
    if !text.is_ascii() {
        return Err("write it in ASCII, as DNS has it: labels in Unicode start with `xn--` there");
    }
    if !is_host_name(text.as_bytes()) {
        return Err("it is not a domain name");
    }
    let mut domain: String = text.strip_suffix('.').unwrap_or(text).to_owned();
    domain.make_ascii_lowercase();
    match domain.contains('.') {
        true => Ok(domain.into()),
        false => Err("it is a top-level domain, in which anybody can have a name"),
    }
}
