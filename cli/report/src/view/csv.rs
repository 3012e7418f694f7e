//! The report as a table for spreadsheets (RFC 4180).

use std::io::{self, Write};

use crate::harmless::harmless;
use crate::model::{Kind, OutcomeRow, Report, Row};
use crate::tally::group::Sums;

/// Writes a line for each decision about each agent, the unknown ones and people included.
///
/// # Errors
///
/// If `output` fails.
pub fn write_csv(report: &Report, output: &mut impl Write) -> io::Result<()> {
    if let Some(changes) = &report.changes {
        let heading = "who,identity,action,reason,rule,site,enforced,new identity,new action,new reason,new rule,new site,new enforced,requests,bytes";
        write!(output, "{heading}\r\n")?;
        for change in changes {
            let mut cells = vec![change.who.clone()];
            for row in [&change.before, &change.after] {
                cells.push(row.identity.to_string());
                cells.extend(decision(row));
            }
            cells.extend(numbers(change.sums));
            line(output, &cells)?;
        }
        return Ok(());
    }
    write!(
        output,
        "kind,agent,identity,proof,action,reason,rule,site,enforced,requests,bytes,first,last\r\n"
    )?;
    for row in &report.agents {
        write_row(row, output)?;
    }
    Ok(())
}

fn write_row(row: &Row, output: &mut impl Write) -> io::Result<()> {
    let kind = match row.kind {
        Kind::Agent => "agent",
        Kind::Undeclared => "undeclared",
        Kind::Unknown => "unknown",
        Kind::People => "people",
    };
    for outcome in &row.outcomes {
        let proof = outcome.proof.map(|proof| proof.to_string()).unwrap_or_default();
        let mut cells = vec![kind.to_string(), row.name.clone(), outcome.identity.to_string(), proof];
        cells.extend(decision(outcome));
        cells.extend(numbers(outcome.sums));
        cells.extend([&row.first, &row.last].map(|time| time.clone().unwrap_or_default()));
        line(output, &cells)?;
    }
    Ok(())
}

/// The action, the reason, the rule, the site, and whether it is enforced.
fn decision(row: &OutcomeRow) -> [String; 5] {
    let [rule, site] = [&row.rule, &row.site].map(|text| text.clone().unwrap_or_default());
    [row.action.to_string(), row.reason.to_string(), rule, site, row.enforced.to_string()]
}

fn numbers(sums: Sums) -> [String; 2] {
    [sums.requests.to_string(), sums.bytes.to_string()]
}

fn line(output: &mut impl Write, cells: &[String]) -> io::Result<()> {
    for (at, cell) in cells.iter().enumerate() {
        write!(output, "{}{}", if at > 0 { "," } else { "" }, quoted(cell))?;
    }
    output.write_all(b"\r\n")
}

/// A cell. Spreadsheets take text that starts like a formula for one, unless an apostrophe is before it.
fn quoted(cell: &str) -> String {
    let mut cell = harmless(cell);
    if cell.starts_with(['=', '+', '-', '@']) {
        cell.insert(0, '\'');
    }
    if cell.contains([',', '"']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_text_and_no_formula() {
        for (cell, expected) in [
            ("a b", "a b"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=HYPERLINK(\"http://x\")", "\"'=HYPERLINK(\"\"http://x\"\")\""),
            ("@SUM(1)", "'@SUM(1)"),
            ("a\r\nb", "a\\u{d}\\u{a}b"),
        ] {
            assert_eq!(quoted(cell), expected);
        }
    }
}
