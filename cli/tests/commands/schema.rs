use std::fs;
use std::path::Path;

use crate::fixture::Folder;

#[test]
fn the_schema_that_ships_is_that_of_the_code() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/crawlpike.schema.json");
    let printed = Folder::new().run(&["schema"]);
    printed.ends(0);
    assert!(
        fs::read_to_string(shipped).unwrap() == printed.stdout,
        "docs/crawlpike.schema.json is out of date: cargo run -p crawlpike -- schema > docs/crawlpike.schema.json"
    );
}
