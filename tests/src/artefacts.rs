//! The paths of the things under test.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The root of the checkout.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in a folder of the repository")
}

/// The text of a file in the repository, with what a test must have otherwise, such as ports. An example that lacks any of it has
/// changed more than its test.
///
/// # Panics
///
/// If the file or one of the old texts is missing.
pub fn adapted(path: &str, changes: &[(&str, String)]) -> String {
    let mut text = fs::read_to_string(repository().join(path)).expect("an example that is there");
    for (old, new) in changes {
        assert!(text.contains(old), "{path} has no {old:?} to replace");
        text = text.replace(old, new);
    }
    text
}

/// The published feeds that ship with the core.
pub fn feeds() -> PathBuf {
    repository().join("core/data/feeds")
}

/// nginx's module.
pub fn nginx_module() -> PathBuf {
    built("ngx_http_crawlpike_module.so")
}

/// Envoy's filter.
pub fn wasm() -> PathBuf {
    built("crawlpike.wasm")
}

/// Envoy's filter that makes documents of pages.
pub fn wasm_documents() -> PathBuf {
    built("crawlpike-documents.wasm")
}

/// Envoy's module.
pub fn envoy_module() -> PathBuf {
    built("libcrawlpike_envoy.so")
}

/// The command line.
pub fn cli() -> PathBuf {
    built("crawlpike")
}

/// Runs `crawlpike compile`.
///
/// # Panics
///
/// If the command can't be started.
pub fn compile_ruleset(config: &Path, to: &Path) -> Output {
    let mut command = Command::new(cli());
    command.arg("compile").arg("--config").arg(config).arg("--output").arg(to);
    command.output().expect("the command line can be started")
}

/// The nginx binary: `$NGINX`, or the one that `.ci/setup` found.
pub fn nginx() -> PathBuf {
    tool("NGINX", "nginx")
}

/// The Envoy binary: `$ENVOY`, or the one that `.ci/setup` installed.
pub fn envoy() -> PathBuf {
    tool("ENVOY", "envoy")
}

/// The Traefik binary: `$TRAEFIK`, or the one that `.ci/setup` installed.
pub fn traefik() -> PathBuf {
    tool("TRAEFIK", "traefik")
}

/// A browser that renders pages without a screen: `$CHROMIUM`, or Debian's. `None` if there is none, which CI must not
/// have.
///
/// # Panics
///
/// In CI, where `.ci/setup images` should have installed it.
pub fn browser() -> Option<PathBuf> {
    let chosen = env::var_os("CHROMIUM").map_or_else(|| PathBuf::from("/usr/bin/chromium"), PathBuf::from);
    if chosen.exists() {
        return Some(chosen);
    }
    assert!(env::var_os("CI").is_none(), "CI has no browser: `.ci/setup images` installs it");
    eprintln!("skipped: `.ci/setup images` installs a browser");
    None
}

/// A Python with the engines that query events. `None` if `.ci/setup engines` has not run, as it must in CI.
///
/// # Panics
///
/// In CI, if there is none.
pub fn python_with_engines() -> Option<PathBuf> {
    let python = repository().join("target/tools/engines/bin/python");
    if python.exists() {
        return Some(python);
    }
    assert!(env::var_os("CI").is_none(), "CI has no engines: `.ci/setup engines` installs them");
    eprintln!("skipped: `.ci/setup engines` installs DuckDB and ClickHouse");
    None
}

/// Helm: `$HELM`, or the one that `.ci/setup helm` installed.
pub fn helm() -> PathBuf {
    tool("HELM", "helm")
}

/// kubectl: `$KUBECTL`, or the one that `.ci/setup helm` installed.
pub fn kubectl() -> PathBuf {
    tool("KUBECTL", "kubectl")
}

/// The schemas of Kubernetes's own kinds, a folder for each version: `$KUBERNETES_SCHEMAS`, or what `.ci/setup helm` installed.
pub fn kubernetes_schemas() -> PathBuf {
    tool("KUBERNETES_SCHEMAS", "kubernetes-schemas")
}

/// The folder of the results of `make build`; `$CRAWLPIKE_DIST` names another folder.
fn built(file: &str) -> PathBuf {
    let folder = env::var_os("CRAWLPIKE_DIST").map_or_else(|| repository().join("dist"), PathBuf::from);
    existing(folder.join(file), "run `make build` first, or set CRAWLPIKE_DIST to a folder that has it")
}

fn tool(variable: &str, name: &str) -> PathBuf {
    let chosen = env::var_os(variable).map(PathBuf::from);
    let path = chosen.unwrap_or_else(|| repository().join("target/tools").join(name));
    existing(path, &format!("run `make setup` first, or set {variable} to the binary"))
}

fn existing(path: PathBuf, advice: &str) -> PathBuf {
    assert!(path.exists(), "{} is missing: {advice}", path.display());
    path
}
