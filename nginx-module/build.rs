//! Compiles `src/nginx/bits.c` against the same headers as the bindings.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=src/nginx/bits.c");
    let include =
        env::var_os("DEP_NGINX_INCLUDE").expect("nginx-sys tells its dependents where the headers are");
    // nginx's headers have parameters that they do not use.
    cc::Build::new()
        .file("src/nginx/bits.c")
        .includes(env::split_paths(&include))
        .warnings(false)
        .compile("crawlward_bits");
}
