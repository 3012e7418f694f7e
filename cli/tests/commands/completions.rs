use std::process::Command;

use crate::fixture::Folder;

/// The completions that bash offers for the words of a command line, the last of which is not complete.
fn offered(words: &[&str]) -> Vec<String> {
    let folder = Folder::new();
    let script = folder.run(&["completions", "bash"]);
    script.ends(0);
    let last = words.len() - 1;
    let previous = words.get(last.wrapping_sub(1)).unwrap_or(&"");
    let line = format!(
        "{}\nCOMP_WORDS=({}); COMP_CWORD={last}; _crawlpike crawlpike '{}' '{previous}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.stdout,
        words.join(" "),
        words[last],
    );
    let output = Command::new("bash").args(["--norc", "-c", &line]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_and_values() {
    assert_eq!(offered(&["crawlpike", "exp"]), ["explain"]);
    assert_eq!(offered(&["crawlpike", "aiwebindex", "doc"]), ["document"]);
    assert_eq!(offered(&["crawlpike", "explain", "--user"]), ["--user-agent"]);
    assert!(offered(&["crawlpike", "lint", "--format", "''"]).contains(&"robots-tag".to_owned()));
}

#[test]
fn the_other_shells_have_a_script_each() {
    let folder = Folder::new();
    assert!(folder.run(&["completions", "zsh"]).stdout.starts_with("#compdef crawlpike\n"));
    assert!(folder.run(&["completions", "fish"]).stdout.contains("complete -c crawlpike "));
    folder.run(&["completions", "cmd"]).ends(2).says("'cmd'");
}
