//! An edge's files, as `crawlpike update` leaves them.

use std::sync::Arc;

use crawlpike_core::{EarlierGood, FeedFile, Files, FoundFile};

use crate::file::File;

/// The files of a feed. Times are those of the edge's clock.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    newest: (Arc<File>, i64),
    last_good: Arc<File>,
    earlier_good: Option<(Arc<File>, i64)>,
    held: Option<(String, i64)>,
    /// True if the last run found the feed current.
    pub(crate) is_current: bool,
}

/// The outcome of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is in force.
    Good,
    /// It is the version in force.
    Unchanged,
    /// The guard holds it, for this reason.
    Held(String),
    /// There is none, or it is not a feed.
    Failed,
}

impl Copy {
    /// The files after the first version.
    pub(crate) fn new(first: &Arc<File>, now: i64) -> Self {
        Self {
            newest: (Arc::clone(first), now),
            last_good: Arc::clone(first),
            earlier_good: None,
            held: None,
            is_current: true,
        }
    }

    /// Returns true if an answer is the newest version, which the publisher then does not send again.
    pub(crate) fn has(&self, answer: &Arc<File>) -> bool {
        Arc::ptr_eq(&self.newest.0, answer)
    }

    /// Returns true if the guard holds a newer version.
    pub(crate) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Keeps an answer, or what is known of it.
    pub(crate) fn settle(
        &mut self,
        answer: Option<Arc<File>>,
        outcome: Outcome,
        is_accepted: bool,
        now: i64,
    ) {
        self.is_current = matches!(outcome, Outcome::Good | Outcome::Unchanged);
        match (outcome, answer) {
            (Outcome::Good, Some(answer)) => {
                if is_accepted || self.last_good.bytes != answer.bytes {
                    self.keep_earlier(is_accepted, now);
                }
                (self.newest, self.last_good, self.held) = ((Arc::clone(&answer), now), answer, None);
            }
            (Outcome::Unchanged, _) => (self.newest.1, self.held) = (now, None),
            (Outcome::Held(why), _) => self.held = Some((why, now)),
            (Outcome::Good | Outcome::Failed, _) => {}
        }
    }

    fn keep_earlier(&mut self, is_accepted: bool, now: i64) {
        let since = self.earlier_good.as_ref().map(|(_, since)| *since);
        match EarlierGood::next(true, is_accepted, since, now) {
            EarlierGood::Stays => {}
            EarlierGood::Begins => self.earlier_good = Some((Arc::clone(&self.last_good), now)),
            EarlierGood::Ends => self.earlier_good = None,
        }
    }
}

/// The files of all feeds, of which each has its number as its name and path.
pub(crate) struct Folder<'c> {
    /// By the number of the feed.
    pub(crate) copies: &'c [Copy],
    /// The feeds whose next version the operator accepts.
    pub(crate) accepted: &'c [usize],
    /// The time of the edge's clock.
    pub(crate) now: i64,
}

impl Folder<'_> {
    fn copy(&self, path: &str) -> Option<&Copy> {
        self.copies.get(path.parse::<usize>().ok()?)
    }
}

fn found(file: &File, modified: i64) -> FoundFile {
    FoundFile { bytes: file.bytes.clone(), modified: Some(modified) }
}

impl Files for Folder<'_> {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        Ok(self.copy(path).map(|Copy { newest: (file, modified), .. }| found(file, *modified)))
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        self.copy(path).map(|copy| found(&copy.last_good, copy.newest.1))
    }

    fn earlier_good_feed(&self, path: &str) -> Option<FeedFile> {
        let (file, since) = self.copy(path)?.earlier_good.as_ref()?;
        EarlierGood::counts(*since, self.now).then(|| found(file, *since).into())
    }

    fn held(&self, path: &str) -> Option<String> {
        let copy = self.copy(path)?;
        copy.held.as_ref().filter(|(_, since)| copy.newest.1 <= *since).map(|(why, _)| why.clone())
    }

    fn accepts(&self, feed: &str) -> bool {
        feed.parse().is_ok_and(|feed| self.accepted.contains(&feed))
    }
}
