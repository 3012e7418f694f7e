//! Server processes that end with the test that started them, and waiting without sleeping for luck.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The limit of every wait: longer than anything takes that is not broken, under valgrind and on a busy machine. Only a
/// failing test waits for it.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Asks again and again until there is an answer.
///
/// # Panics
///
/// After two minutes without one.
pub fn wait_for<T>(what: &str, ask: impl FnMut() -> Option<T>) -> T {
    ask_within(PATIENCE, ask).unwrap_or_else(|| panic!("waited {PATIENCE:?} in vain: {what}"))
}

/// Asks until there is an answer, for at most this time. Returns `None` if none comes.
pub fn ask_within<T>(patience: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The command that starts a program; `under` is what runs it, with arguments, such as `taskset`; empty: nothing.
pub fn program(under: &[&str], program: PathBuf) -> Command {
    match under {
        [] => Command::new(program),
        [runner, arguments @ ..] => {
            let mut command = Command::new(runner);
            command.args(arguments).arg(program);
            command
        }
    }
}

/// A running server. Dropping it ends it; where a test fails, its logs are printed then.
#[derive(Debug)]
pub struct Server {
    name: String,
    child: Child,
    logs: Vec<PathBuf>,
    survives: bool,
}

impl Server {
    /// Starts a program whose standard error goes to a file; `logs` are the files to be shown after a failure.
    ///
    /// # Panics
    ///
    /// If it can't be started.
    pub fn start(name: &str, command: &mut Command, stderr: &Path, logs: &[PathBuf]) -> Self {
        let file = fs::File::create(stderr).expect("a log file in a folder of ours");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        let child = command.spawn().unwrap_or_else(|error| panic!("can't start {name}: {error}"));
        let mut logs = logs.to_vec();
        if !logs.iter().any(|log| log == stderr) {
            logs.push(stderr.to_owned());
        }
        Self { name: name.to_owned(), child, logs, survives: false }
    }

    /// Waits until `ask` has an answer.
    ///
    /// # Panics
    ///
    /// If the server ends before, or takes half a minute.
    pub fn wait_until<T>(&mut self, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
        wait_for(what, || {
            if let Some(status) = self.status() {
                panic!("{} ended ({status}) before this: {what}", self.name);
            }
            ask()
        })
    }

    /// The status with which it has ended by itself, once it has.
    ///
    /// # Panics
    ///
    /// Never: it is a child of ours.
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child of ours")
    }

    /// Waits until it has ended by itself.
    ///
    /// # Panics
    ///
    /// If that takes two minutes.
    pub fn wait_for_end(&mut self) {
        wait_for(&format!("{} ends", self.name), || self.status());
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        // It fails where the process is gone, which the test then sees by itself.
        let _ = kill_process(self.pid(), signal);
    }

    /// Its process.
    ///
    /// # Panics
    ///
    /// Never: a child has a process id.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Lets it go on after its owner.
    pub fn leave_running(&mut self) {
        self.survives = true;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.survives {
            return;
        }
        let ended = self.child.try_wait();
        if thread::panicking() {
            if let Ok(Some(status)) = ended {
                eprintln!("--- {} has ended: {status}", self.name);
            }
            for log in &self.logs {
                let text = fs::read(log).unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                eprintln!("--- {}: {}\n{}", self.name, log.display(), last_lines(&text, 60));
            }
        }
        // Its number may be that of another process by now.
        if !matches!(ended, Ok(None)) {
            return;
        }
        // Not SIGKILL at once: nginx's master ends its workers, and so can Envoy its files.
        self.signal(Signal::TERM);
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn last_lines(text: &str, count: usize) -> &str {
    let start = text.trim_end().rmatch_indices('\n').nth(count - 1).map_or(0, |(at, _)| at + 1);
    &text[start..]
}
