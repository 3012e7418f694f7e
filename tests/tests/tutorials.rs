//! The tutorials: each command runs, and prints what the page says.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use crawlpike_tests::artefacts;
use crawlpike_tests::nginx::Folder;
use crawlpike_tests::ports::free_port;

/// A block of commands of a page.
struct Step {
    commands: String,
    /// Their expected output; `None` if the page does not show it.
    output: Option<String>,
}

/// The steps of a page: the blocks `sh`, each with the block `text` that follows it.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else { continue };
        let block =
            lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
        match (language, steps.last_mut()) {
            ("sh", _) => steps.push(Step { commands: block, output: None }),
            ("text", Some(step)) => {
                assert!(step.output.is_none(), "two outputs of one step:\n{block}");
                step.output = Some(block);
            }
            _ => {}
        }
    }
    steps
}

/// Runs the commands of a page in one shell, in a folder of their own, on free ports in place of the page's.
fn walk(name: &str, ports: &[&str]) {
    let mut page = fs::read_to_string(artefacts::repository().join("docs").join(name)).unwrap();
    for port in ports {
        page = page.replace(port, &free_port().to_string());
    }
    let steps = steps(&page);
    assert!(steps.len() >= 5, "{name} has {} steps", steps.len());

    let folder = Folder::new();
    // nginx's workers are another user than root.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let checkout = folder.path().join("checkout");
    fs::create_dir_all(checkout.join("target/tools")).unwrap();
    symlink(artefacts::cli().parent().unwrap(), checkout.join("dist")).unwrap();
    // Each Envoy that a reader starts is the only one; here, others may run.
    let envoy = checkout.join("target/tools/envoy");
    let started =
        format!("#!/bin/sh\nexec '{}' --disable-hot-restart \"$@\"\n", artefacts::envoy().display());
    fs::write(&envoy, started).unwrap();
    fs::set_permissions(&envoy, fs::Permissions::from_mode(0o755)).unwrap();
    symlink(artefacts::nginx(), checkout.join("target/tools/nginx")).unwrap();

    // Background processes of a step end with the shell. A machine that runs much else may need longer than a
    // reader waits, where the page sleeps and between two steps: a server logs a request after the answer.
    let mut script = "set -eu\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n\
        sleep() { command sleep \"$((4 * $1))\"; }\n"
        .to_owned();
    for (number, step) in steps.iter().enumerate() {
        script.push_str(&format!("command sleep 1\nexec >\"$STEPS/{number}\" 2>&1\n{}", step.commands));
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let checkout_path = checkout.display();
    let status = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder.path())
        .env("STEPS", folder.path())
        .env("CRAWLPIKE", &checkout)
        .env("PATH", format!("{checkout_path}/dist:{checkout_path}/target/tools:{path}"))
        .status()
        .unwrap();

    let mut report = String::new();
    for (number, step) in steps.iter().enumerate() {
        let printed = fs::read(folder.path().join(number.to_string())).unwrap_or_default();
        let printed = String::from_utf8_lossy(&printed);
        let expected = step.output.as_deref().unwrap_or_default();
        if printed != expected {
            report.push_str(&format!(
                "--- this prints\n{}--- by the page\n{expected}--- in fact\n{printed}",
                step.commands
            ));
        }
    }
    assert!(status.success() && report.is_empty(), "{name}: {status}\n{report}");
}

#[test]
fn nginx() {
    walk("tutorial-nginx.md", &["8080"]);
}

#[test]
fn usage() {
    walk("usage.md", &[]);
}

#[test]
fn envoy() {
    walk("tutorial-envoy.md", &["8090", "9901"]);
}
