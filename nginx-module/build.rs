//! Compiles `src/nginx/request_bits.c` against the same headers as the bindings.

use std::env;

const SOURCE: &str = "src/nginx/request_bits.c";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    let include = env::var_os("DEP_NGINX_INCLUDE").expect("nginx-sys passes on where the headers are");
    // nginx's headers have parameters that they do not use.
    cc::Build::new()
        .file(SOURCE)
        .includes(env::split_paths(&include))
        .warnings(false)
        .compile("request_bits");
}
