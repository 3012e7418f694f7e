use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crawlward_core::{NoFiles, Ruleset};

use crate::fixture::{CONFIG, Done, Folder, GOOGLEBOT, WARNING};

fn envoy(folder: &Folder, arguments: &[&str]) -> Done {
    folder.write("crawlward.wasm", "\0asm");
    let envoy = ["envoy", "--config", "crawlward.json", "--wasm", "crawlward.wasm"];
    folder.run(&[&envoy[..], arguments].concat())
}

/// The document in a resource, compiled as the filter compiles it.
fn compiled(wasm_filter: &Value) -> (String, Ruleset, String) {
    let document = wasm_filter["config"]["configuration"]["value"].as_str().unwrap().to_string();
    let compiled = Ruleset::compile("crawlward.json", document.as_bytes(), &NoFiles);
    let said = compiled.diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect();
    (document, compiled.ruleset.unwrap(), said)
}

#[test]
fn the_resource_carries_the_document_with_its_files() {
    let folder = Folder::new();
    let done = envoy(&folder, &[]);
    assert_eq!((done.status, &*done.stderr), (0, WARNING));
    let response: Value = serde_json::from_str(&done.stdout).unwrap();
    let resource = &response["resources"][0];
    assert_eq!(resource["@type"], "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig");
    assert_eq!(resource["name"], "crawlward");
    let filter = &resource["typed_config"];
    assert_eq!(filter["@type"], "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm");
    assert_eq!(filter["config"]["root_id"], "crawlward");
    assert_eq!(filter["config"]["failure_policy"], "FAIL_RELOAD");
    assert_eq!(filter["config"]["vm_config"]["runtime"], "envoy.wasm.runtime.v8");
    let wasm = filter["config"]["vm_config"]["code"]["local"]["filename"].as_str().unwrap();
    assert!(wasm.starts_with('/') && wasm.ends_with("/crawlward.wasm"), "{wasm}");
    let (document, ruleset, said) = compiled(filter);
    // The rest of the document stays as it is: what Envoy logs about it has the positions of the original.
    assert!(document.starts_with(CONFIG.trim_end().strip_suffix('}').unwrap()), "{document}");
    assert_eq!(said, WARNING);
    assert_eq!(ruleset.lookup(GOOGLEBOT.parse().unwrap()).count(), 1);
}

#[test]
fn a_static_filter_has_its_name_and_the_same_configuration() {
    let folder = Folder::new();
    let done = envoy(&folder, &["--format", "filter", "--name", "bots"]);
    let filter: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(filter["name"], "bots");
    assert_eq!(filter["typed_config"]["config"]["name"], "bots");
    assert_eq!(filter["typed_config"]["config"]["root_id"], "crawlward");
    compiled(&filter["typed_config"]);
}

#[test]
fn files_of_the_document_win_over_those_beside_it() {
    let folder = Folder::new();
    let files = r#", "files": { "partners.txt": { "text": "192.0.2.1\n" } }, "mode": "observe" }"#;
    let feeds = r#""feeds": [ { "name": "p", "format": "cidr", "source": "partners.txt" },
                               { "name": "googlebot", "format": "jafar", "source": "googlebot.json" } ]"#;
    folder.write("crawlward.json", format!("\u{feff}{{ {feeds}{files}"));
    folder.write("partners.txt", "198.51.100.1\n");
    let done = envoy(&folder, &["--format", "filter"]);
    let filter: Value = serde_json::from_str(&done.stdout).unwrap();
    let (_, ruleset, said) = compiled(&filter["typed_config"]);
    assert_eq!(said, "");
    let feeds_with = |address: &str| ruleset.lookup(address.parse().unwrap()).count();
    assert_eq!(["192.0.2.1", "198.51.100.1", GOOGLEBOT].map(feeds_with), [1, 0, 1]);
}

#[test]
fn documents_without_keys_or_with_an_own_catalog_are_inlined_too() {
    let folder = Folder::new();
    folder.write("catalog.json", r#"{ "agents": [ { "token": "OwnBot" } ] }"#);
    for (document, token) in [("{}\n", "Googlebot"), (r#"{"catalog":"catalog.json"}"#, "OwnBot")] {
        folder.write("crawlward.json", document);
        let done = envoy(&folder, &["--format", "filter"]);
        let filter: Value = serde_json::from_str(&done.stdout).unwrap();
        let (_, ruleset, _) = compiled(&filter["typed_config"]);
        assert!(ruleset.agents().any(|agent| agent.token == token), "{document}");
    }
}

#[test]
fn the_version_changes_with_the_content_and_only_then() {
    let folder = Folder::new();
    let version = || {
        let response: Value = serde_json::from_str(&envoy(&folder, &[]).stdout).unwrap();
        response["version_info"].as_str().unwrap().to_string()
    };
    let first = version();
    assert_eq!(version(), first);
    folder.write("partners.txt", "192.0.2.0/24\n");
    assert_ne!(version(), first);
}

#[test]
fn the_output_is_replaced_whole_and_others_may_read_it() {
    let folder = Folder::new();
    folder.write("out.json", "old");
    let done = envoy(&folder, &["--output", "out.json"]);
    assert_eq!((done.status, &*done.stdout), (0, ""));
    assert_eq!(folder.read("out.json"), envoy(&folder, &[]).stdout);
    // The files that the test itself made show what the umask lets through.
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("out.json"), mode("crawlward.json"));
    let names = fs::read_dir(folder.path("")).unwrap().count();
    assert_eq!(names, 4, "a temporary file was left");
}

#[test]
fn nothing_is_written_for_a_configuration_that_is_refused() {
    let folder = Folder::new();
    folder.write("out.json", "old");
    folder.write("googlebot.json", "{\n  \"prefixes\": 5 }");
    let done = envoy(&folder, &["--output", "out.json"]);
    assert_eq!((done.status, &*done.stdout), (2, ""));
    assert!(done.stderr.contains("googlebot.json:2:15: error: "), "{}", done.stderr);
    assert_eq!(folder.read("out.json"), "old");
}

#[test]
fn missing_code_and_unwritable_outputs_are_explained() {
    let folder = Folder::new();
    let done = folder.run(&["envoy", "--config", "crawlward.json", "--wasm", "nowhere.wasm"]);
    assert_eq!((done.status, &*done.stdout), (2, ""));
    assert!(
        done.stderr
            .ends_with("nowhere.wasm, is not there: `make build` makes it, `--wasm FILE` says where it is\n"),
        "{}",
        done.stderr
    );
    for output in ["nowhere/out.json", "."] {
        let done = envoy(&folder, &["--output", output]);
        assert_eq!(done.status, 2);
        assert!(done.stderr.contains(&format!("error: {output} can't be written: ")), "{}", done.stderr);
    }
}
