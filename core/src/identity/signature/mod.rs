//! The proof by signature: agents sign their requests (RFC 9421) in the profile of the web-bot-auth drafts, and publish
//! their keys in directories.
//!
//! Cheap checks come first: a request without a Signature header is asked for nothing else. Of one with it, the sizes,
//! the tag, the times and the number of the key are looked at; only what is left of that is compared with the request,
//! and only what is left of that is computed on the curve. A gate has a [budget](crate::request::SignatureBudget) for
//! the last two. Where a client's network has spent its share of it, nothing is looked at but whether the request has what each
//! signature of the profile has. Nothing here allocates.

mod base;
mod query;
mod result;

use core::cell::Cell;
use core::net::IpAddr;

use crate::hash;
use crate::http::structured::{self, Bare, InnerList, Item, Member};
use crate::ids::AgentId;
use crate::keys::identifier::{Identifier, Reference};
use crate::keys::{Key, KeyDirectory, KeyRing, Thumbprint};
use crate::request::{Holding, NetworkKey, Request, Scheme};
use base::{AGENT, Component, Components, INPUT};

pub use result::SignatureResult;

pub(crate) use base::{HostSpelling, NoBase, SIGNATURE, Target, write as write_base};
pub(crate) use query::encode as encode_in_query;

/// The most bytes that the three headers of signatures may have together.
const MOST_BYTES: usize = 8 << 10;

/// From how many bytes on it costs as much to read them as to verify a signature. Those of agents are far shorter.
const LONG: usize = 2 << 10;

/// The most members that one of these headers may have.
const MOST_MEMBERS: usize = 8;

/// The most signatures of a request, by keys that we know, that are compared with the request.
const MOST_COMPARISONS: usize = 2;

/// The `tag` of the profile.
pub(crate) const TAG: &str = "web-bot-auth";

/// The name of the only algorithm that is supported.
pub(crate) const ALGORITHM: &str = "ed25519";

/// A life that is longer than the profile recommends, in seconds.
const LONG_LIFE: i64 = 24 * 60 * 60;

/// The result of a request's signatures, and the agent whose directory the one that counts names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Examined {
    pub(crate) result: SignatureResult,
    /// True if it lives longer than the profile recommends.
    pub(crate) is_long_lived: bool,
    /// Set for [`SignatureResult::Verified`] and [`SignatureResult::BadSignature`].
    pub(crate) agent: Option<AgentId>,
}

impl Examined {
    const fn failed(result: SignatureResult) -> Self {
        Self { result, is_long_lived: false, agent: None }
    }

    /// A signature that holds counts most, then a forged one, then the first.
    fn rank(self) -> u8 {
        match self.result {
            SignatureResult::Verified => 2,
            SignatureResult::BadSignature => 1,
            _ => 0,
        }
    }
}

/// Examines the signatures of a request. Of a directory that several agents have, the agent is the `claimed` one, or else the
/// first. `address` is the client's. `None` where there is no signature of the profile.
#[inline]
pub(super) fn examine(
    ring: &KeyRing,
    request: &impl Request,
    claimed: Option<AgentId>,
    address: Option<IpAddr>,
) -> Option<Examined> {
    // For nearly every request, this is all, if its host has not said so before.
    if ring.is_empty() || request.header(SIGNATURE).is_none() {
        return None;
    }
    examine_signed(ring, request, claimed, address)
}

#[cold]
#[inline(never)]
fn examine_signed(
    ring: &KeyRing,
    request: &impl Request,
    claimed: Option<AgentId>,
    address: Option<IpAddr>,
) -> Option<Examined> {
    let (network, now) = (NetworkKey::of(address), request.now());
    if request.with_signature_budget(|budget| budget.allows(network, now)) == Some(false) {
        return may_have_profile(request).then_some(Examined::failed(SignatureResult::OverBudget));
    }
    let size = size_of_headers(request);
    let mut examination =
        Examination { ring, request, claimed, comparisons: 0, verifications: Cell::new(0), holding: None };
    let examined = match size {
        ..=MOST_BYTES => examination.all().unwrap_or_else(|result| Some(Examined::failed(result))),
        _ => Some(Examined::failed(SignatureResult::OverLimit)),
    };
    let is_costly = examination.comparisons > 0 || (LONG..=MOST_BYTES).contains(&size);
    match examination.holding {
        Some(holding) => request.with_signature_budget(|budget| budget.note_good(network, holding, now)),
        None if is_costly => request.with_signature_budget(|budget| {
            (0..examination.verifications.get().max(1)).for_each(|_| budget.note_bad(network, now));
        }),
        None => None,
    };
    examined
}

/// Returns true if the request has what each request with a signature of the profile has: a directory, and the tag somewhere.
fn may_have_profile(request: &impl Request) -> bool {
    let has_tag = |line: &[u8]| line.windows(TAG.len()).any(|part| part == TAG.as_bytes());
    request.header(AGENT).is_some() && request.header_lines(INPUT).any(has_tag)
}

/// The bytes of the three headers.
fn size_of_headers(request: &impl Request) -> usize {
    // Empty lines count, too.
    let size =
        |name| request.header_lines(name).fold(0_usize, |sum, line| sum.saturating_add(line.len() + 1));
    [SIGNATURE, INPUT, AGENT].into_iter().map(size).fold(0, usize::saturating_add)
}

/// Checks that the first two headers are dictionaries with some members, and not too many.
fn check_headers(request: &impl Request) -> Result<(), SignatureResult> {
    for name in [SIGNATURE, INPUT] {
        let mut count = 0;
        for member in structured::members(request.header_lines(name)) {
            member?;
            count += 1;
            if count > MOST_MEMBERS {
                return Err(SignatureResult::OverLimit);
            }
        }
        if count == 0 {
            return Err(SignatureResult::Malformed);
        }
    }
    Ok(())
}

struct Examination<'a, R> {
    ring: &'a KeyRing,
    request: &'a R,
    claimed: Option<AgentId>,
    comparisons: usize,
    /// The number of times that something was computed on the curve.
    verifications: Cell<u64>,
    /// The one that holds.
    holding: Option<Holding>,
}

impl<R: Request> Examination<'_, R> {
    /// Examines all signatures of the profile: what comes of the one that counts. `None` where there is none.
    fn all(&mut self) -> Result<Option<Examined>, SignatureResult> {
        check_headers(self.request)?;
        let mut best: Option<Examined> = None;
        let members = || structured::members(self.request.header_lines(INPUT));
        for (place, input) in members().enumerate() {
            // `check_headers` has read all of them.
            let Ok((label, Member::List(input))) = input else { continue };
            // Of a label that is there again, the last one counts.
            if members().skip(place + 1).flatten().any(|(later, _)| later == label) {
                continue;
            }
            if input.parameters.get("tag") != Some(Bare::String(TAG.as_bytes())) {
                continue;
            }
            let examined = self.signature(label, input).unwrap_or_else(Examined::failed);
            if best.is_none_or(|best| examined.rank() > best.rank()) {
                best = Some(examined);
            }
            if examined.result == SignatureResult::Verified {
                break;
            }
        }
        Ok(best)
    }

    /// Examines one signature.
    fn signature(&mut self, label: &[u8], input: InnerList<'_>) -> Result<Examined, SignatureResult> {
        let (created, expires, keyid) = parameters(input)?;
        let now = self.request.now();
        let skew = self.ring.clock_skew;
        if created.saturating_sub(skew) > now {
            return Err(SignatureResult::NotYetValid);
        }
        if expires.saturating_add(skew) < now {
            return Err(SignatureResult::Expired);
        }
        let thumbprint = self.ring.known(keyid).ok_or(SignatureResult::UnknownKey)?;
        if self.comparisons == MOST_COMPARISONS {
            return Err(SignatureResult::OverLimit);
        }
        self.comparisons += 1;
        let (result, agent) = self.compare(label, input, thumbprint, now)?;
        if result == SignatureResult::Verified {
            let hash = hash::of_bytes(&self.bytes_of(label)?);
            self.holding = Some(Holding { hash, created });
        }
        Ok(Examined { result, is_long_lived: expires.saturating_sub(created) > LONG_LIFE, agent })
    }

    /// Compares a signature with the request: whether it holds, and whose its key is.
    fn compare(
        &self,
        label: &[u8],
        input: InnerList<'_>,
        thumbprint: &Thumbprint,
        now: i64,
    ) -> Result<(SignatureResult, Option<AgentId>), SignatureResult> {
        let covered = Components::of(input)?;
        self.check_coverage(&covered)?;
        let identifier = self.directory_of(label, &covered)?;
        let directory = self.ring.directory(&identifier).ok_or(SignatureResult::UnknownKey)?;
        let key = directory.key(thumbprint).filter(|key| key.holds_at(now));
        let key = key.ok_or(SignatureResult::UnknownKey)?;
        let signature = self.bytes_of(label)?;
        let result = match self.is_of(key, &signature, input, &covered)? {
            true => SignatureResult::Verified,
            false => SignatureResult::BadSignature,
        };
        Ok((result, self.agent_of(directory)))
    }

    /// Returns true if the signature covers the host of the request, and of another signature that it covers all that
    /// this one does.
    fn check_coverage(&self, covered: &[Component<'_>]) -> Result<(), SignatureResult> {
        let mut covers_host = false;
        for component in covered {
            match component {
                Component::Authority | Component::TargetUri => covers_host = true,
                Component::Member(SIGNATURE, label) => self.check_inner(label, covered)?,
                _ => {}
            }
        }
        if covers_host { Ok(()) } else { Err(SignatureResult::NotCovered) }
    }

    /// Returns true if a covered signature is bound to the request: the input of its label is covered, and all that it
    /// covers.
    fn check_inner(&self, label: &[u8], covered: &[Component<'_>]) -> Result<(), SignatureResult> {
        let inner = structured::member(self.request.header_lines(INPUT), label)?;
        let Some(Member::List(inner)) = inner else { return Err(SignatureResult::NotCovered) };
        let inner = Components::of(inner).map_err(|_| SignatureResult::NotCovered)?;
        let is_bound = covered.contains(&Component::Member(INPUT, label))
            && inner.iter().all(|component| covered.contains(component));
        if is_bound { Ok(()) } else { Err(SignatureResult::NotCovered) }
    }

    /// The directory that the signature covers: the member of Signature-Agent with the signature's label, or else the only one
    /// that is covered.
    fn directory_of(&self, label: &[u8], covered: &[Component<'_>]) -> Result<Identifier, SignatureResult> {
        let lines = || self.request.header_lines(AGENT);
        let is_whole = covered.contains(&Component::Header(AGENT));
        if is_whole && let Ok(item) = structured::item(lines()) {
            return identifier(item);
        }
        let mut keys = covered.iter().filter_map(|component| match component {
            Component::Member(AGENT, key) => Some(*key),
            _ => None,
        });
        let key = match (keys.clone().any(|key| key == label), keys.next(), keys.next()) {
            (true, ..) => label,
            (false, None, _) if is_whole => label,
            (false, Some(only), None) => only,
            (false, ..) => return Err(SignatureResult::NotCovered),
        };
        if structured::members(lines()).nth(MOST_MEMBERS).is_some() {
            return Err(SignatureResult::OverLimit);
        }
        match structured::member(lines(), key)? {
            Some(Member::Item(item)) => identifier(item),
            Some(Member::List(_)) => Err(SignatureResult::Malformed),
            None => Err(SignatureResult::NotCovered),
        }
    }

    /// The octets of the signature with this label.
    fn bytes_of(&self, label: &[u8]) -> Result<[u8; 64], SignatureResult> {
        let member = structured::member(self.request.header_lines(SIGNATURE), label)?;
        let Some(Member::Item(Item { value: Bare::Bytes(text), .. })) = member else {
            return Err(SignatureResult::Malformed);
        };
        structured::decode(text).ok_or(SignatureResult::Malformed)
    }

    /// Returns true if the key made the signature of this request.
    fn is_of(
        &self,
        key: &Key,
        signature: &[u8; 64],
        input: InnerList<'_>,
        covered: &[Component<'_>],
    ) -> Result<bool, SignatureResult> {
        let signature = ed25519_dalek::Signature::from_bytes(signature);
        let holds = |target| -> Result<bool, SignatureResult> {
            // An error says that half of the signature is out of range.
            let Ok(mut verifier) = key.public.verify_stream(&signature) else { return Ok(false) };
            write_base(self.request, input, target, &mut |bytes| verifier.update(bytes))?;
            self.verifications.update(|count| count + 1);
            Ok(verifier.finalize_and_verify().is_ok())
        };
        let seen = Target::of(self.request);
        let covers_target = covered.contains(&Component::TargetUri);
        let has_capitals =
            || self.request.authority().is_some_and(|host| host.iter().any(u8::is_ascii_uppercase));
        // A proxy before the gate may have taken the request by TLS.
        let has_two_schemes =
            seen.scheme == Scheme::Http && (covers_target || covered.contains(&Component::Scheme));
        let has_two_spellings = covers_target && has_capitals();
        for scheme in core::iter::once(seen.scheme).chain(has_two_schemes.then_some(Scheme::Https)) {
            let target = Target { scheme, ..seen };
            if holds(target)? || has_two_spellings && holds(Target { host: HostSpelling::Sent, ..target })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn agent_of(&self, directory: &KeyDirectory) -> Option<AgentId> {
        let claimed = self.claimed.filter(|claimed| directory.agents.contains(claimed));
        claimed.or_else(|| directory.agents.first().copied())
    }
}

/// When the signature was created, when it expires, and the number of its key.
fn parameters<'a>(input: InnerList<'a>) -> Result<(i64, i64, &'a [u8]), SignatureResult> {
    let get = |name| input.parameters.get(name);
    let (Some(Bare::Integer(created)), Some(Bare::Integer(expires)), Some(Bare::String(keyid))) =
        (get("created"), get("expires"), get("keyid"))
    else {
        return Err(SignatureResult::Malformed);
    };
    match get("alg") {
        None => {}
        Some(Bare::String(algorithm)) if algorithm == ALGORITHM.as_bytes() => {}
        Some(_) => return Err(SignatureResult::Unsupported),
    }
    if expires < created { Err(SignatureResult::Malformed) } else { Ok((created, expires, keyid)) }
}

/// The directory that a member of Signature-Agent refers to.
fn identifier(item: Item<'_>) -> Result<Identifier, SignatureResult> {
    let Bare::String(url) = item.value else { return Err(SignatureResult::Malformed) };
    let mut parameters = item.parameters.iter();
    let reference = match (parameters.next(), parameters.next()) {
        (None, _) => Reference::Any,
        (Some((b"type", Bare::Token(word) | Bare::String(word))), None) => match word {
            b"directory" => Reference::Origin,
            b"jwks_uri" => Reference::KeySet,
            // A member of a type that is not known is ignored, and so is one with other parameters.
            _ => return Err(SignatureResult::NotCovered),
        },
        _ => return Err(SignatureResult::NotCovered),
    };
    Identifier::of(url, reference).ok_or(SignatureResult::Malformed)
}

#[cfg(test)]
mod tests;
