//! Values that mean nothing are refused, and what a release says of itself.

use std::process::{Command, Output};

use crawlpike_tests::artefacts;
use crawlpike_tests::manifests::documents;
use crawlpike_tests::nginx::Folder;
use serde_json::{Value, json};

use crate::{chart, find, helm, render, render_with};

fn refused(arguments: &[&str]) -> String {
    let output = helm(&[&["template", "edge", "."], arguments].concat());
    assert!(!output.status.success(), "accepted: {arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn values_that_mean_nothing_are_refused() {
    let all = ["--set", "image.registry=registry.example"];
    for (set, said) in [
        ("istio.enabled=true,istio.form=native", "istio.gateway or istio.selector is required"),
        ("nginx.enable=true", "'enable'"),
        ("nginx.refresh=often", "/nginx/refresh"),
        ("nginx.enabled=true", "nginx.upstream is required"),
        ("nginx.upstream=app:8080", "/nginx/upstream"),
        ("nginx.upstream=http://app:8080/", "/nginx/upstream"),
        ("nginx.minAvailable=most", "/nginx/minAvailable"),
        ("updater.schedule=@", "/updater/schedule"),
        ("istio.enabled=true", "istio.gateway or istio.selector is required"),
        ("istio.enabled=true,istio.gateway=web,istio.selector.istio=ingress", "exclude each other"),
        ("istio.enabled=true,istio.gateway=web,policy.files.robots=\u{7f}", "control characters"),
        ("istio.wasm.failStrategy=FAIL_SLOWLY", "/istio/wasm/failStrategy"),
        ("envoyGateway.enabled=true", "envoyGateway.gateway is required"),
        ("envoyGateway.form=lua", "/envoyGateway/form"),
        ("policy.files.a/b=c", "'a/b'"),
        ("updater.image.digest=latest", "/updater/image/digest"),
    ] {
        let error = refused(&[&all[..], &["--set", set]].concat());
        assert!(error.contains(said), "{set}: {error}");
    }
    assert!(refused(&[]).contains("image.registry is required"));
}

#[test]
fn what_the_updater_fetches_is_where_it_can_write() {
    let release = |source: &str, more: &[&str]| -> Vec<Output> {
        let url = "https://origin.example/file";
        let documents = [
            json!({ "feeds": [{ "name": "a", "format": "cidr", "source": source, "url": url }] }),
            json!({ "networks": [{ "name": "a", "format": "ipverse", "source": source, "url": url }] }),
            json!({ "agents": [{ "token": "ABot", "keys": [{ "directory": url, "source": source }] }] }),
            json!({ "sites": [{ "robots_txt": source, "robots_txt_url": url }] }),
            json!({ "sites": [{ "automation_preferences": source, "automation_preferences_url": url }] }),
        ];
        let render = |document| {
            let document = format!("policy.document={document}");
            let all = ["template", "edge", ".", "--set", "image.registry=registry.example"];
            helm(&[&all[..], &["--set-json", &document], more].concat())
        };
        documents.map(render).into()
    };
    for output in release("file.txt", &[]) {
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(r#""file.txt" and cannot write it there"#), "{error}");
    }
    for output in release("/var/lib/crawlpike/file.txt", &[]) {
        assert!(output.status.success(), "{output:?}");
    }
    for output in release("file.txt", &["--set", "updater.enabled=false"]) {
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn an_upgrade_keeps_what_the_updater_has_fetched() {
    // The chart, with a template that takes the live document from a value: no test has a cluster.
    let folder = Folder::new();
    let copy = folder.path().join("crawlpike");
    assert!(Command::new("cp").arg("-r").arg(chart()).arg(&copy).status().unwrap().success());
    folder.write(
        "crawlpike/templates/live.yaml",
        r#"{{ include "crawlpike.inlined" (dict "root" . "live" .Values.global.live) }}"#,
    );
    let fetched = "/var/lib/crawlpike/robots.txt";
    let live = json!({ "files": { (fetched): { "text": "fetched" }, "robots.txt": { "text": "old" } } });
    let inlined = |more: &[&str]| {
        let live = format!("global.live={live}");
        let values = "ci/istio-wasm-values.yaml";
        let arguments = ["template", copy.to_str().unwrap(), "--values", values, "--set-json", &live];
        let output = helm(&[&arguments[..], &["--show-only", "templates/live.yaml"], more].concat());
        documents(&String::from_utf8(output.stdout).unwrap()).remove(0)["files"].clone()
    };
    assert_eq!(inlined(&[])[fetched]["text"], "fetched");
    assert!(inlined(&[])["robots.txt"]["text"].as_str().unwrap().contains("Disallow"));
    assert!(inlined(&["--set", "updater.enabled=false"])[fetched].is_null());
}

#[test]
fn the_feeds_and_keys_of_the_catalog_are_those_of_init() {
    let output = helm(&["template", "edge", ".", "--set", "image.registry=registry.example"]);
    let manifests = documents(&String::from_utf8(output.stdout).unwrap());
    let document =
        find(&manifests, "ConfigMap", "edge-crawlpike-policy")["data"]["crawlpike.json"].as_str().unwrap();
    let document: Value = serde_json::from_str(document).unwrap();

    let folder = Folder::new();
    let mut init = Command::new(artefacts::cli());
    assert!(init.arg("init").arg(folder.path().join("new")).output().unwrap().status.success());
    let expected = folder.read("new/crawlpike.json");
    let expected = ["\"feeds/", "\"keys/"]
        .iter()
        .fold(expected, |text, from| text.replace(from, "\"/var/lib/crawlpike/"));
    let mut expected: Value = serde_json::from_str(&expected).unwrap();
    // The chart has no copies, which are in force for longer: the updater fetches the feeds at once.
    for feed in expected["feeds"].as_array_mut().unwrap() {
        feed["max_age"] = "7d".into();
    }
    assert_eq!(document["feeds"], expected["feeds"], "write them to files/catalog-feeds.json");
    assert_eq!(document["agents"], expected["agents"], "write them to files/catalog-agents.json");

    // Some of our own, and none of them.
    let own = r#"policy.document={
        "feeds": [{"name":"google-googlebot","format":"cidr","source":"mine.txt"}],
        "agents": [
            {"token":"chatgpt agent","keys":[]},
            {"token":"YouBot","purposes":["search"]},
            {"token":"MyBot"}
        ]
    }"#;
    let rendered = |more: &[&str]| -> (Vec<Value>, Vec<Value>) {
        let manifests = render_with("nginx", &[&["--set-json", own], more].concat());
        let document =
            find(&manifests, "ConfigMap", "edge-crawlpike-policy")["data"]["crawlpike.json"].clone();
        let document: Value = serde_json::from_str(document.as_str().unwrap()).unwrap();
        let list = |name: &str| document[name].as_array().unwrap().clone();
        (list("feeds"), list("agents"))
    };
    let (feeds, agents) = rendered(&[]);
    assert_eq!(feeds.len(), expected["feeds"].as_array().unwrap().len());
    assert_eq!(feeds.iter().filter(|feed| feed["name"] == "google-googlebot").count(), 1);
    let known = expected["agents"].as_array().unwrap();
    assert_eq!(agents.len(), known.len() + 1);
    assert_eq!(agents[0]["keys"], serde_json::json!([]));
    let of_catalog = known.iter().find(|agent| agent["token"] == "YouBot").unwrap();
    assert_eq!((&agents[1]["keys"], &agents[1]["purposes"][0]), (&of_catalog["keys"], &"search".into()));
    let (feeds, agents) = rendered(&["--set", "updater.catalogFeeds=false"]);
    assert_eq!((feeds.len(), agents.len()), (1, 3));
}

#[test]
fn a_change_of_the_policy_runs_the_updater_once() {
    let job = |more: &[&str]| {
        let manifests = render_with("nginx", more);
        let jobs: Vec<&Value> = manifests.iter().filter(|one| one["kind"] == "Job").collect();
        assert_eq!(jobs.len(), 1);
        jobs[0]["metadata"]["name"].as_str().unwrap().to_owned()
    };
    let name = job(&[]);
    // A Job is immutable: GitOps tools apply the same one again and again.
    assert_eq!(job(&["--set", "nginx.replicas=7"]), name);
    assert_ne!(job(&["--set", "policy.document.mode=observe"]), name);
    assert_ne!(job(&["--set", "policy.files.other=text"]), name);
    assert_ne!(job(&["--set", "updater.image.tag=v9"]), name);
    // Gates that wait for a key of their own.
    assert_ne!(job(&["--set", "nginx.enabled=false"]), name);
    assert_ne!(job(&["--set", "istio.enabled=true,istio.gateway=web,istio.form=native"]), name);
}

#[test]
fn a_name_of_digits_stays_a_name() {
    let output = helm(&["template", "2024", ".", "--set", "image.registry=registry.example"]);
    let manifests = documents(&String::from_utf8(output.stdout).unwrap());
    let labels = &find(&manifests, "ConfigMap", "2024-crawlpike-policy")["metadata"]["labels"];
    assert_eq!(labels["app.kubernetes.io/instance"], "2024");
}

#[test]
fn pods_have_no_more_rights_than_they_need() {
    for set in ["nginx", "envoy-gateway-wasm"] {
        for manifest in render(set) {
            let pod = match manifest["kind"].as_str().unwrap() {
                "Deployment" | "Job" => &manifest["spec"]["template"]["spec"],
                "CronJob" => &manifest["spec"]["jobTemplate"]["spec"]["template"]["spec"],
                "Role" => {
                    for rule in manifest["rules"].as_array().unwrap() {
                        assert_eq!(rule["verbs"], json!(["get", "patch"]));
                        assert_eq!(rule["resourceNames"].as_array().unwrap().len(), 1, "{rule}");
                    }
                    continue;
                }
                _ => continue,
            };
            assert_eq!(pod["automountServiceAccountToken"], false);
            assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
            let containers = ["containers", "initContainers"];
            let containers = containers.iter().filter_map(|key| pod[key].as_array()).flatten();
            for container in containers {
                let security = &container["securityContext"];
                assert_eq!(security["readOnlyRootFilesystem"], true, "{}", container["name"]);
                assert_eq!(security["allowPrivilegeEscalation"], false);
                assert_eq!(security["capabilities"]["drop"][0], "ALL");
                let mounts = container["volumeMounts"].as_array().unwrap();
                let has_token = mounts.iter().any(|mount| mount["name"] == "token");
                let publishes = container["name"].as_str().unwrap().starts_with("publish");
                assert_eq!(has_token, publishes, "{}: a token is for those who publish", container["name"]);
            }
        }
    }
}

#[test]
fn the_notes_say_what_to_do_next() {
    let notes = |set: &str| {
        let file = format!("ci/{set}-values.yaml");
        let output =
            helm(&["install", "edge", ".", "--dry-run=client", "--namespace", "gates", "--values", &file]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_once("NOTES:").unwrap_or_else(|| panic!("{set}: {text}")).1.to_owned()
    };
    for (set, line) in [
        ("nginx", "port-forward service/edge-crawlpike-nginx 8080:80"),
        ("envoy-gateway-wasm", "--namespace web get envoyextensionpolicy edge-crawlpike"),
        ("envoy-gateway-wasm", "add --force-conflicts to each helm upgrade"),
        ("envoy-gateway-native", r#""kind":"EnvoyProxy","name":"edge-crawlpike""#),
        ("istio-native-gateway", r#""kind":"ConfigMap","name":"edge-crawlpike-gateway""#),
        ("istio-native", "Mount the ConfigMap \"edge-crawlpike-ruleset\""),
        ("istio-wasm", "proxy-config ecds"),
    ] {
        assert!(notes(set).contains(line), "{set}: {}", notes(set));
    }
}
