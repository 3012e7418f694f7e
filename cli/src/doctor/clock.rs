//! Times that are wrong: files of the future, keys of another time, and a clock that is before the program itself.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::finding::Finding;
use super::situation::Situation;
use crate::clock::{parse_rfc3339, rfc3339};
use crate::init::newest_copy;

/// The time by which clocks may differ, in seconds.
const SKEW: i64 = 5 * 60;

/// The times in and of the situation's files that are wrong.
pub(crate) fn check(situation: &Situation) -> Vec<Finding> {
    let now = UNIX_EPOCH + Duration::from_secs(situation.now.unsigned_abs());
    let mut findings: Vec<Finding> = before_the_program(now).into_iter().collect();
    let limit = now + Duration::from_secs(SKEW.unsigned_abs());
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
        let file = crawlpike_files::read_file(&path).ok();
        let created = file.and_then(|file| created_in_the_future(&file, situation.now));
        findings.extend(created.map(|created| {
            let what =
                format!("`creationTime` of the feed `{}` is in the future ({})", feed.name, rfc3339(created));
            Finding::warning(what)
                .at(path.display().to_string())
                .remedy("date; if the clock is right, tell the publisher")
        }));
    }
    let ruleset = situation.compiled.as_ref().ok().and_then(|compiled| compiled.ruleset.as_ref());
    for directory in
        ruleset.into_iter().flat_map(|ruleset| ruleset.directories_without_a_key_at(situation.now))
    {
        let what = format!("no key of {directory} holds now, as their `nbf` and `exp` say");
        let remedy = format!("date; crawlpike update --config {}", situation.argument());
        findings.push(Finding::warning(what).at(situation.config.display().to_string()).remedy(remedy));
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

/// The `creationTime` of a feed, in seconds since the Unix epoch, if that is in the future.
pub(crate) fn created_in_the_future(feed: &[u8], now: i64) -> Option<i64> {
    let document: Value = serde_json::from_slice(feed).ok()?;
    let created = parse_rfc3339(document.get("creationTime")?.as_str()?)?;
    (created > now.saturating_add(SKEW)).then_some(created)
}

fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
