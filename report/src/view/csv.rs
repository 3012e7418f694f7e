//! The report as a table for spreadsheets (RFC 4180).

use std::io::{self, Write};

use crate::harmless::harmless;
use crate::model::{Kind, Report, Row};

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
                cells.extend([row.identity.to_string(), row.action.to_string(), row.reason.to_string()]);
                cells.extend([row.rule.clone().unwrap_or_default(), row.site.clone().unwrap_or_default()]);
                cells.push(row.enforced.to_string());
            }
            cells.extend([change.sums.requests.to_string(), change.sums.bytes.to_string()]);
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
        let absent = String::new;
        line(
            output,
            &[
                kind.to_string(),
                row.name.clone(),
                outcome.identity.to_string(),
                outcome.proof.map_or_else(absent, |proof| proof.to_string()),
                outcome.action.to_string(),
                outcome.reason.to_string(),
                outcome.rule.clone().unwrap_or_default(),
                outcome.site.clone().unwrap_or_default(),
                outcome.enforced.to_string(),
                outcome.sums.requests.to_string(),
                outcome.sums.bytes.to_string(),
                row.first.clone().unwrap_or_default(),
                row.last.clone().unwrap_or_default(),
            ],
        )?;
    }
    Ok(())
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
