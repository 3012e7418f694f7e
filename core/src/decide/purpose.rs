//! The purposes of a client: as it declares them, or as its agent's operator states them.

use alloc::boxed::Box;
use core::fmt;

use serde::{Serialize, Serializer};

use crate::http::token::is_token_byte;
use crate::ids::AgentId;
use crate::json::typed::json_words;
use crate::request::Request;
use crate::ruleset::data::Ruleset;
use crate::ruleset::sites::PreferencesPolicy;

/// The largest number of purposes that a request may declare, and of bytes that each may have.
const MOST: usize = 8;
const LONGEST: usize = 64;

json_words! {
    /// The source of the purposes of a request.
    pub enum PurposeSource {
        /// The configured request header, which declares a purpose in each of its lines.
        Header = "header",
        /// The User-Agent, which has a purpose that the policy or the configuration names.
        UserAgent = "user-agent",
        /// The purposes that the configuration or the catalog gives the agent; the request declares none.
        Agent = "agent",
    }
}

/// The purposes of a request, at least one. As a text they are separated by commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purposes<'r>(Kind<'r>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind<'r> {
    InHeader {
        first: &'r str,
        others: [&'r str; MOST - 1],
    },
    InUserAgent(&'r str),
    /// Not empty.
    OfAgent(&'r [Box<str>]),
}

impl<'r> Purposes<'r> {
    /// Their source.
    pub const fn source(&self) -> PurposeSource {
        match self.0 {
            Kind::InHeader { .. } => PurposeSource::Header,
            Kind::InUserAgent(_) => PurposeSource::UserAgent,
            Kind::OfAgent(_) => PurposeSource::Agent,
        }
    }

    /// The purposes.
    pub fn iter(self) -> impl Iterator<Item = &'r str> {
        let (first, others, of_agent) = match self.0 {
            Kind::InHeader { first, others } => (Some(first), others, &[][..]),
            Kind::InUserAgent(purpose) => (Some(purpose), [""; MOST - 1], &[][..]),
            Kind::OfAgent(purposes) => (None, [""; MOST - 1], purposes),
        };
        let others = others.into_iter().take_while(|purpose| !purpose.is_empty());
        first.into_iter().chain(others).chain(of_agent.iter().map(|purpose| &**purpose))
    }

    /// The purposes that the client declares: each line of the configured header is one. Without the header, a purpose
    /// counts that stands alone in the User-Agent, if the policy, else the configuration, else the catalog for this agent
    /// (AIWI-2) names it. None if a line is not an RFC 9110 token of at most [`LONGEST`] bytes, or if there are more than
    /// [`MOST`].
    pub(crate) fn declared(
        ruleset: &'r Ruleset,
        policy: Option<&'r PreferencesPolicy>,
        agent: Option<AgentId>,
        request: &'r impl Request,
    ) -> Option<Self> {
        let mut lines = request.header_lines(&ruleset.purpose_header).map(purpose_of_line);
        if let Some(first) = lines.next() {
            let mut others = [""; MOST - 1];
            let mut places = others.iter_mut();
            for purpose in lines {
                *places.next()? = purpose?;
            }
            return Some(Self(Kind::InHeader { first: first?, others }));
        }
        let user_agent = request.user_agent()?;
        let by_policy = policy.and_then(|policy| policy.file.rules.purposes.find(user_agent));
        let by_agent = || ruleset.agents.get(agent?)?.declares.as_ref()?.find(user_agent);
        by_policy
            .or_else(|| ruleset.purposes.find(user_agent))
            .or_else(by_agent)
            .map(|purpose| Self(Kind::InUserAgent(purpose)))
    }

    /// Those by which a policy judges the request: declared ones, else those of the agent.
    pub(crate) fn judged(
        ruleset: &'r Ruleset,
        policy: Option<&'r PreferencesPolicy>,
        agent: Option<AgentId>,
        request: &'r impl Request,
    ) -> Option<Self> {
        let of_agent = || {
            let known = &*ruleset.agents.get(agent?)?.purposes;
            (!known.is_empty()).then_some(Self(Kind::OfAgent(known)))
        };
        Self::declared(ruleset, policy, agent, request).or_else(of_agent)
    }
}

fn purpose_of_line(line: &[u8]) -> Option<&str> {
    let value = line.trim_ascii();
    let is_token = (1..=LONGEST).contains(&value.len()) && value.iter().copied().all(is_token_byte);
    if is_token { core::str::from_utf8(value).ok() } else { None }
}

impl fmt::Display for Purposes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().enumerate().try_for_each(|(place, purpose)| {
            f.write_str(if place == 0 { "" } else { ", " })?;
            f.write_str(purpose)
        })
    }
}

impl Serialize for Purposes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::*;
    use crate::NoFiles;
    use crate::request::tests::Asked;

    #[test]
    fn each_line_declares_a_purpose() {
        let ruleset = Ruleset::compile("c.json", b"{}", &NoFiles).ruleset.unwrap();
        let long = "x".repeat(LONGEST + 1);
        for (lines, expected) in [
            (&["search"][..], Some("search")),
            (&["search", "training"], Some("search, training")),
            (&[" search ", "search"], Some("search, search")),
            (&["a", "b", "c", "d", "e", "f", "g", "h"], Some("a, b, c, d, e, f, g, h")),
            (&["a", "b", "c", "d", "e", "f", "g", "h", "i"], None),
            (&["search, training"], None),
            (&["search", ""], None),
            (&["", "search"], None),
            (&["search", &*long], None),
            (&[], None),
        ] {
            let headers: Vec<(&str, &str)> = lines.iter().map(|line| ("automation-purpose", *line)).collect();
            let request = Asked { headers: &headers, ..Asked::default() };
            let declared = Purposes::declared(&ruleset, None, None, &request);
            assert_eq!(declared.map(|purposes| purposes.to_string()).as_deref(), expected, "{lines:?}");
            assert!(declared.is_none_or(|purposes| purposes.source() == PurposeSource::Header));
        }
    }
}
