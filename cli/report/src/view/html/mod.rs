//! The report as one file of HTML that loads nothing and runs nothing.

mod charts;
mod escape;
mod limits;
mod tables;

use std::fmt::Write as _;
use std::io::{self, Write};

use crawlpike_core::Identity;

use self::charts::{AUTOMATED, Bar, bars, length, of_agent, timeline};
use self::escape::Text;
use crate::model::{Kind, Report, Row};
use crate::numbers::{bytes, count, share, shown_time};

/// Writes the report as a page of HTML.
///
/// # Errors
///
/// If `output` fails.
pub fn write_html(report: &Report, output: &mut impl Write) -> io::Result<()> {
    let mut page = String::new();
    // Whatever a log contains, the browser loads and runs nothing.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Crawlpike report</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n",
        include_str!("style.css")
    );
    heading(report, &mut page);
    if report.changes.is_some() {
        tables::changes(report, &mut page);
    }
    plots(report, &mut page);
    limits::limits(report, &mut page);
    tables::agents(report, &mut page);
    tables::denials(report, &mut page);
    tables::usage(report, &mut page);
    tables::impostors(report, &mut page);
    tables::unknown(report, &mut page);
    tables::uncovered(report, &mut page);
    tables::documents(report, &mut page);
    tables::input(report, &mut page);
    let _ = write!(
        page,
        "<footer>Made by <code>crawlpike report</code> on {}. Feeds and policies count as they were then.</footer>\n\
         </main>\n</body>\n</html>\n",
        shown_time(&report.generated)
    );
    output.write_all(page.as_bytes())
}

fn heading(report: &Report, page: &mut String) {
    let time = match (&report.first, &report.last) {
        (Some(first), Some(last)) => format!("{} to {}. ", shown_time(first), shown_time(last)),
        _ => String::new(),
    };
    let total = &report.total;
    let of = |identity| {
        report.identities.iter().find(|row| row.identity == identity).map_or(0, |row| row.all.requests)
    };
    let _ = write!(
        page,
        "<header>\n<h1>What Crawlpike would have done</h1>\n<p class=\"quiet\">{time}The mode of the configuration is \
         <code>{}</code>.</p>\n</header>\n<div class=\"tiles\">\n",
        report.mode
    );
    let automated = total.automated.requests;
    for (class, number, text) in [
        ("", count(total.all.requests), format!("requests, {} sent", bytes(total.all.bytes))),
        ("generic", share(automated, total.all.requests), format!("automated: {}", count(automated))),
        (
            "denied",
            share(total.denied.requests, automated),
            format!("of these denied: {}", count(total.denied.requests)),
        ),
        ("verified", count(of(Identity::Verified)), "from verified agents".to_string()),
        ("spoofed", count(of(Identity::Spoofed)), "from impostors".to_string()),
    ] {
        let _ = writeln!(page, "<div class=\"tile {class}\"><b>{number}</b><span>{text}</span></div>");
    }
    page.push_str("</div>\n<section aria-label=\"Facts\">\n<h2>In short</h2>\n<ul class=\"facts\">\n");
    for fact in &report.facts {
        let _ = writeln!(page, "<li>{}</li>", with_code(fact));
    }
    page.push_str("</ul>\n</section>\n");
}

/// A sentence in which the words between backticks are code.
fn with_code(sentence: &str) -> String {
    let mut html = String::new();
    let mut rest = sentence;
    while let Some((before, (code, after))) =
        rest.split_once('`').and_then(|(before, after)| Some((before, after.split_once('`')?)))
    {
        let _ = write!(html, "{}<code>{}</code>", Text(before), Text(code));
        rest = after;
    }
    let _ = write!(html, "{}", Text(rest));
    html
}

fn legend(page: &mut String, has_line: bool) {
    page.push_str("<ul class=\"legend\">");
    for identity in AUTOMATED {
        let _ = write!(page, "<li class=\"{identity}\">{identity}</li>");
    }
    if has_line {
        page.push_str("<li class=\"line\">denied</li>");
    }
    page.push_str("</ul>\n");
}

fn plots(report: &Report, page: &mut String) {
    if let Some(svg) = timeline(report) {
        let length = length(report.timeline.seconds);
        let _ = write!(
            page,
            "<section>\n<h2>Automated requests over time</h2>\n<p class=\"quiet\">A column for each interval of {length}, in UTC.</p>\n"
        );
        legend(page, true);
        let _ = writeln!(page, "<figure>{svg}</figure>");
        tables::timeline(report, page);
        page.push_str("</section>\n");
    }
    const MOST: usize = 15;
    let agents: Vec<Bar> =
        report.agents.iter().filter(|row| row.kind != Kind::People).take(MOST).map(of_agent).collect();
    let description =
        "A bar for each agent, with its requests by identity. The table of agents has the numbers.";
    if let Some(svg) = bars("agents", "Requests by agent and identity", description, &agents) {
        page.push_str(
            "<section>\n<h2>Requests by agent</h2>\n<p class=\"quiet\">Requests of each agent, by identity.</p>\n",
        );
        legend(page, false);
        let _ = write!(page, "<figure>{svg}</figure>\n</section>\n");
    }
}

/// The rows of automation.
fn is_automation(row: &&Row) -> bool {
    row.kind != Kind::People
}
