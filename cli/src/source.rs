//! The files that commands are given, and what is said about them.

use std::path::Path;

use crawlward_core::diagnostic::Diagnostic;
use crawlward_core::{Compiled, Files, Ruleset};
use crawlward_host::FilesBeside;

use crate::failure::{Failure, say};

/// Reads a file, whole; a failure is reported as a diagnostic.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    crawlward_host::read_file(path).map_err(|error| {
        say(unreadable(path, error));
        Failure::Told
    })
}

/// What there is to say of a file that can't be read.
pub(crate) fn unreadable(path: &Path, error: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error(path.display().to_string(), format!("can't be read: {error}"))
}

/// The ruleset of the configuration document at `path`, with the files beside it, or the compiled ruleset there.
pub(crate) fn ruleset(path: &Path) -> Result<Ruleset, Failure> {
    compile(path, &FilesBeside::new(path))?.ruleset.ok_or(Failure::Told)
}

/// Compiles what is at `path` and says what there is to say of it; a failure where it was refused.
pub(crate) fn compile(path: &Path, files: &dyn Files) -> Result<Compiled, Failure> {
    let compiled = crawlward_host::compile(path, files).map_err(|error| {
        say(unreadable(path, error));
        Failure::Told
    })?;
    for diagnostic in &compiled.diagnostics {
        say(diagnostic);
    }
    if compiled.ruleset.is_some() { Ok(compiled) } else { Err(Failure::Told) }
}

/// Keeps the versions of feeds that turned out to be good. A warning where that can't be done, as in a folder that can't be
/// written to: what is in force can be delivered all the same.
pub(crate) fn keep(config: &Path, good_feeds: &[(String, Vec<u8>)]) {
    if let Err(why) = FilesBeside::new(config).keep(good_feeds) {
        let config = config.display();
        say(format_args!("{config}: warning: {why}: there is no last good version to fall back on"));
    }
}

/// A failure where a feed that `--accept` names is not in the ruleset.
pub(crate) fn check_accepted(ruleset: &Ruleset, accepted: &[String]) -> Result<(), Failure> {
    let is_there = |name: &String| ruleset.feeds(crawlward_host::now()).any(|feed| feed.name == name);
    match accepted.iter().find(|name| !is_there(name)) {
        Some(name) => Err(Failure::Because(format!("--accept {name}: no feed has this name"))),
        None => Ok(()),
    }
}

/// A failure where a command would replace the configuration that it reads by what it makes of it.
pub(crate) fn check_output(config: &Path, output: &Path) -> Result<(), Failure> {
    let [config, there] = [config, output].map(|path| path.canonicalize().ok());
    if config.is_some() && config == there {
        let output = output.display();
        return Err(Failure::Because(format!(
            "{output} is the configuration itself, which would be lost: write elsewhere"
        )));
    }
    Ok(())
}
