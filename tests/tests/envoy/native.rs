//! Features of the native module only: files, routes, labels and metadata. And its requirements on the host.

use std::fs;
use std::process::Command;

use crawlpike_tests::artefacts;
use crawlpike_tests::envoy::{
    Envoy, Filter, Gate, Listener, bootstrap, configuration, manager, native_filter,
};
use crawlpike_tests::lab::{DOCUMENT, lab, lab_with_sites, person, spoofed, unguarded, verified};
use crawlpike_tests::nginx::ask;
use crawlpike_tests::origin::Origin;
use crawlpike_tests::page_origin::{self, MARKDOWN};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use serde_json::{Value, json};

fn start() -> Gate {
    Gate::start(Filter::Native, lab())
}

fn wait_for_value(gate: &Gate, series: &str, expected: u64) {
    wait_for(series, || (gate.envoy.value(series) == Some(expected)).then_some(()));
}

#[test]
fn changed_files_are_taken_over_whole_or_refused() {
    let gate = start();
    assert_eq!((gate.status(&verified("/")), gate.status(&spoofed("/"))), (200, 403));
    let reloads = |result: &str| format!("crawlpike_reloads_total{{result=\"{result}\"}}");
    wait_for_value(&gate, r#"crawlpike_feed_prefixes{feed="lab"}"#, 2);

    // The document.
    gate.folder().write("crawlpike.json", unguarded().replace("enforce", "observe"));
    wait_for("the new document", || (gate.status(&spoofed("/")) == 200).then_some(()));
    gate.folder().write("crawlpike.json", unguarded());
    wait_for("the old document", || (gate.status(&spoofed("/")) == 403).then_some(()));
    wait_for_value(&gate, &reloads("success"), 2);

    // A feed, which its guard would hold.
    gate.folder().write("lab.txt", "203.0.113.9\n");
    wait_for("the new feed", || (gate.status(&spoofed("/")) == 200).then_some(()));
    assert_eq!(gate.status(&verified("/")), 403);
    wait_for_value(&gate, r#"crawlpike_feed_prefixes{feed="lab"}"#, 1);

    // If a file cannot be read, the old ruleset stays in force, and the log has the reason.
    gate.folder().write("crawlpike.json", DOCUMENT.replace("enforce", "enforced"));
    let line = gate.envoy.wait_for_line("envoy.log", "unknown value `enforced`");
    assert!(line.contains("crawlpike.json:2:11: error: `mode`"), "{line}");
    gate.envoy.wait_for_line("envoy.log", "keeping the current ruleset");
    wait_for_value(&gate, &reloads("failure"), 1);
    assert_eq!((gate.status(&verified("/")), gate.status(&spoofed("/"))), (403, 200));
    fs::remove_file(gate.folder().path().join("crawlpike.json")).unwrap();
    wait_for_value(&gate, &reloads("failure"), 2);
    assert_eq!((gate.status(&verified("/")), gate.status(&spoofed("/"))), (403, 200));

    // And a good one goes on from there.
    gate.folder().write("crawlpike.json", unguarded());
    gate.folder().write("lab.txt", "192.0.2.0/24\n2001:db8::/32\n");
    wait_for("the first feed", || (gate.status(&spoofed("/")) == 403).then_some(()));
    assert_eq!((gate.status(&verified("/")), gate.status(&person("/"))), (200, 200));
    assert_eq!(gate.envoy.value("crawlpike_errors_total{}"), Some(0));
}

#[test]
fn the_document_and_the_ruleset_may_be_inlined() {
    let folder = lab_with_sites(r#"{ "robots_txt": "robots.txt" }"#);
    folder.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let (document, compiled) = (folder.path().join("crawlpike.json"), folder.path().join("crawlpike.bin"));
    let output = artefacts::compile_ruleset(&document, &compiled);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // A compiled ruleset in a file is taken, too.
    let gate = Gate::start_with(folder, native_filter(&json!({ "config": compiled }).to_string()), |_| {});
    assert_eq!((gate.status(&verified("/")), gate.status(&spoofed("/"))), (200, 403));

    let inline = DOCUMENT.replace(
        r#""catalog": "none","#,
        r#""catalog": "none", "files": { "lab.txt": { "text": "203.0.113.9\n" } },"#,
    );
    let gate = Gate::start_with(lab(), native_filter(&inline), |_| {});
    assert_eq!((gate.status(&verified("/")), gate.status(&spoofed("/"))), (403, 200));
}

#[test]
fn a_refused_configuration_says_why() {
    let missing = json!({ "config": "/nowhere/crawlpike.json" }).to_string();
    for (configuration, reason) in [
        (missing.as_str(), "/nowhere/crawlpike.json: error: cannot be read"),
        (r#"{ "config": 1 }"#, "\"config\" names the file of the document"),
        (r#"{ "config": "a", "mode": "off" }"#, "unknown field `mode`"),
        (r#"{ "mode": "enforced" }"#, "configuration:1:11: error: `mode`: unknown value `enforced`"),
        ("{ broken", "configuration:1:3: error: not JSON"),
        ("", "configuration:1:1: error: not JSON"),
    ] {
        let log = refused(native_filter(configuration), |_| {});
        assert!(log.contains(reason), "{reason:?} in {log}");
    }
    let mut other = native_filter(DOCUMENT);
    other["typed_config"]["filter_name"] = "other".into();
    let log = refused(other, |_| {});
    assert!(log.contains(r#"unknown filter "other"; set filter_name to "crawlpike""#), "{log}");
    for (route, reason) in [
        (json!({ "mode": "enforced" }), "invalid mode \"enforced\"; use off, observe or enforce"),
        (json!({ "modus": "off" }), "unknown field `modus`"),
    ] {
        let log = refused(native_filter(DOCUMENT), |listener| {
            *route_of(listener) = route_config(&route);
        });
        assert!(log.contains(reason), "{reason:?} in {log}");
    }
}

/// The log of an Envoy that refuses its configuration.
fn refused(filter: Value, change: impl FnOnce(&mut Value)) -> String {
    Envoy::refused(lab(), filter, change)
}

fn route_config(configuration: &Value) -> Value {
    route_config_of("crawlpike_envoy", configuration)
}

fn route_config_of(module: &str, configuration: &Value) -> Value {
    json!({ "crawlpike": {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilterPerRoute",
        "dynamic_module_config": { "name": module },
        "per_route_config_name": "crawlpike",
        "filter_config": { "@type": "type.googleapis.com/google.protobuf.StringValue", "value": configuration.to_string() },
    } })
}

/// The `typed_per_filter_config` of a new first route, for `/api/`.
fn route_of(listener: &mut Value) -> &mut Value {
    let routes = manager(listener).pointer_mut("/route_config/virtual_hosts/0/routes").unwrap();
    let route = json!({ "match": { "prefix": "/api/" }, "route": { "cluster": "origin" } });
    routes.as_array_mut().unwrap().insert(0, route);
    &mut routes[0]["typed_per_filter_config"]
}

#[test]
fn a_route_has_a_mode_and_a_site_of_its_own() {
    let document = r#"{ "hosts": ["closed.test"], "robots_txt": "robots.txt" }"#;
    let gate = |configuration: Value| {
        let folder = lab_with_sites(document);
        folder.write("robots.txt", "User-agent: *\nDisallow: /\n");
        Gate::start_changed(Filter::Native, folder, |listener| {
            *route_of(listener) = route_config(&configuration);
        })
    };
    for mode in ["off", "observe"] {
        let gate = gate(json!({ "mode": mode }));
        assert_eq!((gate.status(&spoofed("/api/")), gate.status(&spoofed("/"))), (200, 403), "{mode}");
        let named = spoofed("/api/").header("X-Test-Case", "api");
        gate.ask(&named);
        let line = gate.envoy.wait_for_line("access.log", r#""case":"api""#);
        assert_eq!(line.contains("identity=spoofed"), mode == "observe", "{line}");
    }
    let with_site = gate(json!({ "site": "closed.test" }));
    assert_eq!((with_site.status(&verified("/api/")), with_site.status(&verified("/"))), (403, 200));
    assert_eq!(with_site.status(&person("/api/")), 200);
    // A site that the document lacks is an error of the operator's, and the host's site counts.
    let without = gate(json!({ "site": "nowhere.test", "mode": "enforce" }));
    assert_eq!((without.status(&verified("/api/")), without.status(&spoofed("/api/"))), (200, 403));
    without.envoy.wait_for_line("envoy.log", "a route names the site \"nowhere.test\"");
}

/// Otherwise `.md` would lead around the mode of the page.
#[test]
fn the_markdown_of_a_page_has_the_settings_of_the_pages_route() {
    let site = r#"{ "aiwebindex": { "document": { "md_paths": true } } }"#;
    let folder = lab_with_sites(site);
    let filter = Filter::Native.with(&folder, &folder.path().join("crawlpike.json"));
    let (_envoy, port) = Envoy::start_one(folder, filter, page_origin::start(), |listener| {
        let routes = manager(listener).pointer_mut("/route_config/virtual_hosts/0/routes").unwrap();
        let to_origin = |matched: Value, mode: &str| {
            json!({ "match": matched, "route": { "cluster": "origin" },
                    "typed_per_filter_config": route_config(&json!({ "mode": mode })) })
        };
        *routes = json!([
            to_origin(json!({ "path": "/page" }), "enforce"),
            to_origin(json!({ "path": "/gzip.md" }), "enforce"),
            to_origin(json!({ "path": "/echo" }), "off"),
            to_origin(json!({ "path": "/echo.md" }), "enforce"),
            to_origin(json!({ "prefix": "/" }), "observe"),
        ]);
    });
    let status = |path: &str| ask(port, &spoofed(path)).status;
    assert_eq!(["/page", "/page.md", "/page.md?a"].map(status), [403, 403, 403]);
    // The page of this one is open to everybody.
    assert_eq!(["/gzip", "/gzip.md"].map(status), [200, 200]);
    // In the mode `off`, nothing asks for the markdown of a page, and the path is what it says.
    assert_eq!(["/echo", "/echo.md"].map(status), [200, 403]);
    assert!(ask(port, &verified("/echo.md")).text().starts_with("GET /echo.md "));
    for path in ["/page.md", "/gzip.md", "/chunked.md"] {
        assert!(ask(port, &verified(path)).text().starts_with(MARKDOWN), "{path}");
    }
}

/// Envoy passes the filter whatever object the other module has made.
#[test]
fn a_route_of_another_module_is_an_error_and_harms_nobody() {
    let (folder, origin) = (lab(), Origin::start());
    // It has the same hooks, and other objects.
    fs::copy(artefacts::envoy_module(), folder.path().join("libanother.so")).unwrap();
    let (port, filter) = (free_port(), Filter::Native.with(&folder, &folder.path().join("crawlpike.json")));
    let mut listener = configuration(&folder, &Listener { port, filter, access_log: "access.log".into() });
    let off = json!({ "mode": "off" });
    *route_of(&mut listener) = route_config_of("another", &off);
    let routes = manager(&mut listener).pointer_mut("/route_config/virtual_hosts/0/routes").unwrap();
    let mut own = routes[0].clone();
    own["match"]["prefix"] = "/own/".into();
    own["typed_per_filter_config"] = route_config(&off);
    routes.as_array_mut().unwrap().insert(0, own);
    let modules = format!("LD_LIBRARY_PATH={}", folder.path().display());
    let envoy = Envoy::boot(folder, bootstrap(&[listener], origin.port()), 2, &["env", &modules]);
    let statuses = ["/own/", "/api/", "/"].map(|path| ask(port, &spoofed(path)).status);
    assert_eq!(statuses, [200, 403, 403]);
    envoy.wait_for_line("envoy.log", "a route has a configuration of another module");
}

#[test]
fn other_filters_read_the_facts_in_the_dynamic_metadata() {
    let folder = lab();
    folder.write(
        "crawlpike.json",
        DOCUMENT.replace("enforce", "observe").replacen(
            '{',
            r#"{ "filter_state": ["identity", "agent"],"#,
            1,
        ),
    );
    let gate = Gate::start_changed(Filter::Native, folder, |listener| {
        let metadata = json!({ "metadata": {
            "filter": "crawlpike",
            "path": [{ "key": "identity" }],
            "value": { "string_match": { "exact": "spoofed" } },
        } });
        let rbac = json!({
            "name": "envoy.filters.http.rbac",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC",
                "rules": { "action": "DENY", "policies": { "spoofed": {
                    "permissions": [{ "any": true }], "principals": [metadata],
                } } },
            },
        });
        let filters = manager(listener)["http_filters"].as_array_mut().expect("its filters");
        filters.insert(1, rbac);
    });
    // Crawlpike observes; the other filter denies by what it says.
    let denied = gate.ask(&spoofed("/"));
    assert_eq!((denied.status, denied.text().as_str()), (403, "RBAC: access denied"));
    assert_eq!((gate.status(&verified("/")), gate.status(&person("/"))), (200, 200));
}

#[test]
fn counters_have_labels_without_stats_tags() {
    let gate = start();
    for request in [verified("/"), verified("/"), spoofed("/"), person("/")] {
        gate.ask(&request);
    }
    for (labels, count) in [
        (r#"action="allow",enforced="true",reason="allowed",identity="verified",agent="LabBot",site="""#, 2),
        (
            r#"action="deny",enforced="true",reason="spoofed-agent",identity="spoofed",agent="LabBot",site="""#,
            1,
        ),
        (r#"action="allow",enforced="true",reason="not-automated",identity="none",agent="",site="""#, 1),
    ] {
        wait_for_value(&gate, &format!("crawlpike_requests_total{{{labels}}}"), count);
    }
}

/// One ruleset, whatever the number of listeners and workers.
#[test]
fn listeners_share_the_ruleset_of_a_file() {
    let (folder, origin) = (lab(), Origin::start());
    let document = folder.path().join("crawlpike.json");
    let listeners: Vec<_> = (0..3)
        .map(|number| Listener {
            port: free_port(),
            filter: Filter::Native.with(&folder, &document),
            access_log: format!("{number}.log"),
        })
        .collect();
    let envoy = Envoy::start(folder, &listeners, origin.port());
    let statuses = || listeners.iter().map(|listener| ask(listener.port, &spoofed("/")).status);
    assert!(statuses().all(|status| status == 403));
    envoy.folder().write("crawlpike.json", DOCUMENT.replace("enforce", "observe"));
    wait_for("the new document, everywhere", || statuses().all(|status| status == 200).then_some(()));
    wait_for("one reload", || {
        let page = envoy.admin("/stats/prometheus");
        page.contains("crawlpike_reloads_total{result=\"success\"} 1\n").then_some(())
    });
}

/// As an Envoy of before 1.38 is; here there is none of its functions at all.
#[test]
fn a_host_that_lacks_what_the_module_needs_is_told_so_and_the_module_refuses() {
    let host = "import ctypes, sys\nstart = ctypes.CDLL(sys.argv[1]).envoy_dynamic_module_on_program_init\n\
                start.restype = ctypes.c_char_p\nprint(start())";
    let output = Command::new("python3").args(["-c", host]).arg(artefacts::envoy_module()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "None\n", "the version of an ABI");
    let found = String::from_utf8_lossy(&output.stderr);
    let start = "crawlpike: this Envoy lacks functions that the module needs (log_enabled, log, http_get_headers_size, ";
    assert!(found.starts_with(start), "{found}");
    assert!(found.trim_end().ends_with("); use Envoy 1.38 or later, or the Wasm filter"), "{found}");
    // Functions of newer versions are not needed.
    assert!(!found.contains("http_filter_config_set_gauge"), "{found}");
    assert_eq!(output.status.code(), Some(0), "{found}");
}

/// Images of Envoy have the C library, and little else.
#[test]
fn the_module_needs_nothing_but_the_c_library() {
    let mut readelf = Command::new("readelf");
    readelf.args(["--dynamic", "--version-info", "--wide"]).arg(artefacts::envoy_module());
    let output = readelf.output().expect("readelf, of binutils, which gcc needs");
    let text = String::from_utf8_lossy(&output.stdout);
    let needed: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("(NEEDED)"))
        .filter_map(|line| Some(line.split_once('[')?.1.trim_end().trim_end_matches(']')))
        .collect();
    // The loader is part of the C library, and every process has it.
    let others: Vec<_> = needed.iter().filter(|name| !name.starts_with("ld-linux-")).collect();
    assert_eq!(others, [&"libc.so.6"], "{text}");
    let versions = text.split_whitespace().filter_map(|word| word.strip_prefix("GLIBC_2."));
    let newest = versions.filter_map(|version| version.parse::<u32>().ok()).max();
    // As in docs/envoy.md.
    assert!(newest <= Some(35), "needs glibc 2.{newest:?}");
}
