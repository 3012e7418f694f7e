//! For the fuzz targets, benchmarks and tests of this workspace, which look at parts by themselves. Not part of the API.

pub use crate::catalog::Catalog;
pub use crate::config::RobotsTagSyntax;
pub use crate::feed::guard::{Guard, Proving};
pub use crate::feed::prefix::{PrefixError, parse_prefix, unmap};
pub use crate::feed::versions::{Candidate, Choice, Terms, Unavailable, Version};
pub use crate::feed::{Entries, Feed, FeedBounds, FeedValue, ReadOptions, read as read_feed};
pub use crate::http::host::{HostError, HostPattern, RequestHost};
pub use crate::ids::{FeedId, ValueId};
pub use crate::path::pattern::{PathPattern, PatternError};
pub use crate::path::request::{RequestPath, RequestTarget};
pub use crate::path::rules::PathRule;
pub use crate::path::set::PathSet;
pub use crate::path::spelling::{LONGEST, resolve};
pub use crate::prefix_table::{Entry, Match, PrefixTable, TableError};
pub use crate::source::diagnostic::{Diagnostics, LenientLint, Lint, Load, Strictness};
pub use crate::user_agent::{Claims, ClaimsError, Speaker, Tokens};

/// Policies by themselves.
pub mod policy {
    pub use crate::lint::automation_preferences::scopes_forbidden_by_robots;
    pub use crate::policy::automation_preferences::{
        AccessRequest, Outcome, PreferencesFile, Undeclared, Verdict as PreferencesVerdict,
    };
    pub use crate::policy::lines::whole_lines_within;
    pub use crate::policy::robots::{GroupId, Robots, RobotsFile, Verdict, product_token};
    pub use crate::policy::robots_tag::RobotsTag;
}
