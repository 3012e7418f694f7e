//! The action for a request, and the line of a policy that decided it.

use crate::config::Treatment;
use crate::decide::decision::{Action, RuleRef};
use crate::decide::step::{PolicyVerdict, Source};
use crate::policy::PolicyKind;
use crate::reason::Reason;

/// The action for a request, and the reason.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ruling {
    pub(super) action: Action,
    pub(super) reason: Reason,
    pub(super) rule: Option<RuleRef>,
}

impl Ruling {
    /// Every step allowed it.
    pub(super) const ALLOWED: Self = Self::new(Action::Allow, Reason::Allowed);

    /// A ruling without a rule.
    pub(super) const fn new(action: Action, reason: Reason) -> Self {
        Self { action, reason, rule: None }
    }

    /// The ruling that a treatment settles at once; `denial` is the reason of a denial.
    pub(super) const fn of_treatment(treatment: Treatment, denial: Reason) -> Option<Self> {
        match treatment {
            Treatment::Deny => Some(Self::new(Action::Deny, denial)),
            Treatment::Allow => Some(Self::ALLOWED),
            Treatment::Policy => None,
        }
    }

    pub(super) const fn is_denial(&self) -> bool {
        matches!(self.action, Action::Deny)
    }
}

impl From<PolicyVerdict<'_>> for Ruling {
    fn from(PolicyVerdict { action, reason, line, source }: PolicyVerdict<'_>) -> Self {
        let file = match source {
            Source::Robots(..) => PolicyKind::Robots,
            Source::Preferences(..) => PolicyKind::AutomationPreferences,
        };
        Self { action, reason, rule: line.map(|line| RuleRef { file, line }) }
    }
}
