//! The counts of a report beside the decisions: purposes, documents, limits.

use serde_json::Value;

use super::{CLAIM, FIREFOX, folder, json, line, log, report, row};
use crate::fixture::GOOGLEBOT;

/// USE-13: the purposes that an agent is known for, against what robots.txt prefers about the path.
#[test]
fn use_13_requests_are_counted_by_purpose_and_preference() {
    let folder = folder();
    folder.write(
        "robots.txt",
        "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /open/ train-ai=y, search=y\n",
    );
    let requests =
        [("/", "GPTBot/1"), ("/a", "GPTBot/1"), ("/open/", "GPTBot/1"), ("/open/b", CLAIM), ("/", CLAIM)];
    let lines = requests.map(|(path, user_agent)| line(GOOGLEBOT, path, user_agent));
    folder.write("access.log", lines.concat() + &line("192.0.2.2", "/", FIREFOX));
    let usage = |agent: &str| row(&json(&report(&folder, &["--json"])), agent)["usage"].clone();
    let expected = |purpose: &str, [disallowed, allowed, not_stated]: [u64; 3]| {
        serde_json::json!([{ "purpose": purpose, "disallowed": disallowed, "partly_disallowed": 0, "allowed": allowed,
                             "not_stated": not_stated }])
    };
    assert_eq!(usage("GPTBot"), expected("ai-training", [2, 1, 0]));
    assert_eq!(usage("Googlebot"), expected("search", [0, 1, 1]));
    let done = report(&folder, &["--html", "report.html"]);
    done.prints("2 requests are for a purpose that the usage preferences of the path disallow, most of them ai-training of GPTBot.");
    done.prints("GPTBot     ai-training           2        0        1           0\n");
    assert!(folder.read("report.html").contains("<h2>Purposes and usage preferences</h2>"));
    // Nothing is shown where nothing is preferred.
    folder.write("robots.txt", "User-agent: *\nDisallow: /private/\n");
    assert_eq!(usage("GPTBot"), serde_json::json!([]));
}

#[test]
fn requests_for_documents_are_counted_by_form_if_the_log_has_their_accept() {
    let folder = folder();
    folder
        .write("crawlpike.json", r#"{ "sites": [ { "name": "all", "aiwebindex": { "document": true } } ] }"#);
    folder.write("access.log", log());
    report(&folder, &[]).prints(
        "- Sites offer documents to 9 requests, but the log has the Accept of none of them, so it does not show who wants one: log it",
    );
    let line = |accept: &str, status: u16| {
        format!("192.0.2.1 \"GET / HTTP/1.1\" {status} \"curl/8\" \"{accept}\"\n")
    };
    let requests = [
        ("text/markdown", 200),
        ("text/markdown", 200),
        ("text/markdown", 404),
        ("text/html", 200),
        ("-", 200),
        ("", 200),
        ("application/vnd.aiwebindex+json", 200),
    ];
    folder.write("access.log", requests.map(|(accept, status)| line(accept, status)).concat());
    let format = ["--log-format", "$remote_addr \"$request\" $status \"$http_user_agent\" \"$http_accept\""];
    let found = json(&report(&folder, &[&format[..], &["--json"]].concat()));
    let outcomes = serde_json::json!({ "aidocument": 1, "markdown": 2, "status": 1 });
    assert_eq!(
        found["documents"],
        serde_json::json!({ "offered": 7, "with_accept": 5, "outcomes": outcomes })
    );
    let done = report(&folder, &[&format[..], &["--html", "report.html"]].concat());
    done.prints("- 4 requests prefer a document to the page.").prints("       1  the page: status\n");
    assert!(folder.read("report.html").contains("<h2>Requests for documents</h2>"));
}

/// Networks as long as the configuration says, their systems, and the paths that are costly.
#[test]
fn limits_count_by_the_facts_of_the_configuration() {
    let folder = folder();
    folder.write("as.tsv", "203.0.113.0\t203.0.113.255\t64500\tUS\tSWARM\n");
    folder.write(
        "crawlpike.json",
        r#"{ "networks": [ { "name": "as", "format": "iptoasn", "source": "as.tsv" } ], "network_bits": { "v4": 28 },
             "sites": [ { "name": "all", "costly": [ "/*/blame/" ] } ] }"#,
    );
    let requests = [("/a/blame/b", 1), ("/a/blame/c", 15), ("/a/blame/d", 16), ("/a", 1)];
    folder.write(
        "access.log",
        requests.map(|(path, host)| line(&format!("203.0.113.{host}"), path, FIREFOX)).concat(),
    );
    let refused = |limit: &str| {
        let done = report(&folder, &["--limit", limit, "--json"]);
        let limits = json(done.ends(0))["limits"].clone();
        (limits["limits"][0]["requests"].clone(), limits["limits"][0]["refused"].clone(), limits)
    };
    for (limit, requests, refused_requests) in [
        ("key=network rate=1r/s", 4, 2),
        ("key=network rate=1r/s paths=costly", 3, 1),
        ("key=asn rate=1r/s", 4, 3),
        ("key=crowd_key,asn rate=1r/s paths=costly", 3, 1),
        ("key=as_kind rate=1r/s", 0, 0),
    ] {
        let (all, some, _) = refused(limit);
        assert_eq!((all, some), (requests.into(), refused_requests.into()), "{limit}");
    }
    let (.., limits) = refused("key=asn rate=1r/s");
    assert_eq!(
        limits["limits"][0]["systems"]["items"],
        serde_json::json!([{ "value": "64500", "requests": 3 }])
    );
    let network = &limits["networks"]["networks"][0];
    assert_eq!((&network["network"], &network["as_name"]), (&"203.0.113.0/28".into(), &"SWARM".into()));
    report(&folder, &["--limit", "key=as_kind rate=1r/s"])
        .prints("- The limit `key=as_kind rate=1r/s` counts no request: no client has its key, or no path is costly.\n");
}

/// Two limits at once: on everybody's network, and on the crowd's, in which no verified agent is.
#[test]
fn limits_show_which_requests_they_would_have_refused() {
    let folder = folder();
    let at = |time: &str, address: &str, user_agent: &str| {
        format!("{address} [{time}] \"GET /costly/a HTTP/1.1\" 200 \"{user_agent}\"\n")
    };
    // In a second 4 requests of a swarm, of which the log has the first one last, and 3 of a verified agent; one a minute later.
    let swarm = [".300", ".200", ".100", ".000"].into_iter().zip(1..);
    let swarm =
        swarm.map(|(part, host)| at(&format!("1795331112{part}"), &format!("203.0.113.{host}"), FIREFOX));
    let verified = [".000"; 3].map(|part| at(&format!("1795331112{part}"), GOOGLEBOT, CLAIM));
    let log = swarm.chain(verified).chain([at("1795331172.000", "203.0.113.1", FIREFOX)]);
    folder.write("access.log", log.collect::<String>());
    let arguments = [
        "--log-format",
        "$remote_addr [$msec] \"$request\" $status \"$http_user_agent\"",
        "--limit",
        "key=network rate=1r/s burst=1",
        "--limit",
        "key=crowd_key rate=1r/s",
    ];
    let found = json(&report(&folder, &[&arguments[..], &["--json"]].concat()));
    let [all, crowd] = [0, 1].map(|place| &found["limits"]["limits"][place]);
    assert_eq!((&all["requests"], &all["refused"]), (&8.into(), &3.into()));
    assert_eq!((&crowd["requests"], &crowd["refused"]), (&5.into(), &3.into()));
    let kind = |limit: &Value, identity: &str| {
        let kinds = limit["kinds"].as_array().unwrap();
        kinds.iter().find(|row| row["identity"] == identity).map(|row| row["refused"].clone())
    };
    assert_eq!((kind(all, "none"), kind(all, "verified")), (Some(2.into()), Some(1.into())));
    assert_eq!((kind(crowd, "none"), kind(crowd, "verified")), (Some(3.into()), None));
    let worst = serde_json::json!({ "start": "2026-11-22T07:05:00Z", "requests": 7, "refused": 3 });
    assert_eq!(all["worst_minute"], worst);
    let network = &found["limits"]["networks"]["networks"][0];
    let folder_of_paths = serde_json::json!({ "value": "/costly/", "requests": 5 });
    assert_eq!(network["paths"]["items"][0], folder_of_paths);
    assert_eq!((&network["network"], &network["requests"]), (&"203.0.113.0/24".into(), &5.into()));
    assert_eq!(
        (&network["refused"], &network["addresses"]["count"]),
        (&serde_json::json!([2, 3]), &4.into())
    );
    assert_eq!((&found["limits"]["late"], &found["limits"]["whole_seconds"]), (&0.into(), &0.into()));

    let done = report(&folder, &[&arguments[..], &["--html", "report.html"]].concat());
    done.prints("- The limit `key=network rate=1r/s burst=1` refuses 3 of 8 requests (38 %), from 3 addresses: 1 verified, 2 people-like.");
    done.prints("203.0.113.0/24");
    let page = folder.read("report.html");
    assert!(
        page.contains("<svg viewBox=\"0 0 1000 300\" role=\"img\" aria-labelledby=\"limit-1-t limit-1-d\">")
    );
    for (limit, expected) in
        [("key=network", "`rate` is missing"), ("key=network rate=5", "column 13: invalid rate `5`")]
    {
        report(&folder, &["--limit", limit]).ends(2).says(expected);
    }
    // Times in whole seconds, and a log that is rotated: the older one has the name behind.
    folder.write("access.log", line("192.0.2.1", "/", FIREFOX).replace(":12 ", ":13 "));
    folder.write("access.log.1", line("192.0.2.2", "/", FIREFOX));
    let arguments = ["report", "--config", "crawlpike.json", "access.log", "access.log.1", "--limit"];
    let done = folder.run(&[&arguments[..], &["key=network rate=1r/s", "--json"]].concat());
    let limits = &json(&done)["limits"];
    assert_eq!((&limits["limits"][0]["refused"], &limits["late"]), (&0.into(), &0.into()));
    assert_eq!(limits["whole_seconds"], 2);
}

#[test]
fn anonymous_limits_show_no_address() {
    let folder = folder();
    folder.write("crawlpike.json", r#"{ "network_bits": { "v4": 32, "v6": 128 } }"#);
    let addresses = ["203.0.113.7", "203.0.113.7", "203.0.113.8", "2001:db8:1::7"];
    folder.write("access.log", addresses.map(|address| line(address, "/", FIREFOX)).concat());
    let arguments = ["--limit", "key=network rate=1r/s", "--json"];
    assert!(report(&folder, &arguments).stdout.contains("203.0.113.7/32"));
    let done = report(&folder, &[&arguments[..], &["--anonymize"]].concat());
    let limits = &json(&done)["limits"];
    let network = |place: usize| {
        let row = &limits["networks"]["networks"][place];
        (row["network"].clone(), row["requests"].clone(), row["refused"][0].clone())
    };
    assert_eq!(network(0), ("203.0.113.0/24".into(), 3.into(), 1.into()), "by address, as the limit counts");
    assert_eq!(network(1).0, "2001:db8:1::/48");
    assert!(!done.stdout.contains(".7") && !done.stdout.contains("::7"), "{done:?}");
}

#[test]
fn limits_lose_no_line_of_a_pipe() {
    let folder = folder();
    folder.write("access.log", log());
    let arguments = ["report", "--config", "crawlpike.json", "/dev/stdin", "access.log", "--json", "--limit"];
    let done = folder.run_with(&[&arguments[..], &["key=address rate=1r/s"]].concat(), log());
    assert_eq!(json(&done)["limits"]["limits"][0]["requests"], 18);
}
