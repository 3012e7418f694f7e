//! `crawlpike doctor`: each thing that can be wrong on a machine, with what mends it.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::envoy;
use crate::fixture::{Done, Folder};

/// A configuration of nginx in which nothing is wrong. Its user is root, who may read all files of the tests.
const NGINX: &str = "user root;\nevents {}\nhttp {\n  crawlpike_config crawlpike.json;\n  set_real_ip_from 192.0.2.1;\n  \
                     real_ip_header X-Forwarded-For;\n  server { listen 80; }\n}\n";

/// A machine on which nothing is wrong, with an nginx that takes every configuration.
fn machine() -> Folder {
    let folder = Folder::new();
    configure(&folder, &json!({}));
    folder.write("nginx.conf", NGINX);
    folder.write("crawlpike.json.update-state", "{\"feeds\":{}}");
    nginx_says(&folder, "nginx: the configuration file nginx.conf syntax is ok", 0);
    folder
}

/// Writes a configuration whose feed differs from the usual one in these keys.
fn configure(folder: &Folder, keys: &Value) {
    let mut feed = json!({ "name": "googlebot", "format": "jafar", "source": "googlebot.json", "max_age": "7d",
        "url": "https://example.com/googlebot.json" });
    for (key, value) in keys.as_object().unwrap() {
        feed[key] = value.clone();
        if value.is_null() {
            feed.as_object_mut().unwrap().remove(key);
        }
    }
    let document = json!({ "mode": "enforce", "catalog": "none", "feeds": [feed],
        "agents": [ { "token": "Googlebot", "feeds": ["googlebot"] } ], "sites": [ { "name": "all" } ] });
    folder.write("crawlpike.json", document.to_string());
}

/// Puts a program in the place of nginx, which says this of every configuration.
fn nginx_says(folder: &Folder, line: &str, status: u8) {
    fs::create_dir_all(folder.path("bin")).unwrap();
    folder.write("bin/nginx", format!("#!/bin/sh\necho '{line}' >&2\nexit {status}\n"));
    fs::set_permissions(folder.path("bin/nginx"), Permissions::from_mode(0o755)).unwrap();
}

fn doctor(folder: &Folder, arguments: &[&str]) -> Done {
    let command = folder.command(&[&["doctor", "--nginx", "nginx.conf"], arguments].concat());
    with_path(command, folder).output().unwrap().into()
}

/// Has a command find the folder's own nginx.
fn with_path(mut command: Command, folder: &Folder) -> Command {
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", folder.path("bin").display()));
    command
}

fn set_time(folder: &Folder, name: &str, time: SystemTime) {
    File::options().append(true).open(folder.path(name)).unwrap().set_modified(time).unwrap();
}

/// Checks that there is one finding besides notes: this one, and gives it.
#[track_caller]
fn finds(folder: &Folder, arguments: &[&str], check: &str, gravity: &str, what: &str, remedy: &str) {
    let done = doctor(folder, &[arguments, &["--json"]].concat());
    let report: Value =
        serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"));
    let findings = report["findings"].as_array().unwrap().iter();
    let serious: Vec<&Value> = findings.filter(|finding| finding["gravity"] != "note").collect();
    let [finding] = serious[..] else { panic!("{serious:#?}") };
    assert_eq!((&finding["check"], &finding["gravity"]), (&check.into(), &gravity.into()), "{finding:#}");
    assert!(finding["what"].as_str().unwrap().contains(what), "{finding:#}");
    assert!(finding["remedy"].as_str().unwrap().contains(remedy), "{finding:#}");
    let faults = usize::from(gravity == "fault");
    assert_eq!((done.status, &report["faults"]), (faults as i32, &faults.into()));
    // The same for people.
    let done = doctor(folder, arguments);
    done.ends(faults as i32)
        .prints(&format!("{gravity}: {check}: "))
        .prints(what)
        .prints(&format!("\n    {}", finding["remedy"].as_str().unwrap()));
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    let folder = machine();
    doctor(&folder, &[]).ends(0).says_only("").prints_only("crawlpike.json: 0 faults, 0 warnings, 0 notes\n");
    // Without --config, the document is the one that nginx uses.
    doctor(&folder, &["--config", "crawlpike.json"]).ends(0);
    // Nor is a byte order mark.
    folder.write("crawlpike.json", format!("\u{feff}{}", folder.read("crawlpike.json")));
    doctor(&folder, &[]).ends(0).prints_only("crawlpike.json: 0 faults, 0 warnings, 0 notes\n");
    let report: Value = serde_json::from_str(&doctor(&folder, &["--json"]).stdout).unwrap();
    assert_eq!((&report["config"], &report["nginx"]), (&"crawlpike.json".into(), &"nginx.conf".into()));
}

#[test]
fn what_cannot_be_checked_is_said() {
    let folder = machine();
    folder.write("nginx.conf", "events {}\n");
    doctor(&folder, &["--config", "crawlpike.json"])
        .ends(0)
        .prints("note: rights: the rights on files are not checked")
        .prints("note: nginx: nginx.conf: no `crawlpike_config` is in it")
        .prints("    crawlpike_config /");
    // That of the document is a fault of the document.
    folder.write("nginx.conf", NGINX);
    folder.write("crawlpike.json", "{ \"mode\": \"on\", \"sites\": 5 }");
    doctor(&folder, &[])
        .ends(1)
        .prints("fault: configuration: crawlpike.json:1:11: `mode`: unknown value")
        .prints("crawlpike.json: 2 faults, ");
    fs::remove_file(folder.path("crawlpike.json")).unwrap();
    doctor(&folder, &[]).ends(1).prints("fault: configuration: crawlpike.json: cannot be read: ");
}

#[test]
fn arguments_that_mean_nothing_end_with_2() {
    let folder = machine();
    doctor(&folder, &["--as-user", "no such user"])
        .ends(2)
        .says("--as-user: no user is named `no such user`");
    folder
        .run(&["doctor", "--nginx", "none.conf", "--config", "crawlpike.json"])
        .ends(2)
        .says("none.conf: error: ");
    folder.write("nginx.conf", "events {}\n");
    fs::remove_file(folder.path("crawlpike.json")).unwrap();
    doctor(&folder, &[]).ends(2).says("give --config");
}

#[test]
fn warnings_of_the_configuration_are_shown() {
    let folder = machine();
    let document = folder
        .read("crawlpike.json")
        .replace("\"sites\":[{\"name\":\"all\"}]", "\"sites\":[{\"hosts\":[\"a.test\"]}]");
    folder.write("crawlpike.json", document);
    let done = doctor(&folder, &[]);
    done.ends(0).prints("warning: configuration: crawlpike.json:");
}

#[test]
fn states_of_feeds_have_their_remedies() {
    let (old, now) = (Duration::from_secs(8 * 86_400), SystemTime::now());
    let update = "crawlpike update --config crawlpike.json";

    let folder = machine();
    set_time(&folder, "googlebot.json", now - old);
    finds(&folder, &[], "feeds", "fault", "the feed `googlebot` is stale: it is 8d", update);

    fs::remove_file(folder.path("googlebot.json")).unwrap();
    finds(&folder, &[], "feeds", "fault", "the feed `googlebot` has never been fetched", update);

    folder.write("googlebot.json", "{\"prefixes\":[]}");
    finds(&folder, &[], "feeds", "fault", "the feed `googlebot` is missing: it has no prefixes", update);

    let folder = machine();
    folder.run(&["compile", "--config", "crawlpike.json"]).ends(0);
    folder.write("googlebot.json", "{\"prefixes\":[{\"ipv4Prefix\":\"192.0.2.0/24\"}]}");
    let accept = "crawlpike compile --config crawlpike.json --accept googlebot";
    finds(&folder, &[], "feeds", "warning", "the feed `googlebot` is held", accept);

    let folder = machine();
    folder.write("googlebot.json", folder.read("googlebot.json").replacen("\"192.178", "\"x192.178", 1));
    finds(
        &folder,
        &[],
        "feeds",
        "warning",
        "the feed `googlebot` is incomplete",
        "crawlpike lint --lenient --format jafar",
    );

    let folder = machine();
    folder.write(
        "crawlpike.json.update-state",
        r#"{"feeds":{"googlebot":{"url":"https://example.com/googlebot.json","asked":1,"current":1,"due":2,"failures":1,
            "was_asked":false,"error":"the certificate has expired","redirects":[],"copy":null}}}"#,
    );
    let what = "the last attempt to fetch the feed `googlebot` failed: the certificate has expired";
    finds(&folder, &[], "feeds", "warning", what, update);
}

#[test]
fn nobody_who_runs_the_update_is_noticed() {
    let folder = machine();
    set_time(&folder, "crawlpike.json.update-state", SystemTime::now() - Duration::from_secs(50 * 3_600));
    finds(&folder, &[], "updates", "warning", "`crawlpike update` last ran 50 hours ago", "");
    fs::remove_file(folder.path("crawlpike.json.update-state")).unwrap();
    finds(&folder, &[], "updates", "warning", "`crawlpike update` has never run", "");
    // A feed of one's own needs no update.
    configure(&folder, &json!({ "url": null }));
    doctor(&folder, &[]).ends(0).prints("note: updates: no feed has a `url`");
}

#[test]
fn a_state_elsewhere_is_found() {
    let folder = machine();
    fs::remove_file(folder.path("crawlpike.json.update-state")).unwrap();
    let write = |source: &str| {
        let entry = json!({ "url": "https://example.com/googlebot.json", "source": source, "asked": 1, "current": 1,
            "due": 2, "failures": 0, "was_asked": true, "error": null, "redirects": [], "copy": null });
        folder.write("state", json!({ "feeds": { "googlebot": entry } }).to_string());
    };
    write("googlebot.json");
    doctor(&folder, &["--state", "state"]).ends(0).prints("0 faults, 0 warnings, 0 notes");

    // That of the units and images that ship, if it is of this configuration.
    let script =
        "mount -t tmpfs none /var/lib; mkdir /var/lib/crawlpike; cp -p state /var/lib/crawlpike/update-state
        exec \"$0\" \"$@\"";
    let doctor_with_shared_state = || {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-ec", script, env!("CARGO_BIN_EXE_crawlpike")]);
        command.args(["doctor", "--nginx", "nginx.conf"]).current_dir(folder.path(""));
        Done::from(with_path(command, &folder).output().unwrap())
    };
    doctor_with_shared_state().ends(0).prints("0 faults, 0 warnings, 0 notes");
    write("another.json");
    doctor_with_shared_state().prints("`crawlpike update` has never run with this configuration");
    write("googlebot.json");
    fs::remove_file(folder.path("googlebot.json")).unwrap();
    let update = "    crawlpike update --config crawlpike.json --state /var/lib/crawlpike/update-state\n";
    doctor_with_shared_state().ends(1).prints(update);
    // A later run by hand counts.
    write("googlebot.json");
    set_time(&folder, "state", SystemTime::now() - Duration::from_secs(60));
    folder.write("crawlpike.json.update-state", "{\"feeds\":{}}");
    doctor_with_shared_state().ends(1).prints("    crawlpike update --config crawlpike.json\n");
}

#[test]
fn times_in_the_future_are_noticed() {
    let folder = machine();
    let hour = Duration::from_secs(3_600);
    set_time(&folder, "googlebot.json", SystemTime::now() + hour);
    finds(&folder, &[], "clock", "warning", "the time of the file is in the future", "touch googlebot.json");
    set_time(&folder, "googlebot.json", SystemTime::now());
    let feed: Value = serde_json::from_str(&folder.read("googlebot.json")).unwrap();
    let mut of_tomorrow = feed;
    of_tomorrow["creationTime"] = "2999-01-01T00:00:00Z".into();
    folder.write("googlebot.json", of_tomorrow.to_string());
    finds(
        &folder,
        &[],
        "clock",
        "warning",
        "`creationTime` of the feed `googlebot` is in the future (2999-",
        "",
    );
}

#[test]
fn files_that_the_user_of_the_server_cannot_read_are_named_with_a_remedy() {
    let folder = machine();
    let set_mode =
        |name: &str, mode| fs::set_permissions(folder.path(name), Permissions::from_mode(mode)).unwrap();
    set_mode(".", 0o700);
    let here = folder.path("").display().to_string();
    let here = here.trim_end_matches('/');
    let remedy = format!("chmod o+x {here}");
    finds(
        &folder,
        &["--as-user", "nobody"],
        "rights",
        "fault",
        "the user `nobody` may not enter the folder",
        &remedy,
    );
    set_mode(".", 0o755);
    set_mode("googlebot.json", 0o640);
    let what = "the user `nobody` may not read the file";
    finds(&folder, &["--as-user", "nobody"], "rights", "fault", what, "/googlebot.json");
    // The master of nginx reads the files, unless workers do.
    folder.write("nginx.conf", NGINX.replace("user root", "user nobody"));
    finds(&folder, &[], "rights", "warning", "nginx's master reads it", "chmod o+r ");
    folder
        .write("nginx.conf", folder.read("nginx.conf").replace("http {", "http {\n  crawlpike_refresh 60s;"));
    finds(&folder, &[], "rights", "fault", what, "chmod o+r ");
    // The group that nginx.conf names is the user's primary one.
    chown(folder.path("googlebot.json"), None, Some(0)).unwrap();
    let conf = folder.read("nginx.conf");
    folder.write("nginx.conf", conf.replace("user nobody", "user nobody root"));
    doctor(&folder, &[]).ends(0).prints("0 faults, 0 warnings, 0 notes");
    folder.write("nginx.conf", conf.replace("user nobody", "user nobody no-such-group"));
    let what = "the rights on files cannot be checked: no group is named `no-such-group` on this machine";
    finds(&folder, &[], "rights", "fault", what, "");
}

#[test]
fn pipes_are_not_waited_for() {
    let folder = machine();
    for name in ["access.log", "included.conf"] {
        folder.write(name, "");
        folder.make_pipe(name);
    }
    let log = folder.path("access.log").display().to_string();
    let http = format!("http {{\n  access_log {log};\n  include included.conf;");
    folder.write("nginx.conf", NGINX.replace("http {", &http));
    doctor(&folder, &[]).ends(0).prints("included.conf: not a regular file\n");
}

#[test]
fn nginx_that_does_not_take_its_configuration_says_why() {
    let folder = machine();
    let module = "/m/ngx_http_crawlpike_module.so";
    let line =
        format!("nginx: [emerg] module \"{module}\" version 1024000 instead of 1022001 in nginx.conf:1");
    nginx_says(&folder, &line, 1);
    finds(
        &folder,
        &[],
        "nginx",
        "fault",
        "the module is for nginx 1.24.0, and this is nginx 1.22.1",
        "for nginx 1.22.1",
    );
    nginx_says(&folder, "nginx: [emerg] unknown directive \"crawlpike_config\" in nginx.conf:4", 1);
    finds(&folder, &[], "nginx", "fault", "nginx does not load the module", "load_module modules/");
    // That of Debian logs to stderr.
    let line =
        "2026/11/29 13:20:03 [emerg] 27532#27532: unknown directive \"crawlpike_config\" in nginx.conf:4";
    nginx_says(&folder, line, 1);
    finds(
        &folder,
        &[],
        "nginx",
        "fault",
        "nginx does not load the module: unknown directive",
        "load_module ",
    );
    nginx_says(&folder, "Segmentation fault", 139);
    finds(&folder, &[], "nginx", "fault", "nginx does not take its configuration", "nginx -t -c nginx.conf");
}

#[test]
fn two_configurations_that_differ_are_noticed() {
    let folder = machine();
    folder.write("other.json", folder.read("crawlpike.json"));
    folder.write("other.json.update-state", "{\"feeds\":{}}");
    finds(
        &folder,
        &["--config", "other.json"],
        "nginx",
        "fault",
        "nginx uses crawlpike.json, not /",
        "crawlpike_config /",
    );
    // A compiled ruleset is that of its document, until the document changes.
    folder.run(&["compile", "--config", "crawlpike.json", "--output", "crawlpike.bin"]).ends(0);
    folder.write("nginx.conf", NGINX.replace("crawlpike.json", "crawlpike.bin"));
    doctor(&folder, &["--config", "crawlpike.json"]).ends(0);
    folder.write("crawlpike.json", folder.read("crawlpike.json").replace("enforce", "observe"));
    let remedy = "crawlpike compile --config crawlpike.json --output crawlpike.bin";
    finds(
        &folder,
        &["--config", "crawlpike.json"],
        "nginx",
        "fault",
        "was compiled from another document",
        remedy,
    );
}

#[test]
fn a_proxy_that_nginx_was_not_told_of_is_noticed() {
    let folder = machine();
    let without = NGINX.replace("  set_real_ip_from 192.0.2.1;\n  real_ip_header X-Forwarded-For;\n", "");
    let conf = |from: &str, to: &str| folder.write("nginx.conf", without.replace(from, to));
    let remedy = "set_real_ip_from ADDRESS-OF-THE-PROXY; real_ip_header X-Forwarded-For;";
    conf("", "");
    doctor(&folder, &[]).ends(0).prints("0 faults, 0 warnings, 0 notes");
    conf("listen 80", "listen 127.0.0.1:8080");
    finds(&folder, &[], "client address", "warning", "a proxy is in front", remedy);
    conf("listen 80", "listen 80 proxy_protocol");
    finds(&folder, &[], "client address", "fault", "by the PROXY protocol", "real_ip_header proxy_protocol");
    conf("server {", "log_format main '$remote_addr $http_x_forwarded_for'; server {");
    doctor(&folder, &[]).ends(0).prints("note: client address: nginx.conf:5: X-Forwarded-For is logged");

    let log = folder.path("access.log").display().to_string();
    conf("server {", &format!("access_log {log}; server {{"));
    let lines = |address: &str, count| {
        format!("{address} - - [22/Nov/2026:07:05:12 +0000] \"GET / HTTP/1.1\" 200\n").repeat(count)
    };
    folder.write("access.log", lines("10.0.0.5", 19) + &lines("192.0.2.7", 30));
    doctor(&folder, &[]).ends(0).prints("0 faults, 0 warnings, 0 notes");
    folder.write("access.log", lines("10.0.0.5", 31) + &lines("192.0.2.7", 30));
    let what = "31 of the last 61 requests in ";
    finds(&folder, &[], "client address", "fault", what, remedy);
    folder.write("access.log", "");

    folder.write("nginx.conf", NGINX.replace("192.0.2.1", "0.0.0.0/0"));
    finds(&folder, &[], "client address", "fault", "every client can choose its address", "set_real_ip_from");
}

#[test]
fn a_resource_of_envoy_that_is_not_current_is_noticed() {
    let folder = machine();
    folder.write("robots.txt", "User-agent: *\nDisallow: /a\n");
    let document = folder
        .read("crawlpike.json")
        .replace("\"name\":\"all\"", "\"name\":\"all\",\"robots_txt\":\"robots.txt\"");
    folder.write("crawlpike.json", document);
    for (form, output) in [("compiled", "out.json"), ("document", "out.json"), ("compiled", "out.yaml")] {
        folder.write("robots.txt", "User-agent: *\nDisallow: /a\n");
        let options = ["--output", output, "--form", form];
        folder.run(&envoy::arguments(&folder, &options)).ends(0);
        doctor(&folder, &["--envoy", output]).ends(0).prints("0 faults, 0 warnings, 0 notes");
        folder.write("robots.txt", "User-agent: *\nDisallow: /b\n");
        let remedy = format!("crawlpike envoy --config crawlpike.json --output {output}");
        finds(
            &folder,
            &["--envoy", output],
            "envoy",
            "fault",
            "is not what the configuration and its files make now",
            &remedy,
        );
    }
    finds(&folder, &["--envoy", "none.json"], "envoy", "fault", "cannot be read", "crawlpike envoy ");
}
