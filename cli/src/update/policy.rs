//! Policies from their publishers: the consequences of an answer, or of none, for the file of a policy.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crawlpike_core::PolicyKind;

use crate::http::Trouble;

/// The time for which a robots.txt counts that cannot be fetched any more (RFC 9309, 2.3.1.4).
const LONGEST_UNREACHABLE: Duration = Duration::from_secs(30 * 24 * 3600);

/// The most seconds for which an answer is fresh (RFC 9309, 2.4).
pub(super) const FRESH: i64 = 24 * 3600;

/// The action for a policy without a new version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Instead {
    /// Its publisher says that there is none: write this.
    None(String),
    /// The file counts on.
    Keep,
    /// Nothing that is known counts any more: write this.
    Everything(String),
}

/// The action after a failed request; `file` is the file of the policy, whose time shows when it was last known to be
/// current.
pub(super) fn instead(policy: PolicyKind, url: &str, trouble: &Trouble, file: &Path) -> Instead {
    match (policy, trouble.status) {
        // A refusal because of too many requests says nothing about the policy.
        (_, Some(429)) => {}
        // ROB-6
        (PolicyKind::Robots, Some(status @ 400..=499)) => {
            return Instead::None(format!(
                "# {url}: {status}. There is no robots.txt, so everything is allowed (RFC 9309, 2.3.1.3).\n"
            ));
        }
        (PolicyKind::AutomationPreferences, Some(status @ (404 | 410))) => {
            return Instead::None(format!("# {url}: {status}. There are no preferences.\n"));
        }
        _ => {}
    }
    let modified = file.metadata().and_then(|metadata| metadata.modified()).ok();
    let age = modified.map(|modified| SystemTime::now().duration_since(modified).unwrap_or_default());
    match (policy, age) {
        (PolicyKind::Robots, age) if age.is_none_or(|age| age > LONGEST_UNREACHABLE) => {
            Instead::Everything(format!(
                "# {url} cannot be fetched, so everything is disallowed (RFC 9309, 2.3.1.4).\nUser-agent: *\nDisallow: /\n"
            ))
        }
        _ => Instead::Keep,
    }
}
