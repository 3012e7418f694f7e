//! `make pages` writes the pages of the documentation that are made from the code. `make released` writes the names that
//! users rely on, which is a step of a release.

use std::env;
use std::fs;
use std::io;

use crawlpike_tests::artefacts::repository;
use crawlpike_tests::{names, pages};

fn main() -> io::Result<()> {
    if env::args().nth(1).as_deref() == Some("released") {
        let names = serde_json::to_string_pretty(&names::current()).map_err(io::Error::other)?;
        return fs::write(repository().join("tests/released.json"), names + "\n");
    }
    for page in pages::all() {
        fs::write(repository().join(&page.path), page.text)?;
        println!("{}", page.path);
    }
    Ok(())
}
