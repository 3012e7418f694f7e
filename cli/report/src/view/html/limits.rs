//! The effect that limits would have had, with a plot of each.

use std::fmt::Write;

use crawlpike_core::Identity;

use super::charts::{AUTOMATED, Columns, columns, length};
use super::escape::Text;
use super::tables::{self, number, table, text, title};
use crate::model::{LimitRow, Limits, NetworkRow, Report};
use crate::numbers::{count, share, shown_time};
use crate::view::words::addresses;

/// The limits, and the networks that they count.
pub(super) fn limits(report: &Report, page: &mut String) {
    let Some(limits) = &report.limits else { return };
    page.push_str("<section class=\"long\">\n<h2>Limits</h2>\n");
    let rows = limits.limits.iter().map(|limit| {
        let worst = limit.worst_minute.as_ref().filter(|worst| worst.refused > 0);
        let worst = worst.map(|worst| {
            format!("{}: {} of {}", shown_time(&worst.start), count(worst.refused), count(worst.requests))
        });
        vec![
            title("wide", &limit.limit),
            number(limit.requests),
            number(limit.refused),
            text("n", share(limit.refused, limit.requests)),
            text("n", addresses(limit.refused_addresses)),
            text("", worst.unwrap_or_default()),
        ]
    });
    let headings = &["limit", "requests#", "refused#", "share#", "addresses refused#", "worst minute"];
    table(page, "Limits", headings, rows);
    limits.limits.iter().enumerate().for_each(|(place, limit)| one(place, limit, page));
    networks(limits, page);
    page.push_str("</section>\n");
}

fn one(place: usize, limit: &LimitRow, page: &mut String) {
    let _ = writeln!(page, "<h3>{}</h3>", Text(&limit.limit));
    let seconds = limit.timeline.seconds;
    let order = [Identity::None].into_iter().chain(AUTOMATED);
    let most = limit.per_minute * seconds as f64 / 60.0;
    let plot = Columns {
        id: format!("limit-{place}"),
        title: format!("Requests that {} counts, over time", limit.limit),
        description: format!(
            "Columns of requests by kind of client, each of {}. A line shows the requests that the limit lets through.",
            length(seconds)
        ),
        words: ("requests", "let through"),
        timeline: &limit.timeline,
        order: order.collect(),
        line: |interval, all| all.saturating_sub(interval.denied),
        ceiling: Some(most),
    };
    if let Some(svg) = columns(&plot) {
        let _ = writeln!(
            page,
            "<p class=\"quiet\">A column for each interval of {}, in UTC. The dashed line is what one key may have: {most:.0} requests.</p>",
            length(seconds)
        );
        page.push_str("<ul class=\"legend\"><li class=\"none\">people-like</li>");
        AUTOMATED.iter().for_each(|identity| {
            let _ = write!(page, "<li class=\"{identity}\">{identity}</li>");
        });
        page.push_str("<li class=\"line\">let through</li></ul>\n");
        let _ = writeln!(page, "<figure>{svg}</figure>");
    }
    let rows = limit.kinds.iter().map(|row| {
        let [all, refused] = [row.addresses, row.refused_addresses].map(addresses);
        vec![
            title("", row.name()),
            number(row.requests),
            number(row.refused),
            text("n", share(row.refused, row.requests)),
            text("n", all),
            text("n", refused),
        ]
    });
    let headings = &["clients", "requests#", "refused#", "share#", "addresses#", "addresses refused#"];
    table(page, &format!("Refused by {}", limit.limit), headings, rows);
    page.push_str("<div class=\"columns\">\n");
    for (caption, name, top) in [
        ("Refused by network", "refused in network", &limit.networks),
        ("Refused by autonomous system", "refused in AS", &limit.systems),
    ] {
        if !top.items.is_empty() {
            tables::top(caption, name, top, page);
        }
    }
    page.push_str("</div>\n");
}

fn networks(limits: &Limits, page: &mut String) {
    page.push_str("<h3>Busiest networks</h3>\n");
    let top = |top: &crate::model::Top| {
        let items = top.items.iter().map(|item| format!("{} ({})", item.value, count(item.requests)));
        text("wide", items.collect::<Vec<_>>().join(", "))
    };
    let rows = limits.networks.networks.iter().map(|row: &NetworkRow| {
        let worst = row.worst_minute.as_ref().map(|worst| count(worst.requests));
        vec![
            title("", &row.network),
            text("", row.system()),
            number(row.requests),
            text("n", addresses(row.addresses)),
            text("n", worst.unwrap_or_default()),
            text("n", row.refused()),
            top(&row.paths),
            top(&row.user_agents),
        ]
    });
    let headings = &[
        "network",
        "system",
        "requests#",
        "addresses#",
        "most in a minute#",
        "refused#",
        "folders",
        "User-Agents",
    ];
    table(page, "Busiest networks", headings, rows);
    tables::missing(page, limits.networks.missing);
}
