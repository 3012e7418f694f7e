//! Instructions that a server's worker takes for a request, counted by valgrind: nearly the same in every run, however busy the
//! machine.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use crawlpike_tests::http::Connection;
use rustix::process::Pid;

use crate::world::{Client, Kind, World};

/// The name of the profiles in a server's folder.
const PROFILE: &str = "callgrind";

/// The command to run a server under, which has this folder. It counts nothing before it gets the command.
pub(crate) fn command(folder: &Path) -> Vec<String> {
    let file = format!("--callgrind-out-file={}", folder.join(PROFILE).display());
    ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", "--separate-threads=yes"]
        .map(str::to_owned)
        .into_iter()
        .chain([file])
        .collect()
}

/// A server that [`command`] runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Server<'a> {
    pub(crate) pid: Pid,
    pub(crate) folder: &'a Path,
    pub(crate) address: SocketAddr,
    /// The number of times that it gets all requests before they are counted: one-time work, such as that of a
    /// compiler, is done by then.
    pub(crate) warm_up: usize,
}

impl Server<'_> {
    /// The cost of a request of each kind, on average over the clients.
    ///
    /// # Panics
    ///
    /// If valgrind is not there.
    pub(crate) fn instructions(self, world: &World) -> [f64; Kind::ALL.len()] {
        self.control("--instr=on");
        Kind::ALL.map(|kind| {
            let clients = world.clients(kind);
            let mut connection = Connection::open(self.address).expect("the server listens");
            for _ in 0..self.warm_up {
                send_all(&mut connection, &clients);
            }
            self.control("--zero");
            send_all(&mut connection, &clients);
            self.control("--dump");
            self.newest_total() / clients.len() as f64
        })
    }

    pub(crate) fn control(self, what: &str) {
        let pid = self.pid.as_raw_nonzero().to_string();
        let output = Command::new("callgrind_control").args([what, &pid]).output();
        let output = output.expect("callgrind_control can be started: .ci/setup bench installs it");
        assert!(
            output.status.success(),
            "callgrind_control {what}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// The instructions of the busiest thread in the profiles that were written last, one for each thread: of the worker,
    /// and not of those that work by the clock or compile. The first of a thread is `callgrind.1-01`.
    pub(crate) fn newest_total(self) -> f64 {
        let of_dump = |number: usize| {
            let prefix = format!("{PROFILE}.{number}-");
            let entries = fs::read_dir(self.folder).expect("a folder of ours").flatten();
            let profiles = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
            profiles.map(|profile| total(&profile.path())).max()
        };
        (1..).map_while(of_dump).last().expect("a profile") as f64
    }
}

/// The total of a profile.
fn total(profile: &Path) -> u64 {
    let text = fs::read_to_string(profile).expect("a profile");
    let total = text.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    total.and_then(|total| total.trim().parse().ok()).expect("the total of a profile")
}

fn send_all(connection: &mut Connection, clients: &[Client]) {
    for client in clients {
        connection.send_text(&client.request()).expect("an answer");
    }
}

/// Counts for candidates that are started one after the other, as a table; in parentheses is what each adds to the first.
pub(crate) fn table<T>(
    candidates: &[T],
    name: impl Fn(&T) -> &str,
    count: impl Fn(&T) -> [f64; Kind::ALL.len()],
) -> String {
    let mut text =
        format!("| | {} |\n|---|{}\n", Kind::ALL.map(Kind::name).join(" | "), "---|".repeat(Kind::ALL.len()));
    let mut first = None;
    for candidate in candidates {
        eprintln!("bench: counting instructions: {}", name(candidate));
        let counts = count(candidate);
        let bare = *first.get_or_insert(counts);
        let cells: Vec<String> = counts
            .iter()
            .zip(bare)
            .map(|(count, bare)| format!("{count:.0} ({:+.0})", count - bare))
            .collect();
        let _ = writeln!(text, "| {} | {} |", name(candidate), cells.join(" | "));
    }
    text
}
