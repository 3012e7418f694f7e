//! `make wasm-image`: an OCI image layout as Istio and Envoy Gateway read it (the "compat" variant of the Wasm image
//! specification).

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use crawlpike_tests::artefacts;
use crawlpike_tests::nginx::Folder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Makes an image in the folder.
fn make(folder: &Folder, name: &str, wasm: &Path) -> String {
    let mut command = Command::new(artefacts::repository().join("packaging/wasm-image"));
    let output = command.arg(wasm).arg(folder.path().join(name)).arg("1.2.3").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn sha256(bytes: &[u8]) -> String {
    let hexadecimal: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hexadecimal}")
}

/// The content that a descriptor names, which must be what the descriptor says.
fn blob(image: &Path, descriptor: &Value) -> Vec<u8> {
    let digest = descriptor["digest"].as_str().unwrap();
    let bytes = fs::read(image.join("blobs").join(digest.replace(':', "/"))).unwrap();
    assert_eq!(sha256(&bytes), digest);
    assert_eq!(descriptor["size"], bytes.len());
    bytes
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn run(program: &str, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn the_image_holds_the_code_as_istio_and_envoy_gateway_expect_it() {
    let folder = Folder::new();
    let found = make(&folder, "image", &artefacts::wasm());
    let image = folder.path().join("image");
    assert_eq!(json(&fs::read(image.join("oci-layout")).unwrap()), json!({ "imageLayoutVersion": "1.0.0" }));
    let index = json(&fs::read(image.join("index.json")).unwrap());
    assert_eq!(index["mediaType"], "application/vnd.oci.image.index.v1+json");
    let descriptor = &index["manifests"][0];
    assert_eq!(descriptor["mediaType"], "application/vnd.oci.image.manifest.v1+json");
    assert_eq!(descriptor["annotations"]["org.opencontainers.image.ref.name"], "1.2.3");
    assert!(found.trim_end().ends_with(descriptor["digest"].as_str().unwrap()), "{found}");

    let manifest = json(&blob(&image, descriptor));
    assert_eq!(manifest["annotations"]["module.wasm.image/variant"], "compat");
    assert_eq!(manifest["config"]["mediaType"], "application/vnd.oci.image.config.v1+json");
    let layers = manifest["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 1);
    assert_eq!(layers[0]["mediaType"], "application/vnd.oci.image.layer.v1.tar+gzip");
    blob(&image, &layers[0]);
    let layer = image.join("blobs").join(layers[0]["digest"].as_str().unwrap().replace(':', "/"));
    let layer = layer.to_str().unwrap();
    assert_eq!(run("tar", &["-tzf", layer]), b"plugin.wasm\n");
    assert_eq!(run("tar", &["-xzOf", layer, "plugin.wasm"]), fs::read(artefacts::wasm()).unwrap());

    let config = json(&blob(&image, &manifest["config"]));
    let uncompressed = sha256(&run("gzip", &["-dc", "--force", layer]));
    assert_eq!(config["rootfs"], json!({ "type": "layers", "diff_ids": [uncompressed] }));
    // Nothing else lies about.
    assert_eq!(fs::read_dir(image.join("blobs/sha256")).unwrap().count(), 3);
}

#[test]
fn the_same_code_makes_the_same_image() {
    let folder = Folder::new();
    let copy = folder.write("elsewhere/under another name.wasm", fs::read(artefacts::wasm()).unwrap());
    let index = |name: &str, wasm: &Path| {
        make(&folder, name, wasm);
        folder.read(&format!("{name}/index.json"))
    };
    let first = index("first", &artefacts::wasm());
    assert_eq!(index("second", &copy), first);
    let other = folder.write("other.wasm", "\0asm");
    assert_ne!(index("first", &other), first, "what was there is replaced");
}

#[test]
fn skopeo_takes_it() {
    let is_there = Command::new("skopeo").arg("--version").output().is_ok();
    if !is_there && env::var_os("CI").is_none() {
        eprintln!("skipped: skopeo is not installed (`.ci/setup images` installs it)");
        return;
    }
    let folder = Folder::new();
    make(&folder, "image", &artefacts::wasm());
    let source = format!("oci:{}:1.2.3", folder.path().join("image").display());
    let inspected = json(&run("skopeo", &["inspect", &source]));
    assert_eq!((&inspected["Architecture"], &inspected["Os"]), (&"wasm".into(), &"wasi".into()));
    assert_eq!(inspected["Layers"].as_array().unwrap().len(), 1);
    let copy = folder.path().join("copy");
    run("skopeo", &["copy", "--quiet", &source, &format!("dir:{}", copy.display())]);
    let digest = inspected["Digest"].as_str().unwrap();
    assert_eq!(sha256(&fs::read(copy.join("manifest.json")).unwrap()), digest);
}
