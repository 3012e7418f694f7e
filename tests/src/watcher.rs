//! A command that goes on until it gets a signal, and that prints a line for each thing that it does.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

use crate::process::PATIENCE;

/// The lines of a stream, as they come.
#[derive(Debug)]
pub struct Lines(Receiver<String>);

impl Lines {
    fn of(stream: impl Read + Send + 'static) -> Self {
        let (sender, receiver) = channel();
        thread::spawn(move || {
            BufReader::new(stream).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self(receiver)
    }

    /// The next line.
    ///
    /// # Panics
    ///
    /// If none comes in time, or the stream ends.
    pub fn next(&self, what: &str) -> String {
        self.0.recv_timeout(PATIENCE).expect(what)
    }

    /// The lines that have come, without waiting for more.
    pub fn arrived(&self) -> Vec<String> {
        self.0.try_iter().collect()
    }
}

/// The command, running; dropping it ends it.
#[derive(Debug)]
pub struct Watcher {
    child: Child,
    /// Its standard output.
    pub stdout: Lines,
    /// Its standard error.
    pub stderr: Lines,
}

impl Watcher {
    /// Starts a command.
    ///
    /// # Panics
    ///
    /// If it can't be started.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command");
        let stdout = Lines::of(child.stdout.take().expect("a pipe"));
        let stderr = Lines::of(child.stderr.take().expect("a pipe"));
        Self { child, stdout, stderr }
    }

    /// The next line of stdout, without its time.
    ///
    /// # Panics
    ///
    /// If it does not begin with a time, or none comes in time.
    pub fn line(&self) -> String {
        let line = self.stdout.next("a line");
        let (time, rest) = line.split_once(' ').expect("a time and a text");
        assert!(time.ends_with('Z') && time.contains('T') && time.len() == 20, "{line}");
        rest.to_owned()
    }

    /// Waits for a line of stderr that contains a text.
    ///
    /// # Panics
    ///
    /// If none comes in time.
    pub fn says(&self, text: &str) {
        while !self.stderr.next(text).contains(text) {}
    }

    /// Sends it a signal.
    ///
    /// # Panics
    ///
    /// If it has ended.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("a process");
    }

    /// The exit status after a signal.
    ///
    /// # Panics
    ///
    /// If it has ended before.
    pub fn ends(&mut self, signal: Signal) -> Option<i32> {
        self.signal(signal);
        self.child.wait().expect("a child of ours").code()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
