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
        // If the value is unknown, assume that it proves an agent.
        let proves = |value: u32| {
            usize::try_from(value).ok().and_then(|value| included.get(value)).copied().unwrap_or(true)
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
        kinds.into_iter().find_map(|(unit, was, is, common)| self.objection_to_count(unit, was, is, common))
    }

    fn objection_to_count(&self, unit: Unit, was: u128, is: u128, common: u128) -> Option<String> {
        // A family that is new has nothing to compare with.
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
mod tests {
    use super::*;
    use crate::feed::prefix::parse_prefix;
    use crate::feed::{Entries, FeedValue};
    use alloc::vec;

    fn entries(list: impl Iterator<Item = (String, u32)>) -> Entries {
        let list: Vec<_> = list.map(|(text, value)| (parse_prefix(&text).unwrap(), value)).collect();
        list.iter().collect()
    }

    fn feed(prefixes: impl IntoIterator<Item = String>) -> Feed {
        Feed {
            entries: entries(prefixes.into_iter().map(|text| (text, 0))),
            values: vec![FeedValue::Range { services: [].into() }],
            created: Some(1000),
            ..Feed::default()
        }
    }

    fn numbered(numbers: core::ops::Range<u32>) -> Feed {
        feed(numbers.map(|n| format!("10.{}.{}.0/24", n / 256, n % 256)))
    }

    fn change(new: &Feed, good: &Feed) -> Option<String> {
        Limits::default().objection_to_change(Extent::of(new), Extent::of(good))
    }

    fn claim(new: &Feed, proving: &Proving<'_>) -> Option<String> {
        Limits::default().objection_to_claim(new, proving)
    }

    #[test]
    fn a_file_cut_to_12_of_481_prefixes_is_held() {
        let good = numbered(0..481);
        assert_eq!(
            change(&numbered(0..12), &good).unwrap(),
            "it shrank from 481 to 12 prefixes, by more than 50%"
        );
        assert_eq!(change(&numbered(0..241), &good), None);
        assert_eq!(change(&good, &good), None);
    }

    #[test]
    fn other_accidents_are_held() {
        let good = numbered(0..100);
        assert_eq!(change(&numbered(0..0), &good).unwrap(), "it became empty, after 100 prefixes");
        assert_eq!(
            change(&numbered(0..1001), &good).unwrap(),
            "it grew from 100 to 1001 prefixes, to more than 10 times"
        );
        assert_eq!(
            change(&numbered(80..180), &good).unwrap(),
            "80 of its 100 prefixes are gone, more than 70%"
        );
        assert_eq!(change(&numbered(60..160), &good), None);
        assert_eq!(change(&good, &numbered(0..0)), None);
    }

    #[test]
    fn addresses_count_as_prefixes_do() {
        let list = |texts: &[&str]| feed(texts.iter().map(ToString::to_string));
        let good = list(&["10.0.0.0/24", "10.0.1.0/24", "2001:db8::/48"]);
        for (new, why) in [
            (&["10.0.0.0/24", "10.0.1.0/30", "2001:db8::/48"][..], None),
            (
                &["10.0.0.0/26", "10.0.1.0/26", "2001:db8::/48"],
                Some("it shrank from 512 to 128 IPv4 addresses, by more than 50%"),
            ),
            (
                &["10.0.0.0/24", "10.0.1.0/24", "2001:db8::/52"],
                Some("it shrank from 65536 to 4096 IPv6 networks of length 64, by more than 50%"),
            ),
            (
                &["10.0.0.0/24", "10.0.1.0/24", "10.1.0.0/16", "2001:db8::/48"],
                Some("it grew from 512 to 66048 IPv4 addresses, to more than 10 times"),
            ),
            (&["10.0.0.0/24", "10.0.1.0/24", "2001:db8::/48", "2001:db8:1::/48"], None),
            (
                &["10.0.0.0/24", "10.0.1.0/24"],
                Some("it shrank from 65536 to 0 IPv6 networks of length 64, by more than 50%"),
            ),
        ] {
            assert_eq!(change(&list(new), &good).as_deref(), why, "{new:?}");
        }
        let half_replaced = ["10.0.0.0/24", "10.1.0.0/24", "10.2.0.0/23", "2001:db8::/48"];
        assert_eq!(change(&list(&half_replaced), &good), None);
        // Two small prefixes stay, and nearly all addresses are others.
        let small = |large: &str| list(&["10.0.0.0/30", "10.0.1.0/30", large]);
        assert_eq!(
            change(&small("10.3.0.0/24"), &small("10.2.0.0/24")).unwrap(),
            "256 of its 264 IPv4 addresses are gone, more than 70%"
        );
        // A new family is not growth of the old one.
        assert_eq!(change(&list(&["10.0.0.0/24", "2001:db8::/32"]), &list(&["10.0.0.0/24"])), None);
    }

    #[test]
    fn what_proves_an_agent_covers_little_of_the_internet() {
        let whole = feed(["0.0.0.0/0".into()]);
        let text = "it covers 0.0.0.0/0, wider than the limit (`widest`)";
        assert_eq!(claim(&whole, &Proving::NOTHING).unwrap(), text);
        assert!(claim(&feed(["2000::/3".into()]), &Proving::NOTHING).is_some());

        // 317 prefixes that are right, and 223 that are not.
        let many = feed(
            (0..317)
                .map(|n| format!("66.{}.{}.0/27", n / 256, n % 256))
                .chain((1..224).map(|n| format!("{n}.0.0.0/8"))),
        );
        let text = "it covers 87.2% of all IPv4 addresses; the limit for a feed that verifies an agent is 1% (`cover`)";
        assert_eq!(claim(&many, &Proving::Everything).unwrap(), text);
        assert_eq!(claim(&many, &Proving::NOTHING), None);
        let of_v6 = feed(["2800::/10".into(), "fe80::/16".into()]);
        let text = "it covers 0.8% of all global IPv6 addresses; the limit for a feed that verifies an agent is 0% (`cover`)";
        let strict =
            Limits { cover: Percent(0), widest: Widest { v4: UpTo(0), v6: UpTo(0) }, ..Limits::default() };
        assert_eq!(strict.objection_to_claim(&of_v6, &Proving::Everything).unwrap(), text);
        let everything = feed(["::/0".into(), "2001:db8::/32".into()]);
        let lax = Limits { cover: Percent(100), ..strict.clone() };
        assert_eq!(lax.objection_to_claim(&everything, &Proving::Everything), None);
        assert!(strict.objection_to_claim(&everything, &Proving::Everything).unwrap().contains("100.0%"));
        // A prefix inside another prefix counts once: 0.8 % here.
        let nested = feed((0..8).map(|n| format!("10.{}.0.0/16", n * 32)).chain(["10.0.0.0/9".into()]));
        assert_eq!(claim(&nested, &Proving::Everything), None);
    }

    #[test]
    fn only_what_proves_an_agent_is_limited() {
        let cloud = Feed {
            entries: entries(
                [("10.0.0.0/8", 0), ("11.0.0.0/8", 0), ("12.0.0.0/8", 0), ("172.16.0.0/16", 1)]
                    .map(|(text, value)| (text.to_string(), value))
                    .into_iter(),
            ),
            values: [&["AMAZON", "EC2"][..], &["AMAZON", "ROUTE53"]]
                .map(|services| FeedValue::Range {
                    services: services.iter().map(|one| (*one).into()).collect(),
                })
                .into(),
            ..Feed::default()
        };
        assert_eq!(claim(&cloud, &Proving::NOTHING), None);
        assert_eq!(claim(&cloud, &Proving::Services(["ROUTE53"].into())), None);
        assert!(claim(&cloud, &Proving::Services(["ROUTE53", "EC2"].into())).is_some());
        assert!(claim(&cloud, &Proving::Everything).is_some());
    }
}
