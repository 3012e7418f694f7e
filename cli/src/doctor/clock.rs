//! Times that cannot be: files of the future, and a clock that is before the program itself.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::finding::Finding;
use super::situation::Situation;
use crate::clock::rfc3339;
use crate::init::newest_copy;

/// The time by which clocks may differ.
const SKEW: Duration = Duration::from_secs(5 * 60);

/// The times of the situation's files that cannot be.
pub(crate) fn check(situation: &Situation) -> Vec<Finding> {
    let now = UNIX_EPOCH + Duration::from_secs(situation.now.unsigned_abs());
    let mut findings: Vec<Finding> = before_the_program(now).into_iter().collect();
    let limit = now + SKEW;
    let mut future: Vec<(String, SystemTime)> = situation
        .files
        .present()
        .into_iter()
        .filter_map(|(path, modified)| {
            Some((path.display().to_string(), modified.filter(|time| *time > limit)?))
        })
        .collect();
    future.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    if let [(path, time), others @ ..] = &future[..] {
        let more =
            if others.is_empty() { String::new() } else { format!(", and so are {} more", others.len()) };
        let what = format!("the time of the file is in the future ({}){more}", rfc3339(seconds(*time)));
        let remedy = format!("date; if the clock is right: touch {path}");
        findings.push(Finding::warning(what).at(&**path).remedy(remedy));
    }
    for feed in situation.configured().iter().filter(|feed| feed.format == "jafar") {
        let path = situation.path(&feed.source);
        let created = created(&path).filter(|created| *created > seconds(limit));
        findings.extend(created.map(|created| {
            let what =
                format!("`creationTime` of the feed `{}` is in the future ({})", feed.name, rfc3339(created));
            Finding::warning(what)
                .at(path.display().to_string())
                .remedy("date; if the clock is right, tell the publisher")
        }));
    }
    findings
}

/// A clock that shows a time before the feeds that came with the program were fetched.
fn before_the_program(now: SystemTime) -> Option<Finding> {
    let newest = newest_copy().filter(|newest| now < *newest)?;
    let what = format!(
        "the clock of this machine shows {}, a time before this program was made ({})",
        rfc3339(seconds(now)),
        rfc3339(seconds(newest))
    );
    Some(Finding::fault(what).remedy("timedatectl set-ntp true"))
}

/// The `creationTime` of a feed, in seconds since the Unix epoch.
fn created(path: &Path) -> Option<i64> {
    let document: Value = serde_json::from_slice(&crawlpike_files::read_file(path).ok()?).ok()?;
    let text = document.get("creationTime")?.as_str()?;
    Some(OffsetDateTime::parse(text, &Rfc3339).ok()?.unix_timestamp())
}

fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
