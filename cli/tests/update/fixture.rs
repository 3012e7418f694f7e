//! A folder with a configuration whose feeds a server of the test publishes, and the program run in it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crawlpike_tests::publisher::{self, Asked, Authority, Connection, Publisher, VALID};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use crate::done::{Done, finish};

/// The authority of all good servers.
pub(crate) static AUTHORITY: LazyLock<Authority> = LazyLock::new(Authority::new);

/// The usual answer of a publisher.
pub(crate) const GOOD: &str = "192.0.2.0/24\n198.51.100.0/24\n2001:db8::/32\n";

/// A good version after [`GOOD`].
pub(crate) const BETTER: &str = "192.0.2.0/24\n198.51.100.0/24\n203.0.113.0/25\n2001:db8::/32\n";

/// A folder, and the server that its feeds come from.
pub(crate) struct Lab {
    folder: TempDir,
    pub(crate) publisher: Publisher,
}

/// A server with HTTPS.
pub(crate) fn publisher(
    answer: impl Fn(&Asked, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static,
) -> Publisher {
    Publisher::https(AUTHORITY.identity(VALID), answer)
}

/// An answer with these headers and this body.
pub(crate) fn says(
    headers: &'static [&'static str],
    body: impl AsRef<[u8]> + Send + Sync + 'static,
) -> impl Fn(&Asked, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static {
    move |_, connection| publisher::respond(connection, "200 OK", headers, body.as_ref())
}

impl Lab {
    /// One feed, `lab`, in `lab.txt`, and a server that answers so.
    pub(crate) fn new(
        answer: impl Fn(&Asked, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let lab = Self { folder: TempDir::new().unwrap(), publisher: publisher(answer) };
        lab.configure(&[json!({})]);
        lab
    }

    /// A folder as [`Self::new`], in which an update has brought [`GOOD`].
    pub(crate) fn updated() -> Self {
        let lab = Self::new(says(&["Cache-Control: max-age=0", "ETag: \"1\""], GOOD));
        lab.update(&[]).ends(0);
        assert_eq!(lab.read("lab.txt"), GOOD);
        lab.publisher.asked();
        lab
    }

    /// Writes a configuration whose feeds differ from the usual one in these keys.
    pub(crate) fn configure(&self, feeds: &[Value]) {
        let feeds: Vec<Value> = feeds
            .iter()
            .map(|keys| {
                let mut feed = json!({ "name": "lab", "format": "cidr", "source": "lab.txt",
                    "url": self.publisher.url("/lab.txt") });
                for (key, value) in keys.as_object().unwrap() {
                    feed[key] = value.clone();
                }
                feed
            })
            .collect();
        let names: Vec<&Value> =
            feeds.iter().filter(|feed| feed["format"] != "geofeed").map(|feed| &feed["name"]).collect();
        let document = json!({ "catalog": "none", "feeds": feeds,
            "agents": [ { "token": "LabBot", "feeds": names } ] });
        self.write("crawlpike.json", document.to_string());
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The number of lines of a file; 0 if it does not exist.
    pub(crate) fn lines(&self, name: &str) -> usize {
        fs::read_to_string(self.path(name)).map_or(0, |text| text.lines().count())
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// The names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Makes a file older than it is.
    pub(crate) fn age(&self, name: &str, by: Duration) {
        fs::File::open(self.path(name)).unwrap().set_modified(SystemTime::now() - by).unwrap();
    }

    /// The age of a file in seconds.
    pub(crate) fn age_of(&self, name: &str) -> u64 {
        let modified = fs::metadata(self.path(name)).unwrap().modified().unwrap();
        SystemTime::now().duration_since(modified).unwrap_or_default().as_secs()
    }

    /// The saved state.
    pub(crate) fn state(&self) -> Value {
        serde_json::from_str(&self.read("crawlpike.json.update-state")).unwrap()
    }

    /// Saves a state as if nothing had been asked for yet.
    pub(crate) fn forget(&self) {
        self.write("crawlpike.json.update-state", "{\"feeds\": {}}");
    }

    /// The saved state of the feed `lab`.
    pub(crate) fn entry(&self) -> Value {
        self.state()["feeds"]["lab"].clone()
    }

    /// Changes the saved state of the feed `lab`.
    pub(crate) fn remember(&self, keys: &Value) {
        let mut state = self.state();
        for (key, value) in keys.as_object().unwrap() {
            state["feeds"]["lab"][key] = value.clone();
        }
        self.write("crawlpike.json.update-state", state.to_string());
    }

    /// The command, to be run in the folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crawlpike"));
        command.args(["update", "--config", "crawlpike.json"]).args(arguments);
        self.prepare(&mut command);
        command
    }

    /// Lets a command run in the folder, with piped streams, and trust the server.
    pub(crate) fn prepare(&self, command: &mut Command) {
        publisher::trust(command, &AUTHORITY.file());
        command.current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    }

    /// Runs the command.
    pub(crate) fn update(&self, arguments: &[&str]) -> Done {
        finish(self.command(arguments))
    }

    /// The report on the feed `lab` in JSON, with the exit status.
    pub(crate) fn update_json(&self, arguments: &[&str]) -> (i32, Value) {
        let done = self.update(&[&["--json"], arguments].concat());
        (done.status, serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{done:?}")))
    }
}

/// The time in seconds since the Unix epoch.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().try_into().unwrap()
}
