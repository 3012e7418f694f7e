//! The states of feeds, one finding for each state.

use crawlpike_core::{FeedInfo, FeedState};

use super::finding::{Finding, feeds, verb};
use super::situation::Situation;
use crate::document::ConfiguredFeed;
use crate::update;

pub(super) fn check(situation: &Situation) -> Vec<Finding> {
    let (found, configured) = (situation.feeds(), situation.configured());
    let of = |name: &str| configured.iter().find(|feed| feed.name == name);
    let update = situation.update();
    let mut findings = Vec::new();
    let with = |state: FeedState| found.iter().filter(move |feed| feed.state == state);

    let is_there =
        |feed: &FeedInfo<'_>| of(feed.name).is_some_and(|one| situation.path(&one.source).exists());
    let has_url = |feed: &FeedInfo<'_>| of(feed.name).is_some_and(|one| one.url.is_some());
    let missing: Vec<&FeedInfo<'_>> = with(FeedState::Missing).collect();
    let names = |wanted: &dyn Fn(&FeedInfo<'_>) -> bool| -> Vec<&str> {
        missing.iter().filter(|feed| wanted(feed)).map(|feed| feed.name).collect()
    };
    let unfetched = names(&|feed| !is_there(feed) && has_url(feed));
    if !unfetched.is_empty() {
        let what = format!("{} {} never been fetched", feeds(&unfetched), verb(&unfetched, "has", "have"));
        findings.push(Finding::fault(what + "; no client is verified by them").remedy(&update));
    }
    for name in names(&|feed| !is_there(feed) && !has_url(feed)) {
        let source = of(name).map_or("", |one| &one.source);
        let path = situation.path(source).display().to_string();
        let what = format!("the feed `{name}` is missing: its file does not exist, and it has no `url`");
        findings.push(
            Finding::fault(what).at(&*path).remedy(format!("put the feed into {path}, or give it a `url`")),
        );
    }
    // It has no prefixes, or has been fetched since the ruleset was compiled.
    let others = names(&is_there);
    let why = missing.iter().find(|feed| others.contains(&feed.name)).and_then(|feed| feed.why.as_deref());
    if let Some(why) = why {
        let what = format!("{} {} missing: {why}", feeds(&others), verb(&others, "is", "are"));
        findings.push(Finding::fault(what + "; no client is verified by them").remedy(&update));
    }
    findings.extend(stale(situation, with(FeedState::Stale), &update));
    for feed in with(FeedState::Held) {
        findings.push(held(situation, feed, of(feed.name)));
    }
    for feed in with(FeedState::Incomplete) {
        let (source, format) = of(feed.name).map_or(("", ""), |one| (&*one.source, &*one.format));
        let path = situation.path(source).display().to_string();
        let remedy = format!("crawlpike lint --lenient --format {format} {path}");
        findings.push(Finding::warning(feed.to_string()).at(path).remedy(remedy));
    }
    findings.extend(last_errors(situation));
    findings.extend(ageless(&found, &configured));
    findings
}

fn stale<'f>(
    situation: &Situation,
    feeds_found: impl Iterator<Item = &'f FeedInfo<'f>>,
    update: &str,
) -> Vec<Finding> {
    let is_of_the_future = |feed: &&FeedInfo<'_>| feed.expires.is_some_and(|expires| expires > situation.now);
    let (future, old): (Vec<_>, Vec<_>) = feeds_found.partition(is_of_the_future);
    let mut findings = Vec::new();
    for (group, remedy) in [(old, update.to_owned()), (future, format!("date; {update}"))] {
        let names: Vec<&str> = group.iter().map(|feed| feed.name).collect();
        let Some(why) = group.first().and_then(|feed| feed.why.as_deref()) else { continue };
        let what = format!("{} {} stale: {why}", feeds(&names), verb(&names, "is", "are"));
        findings.push(Finding::fault(what).remedy(remedy));
    }
    findings
}

/// A feed whose newest version is not in force.
fn held(situation: &Situation, feed: &FeedInfo<'_>, configured: Option<&ConfiguredFeed>) -> Finding {
    let config = situation.argument();
    let source = configured.map_or("", |one| &one.source);
    let place = situation.path(source).display().to_string();
    let remedy =
        format!("if the new version is right: crawlpike compile --config {config} --accept {}", feed.name);
    let finding = match feed.is_usable && situation.has_last_good(source) {
        true => Finding::warning(feed.to_string()),
        false => Finding::fault(feed.to_string()),
    };
    finding.at(place).remedy(remedy)
}

/// The reasons why `crawlpike update` could not fetch feeds, one finding for all.
fn last_errors(situation: &Situation) -> Option<Finding> {
    let remembered = update::remembered(&situation.state);
    let failed: Vec<(&str, &str)> =
        remembered.iter().filter_map(|(name, one)| Some((&**name, one.error.as_deref()?))).collect();
    let names: Vec<&str> = failed.iter().map(|(name, _)| *name).collect();
    let (_, why) = failed.first()?;
    let what = format!("the last attempt to fetch {} failed: {why}", feeds(&names));
    Some(Finding::warning(what).remedy(format!("{} --verbose", situation.update())))
}

/// Feeds that count for ever, however old they are.
fn ageless(found: &[FeedInfo<'_>], configured: &[ConfiguredFeed]) -> Option<Finding> {
    let is_fetched = |name: &str| configured.iter().any(|feed| feed.name == name && feed.url.is_some());
    let is_ageless = |feed: &&FeedInfo<'_>| feed.is_usable && feed.expires.is_none() && is_fetched(feed.name);
    let names: Vec<&str> = found.iter().filter(is_ageless).map(|feed| feed.name).collect();
    let what = format!("{} {} no `max_age`, and never stale", feeds(&names), verb(&names, "has", "have"));
    (!names.is_empty()).then(|| Finding::note(what).remedy("\"max_age\": \"7d\" in the feed"))
}
