//! One round: asks the publishers that may be asked, in parallel, and judges and keeps what they answer.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crawlward_core::{Judge, Subscription, Subscriptions, Verdict};
use crawlward_files::{FilesBeside, Readers, Replaced, read_file, renew, replace};
use sha2::{Digest, Sha256};
use ureq::http::header;

use crate::update::http::{Answer, Client, Condition, Query, Reply, Trouble};
use crate::update::parallel::{Fetched, ask_all};
use crate::update::report::{Outcome, Report, Reporter};
use crate::update::schedule::{self, HOUR, SHORTEST};
use crate::update::state::{Copy, Entry, Locked, validator};

/// How long a round that goes on keeps what it knows to itself.
const UNSAVED: Duration = Duration::from_secs(1);

/// A round, before it begins.
pub(super) struct Round<'a> {
    pub(super) subscriptions: &'a Subscriptions,
    pub(super) files: &'a FilesBeside,
    pub(super) client: &'a Arc<Client>,
    /// How many publishers are asked at once.
    pub(super) jobs: usize,
    /// The feeds to look at, by name; empty: all.
    pub(super) only: &'a [String],
    /// The feeds whose next version the operator accepts.
    pub(super) accepted: &'a [String],
    pub(super) dry_run: bool,
    /// Whether the round repeats by itself, without anybody who wants to know the state of all feeds.
    pub(super) is_watch: bool,
}

/// What became of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    /// Whether each feed is what its publisher publishes.
    pub(super) all_current: bool,
    /// Whether the server has something to read.
    pub(super) has_changes: bool,
}

/// A feed that is asked for.
struct Asked<'a> {
    feed: Subscription<'a>,
    query: Query,
}

/// What to do about a feed.
enum Plan {
    Ask(Query),
    /// Nothing, for this reason, until this time in seconds since the Unix epoch.
    Leave(Outcome, i64),
}

impl Round<'_> {
    /// Asks, judges and keeps; `stopped` says now and then whether to stop at once.
    ///
    /// # Errors
    ///
    /// If the state cannot be written.
    pub(super) fn run(
        &self,
        locked: &mut Locked,
        reporter: &mut Reporter,
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Ended, String> {
        let mut ended = Ended { all_current: true, has_changes: false };
        let names: Vec<&str> = self.subscriptions.feeds().map(|feed| feed.name).collect();
        locked.state.feeds.retain(|name, _| names.contains(&name.as_str()));
        let mut asked = Vec::new();
        for feed in self.selected() {
            let entry = locked.state.feeds.get(feed.name).filter(|entry| entry.url == feed.url);
            match self.plan(&feed, entry) {
                Plan::Ask(query) => asked.push(Asked { feed, query }),
                Plan::Leave(outcome, due) => {
                    ended.all_current &= outcome.is_current();
                    if !self.is_watch {
                        reporter.tell(&Report::new(feed, outcome, due));
                    }
                }
            }
        }
        self.subscriptions.judging(self.files, |judge| {
            let mut saved = Instant::now();
            let queries = asked.iter().map(|asked| asked.query.clone());
            let mut done = 0;
            reporter.progress(done, asked.len());
            ask_all(self.client, queries, self.jobs, stopped, |number, fetched| {
                let Some(Asked { feed, .. }) = asked.get(number) else { return Ok(()) };
                let entry = locked.state.feeds.entry(feed.name.to_owned()).or_default();
                if entry.url != feed.url {
                    *entry = Entry { url: feed.url.to_owned(), ..Entry::default() };
                }
                let (report, has_changes) = self.settle(feed, entry, fetched, judge);
                ended.all_current &= report.outcome.is_current();
                ended.has_changes |= has_changes;
                locked.state.is_undelivered |= has_changes;
                reporter.tell(&report);
                done += 1;
                reporter.progress(done, asked.len());
                if saved.elapsed() >= UNSAVED {
                    self.save(locked)?;
                    saved = Instant::now();
                }
                Ok(())
            })
        })?;
        self.save(locked)?;
        Ok(ended)
    }

    /// The feeds to look at.
    fn selected(&self) -> impl Iterator<Item = Subscription<'_>> {
        let is_selected = |name: &str| self.only.is_empty() || self.only.iter().any(|only| only == name);
        self.subscriptions.feeds().filter(move |feed| is_selected(feed.name))
    }

    /// From when on a feed is due again, in seconds since the Unix epoch: the first of all.
    pub(super) fn next(&self, locked: &Locked) -> Option<i64> {
        let due = |feed: Subscription<'_>| {
            let entry = locked.state.feeds.get(feed.name).filter(|entry| entry.url == feed.url);
            entry.map_or(0, due_by_itself)
        };
        self.selected().map(due).min()
    }

    fn save(&self, locked: &Locked) -> Result<(), String> {
        if self.dry_run { Ok(()) } else { locked.save() }
    }

    fn plan(&self, feed: &Subscription<'_>, entry: Option<&Entry>) -> Plan {
        let now = crawlward_files::now();
        let copy = entry.and_then(|entry| entry.copy.as_ref());
        let copy = copy.filter(|copy| self.digest(feed.source).as_ref() == Some(&copy.digest));
        if let Some(entry) = entry.filter(|entry| !self.is_due(feed, entry, copy.is_some(), now)) {
            let outcome = match &entry.error {
                Some(error) => Outcome::Waiting(error.clone()),
                None => Outcome::Fresh,
            };
            return Plan::Leave(outcome, entry.due);
        }
        let condition = copy.filter(|_| !self.accepts(feed.name)).map(|copy| Condition {
            url: copy.url.clone(),
            etag: copy.etag.clone(),
            last_modified: copy.last_modified.clone(),
        });
        Plan::Ask(Query { url: feed.url.to_owned(), bytes: feed.bytes as u64, condition })
    }

    fn accepts(&self, name: &str) -> bool {
        self.accepted.iter().any(|accepted| accepted == name)
    }

    fn is_due(&self, feed: &Subscription<'_>, entry: &Entry, has_copy: bool, now: i64) -> bool {
        // A clock that was set back says nothing about the time since.
        let is_of_the_future = entry.asked.is_some_and(|asked| asked > now);
        let is_named = self.only.iter().any(|only| only == feed.name);
        let since_asked = entry.asked.map_or(i64::MAX, |asked| now.saturating_sub(asked));
        let is_due = match self.is_watch {
            true => due_by_itself(entry) <= now,
            // Whoever starts a run knows more than we do: the network is back, or a file was lost. The publisher is still
            // spared (JAFAR-15).
            false => {
                let is_lost = !has_copy && entry.failures == 0;
                let is_unreached = entry.failures > 0 && !entry.was_asked;
                let was_left_alone = is_named && entry.error.is_none() && since_asked >= HOUR;
                entry.due <= now || is_lost || is_unreached || was_left_alone
            }
        };
        is_due || is_of_the_future || self.accepts(feed.name)
    }

    /// The digest of a file; `None` if it cannot be read.
    fn digest(&self, source: &str) -> Option<String> {
        read_file(&self.files.path(source)).ok().map(|bytes| digest(&bytes))
    }

    /// Judges and keeps an answer; also says whether the server has something to read.
    fn settle<'f>(
        &self,
        feed: &Subscription<'f>,
        entry: &mut Entry,
        fetched: Fetched,
        judge: &mut Judge<'_>,
    ) -> (Report<'f>, bool) {
        let now = crawlward_files::now();
        let (fetched, redirects, moved_to) = match fetched {
            Ok(answer) => {
                let moved_to = answer.moved_to().map(ToString::to_string);
                let redirects = answer.redirects.clone();
                (Ok(answer), redirects, moved_to)
            }
            Err(trouble) => {
                let redirects = trouble.redirects.clone();
                (Err(trouble), redirects, None)
            }
        };
        entry.redirects = redirects.iter().map(|one| (one.status, one.to.to_string())).collect();
        let settled =
            fetched.map_err(Setback::Trouble).and_then(|answer| self.keep(feed, entry, answer, judge, now));
        let mut kept = Kept::default();
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
                    _ => now.saturating_add(schedule::pause(entry.failures, was_asked, retry_after)),
                };
                let (outcome, reason) = match setback {
                    Setback::Held(why) => (Outcome::Held(why.clone()), why),
                    Setback::Own(why) => (Outcome::Failed(why.clone()), why),
                    Setback::Trouble(Trouble { reason, .. }) => (Outcome::Failed(reason.clone()), reason),
                };
                entry.error = Some(reason);
                outcome
            }
        };
        let Kept { is_new, is_renewed, prefixes, unreadable, change, warnings } = kept;
        let has_changes = is_new || (is_renewed && feed.max_age.is_some());
        let report = Report {
            redirects,
            moved_to,
            prefixes,
            unreadable,
            change,
            warnings,
            ..Report::new(*feed, outcome, entry.due)
        };
        (report, has_changes)
    }

    /// Judges an answer, and keeps a good one in the feed's file and as its last good version.
    fn keep(
        &self,
        feed: &Subscription<'_>,
        entry: &mut Entry,
        answer: Answer,
        judge: &mut Judge<'_>,
        now: i64,
    ) -> Result<Kept, Setback> {
        let path = self.files.path(feed.source);
        let says_freshness =
            [header::CACHE_CONTROL, header::EXPIRES].iter().any(|name| answer.headers.contains_key(name));
        let freshness = schedule::freshness(&answer.headers, SystemTime::now());
        let mut kept = Kept::default();
        let mut content = match answer.reply {
            Reply::NotModified => {
                if let Some(copy) = entry.copy.as_mut().filter(|_| says_freshness) {
                    copy.freshness = freshness;
                }
                self.confirm(feed, &path, &mut kept);
                return Ok(kept);
            }
            Reply::Content(content) => content,
        };
        let mut bytes = Vec::with_capacity(usize::try_from(content.size).unwrap_or_default());
        let read = content.file.read_to_end(&mut bytes);
        read.map_err(|error| Setback::Own(format!("cannot read the answer: {error}")))?;
        drop(content);
        let verdict = judge.judge(feed.name, bytes, now);
        let bytes = match verdict {
            Some(Verdict::Good { bytes, prefixes, unreadable, change }) => {
                kept = Kept { prefixes: Some(prefixes), unreadable, change, ..kept };
                bytes
            }
            Some(Verdict::Held(why)) => return Err(Setback::Held(why)),
            Some(Verdict::Unusable(why)) => return Err(Setback::Trouble(Trouble::answered(why))),
            None => return Err(Setback::Own("the configuration has no such feed".into())),
        };
        if self.dry_run {
            kept.is_new = read_file(&path).ok().is_none_or(|old| old != bytes);
        } else {
            self.files.remove_unfinished(feed.source);
            kept.is_new = put(&path, bytes)
                .map_err(|why| Setback::Own(format!("cannot write {}: {why}", feed.source)))?;
            if let Err(error) = self.files.keep_one(feed.source, bytes) {
                kept.warnings.push(error.to_string());
            }
        }
        if !kept.is_new {
            self.confirm(feed, &path, &mut kept);
        }
        let headers = Some(&answer.headers).filter(|headers| !schedule::forbids_storing(headers));
        let header = |name| headers?.get(name).and_then(|value| validator(value.to_str().ok()?));
        entry.copy = Some(Copy {
            url: answer.url.to_string(),
            etag: header(header::ETAG),
            last_modified: header(header::LAST_MODIFIED),
            freshness,
            digest: digest(bytes),
        });
        Ok(kept)
    }

    /// Notes in the time of a file that it is current, if that time is old: `max_age` counts from it.
    fn confirm(&self, feed: &Subscription<'_>, path: &Path, kept: &mut Kept) {
        const DAY: u64 = 24 * 3600;
        let now = SystemTime::now();
        let precision = feed.max_age.map_or(DAY, |age| (age.unsigned_abs() / 4).min(DAY));
        let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| now.duration_since(modified).ok());
        // A time in the future is that of a clock that was wrong.
        if self.dry_run || age.is_some_and(|age| age.as_secs() < precision) {
            return;
        }
        match renew(path, now) {
            Ok(()) => kept.is_renewed = true,
            Err(error) => kept.warnings.push(format!(
                "cannot set the time of {}: {error}; it ages although it is current",
                feed.source
            )),
        }
    }
}

/// What was kept.
#[derive(Debug, Default)]
struct Kept {
    /// Whether the file has another content now.
    is_new: bool,
    /// Whether the file has another time now.
    is_renewed: bool,
    prefixes: Option<usize>,
    unreadable: usize,
    change: Option<crawlward_core::Change>,
    warnings: Vec<String>,
}

/// Why nothing was kept.
#[derive(Debug)]
enum Setback {
    Trouble(Trouble),
    Held(String),
    /// It is this machine's fault.
    Own(String),
}

/// From when on `--watch` asks for a feed. Only an explicit permission makes that sooner than in an hour (JAFAR-15).
fn due_by_itself(entry: &Entry) -> i64 {
    match entry.asked {
        Some(asked) if entry.due <= asked => asked.saturating_add(HOUR),
        Some(asked) => entry.due.max(asked.saturating_add(SHORTEST)),
        None => entry.due,
    }
}

/// Writes a file, also in a folder that is not there yet; gives whether it was written.
fn put(path: &Path, bytes: &[u8]) -> std::io::Result<bool> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    Ok(replace(path, bytes, Readers::EVERYBODY)? != Replaced::Unchanged)
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
