//! `nginx -s`: it reads the configuration before it signals.

use std::fs;

use crawlpike_tests::lab::{HTTP, lab_with_sites, verified};
use crawlpike_tests::nginx::{Nginx, ask};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;

#[test]
fn stopping_needs_no_good_document_and_reloading_checks_it() {
    let (folder, port) = (lab_with_sites(r#"{ "name": "shop" }"#), free_port());
    let http = format!(
        "{HTTP} server {{ listen 127.0.0.1:{port}; crawlpike_site shop; location / {{ return 200; }} }}"
    );
    let nginx = Nginx::start(folder, &http);
    let last_good = nginx.folder().path().join("lab.txt.last-good");
    assert!(last_good.exists());

    // Neither does a check write, of a document that is good.
    fs::remove_file(&last_good).expect("a file of ours");
    nginx.folder().write("lab.txt", "192.0.2.0/24\n");
    assert!(nginx.control("reopen").status.success());
    nginx.wait_for_line("error.log", "reopening logs");
    assert!(!last_good.exists());

    nginx.folder().write("crawlpike.json", "{ broken");
    let control = |what: &str| {
        let output = nginx.control(what);
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (succeeds, text) = control("reload");
    assert!(!succeeds && text.contains("crawlpike.json:1:3: error: "), "{text}");
    assert!(!nginx.folder().read("error.log").contains("reconfiguring"), "nothing was signalled");
    assert_eq!(control("reopen"), (true, String::new()));
    assert_eq!(ask(port, &verified("/")).status, 200);
    assert_eq!(control("quit"), (true, String::new()));
    wait_for("the end of nginx", || nginx.folder().read("nginx.pid").is_empty().then_some(()));
}
