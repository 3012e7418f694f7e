//! The report for terminals.

mod limits;

use std::io::{self, Write};

use crawlpike_core::Identity;

use super::table::{Align, Table, paragraph};
use super::words::{addresses, decision, document, identity};
use crate::model::{Change, Kind, OutcomeRow, Report, Row, Top};
use crate::numbers::{bytes, count, share, shown_time};

/// Writes the report as tables, in lines of at most `width` characters, with at most `most` rows for each table.
///
/// # Errors
///
/// If `output` fails.
pub fn write_text(report: &Report, width: usize, most: usize, output: &mut impl Write) -> io::Result<()> {
    let mut page = Page { report, width, most, output };
    for fact in &report.facts {
        paragraph("- ", fact, width, page.output)?;
    }
    match &report.changes {
        Some(changes) => page.changes(changes)?,
        None => {
            report.limits.iter().try_for_each(|limits| page.limits(limits))?;
            page.agents("Agents", &report.agents, 0)?;
            page.denials()?;
            page.usage()?;
            page.impostors()?;
            page.agents("Unknown agents", &report.unknown.agents, report.unknown.missing)?;
            page.uncovered()?;
            page.documents()?;
            // All about one agent, if `--agent` chose it.
            if let [row] = &report.agents[..] {
                page.details(row)?;
            }
        }
    }
    page.input()
}

struct Page<'a, W> {
    report: &'a Report,
    width: usize,
    most: usize,
    output: &'a mut W,
}

impl<W: Write> Page<'_, W> {
    fn heading(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.output, "\n{text}")
    }

    /// Writes a table, and says how many rows of how many it has.
    fn table<const N: usize>(&mut self, heading: &str, mut table: Table<N>, missing: u64) -> io::Result<()> {
        let rows = table.rows.len() - 1;
        if rows == 0 {
            return Ok(());
        }
        self.heading(heading)?;
        table.rows.truncate(self.most + 1);
        table.write(self.width, self.output)?;
        if rows > self.most {
            writeln!(
                self.output,
                "... and {} more; --top and --json show them",
                count((rows - self.most) as u64)
            )?;
        }
        if missing > 0 {
            writeln!(self.output, "Estimated: each number may be up to {} too low.", count(missing))?;
        }
        Ok(())
    }

    fn agents(&mut self, heading: &str, rows: &[Row], missing: u64) -> io::Result<()> {
        let mut table = Table::new([
            ("agent", Align::Left),
            ("requests", Align::Right),
            ("bytes", Align::Right),
            ("clients", Align::Right),
            ("verified", Align::Right),
            ("spoofed", Align::Right),
            ("denied", Align::Right),
            ("most frequent decision", Align::Left),
            ("last seen", Align::Left),
        ]);
        rows.iter().for_each(|row| table.push(agent_cells(row)));
        self.table(heading, table, missing)
    }

    fn denials(&mut self) -> io::Result<()> {
        let mut table = Table::new([
            ("requests", Align::Right),
            ("reason", Align::Left),
            ("rule", Align::Left),
            ("site", Align::Left),
        ]);
        for ([reason, rule, site], requests) in self.report.denials() {
            table.push([count(requests), reason.into(), rule.into(), site.into()]);
        }
        self.table("Denials", table, 0)
    }

    fn usage(&mut self) -> io::Result<()> {
        let mut table = Table::new([
            ("agent", Align::Left),
            ("purpose", Align::Left),
            ("disallowed", Align::Right),
            ("in part", Align::Right),
            ("allowed", Align::Right),
            ("not stated", Align::Right),
        ]);
        for (row, usage) in self.report.usage() {
            let [disallowed, part, allowed, rest] = usage.uses.counts().map(count);
            table.push([row.title(), usage.purpose.into(), disallowed, part, allowed, rest]);
        }
        self.table("Requests by purpose and usage preference", table, 0)
    }

    fn impostors(&mut self) -> io::Result<()> {
        let mut table =
            Table::new([("requests", Align::Right), ("network", Align::Left), ("claims", Align::Left)]);
        for row in &self.report.impostors.networks {
            table.push([count(row.requests), row.network.clone(), row.agent.clone()]);
        }
        self.table("Impostors", table, self.report.impostors.missing)
    }

    fn uncovered(&mut self) -> io::Result<()> {
        let hosts = &self.report.uncovered.hosts;
        self.top("Automated requests that no policy covers", "host", hosts, "(not in the log)")
    }

    fn documents(&mut self) -> io::Result<()> {
        let mut table = Table::new([("requests", Align::Right), ("they get", Align::Left)]);
        for (outcome, requests) in &self.report.documents.outcomes {
            table.push([count(*requests), document(outcome)]);
        }
        self.table("Requests for documents", table, 0)
    }

    fn top(&mut self, heading: &str, name: &str, top: &Top, empty: &str) -> io::Result<()> {
        let mut table = Table::new([("requests", Align::Right), (name, Align::Left)]);
        for item in &top.items {
            let value = if item.value.is_empty() { empty } else { &item.value };
            table.push([count(item.requests), value.to_string()]);
        }
        self.table(heading, table, top.missing)
    }

    fn details(&mut self, row: &Row) -> io::Result<()> {
        let mut table = Table::new([
            ("requests", Align::Right),
            ("bytes", Align::Right),
            ("identity", Align::Left),
            ("decision", Align::Left),
            ("site", Align::Left),
        ]);
        for outcome in &row.outcomes {
            table.push([
                count(outcome.sums.requests),
                bytes(outcome.sums.bytes),
                identity(outcome),
                decision(outcome),
                outcome.site.clone().unwrap_or_default(),
            ]);
        }
        self.table("Decisions", table, 0)?;
        self.top("Paths", "path", &row.paths, "")?;
        self.top("Clients", "address", &row.clients, "")?;
        let mut table = Table::new([("requests", Align::Right), ("status", Align::Left)]);
        for status in &row.statuses {
            let text =
                status.status.map_or_else(|| "(not in the log)".to_string(), |status| status.to_string());
            table.push([count(status.requests), text]);
        }
        self.table("Statuses", table, 0)
    }

    fn changes(&mut self, changes: &[Change]) -> io::Result<()> {
        if changes.is_empty() {
            return self.heading("The other configuration decides all these requests in the same way.");
        }
        let mut table = Table::new([
            ("requests", Align::Right),
            ("agent", Align::Left),
            ("decision", Align::Left),
            ("becomes", Align::Left),
        ]);
        for change in changes {
            let side = |row: &OutcomeRow| format!("{}: {}", identity(row), decision(row));
            table.push([
                count(change.sums.requests),
                change.who.clone(),
                side(&change.before),
                side(&change.after),
            ]);
        }
        self.table("Changes with the other configuration", table, 0)
    }

    fn input(&mut self) -> io::Result<()> {
        let input = &self.report.input;
        let mut table = Table::new([("log", Align::Left), ("problem", Align::Left)]);
        for file in &input.files {
            if let Some(error) = &file.error {
                table.push([file.name.clone(), error.clone()]);
            }
        }
        self.table("Logs that cannot be read, or not to their ends", table, 0)?;
        let mut table = Table::new([
            ("lines", Align::Right),
            ("not counted because", Align::Left),
            ("for example", Align::Left),
        ]);
        for (lines, word, why) in [
            (input.unreadable, "unreadable", "they do not match the log format"),
            (input.too_long, "too-long", "they are longer than 1 MiB"),
            (
                input.without_request,
                "without-request",
                "the server refused them before it had read a request",
            ),
        ] {
            if lines > 0 {
                let example = input.examples.iter().find(|example| example.why == word);
                let example =
                    example.map(|example| format!("{}:{}", example.file, example.line)).unwrap_or_default();
                table.push([count(lines), why.to_string(), example]);
            }
        }
        if input.filtered > 0 {
            table.push([count(input.filtered), "the options leave them out".to_string(), String::new()]);
        }
        if input.undated > 0 {
            let why = "they have no time, and --since leaves them out";
            table.push([count(input.undated), why.to_string(), String::new()]);
        }
        self.table("Lines", table, 0)?;
        let requests = input.requests;
        for (without, what, remedy) in [
            (input.without_host, "host", "; --default-host names it"),
            (input.without_address, "address", "; without one, no range verifies or refutes a claim"),
            (input.without_time, "time", ""),
            (input.rewritten, "path before rewrites", "; log `$request` or `$request_uri`"),
        ] {
            if without > 0 && requests > 0 {
                let share = share(without, requests);
                writeln!(
                    self.output,
                    "\nThe log has no {what} for {} requests ({share}){remedy}.",
                    count(without)
                )?;
            }
        }
        Ok(())
    }
}

fn agent_cells(row: &Row) -> [String; 9] {
    let all = row.all.requests;
    let part = |requests: u64| if row.kind == Kind::Agent { share(requests, all) } else { String::new() };
    [
        row.title(),
        count(all),
        bytes(row.all.bytes),
        addresses(row.addresses),
        part(row.requests_of(Identity::Verified)),
        part(row.requests_of(Identity::Spoofed)),
        share(row.denied.requests, all),
        row.outcomes.first().map(decision).unwrap_or_default(),
        row.last.as_deref().map(shown_time).unwrap_or_default(),
    ]
}
