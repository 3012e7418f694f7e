//! The version of a feed that is in force: "Which version is in force" and "Guard" in docs/feeds.md.

use ipnet::IpNet;
use serde_json::Value;

use crate::feed::{Content, addresses, addresses_gone, read};

/// A file as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The content.
    pub bytes: Vec<u8>,
    /// In seconds since the Unix epoch.
    pub modified: i64,
}

/// The versions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    /// The file itself.
    pub newest: Option<File>,
    /// The last version of a feed that was good.
    pub last_good: Option<File>,
    /// The one that was good before the changes of the last three days.
    pub earlier_good: Option<File>,
    /// The operator has accepted the newest one.
    pub is_accepted: bool,
}

/// The state of a feed at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The newest version is good.
    Ok,
    /// The newest version has entries that cannot be read.
    Incomplete,
    /// The last good version is in force, if there is one.
    Held,
    /// None was ever there, or it has no prefixes.
    Missing,
    /// Too old.
    Stale,
}

/// The version in force, if it is not too old.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// Without a look at the clock.
    pub state: State,
    /// The content in force, and since when it ages.
    pub content: Option<(Content, i64)>,
}

/// The way in which a feed is read and judged.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    /// `jafar`, `geofeed`, `cidr`.
    pub format: String,
    /// The prefixes that a geofeed may speak of.
    pub authority: Vec<IpNet>,
    /// `guard` of the configuration, or `null`.
    pub guard: Value,
    /// The services whose prefixes verify an agent; `None`: the feed verifies none. Empty: all prefixes do.
    pub proving: Option<Vec<String>>,
}

impl Terms {
    fn read(&self, file: &File) -> Option<Content> {
        read(&self.format, &file.bytes, &self.authority)
    }

    /// The share or factor of the guard in percent.
    fn percent(&self, key: &str, default: u128) -> u128 {
        let Some(text) = self.guard[key].as_str() else { return default };
        match text.strip_suffix('%') {
            Some(percent) => percent.parse().expect("a percentage"),
            None => text.trim_end_matches('x').parse::<u128>().expect("a factor") * 100,
        }
    }

    fn widest(&self, is_v4: bool) -> u8 {
        let (key, default) = if is_v4 { ("v4", 8) } else { ("v6", 16) };
        self.guard["widest"][key].as_u64().map_or(default, |length| u8::try_from(length).expect("a length"))
    }

    /// The first table of "Guard": what no version may have.
    fn is_too_wide(&self, content: &Content) -> bool {
        let is_too_short = |prefix: &IpNet| prefix.prefix_len() < self.widest(prefix.addr().is_ipv4());
        if prefixes(content).iter().any(is_too_short) {
            return true;
        }
        let Some(services) = &self.proving else { return false };
        let proves = |entry: &&crate::feed::Entry| {
            services.is_empty() || entry.services.iter().any(|service| services.contains(service))
        };
        let proving: Vec<IpNet> = content.entries.iter().filter(proves).map(|entry| entry.prefix).collect();
        let cover = self.percent("cover", 1);
        // All IPv4 addresses, and 2000::/3.
        [(true, 1 << 32), (false, 1 << 125)]
            .into_iter()
            .any(|(is_v4, all)| addresses(&proving, is_v4) > all / 100 * cover + all % 100 * cover / 100)
    }

    /// The second table: what a version may not have changed.
    fn is_changed_too_much(&self, old: &Content, new: &Content) -> bool {
        let (before, after) = (prefixes(old), prefixes(new));
        if before.is_empty() {
            return false;
        }
        let gone = before.iter().filter(|prefix| !after.contains(prefix)).count();
        let mut measures = vec![(before.len() as u128, after.len() as u128, gone as u128)];
        for is_v4 in [true, false] {
            let (had, has) = (addresses(&before, is_v4), addresses(&after, is_v4));
            if had > 0 {
                measures.push((had, has, addresses_gone(&before, &after, is_v4)));
            } else {
                // "`grow` times a /32 of IPv6, or a /16 of IPv4, for each prefix that the feed had."
                let typical = if is_v4 { 1 << 16 } else { 1 << 96 };
                measures.push((typical * before.len() as u128, has.max(typical * before.len() as u128), 0));
            }
        }
        let (shrink, grow, replace) =
            (self.percent("shrink", 50), self.percent("grow", 1000), self.percent("replace", 70));
        let is_over =
            |share: u128, of: u128, percent: u128| share > of / 100 * percent + of % 100 * percent / 100;
        measures.into_iter().any(|(had, has, gone)| {
            is_over(had.saturating_sub(has), had, shrink)
                || is_over(has, had, grow)
                || is_over(gone, had, replace)
        })
    }

    /// Returns true if the guard lets the newest version of the feed in.
    fn is_let_in(&self, newest: &Content, versions: &Versions, others: &[Content]) -> bool {
        if versions.is_accepted || self.guard == "off" {
            return true;
        }
        if self.is_too_wide(newest) {
            return false;
        }
        let good = |file: &Option<File>| file.as_ref().and_then(|file| self.read(file));
        let Some(last) = good(&versions.last_good) else { return true };
        let is_empty = newest.entries.is_empty() && !last.entries.is_empty();
        let is_other = prefixes(newest) != prefixes(&last)
            && others.iter().any(|other| !other.entries.is_empty() && is_equal(other, newest));
        let is_back_in_time = newest.created.is_some() && newest.created < last.created;
        let earlier = good(&versions.earlier_good);
        let is_changed = |old: &Content| self.is_changed_too_much(old, newest);
        !(is_empty
            || is_other
            || is_back_in_time
            || is_changed(&last)
            || earlier.as_ref().is_some_and(is_changed))
    }

    /// The version in force: the table of "Which version is in force". `others`: the last good versions of feeds of other agents.
    /// `None`: the configuration is refused.
    pub(crate) fn choose(&self, versions: &Versions, others: &[Content]) -> Option<Choice> {
        let good = versions.last_good.as_ref().and_then(|file| Some((self.read(file)?, file.modified)));
        let held = |good| Choice { state: State::Held, content: good };
        let Some(file) = &versions.newest else {
            return Some(if good.is_some() {
                held(good)
            } else {
                Choice { state: State::Missing, content: None }
            });
        };
        let Some(newest) = self.read(file) else {
            return good.is_some().then(|| held(good));
        };
        // A version that is known already is not judged.
        let is_known = versions.last_good.as_ref().is_some_and(|last| last.bytes == file.bytes);
        if !is_known && !self.is_let_in(&newest, versions, others) {
            return Some(held(good));
        }
        let state = match (newest.entries.is_empty(), newest.unreadable) {
            (true, _) => State::Missing,
            (false, 0) => State::Ok,
            (false, _) => State::Incomplete,
        };
        Some(Choice { state, content: Some((newest, file.modified)) })
    }
}

fn prefixes(content: &Content) -> Vec<IpNet> {
    content.entries.iter().map(|entry| entry.prefix).collect()
}

fn is_equal(one: &Content, other: &Content) -> bool {
    let (one, other) = (prefixes(one), prefixes(other));
    one.len() == other.len() && one.iter().all(|prefix| other.contains(prefix))
}

impl Choice {
    /// The content in force at a time: "as old as `max_age`, or its date is more than a day in the future" is stale.
    pub(crate) fn at(&self, now: i64, max_age: Option<i64>) -> (State, Option<&Content>) {
        match &self.content {
            Some((content, modified)) => {
                let is_stale =
                    max_age.is_some_and(|max_age| now - modified >= max_age || modified - now > 24 * 60 * 60);
                if is_stale { (State::Stale, None) } else { (self.state, Some(content)) }
            }
            None => (self.state, None),
        }
    }
}
