//! For the build scripts of gates and of the command line: adds functions that fail on demand, if the feature `faults-for-tests` asks for them.

use std::env;
use std::fs;

const SHARED: &str = "../tests/faults/faults.c";

/// Adds the shared functions and those of a gate, if there are any, to what is linked as `kind`: `cdylib` or `bins`.
pub(crate) fn add_to(build: &mut cc::Build, of_gate: Option<&'static str>, kind: &str) -> bool {
    let sources: Vec<&str> = of_gate.into_iter().chain([SHARED]).collect();
    for source in sources.iter().chain(&["../tests/faults/faults.h", "../tests/faults/build.rs"]) {
        println!("cargo::rerun-if-changed={source}");
    }
    if env::var_os("CARGO_FEATURE_FAULTS_FOR_TESTS").is_none() {
        return false;
    }
    build.files(&sources).include("../tests/faults");
    sources.iter().for_each(|source| wrap_functions_of(source, kind));
    true
}

/// Has the linker put the functions of a file in the place of those that they name.
fn wrap_functions_of(source: &str, kind: &str) {
    let text = fs::read_to_string(source).expect("a file of the repository");
    for line in text.lines() {
        let Some((list, arguments)) = line.split_once('(') else { continue };
        let index = match list {
            "CALLS" | "FILES" | "STREAMS" | "MEMORY" | "FINDS" => 1,
            "HOST" | "STATUS" => 0,
            _ => continue,
        };
        let name = arguments.split(',').nth(index).expect("a name").trim();
        println!("cargo::rustc-link-arg-{kind}=-Wl,--wrap={name}");
    }
}
