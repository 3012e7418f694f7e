//! The files that commands are given, what they make of them, and what they report about them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crawlpike_core::{Compiled, Diagnostic, Files, Ruleset, suggestion};
use crawlpike_files::{FileErrors, FilesBeside, Recording, Replaced, Snapshot, why_unreadable};

use crate::failure::{Failure, say, say_all};

/// Reads a file, whole; a failure is reported as a diagnostic.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    read_recorded(path, &Snapshot::default())
}

/// As [`read`], and records the file before.
pub(crate) fn read_recorded(path: &Path, snapshot: &Snapshot) -> Result<Vec<u8>, Failure> {
    bytes(path, snapshot).map_err(|error| report_unreadable(path, why_unreadable(&error)))
}

fn bytes(path: &Path, snapshot: &Snapshot) -> io::Result<Vec<u8>> {
    snapshot.read(path, || crawlpike_files::read_file(path))
}

/// Reads a file, a pipe such as that of `<(command)`, or stdin for `-`.
pub(crate) fn read_or_stdin(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut read_to_end =
        |input: &mut dyn Read| input.take(crawlpike_files::LARGEST_FILE).read_to_end(&mut bytes);
    let done = match path == Path::new("-") {
        true => read_to_end(&mut io::stdin().lock()),
        false if is_pipe(path) => File::open(path).and_then(|mut pipe| read_to_end(&mut pipe)),
        false => return read(path),
    };
    done.map_err(|error| report_unreadable(path, error))?;
    Ok(bytes)
}

fn is_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// The name of a file in messages.
pub(crate) fn shown(path: &Path) -> String {
    if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// The diagnostic about a file that cannot be read.
pub(crate) fn unreadable(path: &Path, error: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error(shown(path), format!("cannot be read: {error}"))
}

/// Reports the reason why a file cannot be used.
pub(crate) fn report(path: &Path, reason: &str) -> Failure {
    say(Diagnostic::error(shown(path), reason));
    Failure::Reported
}

fn report_unreadable(path: &Path, error: impl std::fmt::Display) -> Failure {
    say(unreadable(path, error));
    Failure::Reported
}

/// Reads a configuration document, which is recorded before; a failure is reported as a diagnostic.
pub(crate) fn read_configuration(path: &Path, snapshot: &Snapshot) -> Result<Vec<u8>, Failure> {
    bytes(path, snapshot).map_err(|error| report_no_configuration(path, error))
}

/// A failure to read a configuration, with advice if there is none.
fn report_no_configuration(path: &Path, error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::NotFound {
        let advice = "`crawlpike init` creates a configuration; in a container, mount its folder";
        return report_unreadable(path, format_args!("{error}; {advice}"));
    }
    report_unreadable(path, why_unreadable(&error))
}

/// The ruleset of the configuration document at `path`, with the files beside it, or the compiled ruleset there.
pub(crate) fn ruleset(path: &Path) -> Result<Ruleset, Failure> {
    compile(path, &FilesBeside::new(path), &Snapshot::default())?.ruleset.ok_or(Failure::Reported)
}

/// The files beside the configuration document at `path`, for commands whose output others serve: as root, they take only
/// policies that everybody may read.
pub(crate) fn files_to_deliver(path: &Path) -> FilesBeside {
    FilesBeside::new(path).readable_by_everybody_if_root()
}

/// Compiles what is at `path`, which is recorded before, and reports its diagnostics; a failure if it is refused.
pub(crate) fn compile(path: &Path, files: &dyn Files, snapshot: &Snapshot) -> Result<Compiled, Failure> {
    let compiled = snapshot.read(path, || crawlpike_files::compile(path, files));
    let compiled = compiled.map_err(|error| report_no_configuration(path, error))?;
    say_all(&compiled.diagnostics);
    if compiled.ruleset.is_some() { Ok(compiled) } else { Err(Failure::Reported) }
}

/// Compiles as [`compile`] does, for commands that keep the good versions of feeds; a failure also if one of those from before
/// cannot be read, since nothing would judge the new one.
pub(crate) fn compile_to_keep(
    path: &Path,
    recording: Recording<'_>,
    snapshot: &Snapshot,
) -> Result<Compiled, Failure> {
    let compiled = compile(path, &recording, snapshot);
    let unreadable = recording.into_unreadable();
    for error in &unreadable {
        let message =
            format!("{error}; until it can be read, or is removed, no new version of the feed is accepted");
        say(Diagnostic::error(path.display().to_string(), message));
    }
    if unreadable.is_empty() { compiled } else { Err(Failure::Reported) }
}

/// Warns if good versions of feeds could not be kept, as in a read-only folder: the versions in force can be delivered all
/// the same.
pub(crate) fn warn_of_unkept(config: &Path, kept: Result<(), FileErrors>) {
    if let Err(errors) = kept {
        let config = config.display();
        say(format_args!(
            "{config}: warning: {errors}; if the next version of the feed is broken, there is no good one to fall back on"
        ));
    }
}

/// Writes a file that is made of those in `sources`, unless it has this content already; returns true if it was written.
pub(crate) fn replace(path: &Path, bytes: &[u8], sources: &Snapshot) -> Result<bool, Failure> {
    let shown = path.display();
    match crawlpike_files::replace(path, bytes, sources.readers()) {
        Ok(Replaced::Unchanged) => Ok(false),
        Ok(Replaced::Written { is_restricted }) => {
            if let Some(private) = sources.private_file().filter(|_| is_restricted) {
                let private = private.display();
                say(format_args!("{shown}: warning: readable only by those who can read {private}"));
            }
            Ok(true)
        }
        Err(error) => Err(Failure::because(format_args!("cannot write {shown}: {error}"))),
    }
}

/// A failure if a feed that `--accept` names is not in the ruleset.
pub(crate) fn check_accepted(ruleset: &Ruleset, accepted: &[String]) -> Result<(), Failure> {
    let now = crawlpike_files::now();
    let is_there = |name: &String| ruleset.feeds(now).any(|feed| feed.name == name);
    match accepted.iter().find(|name| !is_there(name)) {
        Some(name) => {
            let suggestion = suggestion(name, ruleset.feeds(now).map(|feed| feed.name));
            Err(Failure::because(format_args!("--accept: no feed is named `{name}`{suggestion}")))
        }
        None => Ok(()),
    }
}

/// A failure if a command would overwrite one of the files that it reads.
pub(crate) fn check_output(output: &Path, sources: &Snapshot) -> Result<(), Failure> {
    if sources.has(output) {
        let output = output.display();
        return Err(Failure::because(format_args!(
            "{output} is read by this command; write to another file"
        )));
    }
    Ok(())
}
