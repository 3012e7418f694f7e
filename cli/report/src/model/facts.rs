//! The headline: facts in words.

use std::collections::BTreeMap;

use crawlpike_core::{Action, Identity};

use super::{Documents, Input, Kind, KindRow, LimitRow, Limits, Report, Row};
use crate::harmless::harmless;
use crate::numbers::{bytes, count, share, shown_time};

/// The most important facts.
pub(super) fn of(report: &Report) -> Vec<String> {
    let mut facts: Vec<String> = partial(report).into_iter().chain(private(report)).collect();
    facts.push(requests(report));
    facts.extend(spoofed(report));
    facts.extend(unverified(report));
    facts.extend(denied(report));
    facts.extend(verified_but_denied(report));
    facts.extend(disallowed(report));
    facts.extend(unknown(report));
    facts.extend(uncovered(report));
    facts.extend(documents(report));
    facts.extend(off(report));
    facts.extend(report.limits.iter().flat_map(limits));
    facts.extend(lines(report));
    facts
}

fn partial(report: &Report) -> Option<String> {
    let text = "This report is partial: it was interrupted, and has only what had been read until then.";
    report.partial.then(|| text.to_string())
}

/// The log has the addresses of a proxy, not those of clients: all that follows is to be read with that in mind.
fn private(report: &Report) -> Option<String> {
    let Input { requests, private, from_private, .. } = report.input;
    let what = match (from_private * 2 > requests, private) {
        (true, _) => format!(
            "{} of {} requests come from private addresses, which neither verify nor refute a claim.",
            count(from_private),
            count(requests)
        ),
        (false, 0) => return None,
        (false, 1) => {
            "1 request claims an agent from a private address, which neither verifies nor refutes the claim."
                .into()
        }
        (false, _) => format!(
            "{} requests claim an agent from a private address, which neither verifies nor refutes the claim.",
            count(private)
        ),
    };
    Some(format!(
        "{what} If a proxy is in front, have the server log the client's real address; `crawlpike doctor` says how."
    ))
}

fn requests(report: &Report) -> String {
    let total = &report.total;
    let automated = share(total.automated.requests, total.all.requests);
    let time = match (&report.first, &report.last) {
        (Some(first), Some(last)) => format!(" from {} to {}", shown_time(first), shown_time(last)),
        _ => String::new(),
    };
    match total.all.requests {
        0 => "There are no requests to report on.".to_string(),
        all => format!("{} requests{time}. {automated} of them are automated.", count(all)),
    }
}

/// The three agents with the most impostors.
fn spoofed(report: &Report) -> impl Iterator<Item = String> {
    let of = |row: &Row| row.requests_of(Identity::Spoofed);
    top(report.agents.iter(), of, 3).map(move |row| {
        let all = row.all.requests;
        format!(
            "{} of the requests that claim {} ({} of {}) are not from its published ranges.",
            share(of(row), all),
            harmless(&row.name),
            count(of(row)),
            count(all)
        )
    })
}

fn unverified(report: &Report) -> Option<String> {
    let of = |row: &Row| row.requests_of(Identity::Unverified);
    let all: u64 = report.agents.iter().map(of).sum();
    let most = top(report.agents.iter(), of, 1).next()?;
    let why = most.doubts.first().map(|doubt| format!(": {}", harmless(doubt))).unwrap_or_default();
    let name = harmless(&most.name);
    Some(match all == of(most) {
        true => format!("{} requests claim {name} and cannot be verified{why}.", count(all)),
        false => format!(
            "{} requests claim agents and cannot be verified. Of these, {} claim {name}{why}.",
            count(all),
            most_or_count(of(most), all)
        ),
    })
}

fn denied(report: &Report) -> Vec<String> {
    let total = &report.total;
    if total.all.requests == 0 {
        return Vec::new();
    }
    if total.denied.requests == 0 {
        return vec!["The configuration denies none of these requests.".to_string()];
    }
    let share = share(total.denied.requests, total.automated.requests);
    let mut facts = vec![format!(
        "The configuration denies {share} of the automated requests: {}, with {} sent.",
        count(total.denied.requests),
        bytes(total.denied.bytes)
    )];
    let observed = total.denied.requests - total.enforced.requests;
    if observed == total.denied.requests {
        facts.push("The mode is `observe` for all of them: Crawlpike lets them through.".to_string());
    } else if observed > 0 {
        facts.push(format!(
            "Crawlpike lets {} of them through, because the mode is `observe` there.",
            count(observed)
        ));
    }
    let mut by_cause: BTreeMap<String, u64> = BTreeMap::new();
    for outcome in report.agents.iter().flat_map(|row| &row.outcomes).filter(|row| row.action == Action::Deny)
    {
        let cause = outcome.rule.clone().unwrap_or_else(|| outcome.reason.to_string());
        *by_cause.entry(cause).or_default() += outcome.sums.requests;
    }
    if by_cause.len() > 1
        && let Some((cause, requests)) = by_cause.iter().max_by_key(|(_, requests)| **requests)
    {
        facts.push(format!(
            "The most frequent cause of denials is {}: {}.",
            harmless(cause),
            count(*requests)
        ));
    }
    facts
}

fn verified_but_denied(report: &Report) -> Option<String> {
    let of = |row: &Row| -> u64 {
        let outcomes = row.outcomes.iter();
        let denied = outcomes.filter(|row| row.action == Action::Deny && row.identity == Identity::Verified);
        denied.map(|row| row.sums.requests).sum()
    };
    let all: u64 = report.agents.iter().map(of).sum();
    let most = top(report.agents.iter(), of, 1).next()?;
    let name = harmless(&most.name);
    Some(match all == of(most) {
        true => format!("{} of the denied requests are from verified {name}.", count(all)),
        false => format!(
            "{} of the denied requests are from verified agents, {} of them from {name}.",
            count(all),
            most_or_count(of(most), all)
        ),
    })
}

fn disallowed(report: &Report) -> Option<String> {
    let all: u64 = report.usage().map(|(_, usage)| usage.uses.disallowed).sum();
    let (row, usage) = report.usage().max_by_key(|(_, usage)| usage.uses.disallowed).filter(|_| all > 0)?;
    Some(format!(
        "{} requests are for a purpose that the usage preferences of the path disallow, {} of them {} of {}.",
        count(all),
        most_or_count(usage.uses.disallowed, all),
        usage.purpose,
        harmless(&row.title())
    ))
}

fn unknown(report: &Report) -> Option<String> {
    let all = report.agents.iter().find(|row| row.kind == Kind::Unknown)?;
    let most = report.unknown.agents.first()?;
    Some(format!(
        "{} requests are from automation that claims no known agent, {} of them from {}.",
        count(all.all.requests),
        most_or_count(most.all.requests, all.all.requests),
        harmless(&most.name)
    ))
}

fn uncovered(report: &Report) -> Option<String> {
    let requests = report.uncovered.all.requests;
    let most = report.uncovered.hosts.items.first().filter(|_| requests > 0)?;
    let hosts = match &*most.value {
        "" => String::new(),
        host => format!(" Of these, {} are for {}.", most_or_count(most.requests, requests), harmless(host)),
    };
    Some(format!("No policy covers {} automated requests.{hosts}", count(requests)))
}

fn documents(report: &Report) -> Option<String> {
    let Documents { offered, with_accept, outcomes } = &report.documents;
    if *offered > 0 && *with_accept == 0 {
        return Some(format!(
            "Sites offer documents to {} requests, but the log has the Accept of none of them, so it does not show who wants one: \
             log it, in nginx `$http_accept`, in Envoy `%REQ(ACCEPT)%`.",
            count(*offered)
        ));
    }
    let wanted = outcomes.values().sum();
    (wanted > 0).then(|| format!("{} requests prefer a document to the page.", count(wanted)))
}

fn off(report: &Report) -> Option<String> {
    let off = report.total.off;
    (off > 0).then(|| {
        format!(
            "{} requests are for parts where the mode is `off`: no client is identified there.",
            count(off)
        )
    })
}

fn limits(limits: &Limits) -> Vec<String> {
    let mut facts: Vec<String> = limits.limits.iter().map(limit).collect();
    let counted: u64 = limits.limits.iter().map(|limit| limit.requests).max().unwrap_or_default();
    if limits.whole_seconds * 2 > counted {
        facts.push(
            "The log has times in whole seconds, so for the limits all requests of a second come at once; log `$msec`, in Envoy \
             `%START_TIME%`."
                .into(),
        );
    }
    let untracked: u64 = limits.limits.iter().map(|limit| limit.untracked).sum();
    for (requests, why) in [
        (limits.late, "come too late in the log, and count when they come"),
        (limits.unplaced, "have no time or no address in the log, so no limit counts them"),
        (untracked, "pass because the limits have too many keys at once"),
    ] {
        facts.extend((requests > 0).then(|| format!("{} requests {why}.", count(requests))));
    }
    facts
}

fn limit(row: &LimitRow) -> String {
    let LimitRow { limit, requests, refused, refused_addresses, kinds, .. } = row;
    let limit = harmless(limit);
    if *requests == 0 {
        return format!(
            "The limit `{limit}` counts no request: no client has its key, or no path is costly."
        );
    }
    let of = |row: &KindRow| format!("{} {}", count(row.refused), row.name());
    let kinds: Vec<String> = kinds.iter().filter(|row| row.refused > 0).map(of).collect();
    let all = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
    format!(
        "The limit `{limit}` refuses {} of {} requests ({}), from {} addresses{all}.",
        count(*refused),
        count(*requests),
        share(*refused, *requests),
        count(refused_addresses.count)
    )
}

fn lines(report: &Report) -> Option<String> {
    let input = &report.input;
    let lost = input.unreadable + input.too_long;
    (lost > 0).then(|| format!("{} of {} lines cannot be read.", count(lost), count(input.lines)))
}

/// The size of the largest part in words: it need not be more than half.
fn most_or_count(part: u64, all: u64) -> String {
    if part * 2 > all { "most".to_string() } else { count(part) }
}

/// The rows with the most of something, and with any of it.
fn top<'a, F: Fn(&Row) -> u64>(
    rows: impl Iterator<Item = &'a Row>,
    of: F,
    most: usize,
) -> impl Iterator<Item = &'a Row> {
    let mut rows: Vec<&Row> = rows.filter(|row| of(row) > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(of(row)));
    rows.truncate(most);
    rows.into_iter()
}
