//! Compiles the files of C against the same headers as the bindings.

use std::env;

const SOURCES: [&str; 2] = ["src/nginx/request_bits.c", "src/nginx/threads.c"];

fn main() {
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    let include = env::var_os("DEP_NGINX_INCLUDE").expect("nginx-sys passes on where the headers are");
    // nginx's headers have parameters that they do not use.
    cc::Build::new()
        .files(SOURCES)
        .includes(env::split_paths(&include))
        .warnings(false)
        .compile("crawlpike_nginx_c");
}
