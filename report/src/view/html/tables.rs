//! The tables, which have all that the plots show.

use std::collections::BTreeMap;
use std::fmt::Write;

use crawlpike_core::{Action, Identity};

use super::charts::{AUTOMATED, Bar, bars, short_time};
use super::escape::Text;
use crate::model::{Kind, OutcomeRow, Report, Row, Top};
use crate::view::numbers::{bytes, count, share, shown_time};
use crate::view::words::{decision, identity};

/// Opens a table: headings that end with `#` are of numbers, and `heading` names it.
fn open(page: &mut String, caption: &str, headings: &[&str]) {
    let _ = write!(page, "<div class=\"scroll\"><table aria-label=\"{}\"><thead><tr>", Text(caption));
    for heading in headings {
        let _ = match heading.strip_suffix('#') {
            Some(heading) => write!(page, "<th scope=\"col\" class=\"n\">{heading}</th>"),
            None => write!(page, "<th scope=\"col\">{heading}</th>"),
        };
    }
    page.push_str("</tr></thead><tbody>\n");
}

fn close(page: &mut String) {
    page.push_str("</tbody></table></div>\n");
}

fn missing(page: &mut String, missing: u64) {
    if missing > 0 {
        let _ = writeln!(
            page,
            "<p class=\"note\">Estimated: each number may be up to {} too low.</p>",
            count(missing)
        );
    }
}

/// The intervals of the timeline.
pub(super) fn timeline(report: &Report, page: &mut String) {
    page.push_str("<details><summary>Show as a table</summary>\n");
    open(
        page,
        "Requests over time",
        &[
            "start (UTC)",
            "verified#",
            "unverified#",
            "spoofed#",
            "undeclared#",
            "generic#",
            "people#",
            "denied#",
        ],
    );
    for interval in &report.timeline.intervals {
        let _ = write!(
            page,
            "<tr><th scope=\"row\" class=\"time\">{}</th>",
            short_time(&interval.start, report.timeline.seconds)
        );
        for wanted in AUTOMATED.iter().chain([&Identity::None]) {
            let at = report.identities.iter().position(|row| row.identity == *wanted);
            let requests = at.and_then(|at| interval.requests.get(at)).copied().unwrap_or_default();
            let _ = write!(page, "<td class=\"n\">{}</td>", count(requests));
        }
        let _ = writeln!(page, "<td class=\"n\">{}</td></tr>", count(interval.denied));
    }
    close(page);
    page.push_str("</details>\n");
}

/// All agents, each with its details.
pub(super) fn agents(report: &Report, page: &mut String) {
    page.push_str(
        "<section class=\"long\">\n<h2>Agents</h2>\n<p class=\"quiet\">Numbers with ~ are estimates.</p>\n",
    );
    open(page, "Agents", AGENT_HEADINGS);
    report.agents.iter().for_each(|row| agent_row(row, true, page));
    close(page);
    page.push_str("<h3>Details</h3>\n");
    report.agents.iter().filter(super::is_automation).for_each(|row| details(row, page));
    page.push_str("</section>\n");
}

const AGENT_HEADINGS: &[&str] = &[
    "agent",
    "requests#",
    "bytes#",
    "clients#",
    "verified#",
    "unverified#",
    "spoofed#",
    "denied#",
    "last seen",
];
/// Unknown agents have one identity.
const UNKNOWN_HEADINGS: &[&str] = &["agent", "requests#", "bytes#", "clients#", "denied#", "last seen"];

fn agent_row(row: &Row, has_identities: bool, page: &mut String) {
    let all = row.all.requests;
    let about = if row.addresses.exact { "" } else { "~" };
    let _ = write!(
        page,
        "<tr><th scope=\"row\" class=\"wide\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{about}{}</td>",
        Text(&row.title()),
        count(all),
        bytes(row.all.bytes),
        count(row.addresses.count),
    );
    if has_identities {
        for wanted in [Identity::Verified, Identity::Unverified, Identity::Spoofed] {
            let part =
                if row.kind == Kind::Agent { share(row.requests_of(wanted), all) } else { String::new() };
            let _ = write!(page, "<td class=\"n\">{part}</td>");
        }
    }
    let _ = writeln!(
        page,
        "<td class=\"n{}\">{}</td><td class=\"time\">{}</td></tr>",
        if row.denied.requests > 0 { " deny" } else { "" },
        share(row.denied.requests, all),
        row.last.as_deref().map(shown_time).unwrap_or_default(),
    );
}

fn details(row: &Row, page: &mut String) {
    let _ = writeln!(
        page,
        "<details class=\"agent\"><summary><b>{}</b> <span class=\"quiet\">{} requests, {} denied</span></summary>",
        Text(&row.title()),
        count(row.all.requests),
        count(row.denied.requests)
    );
    if let (Some(first), Some(last)) = (&row.first, &row.last) {
        let _ =
            writeln!(page, "<p class=\"note\">Seen from {} to {}.</p>", shown_time(first), shown_time(last));
    }
    for doubt in &row.doubts {
        let _ = writeln!(page, "<p class=\"note\">Not verified: {}.</p>", Text(doubt));
    }
    open(page, "Decisions", &["requests#", "bytes#", "identity", "decision", "site"]);
    for outcome in &row.outcomes {
        let _ = writeln!(
            page,
            "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"wide{}\">{}</td><td>{}</td></tr>",
            count(outcome.sums.requests),
            bytes(outcome.sums.bytes),
            identity(outcome),
            if outcome.action == Action::Deny { " deny" } else { "" },
            Text(&decision(outcome)),
            Text(outcome.site.as_deref().unwrap_or_default())
        );
    }
    close(page);
    page.push_str("<div class=\"columns\">\n");
    top("Paths", "path", &row.paths, page);
    top("Clients", "address", &row.clients, page);
    page.push_str("<div>");
    open(page, "Statuses", &["requests#", "status"]);
    for status in &row.statuses {
        let text = status.status.map_or_else(|| "not in the log".to_string(), |status| status.to_string());
        let _ = writeln!(page, "<tr><td class=\"n\">{}</td><td>{text}</td></tr>", count(status.requests));
    }
    close(page);
    page.push_str("</div></div></details>\n");
}

fn top(caption: &str, name: &str, top: &Top, page: &mut String) {
    page.push_str("<div>");
    open(page, caption, &["requests#", name]);
    for item in &top.items {
        let value = if item.value.is_empty() { "not in the log" } else { &item.value };
        let _ = writeln!(
            page,
            "<tr><td class=\"n\">{}</td><td class=\"wide\"><code>{}</code></td></tr>",
            count(item.requests),
            Text(value)
        );
    }
    close(page);
    missing(page, top.missing);
    page.push_str("</div>");
}

/// What is denied, by which rule.
pub(super) fn denials(report: &Report, page: &mut String) {
    const MOST: usize = 15;
    let mut causes: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
    for outcome in report.agents.iter().flat_map(|row| &row.outcomes).filter(|row| row.action == Action::Deny)
    {
        let cause = (
            outcome.rule.as_deref().unwrap_or_default(),
            outcome.reason.as_str(),
            outcome.site.as_deref().unwrap_or_default(),
        );
        *causes.entry(cause).or_default() += outcome.sums.requests;
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, requests)| std::cmp::Reverse(*requests));
    let bar = |((rule, reason, _), requests): &((&str, &str, &str), u64)| Bar {
        label: if rule.is_empty() { reason } else { rule }.to_string(),
        parts: vec![("denied", *requests)],
        note: if rule.is_empty() { count(*requests) } else { format!("{}, {reason}", count(*requests)) },
    };
    let plot: Vec<Bar> = causes.iter().take(MOST).map(bar).collect();
    let description = "A bar for each reason and rule. The table below has the numbers.";
    let Some(svg) = bars("denials", "Denials by rule", description, &plot) else { return };
    let _ = write!(page, "<section>\n<h2>What is denied, and by which rule</h2>\n<figure>{svg}</figure>\n");
    page.push_str("<details><summary>Show as a table</summary>\n");
    open(page, "Denials", &["requests#", "reason", "rule", "site"]);
    for ((rule, reason, site), requests) in &causes {
        let _ = writeln!(
            page,
            "<tr><td class=\"n\">{}</td><td>{reason}</td><td class=\"wide\">{}</td><td>{}</td></tr>",
            count(*requests),
            Text(rule),
            Text(site)
        );
    }
    close(page);
    page.push_str("</details>\n</section>\n");
}

/// Where impostors are.
pub(super) fn impostors(report: &Report, page: &mut String) {
    const PLOTTED: usize = 12;
    let networks = &report.impostors.networks;
    let bar = |row: &crate::model::ImpostorRow| Bar {
        label: row.network.clone(),
        parts: vec![("spoofed", row.requests)],
        note: format!("{} as {}", count(row.requests), row.agent),
    };
    let plot: Vec<Bar> = networks.iter().take(PLOTTED).map(bar).collect();
    let description =
        "A bar for each network and the agent that is claimed from it. The table below has the numbers.";
    let Some(svg) = bars("impostors", "Impostors by network", description, &plot) else { return };
    let _ = write!(
        page,
        "<section>\n<h2>Where impostors are</h2>\n<p class=\"quiet\">Networks of clients that claim an agent and are outside its \
         published ranges.</p>\n<figure>{svg}</figure>\n<details><summary>Show as a table</summary>\n"
    );
    open(page, "Impostors", &["requests#", "network", "claims"]);
    for row in networks {
        let _ = writeln!(
            page,
            "<tr><td class=\"n\">{}</td><td><code>{}</code></td><td>{}</td></tr>",
            count(row.requests),
            Text(&row.network),
            Text(&row.agent)
        );
    }
    close(page);
    page.push_str("</details>\n");
    missing(page, report.impostors.missing);
    page.push_str("</section>\n");
}

/// Unknown agents.
pub(super) fn unknown(report: &Report, page: &mut String) {
    if report.unknown.agents.is_empty() {
        return;
    }
    page.push_str(
        "<section class=\"long\">\n<h2>Unknown agents</h2>\n<p class=\"quiet\">Automation that claims no known agent, by the first \
         product in its User-Agent.</p>\n",
    );
    open(page, "Unknown agents", UNKNOWN_HEADINGS);
    report.unknown.agents.iter().for_each(|row| agent_row(row, false, page));
    close(page);
    missing(page, report.unknown.missing);
    page.push_str("</section>\n");
}

/// Requests that no policy covers.
pub(super) fn uncovered(report: &Report, page: &mut String) {
    let uncovered = &report.uncovered;
    if uncovered.all.requests == 0 {
        return;
    }
    let _ = write!(
        page,
        "<section>\n<h2>What no policy covers</h2>\n<p class=\"quiet\">{} automated requests are for hosts without a site, or for \
         sites without a policy.</p>\n",
        count(uncovered.all.requests)
    );
    top("Hosts that no policy covers", "host", &uncovered.hosts, page);
    page.push_str("</section>\n");
}

/// What another configuration changes.
pub(super) fn changes(report: &Report, page: &mut String) {
    let changes = report.changes.as_deref().unwrap_or_default();
    page.push_str("<section class=\"long\">\n<h2>What the other configuration changes</h2>\n");
    if changes.is_empty() {
        page.push_str("<p>It decides all these requests in the same way.</p>\n</section>\n");
        return;
    }
    open(page, "Changes", &["requests#", "agent", "decision", "becomes"]);
    for change in changes {
        let side = |row: &OutcomeRow| format!("{}: {}", identity(row), decision(row));
        let class = |row: &OutcomeRow| if row.action == Action::Deny { "wide deny" } else { "wide" };
        let _ = writeln!(
            page,
            "<tr><td class=\"n\">{}</td><th scope=\"row\">{}</th><td class=\"{}\">{}</td><td class=\"{}\">{}</td></tr>",
            count(change.sums.requests),
            Text(&change.who),
            class(&change.before),
            Text(&side(&change.before)),
            class(&change.after),
            Text(&side(&change.after))
        );
    }
    close(page);
    page.push_str("</section>\n");
}

/// What was read.
pub(super) fn input(report: &Report, page: &mut String) {
    let input = &report.input;
    page.push_str("<section class=\"long\">\n<h2>What was read</h2>\n");
    open(page, "Logs", &["log", "lines#", "bytes#", "problem"]);
    for file in &input.files {
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\" class=\"wide\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"wide\">{}</td></tr>",
            Text(&file.name),
            count(file.lines),
            bytes(file.bytes),
            Text(file.error.as_deref().unwrap_or_default())
        );
    }
    close(page);
    for (lines, why) in [
        (input.filtered, "requests are left out by the options"),
        (input.unreadable, "lines are in no format that is known or given"),
        (input.too_long, "lines are longer than 1 MiB"),
        (input.without_request, "lines are of requests that the server refused before it had read them"),
        (input.without_host, "requests have no host in the log"),
        (input.without_time, "requests have no time in the log"),
    ] {
        if lines > 0 {
            let _ = writeln!(page, "<p class=\"note\">{} {why}.</p>", count(lines));
        }
    }
    page.push_str("</section>\n");
}
