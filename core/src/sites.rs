//! Which site a host belongs to.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

use crate::config::Treatment;

/// What a site does with each class of identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Treatments {
    pub(crate) spoofed: Treatment,
    pub(crate) unverified: Treatment,
    pub(crate) undeclared: Treatment,
}

impl Treatments {
    /// For a host that no site names.
    pub(crate) const DEFAULT: Self =
        Self { spoofed: Treatment::Deny, unverified: Treatment::Policy, undeclared: Treatment::Allow };
}

/// A site's compiled policies.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) name: Box<str>,
    pub(crate) treatments: Treatments,
}

/// What made a site that of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteMatch<'r> {
    /// The site names the host.
    Exact(&'r str),
    /// The site has a wildcard, of which this is what follows `*.`.
    Wildcard(&'r str),
    /// No site names the host, and this one has no hosts.
    Default,
}

impl fmt::Display for SiteMatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(host) => write!(f, "it names the host {host}"),
            Self::Wildcard(suffix) => write!(f, "it names the hosts *.{suffix}"),
            Self::Default => f.write_str("it is the default, and no other site names the host"),
        }
    }
}

/// The sites by host: exact names, wildcards, and the default.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostIndex {
    /// Lower-case names, sorted.
    exact: Vec<(Box<str>, u16)>,
    /// What follows `*.`, lower-case, sorted.
    wildcard: Vec<(Box<str>, u16)>,
    default: Option<u16>,
}

/// A host pattern that is already taken, by this site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken(pub(crate) u16);

impl HostIndex {
    /// Gives the default to a site.
    pub(crate) fn insert_default(&mut self, site: u16) -> Result<(), Taken> {
        match self.default {
            Some(other) => Err(Taken(other)),
            None => {
                self.default = Some(site);
                Ok(())
            }
        }
    }

    /// Gives a lower-case name, or what follows `*.`, to a site.
    pub(crate) fn insert(&mut self, pattern: &str, site: u16) -> Result<(), Taken> {
        let (list, name) = match pattern.strip_prefix("*.") {
            Some(suffix) => (&mut self.wildcard, suffix),
            None => (&mut self.exact, pattern),
        };
        match list.binary_search_by(|(other, _)| other.as_ref().cmp(name)) {
            Ok(at) => Err(Taken(list.get(at).map_or(site, |(_, other)| *other))),
            Err(at) => {
                list.insert(at, (name.into(), site));
                Ok(())
            }
        }
    }

    /// Whether the host of a request makes a difference.
    pub(crate) fn is_trivial(&self) -> bool {
        self.exact.is_empty() && self.wildcard.is_empty()
    }

    /// The default site.
    pub(crate) fn default_site(&self) -> Option<(u16, SiteMatch<'_>)> {
        self.default.map(|site| (site, SiteMatch::Default))
    }

    /// The site of a host as it came in a request: any case, with or without port and trailing dot.
    pub(crate) fn find(&self, host: &[u8]) -> Option<(u16, SiteMatch<'_>)> {
        let host = without_port(host);
        let host = host.strip_suffix(b".").unwrap_or(host);
        let dots = host.iter().enumerate().filter(|(_, byte)| **byte == b'.');
        let exact = find_in(&self.exact, host).map(|(name, site)| (site, SiteMatch::Exact(name)));
        exact
            // From left to right: the longest suffix first.
            .or_else(|| {
                dots.filter_map(|(dot, _)| host.get(dot + 1..))
                    .find_map(|suffix| find_in(&self.wildcard, suffix))
                    .map(|(suffix, site)| (site, SiteMatch::Wildcard(suffix)))
            })
            .or_else(|| self.default_site())
    }
}

fn find_in<'h>(list: &'h [(Box<str>, u16)], name: &[u8]) -> Option<(&'h str, u16)> {
    let at = list.binary_search_by(|(other, _)| compare_lowercased(other.as_bytes(), name)).ok()?;
    list.get(at).map(|(name, site)| (&**name, *site))
}

/// Compares a lower-case name with one in any case.
fn compare_lowercased(lower: &[u8], name: &[u8]) -> Ordering {
    lower.iter().copied().cmp(name.iter().map(u8::to_ascii_lowercase))
}

fn without_port(host: &[u8]) -> &[u8] {
    // The colons of an IPv6 literal stand inside its brackets.
    match host.iter().rposition(|byte| matches!(byte, b':' | b']')) {
        Some(at) if host.get(at) == Some(&b':') => host.get(..at).unwrap_or(host),
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> HostIndex {
        let mut index = HostIndex::default();
        for (site, pattern) in
            ["example.com", "*.example.com", "*.deep.example.com", "[2001:db8::1]"].iter().enumerate()
        {
            index.insert(pattern, u16::try_from(site).unwrap()).unwrap();
        }
        index
    }

    #[test]
    fn exact_beats_wildcard_and_the_longer_wildcard_beats_the_shorter() {
        let index = index();
        for (host, site) in [
            ("example.com", Some(0)),
            ("EXAMPLE.com:8080", Some(0)),
            ("example.com.", Some(0)),
            ("example.com.:443", Some(0)),
            ("www.example.com", Some(1)),
            ("a.b.example.com", Some(1)),
            ("deep.example.com", Some(1)),
            ("a.deep.example.com", Some(2)),
            ("[2001:db8::1]", Some(3)),
            ("[2001:db8::1]:80", Some(3)),
            ("notexample.com", None),
            ("com", None),
            ("", None),
            (".", None),
            (":80", None),
        ] {
            assert_eq!(index.find(host.as_bytes()).map(|(site, _)| site), site, "{host}");
        }
    }

    #[test]
    fn what_made_a_site_that_of_the_host_is_known() {
        let index = index();
        assert_eq!(index.find(b"EXAMPLE.com:80"), Some((0, SiteMatch::Exact("example.com"))));
        assert_eq!(index.find(b"a.b.example.com"), Some((1, SiteMatch::Wildcard("example.com"))));
    }

    #[test]
    fn the_default_site_takes_what_no_other_names() {
        let mut index = index();
        index.insert_default(9).unwrap();
        assert_eq!(index.find(b"elsewhere.test"), Some((9, SiteMatch::Default)));
        assert_eq!(index.insert_default(8), Err(Taken(9)));
        assert_eq!(index.insert("*.example.com", 8), Err(Taken(1)));
    }
}
