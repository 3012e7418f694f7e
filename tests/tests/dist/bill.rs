//! The bill of materials.

use std::collections::BTreeSet;
use std::fs;

use crawlpike_tests::nginx::Folder;
use serde_json::Value;

use crate::{VERSION, digest, ending, files, only, unpacked};

#[test]
fn the_bill_of_materials_names_each_program_and_each_crate_in_it() {
    let bill: Value = serde_json::from_slice(&fs::read(only(".cdx.json")).unwrap()).unwrap();
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.6".into()));
    assert!(bill["serialNumber"].as_str().unwrap().starts_with("urn:uuid:"));
    assert_eq!(bill["metadata"]["component"]["version"], VERSION);
    assert!(bill["metadata"]["timestamp"].is_string());
    let components = bill["components"].as_array().unwrap();
    let mut programs = BTreeSet::new();
    for component in components {
        for key in ["type", "name", "version", "bom-ref"] {
            assert!(component[key].is_string(), "{component}");
        }
        assert!(!component["licenses"].as_array().unwrap().is_empty(), "{component}");
        if component["type"] == "application" {
            programs.insert(component["hashes"][0]["content"].as_str().unwrap().to_owned());
        }
    }
    let named = |name: &str| components.iter().filter(|component| component["name"] == name).count();
    assert_eq!((named("crawlpike-core"), named("proxy-wasm"), named("glibc")), (1, 1, 1));

    // The programs in the archives are those in the bill.
    let mut shipped = BTreeSet::new();
    for archive in ending(".tar.gz") {
        let folder = Folder::new();
        let tree = unpacked(&archive, &folder);
        let is_program = |bytes: &Vec<u8>| bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"\0asm");
        shipped.extend(files(&tree).values().filter(|bytes| is_program(bytes)).map(|bytes| digest(bytes)));
    }
    assert_eq!(shipped, programs);

    // Whatever something depends on is a component.
    let known: BTreeSet<&str> =
        components.iter().filter_map(|component| component["bom-ref"].as_str()).collect();
    let dependencies = bill["dependencies"].as_array().unwrap();
    let needed = dependencies.iter().flat_map(|entry| entry["dependsOn"].as_array().into_iter().flatten());
    let unknown: Vec<&Value> =
        needed.filter(|reference| !known.contains(reference.as_str().unwrap())).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
