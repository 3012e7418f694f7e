//! One round: asks the publishers that may be asked, in parallel, and judges and keeps what they answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crawlpike_core::{Judge, Source, Subscriptions};
use crawlpike_files::{FilesBeside, PagedFile, Recording};

use crate::http::{Client, Condition, Query, SizeLimit, Trouble};
use crate::update::keep::{Kept, Setback, digest};
use crate::update::parallel::{Fetched, ask_all};
use crate::update::report::{Outcome, Report, Reporter};
use crate::update::schedule::{self, HOUR, SHORTEST};
use crate::update::state::{Entry, Locked};
use crate::update::subject::{Kind, Subject};

/// The time after which a running round saves its state.
const UNSAVED: Duration = Duration::from_secs(1);

/// A round, before it begins.
pub(super) struct Round<'a> {
    pub(super) subscriptions: &'a Subscriptions,
    pub(super) files: &'a FilesBeside,
    /// The versions of feeds by which new ones are judged.
    pub(super) versions: &'a Recording<'a>,
    pub(super) client: &'a Arc<Client>,
    /// The number of publishers that are asked at once.
    pub(super) jobs: usize,
    /// The feeds to look at, by name; empty: all.
    pub(super) only: &'a [String],
    /// The feeds whose next version the operator accepts.
    pub(super) accepted: &'a [String],
    pub(super) dry_run: bool,
    /// True if the round repeats by itself, without a user who wants to see the state of all feeds.
    pub(super) is_watch: bool,
}

/// A feed that is asked for.
struct Asked<'a> {
    subject: Subject<'a>,
    query: Query,
}

/// The plan for a feed.
enum Plan {
    Ask(Query),
    /// Nothing. Times are in seconds since the Unix epoch.
    Leave {
        why: Outcome,
        /// From when on the next run asks.
        due: i64,
        /// From when on `--watch` asks.
        due_by_itself: i64,
    },
}

/// The result of a round.
pub(super) struct Settled {
    /// True if each feed is the version that its publisher publishes.
    pub(super) all_current: bool,
    /// From when on `--watch` asks again, in seconds since the Unix epoch.
    pub(super) next: i64,
}

impl Round<'_> {
    /// Asks, judges and keeps; calls `stopped` now and then, and ends if it returns true.
    ///
    /// # Errors
    ///
    /// If the state cannot be written.
    pub(super) fn run(
        &self,
        locked: &mut Locked,
        reporter: &mut Reporter,
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Settled, String> {
        let mut settled = Settled { all_current: true, next: i64::MAX };
        let known: Vec<Subject<'_>> = self.subjects().collect();
        let is_known = |kind: &str, name: &str| {
            known.iter().any(|subject| subject.kind.word() == kind && subject.name == name)
        };
        locked.state.feeds.retain(|name, _| is_known("feed", name));
        locked.state.policies.retain(|name, _| is_known("policy", name));
        locked.state.directories.retain(|name, _| is_known("directory", name));
        locked.state.distrust_the_future(crawlpike_files::now());
        if !self.dry_run {
            self.files.remove_unfinished(known.iter().map(|subject| subject.source));
        }
        let mut asked = Vec::new();
        for subject in self.selected() {
            match self.plan(&subject, locked.state.entry(&subject)) {
                Plan::Ask(query) => asked.push(Asked { subject, query }),
                Plan::Leave { why, due, due_by_itself } => {
                    settled.all_current &= why.is_current();
                    settled.next = settled.next.min(due_by_itself);
                    if !self.is_watch || matches!(why, Outcome::Failed(_)) {
                        reporter.report(&Report {
                            subject,
                            outcome: why,
                            kept: Kept::default(),
                            redirects: Vec::new(),
                            moved_to: None,
                            due,
                        });
                    }
                }
            }
        }
        if !asked.is_empty() {
            // A state that cannot be written would make everything due again.
            self.save(locked)?;
        }
        self.subscriptions.judging(self.versions, |judge| {
            let mut saved = Instant::now();
            let queries = asked.iter().map(|asked| asked.query.clone());
            ask_all(self.client, queries, self.jobs, stopped, |number, fetched| {
                let Some(Asked { subject, .. }) = asked.get(number) else { return Ok(()) };
                let was_undelivered = locked.state.is_undelivered;
                let new = || Entry { url: subject.url.to_owned(), ..Entry::default() };
                let mut entry = locked.state.entry(subject).cloned().unwrap_or_else(new);
                let (report, has_changes) = self.settle(subject, &mut entry, fetched, judge, locked);
                settled.all_current &= report.outcome.is_current();
                settled.next = settled.next.min(due_by_itself(subject, &entry, false));
                locked.state.entries(subject.kind).insert(subject.name.to_owned(), entry);
                locked.state.is_undelivered = was_undelivered || has_changes;
                reporter.report(&report);
                if saved.elapsed() >= UNSAVED {
                    self.save(locked)?;
                    saved = Instant::now();
                }
                Ok(())
            })
        })?;
        self.save(locked)?;
        Ok(settled)
    }

    /// All that can be fetched.
    fn subjects(&self) -> impl Iterator<Item = Subject<'_>> {
        let feeds = self.subscriptions.feeds().map(Subject::from);
        let policies = self.subscriptions.policies().map(Subject::from);
        feeds.chain(policies).chain(self.subscriptions.key_directories().map(Subject::from))
    }

    /// The subjects of this round.
    fn selected(&self) -> impl Iterator<Item = Subject<'_>> {
        let is_selected = |name: &str| self.only.is_empty() || self.only.iter().any(|only| only == name);
        self.subjects().filter(move |subject| is_selected(subject.name))
    }

    fn save(&self, locked: &Locked) -> Result<(), String> {
        if self.dry_run { Ok(()) } else { locked.save() }
    }

    fn plan(&self, feed: &Subject<'_>, entry: Option<&Entry>) -> Plan {
        let now = crawlpike_files::now();
        let copy = entry.and_then(|entry| entry.copy.as_ref());
        let is_kept = |digest| self.digest(feed.source).as_ref() == Some(digest) && self.is_good(feed);
        let copy = copy.filter(|copy| is_kept(&copy.digest));
        let is_lost = |entry: &Entry| copy.is_none() && entry.failures == 0;
        if let Some(entry) = entry.filter(|entry| !self.is_due(feed, entry, is_lost(entry), now)) {
            let why = match &entry.error {
                Some(error) => Outcome::Waiting(error.clone()),
                None => Outcome::Fresh,
            };
            let due_by_itself = due_by_itself(feed, entry, is_lost(entry));
            return Plan::Leave { why, due: entry.due, due_by_itself };
        }
        // A publisher is not asked for what nothing can judge.
        if let Some(why) = self.why_unjudged(feed) {
            let an_hour_later = now.saturating_add(HOUR);
            return Plan::Leave { why: Outcome::Failed(why), due: now, due_by_itself: an_hour_later };
        }
        let condition = copy.filter(|_| !self.accepts(feed.name)).map(|copy| Condition {
            url: copy.url.clone(),
            etag: copy.etag.clone(),
            last_modified: copy.last_modified.clone(),
        });
        let setting = if let Kind::Feed(_) = feed.kind { " (`limits.bytes` of a feed)" } else { "" };
        Plan::Ask(Query {
            url: feed.url.to_owned(),
            size: SizeLimit::Refusing(feed.bytes as u64, setting),
            condition,
            redirects: feed.redirects(),
            reach: feed.reach(),
        })
    }

    pub(super) fn accepts(&self, name: &str) -> bool {
        self.accepted.iter().any(|accepted| accepted == name)
    }

    fn is_due(&self, feed: &Subject<'_>, entry: &Entry, is_lost: bool, now: i64) -> bool {
        let is_named = self.only.iter().any(|only| only == feed.name);
        let since_asked = entry.asked.map_or(i64::MAX, |asked| now.saturating_sub(asked));
        let is_due = match self.is_watch {
            true => due_by_itself(feed, entry, is_lost) <= now,
            // Whoever starts a run knows more than we do: the network is back, or a file was lost. The publisher is still
            // spared (JAFAR-15).
            false => {
                let is_unreached = entry.failures > 0 && !entry.was_asked;
                let was_left_alone = is_named && entry.error.is_none() && since_asked >= HOUR;
                entry.due <= now || is_lost || is_unreached || was_left_alone
            }
        };
        is_due || self.accepts(feed.name)
    }

    /// The digest of a file; `None` if it cannot be read.
    fn digest(&self, source: &str) -> Option<String> {
        let file = PagedFile::open(&self.files.path(source)).ok()?;
        digest(Source::Pages(&file)).ok()
    }

    /// Judges and keeps an answer; the flag is true if the server has new files to read.
    fn settle<'f>(
        &self,
        feed: &Subject<'f>,
        entry: &mut Entry,
        fetched: Fetched,
        judge: &mut Judge<'_>,
        locked: &mut Locked,
    ) -> (Report<'f>, bool) {
        let now = crawlpike_files::now();
        let (redirects, moved_to) = match &fetched {
            Ok(answer) => (answer.redirects.clone(), answer.moved_to().map(ToString::to_string)),
            Err(trouble) => (trouble.redirects.clone(), None),
        };
        entry.redirects = redirects.iter().map(|one| (one.status, one.to.to_string())).collect();
        (entry.tried, entry.source) = (Some(now), feed.source.to_owned());
        let mut kept = Kept::default();
        let settled = match fetched {
            Ok(answer) => self.keep(feed, entry, answer, judge, locked),
            Err(trouble) => self.without_answer(feed, entry, trouble, &mut kept, locked),
        };
        let outcome = match settled {
            Ok(done) => {
                kept = done;
                entry.asked = Some(now);
                entry.current = Some(now);
                entry.due = now.saturating_add(entry.copy.as_ref().map_or(0, |copy| copy.freshness));
                (entry.failures, entry.error, entry.was_asked) = (0, None, true);
                if kept.is_new { Outcome::Updated } else { Outcome::Unchanged }
            }
            Err(setback) => {
                let (was_asked, retry_after) = match &setback {
                    Setback::Trouble(trouble) => (trouble.was_asked, trouble.retry_after),
                    Setback::Held(_) | Setback::Own(_) => (true, None),
                };
                entry.failures = entry.failures.saturating_add(1);
                entry.was_asked = was_asked;
                if was_asked {
                    entry.asked = Some(now);
                }
                entry.due = match setback {
                    // Not the publisher's fault: as soon as the disk has room, it may be asked again.
                    Setback::Own(_) => now,
                    // The operator's own server, who mends it or the configuration, and looks.
                    Setback::Held(_) if matches!(feed.kind, Kind::Policy(_)) => now,
                    _ => now.saturating_add(schedule::pause(
                        entry.failures,
                        was_asked,
                        retry_after,
                        feed.kind.longest_pause(),
                    )),
                };
                let outcome = match setback {
                    Setback::Held(why) => Outcome::Held(why),
                    Setback::Own(why) | Setback::Trouble(Trouble { reason: why, .. }) => Outcome::Failed(why),
                };
                entry.error = outcome.reason().map(String::from);
                outcome
            }
        };
        let is_noted = self.note_held(feed, &outcome, &mut kept, locked);
        let has_changes = kept.is_new || is_noted || (kept.is_renewed && feed.max_age.is_some());
        let report = Report { subject: feed.clone(), outcome, kept, redirects, moved_to, due: entry.due };
        (report, has_changes)
    }
}

/// From when on `--watch` asks for a feed. Only an explicit permission makes that sooner than in an hour (JAFAR-15), or a new
/// place for its file. If the file is lost where it was, that may happen again and again.
fn due_by_itself(feed: &Subject<'_>, entry: &Entry, is_lost: bool) -> i64 {
    let Some(asked) = entry.asked else { return entry.due };
    let an_hour_later = asked.saturating_add(HOUR);
    let due = match entry.due <= asked {
        true => an_hour_later,
        false => entry.due.max(asked.saturating_add(SHORTEST)),
    };
    match is_lost {
        true if entry.source != feed.source => asked,
        true => due.min(an_hour_later),
        false => due,
    }
}
