//! Notifies the server of changed files.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

/// Sends SIGHUP to the process whose number is in a file, such as nginx's master. Gives a remark if there is none: it reads
/// the files when it starts.
///
/// # Errors
///
/// If the file has no number, or if the process is not ours to signal.
pub(super) fn signal(pid_file: &Path) -> Result<Option<String>, String> {
    let shown = pid_file.display();
    let text = match fs::read_to_string(pid_file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Some(format!("{shown} does not exist, so there is no server to signal")));
        }
        Err(error) => return Err(format!("cannot read {shown}: {error}")),
    };
    // 1 is the first process of the system, or of a container.
    let pid = text.trim().parse().ok().filter(|pid| *pid > 0).and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| format!("{shown} does not contain the number of a process"))?;
    match kill_process(pid, Signal::HUP) {
        Ok(()) => Ok(None),
        Err(Errno::SRCH) => {
            Ok(Some(format!("no process has the number in {shown}, so there is no server to signal")))
        }
        Err(error) => Err(format!("cannot signal the process in {shown}: {error}")),
    }
}

/// Runs a command of the shell. What it prints goes to stderr.
///
/// # Errors
///
/// If it cannot be started, or does not end with status 0.
pub(super) fn execute(command: &str) -> Result<(), String> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(io::stderr());
    match shell.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the command of --exec failed: {status}")),
        Err(error) => Err(format!("cannot run the command of --exec: {error}")),
    }
}
