//! The tables, which have all that the plots show.

use std::fmt::Write;

use crawlpike_core::{Action, Identity};

use super::charts::{AUTOMATED, Bar, bars, short_time};
use super::escape::Text;
use crate::model::{Kind, OutcomeRow, Report, Row, Top};
use crate::numbers::{bytes, count, share, shown_time};
use crate::view::words::{addresses, decision, document, identity};

/// Writes a table: headings that end with `#` are of numbers, `caption` names it, and each row is one of cells.
pub(super) fn table(
    page: &mut String,
    caption: &str,
    headings: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) {
    let _ = write!(page, "<div class=\"scroll\"><table aria-label=\"{}\"><thead><tr>", Text(caption));
    for heading in headings {
        let _ = match heading.strip_suffix('#') {
            Some(heading) => write!(page, "<th scope=\"col\" class=\"n\">{heading}</th>"),
            None => write!(page, "<th scope=\"col\">{heading}</th>"),
        };
    }
    page.push_str("</tr></thead><tbody>\n");
    for row in rows {
        let _ = writeln!(page, "<tr>{}</tr>", row.concat());
    }
    page.push_str("</tbody></table></div>\n");
}

/// A cell with a text.
pub(super) fn text(class: &str, text: impl AsRef<str>) -> String {
    cell("td", class, &Text(text.as_ref()).to_string())
}

/// A cell with a value of a log.
fn code(class: &str, value: &str) -> String {
    cell("td", class, &format!("<code>{}</code>", Text(value)))
}

/// The cell that names its row.
pub(super) fn title(class: &str, text: &str) -> String {
    cell("th scope=\"row\"", class, &Text(text).to_string())
}

pub(super) fn number(number: u64) -> String {
    text("n", count(number))
}

fn cell(tag: &str, class: &str, content: &str) -> String {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    format!("<{tag}{class}>{content}</{}>", &tag[..2])
}

pub(super) fn missing(page: &mut String, missing: u64) {
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
    let identities = || AUTOMATED.iter().chain([&Identity::None]);
    let words = identities().map(|one| if *one == Identity::None { "people" } else { one.as_str() });
    let numbers: Vec<String> = words.chain(["denied"]).map(|word| format!("{word}#")).collect();
    let headings: Vec<&str> = ["start (UTC)"].into_iter().chain(numbers.iter().map(String::as_str)).collect();
    let rows = report.timeline.intervals.iter().map(|interval| {
        let of = |wanted: &Identity| {
            let at = report.identities.iter().position(|row| row.identity == *wanted);
            at.and_then(|at| interval.requests.get(at)).copied().unwrap_or_default()
        };
        let start = title("time", &short_time(&interval.start, report.timeline.seconds));
        let numbers = identities().map(of).chain([interval.denied]).map(number);
        [start].into_iter().chain(numbers).collect()
    });
    table(page, "Requests over time", &headings, rows);
    page.push_str("</details>\n");
}

/// All agents, each with its details.
pub(super) fn agents(report: &Report, page: &mut String) {
    page.push_str(
        "<section class=\"long\">\n<h2>Agents</h2>\n<p class=\"quiet\">Numbers with ~ are estimates.</p>\n",
    );
    table(page, "Agents", AGENT_HEADINGS, report.agents.iter().map(|row| agent_row(row, true)));
    page.push_str("<h3>Details</h3>\n");
    report.agents.iter().filter(super::is_automation).for_each(|row| details(row, page));
    page.push_str("</section>\n");
}

/// In place of a value that the log does not have.
const NOT_IN_LOG: &str = "not in the log";

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

fn agent_row(row: &Row, has_identities: bool) -> Vec<String> {
    let all = row.all.requests;
    let clients = addresses(row.addresses);
    let mut cells =
        vec![title("wide", &row.title()), number(all), text("n", bytes(row.all.bytes)), text("n", clients)];
    if has_identities {
        let part = |wanted| {
            if row.kind == Kind::Agent { share(row.requests_of(wanted), all) } else { String::new() }
        };
        let parts = [Identity::Verified, Identity::Unverified, Identity::Spoofed].map(part);
        cells.extend(parts.map(|part| text("n", part)));
    }
    let class = if row.denied.requests > 0 { "n deny" } else { "n" };
    cells.push(text(class, share(row.denied.requests, all)));
    cells.push(text("time", row.last.as_deref().map(shown_time).unwrap_or_default()));
    cells
}

/// The class of a decision's cell.
fn class_of(row: &OutcomeRow) -> &'static str {
    if row.action == Action::Deny { "wide deny" } else { "wide" }
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
    let decisions = row.outcomes.iter().map(|outcome| {
        vec![
            number(outcome.sums.requests),
            text("n", bytes(outcome.sums.bytes)),
            text("", identity(outcome)),
            text(class_of(outcome), decision(outcome)),
            text("", outcome.site.as_deref().unwrap_or_default()),
        ]
    });
    table(page, "Decisions", &["requests#", "bytes#", "identity", "decision", "site"], decisions);
    page.push_str("<div class=\"columns\">\n");
    top("Paths", "path", &row.paths, page);
    top("Clients", "address", &row.clients, page);
    page.push_str("<div>");
    let statuses = row.statuses.iter().map(|status| {
        let shown = status.status.map_or_else(|| NOT_IN_LOG.to_string(), |status| status.to_string());
        vec![number(status.requests), text("", shown)]
    });
    table(page, "Statuses", &["requests#", "status"], statuses);
    page.push_str("</div></div></details>\n");
}

pub(super) fn top(caption: &str, name: &str, top: &Top, page: &mut String) {
    page.push_str("<div>");
    let rows = top.items.iter().map(|item| {
        let value = if item.value.is_empty() { NOT_IN_LOG } else { &item.value };
        vec![number(item.requests), code("wide", value)]
    });
    table(page, caption, &["requests#", name], rows);
    missing(page, top.missing);
    page.push_str("</div>");
}

/// The denials, by rule.
pub(super) fn denials(report: &Report, page: &mut String) {
    const MOST: usize = 15;
    let denials = report.denials();
    let bar = |([reason, rule, _], requests): &([&str; 3], u64)| Bar {
        label: if rule.is_empty() { *reason } else { *rule }.to_string(),
        parts: vec![("denied", *requests)],
        note: if rule.is_empty() { count(*requests) } else { format!("{}, {reason}", count(*requests)) },
    };
    let plot: Vec<Bar> = denials.iter().take(MOST).map(bar).collect();
    let description = "A bar for each reason and rule. The table below has the numbers.";
    let Some(svg) = bars("denials", "Denials by rule", description, &plot) else { return };
    let _ = write!(page, "<section>\n<h2>Denials by rule</h2>\n<figure>{svg}</figure>\n");
    page.push_str("<details><summary>Show as a table</summary>\n");
    let rows = denials.iter().map(|([reason, rule, site], requests)| {
        vec![number(*requests), text("", reason), text("wide", rule), text("", site)]
    });
    table(page, "Denials", &["requests#", "reason", "rule", "site"], rows);
    page.push_str("</details>\n</section>\n");
}

/// The requests for each purpose, by what is preferred about it.
pub(super) fn usage(report: &Report, page: &mut String) {
    if report.usage().next().is_none() {
        return;
    }
    page.push_str(
        "<section class=\"long\">\n<h2>Purposes and usage preferences</h2>\n<p class=\"quiet\">Requests by what the site prefers \
         about this use of the path.</p>\n",
    );
    let rows = report.usage().map(|(row, usage)| {
        let counts = usage.uses.counts().map(number);
        [title("wide", &row.title()), text("", usage.purpose)].into_iter().chain(counts).collect()
    });
    let headings = &["agent", "purpose", "disallowed#", "in part#", "allowed#", "not stated#"];
    table(page, "Purposes and usage preferences", headings, rows);
    page.push_str("</section>\n");
}

/// The networks of impostors.
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
        "<section>\n<h2>Impostors</h2>\n<p class=\"quiet\">Networks of clients that claim an agent and are outside its \
         published ranges.</p>\n<figure>{svg}</figure>\n<details><summary>Show as a table</summary>\n"
    );
    let rows =
        networks.iter().map(|row| vec![number(row.requests), code("", &row.network), text("", &row.agent)]);
    table(page, "Impostors", &["requests#", "network", "claims"], rows);
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
    let rows = report.unknown.agents.iter().map(|row| agent_row(row, false));
    table(page, "Unknown agents", UNKNOWN_HEADINGS, rows);
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
        "<section>\n<h2>Requests that no policy covers</h2>\n<p class=\"quiet\">{} automated requests are for hosts without a site, or for \
         sites without a policy.</p>\n",
        count(uncovered.all.requests)
    );
    top("Hosts that no policy covers", "host", &uncovered.hosts, page);
    page.push_str("</section>\n");
}

/// The requests for documents.
pub(super) fn documents(report: &Report, page: &mut String) {
    let outcomes = &report.documents.outcomes;
    if outcomes.is_empty() {
        return;
    }
    page.push_str(
        "<section>\n<h2>Requests for documents</h2>\n<p class=\"quiet\">Clients whose Accept prefers a document to the page.</p>\n",
    );
    let rows =
        outcomes.iter().map(|(outcome, requests)| vec![number(*requests), text("", document(outcome))]);
    table(page, "Requests for documents", &["requests#", "they get"], rows);
    page.push_str("</section>\n");
}

/// The changes that another configuration makes.
pub(super) fn changes(report: &Report, page: &mut String) {
    let changes = report.changes.as_deref().unwrap_or_default();
    page.push_str("<section class=\"long\">\n<h2>Changes with the other configuration</h2>\n");
    if changes.is_empty() {
        page.push_str("<p>It decides all these requests in the same way.</p>\n</section>\n");
        return;
    }
    let side = |row: &OutcomeRow| text(class_of(row), format!("{}: {}", identity(row), decision(row)));
    let rows = changes.iter().map(|change| {
        vec![number(change.sums.requests), title("", &change.who), side(&change.before), side(&change.after)]
    });
    table(page, "Changes", &["requests#", "agent", "decision", "becomes"], rows);
    page.push_str("</section>\n");
}

/// The input of the report.
pub(super) fn input(report: &Report, page: &mut String) {
    let input = &report.input;
    page.push_str("<section class=\"long\">\n<h2>Input</h2>\n");
    let rows = input.files.iter().map(|file| {
        let same = file.same_as.as_ref().map(|first| format!("the same file as {first}"));
        vec![
            title("wide", &file.name),
            number(file.lines),
            text("n", bytes(file.bytes)),
            text("wide", file.error.clone().or(same).unwrap_or_default()),
        ]
    });
    table(page, "Logs", &["log", "lines#", "bytes#", "problem"], rows);
    for (lines, why) in [
        (input.filtered, "requests are left out by the options"),
        (input.undated, "requests have no time, and --since leaves them out"),
        (input.unreadable, "lines do not match the log format"),
        (input.too_long, "lines are longer than 1 MiB"),
        (input.without_request, "lines are of requests that the server refused before it had read them"),
        (input.without_host, "requests have no host in the log"),
        (
            input.without_address,
            "requests have no address in the log, so no range verifies or refutes a claim of theirs",
        ),
        (input.without_time, "requests have no time in the log"),
        (report.timeline.left_out, "requests have times so far from all others that no plot shows them"),
        (input.rewritten, "requests have only the path after rewrites in the log"),
    ] {
        if lines > 0 {
            let _ = writeln!(page, "<p class=\"note\">{} {why}.</p>", count(lines));
        }
    }
    page.push_str("</section>\n");
}
