//! Judges answers, and keeps good ones.

use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crawlpike_core::{Argument, Judge, Source, Subscriptions, Verdict};
use crawlpike_files::{PagedFile, Readers, renew, replace};
use sha2::{Digest, Sha256};
use ureq::http::header;

use crate::http::{Answer, Reply, Trouble};
use crate::update::keys::KeysChange;
use crate::update::policy::{self, Instead};
use crate::update::report::Outcome;
use crate::update::round::Round;
use crate::update::schedule;
use crate::update::state::{Copy, Entry, Locked, validator};
use crate::update::subject::{Kind, Subject};

/// The result of an answer.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// True if the content of the file changed.
    pub(super) is_new: bool,
    /// True if the time of the file changed.
    pub(super) is_renewed: bool,
    /// The content that the file has now without a new version.
    pub(super) instead: Option<&'static str>,
    pub(super) prefixes: Option<usize>,
    pub(super) unreadable: usize,
    /// The number of special-purpose prefixes, which are left out.
    pub(super) special: usize,
    pub(super) change: Option<crawlpike_core::Change>,
    pub(super) keys: Option<KeysChange>,
    pub(super) warnings: Vec<String>,
}

/// The reason why nothing was kept.
#[derive(Debug)]
pub(super) enum Setback {
    Trouble(Trouble),
    Held(String),
    /// A failure of this machine.
    Own(String),
}

impl Round<'_> {
    /// Handles a policy without a new version; a feed and a directory are left as they are.
    pub(super) fn without_answer(
        &self,
        subject: &Subject<'_>,
        entry: &mut Entry,
        trouble: Trouble,
        kept: &mut Kept,
        locked: &mut Locked,
    ) -> Result<Kept, Setback> {
        let Kind::Policy(policy) = subject.kind else { return Err(Setback::Trouble(trouble)) };
        if trouble.is_refused {
            return Err(Setback::Held(trouble.reason));
        }
        let path = self.files.path(subject.source);
        match policy::instead(policy, subject.url, &trouble, &path) {
            Instead::Keep => Err(Setback::Trouble(trouble)),
            Instead::Everything(text) => {
                kept.is_new = self.put(subject, Source::Bytes(text.as_bytes()), locked)?;
                kept.instead = Some("disallows everything from now on [ROB-6]");
                Err(Setback::Trouble(trouble))
            }
            Instead::None(text) => {
                let bytes = Source::Bytes(text.as_bytes());
                let mut none = Kept { is_new: self.put(subject, bytes, locked)?, ..Kept::default() };
                if !none.is_new {
                    self.confirm(subject, &mut none, locked);
                }
                none.warnings
                    .push(format!("{}; {} has no rules from now on", trouble.reason, subject.source));
                entry.copy = Some(Copy {
                    url: subject.url.to_owned(),
                    freshness: schedule::USUAL,
                    digest: digest(bytes).map_err(Setback::Own)?,
                    ..Copy::default()
                });
                Ok(none)
            }
        }
    }

    /// Judges an answer, and keeps a good one in its file; that of a feed as its last good version, too.
    pub(super) fn keep(
        &self,
        subject: &Subject<'_>,
        entry: &mut Entry,
        answer: Answer,
        judge: &mut Judge<'_>,
        locked: &mut Locked,
    ) -> Result<Kept, Setback> {
        let Answer { reply, headers, url, .. } = answer;
        let says_freshness =
            [header::CACHE_CONTROL, header::EXPIRES].iter().any(|name| headers.contains_key(name));
        let freshness = schedule::freshness(&headers, SystemTime::now()).min(subject.kind.longest_fresh());
        let mut kept = Kept::default();
        let body = match reply {
            Reply::NotModified => {
                if let Some(copy) = entry.copy.as_mut().filter(|_| says_freshness) {
                    copy.freshness = freshness;
                }
                self.confirm(subject, &mut kept, locked);
                return Ok(kept);
            }
            Reply::Content(body) => body,
        };
        let unreadable = |error: &dyn Display| Setback::Own(format!("cannot read the answer: {error}"));
        let content = body.into_content().map_err(|error| unreadable(&error))?;
        let small;
        let content = match subject.kind {
            Kind::Feed(_) => match judge.judge(subject.name, content, crawlpike_files::now()) {
                Some(Verdict::Good { file, prefixes, unreadable, special, change }) => {
                    if let Some(why) = self.why_unjudged(subject) {
                        return Err(Setback::Own(why));
                    }
                    kept = Kept { prefixes: Some(prefixes), unreadable, special, change, ..kept };
                    file.as_source()
                }
                Some(Verdict::Held(why)) => return Err(Setback::Held(why)),
                Some(Verdict::Unusable(why)) => return Err(Setback::Trouble(Trouble::answered(why))),
                None => return Err(Setback::Own("the configuration has no such feed".into())),
            },
            Kind::Policy(kind) => {
                small = content.into_bytes().map_err(|error| unreadable(&error))?;
                Subscriptions::check_policy(kind, subject.url, &small).map_err(Setback::Held)?;
                Source::Bytes(&small)
            }
            Kind::Directory { is_well_known } => {
                small = content.into_bytes().map_err(|error| unreadable(&error))?;
                let old = fs::read(self.files.path(subject.source)).ok();
                let keys = KeysChange::judge(subject.url, is_well_known, &headers, &small, old.as_deref())
                    .map_err(|why| Setback::Trouble(Trouble::answered(why)))?;
                kept.warnings.extend(keys.warnings());
                kept.keys = Some(keys);
                Source::Bytes(&small)
            }
        };
        kept.is_new = self.put(subject, content, locked)?;
        if matches!(subject.kind, Kind::Feed(_))
            && !self.dry_run
            && let Err(error) = self.files.keep_one(subject.source, content, self.accepts(subject.name))
        {
            kept.warnings.push(error.to_string());
        }
        if !kept.is_new {
            self.confirm(subject, &mut kept, locked);
        }
        let headers = Some(&headers).filter(|headers| !schedule::forbids_storing(headers));
        let header = |name| headers?.get(name).and_then(|value| validator(value.to_str().ok()?));
        entry.copy = Some(Copy {
            url: url.to_string(),
            etag: header(header::ETAG),
            last_modified: header(header::LAST_MODIFIED),
            freshness,
            digest: digest(content).map_err(|error| unreadable(&error))?,
        });
        Ok(kept)
    }

    /// Notes beside a feed whether a newer version is held: for a server, the file then says nothing of addresses that it
    /// lacks. Returns true if the server does not know.
    pub(super) fn note_held(
        &self,
        subject: &Subject<'_>,
        outcome: &Outcome,
        kept: &mut Kept,
        locked: &mut Locked,
    ) -> bool {
        let why = match outcome {
            Outcome::Held(why) => {
                let (document, name) = (Argument(self.subscriptions.document()), Argument(subject.name));
                Some(format!(
                    "{why}; if the new version is right, run `crawlpike update --config {document} --only {name} --accept {name}`"
                ))
            }
            Outcome::Updated | Outcome::Unchanged => None,
            Outcome::Fresh | Outcome::Waiting(_) | Outcome::Failed(_) => return false,
        };
        let is_noted = || self.files.is_held_noted(subject.source, why.as_deref());
        if self.dry_run || !matches!(subject.kind, Kind::Feed(_)) || is_noted() {
            return false;
        }
        let note = || self.files.note_held(subject.source, why.as_deref()).map_err(|error| error.to_string());
        let noted = locked.announce_change().and_then(|()| note());
        let is_new = noted.is_ok();
        kept.warnings.extend(noted.err());
        is_new
    }

    /// Returns false if the file of a policy has something else, which another version of us may have taken for one.
    pub(super) fn is_good(&self, subject: &Subject<'_>) -> bool {
        let Kind::Policy(policy) = subject.kind else { return true };
        let file = fs::read(self.files.path(subject.source));
        file.is_ok_and(|file| Subscriptions::check_policy(policy, subject.url, &file).is_ok())
    }

    /// The reason why nothing can judge a new version of a feed: a good version of it cannot be read.
    pub(super) fn why_unjudged(&self, feed: &Subject<'_>) -> Option<String> {
        let why = self.versions.why_unjudged(feed.source)?;
        Some(format!("{why}; until it can be read, or is removed, no new version of the feed is accepted"))
    }

    /// Writes the file of a subject; returns true if its content changed.
    fn put(&self, subject: &Subject<'_>, content: Source<'_>, locked: &mut Locked) -> Result<bool, Setback> {
        let path = self.files.path(subject.source);
        let old = PagedFile::open(&path);
        let is_new = !old.is_ok_and(|old| Source::Pages(&old).has_the_bytes_of(content).unwrap_or(false));
        if is_new && !self.dry_run {
            locked.announce_change().map_err(Setback::Own)?;
            put(&path, content)
                .map_err(|why| Setback::Own(format!("cannot write {}: {why}", subject.source)))?;
        }
        Ok(is_new)
    }

    /// Notes in the time of a file that it is current, if that time is old: `max_age` counts from it.
    fn confirm(&self, subject: &Subject<'_>, kept: &mut Kept, locked: &mut Locked) {
        let path = self.files.path(subject.source);
        const DAY: u64 = 24 * 3600;
        let now = SystemTime::now();
        let precision = subject.max_age.map_or(DAY, |age| (age.unsigned_abs() / 4).min(DAY));
        let modified = fs::metadata(&path).and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| now.duration_since(modified).ok());
        // A time in the future is that of a clock that was wrong.
        if self.dry_run || age.is_some_and(|age| age.as_secs() < precision) {
            return;
        }
        let announced = subject.max_age.map_or(Ok(()), |_| locked.announce_change());
        match announced.and_then(|()| renew(&path, now).map_err(|error| error.to_string())) {
            Ok(()) => kept.is_renewed = true,
            Err(error) => kept.warnings.push(format!(
                "cannot set the time of {}: {error}; it ages although it is current",
                subject.source
            )),
        }
    }
}

/// Writes a file, also in a folder that is not there yet.
fn put(path: &Path, bytes: Source<'_>) -> std::io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    replace(path, bytes, Readers::EVERYBODY)?;
    Ok(())
}

/// The SHA-256 of all bytes, in hexadecimal.
pub(super) fn digest(bytes: Source<'_>) -> Result<String, String> {
    let mut digest = Sha256::new();
    bytes.each_page(|page| {
        digest.update(page);
        Ok::<_, String>(())
    })?;
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
