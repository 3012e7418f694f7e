//! Failures of this machine: a full disk, a folder that cannot be written, a crash, another run, a clock.

use std::fs;
use std::process::Command;
use std::thread::{self, sleep};
use std::time::Duration;

use crawlpike_tests::publisher::respond;
use serde_json::json;

use crate::fixture::{BETTER, Done, GOOD, Lab, finish, now, says};

/// Runs an update after commands of the shell that mount what they like, which nobody else sees.
fn update_among_mounts(lab: &Lab, mounts: &str) -> Done {
    let mut command = Command::new("unshare");
    let script = format!("set -e; {mounts}; exec \"$0\" update --config crawlpike.json");
    command.args(["--map-root-user", "--mount", "sh", "-c", &script, env!("CARGO_BIN_EXE_crawlpike")]);
    lab.prepare(&mut command);
    finish(command)
}

/// A lab whose feed is in a folder of its own, and whose publisher has a new version.
fn lab_with_news(news: String) -> Lab {
    let lab = Lab::new(says(&["Cache-Control: no-cache"], GOOD));
    lab.configure(&[json!({ "source": "feeds/lab.txt", "guard": "off" })]);
    assert_eq!(lab.update(&[]).status, 0);
    lab.publisher.answer(says(&["Cache-Control: no-cache"], news));
    lab
}

#[test]
fn a_full_disk_keeps_what_it_has() {
    let large: String = (0..20_000).map(|n| format!("20.{}.{}.0/24\n", n / 256, n % 256)).collect();
    let lab = lab_with_news(large.clone());
    update_among_mounts(
        &lab,
        "cp -r feeds kept; mount -t tmpfs -o size=64k tmpfs feeds; cp kept/* feeds; trap 'cp -r feeds/. seen' EXIT; mkdir seen; \
         \"$0\" update --config crawlpike.json; exit $?",
    ).ends(1).says("cannot write feeds/lab.txt: No space left on device").says("feeds/lab.txt is left unchanged");
    let seen: Vec<_> =
        fs::read_dir(lab.path("seen")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(
        (seen.len(), lab.read("seen/lab.txt"), lab.read("seen/lab.txt.last-good")),
        (2, GOOD.into(), GOOD.into())
    );
    // As soon as there is room, the next run writes it.
    assert_eq!(lab.update(&[]).status, 0);
    assert_eq!(lab.read("feeds/lab.txt"), large);
}

#[test]
fn a_last_good_version_that_cannot_be_read_stays_and_nothing_new_is_accepted() {
    for name in ["lab.txt.last-good", "lab.txt.earlier-good"] {
        let lab = Lab::updated();
        lab.publisher.answer(says(&["Cache-Control: no-cache"], BETTER));
        lab.update(&[]).ends(0);
        let good = fs::read(lab.path(name)).unwrap();
        // Its first byte cannot be read, for an error of input and output.
        fs::remove_file(lab.path(name)).unwrap();
        std::os::unix::fs::symlink("/proc/self/mem", lab.path(name)).unwrap();
        lab.publisher.answer(says(&["Cache-Control: no-cache"], GOOD));
        lab.publisher.asked();
        for accepted in [&[][..], &["--accept", "lab"]] {
            let done = lab.update(accepted);
            done.ends(1).says(&format!("cannot read {name}: Input/output error (os error 5); until it can be read, or is removed, no new version of the feed is accepted"));
            assert_eq!(lab.read("lab.txt"), BETTER);
            assert!(lab.path(name).is_symlink(), "{name}");
        }
        assert!(lab.publisher.asked().is_empty(), "nobody is asked for what nothing can judge");
        fs::remove_file(lab.path(name)).unwrap();
        lab.write(name, good);
        lab.update(&[]).ends(0);
        assert_eq!(lab.read("lab.txt"), GOOD);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let lab = lab_with_news(BETTER.into());
    let done = update_among_mounts(&lab, "mount --bind feeds feeds; mount -o remount,bind,ro feeds");
    assert_eq!((done.status, lab.read("feeds/lab.txt")), (1, GOOD.into()), "{done:?}");
    done.says("cannot write feeds/lab.txt: Read-only file system");
    let done = update_among_mounts(&lab, "mount --bind . .; mount -o remount,bind,ro .; cd \"$PWD\"");
    done.ends(2);
    let reason = "cannot lock crawlpike.json.update-state.lock: Read-only file system";
    done.says(reason).says("--state");
}

#[test]
fn the_state_may_be_elsewhere() {
    let lab = Lab::new(says(&["ETag: \"1\""], GOOD));
    fs::create_dir(lab.path("var")).unwrap();
    assert_eq!(lab.update(&["--state", "var/state"]).status, 0);
    assert_eq!(lab.files(), ["crawlpike.json", "lab.txt", "lab.txt.last-good", "var"]);
    assert_eq!(lab.update(&["--state", "var/state"]).status, 0);
    assert_eq!(lab.publisher.asked().len(), 1);
}

#[test]
fn no_other_user_can_lock_the_state() {
    let lab = Lab::new(says(&[], GOOD));
    let lock = "crawlpike.json.update-state.lock";
    lab.update(&[]).ends(0);
    assert_eq!(lab.mode(lock), 0o600);
    lab.set_mode(lock, 0o644);
    lab.update(&[]).ends(0);
    assert_eq!(lab.mode(lock), 0o600, "a file that was there");
}

#[test]
fn the_state_is_as_private_as_the_configuration() {
    let lab = Lab::new(says(&["Cache-Control: no-cache"], GOOD));
    let state = "crawlpike.json.update-state";
    lab.update(&[]).ends(0);
    assert_eq!(lab.mode(state), lab.mode("crawlpike.json"));
    lab.configure(&[json!({ "url": lab.publisher.url("/lab.txt?license_key=SECRET") })]);
    lab.set_mode("crawlpike.json", 0o600);
    lab.update(&[]).ends(0);
    assert!(lab.read(state).contains("SECRET"));
    assert_eq!(lab.mode(state), 0o600, "a file that was there");
    fs::remove_file(lab.path(state)).unwrap();
    lab.update(&[]).ends(0);
    assert_eq!(lab.mode(state), 0o600);
}

#[test]
fn a_state_that_is_lost_or_damaged_costs_one_request() {
    let lab = Lab::new(says(&["ETag: \"1\""], GOOD));
    assert_eq!(lab.update(&[]).status, 0);
    for damage in
        [Some("{\"feeds\":"), Some("\0\0\0"), Some("[5]"), Some("{\"feeds\":{\"lab\":5}}"), Some(""), None]
    {
        lab.publisher.asked();
        match damage {
            Some(damage) => lab.write("crawlpike.json.update-state", damage),
            None => fs::remove_file(lab.path("crawlpike.json.update-state")).unwrap(),
        }
        let first = lab.update(&[]);
        assert_eq!((first.status, lab.read("lab.txt")), (0, GOOD.into()), "{first:?}");
        assert_eq!(
            first.stderr.contains("crawlpike.json.update-state: corrupt: "),
            damage.is_some(),
            "{first:?}"
        );
        let second = lab.update(&[]);
        assert_eq!((second.status, &*second.stderr, lab.publisher.asked().len()), (0, "", 1), "{damage:?}");
    }
}

#[test]
fn a_clock_that_is_set_back_costs_one_request() {
    let lab = Lab::new(says(&["ETag: \"1\""], GOOD));
    assert_eq!(lab.update(&[]).status, 0);
    lab.publisher.asked();
    // As if the last run had been tomorrow.
    lab.remember(&json!({ "asked": now() + 86_400, "current": now() + 86_400, "due": now() + 2 * 86_400 }));
    fs::File::open(lab.path("lab.txt"))
        .and_then(|file| file.set_modified(std::time::SystemTime::now() + Duration::from_secs(86_400)))
        .unwrap();
    lab.publisher.answer(says(&["ETag: \"2\""], BETTER));
    assert_eq!((lab.update(&[]).status, lab.read("lab.txt")), (0, BETTER.into()));
    assert!(lab.entry()["asked"].as_i64().unwrap() <= now());
    assert_eq!(lab.update(&[]).status, 0);
    assert_eq!(lab.publisher.asked().len(), 1);
}

#[test]
fn runs_at_once_ask_once() {
    let lab = Lab::new(|asked, connection| {
        sleep(Duration::from_millis(300));
        says(&[], GOOD)(asked, connection)
    });
    thread::scope(|scope| {
        let runs = [(); 4].map(|()| scope.spawn(|| lab.update(&[])));
        for run in runs {
            run.join().unwrap().ends(0).says_only("");
        }
    });
    assert_eq!((lab.publisher.asked().len(), lab.read("lab.txt")), (1, GOOD.into()));
}

#[test]
fn a_run_that_is_killed_leaves_old_or_new_files_and_the_next_one_goes_on() {
    let lab = Lab::new(says(&[], GOOD));
    let version = |number: u32| -> String {
        (0..5000).map(|n| format!("20.{}.{}.{}/32\n", n / 256, n % 256, number % 2)).collect()
    };
    let names: Vec<String> = (0..8).map(|number| format!("lab{number}")).collect();
    let feeds = names.iter().map(|name| {
        json!({ "name": name, "source": format!("{name}.txt"), "guard": "off", "url": lab.publisher.url("/") })
    });
    lab.configure(&feeds.collect::<Vec<_>>());
    let mut killed = 0;
    for number in 0..40 {
        let body = version(number);
        lab.publisher.answer(says(&["Cache-Control: no-cache"], body.clone()));
        let mut child = lab.command(&[]).spawn().unwrap();
        sleep(Duration::from_millis(5 * u64::from(number)));
        killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        for name in &names {
            for file in [format!("{name}.txt"), format!("{name}.txt.last-good")] {
                let Ok(content) = fs::read_to_string(lab.path(&file)) else { continue };
                assert!([version(0), version(1)].contains(&content), "{file} is neither old nor new");
            }
        }
    }
    assert!(killed > 5, "{killed} runs were killed");
    // The next run removes unfinished files, of whatever age.
    lab.publisher.answer(says(&["Cache-Control: no-cache"], version(39)));
    lab.update(&[]).ends(0).says_only("");
    assert!(names.iter().all(|name| lab.read(&format!("{name}.txt")) == version(39)));
    assert_eq!(unfinished(&lab), [""; 0]);
}

fn unfinished(lab: &Lab) -> Vec<String> {
    lab.files().into_iter().filter(|name| name.ends_with(".tmp")).collect()
}

#[test]
fn what_a_killed_run_was_writing_is_removed_by_the_next_one() {
    let large = GOOD.to_owned() + &format!("#{}\n", "x".repeat(60_000)).repeat(15);
    let lab = Lab::new(says(&["Cache-Control: no-cache"], large.clone()));
    lab.update(&[]).ends(0);
    // The feed is there, so the run writes nothing before its last good version. It is killed at the 500,000th byte of that.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 976; exec \"$0\" update --config crawlpike.json --accept lab"]);
    command.arg(env!("CARGO_BIN_EXE_crawlpike"));
    lab.prepare(&mut command);
    assert!(!command.status().unwrap().success());
    let [left] = &unfinished(&lab)[..] else { panic!("{:?}", lab.files()) };
    assert!(left.starts_with("lab.txt.last-good."), "{left}");
    assert_eq!([lab.read("lab.txt"), lab.read("lab.txt.last-good")], [&*large; 2]);
    // A run at the same time, which is still writing.
    let busy = lab.path("lab.txt.last-good.busy00.tmp");
    let file = fs::File::create(&busy).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    // Even a run that has nothing to write removes what is left.
    lab.publisher.answer(|_, connection| respond(connection, "503 Service Unavailable", &[], ""));
    lab.update(&["--accept", "lab"]).ends(1);
    assert!(!lab.path(left).exists() && busy.exists(), "{:?}", lab.files());
    drop(file);
    lab.update(&[]).ends(1);
    assert_eq!(unfinished(&lab), [""; 0]);
}
