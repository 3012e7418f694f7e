//! The files that `docker build` sends to the engine: `.dockerignore` excludes those that no program needs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crawlpike_tests::artefacts;

use crate::engine::{docker, images};

/// The sources of what cargo built, by the lists that it writes beside a program: those of the dependencies from crates.io are
/// not in them.
fn sources(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "d") {
            continue;
        }
        let list = fs::read_to_string(&path).unwrap();
        let (_, files) = list.split_once(": ").unwrap_or_default();
        let root = artefacts::repository().canonicalize().unwrap();
        // A list of an older build has files that are gone.
        let files = files.split_whitespace().filter_map(|file| fs::canonicalize(file).ok());
        found.extend(files.filter_map(|file| Some(file.strip_prefix(&root).ok()?.display().to_string())));
    }
}

#[test]
fn the_context_has_all_that_programs_are_compiled_from() {
    let images = images();
    let tag = "crawlpike-test-sources";
    images.build_stage("cli", "command", tag);
    let listed = docker(&["run", "--rm", "--entrypoint=find", tag, "/src", "-type", "f"]);
    let context: BTreeSet<&str> = listed.lines().filter_map(|line| line.strip_prefix("/src/")).collect();

    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| artefacts::repository().join("target"), PathBuf::from);
    let mut needed = BTreeSet::new();
    for folder in
        ["release", "wasm32-wasip1/wasm", "debian/wasm32-wasip1/wasm", "x86_64-unknown-linux-gnu/release"]
    {
        sources(&target.join(folder), &mut needed);
    }
    // The contents of the target folder are built again.
    needed.retain(|file| !file.starts_with("target/"));
    assert!(needed.contains("nginx-module/src/lib.rs") && needed.contains("cli/src/main.rs"), "{needed:?}");
    let missing: Vec<_> = needed.iter().filter(|file| !context.contains(file.as_str())).collect();
    assert!(
        missing.is_empty(),
        ".dockerignore keeps these files from packaging/docker/*/Dockerfile: {missing:?}"
    );
}
