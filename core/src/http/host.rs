//! Host names: the patterns in a configuration or policy, and the `Host` of a request.
//!
//! A pattern is a host name, or `*.` and a host name for every name below it (but not for that name itself). Case, a
//! port and a trailing dot in the request don't matter, and a name in Unicode (U-label) equals its ASCII form (A-label,
//! RFC 5890). The mapping (UTS 46) is done when a pattern is compiled; a request is compared with both forms, without
//! allocation.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::net::Ipv6Addr;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use memchr::memchr;

/// The reason why a text is not a host pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostError {
    /// Nothing, or only dots.
    Empty,
    /// A port was given; patterns hold for every port.
    Port,
    /// It has a scheme or a path.
    Url,
    /// It has characters of a regular expression.
    Expression,
    /// It begins with a dot, as nginx writes a name and all names below it.
    Dot,
    /// A `*` that is not the whole first label.
    Wildcard,
    /// Not a valid host name, or not in any form that IDNA knows.
    Name,
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the host is empty",
            Self::Port => "a host is written without a port; it covers all ports",
            Self::Url => "a host is written without scheme, port and path",
            Self::Expression => "a regular expression; use names, and `*.` for all names below one",
            Self::Dot => "a host does not begin with a dot; use `example.com`, and `*.example.com` for all names below it",
            Self::Wildcard => "`*` must be the whole first label, as in `*.example.com`",
            Self::Name => "not a valid host name",
        })
    }
}

impl core::error::Error for HostError {}

/// A host name, or all names below one.
///
/// ```
/// use crawlpike_core::internals::{HostPattern, RequestHost};
///
/// let pattern = HostPattern::new("*.Żółw.example")?;
/// assert!(pattern.matches(RequestHost::new(b"www.xn--w-uga1v8h.example:8443")));
/// assert!(pattern.matches(RequestHost::new("www.żółw.example.".as_bytes())));
/// assert!(!pattern.matches(RequestHost::new("żółw.example".as_bytes())));
/// # Ok::<(), crawlpike_core::internals::HostError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPattern {
    below: bool,
    /// In A-labels and lower case.
    ascii: Box<str>,
    /// In U-labels, where that differs.
    unicode: Option<Box<str>>,
}

impl HostPattern {
    /// Compiles `example.com`, `*.example.com`, `żółw.example`, `192.0.2.1` or `[2001:db8::1]`.
    ///
    /// # Errors
    ///
    /// The error in the text.
    pub fn new(text: &str) -> Result<Self, HostError> {
        let (below, name) = text.strip_prefix("*.").map_or((false, text), |name| (true, name));
        let name = name.strip_suffix('.').unwrap_or(name);
        if name.is_empty() {
            return Err(HostError::Empty);
        }
        if let Some(address) = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            let address: Ipv6Addr = address.parse().map_err(|_| HostError::Name)?;
            return if below {
                Err(HostError::Wildcard)
            } else {
                Ok(Self::literal(alloc::format!("[{address}]")))
            };
        }
        if name.contains('/') {
            return Err(HostError::Url);
        }
        if name.contains(['^', '$', '~', '(', ')', '|', '\\', '+', '?', '{', '}']) {
            return Err(HostError::Expression);
        }
        if name.contains('*') {
            return Err(HostError::Wildcard);
        }
        if name.starts_with('.') {
            return Err(HostError::Dot);
        }
        if name.contains(':') {
            return Err(HostError::Port);
        }
        let known =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') || !byte.is_ascii();
        if !name.bytes().all(known) {
            return Err(HostError::Name);
        }
        let uts46 = Uts46::new();
        let ascii = uts46
            .to_ascii(name.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::Verify)
            .map_err(|_| HostError::Name)?;
        let (unicode, _) = uts46.to_unicode(ascii.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow);
        let unicode = (unicode != ascii).then(|| unicode.into());
        Ok(Self { below, ascii: ascii.into(), unicode })
    }

    /// As [`Self::new`], for a text that may end with a port, which is ignored; and whether it does.
    ///
    /// # Errors
    ///
    /// The error in the text.
    pub fn with_any_port(text: &str) -> Result<(Self, bool), HostError> {
        let is_host = |host: &str| host.ends_with(']') || !host.contains(':');
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        match text.rsplit_once(':').filter(|(host, port)| is_host(host) && is_port(port)) {
            Some((host, _)) => Ok((Self::new(host)?, true)),
            None => Ok((Self::new(text)?, false)),
        }
    }

    fn literal(text: String) -> Self {
        Self { below: false, ascii: text.into(), unicode: None }
    }

    /// Returns true if this is `*.` and a name.
    pub fn is_wildcard(&self) -> bool {
        self.below
    }

    /// Returns true if the pattern holds for this host.
    pub fn matches(&self, host: RequestHost<'_>) -> bool {
        let is_this = |name: RequestHost<'_>| self.forms().any(|form| name.is(form));
        if self.below { host.above().any(is_this) } else { is_this(host) }
    }

    /// The name in A-labels, and in U-labels where that differs.
    pub(super) fn forms(&self) -> impl Iterator<Item = &str> {
        core::iter::once(&*self.ascii).chain(self.unicode.as_deref())
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.below { "*." } else { "" })?;
        f.write_str(&self.ascii)
    }
}

/// The host of a request, as the `Host` header or `:authority` names it.
#[derive(Clone, Copy, Debug)]
pub struct RequestHost<'a> {
    /// Without port and trailing dot; empty when it can be no host.
    name: &'a [u8],
}

impl<'a> RequestHost<'a> {
    /// A name has at most 253 characters in A-labels (RFC 1035, 2.3.4); in UTF-8 it may take somewhat more octets.
    const LONGEST: usize = 1024;

    /// Takes the value as received.
    pub fn new(value: &'a [u8]) -> Self {
        // Text after the first colon is a port, whatever it looks like: nginx and others read it so.
        let end = match value.first() {
            Some(b'[') => memchr(b']', value).map(|bracket| bracket + 1),
            _ => memchr(b':', value),
        };
        let name = end.and_then(|end| value.get(..end)).unwrap_or(value);
        let name = name.strip_suffix(b".").unwrap_or(name);
        Self { name: if name.len() > Self::LONGEST { &[] } else { name } }
    }

    /// Returns true if this is a name, which is in lower case.
    pub(super) fn is(self, name: &str) -> bool {
        // Nearly all clients send lower case, which is compared faster.
        self.name == name.as_bytes()
            || self.name.eq_ignore_ascii_case(name.as_bytes())
            || !self.name.is_ascii()
                && core::str::from_utf8(self.name)
                    .is_ok_and(|host| host.chars().flat_map(char::to_lowercase).eq(name.chars()))
    }

    /// The names above this one, the longest first.
    pub(super) fn above(self) -> impl Iterator<Item = Self> {
        let dots = self.name.iter().enumerate().skip(1).filter(|(_, byte)| **byte == b'.');
        dots.filter_map(move |(dot, _)| Some(Self { name: self.name.get(dot + 1..)? }))
    }

    /// As it came, without port and trailing dot.
    pub(super) fn as_bytes(self) -> &'a [u8] {
        self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn matches(pattern: &str, host: &str) -> bool {
        HostPattern::new(pattern).unwrap().matches(RequestHost::new(host.as_bytes()))
    }

    #[test]
    fn auto_12_ports_trailing_dots_and_case_do_not_matter() {
        for host in [
            "example.com",
            "EXAMPLE.com",
            "example.com:80",
            "example.com.",
            "example.com.:8080",
            "example.com:",
            "example.com:80:90",
            "example.com:80]",
        ] {
            assert!(matches("Example.com", host), "{host}");
            assert!(matches("example.com.", host), "{host}");
            assert!(!matches("*.example.com", host), "{host}");
        }
        for host in [
            "",
            ".",
            ":80",
            "[example.com",
            "[]example.com",
            "[example.com]:80",
            "example.co",
            "xexample.com",
            "a.example.com",
            "example.com..",
        ] {
            assert!(!matches("example.com", host), "{host}");
        }
        assert!(matches("192.0.2.1", "192.0.2.1:80"));
        assert!(matches("[2001:DB8::0:1]", "[2001:db8::1]:443"));
        assert!(matches("[2001:db8::1]", "[2001:db8::1]"));
        assert!(!matches("[2001:db8::1]", "[2001:db8::1"));
    }

    #[test]
    fn auto_12_a_wildcard_holds_below_a_name() {
        for host in ["a.example.com", "A.b.EXAMPLE.com:80", "x_y.example.com."] {
            assert!(matches("*.example.com", host), "{host}");
        }
        for host in [".example.com", "aexample.com", "a.example.com.evil"] {
            assert!(!matches("*.example.com", host), "{host}");
        }
        assert!(!matches("example.com", &"a.".repeat(1000)));
    }

    #[test]
    fn auto_12_idna_forms_are_equal() {
        // AUTO-12: A-labels and U-labels, in either place and any case; the sharp s stays one (UTS 46,
        // nontransitional).
        for (pattern, hosts) in [
            ("bücher.example", ["xn--bcher-kva.example", "BÜCHER.example", "XN--BCHER-KVA.example"]),
            ("xn--bcher-kva.example", ["bücher.example", "Bücher.Example:80", "xn--bcher-kva.example."]),
            ("faß.example", ["xn--fa-hia.example", "faß.example", "FAß.example"]),
            ("ＥＸＡＭＰＬＥ。com", ["example.com", "EXAMPLE.COM", "example.com."]),
        ] {
            for host in hosts {
                assert!(matches(pattern, host), "{pattern} {host}");
            }
        }
        assert!(!matches("faß.example", "fass.example"));
        assert_eq!(HostPattern::new("*.BÜCHER.example").unwrap().to_string(), "*.xn--bcher-kva.example");
        assert!(!HostPattern::new("bücher.example").unwrap().matches(RequestHost::new(b"b\xFCcher.example")));
    }

    #[test]
    fn auto_12_a_port_in_a_pattern_can_be_ignored() {
        for (text, host, has_port) in [
            ("example.com:8080", "example.com", true),
            ("*.example.com:", "*.example.com", true),
            ("[::1]:443", "[::1]", true),
            ("[::1]", "[::1]", false),
            ("example.com", "example.com", false),
        ] {
            assert_eq!(HostPattern::with_any_port(text), Ok((HostPattern::new(host).unwrap(), has_port)));
        }
        for (text, error) in [
            (":80", HostError::Empty),
            ("::1", HostError::Port),
            ("a:b", HostError::Port),
            ("a:1:2", HostError::Port),
            ("https://example.com:80", HostError::Url),
        ] {
            assert_eq!(HostPattern::with_any_port(text), Err(error), "{text}");
        }
    }

    #[test]
    fn auto_12_what_is_no_host_says_why() {
        for (text, error) in [
            ("", HostError::Empty),
            (".", HostError::Empty),
            ("*.", HostError::Empty),
            ("*", HostError::Wildcard),
            ("a.*.com", HostError::Wildcard),
            ("*example.com", HostError::Wildcard),
            ("*.[::1]", HostError::Wildcard),
            ("example.com:80", HostError::Port),
            ("::1", HostError::Port),
            ("https://example.com", HostError::Url),
            ("example.com/a", HostError::Url),
            (".example.com", HostError::Dot),
            (r"^www\.example\.com$", HostError::Expression),
            ("~example", HostError::Expression),
            ("exa mple.com", HostError::Name),
            ("a..b", HostError::Name),
            ("xn--a-ä.example", HostError::Name),
            ("[::g]", HostError::Name),
        ] {
            assert_eq!(HostPattern::new(text), Err(error), "{text:?}");
        }
        assert_eq!(HostPattern::new(&"a".repeat(64)), Err(HostError::Name));
    }
}
