//! The updater: its commands, with the real programs, in the order of the Job.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use base64::prelude::{BASE64_STANDARD, Engine};
use crawlpike_core::{NoFiles, Ruleset};
use crawlpike_tests::artefacts;
use crawlpike_tests::manifests::definitions::core_mistakes;
use crawlpike_tests::manifests::documents;
use crawlpike_tests::nginx::Folder;
use crawlpike_tests::publisher::{Authority, Publisher, VALID, respond, trust};
use serde_json::{Value, json};

use crate::{command, find, mount, render, render_with};

/// The pod of the updater, in a folder that has its volumes.
pub(crate) struct Pod {
    pub(crate) folder: Folder,
    spec: Value,
    authority: Authority,
}

impl Pod {
    pub(crate) fn new(manifests: &[Value]) -> Self {
        let folder = Folder::new();
        mount(find(manifests, "ConfigMap", "edge-crawlpike-policy"), &folder, "etc/crawlpike");
        mount(find(manifests, "ConfigMap", "edge-crawlpike-updater"), &folder, "work");
        for directory in ["var/lib/crawlpike", "tmp"] {
            fs::create_dir_all(folder.path().join(directory)).unwrap();
        }
        let spec = &find(manifests, "CronJob", "edge-crawlpike-update")["spec"]["jobTemplate"]["spec"];
        Self { folder, spec: spec["template"]["spec"].clone(), authority: Authority::new() }
    }

    /// A text with the paths of the folder in place of those in a container.
    pub(crate) fn moved(&self, text: &str) -> String {
        let root = self.folder.path().display();
        let mut text = text.to_owned();
        for path in ["/etc/crawlpike", "/var/lib/crawlpike", "/work"] {
            text = text.replace(path, &format!("{root}{path}"));
        }
        text
    }

    /// Makes the policy what the folder needs: with its own paths, and the feeds of a publisher.
    pub(crate) fn prepare(&self, change: impl FnOnce(&mut Value)) {
        let name = "etc/crawlpike/crawlpike.json";
        let mut document: Value = serde_json::from_str(&self.moved(&self.folder.read(name))).unwrap();
        change(&mut document);
        self.folder.write(name, document.to_string());
    }

    fn container(&self, name: &str) -> &Value {
        let containers = [&self.spec["initContainers"], &self.spec["containers"]];
        let mut containers = containers.iter().flat_map(|list| list.as_array().unwrap());
        containers.find(|one| one["name"] == name).unwrap_or_else(|| panic!("no container {name}"))
    }

    /// Runs a container whose program is the command line.
    pub(crate) fn run(&self, name: &str) -> Output {
        let words = command(self.container(name));
        let ["crawlpike", arguments @ ..] = &words[..] else { panic!("{words:?}") };
        let mut command = Command::new(artefacts::cli());
        trust(&mut command, &self.authority.file());
        command.args(arguments.iter().map(|word| self.moved(word)));
        command.env("TMPDIR", self.folder.path().join("tmp")).output().unwrap()
    }

    pub(crate) fn succeeds(&self, name: &str) -> String {
        let output = self.run(name);
        assert!(output.status.success(), "{name}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

fn kubectl(arguments: &[&str], folder: &Path) -> Value {
    let mut command = Command::new(artefacts::kubectl());
    // No cluster of this machine.
    command.env("KUBECONFIG", "/dev/null").env("HOME", folder).args(arguments);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    documents(&String::from_utf8(output.stdout).unwrap()).remove(0)
}

/// A publisher of one list.
fn publisher(pod: &Pod, list: &'static str) -> Publisher {
    Publisher::https(pod.authority.identity(VALID), move |_, connection| {
        respond(connection, "200 OK", &[], list)
    })
}

/// The policy of the value sets, with a feed that the publisher has.
fn with_feed(publisher: &Publisher, pod: &Pod) {
    pod.prepare(|document| {
        document["feeds"] = json!([
            { "name": "partners", "format": "cidr", "source": "partners.txt" },
            { "name": "lab", "format": "cidr", "source": pod.moved("/var/lib/crawlpike/lab.txt"), "url": publisher.url("/lab.txt") },
            { "name": "gone", "format": "cidr", "source": pod.moved("/var/lib/crawlpike/gone.txt"), "url": "https://127.0.0.1:9/" },
        ]);
        let agents = document["agents"].as_array_mut().unwrap();
        // Those of the catalog, whose directories are elsewhere.
        agents.retain(|agent| agent["keys"].is_null());
        agents.push(json!({ "token": "LabBot", "feeds": ["lab"] }));
    });
}

#[test]
fn the_job_publishes_the_ruleset_whatever_a_publisher_does() {
    let pod = Pod::new(&render("envoy-gateway-native"));
    let publisher = publisher(&pod, "198.51.100.0/24\n");
    with_feed(&publisher, &pod);
    // Each container after the other, as in the pod.
    assert!(pod.succeeds("update").contains("1 updated"));
    pod.succeeds("compile");

    // The manifests that `kubectl apply --kustomize` sends.
    let words = command(pod.container("publish"));
    assert_eq!(words[..2], ["kubectl", "apply"]);
    assert!(words.contains(&"--server-side") && words.contains(&"--kustomize=/work"), "{words:?}");
    let work = pod.folder.path().join("work");
    let published = kubectl(&["kustomize", work.to_str().unwrap()], pod.folder.path());
    assert_eq!(core_mistakes(&published, "1.37"), [""; 0]);
    let manifests = render("envoy-gateway-native");
    let empty = find(&manifests, "ConfigMap", "edge-crawlpike-ruleset");
    for key in ["name", "namespace"] {
        assert_eq!(published["metadata"][key], empty["metadata"][key]);
    }
    let text: String =
        published["binaryData"]["crawlpike.bin.gz"].as_str().unwrap().split_whitespace().collect();
    let bytes = BASE64_STANDARD.decode(text).unwrap();
    assert_eq!(bytes, fs::read(work.join("crawlpike.bin.gz")).unwrap());
    let ruleset =
        crawlpike_files::compile(&work.join("crawlpike.bin.gz"), &NoFiles).unwrap().ruleset.unwrap();
    for address in ["198.51.100.1", "192.0.2.1"] {
        assert_eq!(ruleset.lookup(address.parse().unwrap()).count(), 1, "{address}");
    }

    // A policy that does not compile is not published.
    fs::remove_file(work.join("crawlpike.bin.gz")).unwrap();
    pod.prepare(|document| document["mode"] = "enforced".into());
    assert_eq!(pod.run("compile").status.code(), Some(2));
    assert!(!work.join("crawlpike.bin.gz").exists());
}

#[test]
fn the_job_patches_the_resources_of_wasm_filters() {
    for (set, kind, name, place) in [
        ("envoy-gateway-wasm", "EnvoyExtensionPolicy", "envoy-gateway", "/spec/wasm/0/config"),
        ("istio-wasm", "WasmPlugin", "istio", "/spec/pluginConfig"),
        ("istio-traffic-extension", "TrafficExtension", "istio", "/spec/wasm/pluginConfig"),
    ] {
        let manifests = render(set);
        let manifest = find(&manifests, kind, "edge-crawlpike");
        let pod = Pod::new(&manifests);
        let publisher = publisher(&pod, "198.51.100.0/24\n");
        with_feed(&publisher, &pod);
        pod.succeeds("update");
        pod.succeeds(&format!("patch-{name}"));

        let words = command(pod.container(&format!("publish-{name}")));
        let [_, "patch", resource, "edge-crawlpike", namespace, ..] = &words[..] else { panic!("{words:?}") };
        assert_eq!(
            resource.split('.').next().unwrap().trim_end_matches('s'),
            kind.to_lowercase().trim_end_matches('y').replace("polic", "policie")
        );
        assert_eq!(namespace.strip_prefix("--namespace="), manifest["metadata"]["namespace"].as_str());
        assert!(
            words.contains(&"--type=json") && words.contains(&&*format!("--patch-file=/work/{name}.json"))
        );
        // kubectl itself, without a cluster.
        let file = pod.folder.write("manifest.json", manifest.to_string());
        let patch = pod.folder.path().join(format!("work/{name}.json"));
        let (file, patch) =
            (format!("--filename={}", file.display()), format!("--patch-file={}", patch.display()));
        let patched =
            kubectl(&["patch", "--local", &file, "--type=json", &patch, "--output=json"], pod.folder.path());

        let document = patched.pointer(place).unwrap();
        let ruleset = Ruleset::compile(set, document.to_string().as_bytes(), &NoFiles).ruleset.unwrap();
        for address in ["198.51.100.1", "192.0.2.1"] {
            assert_eq!(ruleset.lookup(address.parse().unwrap()).count(), 1, "{set}: {address}");
        }
        // The rest stays.
        let mut expected = manifest.clone();
        *expected.pointer_mut(place).unwrap() = document.clone();
        assert_eq!(patched, expected);
        // The role allows just this.
        let namespace = manifest["metadata"]["namespace"].as_str().unwrap();
        let mut roles =
            manifests.iter().filter(|one| one["kind"] == "Role" && one["metadata"]["namespace"] == namespace);
        let rules = roles.next().unwrap()["rules"].as_array().unwrap();
        let plural = resource.split('.').next().unwrap();
        assert!(
            rules
                .iter()
                .any(|rule| rule["resources"][0] == plural && rule["resourceNames"][0] == "edge-crawlpike"),
            "{rules:?}"
        );
    }
}

#[test]
fn without_the_updater_there_is_none_of_it() {
    let manifests = render("nginx-without-updater");
    for kind in ["CronJob", "Job", "Role", "RoleBinding", "ServiceAccount", "PersistentVolumeClaim"] {
        assert!(manifests.iter().all(|one| one["kind"] != kind), "{kind}");
    }
    let claim = |more: &[&str]| {
        let manifests = render_with("nginx", more);
        let spec =
            find(&manifests, "CronJob", "edge-crawlpike-update")["spec"]["jobTemplate"]["spec"].clone();
        let volumes = spec["template"]["spec"]["volumes"].as_array().unwrap().clone();
        let claimed = volumes
            .iter()
            .find_map(|one| one["persistentVolumeClaim"]["claimName"].as_str())
            .unwrap()
            .to_owned();
        (claimed, manifests.iter().filter(|one| one["kind"] == "PersistentVolumeClaim").count())
    };
    assert_eq!(claim(&[]), ("feeds".to_owned(), 0));
    assert_eq!(
        claim(&["--set", "updater.persistence.existingClaim="]),
        ("edge-crawlpike-feeds".to_owned(), 1)
    );
}
