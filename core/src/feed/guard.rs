//! Limits for new versions of feeds. A version that exceeds one is held: the last good version stays in force until an
//! operator decides.
//!
//! A list that shrank to a tenth, that belongs to another agent or that claims half of the Internet is more likely a
//! mistake than news.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;

use ipnet::IpNet;
use serde_json::Value;

use crate::feed::entries::Range;
use crate::feed::extent::{Extent, common_size, size, united};
use crate::feed::{Feed, FeedValue};
use crate::json::typed::{FromJson, Node, Reader, UpTo, json_object};
use crate::json::units::{Percent, Times};

json_object! {
    /// The shortest prefixes, in bits, that a feed may have.
    pub struct Widest {
        /// Of IPv4.
        pub v4: UpTo<32> = { Widest::default().v4 },
        /// Of IPv6.
        pub v6: UpTo<128> = { Widest::default().v6 },
    }
}

json_object! {
    /// The limits on what a version of a feed may claim, and on what a new one may change, before it is held. Changes
    /// count prefixes, IPv4 addresses and IPv6 addresses.
    pub struct Limits {
        /// The share that a new version may lose.
        pub shrink: Percent = { Limits::default().shrink },
        /// The share of the last good version that may be gone.
        pub replace: Percent = { Limits::default().replace },
        /// The largest factor by which a new version may be larger.
        pub grow: Times = { Limits::default().grow },
        /// The share of all IPv4 addresses, or of all global unicast IPv6 addresses (2000::/3), that may verify an agent. A
        /// feed that verifies no agent may cover more. Also checked for a first version.
        pub cover: Percent = { Limits::default().cover },
        /// The shortest prefixes. Also checked for a first version.
        pub widest: Widest = { Widest::default() },
    }
}

impl Default for Widest {
    fn default() -> Self {
        Self { v4: UpTo(8), v6: UpTo(16) }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            shrink: Percent(50),
            replace: Percent(70),
            grow: Times(10),
            cover: Percent(1),
            widest: Widest::default(),
        }
    }
}

/// The `guard` of a feed: limits, or none at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard(pub Option<Limits>);

impl Default for Guard {
    fn default() -> Self {
        Self(Some(Limits::default()))
    }
}

impl FromJson for Guard {
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        if !node.is_string() {
            return Limits::from_json(node, reader).map(|limits| Self(Some(limits)));
        }
        let word = String::from_json(node, reader)?;
        if word == "off" {
            return Some(Self(None));
        }
        node.report(reader, format!("invalid guard `{word}`: give `off` or an object of limits"));
        None
    }

    fn to_json(&self) -> Value {
        self.0.as_ref().map_or_else(|| Value::from("off"), Limits::to_json)
    }

    fn schema() -> Value {
        serde_json::json!({ "oneOf": [Limits::schema(), { "type": "string", "enum": ["off"] }] })
    }
}

/// The part of a feed that verifies agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proving<'a> {
    /// Each prefix.
    Everything,
    /// The prefixes with one of these services; an empty set means none.
    Services(BTreeSet<&'a str>),
}

impl Proving<'_> {
    /// The feed verifies no agent.
    pub const NOTHING: Self = Self::Services(BTreeSet::new());

    fn includes(&self, value: &FeedValue) -> bool {
        match (self, value) {
            (Self::Everything, _) => true,
            (Self::Services(listed), FeedValue::Range { services }) => {
                services.iter().any(|service| listed.contains(&**service))
            }
            (Self::Services(_), FeedValue::Place { .. }) => false,
        }
    }

    /// Returns true if each value of a feed verifies an agent.
    fn included(&self, feed: &Feed) -> Vec<bool> {
        feed.values.iter().map(|value| self.includes(value)).collect()
    }
}

impl Limits {
    /// The first limit that a version exceeds by itself.
    pub(crate) fn objection_to_claim(&self, feed: &Feed, proving: &Proving<'_>) -> Option<String> {
        let is_too_wide = |prefix: &IpNet| match prefix {
            IpNet::V4(v4) => v4.prefix_len() < self.widest.v4.0,
            IpNet::V6(v6) => v6.prefix_len() < self.widest.v6.0,
        };
        if let Some((prefix, _)) = feed.entries.iter().find(|(prefix, _)| is_too_wide(prefix)) {
            return Some(format!("it covers {prefix}, wider than the limit (`widest`)"));
        }
        let included = proving.included(feed);
        // A value that is not known proves an agent, if anything does.
        let if_unknown = !matches!(proving, Proving::Services(listed) if listed.is_empty());
        let proves = |value: u32| {
            usize::try_from(value).ok().and_then(|value| included.get(value)).copied().unwrap_or(if_unknown)
        };
        let of_proofs = |(range, value): (Range, u32)| proves(value).then_some(range);
        let v4 = size(united(feed.entries.v4().filter_map(of_proofs)));
        let v6 = united(feed.entries.v6().filter_map(of_proofs));
        let v6 = common_size(v6, core::iter::once(GLOBAL_V6));
        let families = [("all IPv4 addresses", v4, ALL_V4), ("all global IPv6 addresses", v6, ALL_V6)];
        let (all, part, whole) =
            families.into_iter().find(|(_, part, whole)| is_over(*part, *whole, self.cover))?;
        // In tenths of a percent, rounded up, so that it shows as more than the limit.
        let digits_to_drop = whole.ilog2().saturating_sub(u64::BITS);
        let share = ((part >> digits_to_drop) * 1000).div_ceil(whole >> digits_to_drop);
        Some(format!(
            "it covers {}.{}% of {all}; the limit for a feed that verifies an agent is {}% (`cover`)",
            share / 10,
            share % 10,
            self.cover.0
        ))
    }

    /// The first limit that the change from the last good version to a new one exceeds.
    pub(crate) fn objection_to_change(&self, new: Extent<'_>, good: Extent<'_>) -> Option<String> {
        let (was, is) = (good.prefixes(), new.prefixes());
        if was > 0 && is == 0 {
            return Some(format!("it became empty, after {was} prefixes"));
        }
        let common = new.in_common(good);
        let as_wide = |number: usize| u128::try_from(number).unwrap_or(u128::MAX);
        let kinds = [
            (Unit::Prefixes, as_wide(was), as_wide(is), as_wide(common.prefixes)),
            (Unit::V4, good.v4(), new.v4(), common.v4),
            (Unit::V6, good.v6(), new.v6(), common.v6),
        ];
        let of_count = |(unit, was, is, common)| self.objection_to_count(unit, was, is, common);
        kinds.into_iter().find_map(of_count).or_else(|| {
            let families = [
                ("IPv4", Unit::V4, good.v4(), new.v4(), USUAL_V4),
                ("IPv6", Unit::V6, good.v6(), new.v6(), USUAL_V6),
            ];
            let is_new = |family: &(_, _, u128, u128, _)| was > 0 && family.2 == 0 && family.3 > 0;
            families.into_iter().filter(is_new).find_map(|(name, unit, _, is, usual)| {
                let most = as_wide(was).saturating_mul(self.grow.0.into()).saturating_mul(usual.1);
                (is > most).then(|| {
                    let (_, is) = unit.counts(0, is);
                    format!(
                        "{name} is new in it, with {is}: more than {} times a /{} for each of the prefixes before ({was})",
                        self.grow.0, usual.0
                    )
                })
            })
        })
    }

    fn objection_to_count(&self, unit: Unit, was: u128, is: u128, common: u128) -> Option<String> {
        // A family that is new is compared with the other one.
        if was == 0 {
            return None;
        }
        let (from, to) = unit.counts(was, is);
        if is_over(was.saturating_sub(is), was, self.shrink) {
            return Some(format!("it shrank from {from} to {to}, by more than {}%", self.shrink.0));
        }
        if is > was.saturating_mul(self.grow.0.into()) {
            return Some(format!("it grew from {from} to {to}, to more than {} times", self.grow.0));
        }
        let gone = was.saturating_sub(common);
        if is_over(gone, was, self.replace) {
            let (gone, was) = unit.counts(gone, was);
            return Some(format!("{gone} of its {was} are gone, more than {}%", self.replace.0));
        }
        None
    }
}

/// The unit that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Prefixes,
    V4,
    V6,
}

impl Unit {
    /// Two numbers for a message, the second one with the unit.
    fn counts(self, first: u128, second: u128) -> (String, String) {
        const NETWORK: u128 = 1 << 64;
        let show = |first: &dyn Display, second: &dyn Display, unit: &str| {
            (first.to_string(), format!("{second} {unit}"))
        };
        match self {
            Self::Prefixes => show(&first, &second, "prefixes"),
            Self::V4 => show(&first, &second, "IPv4 addresses"),
            Self::V6 if first.max(second) < NETWORK => show(&first, &second, "IPv6 addresses"),
            Self::V6 => {
                show(&first.div_ceil(NETWORK), &second.div_ceil(NETWORK), "IPv6 networks of length 64")
            }
        }
    }
}

const ALL_V4: u128 = 1 << 32;

/// The length and the size of what a registry usually assigns to those who publish one prefix of the other family.
const USUAL_V4: (u8, u128) = (16, 1 << 16);
const USUAL_V6: (u8, u128) = (32, 1 << 96);

/// The first and the last address of 2000::/3.
const GLOBAL_V6: Range = (0x2000 << 112, (0x4000 << 112) - 1);
const ALL_V6: u128 = GLOBAL_V6.1 - GLOBAL_V6.0 + 1;

/// Returns true if `part` is more than a share of `whole`.
fn is_over(part: u128, whole: u128, Percent(share): Percent) -> bool {
    let share = u128::from(share);
    // Rounded down, and without a product that could be too large.
    part > whole / 100 * share + whole % 100 * share / 100
}

#[cfg(test)]
mod tests;
