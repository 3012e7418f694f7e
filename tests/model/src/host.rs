//! Hosts: `sites[].hosts` in docs/configuration.md; autoctl-core-01, 3.4; "Invalid hosts" in docs/identity.md. Names in Unicode are compared in
//! their ASCII form, which the worlds of the comparison write themselves.

use std::net::{IpAddr, Ipv6Addr};

/// An exact name, `*.` and a name, or `*`.
#[derive(Clone, Debug)]
pub(crate) struct HostPattern(String);

/// A host without its port and the dot at its end, in lower case.
pub(crate) fn host_name(host: &str) -> String {
    let host = host.to_ascii_lowercase();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => name,
        _ => &host,
    };
    name.strip_suffix('.').unwrap_or(name).to_owned()
}

impl HostPattern {
    /// `None` if it is none.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let name = host_name(text);
        let rest = name.strip_prefix("*.").unwrap_or(&name);
        (rest == "*" || is_host(rest)).then_some(Self(name))
    }

    /// Returns true if it names this host.
    pub(crate) fn is_exactly(&self, host: &str) -> bool {
        self.0 == host
    }

    /// Returns true if it names the host, or one of its parents with `*.`.
    pub(crate) fn matches(&self, host: &str) -> bool {
        let parent = self.0.strip_prefix('*');
        self.0 == host
            || parent.is_some_and(|parent| host.len() > parent.len() && host.ends_with(parent))
            || self.0 == "*"
    }

    /// "exact beats wildcard, the longer wildcard beats the shorter".
    pub(crate) fn rank(&self, host: &str) -> Option<(bool, usize)> {
        self.matches(host).then(|| (self.is_exactly(host), self.0.len()))
    }
}

/// "Letters, digits, `-` and `_`, in labels separated by single dots; a dot at the end and a port are allowed." An address, too.
pub(crate) fn is_host(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, port),
        _ => (host, ""),
    };
    if !port.bytes().all(|octet| octet.is_ascii_digit()) {
        return false;
    }
    if let Some(address) = name.strip_prefix('[') {
        return address.strip_suffix(']').is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|octet| octet.is_ascii_alphanumeric() || octet == b'-' || octet == b'_')
    };
    name.parse::<IpAddr>().is_ok() || name.split('.').all(is_label)
}
