//! The result of a request's signatures.

use super::base::NoBase;
use crate::http::structured;
use crate::json::typed::json_words;

json_words! {
    /// The result of a request's signatures.
    pub enum SignatureResult {
        /// One holds, by a key of an agent of the ruleset.
        Verified = "verified",
        /// One names a key of an agent of the ruleset, and is not of that key.
        BadSignature = "bad-signature",
        /// No directory of the ruleset has the key, or it does not hold at this time.
        UnknownKey = "unknown-key",
        /// It has expired.
        Expired = "expired",
        /// It was created in the future.
        NotYetValid = "not-yet-valid",
        /// It covers too little: neither `@authority` nor `@target-uri`, no directory, or something that the request lacks.
        NotCovered = "not-covered",
        /// The headers can't be read, or lack something that the profile demands.
        Malformed = "malformed",
        /// It has an algorithm or a component that is not supported.
        Unsupported = "unsupported",
        /// There are more or longer signatures than are looked at.
        OverLimit = "over-limit",
        /// Too many that did not hold came before it in this second, so that it was not examined.
        OverBudget = "over-budget",
    }
}

impl SignatureResult {
    /// The meaning, for the trace of a decision.
    pub const fn detail(self) -> &'static str {
        match self {
            Self::Verified => "a signature holds",
            Self::BadSignature => "a signature names a known key and does not match the request",
            Self::UnknownKey => "the key is not in a known directory that the signature covers",
            Self::Expired => "the signature has expired",
            Self::NotYetValid => "the signature was created in the future",
            Self::NotCovered => {
                "the signature must cover `@authority` or `@target-uri`, its member of Signature-Agent, and nothing that the \
                 request lacks"
            }
            Self::Malformed => {
                "the headers of the signature cannot be read, or lack `created`, `expires`, `keyid` or the signature"
            }
            Self::Unsupported => "the signature has an algorithm or a component that is not supported",
            Self::OverLimit => "the request has more signatures, or longer ones, than the limit",
            Self::OverBudget => "not verified: too many signatures that did not hold came in the same second",
        }
    }
}

impl From<NoBase> for SignatureResult {
    fn from(why: NoBase) -> Self {
        match why {
            NoBase::Malformed => Self::Malformed,
            NoBase::Unsupported => Self::Unsupported,
            NoBase::Missing => Self::NotCovered,
            NoBase::TooMuch => Self::OverLimit,
        }
    }
}

impl From<structured::Malformed> for SignatureResult {
    fn from(_: structured::Malformed) -> Self {
        Self::Malformed
    }
}
