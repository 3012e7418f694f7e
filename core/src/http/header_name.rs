//! Names of headers that we send or edit.

/// The name of a header, in the spelling that is sent and in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderName {
    /// `Robots-Tag`.
    pub sent: &'static str,
    /// `robots-tag`.
    pub lowercase: &'static str,
}

impl HeaderName {
    /// Returns true if a header has this name, in whatever case.
    #[inline]
    pub(crate) fn is(self, name: &[u8]) -> bool {
        name == self.sent.as_bytes() || name.eq_ignore_ascii_case(self.lowercase.as_bytes())
    }
}
