//! Has the module need nothing but the C library: images of Envoy lack `libgcc_s.so.1`.
//!
//! The standard library asks the linker for `gcc_s`, which unwinds panics. The linker takes the first file of that name, and
//! this one names the archives that the compiler ships with the same code.

use std::env;
use std::fs;
use std::path::Path;

#[path = "../tests/faults/build.rs"]
mod faults;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let script = Path::new(&folder).join("libgcc_s.so");
    fs::write(&script, "INPUT(-l:libgcc_eh.a -l:libgcc.a)\n").expect("cargo's folder can be written");
    println!("cargo::rustc-link-search=native={}", Path::new(&folder).display());
    let mut build = cc::Build::new();
    if faults::add_to(&mut build, Some("faults.c"), "cdylib") {
        build.compile("crawlpike_envoy_c");
        println!("cargo::rustc-link-arg-cdylib=-Wl,--wrap=dlsym");
    }
}
