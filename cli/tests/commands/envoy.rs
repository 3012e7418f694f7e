use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::Value;

use crawlpike_core::{Compiled, NoFiles, Ruleset};

use crate::fixture::{CONFIG, Done, Folder, GOOGLEBOT, WARNING};

/// The command with these arguments besides.
pub(crate) fn arguments<'a>(folder: &Folder, more: &[&'a str]) -> Vec<&'a str> {
    folder.write("crawlpike.wasm", "\0asm");
    [&["envoy", "--config", "crawlpike.json", "--wasm", "crawlpike.wasm"], more].concat()
}

fn envoy(folder: &Folder, more: &[&str]) -> Done {
    folder.run(&arguments(folder, more))
}

/// The entry of `http_filters`, with the document in it.
fn filter_with_document(folder: &Folder) -> Value {
    let done = envoy(folder, &["--format", "filter", "--form", "document"]);
    serde_json::from_str(&done.stdout).unwrap()
}

fn resource(text: &str) -> Value {
    serde_json::from_str::<Value>(text).unwrap()["resources"][0].take()
}

fn wasm_filter(done: &Done) -> Value {
    resource(&done.stdout)["typed_config"].take()
}

/// The compiled ruleset of a resource.
fn compiled_ruleset(wasm_filter: &Value) -> Vec<u8> {
    let configuration = &wasm_filter["config"]["configuration"];
    assert_eq!(configuration["@type"], "type.googleapis.com/google.protobuf.BytesValue");
    BASE64_STANDARD.decode(configuration["value"].as_str().unwrap()).unwrap()
}

/// The feeds with an address, in the compiled ruleset of a resource.
fn feeds_with(wasm_filter: &Value, address: &str) -> usize {
    let bytes = compiled_ruleset(wasm_filter);
    let words = bytes.as_chunks().0.iter().map(|word| u32::from_ne_bytes(*word)).collect();
    let ruleset = Compiled::load("configuration", words).ruleset.unwrap();
    ruleset.lookup(address.parse().unwrap()).count()
}

/// The document in a resource, compiled as the filter compiles it.
fn compiled(wasm_filter: &Value) -> (String, Ruleset, String) {
    let document = wasm_filter["config"]["configuration"]["value"].as_str().unwrap().to_string();
    let compiled = Ruleset::compile("crawlpike.json", document.as_bytes(), &NoFiles);
    let said = compiled.diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect();
    (document, compiled.ruleset.unwrap(), said)
}

#[test]
fn the_resource_carries_the_document_with_its_files() {
    let folder = Folder::new();
    let done = envoy(&folder, &["--form", "document"]);
    done.ends(0).says_only(WARNING);
    let response: Value = serde_json::from_str(&done.stdout).unwrap();
    let resource = &response["resources"][0];
    assert_eq!(resource["@type"], "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig");
    assert_eq!(resource["name"], "crawlpike");
    let filter = &resource["typed_config"];
    assert_eq!(filter["@type"], "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm");
    assert_eq!(filter["config"]["root_id"], "crawlpike");
    assert_eq!(filter["config"]["vm_config"]["vm_id"], "crawlpike");
    assert_eq!(filter["config"]["failure_policy"], "FAIL_RELOAD");
    assert_eq!(filter["config"]["reload_config"]["backoff"]["base_interval"], "0.1s");
    assert_eq!(filter["config"]["vm_config"]["runtime"], "envoy.wasm.runtime.v8");
    let wasm = filter["config"]["vm_config"]["code"]["local"]["filename"].as_str().unwrap();
    assert!(wasm.starts_with('/') && wasm.ends_with("/crawlpike.wasm"), "{wasm}");
    let (document, ruleset, said) = compiled(filter);
    // The rest of the document stays as it is: what Envoy logs about it has the positions of the original.
    assert!(document.starts_with(CONFIG.trim_end().strip_suffix('}').unwrap()), "{document}");
    assert_eq!(said, WARNING);
    assert_eq!(ruleset.lookup(GOOGLEBOT.parse().unwrap()).count(), 1);
}

#[test]
fn a_patch_puts_the_document_with_its_files_into_a_resource_of_kubernetes() {
    let folder = Folder::new();
    let patch = |path| folder.run(&["envoy", "--config", "crawlpike.json", "--patch", path]);
    // The filter's code is not needed.
    let done = patch("/spec/wasm/0/config");
    done.ends(0).says_only(WARNING);
    let operations: Value = serde_json::from_str(&done.stdout).unwrap();
    let [operation] = &operations.as_array().unwrap()[..] else { panic!("one operation: {operations}") };
    assert_eq!((&operation["op"], &operation["path"]), (&"add".into(), &"/spec/wasm/0/config".into()));
    let document = operation["value"].to_string();
    let ruleset = Ruleset::compile("patch", document.as_bytes(), &NoFiles).ruleset.unwrap();
    assert_eq!(ruleset.lookup(GOOGLEBOT.parse().unwrap()).count(), 1);

    for path in ["", "/", "spec/pluginConfig"] {
        patch(path).ends(2).prints_only("").says("it must start with \"/\"");
    }
    folder.run(&["compile", "--config", "crawlpike.json", "--output", "crawlpike.bin"]);
    folder
        .run(&["envoy", "--config", "crawlpike.bin", "--patch", "/spec/pluginConfig"])
        .ends(2)
        .says("crawlpike.bin is a compiled ruleset");
}

#[test]
fn a_static_filter_has_its_name_and_the_same_configuration() {
    let folder = Folder::new();
    let done = envoy(&folder, &["--format", "filter", "--name", "bots"]);
    let filter: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(filter["name"], "bots");
    assert_eq!(filter["typed_config"]["config"]["name"], "bots");
    assert_eq!(filter["typed_config"]["config"]["root_id"], "crawlpike");
    assert_eq!(filter["typed_config"]["config"]["failure_policy"], "FAIL_RELOAD");
    assert_eq!(feeds_with(&filter["typed_config"], GOOGLEBOT), 1);
}

#[test]
fn files_of_the_document_win_over_those_beside_it() {
    let folder = Folder::new();
    let files = r#", "files": { "partners.txt": { "text": "192.0.2.1\n" } }, "mode": "observe" }"#;
    let feeds = r#""feeds": [ { "name": "p", "format": "cidr", "source": "partners.txt" },
                               { "name": "googlebot", "format": "jafar", "source": "googlebot.json" } ]"#;
    let agents = r#""agents": [ { "token": "Googlebot", "feeds": ["p", "googlebot"] } ]"#;
    folder.write("crawlpike.json", format!("\u{feff}{{ {agents}, {feeds}{files}"));
    folder.write("partners.txt", "198.51.100.1\n");
    let filter = filter_with_document(&folder);
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
        folder.write("crawlpike.json", document);
        let filter = filter_with_document(&folder);
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
    let second = version();
    assert_ne!(second, first);
    // Envoy takes no notice of new code at the same path, unless the resource is another one.
    let arguments = arguments(&folder, &[]);
    folder.write("crawlpike.wasm", "\0asm, the next release");
    let response: Value = serde_json::from_str(&folder.run(&arguments).stdout).unwrap();
    assert_ne!(response["version_info"], second);
}

#[test]
fn the_ruleset_is_compiled_unless_the_document_is_asked_for() {
    let folder = Folder::new();
    assert_eq!(feeds_with(&wasm_filter(&envoy(&folder, &[])), GOOGLEBOT), 1);
    // A compiled ruleset goes out as it is.
    assert_eq!(folder.run(&["compile", "--config", "crawlpike.json", "--output", "crawlpike.bin"]).status, 0);
    let envoy = ["envoy", "--config", "crawlpike.bin", "--wasm", "crawlpike.wasm"];
    let filter = wasm_filter(&folder.run(&envoy));
    assert_eq!(feeds_with(&filter, GOOGLEBOT), 1);
    assert_eq!(compiled_ruleset(&filter), fs::read(folder.path("crawlpike.bin")).unwrap());
    folder
        .run(&[&envoy[..], &["--form", "document"]].concat())
        .ends(2)
        .says("`--form document` and `--patch` need the document, and crawlpike.bin is a compiled");
}

#[test]
fn what_a_guard_holds_is_not_delivered_until_it_is_accepted() {
    let folder = Folder::new();
    folder.write("partners.txt", "192.0.2.1\n192.0.2.2\n192.0.2.3\n192.0.2.4\n");
    let partners = |more: &[&str]| {
        let of_document = filter_with_document(&folder);
        let (_, ruleset, _) = compiled(&of_document["typed_config"]);
        let done = envoy(&folder, more);
        let counts = ["192.0.2.2", "198.51.100.1"].map(|address| feeds_with(&wasm_filter(&done), address));
        if more.is_empty() {
            let inlined =
                ["192.0.2.2", "198.51.100.1"].map(|address| ruleset.lookup(address.parse().unwrap()).count());
            assert_eq!(inlined, counts, "the document has the version that is in force, too");
        }
        (counts, done.stderr)
    };
    assert_eq!(partners(&[]).0, [1, 0]);
    assert_eq!(folder.read("partners.txt.last-good"), folder.read("partners.txt"));
    folder.write("partners.txt", "198.51.100.1\n");
    let (counts, said) = partners(&[]);
    assert_eq!(counts, [1, 0]);
    assert!(said.contains("the feed `partners` is held"), "{said}");
    assert_eq!(partners(&["--accept", "partners"]).0, [0, 1]);
    assert_eq!(partners(&[]).0, [0, 1]);
    let done = envoy(&folder, &["--accept", "partner"]);
    done.ends(2).prints_only("");
    assert!(
        done.stderr.ends_with("--accept: no feed is named `partner` (did you mean `partners`?)\n"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_document_whose_feed_the_filter_holds_has_a_warning() {
    let folder = Folder::new();
    folder.write("partners.txt", "20.0.0.0/8\n40.0.0.0/8\n60.0.0.0/8\n80.0.0.0/8\n");
    let wide = |form: &str| envoy(&folder, &["--form", form]);
    envoy(&folder, &["--accept", "partners"]).ends(0);
    let warning = "warning: the filter will hold the feed `partners`, which is in force here";
    let says = |done: Done| done.ends(0).stderr.contains(warning);
    assert!(!says(wide("compiled")) && says(wide("document")));
    let config = CONFIG.replace(r#""name": "partners","#, r#""name": "partners", "guard": "off","#);
    assert_ne!(config, CONFIG);
    folder.write("crawlpike.json", &config);
    assert!(!says(wide("document")));
}

#[test]
fn a_folder_for_several_envoys_has_the_code_under_a_name_of_its_own() {
    let folder = Folder::new();
    fs::create_dir(folder.path("xds")).unwrap();
    let deliver = |more: &[&str]| {
        envoy(&folder, &[&["--xds-dir", "xds"], more].concat()).ends(0).prints_only("");
        let mut names: Vec<_> =
            fs::read_dir(folder.path("xds")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names.into_iter().map(|name| name.into_string().unwrap()).collect::<Vec<_>>()
    };
    let hash = "crawlpike-cd5d4935a48c0672.wasm";
    assert_eq!(deliver(&[]), [hash, "crawlpike.json"]);
    assert_eq!(folder.read(&format!("xds/{hash}")), "\0asm");
    let filename = |name: &str| {
        let resource = resource(&folder.read(&format!("xds/{name}.json")));
        assert_eq!(resource["name"], name);
        resource["typed_config"]["config"]["vm_config"]["code"]["local"]["filename"]
            .as_str()
            .unwrap()
            .to_string()
    };
    assert_eq!(filename("crawlpike"), folder.path("xds").join(hash).to_str().unwrap());
    assert_eq!(
        deliver(&["--name", "edge", "--mounted-at", "/etc/xds"]),
        [hash, "crawlpike.json", "edge.json"]
    );
    assert_eq!(filename("edge"), format!("/etc/xds/{hash}"));
    // A file with the same content is not touched: its readers would read it again.
    let inode = |name: &str| fs::metadata(folder.path(name)).unwrap().ino();
    let before = ["xds/crawlpike.json", "xds/crawlpike-cd5d4935a48c0672.wasm"].map(inode);
    deliver(&[]);
    assert_eq!(["xds/crawlpike.json", "xds/crawlpike-cd5d4935a48c0672.wasm"].map(inode), before);
}

#[test]
fn the_code_can_be_in_the_resource() {
    let folder = Folder::new();
    let filter = wasm_filter(&envoy(&folder, &["--inline-wasm"]));
    let local = &filter["config"]["vm_config"]["code"]["local"];
    assert_eq!(local, &serde_json::json!({ "inline_bytes": BASE64_STANDARD.encode("\0asm") }));
}

/// Without this key, Envoy holds the body back as long as the filter holds the head back. Older ones do not know it.
#[test]
fn a_filter_that_takes_bodies_gets_them() {
    let folder = Folder::new();
    let filter = wasm_filter(&envoy(&folder, &[]));
    assert_eq!(filter["config"].get("allow_on_headers_stop_iteration"), None);
    folder.write("documents.wasm", "\0asm, and proxy_on_response_body");
    let done = folder.run(&["envoy", "--config", "crawlpike.json", "--wasm", "documents.wasm"]);
    assert_eq!(wasm_filter(&done)["config"]["allow_on_headers_stop_iteration"], true);
}

#[test]
fn yaml_is_written_where_the_name_or_the_option_says_so() {
    let folder = Folder::new();
    let json: Value = serde_json::from_str(&envoy(&folder, &["--form", "document"]).stdout).unwrap();
    for (arguments, file) in [
        (&["--output", "out.yaml"][..], "out.yaml"),
        (&["--output", "out.yml"], "out.yml"),
        (&["--output", "out", "--syntax", "yaml"], "out"),
    ] {
        envoy(&folder, &[arguments, &["--form", "document"]].concat());
        let text = folder.read(file);
        assert!(text.starts_with("resources:\n"), "{text}");
        assert_eq!(serde_saphyr::from_str::<Value>(&text).unwrap(), json, "{file}");
    }
    let text = envoy(&folder, &["--syntax", "yaml"]).stdout;
    let yaml: Value = serde_saphyr::from_str(&text).unwrap();
    assert_eq!(yaml, serde_json::from_str::<Value>(&envoy(&folder, &[]).stdout).unwrap());
    envoy(&folder, &["--output", "out.yaml", "--syntax", "json"]);
    assert!(folder.read("out.yaml").starts_with('{'));
}

#[test]
fn the_output_is_replaced_whole_and_others_may_read_it() {
    let folder = Folder::new();
    folder.write("out.json", "old");
    envoy(&folder, &["--output", "out.json"]).ends(0).prints_only("");
    assert_eq!(folder.read("out.json"), envoy(&folder, &[]).stdout);
    // The files that the test itself made show what the umask lets through.
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("out.json"), mode("crawlpike.json"));
    let names = fs::read_dir(folder.path("")).unwrap().count();
    assert_eq!(names, 5, "with googlebot.json.last-good, and no temporary file");
}

#[test]
fn missing_code_and_unwritable_outputs_are_explained() {
    let folder = Folder::new();
    let done = folder.run(&["envoy", "--config", "crawlpike.json", "--wasm", "nowhere.wasm"]);
    done.ends(2).prints_only("");
    assert!(
        done.stderr
            .ends_with("there is no file nowhere.wasm; give the filter's code with --wasm FILE, or build it with `make build`\n"),
        "{}",
        done.stderr
    );
    for output in ["nowhere/out.json", "."] {
        envoy(&folder, &["--output", output]).ends(2).says(&format!("error: cannot write {output}: "));
    }
}
