//! The interface of a server with a gate for the soak test.

use std::fs;

use crawlpike_tests::nginx::Folder;
use fastrand::Rng;

use crate::scene::Scene;

/// The name of the configuration document in a gate's folder.
pub(crate) const DOCUMENT: &str = "crawlpike.json";

/// A running server with the gate. When a function returns, what it does is over.
pub(crate) trait Gate {
    /// Replaces or removes a file, and has the gate take what the files are now, or refuse it.
    fn change(&mut self, scene: &Scene, name: &str, text: Option<&str>);

    /// Puts new processes in the place of those that run, without the loss of a request.
    fn replace_processes(&mut self, scene: &Scene);

    /// Kills what answers requests, while it takes a new document, if there is one.
    fn kill(&mut self, scene: &Scene, random: &mut Rng, document: Option<&str>);

    fn reopen_logs(&self);

    /// The memory of each kind of process, in KiB; of several of a kind, the largest.
    fn memory(&self) -> Vec<(&'static str, u64)>;

    /// The process that started the others, if there are others.
    fn main_process(&self) -> i32;

    /// Lines of the logs about errors.
    fn problems_in_logs(&self) -> Vec<String>;
}

/// Replaces or removes a file in a folder.
pub(crate) fn put(folder: &Folder, name: &str, text: Option<&str>) {
    match text {
        Some(text) => drop(folder.write(name, text)),
        // It may be gone already.
        None => drop(fs::remove_file(folder.path().join(name))),
    }
}

/// The first lines of a log that are wrong.
pub(crate) fn wrong_lines(log: &str, is_wrong: impl Fn(&str) -> bool) -> Vec<String> {
    let lines = log.lines().filter(|line| is_wrong(line)).take(20);
    lines.map(|line| format!("in the log: {line}")).collect()
}
