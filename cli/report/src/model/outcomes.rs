//! The rows for decisions, and for the changes of another configuration.

use crawlpike_core::{Action, Identity, Proof, Reason};
use hashbrown::HashMap;
use serde::Serialize;

use crate::changes::Changes;
use crate::tally::Sender;
use crate::tally::group::{Outcome, Sums};

/// A decision, and how many requests it was made about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct OutcomeRow {
    pub(crate) identity: Identity,
    /// The proof that verified the agent.
    pub(crate) proof: Option<Proof>,
    /// The action that is taken, or would be.
    pub(crate) action: Action,
    pub(crate) reason: Reason,
    /// The line that decided, such as `robots.txt:4`.
    pub(crate) rule: Option<String>,
    pub(crate) site: Option<String>,
    /// True if it is carried out.
    pub(crate) enforced: bool,
    #[serde(flatten)]
    pub(crate) sums: Sums,
}

/// A decision that another configuration makes differently.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Change {
    /// The agent, or `null`.
    pub(crate) agent: Option<String>,
    /// The sender: the agent, or `people`, `unknown agents`, `undeclared, from FEED`.
    pub(crate) who: String,
    pub(crate) before: OutcomeRow,
    pub(crate) after: OutcomeRow,
    #[serde(flatten)]
    pub(crate) sums: Sums,
}

impl Outcome<'_> {
    pub(crate) fn is_denial(&self) -> bool {
        self.action == Action::Deny
    }

    /// Returns true if the request counts as automated. An undeclared client that a site takes for a person does not.
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

    /// The order of decisions about equally many requests.
    fn key(&self) -> impl Ord + use<> {
        let words = (self.identity.as_str(), self.action.as_str(), self.reason.as_str());
        (std::cmp::Reverse(self.sums.requests), words, self.rule.clone(), self.site.clone(), self.enforced)
    }
}

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
