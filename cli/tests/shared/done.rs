//! The output and the exit status of a program, with checks of them.

use std::process::{Command, Output};

#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        Self { status: output.status.code().unwrap_or(-1), stdout, stderr }
    }
}

/// Runs a command to its end.
pub(crate) fn finish(mut command: Command) -> Done {
    command.output().unwrap().into()
}

impl Done {
    /// Checks the exit status.
    #[track_caller]
    pub(crate) fn ends(&self, status: i32) -> &Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Checks a part of stdout.
    #[track_caller]
    pub(crate) fn prints(&self, part: &str) -> &Self {
        assert!(self.stdout.contains(part), "{part}\n{self:?}");
        self
    }

    /// Checks a part of stderr.
    #[track_caller]
    pub(crate) fn says(&self, part: &str) -> &Self {
        assert!(self.stderr.contains(part), "{part}\n{self:?}");
        self
    }

    /// Checks the whole of stdout.
    #[track_caller]
    pub(crate) fn prints_only(&self, text: &str) -> &Self {
        assert_eq!(self.stdout, text, "{self:?}");
        self
    }

    /// Checks the whole of stderr.
    #[track_caller]
    pub(crate) fn says_only(&self, text: &str) -> &Self {
        assert_eq!(self.stderr, text, "{self:?}");
        self
    }
}
