//! Decisions in words.

use crawlpike_core::{Action, DocumentForm};

use crate::model::OutcomeRow;
use crate::numbers::count;
use crate::tally::distinct::Count;

/// `~1,234` for an estimate
pub(super) fn addresses(addresses: Count) -> String {
    format!("{}{}", if addresses.exact { "" } else { "~" }, count(addresses.count))
}

/// `verified (ip-range)`
pub(super) fn identity(row: &OutcomeRow) -> String {
    match row.proof {
        Some(proof) => format!("{} ({proof})", row.identity),
        None => row.identity.to_string(),
    }
}

/// `deny, robots-disallowed, robots.txt:4`
pub(super) fn decision(row: &OutcomeRow) -> String {
    let rule = row.rule.as_ref().map(|rule| format!(", {rule}")).unwrap_or_default();
    let observed = if row.action == Action::Deny && !row.enforced { " (observed)" } else { "" };
    format!("{}, {}{rule}{observed}", row.action, row.reason)
}

/// `markdown`, or `the page: credentials`
pub(super) fn document(outcome: &str) -> String {
    match DocumentForm::ALL.iter().any(|form| form.as_str() == outcome) {
        true => outcome.to_string(),
        false => format!("the page: {outcome}"),
    }
}
