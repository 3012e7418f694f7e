//! Plans of faults for gates that are built with the feature `faults-for-tests`: see `tests/faults/faults.h`.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The calls that fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Allocations from the server's pools and zones.
    Memory = 1,
    /// Operations on files.
    File = 2,
    /// Other calls of the server, and the start of threads.
    Host = 4,
    /// Calls between the server and the gate, which panic.
    Panic = 8,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Memory, Self::File, Self::Host, Self::Panic];
}

/// A plan of faults: a call fails from when it begins until it ends.
pub trait Plan {
    /// Has the call of a kind fail that is the `number`th from now on; 0: none fails, all are counted.
    fn begin(&self, kind: Kind, number: u64);

    /// Ends the plan. Returns the name of the function that failed, if any did.
    fn end(&self) -> Option<String>;
}

/// The place of the numbers in the file, `faults_plan` in `tests/faults/faults.c`.
const KINDS: u64 = 0;
const AT: u64 = 8;
const CALLS: u64 = 16;
const FAILED: u64 = 24;

/// A plan that a server shares with its test.
#[derive(Debug)]
pub struct Faults(File);

impl Faults {
    /// Makes the plan for a server that runs by [`Self::under`], where nothing fails yet.
    ///
    /// # Panics
    ///
    /// If the disk is full.
    pub fn new(folder: &Path) -> Self {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).open(folder.join("faults"));
        let file = file.expect("a file in a folder of ours");
        file.set_len(4096).expect("a file in a folder of ours");
        Self(file)
    }

    /// The command that runs a server with the plan of its folder.
    pub fn under(folder: &Path) -> Vec<String> {
        vec!["env".to_owned(), format!("CRAWLPIKE_FAULTS={}", folder.join("faults").display())]
    }

    fn write(&self, place: u64, number: u64) {
        self.0.write_all_at(&number.to_ne_bytes(), place).expect("a file of ours");
    }
}

impl Plan for Faults {
    fn begin(&self, kind: Kind, number: u64) {
        self.write(KINDS, 0);
        self.0.write_all_at(&[0; 64], FAILED).expect("a file of ours");
        self.write(AT, number);
        self.write(CALLS, 0);
        self.write(KINDS, kind as u64);
    }

    fn end(&self) -> Option<String> {
        self.write(KINDS, 0);
        let mut name = [0; 64];
        self.0.read_exact_at(&mut name, FAILED).expect("a file of ours");
        let name = String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned();
        (!name.is_empty()).then_some(name)
    }
}
