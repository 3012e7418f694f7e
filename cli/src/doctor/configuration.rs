//! The configuration compiles, and what there is to say of it.

use crawlpike_core::{Compiled, Diagnostic, FeedInfo, FeedState, Severity};

use super::finding::Finding;
use super::situation::Situation;
use crate::document::ConfiguredFeed;

/// The most diagnostics that are shown.
const MOST: usize = 20;

pub(super) fn check(situation: &Situation) -> Vec<Finding> {
    let config = situation.config.display().to_string();
    let compiled = match &situation.compiled {
        Ok(compiled) => compiled,
        Err(error) => {
            let remedy = match error.kind() {
                std::io::ErrorKind::NotFound => "crawlpike init DIR".into(),
                _ => format!("ls -l {}", situation.argument()),
            };
            return vec![Finding::fault(format!("cannot be read: {error}")).at(config).remedy(remedy)];
        }
    };
    let mut findings = diagnostics(situation, compiled);
    if let Some(more) = findings.len().checked_sub(MOST).filter(|more| *more > 0) {
        findings.truncate(MOST);
        let remedy = format!("crawlpike lint --format config {}", situation.argument());
        findings.push(Finding::note(format!("{more} more are not shown")).at(config).remedy(remedy));
    }
    findings
}

fn diagnostics(situation: &Situation, compiled: &Compiled) -> Vec<Finding> {
    let feeds = situation.feeds();
    let others: Vec<Diagnostic> = compiled
        .diagnostics
        .iter()
        .filter(|diagnostic| !is_about_feeds(diagnostic, situation, &feeds))
        .cloned()
        .collect();
    let mut shown = Diagnostic::by_cause(&others);
    // Errors first.
    shown.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.severity));
    shown.into_iter().map(finding).collect()
}

/// Returns true for the states of feeds, which have a check of their own, and for the entries that are the reasons of states.
fn is_about_feeds(diagnostic: &Diagnostic, situation: &Situation, feeds: &[FeedInfo<'_>]) -> bool {
    let is_state = |feed: &FeedInfo<'_>| {
        // A feed that was missing when it was loaded can be stale by now.
        diagnostic.message.starts_with(&format!("the feed `{}` is ", feed.name))
    };
    let is_reason = |feed: &FeedInfo<'_>| {
        let configured = situation.configured();
        let source = configured.iter().find(|one| one.name == feed.name);
        let is_in =
            |one: &ConfiguredFeed| situation.path(&one.source).display().to_string() == diagnostic.file;
        feed.state != FeedState::Ok && source.is_some_and(is_in)
    };
    diagnostic.severity == Severity::Warning && feeds.iter().any(|feed| is_state(feed) || is_reason(feed))
}

fn finding(diagnostic: Diagnostic) -> Finding {
    let place = match diagnostic.position {
        Some(position) => format!("{}:{}:{}", diagnostic.file, position.line, position.column),
        None => diagnostic.file,
    };
    let finding = match diagnostic.severity {
        Severity::Error => Finding::fault(diagnostic.message),
        Severity::Warning => Finding::warning(diagnostic.message),
    };
    finding.at(place)
}
