//! The chart's README has the table of its values, made of `values.schema.json` and `values.yaml`.

use std::env;
use std::fmt::Write as _;
use std::fs;

use crawlpike_tests::artefacts;
use serde_json::Value;

use crate::chart;

const BEGIN: &str = "<!-- values: make test-helm WRITE=1 writes this table -->\n";
const END: &str = "<!-- end of values -->\n";

/// The rows of an object's values, whose names begin with this.
fn rows(table: &mut String, prefix: &str, schema: &Value, defaults: &Value) {
    for (name, value) in schema["properties"].as_object().expect("properties") {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let description =
            value["description"].as_str().unwrap_or_else(|| panic!("{path} has no description"));
        if value["properties"].is_object() {
            rows(table, &path, value, &defaults[name]);
            continue;
        }
        // Helm gives `global` to every chart.
        if path == "global" {
            continue;
        }
        let default = &defaults[name];
        assert!(!default.is_null(), "values.yaml has no {path}");
        let _ = writeln!(table, "| `{path}` | {description} | `{default}` |");
    }
}

#[test]
fn the_readme_has_the_table_of_values() {
    let read = |name: &str| fs::read_to_string(chart().join(name)).unwrap();
    let schema: Value = serde_json::from_str(&read("values.schema.json")).unwrap();
    let defaults: Value = serde_saphyr::from_str(&read("values.yaml")).unwrap();
    let mut table = "| value | meaning | default |\n|---|---|---|\n".to_owned();
    rows(&mut table, "", &schema, &defaults);

    let readme = read("README.md");
    let (before, rest) = readme.split_once(BEGIN).expect("where the table begins");
    let (old, after) = rest.split_once(END).expect("where the table ends");
    if env::var_os("CRAWLPIKE_WRITE").is_some() {
        fs::write(chart().join("README.md"), format!("{before}{BEGIN}\n{table}\n{END}{after}")).unwrap();
        return;
    }
    assert_eq!(old.trim(), table.trim(), "run: make test-helm WRITE=1");
}

#[test]
fn the_chart_has_the_version_of_the_workspace() {
    let manifest = fs::read_to_string(artefacts::repository().join("Cargo.toml")).unwrap();
    let version =
        manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"')).unwrap();
    let chart: Value =
        serde_saphyr::from_str(&fs::read_to_string(chart().join("Chart.yaml")).unwrap()).unwrap();
    assert_eq!((&chart["version"], &chart["appVersion"]), (&version.into(), &version.into()));
}
