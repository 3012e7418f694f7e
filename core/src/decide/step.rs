//! The steps of a decision, for explanations: the code that decides reports them itself.

use alloc::borrow::Cow;
use alloc::format;

use crate::config::{AgentAction, Mode, Treatment};
use crate::decide::decision::Action;
use crate::identity::{Identity, SignatureResult};
use crate::path::spelling::Spelling;
use crate::policy::lines::Lines;
use crate::policy::robots::GroupId;
use crate::reason::Reason;
use crate::ruleset::exempt::Exemption;
use crate::ruleset::sites::{PolicyFile, PreferencesPolicy, RobotsPolicy};
use crate::source::position::Position;

/// A step of a decision, in the order in which they are taken; steps that are not reached are not reported.
#[derive(Clone, Copy, Debug)]
pub enum Step<'r> {
    /// The mode; the scope of the part of the site that sets it (`None`: the document or the host does), and the spelling
    /// of the path in which it is in that part.
    Mode(Mode, Option<&'r str>, Spelling),
    /// The result of the request's signatures.
    Signature {
        /// The result.
        result: SignatureResult,
        /// True if the one that counts lives longer than 24 hours, so that it can be replayed as long.
        is_long_lived: bool,
    },
    /// Only a share of the client addresses is enforced on, and whether this one is.
    Share {
        /// The share in percent.
        percent: u8,
        /// True if the client's address is among them.
        is_enforced_on: bool,
    },
    /// The User-Agent has the token of this agent, but does not begin with it, so that it claims nothing (AIWI-1).
    MisplacedToken(&'r str),
    /// The site or the document exempts the client's address, so that nothing else is asked.
    Exempt(Exemption),
    /// The treatment of clients of this identity.
    Treatment {
        /// The identity.
        identity: Identity,
        /// The treatment.
        treatment: Treatment,
        /// The position of the setting in the document; `None`: it is the default.
        position: Option<Position>,
    },
    /// The next steps judge an undeclared client whatever the site does with browsers from there.
    UndeclaredAutomation,
    /// The action for the agent, whatever the site.
    Agent(AgentAction),
    /// A rule of the site on the client's place holds.
    Place(Treatment),
    /// The policy files are asked for the path in another spelling, too.
    Spelling(Spelling),
    /// The verdict of a policy file of the site.
    Policy(PolicyVerdict<'r>),
    /// The request would be denied for this reason, but its path is one that never is.
    AlwaysReadable(Reason),
}

/// The verdict of one policy file on a request.
#[derive(Clone, Copy, Debug)]
pub struct PolicyVerdict<'r> {
    /// The action, if no other policy is stricter.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// The line that says so; `None` where no rule holds, so that all is allowed.
    pub line: Option<u32>,
    pub(super) source: Source<'r>,
}

/// The policy that a verdict comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'r> {
    Robots(&'r PolicyFile<RobotsPolicy>, GroupId),
    /// With the first line of the group that decides.
    Preferences(&'r PreferencesPolicy, Option<u32>),
}

impl<'r> PolicyVerdict<'r> {
    /// The file, as the configuration names it.
    pub fn file(&self) -> &'r str {
        match self.source {
            Source::Robots(file, _) => &file.path,
            Source::Preferences(policy, _) => &policy.file.path,
        }
    }

    /// The group that decides, in words; `None` where none holds for the request.
    pub fn group(&self) -> Option<Cow<'r, str>> {
        match self.source {
            Source::Robots(file, group) => {
                file.rules.rules.token_of(group).map(|token| format!("the group of {token}").into())
            }
            Source::Preferences(_, line) => line.map(|line| format!("the group in line {line}").into()),
        }
    }

    /// The text of its line, without comment.
    pub fn text(&self) -> Option<Cow<'r, str>> {
        let file: &[u8] = match self.source {
            Source::Robots(file, _) => &file.served.bytes,
            Source::Preferences(policy, _) => &policy.file.served.bytes,
        };
        let wanted = self.line?;
        let found = Lines::new(file).find(|line| line.number == wanted)?;
        Some(alloc::string::String::from_utf8_lossy(found.content()))
    }
}
