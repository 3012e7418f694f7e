//! The identifiers of key directories: their URLs, in a form in which equal ones are equal octet for octet.

use alloc::format;
use alloc::string::String;
use core::ops::Deref;

/// The path at which an origin publishes its directory.
pub(crate) const WELL_KNOWN: &str = "/.well-known/http-message-signatures-directory";

/// The most bytes of an identifier.
pub(crate) const LONGEST: usize = 512;

/// The form in which a client names the place of its keys (parameter `type` of a member of Signature-Agent).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// No type: an origin, whose directory is at the well-known path, or the URL of a set of keys.
    Any,
    /// An origin.
    Origin,
    /// The URL of a set of keys.
    KeySet,
}

/// The normalised URL of a directory (RFC 3986, 6.2.2 and 6.2.3), without query and fragment.
#[derive(Clone, Copy)]
pub(crate) struct Identifier {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Deref for Identifier {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl Identifier {
    /// The identifier of what a URL refers to; `None` where the URL is not `https` with a host, or is too long.
    pub(crate) fn of(url: &[u8], reference: Reference) -> Option<Self> {
        const SCHEME: &[u8] = b"https://";
        let (scheme, rest) = url.split_at_checked(SCHEME.len())?;
        if !scheme.eq_ignore_ascii_case(SCHEME) || !url.is_ascii() {
            return None;
        }
        let end_of_authority = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#'));
        let (authority, rest) = rest.split_at_checked(end_of_authority.unwrap_or(rest.len()))?;
        let mut identifier = Self { bytes: [0; LONGEST], length: 0 };
        identifier.append(SCHEME)?;
        identifier.append_authority(authority)?;
        let path = rest.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default();
        let is_origin = matches!(rest, b"" | b"/");
        match reference {
            Reference::Any | Reference::Origin if is_origin => identifier.append(WELL_KNOWN.as_bytes())?,
            Reference::Origin => return None,
            Reference::Any | Reference::KeySet => identifier.append_path(path)?,
        }
        Some(identifier)
    }

    fn append(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.length.checked_add(bytes.len())?;
        self.bytes.get_mut(self.length..end)?.copy_from_slice(bytes);
        self.length = end;
        Some(())
    }

    /// The host in lower case, and the port unless it is that of the scheme.
    fn append_authority(&mut self, authority: &[u8]) -> Option<()> {
        let colon = authority.iter().rposition(|byte| *byte == b':');
        // The colons of an IPv6 address are in brackets.
        let colon = colon.filter(|colon| !authority.get(*colon..).unwrap_or_default().contains(&b']'));
        let (host, port) = authority.split_at_checked(colon.unwrap_or(authority.len()))?;
        if !crate::http::authority::is_host(authority) {
            return None;
        }
        for byte in host {
            self.append(&[byte.to_ascii_lowercase()])?;
        }
        match port.strip_prefix(b":").unwrap_or_default() {
            b"" | b"443" => Some(()),
            _ => self.append(port),
        }
    }

    /// The path, with its percent-encodings in one spelling and without dot segments.
    fn append_path(&mut self, path: &[u8]) -> Option<()> {
        let start = self.length;
        let mut segments = path.strip_prefix(b"/").unwrap_or(path).split(|byte| *byte == b'/').peekable();
        while let Some(segment) = segments.next() {
            let before = self.length;
            self.append(b"/")?;
            self.append_segment(segment)?;
            match self.bytes.get(before..self.length)? {
                b"/." => self.length = before,
                b"/.." => {
                    let parent = self.bytes.get(start..before)?.iter().rposition(|byte| *byte == b'/');
                    self.length = start + parent.unwrap_or_default();
                }
                _ => continue,
            }
            // At the end, such a segment leaves its slash.
            if segments.peek().is_none() {
                self.append(b"/")?;
            }
        }
        Some(())
    }

    fn append_segment(&mut self, segment: &[u8]) -> Option<()> {
        let mut rest = segment;
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            let encoded = match (first, after) {
                (b'%', [high, low, after @ ..]) => {
                    rest = after;
                    Some((hex(*high)? << 4) | hex(*low)?)
                }
                (b'%', _) => return None,
                _ => None,
            };
            match encoded {
                Some(byte) if is_unreserved(byte) => self.append(&[byte])?,
                Some(byte) => {
                    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
                    let digit = |value: u8| DIGITS.get(usize::from(value & 15)).copied();
                    self.append(&[b'%', digit(byte >> 4)?, digit(byte)?])?;
                }
                None if matches!(first, b'!'..=b'~') => self.append(&[*first])?,
                None => return None,
            }
        }
        Some(())
    }
}

/// The place from which a directory is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// As the configuration has it, with its query; of an origin, with the well-known path.
    pub(crate) url: String,
    /// True if it is the well-known place of its origin, in whatever spelling.
    pub(crate) is_well_known: bool,
}

impl Location {
    /// The place of the directory that a URL refers to; `None` if the URL has no identifier.
    pub(crate) fn of(url: &str) -> Option<Self> {
        let identifier = Identifier::of(url.as_bytes(), Reference::Any)?;
        let (_, after_scheme) = url.split_once("://")?;
        let rest =
            after_scheme.find(['/', '?', '#']).and_then(|end| after_scheme.get(end..)).unwrap_or_default();
        let origin = url.strip_suffix(rest)?;
        let well_known = Identifier::of(origin.as_bytes(), Reference::Origin)?;
        Some(Self {
            url: if matches!(rest, "" | "/") { format!("{origin}{WELL_KNOWN}") } else { url.into() },
            is_well_known: *identifier == *well_known,
        })
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, reference: Reference) -> Option<String> {
        Identifier::of(url.as_bytes(), reference).map(|id| String::from_utf8(id.to_vec()).unwrap())
    }

    /// SIG-5.
    #[test]
    fn sig_5_an_origin_stands_for_its_directory() {
        let expected = format!("https://signature-agent.test{WELL_KNOWN}");
        for url in [
            "https://signature-agent.test",
            "https://signature-agent.test/",
            "HTTPS://Signature-Agent.TEST:443",
            "https://signature-agent.test:",
            "https://signature-agent.test/.well-known/http-message-signatures-directory",
            "https://signature-agent.test/.well-known/http-message-signatures-directory?x=1#y",
            "https://signature-agent.test/a/../%2ewell-known/./http%2Dmessage-signatures-directory",
        ] {
            assert_eq!(of(url, Reference::Any).as_deref(), Some(&*expected), "{url}");
        }
        let with_path = format!("https://signature-agent.test{WELL_KNOWN}");
        assert_eq!(of("https://signature-agent.test", Reference::Origin), Some(expected));
        assert_eq!(of(&with_path, Reference::Origin), None, "a directory is named by its origin");
        assert_eq!(of("https://signature-agent.test?x", Reference::Origin), None);
    }

    /// SIG-5.
    #[test]
    fn sig_5_other_urls_are_normalised() {
        for (url, expected) in [
            ("https://a.test/jwks.json?v=2", "https://a.test/jwks.json"),
            ("https://a.test:8443/k", "https://a.test:8443/k"),
            ("https://[2001:DB8::1]:443/k", "https://[2001:db8::1]/k"),
            ("https://[2001:DB8::1]:8443/k", "https://[2001:db8::1]:8443/k"),
            ("https://a.test/%7ejo/%c3%a9%2f", "https://a.test/~jo/%C3%A9%2F"),
            ("https://a.test/b/..", "https://a.test/"),
            ("https://a.test/b/c/.", "https://a.test/b/c/"),
            ("https://a.test/b/../../c", "https://a.test/c"),
            ("https://a.test//", "https://a.test//"),
            ("https://a.test?b", "https://a.test/"),
        ] {
            assert_eq!(of(url, Reference::Any).as_deref(), Some(expected), "{url}");
        }
    }

    /// SIG-5, SIG-7.
    #[test]
    fn sig_5_a_directory_is_fetched_as_it_is_written() {
        let well_known = format!("https://A.test:8443{WELL_KNOWN}");
        for (url, expected, is_well_known) in [
            ("https://A.test:8443", &*well_known, true),
            ("https://A.test:8443/", &well_known, true),
            (&format!("{well_known}?v=2"), &format!("{well_known}?v=2"), true),
            ("https://a.test/keys?v=2", "https://a.test/keys?v=2", false),
            ("https://a.test?v=2", "https://a.test?v=2", false),
        ] {
            assert_eq!(Location::of(url), Some(Location { url: expected.into(), is_well_known }), "{url}");
        }
        assert_eq!(Location::of("http://a.test/"), None);
    }

    /// SIG-1.
    #[test]
    fn sig_1_only_https_is_an_identifier() {
        let long = format!("https://a.test/{}", "a".repeat(LONGEST));
        for url in [
            "http://a.test/",
            "https:/a.test",
            "https://",
            "https:///path",
            "https://user@a.test/",
            "https://a.test:99999999/",
            "https://a b.test/",
            "https://a.test/%zz",
            "https://a.test/%4",
            "https://a.test/\u{7f}",
            "https://ż.test/",
            "ftp://a.test/",
            "a.test",
            "",
            &long,
        ] {
            assert_eq!(of(url, Reference::Any), None, "{url}");
        }
    }
}
