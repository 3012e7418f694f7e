//! A folder with a configuration and real feeds, and the program run in it.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

pub(crate) use crate::done::Done;

/// A configuration that has an agent with a feed, an agent whose feed is not there, and a site.
pub(crate) const CONFIG: &str = r#"{
  "mode": "enforce",
  "feeds": [
    { "name": "googlebot", "format": "jafar", "source": "googlebot.json" },
    { "name": "partners", "format": "cidr", "source": "partners.txt" }
  ],
  "agents": [
    { "token": "Googlebot", "feeds": ["googlebot"] },
    { "token": "PartnerProbe", "feeds": ["partners"] }
  ],
  "sites": [ { "hosts": ["example.com", "*.example.com"] }, { "name": "others" } ]
}
"#;

/// The warning that [`CONFIG`] gives.
pub(crate) const WARNING: &str = "crawlpike.json:5:55: warning: the feed `partners` is missing: the file partners.txt does not exist; it verifies no client, and clients that claim its agents are `unverified`, not `spoofed`\n";

/// An address of Googlebot.
pub(crate) const GOOGLEBOT: &str = "66.249.66.1";

/// A folder that goes with the value.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// A folder with [`CONFIG`] as `crawlpike.json`, and Googlebot's real feed.
    pub(crate) fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        let feeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/data/feeds");
        fs::copy(feeds.join("google-googlebot.json"), folder.path("googlebot.json")).unwrap();
        folder.write("crawlpike.json", CONFIG);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Puts a pipe in the place of a file.
    pub(crate) fn make_pipe(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
        mknodat(CWD, self.path(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs the program in the folder.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Done {
        self.run_with(arguments, "")
    }

    /// Runs the program in the folder with this stdin.
    pub(crate) fn run_with<A: AsRef<OsStr>>(&self, arguments: &[A], stdin: impl AsRef<[u8]>) -> Done {
        let mut child = self.command(arguments).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let stdin = stdin.as_ref().to_vec();
        // Beside the reading below, so that neither waits for the other. Who ends early does not read all.
        let writer = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output.into()
    }

    /// The program, to be run in the folder with piped streams.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crawlpike"));
        command.args(arguments).current_dir(self.0.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}
