//! `make test-helm`: the Helm chart in `packaging/helm/crawlpike`. Helm itself renders it, for each set of values in the chart's
//! folder `ci`; what it renders is checked against the definitions of Kubernetes and of the CRDs, and configures real servers.

mod definitions;
mod gates;
mod readme;
mod registry;
mod updater;
mod values;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use crawlpike_tests::artefacts;
use crawlpike_tests::manifests::documents;
use crawlpike_tests::nginx::Folder;
use serde_json::Value;

fn chart() -> PathBuf {
    artefacts::repository().join("packaging/helm/crawlpike")
}

fn helm(arguments: &[&str]) -> Output {
    Command::new(artefacts::helm())
        .current_dir(chart())
        .args(arguments)
        .output()
        .expect("Helm can be started")
}

/// The names of the sets of values.
fn value_sets() -> Vec<String> {
    let entries = fs::read_dir(chart().join("ci")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.map(|name| name.strip_suffix("-values.yaml").expect("a set of values").to_owned()).collect();
    names.sort();
    assert!(names.len() > 5, "{names:?}");
    names
}

/// The manifests of a release `edge` in the namespace `gates`, with a set of values and more arguments.
fn render_with(set: &str, more: &[&str]) -> Vec<Value> {
    let file = format!("ci/{set}-values.yaml");
    let output =
        helm(&[&["template", "edge", ".", "--namespace", "gates", "--values", &file], more].concat());
    assert!(output.status.success(), "{set}: {}", String::from_utf8_lossy(&output.stderr));
    documents(&String::from_utf8(output.stdout).unwrap())
}

fn render(set: &str) -> Vec<Value> {
    render_with(set, &[])
}

/// The one manifest of a kind and name.
fn find<'a>(manifests: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let mut found = manifests.iter().filter(|one| one["kind"] == kind && one["metadata"]["name"] == name);
    let one = found.next().unwrap_or_else(|| panic!("no {kind} {name}"));
    assert!(found.next().is_none(), "two of {kind} {name}");
    one
}

/// Writes the data of a ConfigMap to files, as a volume shows them.
fn mount(config_map: &Value, folder: &Folder, at: &str) {
    for (name, text) in config_map["data"].as_object().expect("data") {
        folder.write(&format!("{at}/{name}"), text.as_str().unwrap());
    }
}

/// The words of a container's command.
fn command(container: &Value) -> Vec<&str> {
    container["command"].as_array().expect("a command").iter().map(|word| word.as_str().unwrap()).collect()
}
