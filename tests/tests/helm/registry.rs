//! The chart as users install it: an archive in a registry.

use crawlpike_tests::nginx::Folder;
use crawlpike_tests::registry::Registry;

use crate::helm;

#[test]
fn helm_takes_the_chart_from_a_registry() {
    let (registry, archives) = (Registry::start(), Folder::new());
    let run = |arguments: &[&str]| {
        let output = helm(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let folder = archives.path().display().to_string();
    run(&["package", ".", "--destination", &folder]);
    let archive = format!("{folder}/crawlpike-{}.tgz", env!("CARGO_PKG_VERSION"));
    let charts = format!("oci://{}/charts", registry.address());
    run(&["push", &archive, &charts, "--plain-http"]);

    let rendered =
        |chart: &[&str]| run(&[&["template", "edge"], chart, &["--values", "ci/nginx-values.yaml"]].concat());
    let pulled = format!("{charts}/crawlpike");
    let from_registry = rendered(&[&pulled, "--plain-http", "--version", env!("CARGO_PKG_VERSION")]);
    assert_eq!(from_registry, rendered(&["."]));
}
