//! robots.txt and automation-preferences.txt from their publishers.

use std::time::Duration;

use crawlpike_tests::publisher::{Publisher, respond, self_signed};
use serde_json::{Value, json};

use crate::fixture::{Done, Lab, says};

const ROBOTS: &str = "User-agent: *\nDisallow: /private/\n";

/// A folder whose site has a robots.txt from the server.
fn lab() -> Lab {
    let lab = Lab::new(says(&["Cache-Control: no-cache"], ROBOTS));
    configure(&lab, &robots_of(&lab));
    lab
}

fn configure(lab: &Lab, site: &Value) {
    lab.write("crawlpike.json", json!({ "catalog": "none", "sites": [site] }).to_string());
}

fn robots_of(lab: &Lab) -> Value {
    json!({ "robots_txt": "robots.txt", "robots_txt_url": lab.publisher.url("/robots.txt") })
}

fn answers(lab: &Lab, status: &'static str) {
    lab.publisher.answer(move |_, connection| respond(connection, status, &[], "<html>"));
}

/// The reason of the decision about a page, as `explain` prints it.
fn reason(lab: &Lab, path: &str) -> Value {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_crawlpike"));
    command.args(["explain", "--config", "crawlpike.json", "--ip", "192.0.2.1", "--json"]);
    command.args(["--user-agent", "LabBot/1.0 (+https://example.com/)", "--path", path]);
    lab.prepare(&mut command);
    let done = crate::fixture::finish(command);
    let decision: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"));
    decision["reason"].clone()
}

const DAY: Duration = Duration::from_secs(24 * 3600);

#[test]
fn rob_6_a_robots_txt_is_fetched_and_kept_current() {
    // ROB-6
    let lab = lab();
    let done = lab.update(&["--exec", "touch notified"]);
    done.ends(0).says_only("");
    let expected = "robots.txt: updated\n0 feeds and 1 policy: 1 updated, 0 unchanged, 0 not due, 0 failed\n";
    assert_eq!((&*done.stdout, &*lab.read("robots.txt")), (expected, ROBOTS));
    assert_eq!(
        (reason(&lab, "/private/a"), reason(&lab, "/")),
        ("robots-disallowed".into(), "allowed".into())
    );
    assert!(lab.path("notified").exists() && !lab.path("robots.txt.last-good").exists());

    // Conditional, and no older than a day whatever the publisher says (RFC 9309, 2.4).
    let other = "User-agent: *\nDisallow: /other/\n";
    lab.publisher.answer(says(&["ETag: \"1\"", "Cache-Control: max-age=999999"], other));
    assert_eq!(lab.update(&[]).status, 0);
    assert_eq!(lab.read("robots.txt"), other);
    lab.publisher.asked();
    assert!(lab.update(&[]).stdout.ends_with("0 updated, 0 unchanged, 1 not due, 0 failed\n"));
    let mut state = lab.state();
    let entry = &mut state["policies"]["robots.txt"];
    assert_eq!(entry["due"].as_i64().unwrap() - entry["asked"].as_i64().unwrap(), 86_400);
    entry["due"] = 0.into();
    lab.write("crawlpike.json.update-state", state.to_string());
    lab.publisher.answer(|_, connection| respond(connection, "304 Not Modified", &[], ""));
    let done = lab.update(&["--json"]);
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(
        (&report["policy"], &report["outcome"]),
        (&"robots.txt".into(), &"unchanged".into()),
        "{done:?}"
    );
    assert_eq!(lab.publisher.asked()[0].header("if-none-match"), Some("\"1\""));
}

#[test]
fn rob_6_without_a_robots_txt_everything_is_allowed() {
    // ROB-6
    let lab = lab();
    assert_eq!(lab.update(&[]).status, 0);
    for status in ["404 Not Found", "403 Forbidden", "410 Gone"] {
        answers(&lab, status);
        let done = lab.update(&["--only", "robots.txt"]);
        let asked = !lab.publisher.asked().is_empty();
        // --only leaves a publisher alone for an hour, a run by hand does not where `no-cache` says so.
        if !asked {
            done.ends(0);
            lab.forget();
            assert_eq!(lab.update(&[]).status, 0);
        }
        assert!(lab.read("robots.txt").starts_with("# https://"), "{status}");
        assert!(lab.read("robots.txt").contains(&status[..3]), "{}", lab.read("robots.txt"));
        assert_eq!(reason(&lab, "/private/a"), "allowed", "{status}");
        lab.forget();
    }
}

fn failing(lab: &Lab) -> Done {
    lab.forget();
    let done = lab.update(&[]);
    done.ends(1);
    done
}

#[test]
fn rob_6_a_robots_txt_that_cannot_be_fetched_counts_for_30_days_and_then_disallows_all() {
    // ROB-6
    let lab = lab();
    assert_eq!(lab.update(&[]).status, 0);
    let unreachable = |lab: &Lab| {
        let site = json!({ "robots_txt": "robots.txt", "robots_txt_url": "https://127.0.0.1:1/robots.txt" });
        configure(lab, &site);
    };
    for status in
        ["503 Service Unavailable", "500 Internal Server Error", "429 Too Many Requests", "", "301 Moved"]
    {
        match status {
            "" => unreachable(&lab),
            _ => {
                configure(&lab, &robots_of(&lab));
                answers(&lab, status);
            }
        }
        lab.write("robots.txt", ROBOTS);
        lab.age("robots.txt", 29 * DAY);
        failing(&lab).says("robots.txt is left unchanged");
        assert_eq!(lab.read("robots.txt"), ROBOTS, "{status}");
        lab.age("robots.txt", 31 * DAY);
        failing(&lab).says("robots.txt disallows everything from now on [ROB-6]");
        assert_eq!(reason(&lab, "/"), "robots-disallowed", "{status}");
        assert_eq!(reason(&lab, "/robots.txt"), "served");
    }
    // As soon as there is an answer, it counts again.
    configure(&lab, &robots_of(&lab));
    lab.publisher.answer(says(&[], ROBOTS));
    lab.forget();
    assert_eq!(lab.update(&[]).status, 0);
    assert_eq!(reason(&lab, "/"), "allowed");

    // Of a robots.txt that was never there, nothing is known.
    std::fs::remove_file(lab.path("robots.txt")).unwrap();
    answers(&lab, "503 Service Unavailable");
    lab.forget();
    assert_eq!(lab.update(&["--dry-run"]).status, 1);
    assert!(!lab.path("robots.txt").exists());
    failing(&lab);
    assert_eq!(reason(&lab, "/"), "robots-disallowed");
}

#[test]
fn auto_19_preferences_are_fetched_with_caching() {
    // AUTO-19, ROB-6
    let lab = lab();
    let site = json!({ "automation_preferences": "preferences.txt",
        "automation_preferences_url": lab.publisher.url("/automation-preferences.txt") });
    configure(&lab, &site);
    let preferences = "user-agent: *\nscope: /\nallowed-methods: GET\n";
    lab.publisher.answer(says(&["Cache-Control: max-age=3600"], preferences));
    assert_eq!(lab.update(&[]).status, 0);
    assert_eq!(lab.read("preferences.txt"), preferences);
    // Whatever fails, what is known counts: its draft has no rule that closes a site.
    lab.age("preferences.txt", 99 * DAY);
    for status in ["503 Service Unavailable", "403 Forbidden"] {
        answers(&lab, status);
        failing(&lab);
        assert_eq!(lab.read("preferences.txt"), preferences, "{status}");
    }
    lab.publisher.answer(says(&[], "<!doctype html><html><body>a page</body></html>"));
    assert!(failing(&lab).stderr.contains("this is HTML"));
    answers(&lab, "404 Not Found");
    lab.forget();
    lab.update(&[]).ends(0).says("the answer is 404 Not Found");
    assert!(lab.read("preferences.txt").contains("There are no preferences"));
    assert_eq!(reason(&lab, "/"), "allowed");
}

#[test]
fn rob_6_urls_and_files_of_policies_belong_together() {
    // ROB-6
    let lab = lab();
    let refused = |sites: Value, message: &str| {
        lab.write("crawlpike.json", json!({ "catalog": "none", "sites": sites }).to_string());
        lab.update(&[]).ends(2).says(message);
    };
    let url = "https://example.com/robots.txt";
    refused(
        json!([{ "robots_txt_url": url }]),
        "`robots_txt_url` has no file: set `robots_txt` to where it is kept [ROB-6]",
    );
    refused(
        json!([{ "hosts": ["a.example"], "robots_txt": "robots.txt", "robots_txt_url": url },
            { "hosts": ["b.example"], "robots_txt": "robots.txt", "robots_txt_url": "https://b.example/robots.txt" }]),
        "another site fetches robots.txt from another URL [ROB-6]",
    );
    // Sites that share a file ask once. Nobody else's certificate is trusted.
    let other = Publisher::https(self_signed(), |_, connection| respond(connection, "200 OK", &[], ROBOTS));
    let site = |host: &str| json!({ "hosts": [host], "robots_txt": "robots.txt", "robots_txt_url": other.url("/robots.txt") });
    let sites = json!([site("a.example"), site("b.example")]);
    lab.write("crawlpike.json", json!({ "catalog": "none", "sites": sites }).to_string());
    let done = lab.update(&["--only", "robots.txt"]);
    assert!(done.status == 1 && done.stdout.starts_with("0 feeds and 1 policy: "), "{done:?}");
    assert!(lab.read("robots.txt").ends_with("\nDisallow: /\n"));
}

#[test]
fn rob_6_what_is_no_policy_is_held_with_its_first_line() {
    // ROB-6, AUTO-19
    let lab = lab();
    assert_eq!(lab.update(&[]).status, 0);
    for (body, reason) in [
        (
            &b"{\"password\": \"x\"}"[..],
            "is held: this is JSON, not a robots.txt; its first line is \"{\\\"password",
        ),
        (
            b"<!doctype html>\n<pre>\nUser-agent: *\nDisallow: /\n",
            "is held: this is HTML or XML, not a robots.txt; its first line is",
        ),
        (
            b"\nhost: db\npassword: x\n",
            "is held: this is another text, not a robots.txt; its first line is \"host: db\"",
        ),
        (
            b"\x1b[31mroot:x:0:0\x07\n",
            "its first line is \"\\u{1b}[31mroot:x:0:0\\u{7}\"; robots.txt is left unchanged",
        ),
        (b"\x1f\x8b\x08", "is held: robots.txt"),
    ] {
        lab.publisher.answer(says(&["Cache-Control: no-cache", "ETag: \"2\""], body));
        let done = lab.update(&[]);
        let reason = if reason.ends_with("held: robots.txt") { "gzip-compressed" } else { reason };
        done.ends(1).says(reason).says("robots.txt is left unchanged");
        assert_eq!(lab.read("robots.txt"), ROBOTS);
        // It shows beside the feeds, too, and no request is conditional on what was held.
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_crawlpike"));
        command.args(["feeds", "--config", "crawlpike.json"]);
        lab.prepare(&mut command);
        crate::fixture::finish(command).says("the policy `robots.txt` was not updated: ");
        assert!(lab.publisher.asked().iter().all(|asked| asked.header("if-none-match") != Some("\"2\"")));
    }
    // Nothing at all is a policy, and so are comments.
    for body in ["# everybody is welcome\n", ""] {
        lab.publisher.answer(says(&["Cache-Control: no-cache", "ETag: \"3\""], body));
        lab.update(&[]).ends(0);
        assert_eq!((lab.read("robots.txt"), reason(&lab, "/private/a")), (body.into(), "allowed".into()));
    }
    // No request is conditional on a text that an older version has taken for a policy.
    lab.publisher.answer(says(&["Cache-Control: no-cache", "ETag: \"4\""], ROBOTS));
    assert_eq!(lab.update(&[]).status, 0);
    lab.write("robots.txt", "{}");
    let digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    let mut state = lab.state();
    state["policies"]["robots.txt"]["copy"]["digest"] = digest.into();
    lab.write("crawlpike.json.update-state", state.to_string());
    lab.publisher.asked();
    assert_eq!(lab.update(&[]).status, 0);
    assert_eq!(
        (lab.publisher.asked()[0].header("if-none-match"), lab.read("robots.txt")),
        (None, ROBOTS.into())
    );

    lab.publisher.answer(says(&[], "ok\n"));
    let preferences = json!({ "automation_preferences": "preferences.txt",
        "automation_preferences_url": lab.publisher.url("/automation-preferences.txt") });
    configure(&lab, &preferences);
    lab.update(&[])
        .ends(1)
        .says("is held: this is another text, not an automation-preferences.txt; its first line is \"ok\"");
    assert!(!lab.path("preferences.txt").exists());
}
