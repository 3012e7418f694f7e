//! The public keys of agents that sign their requests, by the directories in which the agents' operators publish them.
//!
//! A key counts only together with the directory that publishes it. Who looked a key up by its number alone would believe a
//! client that names another's directory.

pub(crate) mod identifier;
mod jwks;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ed25519_dalek::VerifyingKey;
use sha2::{Digest, Sha256};

use crate::ids::AgentId;

pub(crate) use jwks::{MOST_BYTES, read};

/// The alphabet of base64url (RFC 7515, 2); with the padding that some add, or without.
pub(crate) const BASE64URL: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The SHA-256 of a key's required members (RFC 7638).
pub(crate) type Thumbprint = [u8; 32];

/// A key of Ed25519 with which an agent signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) thumbprint: Thumbprint,
    pub(crate) public: VerifyingKey,
    /// From when on it holds, in seconds since the Unix epoch.
    not_before: Option<i64>,
    /// Until when it holds.
    expires: Option<i64>,
}

impl Key {
    /// A key that holds between two times.
    pub(crate) fn between(
        thumbprint: Thumbprint,
        public: VerifyingKey,
        not_before: Option<i64>,
        expires: Option<i64>,
    ) -> Self {
        Self { thumbprint, public, not_before, expires }
    }

    /// Returns true if there is no time at which the key holds.
    pub(crate) fn never_holds(&self) -> bool {
        self.not_before.zip(self.expires).is_some_and(|(from, until)| until <= from)
    }

    /// Returns true if the key holds at `now`.
    pub(crate) fn holds_at(&self, now: i64) -> bool {
        self.not_before.is_none_or(|from| from <= now) && self.expires.is_none_or(|until| now < until)
    }
}

/// The thumbprint of a public key of Ed25519 (RFC 8037, A.3).
pub(crate) fn thumbprint(public: &[u8; 32]) -> Thumbprint {
    let mut x = [0; 43];
    // Thirty-two octets make forty-three letters.
    let length = BASE64URL.encode_slice(public, &mut x).unwrap_or_default();
    let mut hash = Sha256::new();
    hash.update(br#"{"crv":"Ed25519","kty":"OKP","x":""#);
    hash.update(x.get(..length).unwrap_or_default());
    hash.update(br#""}"#);
    hash.finalize().into()
}

/// A thumbprint as `keyid` and `kid` write it.
pub(crate) struct Base64Url<'b>(pub(crate) &'b [u8]);

impl fmt::Display for Base64Url<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64URL.encode(self.0))
    }
}

/// A directory of keys, and whose it is.
#[derive(Clone, Debug)]
pub(crate) struct KeyDirectory {
    /// Its normalised URL.
    pub(crate) identifier: Box<str>,
    /// The agents whose keys it has, in the order of the configuration.
    pub(crate) agents: Vec<AgentId>,
    pub(crate) keys: Vec<Key>,
}

/// The directories of a ruleset.
#[derive(Clone, Debug)]
pub(crate) struct KeyRing {
    /// By their identifiers.
    directories: Vec<KeyDirectory>,
    /// The largest accepted difference between the clocks of signers and ours, in seconds.
    pub(crate) clock_skew: i64,
}

impl KeyRing {
    pub(crate) fn new(clock_skew: i64) -> Self {
        Self { directories: Vec::new(), clock_skew }
    }

    /// Returns true if no signature can be verified.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.directories.is_empty()
    }

    /// Adds the keys that a directory has for an agent. What another agent's file has of the same directory counts, too.
    pub(crate) fn add(&mut self, identifier: &str, agent: AgentId, keys: Vec<Key>) {
        let place = self.directories.binary_search_by(|known| (*known.identifier).cmp(identifier));
        match place.map(|place| self.directories.get_mut(place)) {
            Ok(Some(directory)) => {
                if !directory.agents.contains(&agent) {
                    directory.agents.push(agent);
                }
                for key in keys {
                    if !directory.keys.contains(&key) {
                        directory.keys.push(key);
                    }
                }
            }
            Ok(None) => {}
            Err(place) => {
                let agents = Vec::from([agent]);
                self.directories.insert(place, KeyDirectory { identifier: identifier.into(), agents, keys });
            }
        }
    }

    /// The directory with this identifier.
    pub(crate) fn directory(&self, identifier: &[u8]) -> Option<&KeyDirectory> {
        let place = self.directories.binary_search_by(|known| known.identifier.as_bytes().cmp(identifier));
        self.directories.get(place.ok()?)
    }

    /// The thumbprint that a `keyid` is the base64url of, and nothing shorter, if some directory has its key.
    pub(crate) fn known(&self, keyid: &[u8]) -> Option<&Thumbprint> {
        let mut thumbprint = [0; 33];
        let length = BASE64URL.decode_slice(keyid, &mut thumbprint).ok()?;
        let wanted = thumbprint.get(..length)?;
        let mut keys = self.directories.iter().flat_map(|directory| &directory.keys);
        keys.find(|key| key.thumbprint == *wanted).map(|key| &key.thumbprint)
    }

    /// All directories.
    pub(crate) fn directories(&self) -> &[KeyDirectory] {
        &self.directories
    }

    /// The directories of an agent.
    pub(crate) fn of(&self, agent: AgentId) -> impl Iterator<Item = &KeyDirectory> {
        self.directories.iter().filter(move |directory| directory.agents.contains(&agent))
    }
}

impl KeyDirectory {
    /// The key with this thumbprint.
    pub(crate) fn key(&self, thumbprint: &Thumbprint) -> Option<&Key> {
        self.keys.iter().find(|key| key.thumbprint == *thumbprint)
    }
}
