//! Log lines and metrics of feeds that become stale, held or missing.

use std::fs::File;
use std::thread;
use std::time::{Duration, SystemTime};

use crawlpike_tests::exposition::Exposition;
use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{DOCUMENT, HTTP, lab, spoofed};
use crawlpike_tests::nginx::{Folder, Nginx, Setup, ask};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;

const WORKERS: usize = 4;

/// An nginx with many workers, the ports of its visitors and of its measures.
struct Gate {
    nginx: Nginx,
    port: u16,
    status: u16,
}

impl Gate {
    fn start(folder: Folder, directives: &str) -> Self {
        let (port, status) = (free_port(), free_port());
        let http = format!(
            "{HTTP} {directives}
            server {{ listen 127.0.0.1:{status}; location / {{ crawlpike_status; }} }}
            server {{ listen 127.0.0.1:{port}; root .; location / {{ try_files /lab.txt =404; }} }}"
        );
        let setup = Setup { workers: WORKERS, ..Setup::default() };
        Self { nginx: Nginx::set_up(folder, &http, setup), port, status }
    }

    fn page(&self) -> Exposition {
        Exposition::parse(&ask(self.status, &Request::get("/")).text())
    }

    /// The states that the lab's feed is in.
    fn states(&self) -> Vec<String> {
        let page = self.page();
        let in_force = page.of("crawlpike_feed_state").into_iter().filter(|(_, value)| *value == 1.0);
        in_force.map(|(labels, _)| labels["state"].clone()).collect()
    }

    fn prefixes(&self) -> Option<f64> {
        self.page().sum("crawlpike_feed_prefixes", &[("feed", "lab")])
    }

    /// The number of reloads with each result: success, partial, failure.
    fn reloads(&self) -> [f64; 3] {
        let page = self.page();
        let count = |result| page.sum("crawlpike_reloads_total", &[("result", result)]);
        ["success", "partial", "failure"].map(|result| count(result).expect(result))
    }

    fn logged(&self, text: &str) -> usize {
        self.nginx.folder().read("error.log").matches(text).count()
    }
}

/// A folder whose feed becomes stale in so many seconds.
fn aging(seconds: u64) -> Folder {
    let folder = lab();
    folder
        .write("crawlpike.json", DOCUMENT.replace(r#""name": "lab","#, r#""name": "lab", "max_age": "1h","#));
    let modified = SystemTime::now() - Duration::from_secs(3600 - seconds);
    let feed = File::options().write(true).open(folder.path().join("lab.txt")).unwrap();
    feed.set_modified(modified).unwrap();
    folder
}

const STALE: &str = "crawlpike: the feed `lab` is stale: it is 60m ";

#[test]
fn a_feed_that_becomes_stale_is_told_once_by_all_workers() {
    let check = |directives| {
        // Long enough that nginx starts and answers before, however busy the machine is.
        let gate = Gate::start(aging(8), directives);
        assert_eq!((gate.states(), gate.prefixes()), (vec!["ok".to_owned()], Some(2.0)));
        assert_eq!((ask(gate.port, &spoofed("/")).status, gate.logged(" is stale")), (403, 0));
        let line = gate.nginx.wait_for_line("error.log", STALE);
        assert!(line.contains("[warn]"), "{line}");
        assert!(line.contains("old, over its `max_age` of 60m; it verifies no client"), "{line}");
        assert_eq!((gate.states(), gate.prefixes()), (vec!["stale".to_owned()], Some(0.0)));
        assert_eq!(ask(gate.port, &spoofed("/")).status, 200, "he is unverified");
        // Each worker has looked by then.
        thread::sleep(Duration::from_secs(11));
        assert_eq!(gate.logged(" is stale"), 1, "{directives}");
    };
    thread::scope(|scope| {
        for directives in ["", "crawlpike_refresh 1h;"] {
            scope.spawn(move || check(directives));
        }
    });
}

#[test]
fn a_reload_tells_what_is_stale_and_no_worker_tells_it_again() {
    let gate = Gate::start(aging(0), "");
    let stale = "crawlpike.json: warning: the feed `lab` is stale";
    assert_eq!(
        (gate.logged(stale), gate.states(), gate.prefixes()),
        (1, vec!["stale".to_owned()], Some(0.0))
    );
    gate.nginx.reload();
    wait_for("the reload", || (gate.reloads() == [0.0, 1.0, 0.0]).then_some(()));
    thread::sleep(Duration::from_secs(11));
    assert_eq!(gate.logged(" is stale"), 2);
}

#[test]
fn a_reload_with_a_feed_that_is_held_or_missing_is_no_success() {
    let gate = Gate::start(lab(), "");
    // An old worker may answer for a moment.
    let reloaded = |results: [f64; 3], state: &str, prefixes: f64| {
        gate.nginx.reload();
        let expected = (results, vec![state.to_owned()], Some(prefixes));
        wait_for(state, || ((gate.reloads(), gate.states(), gate.prefixes()) == expected).then_some(()));
    };
    reloaded([1.0, 0.0, 0.0], "ok", 2.0);
    gate.nginx.folder().write("lab.txt", "<html>\n");
    reloaded([1.0, 1.0, 0.0], "held", 2.0);
    assert_eq!(gate.logged("warning: the feed `lab` is held: "), 1);
    gate.nginx.folder().write("crawlpike.json", "{");
    reloaded([1.0, 1.0, 1.0], "held", 2.0);
    gate.nginx.folder().write("crawlpike.json", DOCUMENT.replace("lab.txt", "none.txt"));
    reloaded([1.0, 2.0, 1.0], "missing", 0.0);
    assert_eq!(gate.logged("warning: the feed `lab` is missing: "), 1);
    gate.nginx.folder().write("crawlpike.json", DOCUMENT);
    gate.nginx.folder().write("lab.txt", "192.0.2.0/24\n2001:db8::/32\nnonsense\n");
    reloaded([2.0, 2.0, 1.0], "incomplete", 2.0);
}

#[test]
fn a_refresh_with_a_feed_that_is_held_is_no_success_and_told_once() {
    let gate = Gate::start(lab(), "crawlpike_refresh 100ms;");
    let refreshed = |content: &str, results: [f64; 3]| {
        gate.nginx.folder().write("lab.txt", content);
        wait_for("a refresh of every worker", || (gate.reloads() == results).then_some(()));
    };
    let each = WORKERS as f64;
    for round in 1..=2 {
        let before = each * f64::from(round - 1);
        refreshed("<html>\n", [before, before + each, 0.0]);
        assert_eq!((gate.states(), gate.prefixes()), (vec!["held".to_owned()], Some(2.0)));
        assert_eq!(gate.logged("the feed `lab` is held: "), round as usize);
        refreshed("192.0.2.0/24\n2001:db8::/32\n", [before + each, before + each, 0.0]);
        assert_eq!(gate.states(), ["ok"]);
    }
    // A version that `crawlpike update` holds never comes to the file.
    gate.nginx.folder().write("lab.txt.held", "it shrank; run this\n");
    wait_for("a refresh of every worker", || (gate.reloads() == [2.0 * each, 3.0 * each, 0.0]).then_some(()));
    assert_eq!((gate.states(), gate.prefixes()), (vec!["held".to_owned()], Some(2.0)));
    assert_eq!(gate.logged("the feed `lab` is held: it shrank; run this"), 1);
    std::fs::remove_file(gate.nginx.folder().path().join("lab.txt.held")).unwrap();
    wait_for("a refresh of every worker", || (gate.states() == ["ok"]).then_some(()));
}
