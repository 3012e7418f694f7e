//! The findings of one look at the names of a request's headers.

use crate::decide::upstream_header::{CONNECTION, UPSTREAM_HEADER, is_forgery};
use crate::identity::SIGNATURE;

/// The findings of one look at the names of a request's headers: hardly any request needs another look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderNames {
    /// True if one can keep [`UPSTREAM_HEADER`] from saying what is known: [a forgery](is_forgery), or a `Connection`
    /// that may [name it](crate::connection_without_ours).
    pub may_hide_ours: bool,
    /// True if one has a signature.
    pub are_signed: bool,
}

impl HeaderNames {
    /// Looks at one name, in whatever case.
    #[inline]
    pub fn see(&mut self, name: &[u8]) {
        // The length differs for nearly all others.
        match name.len() {
            Self::OURS => self.may_hide_ours |= is_forgery(name),
            Self::CONNECTION => self.may_hide_ours |= name.eq_ignore_ascii_case(CONNECTION.as_bytes()),
            Self::SIGNATURE => self.are_signed |= name.eq_ignore_ascii_case(SIGNATURE.as_bytes()),
            _ => {}
        }
    }

    /// The lengths of the names that [`Self::see`] looks for.
    pub const LENGTHS: NameLengths =
        NameLengths::NONE.and_of(UPSTREAM_HEADER.lowercase).and_of(CONNECTION).and_of(SIGNATURE);

    const OURS: usize = UPSTREAM_HEADER.lowercase.len();
    const CONNECTION: usize = CONNECTION.len();
    const SIGNATURE: usize = SIGNATURE.len();
}

/// A set of lengths of names. To ask it takes a few instructions, and rules out most other names.
#[derive(Clone, Copy, Debug)]
pub struct NameLengths(u64);

impl NameLengths {
    /// No length.
    pub const NONE: Self = Self(0);

    /// These, and that of another name.
    #[must_use]
    pub const fn and_of(self, name: &str) -> Self {
        Self(self.0 | 1 << (name.len() % u64::BITS as usize))
    }

    /// Returns true if a name may be one of those. Lengths that differ by a multiple of 64 count as the same.
    #[inline]
    pub const fn may_have(self, length: usize) -> bool {
        self.0 >> (length % u64::BITS as usize) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_tell_names_apart() {
        let lengths = NameLengths::NONE.and_of("accept").and_of("signature").and_of("cookie");
        assert!(lengths.may_have(6) && lengths.may_have(9));
        assert!([0, 5, 7, 8, 10, 63, 64, 128].iter().all(|length| !lengths.may_have(*length)));
        assert!(NameLengths::NONE.and_of(&"x".repeat(70)).may_have(70));
    }

    #[test]
    fn names_are_seen_in_any_case_and_place() {
        let nothing = HeaderNames::default();
        let look = |names: &[&str]| {
            let mut seen = nothing;
            names.iter().for_each(|name| seen.see(name.as_bytes()));
            seen
        };
        assert_eq!(look(&[]), nothing);
        assert_eq!(
            look(&["host", "user-agent", "signaturf", "connectiom", "x-crawlwarx", "signature-agent"]),
            nothing
        );
        for name in ["X-Crawlpike", "x_crawlpike", "connection", "Connection"] {
            assert_eq!(
                look(&["host", name, "accept"]),
                HeaderNames { may_hide_ours: true, ..nothing },
                "{name}"
            );
        }
        for name in ["signature", "Signature"] {
            assert_eq!(
                look(&["host", name, "accept"]),
                HeaderNames { are_signed: true, ..nothing },
                "{name}"
            );
        }
        assert_eq!(look(&["Signature", "Connection"]), HeaderNames { may_hide_ours: true, are_signed: true });
    }
}
