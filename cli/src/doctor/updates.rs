//! Something runs `crawlpike update` now and then.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::finding::Finding;
use super::situation::Situation;
use crate::init::cron_line;

const TIMER: &str = "crawlpike-update.timer";

/// The hours since the last run after which something is wrong: a day, and some patience.
const LATEST: u64 = 26;

/// The places of crontabs.
const CRONTABS: [&str; 5] =
    ["/etc/crontab", "/etc/cron.d/*", "/etc/cron.hourly/*", "/etc/cron.daily/*", "/var/spool/cron/*/*"];

/// The program that runs the command.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Runner {
    /// The timer of systemd.
    Timer,
    /// The line of this crontab.
    Cron(PathBuf),
    /// systemd is here, and the timer is not active.
    NoTimer,
    Nothing,
}

pub(super) fn check(situation: &Situation) -> Vec<Finding> {
    if situation.configured().iter().all(|feed| feed.url.is_none()) {
        return vec![Finding::note("no feed has a `url`, so nothing has to be fetched")];
    }
    let state = &*situation.state;
    let modified = fs::metadata(state).and_then(|file| file.modified()).ok();
    // A time in the future is the clock's fault, and not old.
    let hours = modified.map(|time| time.elapsed().unwrap_or_default().as_secs() / 3_600);
    let cron = cron_line(&situation.config, situation.state_elsewhere());
    finding(hours, &runner(), &situation.update(), &cron, state).into_iter().collect()
}

fn finding(hours: Option<u64>, runner: &Runner, update: &str, cron: &str, state: &Path) -> Option<Finding> {
    let last = match hours {
        Some(hours) if hours < LATEST => return None,
        Some(hours) => format!("`crawlpike update` last ran {hours} hours ago"),
        None => "`crawlpike update` has never run with this configuration".into(),
    };
    let (what, remedy) = match runner {
        Runner::Timer => (format!("{TIMER} is active, but {last}"), "journalctl -u crawlpike-update".into()),
        Runner::Cron(path) => {
            (format!("{} runs it, but {last}", path.display()), format!("{update} --verbose"))
        }
        Runner::NoTimer => (
            format!("{last}, and {TIMER} is not active"),
            format!("systemctl enable --now {TIMER}, or as a line for cron: {cron}"),
        ),
        Runner::Nothing => (
            format!("{last}, and neither a timer of systemd nor a crontab on this machine runs it"),
            format!("as a line for cron: {cron}"),
        ),
    };
    Some(Finding::warning(what).at(state.display().to_string()).remedy(remedy))
}

fn runner() -> Runner {
    let has_systemd = Path::new("/run/systemd/system").exists();
    let is_active = || Command::new("systemctl").args(["is-active", "--quiet", TIMER]).status();
    if has_systemd && is_active().is_ok_and(|status| status.success()) {
        return Runner::Timer;
    }
    let is_ours = |path: &PathBuf| {
        let bytes = crawlpike_files::read_file(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let runs = |line: &str| {
            !line.trim_start().starts_with('#') && line.contains("crawlpike") && line.contains("update")
        };
        text.lines().any(runs)
    };
    let found =
        CRONTABS.iter().filter_map(|pattern| glob::glob(pattern).ok()).flatten().flatten().find(is_ours);
    match found {
        Some(path) => Runner::Cron(path),
        None if has_systemd => Runner::NoTimer,
        None => Runner::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recent_run_is_enough_and_an_old_one_names_what_to_look_at() {
        let state = Path::new("/c.json.update-state");
        let of = |hours, runner| finding(hours, &runner, "crawlpike update", "17 * * * *", state);
        for runner in [Runner::Timer, Runner::NoTimer, Runner::Nothing] {
            assert!(of(Some(LATEST - 1), runner).is_none());
        }
        let remedy = |hours, runner| of(hours, runner).unwrap().remedy.unwrap();
        assert_eq!(remedy(Some(LATEST), Runner::Timer), "journalctl -u crawlpike-update");
        assert!(remedy(None, Runner::NoTimer).starts_with("systemctl enable --now crawlpike-update.timer"));
        assert!(remedy(None, Runner::Nothing).ends_with("cron: 17 * * * *"));
    }
}
