//! nginx.

use crawlpike_tests::faults::{Faults, Kind};
use crawlpike_tests::http::{Request, send_bytes};
use crawlpike_tests::lab::{HTTP, lab_with_sites, spoofed, verified};
use crawlpike_tests::nginx::{Folder, Nginx, Setup, ask, local};
use crawlpike_tests::page_origin::page;
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;

use rustix::process::Signal;

use crate::{Excused, each_fault, judge_response};

/// nginx ends a request whose response it cannot send.
const SENDING: &[&str] = &["ngx_http_send_header", "ngx_http_output_filter"];

/// All that a configuration can have.
const SITE: &str = r#"{ "robots_txt": "robots.txt", "robots_tag": [ { "scope": "/", "rules": "noindex=" } ],
    "aiwebindex": { "document": { "md_paths": true } } }"#;

struct Lab {
    nginx: Nginx,
    faults: Faults,
    port: u16,
}

fn folder() -> Folder {
    let folder = lab_with_sites(SITE);
    folder.write("robots.txt", "User-agent: FreeBot\nDisallow: /private/\n");
    folder.write("www/page.html", page(""));
    folder.write("www/long.html", page(&format!("<!-- {} -->", "a long comment ".repeat(20_000))));
    folder
}

fn http(port: u16) -> String {
    format!(
        "{HTTP} crawlpike_refresh 1d; types {{ text/html html; }}
        server {{
            listen 127.0.0.1:{port};
            root www;
            location = /status {{ crawlpike_status; }}
        }}"
    )
}

fn setup(folder: &Folder) -> Setup {
    // One worker, so that the same calls come in the same order.
    Setup { workers: 1, under: Faults::under(folder.path()), ..Setup::default() }
}

impl Lab {
    fn start() -> Self {
        let (folder, port) = (folder(), free_port());
        let (faults, setup) = (Faults::new(folder.path()), setup(&folder));
        let lab = Self { nginx: Nginx::set_up(folder, &http(port), setup), faults, port };
        // The worker has started and looked at its files.
        lab.nginx.wait_for_line("error.log", "start worker process ");
        lab
    }

    /// Says what is wrong with a server that has to decide as before.
    fn check(&self) -> Result<(), String> {
        let statuses =
            [spoofed("/page.html"), verified("/page.html")].map(|request| ask(self.port, &request).status);
        let log = self.nginx.folder().read("error.log");
        match (statuses, log.contains("exited on signal")) {
            ([403, 200], false) => Ok(()),
            (statuses, died) => Err(format!("then {statuses:?}, died: {died}")),
        }
    }

    /// Makes a request while something may fail. `is_good` judges its status and body.
    fn each_fault_in(&self, situation: &str, request: &Request, is_good: impl Fn(u16, &str) -> bool) {
        let bytes = request.clone().http_1_0().header("Connection", "close").bytes();
        // nginx closes the connection when it has logged the request, which can fail, too.
        let run = || send_bytes(local(self.port), &bytes);
        let excused = Excused { functions: SENDING, panics: 0 };
        each_fault(&self.faults, situation, excused, run, |_, answer| {
            judge_response(answer, &is_good).and_then(|()| self.check())
        });
    }
}

#[test]
fn nginx_starts_or_says_why_not() {
    let (folder, port) = (folder(), free_port());
    let (faults, setup) = (Faults::new(folder.path()), setup(&folder));
    let run = || Nginx::check_setup(&folder, &http(port), &setup);
    each_fault(&faults, "nginx, load", Excused::default(), run, |kind, output| {
        let text = String::from_utf8_lossy(&output.stderr);
        let is_explained =
            ["[emerg]", "[warn]", "[alert]", "[crit]"].iter().any(|level| text.contains(level));
        match output.status.code() {
            Some(0) => Ok(()),
            // nginx itself logs that it has no memory, or what is wrong with a variable.
            Some(1) if is_explained || matches!(kind, Kind::Memory | Kind::Host) => Ok(()),
            code => Err(format!("{code:?}: {text}")),
        }
    });
}

#[test]
fn nginx_keeps_the_configuration_where_a_reload_fails() {
    let lab = Lab::start();
    let logged = |text: &str| lab.nginx.folder().read("error.log").matches(text).count();
    let (reopened, reconfigured) = (|| logged("reopening logs"), || logged("reconfiguring"));
    let run = || {
        let (before, begun) = (reopened(), reconfigured());
        lab.nginx.reload();
        wait_for("the start of a reload", || (reconfigured() > begun).then_some(()));
        // nginx comes to this signal when it has handled the other one.
        lab.nginx.server().signal(Signal::USR1);
        wait_for("the end of a reload", || (reopened() > before).then_some(()));
    };
    each_fault(&lab.faults, "nginx, reload", Excused::default(), run, |_, ()| lab.check());
}

#[test]
fn nginx_lets_a_request_pass() {
    let lab = Lab::start();
    lab.each_fault_in("nginx, request", &verified("/page.html"), |status, _| status == 200);
    lab.each_fault_in("nginx, denied request", &spoofed("/page.html"), |status, _| {
        [200, 403, 500].contains(&status)
    });
    lab.each_fault_in("nginx, robots.txt", &verified("/robots.txt"), |status, _| {
        [200, 404, 500].contains(&status)
    });
}

#[test]
fn nginx_sends_the_page_or_its_document() {
    let lab = Lab::start();
    for name in ["page", "long"] {
        let whole = lab.nginx.folder().read(&format!("www/{name}.html"));
        let request = verified(&format!("/{name}.html")).header("Accept", "text/markdown");
        let document = ask(lab.port, &request).text();
        assert!(document != whole, "{document}");
        lab.each_fault_in(&format!("nginx, document of a {name}"), &request, |status, body| {
            status == 200 && (body == whole || body == document)
        });
    }
}

#[test]
fn nginx_answers_for_metrics() {
    let lab = Lab::start();
    lab.each_fault_in("nginx, metrics", &Request::get("/status"), |status, _| [200, 500].contains(&status));
}
