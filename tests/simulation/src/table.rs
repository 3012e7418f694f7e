//! The tables of the page on the simulation.

use std::fmt::Write;

use crate::profile::REACTIONS;
use crate::situation::{SITUATIONS, WAYS};
use crate::sweep::Results;
use crate::tally::{Client, Row, Tally, percent};
use crate::time::DAY;

const SITUATIONS_HEAD: &str = "| situation | genuine denied, if accepted after 2 days | after 14 days | genuine unverified | \
                               strangers admitted | neighbours admitted | operators who hear of it | after days |";

/// A column of a table of limits: its head, and the result in it.
type Column = (&'static str, fn(&Results) -> f64);

/// The columns for `shrink`.
pub const SHRINK: [Column; 2] = [
    ("genuine denied, if a part is missing by mistake", |results| results.truncated),
    ("alarms at usual changes", |results| results.alarms),
];

/// The columns for `replace`.
pub const REPLACE: [Column; 4] = [
    ("genuine denied, if a part is replaced by mistake", |results| results.mixed),
    ("genuine denied, if a part has new addresses, accepted after 2 days", |results| results.renumbered[0]),
    ("the same, accepted after 14 days", |results| results.renumbered[1]),
    ("alarms at usual changes", |results| results.alarms),
];

/// The table of all situations.
pub fn situations(tally: &Tally) -> String {
    let mut text = format!("{SITUATIONS_HEAD}\n|---|---|---|---|---|---|---|---|\n");
    let publishers = SITUATIONS.iter().map(|(situation, words)| (Row::Publisher(*situation), *words));
    for (row, words) in publishers.chain(WAYS.iter().map(|(way, words)| (Row::Edge(*way), *words))) {
        let _ = writeln!(text, "| {words} | {} |", cells(tally, row).join(" | "));
    }
    text
}

fn cells(tally: &Tally, row: Row) -> Vec<String> {
    let denied = REACTIONS.map(|reaction| {
        let cell = tally.0.get(&(row, reaction)).cloned().unwrap_or_default();
        let count = cell.count(Client::Genuine);
        shown(percent(count.denied, count.all))
    });
    let cell = tally.row(row);
    let genuine = cell.count(Client::Genuine);
    let admitted = |client| {
        let count = cell.count(client);
        if count.all == 0 { "–".to_owned() } else { shown(percent(count.all - count.denied, count.all)) }
    };
    let (share, after) = cell.heard();
    let mut cells = denied.to_vec();
    cells.push(shown(percent(genuine.all - genuine.verified - genuine.denied, genuine.all)));
    cells.extend([admitted(Client::Stranger), admitted(Client::Neighbour), format!("{share:.0}%")]);
    cells.push(after.map_or_else(|| "–".to_owned(), days));
    cells
}

/// A share in percent, which is 0 only if it is none.
fn shown(share: f64) -> String {
    if share > 0.0 && share < 0.01 { "< 0.01%".to_owned() } else { format!("{share:.2}%") }
}

/// Some days, in tenths, rounded up.
fn days(seconds: i64) -> String {
    let tenths = (seconds.max(0) * 10 + DAY - 1) / DAY;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// A table of other limits, from the limit's name.
pub fn limits(name: &str, columns: &[Column], results: &[(u8, Results)]) -> String {
    let heads: Vec<&str> = columns.iter().map(|(head, _)| *head).collect();
    let mut text = format!("| `{name}` | {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len() + 1));
    for (limit, results) in results {
        let cells: Vec<String> = columns.iter().map(|(_, of)| format!("{:.1}%", of(results))).collect();
        let _ = writeln!(text, "| {limit}% | {} |", cells.join(" | "));
    }
    text
}
