//! Refreshes while workers start, end, wait and serve.

use super::*;

#[test]
fn a_new_worker_takes_in_what_changed_since_the_last_reload() {
    let (folder, port, pids) = (lab(), free_port(), free_port());
    // An hour: nothing is looked at in this test but at the start of a worker.
    let pid = format!("server {{ listen 127.0.0.1:{pids}; return 200 $pid; }}");
    let nginx = Nginx::start(folder, &format!("{HTTP} crawlpike_refresh 1h; {} {pid}", server(port)));
    let mut serving = BTreeSet::new();
    wait_for("both workers", || {
        serving.insert(ask(pids, &person("/")).text());
        (serving.len() == WORKERS).then_some(())
    });
    nginx.folder().write("lab.txt", "192.0.2.0/24\n2001:db8::/32\n203.0.113.0/24\n");
    for pid in serving {
        let worker = pid.parse().ok().and_then(Pid::from_raw).expect("a process id");
        kill_process(worker, Signal::KILL).expect("a worker to kill");
    }
    wait_for("refreshes", || {
        let new = children(nginx.server().pid().as_raw_nonzero().get());
        let have_refreshed =
            new.iter().all(|pid| logged(&nginx, &format!(" {pid}#{pid}: crawlpike: refreshed")) == 1);
        (new.len() == WORKERS && have_refreshed).then_some(())
    });
    assert_eq!(statuses(port), [200, 200, 200]);
}

#[test]
fn a_file_system_that_does_not_answer_stops_no_worker() {
    let (folder, port) = (lab(), free_port());
    let setup = Setup { workers: 1, ..Setup::default() };
    let nginx = Nginx::set_up(folder, &format!("{HTTP} {REFRESH} {}", server(port)), setup);
    assert_eq!(statuses(port), [200, 403, 200]);
    let worker = worker(&nginx);
    let feed = nginx.folder().path().join("lab.txt");
    let log = nginx.folder().path().join("strace.log");
    let mut strace = Command::new("strace");
    // Whoever looks at the feed waits for ten minutes.
    strace
        .args(["-f", "-e", "inject=%%stat:delay_enter=600000000", "-p", &worker.to_string(), "-P"])
        .arg(&feed);
    let mut strace = Server::start("strace", &mut strace, &log, &[]);
    // It shows a call that it holds. A thread alone could be one that began to look before.
    let holds = || fs::read_to_string(&log).is_ok_and(|text| text.contains("stat"));
    strace.wait_until("a look that lasts", || holds().then_some(()));
    for _ in 0..5 {
        assert_eq!(statuses(port), [200, 403, 200]);
        thread::sleep(Duration::from_millis(200));
        assert_eq!(threads(worker).len(), 2, "the event loop's, and one look");
    }
    nginx.server().signal(Signal::QUIT);
    // The worker has come to its end. strace knows no thread that ends while it waits, and would keep the process.
    let end = format!("[notice] {worker}#{worker}: exit\n");
    wait_for("the worker's end", || nginx.folder().read("error.log").contains(&end).then_some(()));
    drop(strace);
    wait_for("the end of nginx", || nginx.folder().read("nginx.pid").is_empty().then_some(()));
    unharmed(&nginx);
}

#[test]
fn one_process_alone_refreshes_too() {
    let (folder, port) = (lab(), free_port());
    let setup = Setup { main: "master_process off;".to_owned(), ..Setup::default() };
    let nginx = Nginx::set_up(folder, &format!("{HTTP} {REFRESH} {}", server(port)), setup);
    assert_eq!(statuses(port), [200, 403, 200]);
    nginx.folder().write("lab.txt", "192.0.2.0/24\n2001:db8::/32\n203.0.113.0/24\n");
    nginx.wait_for_line("error.log", "crawlpike: refreshed");
    assert_eq!(statuses(port), [200, 200, 200]);
    nginx.server().signal(Signal::QUIT);
    wait_for("the end of nginx", || nginx.folder().read("nginx.pid").is_empty().then_some(()));
    unharmed(&nginx);
}

#[test]
fn a_compiled_ruleset_is_refreshed_as_long_as_its_document_is_the_same() {
    let folder = lab();
    let compile = |folder: &Folder| {
        let output =
            compile_ruleset(&folder.path().join("crawlpike.json"), &folder.path().join("crawlpike.bin"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    compile(&folder);
    let port = free_port();
    let http = format!("{} {REFRESH} {}", HTTP.replace("crawlpike.json", "crawlpike.bin"), server(port));
    let nginx = Nginx::start(folder, &http);
    assert_eq!(statuses(port), [200, 403, 200]);
    nginx.folder().write("lab.txt", "192.0.2.0/24\n2001:db8::/32\n203.0.113.0/24\n");
    refreshed(&nginx, compile);
    assert_eq!(statuses(port), [200, 200, 200]);
    nginx.folder().write("crawlpike.json", DOCUMENT.replace("enforce", "observe"));
    refreshed(&nginx, compile);
    assert_eq!(logged(&nginx, "the document in it has changed; reload to use it"), WORKERS);
    refreshed(&nginx, |folder| {
        folder.write("crawlpike.bin", "");
    });
    assert_eq!(ask(port, &from("192.0.3.1", Request::get("/").agent("LabBot/1.0"))).status, 403);
}

#[test]
fn nginx_ends_and_reloads_while_a_ruleset_is_compiled() {
    let folder = lab();
    folder.write("crawlpike.json", unguarded());
    let large = |number: u8| -> String {
        let others = (0..64).flat_map(|a| (0..=u8::MAX).map(move |b| (a, b)));
        others.map(|(a, b)| format!("10.{a}.{b}.{number}\n")).chain(["192.0.2.0/24\n".to_owned()]).collect()
    };
    let (nginx, port) = start(folder);
    for number in 0..4 {
        nginx.folder().write("lab.txt", large(number));
        let compiling = || is_at_work(worker(&nginx));
        // If it ends before it is seen, the next turn may see it.
        let lines = logged(&nginx, "crawlpike: refreshed");
        wait_for("the compiling", || {
            (compiling() || logged(&nginx, "crawlpike: refreshed") > lines).then_some(())
        });
        let reloads = logged(&nginx, "reconfiguring");
        nginx.reload();
        wait_for("the reload", || (logged(&nginx, "reconfiguring") > reloads).then_some(()));
        assert_eq!(ask(port, &verified("/")).status, 200);
    }
    nginx.folder().write("lab.txt", large(7));
    nginx.server().signal(Signal::QUIT);
    wait_for("the end of nginx", || nginx.folder().read("nginx.pid").is_empty().then_some(()));
    unharmed(&nginx);
}

/// True if a process has had a second thread for longer than a look takes.
fn is_at_work(pid: i32) -> bool {
    let before = threads(pid);
    thread::sleep(Duration::from_millis(20));
    threads(pid).iter().any(|id| *id != pid && before.contains(id))
}

/// Some worker's process id; 0 while there is none.
fn worker(nginx: &Nginx) -> i32 {
    children(nginx.server().pid().as_raw_nonzero().get()).first().copied().unwrap_or_default()
}

#[test]
fn no_request_fails_or_sees_a_broken_feed_under_refreshes() {
    let (nginx, port) = start(lab());
    // In every good version LabBot has this network, and nobody else's.
    let probes = [
        Probe { request: verified("/"), status: 200 },
        Probe { request: spoofed("/"), status: 403 },
        Probe { request: person("/"), status: 200 },
    ];
    let broken = ["", "<html>\n", "404\n", "192.0.2.0/2"];
    let held = || logged(&nginx, "is held: ");
    let report = during(local(port), &probes, || {
        for (number, broken) in (1..).zip(broken) {
            for host in [number, 100 + number] {
                nginx.folder().write("lab.txt", format!("192.0.2.0/24\n2001:db8::/32\n198.51.100.{host}\n"));
                let new = from(&format!("198.51.100.{host}"), Request::get("/").agent("LabBot/1.0"));
                wait_for("the new version", || (ask(port, &new).status == 200).then_some(()));
            }
            // Each is held for another reason, so it is logged even if a worker is behind.
            let before = held();
            nginx.folder().write("lab.txt", broken);
            wait_for("a worker that holds it", || (held() > before).then_some(()));
        }
    });
    assert!(report.failures.is_empty(), "of {} requests: {:#?}", report.requests, report.failures);
    assert!(report.requests > 0);
    unharmed(&nginx);
}
