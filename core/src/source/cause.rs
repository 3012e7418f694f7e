//! Causes that diagnostics have in common.

/// A cause that many diagnostics can have at once. One remedy mends all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A feed with a `url` has never been fetched.
    UnfetchedFeed,
    /// A directory of keys has never been fetched.
    UnfetchedKeys,
    /// A feed is older than its `max_age`.
    OldFeed,
    /// The date of a feed is in the future, so that its age is unknown.
    FutureFeed,
}
