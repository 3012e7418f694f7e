//! `crawlpike_refresh`: changed files count without a reload.

mod workers;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::panic;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crawlpike_tests::artefacts::compile_ruleset;
use crawlpike_tests::http::{self, Request};
use crawlpike_tests::lab::{
    DOCUMENT, HTTP, from, lab, lab_with_robots, person, spoofed, unguarded, verified,
};
use crawlpike_tests::load::{Probe, during};
use crawlpike_tests::nginx::{Folder, Nginx, Setup, ask, link_loop, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::proc::{children, threads};
use crawlpike_tests::process::{Server, wait_for};
use rustix::process::{Pid, Signal, kill_process};

const WORKERS: usize = 2;
const REFRESH: &str = "crawlpike_refresh 100ms;";

fn server(port: u16) -> String {
    format!("server {{ listen 127.0.0.1:{port}; root .; location / {{ try_files /nginx.conf =404; }} }}")
}

fn start(folder: Folder) -> (Nginx, u16) {
    let port = free_port();
    (Nginx::start(folder, &format!("{HTTP} {REFRESH} {}", server(port))), port)
}

/// The lines of the error log that contain a text.
fn lines(nginx: &Nginx, text: &str) -> Vec<String> {
    let log = nginx.folder().read("error.log");
    log.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
}

fn logged(nginx: &Nginx, text: &str) -> usize {
    lines(nginx, text).len()
}

/// Changes something, and waits until each worker has compiled what there is then.
fn refreshed(nginx: &Nginx, change: impl FnOnce(&Folder)) {
    let count = || logged(nginx, "crawlpike: refreshed") + logged(nginx, "crawlpike: refresh failed");
    let before = count();
    change(nginx.folder());
    wait_for("a refresh of every worker", || (count() >= before + WORKERS).then_some(()));
}

/// True if the last line about the feed is the reason why it is held, and each worker has refreshed since the `before`th line.
fn all_hold_because(nginx: &Nginx, before: usize, why: &str) -> bool {
    let log = nginx.folder().read("error.log");
    let since = || log.lines().skip(before);
    // `date time [level] pid#tid: message`
    let refreshed = since().filter(|line| line.contains("crawlpike: refreshed"));
    let workers: BTreeSet<_> = refreshed.filter_map(|line| line.split(' ').nth(3)).collect();
    let last = since().filter(|line| line.contains(" is held: ")).last();
    workers.len() == WORKERS && last.is_some_and(|line| line.contains(why))
}

/// The statuses for LabBot from its own address, for a client that claims to be LabBot, and for a person; the same
/// from each worker.
fn statuses(port: u16) -> [u16; 3] {
    let once = || [verified("/"), spoofed("/"), person("/")].map(|request| ask(port, &request).status);
    let first = once();
    for _ in 0..10 {
        assert_eq!(once(), first, "the workers differ");
    }
    first
}

fn unharmed(nginx: &Nginx) {
    let log = nginx.folder().read("error.log");
    assert!(!log.contains("exited on signal") && !log.contains("[alert]"), "{log}");
}

#[test]
fn changed_feeds_and_policies_count_without_a_reload() {
    let (nginx, port) = start(lab_with_robots("User-agent: *\nDisallow:\n"));
    assert_eq!(statuses(port), [200, 403, 200]);
    refreshed(&nginx, |folder| {
        folder.write("lab.txt", "192.0.2.0/24\n2001:db8::/32\n203.0.113.0/24\n");
    });
    assert_eq!(statuses(port), [200, 200, 200]);
    refreshed(&nginx, |folder| {
        folder.write("robots.txt", "User-agent: *\nDisallow: /\n");
    });
    assert_eq!(statuses(port), [403, 403, 200]);
    // The document itself takes a reload.
    nginx.folder().write("crawlpike.json", DOCUMENT);
    refreshed(&nginx, |folder| {
        folder.write("robots.txt", "User-agent: *\nDisallow: /a\n");
    });
    assert_eq!(statuses(port), [200, 200, 200]);
    assert_eq!(ask(port, &verified("/a")).status, 403);
    nginx.reload();
    wait_for("the new document", || (ask(port, &verified("/a")).status == 200).then_some(()));
    unharmed(&nginx);
}

/// A change of the files.
type Change<'c> = dyn Fn(&Folder) + 'c;

#[test]
fn what_is_broken_leaves_in_force_what_was_and_is_told_once() {
    let (nginx, port) = start(lab());
    // A version that only the workers have seen: the last good one of the last reload did not have it.
    let good = "192.0.2.0/24\n2001:db8::/32\n198.51.100.0/24\n198.51.101.0/24\n";
    refreshed(&nginx, |folder| {
        folder.write("lab.txt", good);
    });
    let of_new_prefix = || from("198.51.100.1", Request::get("/").agent("LabBot/1.0"));
    let table: [(&str, &Change, &str); 8] = [
        ("empty", &|folder| _ = folder.write("lab.txt", ""), "held: it became empty, after 4 prefixes"),
        (
            "garbage",
            &|folder| _ = folder.write("lab.txt", "\u{0}\u{1}\n"),
            "lab.txt: cannot read any of the 1 entries",
        ),
        (
            "a page",
            &|folder| _ = folder.write("lab.txt", "<html>\n"),
            "lab.txt: this is HTML, not a list of prefixes",
        ),
        (
            "cut",
            &|folder| _ = folder.write("lab.txt", &good[..14]),
            "held: it shrank from 4 to 1 prefixes, by more than 50%",
        ),
        ("a folder", &|folder| folder.remake("lab.txt", |path| fs::create_dir(path)), "not a regular file"),
        ("unreadable", &|folder| folder.remake("lab.txt", |path| symlink(path, path)), link_loop()),
        ("a pipe", &|folder| folder.make_pipe("lab.txt"), "not a regular file"),
        ("gone", &|folder| folder.remake("lab.txt", |_| Ok(())), "lab.txt no longer exists"),
    ];
    for (name, break_it, expected) in &table {
        let before = nginx.folder().read("error.log").lines().count();
        break_it(nginx.folder());
        // Between a file and the folder in its place there is nothing, which a worker may see and log, too.
        wait_for(name, || all_hold_because(&nginx, before, expected).then_some(()));
        assert_eq!(statuses(port), [200, 403, 200], "{name}");
        assert_eq!(ask(port, &of_new_prefix()).status, 200, "{name}");
    }
    // A change in one step was logged once, though each worker saw it, and not again without another change.
    for (name, _, expected) in &table[..4] {
        let lines = lines(&nginx, expected);
        assert_eq!(lines.len(), 1, "{name}: {lines:#?}");
    }
    assert_eq!(
        nginx.folder().read("lab.txt.last-good"),
        "192.0.2.0/24\n2001:db8::/32\n",
        "workers write nothing"
    );
    // It goes on from there.
    refreshed(&nginx, |folder| {
        folder.write("lab.txt", format!("{good}203.0.113.0/24\n"));
    });
    assert_eq!(statuses(port), [200, 200, 200]);
    unharmed(&nginx);
}

#[test]
fn a_policy_that_is_written_in_place_counts_when_it_is_whole() {
    let (folder, port) = (lab_with_robots("User-agent: *\nDisallow: /a\n"), free_port());
    let robots = folder.path().join("robots.txt");
    // Long enough that no look comes twice between two writes, however busy the machine is.
    let http = format!("{HTTP} crawlpike_refresh 1s; {}", server(port));
    let nginx = Nginx::start(folder, &http);
    let mut file = File::create(&robots).expect("a file of ours");
    let unfinished = [&["User-agent: *\n"; 1][..], &["# All of it is to come.\n"; 60], &["Disallow: /b\n"]];
    for line in unfinished.concat() {
        thread::sleep(Duration::from_millis(50));
        assert_eq!(["/a", "/b"].map(|path| ask(port, &verified(path)).status), [403, 200]);
        file.write_all(line.as_bytes()).expect("a file of ours");
    }
    wait_for("a refresh of every worker", || {
        (logged(&nginx, "crawlpike: refreshed") >= WORKERS).then_some(())
    });
    assert_eq!(["/a", "/b"].map(|path| ask(port, &verified(path)).status), [200, 403]);
    assert_eq!(logged(&nginx, "crawlpike: refreshed"), WORKERS);
    unharmed(&nginx);
}

#[test]
fn a_policy_that_is_gone_is_refused_and_all_stays() {
    let (nginx, port) = start(lab_with_robots("User-agent: *\nDisallow: /a\n"));
    refreshed(&nginx, |folder| fs::remove_file(folder.path().join("robots.txt")).expect("a file of ours"));
    assert_eq!(logged(&nginx, "error: there is no file "), WORKERS);
    assert_eq!(ask(port, &verified("/a")).status, 403);
    // Whatever else changes meanwhile is taken in when all is well again, and not before.
    refreshed(&nginx, |folder| {
        folder.write("lab.txt", "192.0.2.0/24\n2001:db8::/32\n203.0.113.0/24\n");
    });
    assert_eq!(statuses(port), [200, 403, 200]);
    refreshed(&nginx, |folder| {
        folder.write("robots.txt", "User-agent: *\nDisallow: /b\n");
    });
    assert_eq!(statuses(port), [200, 200, 200]);
    assert_eq!(["/a", "/b"].map(|path| ask(port, &verified(path)).status), [200, 403]);
}

#[test]
fn a_feed_of_which_nothing_is_left_stays_in_force() {
    let folder = lab();
    fs::create_dir(folder.path().join("feeds")).expect("a folder of ours");
    folder.write("feeds/lab.txt", "192.0.2.0/24\n2001:db8::/32\n");
    folder.write("crawlpike.json", DOCUMENT.replace("lab.txt", "feeds/lab.txt"));
    let (nginx, port) = start(folder);
    let [feeds, away] = ["feeds", "away"].map(|name| nginx.folder().path().join(name));
    assert_eq!(statuses(port), [200, 403, 200]);
    // As when a file system is unmounted: the last good version is gone, too.
    refreshed(&nginx, |_| fs::rename(&feeds, &away).expect("a folder of ours"));
    assert_eq!(logged(&nginx, "error: the feed `lab` was in force, and no version of it is left"), WORKERS);
    assert_eq!(statuses(port), [200, 403, 200]);
    refreshed(&nginx, |_| fs::rename(&away, &feeds).expect("a folder of ours"));
    let good = "192.0.2.0/24\n2001:db8::/32\n203.0.113.0/24\n";
    refreshed(&nginx, |folder| _ = folder.write("feeds/lab.txt", good));
    assert_eq!(statuses(port), [200, 200, 200]);
    // That version is in memory.
    refreshed(&nginx, |_| fs::rename(&feeds, &away).expect("a folder of ours"));
    assert_eq!(logged(&nginx, "lab.txt no longer exists; the last good version stays in force"), 1);
    assert_eq!(statuses(port), [200, 200, 200]);
    unharmed(&nginx);
}

#[test]
fn where_no_last_good_version_can_be_written_it_is_in_memory() {
    let folder = lab();
    // As in a folder that is read-only, where it can't be written for root, either.
    fs::create_dir(folder.path().join("lab.txt.last-good")).expect("a folder of ours");
    let (nginx, port) = start(folder);
    assert_eq!(logged(&nginx, "lab.txt.last-good: not a regular file"), 1);
    for (broken, expected) in [
        ("203.0.113.0/24\n203.0.114.0/24\n", "held: 2 of its 2 prefixes are gone, more than 70%"),
        ("0.0.0.0/0\n2001:db8::/32\n", "held: it covers 0.0.0.0/0, wider than the limit (`widest`)"),
        ("<html>\n", "lab.txt: this is HTML, not a list of prefixes"),
    ] {
        refreshed(&nginx, |folder| _ = folder.write("lab.txt", broken));
        assert_eq!(logged(&nginx, expected), 1, "{expected}: {}", nginx.folder().read("error.log"));
        assert_eq!(statuses(port), [200, 403, 200], "{expected}");
    }
    unharmed(&nginx);
}

#[test]
fn a_last_good_version_that_a_worker_may_not_read_lets_no_new_one_in() {
    let (nginx, port) = start(lab());
    // As where another umask was in force: root's own tests can't take the right to read from the workers.
    refreshed(&nginx, |folder| folder.remake("lab.txt.last-good", |path| symlink(path, path)));
    refreshed(&nginx, |folder| _ = folder.write("lab.txt", "203.0.113.0/24\n203.0.114.0/24\n"));
    let expected = "lab.txt.last-good: Too many levels of symbolic links (os error 40); until it can be read, no new version \
                    of the feed is accepted";
    // With each of the two changes.
    assert!(logged(&nginx, expected) >= 2 * WORKERS, "{}", nginx.folder().read("error.log"));
    assert_eq!(statuses(port), [200, 403, 200]);
    unharmed(&nginx);
}

#[test]
fn a_request_keeps_the_ruleset_with_which_it_began() {
    let folder = lab();
    folder.write("crawlpike.json", DOCUMENT.replace(r#""none""#, r#""agents.json""#));
    let catalog = |tokens: [&str; 2]| {
        let agents: Vec<String> = tokens.iter().map(|token| format!(r#"{{ "token": "{token}" }}"#)).collect();
        format!(r#"{{ "agents": [ {} ] }}"#, agents.join(", "))
    };
    folder.write("agents.json", catalog(["OneBot", "TwoBot"]));
    let origin = TcpListener::bind(local(0)).expect("a free port");
    let port = free_port();
    let http = format!(
        "{HTTP} {REFRESH} log_format decided '$crawlpike_agent $crawlpike_identity';
        server {{
            listen 127.0.0.1:{port};
            access_log decided.log decided;
            location / {{ proxy_pass http://{}; }}
        }}",
        origin.local_addr().expect("its address")
    );
    let nginx = Nginx::start(folder, &http);
    let (release, held) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let client = scope.spawn(|| http::send(local(port), &Request::get("/").agent("TwoBot/1.0")));
        let (mut connection, _) = origin.accept().expect("nginx's connection");
        scope.spawn(move || {
            let _ = connection.read(&mut [0; 4096]);
            // Without the other end, the test has failed already.
            let _ = held.recv();
            let _ = connection.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
        });
        // The same number is another agent's now, and more than one ruleset was in force meanwhile.
        for tokens in [["ThreeBot", "OneBot"], ["FourBot", "FiveBot"]] {
            refreshed(&nginx, |folder| {
                folder.write("agents.json", catalog(tokens));
            });
        }
        assert_eq!(nginx.folder().read("decided.log"), "");
        release.send(()).expect("the origin waits");
        assert_eq!(client.join().expect("no panic").expect("an answer").status, 204);
    });
    assert_eq!(nginx.wait_for_line("decided.log", " "), "TwoBot unverified");
}

/// Writing atomically, so that each version is whole.
#[test]
fn a_file_that_is_written_all_the_time_postpones_no_refresh_for_ever() {
    let (nginx, port) = start(lab_with_robots("User-agent: *\nDisallow:\n"));
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in (0_u64..).take_while(|_| !is_done.load(Relaxed)) {
                nginx.folder().write("lab.txt", format!("192.0.2.0/24\n2001:db8::/32\n# version {number}\n"));
                thread::sleep(Duration::from_millis(5));
            }
        });
        nginx.folder().write("robots.txt", "User-agent: *\nDisallow: /\n");
        let denied = || (ask(port, &verified("/")).status == 403).then_some(());
        let found = panic::catch_unwind(|| wait_for("the policy, beside a file that never rests", denied));
        is_done.store(true, Relaxed);
        found.unwrap();
    });
    unharmed(&nginx);
}
