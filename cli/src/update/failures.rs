//! The failures of a round: one line for each cause, because a network that is down fails every publisher.

use url::Url;

use crate::update::report::{Outcome, Report};

/// Up to this number, failures that are alike have a line each.
const FEW: usize = 2;

/// The failures of a round.
#[derive(Debug, Default)]
pub(super) struct Failures(Vec<Failed>);

#[derive(Debug)]
struct Failed {
    /// `feed`, `policy` or `directory`.
    kind: &'static str,
    name: String,
    /// The reason as it is for all publishers: without the name of the server.
    cause: String,
    why: String,
    /// True if the publisher was not asked, because the next attempt is not due.
    is_waiting: bool,
    /// The line about this failure alone.
    line: String,
}

impl Failures {
    pub(super) fn add(&mut self, report: &Report<'_>, why: &str, line: String) {
        let url = Url::parse(report.subject.url).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
        // The fate of the file differs.
        let own = report.kept.instead.map(|_| report.subject.name);
        self.0.push(Failed {
            kind: report.subject.kind.word(),
            name: report.subject.name.into(),
            cause: own.map_or_else(|| without(why, host), String::from),
            why: why.into(),
            is_waiting: matches!(report.outcome, Outcome::Waiting(_)),
            line,
        });
    }

    /// The lines for an operator.
    pub(super) fn into_lines(self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut rest = self.0;
        while let Some(first) = rest.first() {
            let key = (first.is_waiting, first.cause.clone());
            let is_alike = |one: &Failed| one.is_waiting == key.0 && one.cause == key.1;
            let (alike, others) = rest.into_iter().partition(is_alike);
            lines.extend(shown(alike));
            rest = others;
        }
        lines
    }
}

fn shown(alike: Vec<Failed>) -> Vec<String> {
    match &alike[..] {
        [Failed { name, why, is_waiting, .. }, ..] if alike.len() > FEW => {
            let (verb, state) = match is_waiting {
                true => ("were", "the next attempts are not due yet"),
                false => ("are", "their files are left as they are"),
            };
            let subjects = subjects(&alike);
            vec![format!(
                "{subjects} {verb} not updated, all for one reason, such as `{name}`: {why}; {state}; --verbose lists them"
            )]
        }
        _ => alike.into_iter().map(|one| one.line).collect(),
    }
}

/// `43 feeds and 6 key directories`.
fn subjects(failed: &[Failed]) -> String {
    let words = [
        ("feed", "feed", "feeds"),
        ("policy", "policy", "policies"),
        ("directory", "key directory", "key directories"),
    ];
    let shown = words.iter().filter_map(|(kind, one, many)| {
        match failed.iter().filter(|failed| failed.kind == *kind).count() {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {many}")),
        }
    });
    shown.collect::<Vec<_>>().join(" and ")
}

fn without(why: &str, host: &str) -> String {
    if host.is_empty() { why.into() } else { why.replace(host, "") }
}
