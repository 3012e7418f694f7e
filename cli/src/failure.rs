//! The reasons for which a command ends early, and output to stderr.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use crawlpike_core::Diagnostic;

/// The exit status of a command that could not do its work; clap's for invalid arguments, too.
pub(crate) const UNUSABLE: u8 = 2;

/// The reason for which a command ends before its work is done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reasons have been reported.
    Reported,
    /// A reason that has not been reported.
    Error(String),
    /// An error with its own text, or one of the system, which failed to write to stdout.
    Stream(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Stream(error)
    }
}

impl From<serde_json::Error> for Failure {
    /// For values that always are JSON: the stream fails that they are written to.
    fn from(error: serde_json::Error) -> Self {
        Self::Stream(error.into())
    }
}

impl Failure {
    /// A reason that has not been reported.
    pub(crate) fn because(reason: impl Display) -> Self {
        Self::Error(reason.to_string())
    }

    /// Reports the reason, unless that was done, and gives the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::Reported => {}
            Self::Error(reason) => say(format_args!("crawlpike: error: {reason}")),
            // Whoever read our output has seen enough (`head`).
            Self::Stream(error) if error.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Self::Stream(error) if error.raw_os_error().is_some() => {
                say(format_args!("crawlpike: error: cannot write to stdout: {error}"));
            }
            Self::Stream(error) => say(format_args!("crawlpike: error: {error}")),
        }
        ExitCode::from(UNUSABLE)
    }
}

/// True if what is alike is not summed up.
static IS_VERBOSE: AtomicBool = AtomicBool::new(false);

/// Sums up nothing from now on.
pub(crate) fn be_verbose() {
    IS_VERBOSE.store(true, Ordering::Relaxed);
}

/// Returns true if what is alike is not summed up.
pub(crate) fn is_verbose() -> bool {
    IS_VERBOSE.load(Ordering::Relaxed)
}

/// Writes diagnostics to stderr: a line for each cause, or all of them.
pub(crate) fn say_all(diagnostics: &[Diagnostic]) {
    match is_verbose() {
        true => diagnostics.iter().for_each(say),
        false => Diagnostic::by_cause(diagnostics).iter().for_each(say),
    }
}

/// Writes a line to stderr.
pub(crate) fn say(line: impl Display) {
    // If stderr is closed, nobody reads it; eprintln! would panic.
    let _ = writeln!(io::stderr(), "{line}");
}
