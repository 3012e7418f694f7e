//! What a new version of a feed may change before it is held: the accidents of publishers and of copies.
//!
//! A list that shrank to a tenth, that is another agent's or that claims half of the Internet is more likely a mistake
//! than news. Then the last good version stays in force, and somebody looks.

use alloc::format;
use alloc::string::String;

use hashbrown::HashSet;
use ipnet::IpNet;
use serde_json::Value;

use crate::feed::Feed;
use crate::typed_json::{FromJson, Node, Reader, UpTo, json_object};
use crate::units::{Percent, Times};

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
    /// What a new version of a feed may change before it is held.
    pub struct Limits {
        /// The share of the prefixes by which it may become smaller.
        pub shrink: Percent = { Percent(50) },
        /// The share of the old prefixes that it may replace by others.
        pub replace: Percent = { Percent(70) },
        /// How many times as many prefixes it may have.
        pub grow: Times = { Times(10) },
        /// The shortest prefixes that it may have.
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
        Self { shrink: Percent(50), replace: Percent(70), grow: Times(10), widest: Widest::default() }
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
        node.report(reader, format!("`{word}` is no guard: give `off` or an object of limits"));
        None
    }

    fn schema() -> Value {
        serde_json::json!({ "oneOf": [Limits::schema(), { "type": "string", "enum": ["off"] }] })
    }
}

/// Another feed, in its last good version, with which a new version is compared.
#[derive(Clone, Copy, Debug)]
pub struct OtherFeed<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its last good version.
    pub good: &'a Feed,
}

impl Guard {
    /// Why a new version of a feed is to be held; `None`: it may be used.
    ///
    /// Without a last good version, only the widest prefixes are checked.
    pub fn objection(&self, new: &Feed, good: Option<&Feed>, others: &[OtherFeed<'_>]) -> Option<String> {
        let limits = self.0.as_ref()?;
        if let Some(prefix) =
            new.entries.iter().map(|(prefix, _)| prefix).find(|prefix| limits.is_too_wide(prefix))
        {
            return Some(format!("it claims {prefix}, wider than `widest` allows"));
        }
        let good = good?;
        let (was, is) = (good.entries.len(), new.entries.len());
        if was > 0 && is == 0 {
            return Some(format!("it became empty, after {was} prefixes"));
        }
        if let (Some(before), Some(after)) = (good.created, new.created)
            && after < before
        {
            return Some("its creationTime went backwards: an old version?".into());
        }
        let prefixes =
            |feed: &Feed| feed.entries.iter().map(|(prefix, _)| *prefix).collect::<HashSet<IpNet>>();
        let (old_set, new_set) = (prefixes(good), prefixes(new));
        if old_set != new_set {
            let twin = others.iter().find(|other| !new_set.is_empty() && prefixes(other.good) == new_set);
            if let Some(OtherFeed { name, .. }) = twin {
                return Some(format!("it is now that of `{name}`: were the files swapped?"));
            }
        }
        if is_over(was.saturating_sub(is), was, limits.shrink) {
            return Some(format!("it shrank from {was} to {is} prefixes, by more than {}%", limits.shrink.0));
        }
        if is > was.saturating_mul(usize::try_from(limits.grow.0).unwrap_or(usize::MAX)) && was > 0 {
            return Some(format!(
                "it grew from {was} to {is} prefixes, to more than {} times",
                limits.grow.0
            ));
        }
        let gone = old_set.difference(&new_set).count();
        if is_over(gone, was, limits.replace) {
            return Some(format!("{gone} of its {was} prefixes are gone, more than {}%", limits.replace.0));
        }
        None
    }
}

impl Limits {
    fn is_too_wide(&self, prefix: &IpNet) -> bool {
        match prefix {
            IpNet::V4(v4) => v4.prefix_len() < self.widest.v4.0,
            IpNet::V6(v6) => v6.prefix_len() < self.widest.v6.0,
        }
    }
}

/// Whether `part` is more than a share of `whole`.
fn is_over(part: usize, whole: usize, share: Percent) -> bool {
    part.saturating_mul(100) > whole.saturating_mul(usize::from(share.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::FeedValue;
    use crate::prefix::parse_prefix;
    use alloc::vec;

    fn feed(prefixes: impl IntoIterator<Item = String>) -> Feed {
        Feed {
            entries: prefixes.into_iter().map(|text| (parse_prefix(&text).unwrap(), 0)).collect(),
            values: vec![FeedValue::Range { service: None }],
            created: Some(1000),
            notes: None,
        }
    }

    fn numbered(numbers: core::ops::Range<u32>) -> Feed {
        feed(numbers.map(|n| format!("10.{}.{}.0/24", n / 256, n % 256)))
    }

    fn objection(new: &Feed, good: &Feed) -> Option<String> {
        Guard::default().objection(new, Some(good), &[])
    }

    #[test]
    fn a_file_cut_to_12_of_481_prefixes_is_held() {
        let good = numbered(0..481);
        assert_eq!(
            objection(&numbered(0..12), &good).unwrap(),
            "it shrank from 481 to 12 prefixes, by more than 50%"
        );
        assert_eq!(objection(&numbered(0..241), &good), None);
        assert_eq!(objection(&good, &good), None);
    }

    #[test]
    fn two_files_swapped_are_both_held() {
        let (a, b) = (numbered(0..300), numbered(1000..1310));
        let others = [OtherFeed { name: "b", good: &b }];
        let held = Guard::default().objection(&b, Some(&a), &others);
        assert_eq!(held.unwrap(), "it is now that of `b`: were the files swapped?");
        // Two feeds that always were alike are no accident.
        assert_eq!(Guard::default().objection(&b, Some(&b), &others), None);
    }

    #[test]
    fn other_accidents_are_held() {
        let good = numbered(0..100);
        let whole = feed(["0.0.0.0/0".into()]);
        assert_eq!(objection(&whole, &good).unwrap(), "it claims 0.0.0.0/0, wider than `widest` allows");
        // The first version, too: nothing is better than a feed that proves everybody.
        assert!(Guard::default().objection(&whole, None, &[]).is_some());
        assert!(Guard::default().objection(&feed(["2000::/3".into()]), None, &[]).is_some());
        assert_eq!(objection(&numbered(0..0), &good).unwrap(), "it became empty, after 100 prefixes");
        assert_eq!(
            objection(&numbered(0..1001), &good).unwrap(),
            "it grew from 100 to 1001 prefixes, to more than 10 times"
        );
        assert_eq!(
            objection(&numbered(80..180), &good).unwrap(),
            "80 of its 100 prefixes are gone, more than 70%"
        );
        assert_eq!(objection(&numbered(60..160), &good), None);
        let older = Feed { created: Some(999), ..numbered(0..100) };
        assert_eq!(objection(&older, &good).unwrap(), "its creationTime went backwards: an old version?");
        assert_eq!(Guard(None).objection(&whole, Some(&good), &[]), None);
    }
}
