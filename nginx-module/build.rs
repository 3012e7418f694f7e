//! Compiles the files of C against the same headers as the bindings.

use std::env;

#[path = "../tests/faults/build.rs"]
mod faults;

const SOURCES: [&str; 2] = ["src/nginx/request_bits.c", "src/nginx/threads.c"];

fn main() {
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    let include = env::var_os("DEP_NGINX_INCLUDE").expect("nginx-sys passes on where the headers are");
    let mut build = cc::Build::new();
    // nginx's headers have parameters that they do not use.
    build.files(SOURCES).includes(env::split_paths(&include)).warnings(false);
    faults::add_to(&mut build, Some("src/nginx/faults.c"), "cdylib");
    build.compile("crawlpike_nginx_c");
}
