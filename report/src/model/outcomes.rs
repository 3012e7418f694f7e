//! What was decided, for whom, and what another configuration changes.

use crawlpike_core::{Action, Identity, Proof, Reason};
use hashbrown::HashMap;
use serde::Serialize;

use crate::changes::Changes;
use crate::tally::Sender;
use crate::tally::group::{Outcome, Sums};

/// A decision, and how many requests it was made about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutcomeRow {
    /// How well the claim held.
    pub identity: Identity,
    /// What verified the agent.
    pub proof: Option<Proof>,
    /// What is done, or would be.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// The line that decided, such as `robots.txt:4`.
    pub rule: Option<String>,
    /// The site.
    pub site: Option<String>,
    /// Whether it is done.
    pub enforced: bool,
    /// How many requests.
    #[serde(flatten)]
    pub sums: Sums,
}

/// A decision that another configuration makes differently.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// The agent, or `null`.
    pub agent: Option<String>,
    /// Whose requests: the agent, or `people`, `unknown agents`, `undeclared, from FEED`.
    pub who: String,
    /// What the configuration decides.
    pub before: OutcomeRow,
    /// What the other one decides.
    pub after: OutcomeRow,
    /// How many requests.
    #[serde(flatten)]
    pub sums: Sums,
}

impl Outcome<'_> {
    pub(crate) fn is_denial(&self) -> bool {
        self.action == Action::Deny
    }

    /// Whether the request counts as that of automation. An undeclared client that a site takes for a person does not.
    pub(crate) fn is_automated(&self) -> bool {
        !matches!((self.identity, self.reason), (Identity::None, _) | (_, Reason::NotAutomated))
    }
}

impl OutcomeRow {
    fn new(outcome: &Outcome<'_>, sums: Sums) -> Self {
        Self {
            identity: outcome.identity,
            proof: outcome.proof,
            action: outcome.action,
            reason: outcome.reason,
            rule: outcome.rule.map(|rule| rule.to_string()),
            site: outcome.site.map(String::from),
            enforced: outcome.enforced,
            sums,
        }
    }

    /// What comes first among decisions about equally many requests.
    fn key(&self) -> impl Ord + use<> {
        let words = (self.identity.as_str(), self.action.as_str(), self.reason.as_str());
        (std::cmp::Reverse(self.sums.requests), words, self.rule.clone(), self.site.clone(), self.enforced)
    }
}

/// The decisions, the most frequent first.
pub(super) fn rows(outcomes: HashMap<Outcome<'_>, Sums>) -> Vec<OutcomeRow> {
    let mut rows: Vec<OutcomeRow> =
        outcomes.iter().map(|(outcome, sums)| OutcomeRow::new(outcome, *sums)).collect();
    rows.sort_by_cached_key(OutcomeRow::key);
    rows
}

/// The changes, the most frequent first.
pub(super) fn changes(changes: Changes<'_>) -> Vec<Change> {
    let change = |(changed, sums): (crate::changes::Changed<'_>, Sums)| Change {
        agent: match changed.sender {
            Some(Sender::Agent(token)) => Some(token.to_string()),
            _ => None,
        },
        who: match changed.sender {
            Some(Sender::Agent(token)) => token.to_string(),
            Some(Sender::Undeclared(feed)) => format!("undeclared, from {feed}"),
            Some(Sender::Person) => "people".to_string(),
            None => "unknown agents".to_string(),
        },
        before: OutcomeRow::new(&changed.before, sums),
        after: OutcomeRow::new(&changed.after, sums),
        sums,
    };
    let mut rows: Vec<Change> = changes.0.into_iter().map(change).collect();
    rows.sort_by_cached_key(|row| (row.before.key(), row.who.clone(), row.after.key()));
    rows
}
