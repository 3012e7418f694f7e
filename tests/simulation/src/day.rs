//! A day of a publisher.

use std::sync::Arc;

use crate::file::{File, Networks};

/// A day of a publisher, which begins at its hour.
#[derive(Clone, Debug)]
pub(crate) struct Day {
    /// The networks from which its crawler comes.
    pub(crate) uses: Networks,
    /// The list that it means to publish.
    pub(crate) list: Networks,
    /// That list as a file.
    pub(crate) file: Arc<File>,
    /// The answer to those who ask; `None`: nothing.
    pub(crate) answer: Option<Arc<File>>,
    /// The networks of those who profit if the answer is taken.
    pub(crate) strangers: Networks,
}
