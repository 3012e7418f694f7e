//! The lookup of a name that can change a decision.

use crate::decide::decision::Decision;
use crate::identity::{Identity, NameLookup};
use crate::request::{NameFact, Request};
use crate::ruleset::data::Ruleset;

impl Ruleset {
    /// The lookup that may verify the client of this decision, unless `known` is its outcome. `None` if none can: the
    /// client claims no agent with names, or another proof settles the identity.
    pub fn name_lookup(
        &self,
        decision: &Decision,
        request: &impl Request,
        known: Option<&NameFact>,
    ) -> Option<NameLookup> {
        let agent = decision.agent.filter(|_| decision.identity == Identity::Unverified)?;
        NameLookup::of(self, agent, self.client_address(request)?, known)
    }
}
