//! Limits as nginx's `limit_req` has them, and what they would have done to the requests of a log.

mod bucket;
mod counted;
mod crowd;
mod replay;

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU64;
use std::str::FromStr;

use crawlpike_core::{Decision, Fact, PlainRequest, Ruleset};

pub(crate) use counted::{Counted, Minute};
pub(crate) use crowd::{Crowd, Crowds};
pub(crate) use replay::{Passage, Peak, Replay, Replayed};

/// The largest number of limits that are compared.
pub(crate) const MOST: usize = 4;

/// A limit: `key=network rate=5r/s burst=20 paths=costly`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    text: String,
    pub(crate) key: Vec<KeyPart>,
    /// In thousandths of a request a second.
    pub(crate) rate: i64,
    /// In thousandths of a request.
    pub(crate) burst: i64,
    /// True if only costly paths count.
    pub(crate) is_for_costly: bool,
}

/// A part of a key; clients without any of its parts are not limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyPart {
    Address,
    Fact(Fact),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Limit {
    /// The hash of the key of a request; `None` if the client has no part of it, and so is not limited.
    pub(crate) fn key_of(
        &self,
        ruleset: &Ruleset,
        decision: &Decision,
        request: &PlainRequest<'_>,
    ) -> Option<NonZeroU64> {
        let mut hasher = DefaultHasher::new();
        let mut is_empty = true;
        for part in &self.key {
            let text = match part {
                KeyPart::Address => request.address.map(|address| address.to_canonical().to_string().into()),
                KeyPart::Fact(fact) => ruleset.client_fact(*fact, decision, request),
            };
            is_empty &= text.is_none();
            text.hash(&mut hasher);
        }
        NonZeroU64::new(hasher.finish().max(1)).filter(|_| !is_empty)
    }
}

impl KeyPart {
    /// The facts by which clients are counted: those that do not need headers, which logs lack.
    const FACTS: [Fact; 4] = [Fact::Network, Fact::Asn, Fact::AsKind, Fact::CrowdKey];

    fn of_word(word: &str) -> Result<Self, String> {
        let fact = Fact::from_word(word).filter(|fact| Self::FACTS.contains(fact));
        let part = fact.map(Self::Fact).or_else(|| (word == "address").then_some(Self::Address));
        part.ok_or_else(|| {
            let facts = Self::FACTS.map(Fact::as_str).join(", ");
            format!("unknown key `{word}`: expected address, {facts}, or several of them with commas")
        })
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut key, mut rate, mut burst, mut paths) = (None, None, None, None);
        for (column, word) in words(text) {
            let at = |why: String| format!("column {column}: {why}");
            let (name, value) =
                word.split_once('=').ok_or_else(|| at(format!("expected NAME=VALUE, found `{word}`")))?;
            let is_again = match name {
                "key" => key.replace(keys(value).map_err(at)?).is_some(),
                "rate" => rate.replace(thousandths(value).map_err(at)?).is_some(),
                "burst" => burst.replace(whole(value).map_err(at)?).is_some(),
                "paths" => paths.replace(is_for_costly(value).map_err(at)?).is_some(),
                _ => return Err(at(format!("unknown name `{name}`: expected key, rate, burst or paths"))),
            };
            if is_again {
                return Err(at(format!("duplicate `{name}`")));
            }
        }
        let missing = |name, example| format!("`{name}` is missing, such as {example}");
        Ok(Self {
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
            key: key.ok_or_else(|| missing("key", "key=network"))?,
            rate: rate.ok_or_else(|| missing("rate", "rate=5r/s"))?,
            burst: burst.unwrap_or(0) * 1000,
            is_for_costly: paths.unwrap_or(false),
        })
    }
}

/// The words of a text, each with its column from 1.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let column = text[..text.len() - rest.len()].chars().count() + 1;
        let (word, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
        rest = after;
        (!word.is_empty()).then_some((column, word))
    })
}

fn keys(value: &str) -> Result<Vec<KeyPart>, String> {
    value.split(',').map(KeyPart::of_word).collect()
}

/// The number of requests in `5r/s` or `300r/m`, in thousandths a second, as nginx rounds it.
fn thousandths(value: &str) -> Result<i64, String> {
    let expected = || format!("invalid rate `{value}`: expected such as 5r/s or 300r/m");
    let (number, unit) = value.split_once('r').ok_or_else(expected)?;
    let seconds = match unit {
        "/s" => 1,
        "/m" => 60,
        _ => return Err(expected()),
    };
    match whole(number)? {
        0 => Err("the rate must be at least 1r/m".to_string()),
        number => Ok(number * 1000 / seconds),
    }
}

fn whole(value: &str) -> Result<i64, String> {
    const LARGEST: i64 = 1_000_000;
    let number = value.parse::<u32>().map_err(|_| format!("expected a whole number, found `{value}`"))?;
    match i64::from(number) {
        number if number > LARGEST => Err(format!("{number} is too large; the limit is {LARGEST}")),
        number => Ok(number),
    }
}

fn is_for_costly(value: &str) -> Result<bool, String> {
    match value {
        "costly" => Ok(true),
        "all" => Ok(false),
        _ => Err(format!("unknown paths `{value}`: expected costly or all")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_read_as_nginx_counts() {
        let limit: Limit = " key=network,asn  rate=5r/s burst=20 paths=costly ".parse().unwrap();
        assert_eq!(limit.key, [KeyPart::Fact(Fact::Network), KeyPart::Fact(Fact::Asn)]);
        assert_eq!((limit.rate, limit.burst, limit.is_for_costly), (5_000, 20_000, true));
        assert_eq!(limit.to_string(), "key=network,asn rate=5r/s burst=20 paths=costly");
        let limit: Limit = "rate=100r/m key=address".parse().unwrap();
        assert_eq!((limit.rate, limit.burst, limit.is_for_costly), (1_666, 0, false));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, expected) in [
            ("", "`key` is missing, such as key=network"),
            ("key=network", "`rate` is missing, such as rate=5r/s"),
            ("key=network 5r/s", "column 13: expected NAME=VALUE, found `5r/s`"),
            ("key=network,ip rate=5r/s", "column 1: unknown key `ip`: expected address, network, asn"),
            ("key=é rate=5", "column 1: unknown key `é`"),
            ("key=asn  rate=5/s", "column 10: invalid rate `5/s`: expected such as 5r/s or 300r/m"),
            ("key=asn rate=xr/s", "column 9: expected a whole number, found `x`"),
            ("key=asn rate=0r/s", "column 9: the rate must be at least 1r/m"),
            ("key=asn rate=1r/s burst=-1", "column 19: expected a whole number, found `-1`"),
            ("key=asn rate=1000001r/s", "column 9: 1000001 is too large; the limit is 1000000"),
            ("key=asn rate=1r/s paths=/a", "column 19: unknown paths `/a`: expected costly or all"),
            ("key=asn key=asn", "column 9: duplicate `key`"),
            ("key=asn speed=1", "column 9: unknown name `speed`: expected key, rate, burst or paths"),
        ] {
            let error = text.parse::<Limit>().unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
