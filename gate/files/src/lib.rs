//! Files for the gates and commands of Crawlpike that have a file system: the nginx module, the native module of Envoy, and the
//! command line.
//!
//! [`FilesBeside`] reads the files that a configuration document names, and keeps the last good version of each feed.
//! [`Origin`] remembers what a ruleset was made of, and makes it anew when one of the files has changed; [`Watch`] is the
//! part of it that looks for changes. [`replace`] writes files that others read meanwhile. [`catch`] keeps panics from the server.
//! Unix only. No policy belongs here: `crawlpike-core` compiles what is read, and `nginx-module`, `envoy-module` and `cli` use both.

mod access;
mod audience;
mod beside;
mod error;
mod in_force;
mod origin;
mod panics;
mod policy;
mod read;
mod recording;
mod replace;
mod snapshot;
mod tables;
mod unfinished;
mod watch;

use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crawlpike_core::{Compiled, Files, Ruleset};

pub use access::{Obstacle, obstacle};
pub use audience::{Audience, Readers, User};
pub use beside::{FilesBeside, why_unreadable};
pub use error::{FileError, FileErrors};
pub use in_force::FeedsInForce;
pub use origin::Origin;
pub use panics::catch;
pub use read::{LARGEST_FILE, PagedFile, is_compiled, read_file};
pub use recording::{Contents, Recording};
pub use replace::{Replaced, renew, replace};
pub use snapshot::Snapshot;
pub use tables::read_table;
pub use watch::{Look, Watch};

/// Compiles the configuration document at `path`, or loads the compiled ruleset there, and adds a warning for each feed
/// that is stale by now.
///
/// # Errors
///
/// If the file itself cannot be read; everything else is in the diagnostics.
pub fn compile(path: &Path, files: &dyn Files) -> io::Result<Compiled> {
    let name = path.display().to_string();
    let mut compiled = match read::document(path)? {
        Some(document) => Ruleset::compile(&name, &document, files),
        None => Compiled::load(&name, read::words(path)?),
    };
    compiled.warn_of_stale_feeds(&name, now());
    Ok(compiled)
}

/// The time, in seconds since the Unix epoch.
pub fn now() -> i64 {
    seconds(SystemTime::now())
}

/// A time in seconds since the Unix epoch; one before it is negative.
fn seconds(time: SystemTime) -> i64 {
    let whole = |seconds| i64::try_from(seconds).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => whole(after.as_secs()),
        Err(before) => -whole(before.duration().as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_before_the_epoch_are_negative() {
        let minute = Duration::from_secs(60);
        assert_eq!([UNIX_EPOCH + minute, UNIX_EPOCH - minute].map(seconds), [60, -60]);
    }
}
