//! The state of processes, from `/proc`.

use std::fs;
use std::time::Duration;

/// The processor time that a process has used, all its threads.
pub fn processor_time(pid: i32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanoseconds.sum())
}

/// The processes that a process started.
pub fn children(pid: i32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// The threads of a process; the first one has its number.
pub fn threads(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok()).collect()
}

/// Returns true if all threads of a process are stopped, which is some time after SIGSTOP.
pub fn is_stopped(pid: i32) -> bool {
    threads(pid).into_iter().all(|thread| {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{thread}/status")).unwrap_or_default();
        text.lines().any(|line| line.starts_with("State:\tT"))
    })
}

/// The memory of a process, in KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// All of it.
    pub resident: u64,
    /// The memory without a file, including the part that is shared with the process that it was forked from.
    pub anonymous: u64,
    /// The memory that no other process shares.
    pub private: u64,
}

/// The memory of a process; zero if the process does not exist.
pub fn memory(pid: i32) -> Memory {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let kib = |names: &[&str]| -> u64 {
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let ours = lines.filter(|(name, _)| names.contains(name));
        ours.filter_map(|(_, value)| value.trim().strip_suffix(" kB")?.parse::<u64>().ok()).sum()
    };
    Memory {
        resident: kib(&["Rss"]),
        anonymous: kib(&["Anonymous"]),
        private: kib(&["Private_Clean", "Private_Dirty"]),
    }
}

/// The most that a process had in memory since [`forget_peak`], in KiB.
pub fn peak(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or_default()
}

/// Begins anew to note the most that a process has in memory.
pub fn forget_peak(pid: i32) {
    // If the system does not allow it, the peak is that of the whole life.
    let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

/// The number of files that a process has open.
pub fn open_files(pid: i32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().count()
}

/// The command line of a process; empty if it has ended.
pub fn title(pid: i32) -> String {
    let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&text).replace('\0', " ").trim().to_owned()
}
