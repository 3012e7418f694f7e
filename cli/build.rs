//! Adds the functions that fail on demand, in a build for tests.

#[path = "../tests/faults/build.rs"]
mod faults;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut build = cc::Build::new();
    if faults::add_to(&mut build, None, "bins") {
        // No code of ours calls them, so the linker would leave them out.
        build.link_lib_modifier("+whole-archive").compile("crawlpike_cli_c");
    }
}
