//! `crawlpike explain`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use super::{Answer, Runner};
use crate::artefacts;
use crate::cases::{Case, Table};
use crate::nginx::Folder;

/// `crawlpike explain`: with `--stdin` where JSON can carry the request, else with its bytes as arguments.
#[derive(Clone, Copy, Debug)]
pub struct Cli;

impl Runner for Cli {
    fn name(&self) -> &'static str {
        "cli"
    }

    fn run(&self, tables: &[Table]) -> Vec<Vec<Result<Answer, String>>> {
        tables.iter().map(run_table).collect()
    }
}

fn run_table(table: &Table) -> Vec<Result<Answer, String>> {
    let folder = Folder::new();
    let config = table.write(&folder);
    let lines: Vec<Option<String>> = table.cases.iter().map(|case| table.explain_line(case)).collect();
    let input: String = lines.iter().flatten().map(|line| format!("{line}\n")).collect();
    let mut command = explain(&config);
    command.arg("--stdin").stdin(Stdio::piped());
    let output = output(&mut command, input);
    let mut answers = output.iter().flat_map(|text| text.lines()).map(parse);
    let answer = |(case, line): (&Case, &Option<String>)| match (line, &output) {
        (None, _) => explain_one(&config, table, case),
        (Some(_), Err(why)) => Err(why.clone()),
        (Some(_), Ok(_)) => answers.next().unwrap_or_else(|| Err("explain --stdin gave no line".into())),
    };
    table.cases.iter().zip(&lines).map(answer).collect()
}

fn explain_one(config: &Path, table: &Table, case: &Case) -> Result<Answer, String> {
    let request = &case.request;
    let mut command = explain(config);
    command.args(["--scheme", request.scheme().as_str()]);
    // A host may begin as an option does.
    command.args(["--json", "--ip", &request.ip.to_string(), &format!("--host={}", request.host)]);
    command.args(["--method", &request.method, "--path", &request.path]);
    if let Some(user_agent) = request.user_agent.value() {
        command.arg("--user-agent").arg(OsStr::from_bytes(&user_agent));
    }
    for purpose in request.purpose.lines() {
        let line = [table.purpose_header().as_bytes(), b": ", &purpose].concat();
        command.arg("--header").arg(OsStr::from_bytes(&line));
    }
    for (name, value) in &request.headers {
        command.args(["--header", &format!("{name}: {value}")]);
    }
    parse(&output(command.stdin(Stdio::null()), String::new())?)
}

fn explain(config: &Path) -> Command {
    let mut command = Command::new(artefacts::cli());
    command.args(["explain", "--config"]).arg(config).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Standard output of a command that has to succeed.
fn output(command: &mut Command, input: String) -> Result<String, String> {
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let writer = child.stdin.take().map(|mut stdin| thread::spawn(move || stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if let Some(writer) = writer {
        // It fails if the command ends early, which its status shows.
        let _ = writer.join();
    }
    if !output.status.success() {
        return Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

fn parse(text: &str) -> Result<Answer, String> {
    let read = || {
        let mut facts: BTreeMap<String, Value> = serde_json::from_str(text)?;
        let client = serde_json::from_value(facts.remove("facts").unwrap_or_default())?;
        // The gates have it in logs of their own.
        facts.remove("document");
        Ok(Answer { facts, client, exchange: None })
    };
    read().map_err(|error: serde_json::Error| format!("{error}: {text}"))
}
