//! The archives: their form, and that what is in them runs.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::PathBuf;

use crawlpike_tests::artefacts::{nginx, repository};
use crawlpike_tests::nginx::Folder;
use serde_json::Value;

use crate::{
    VERSION, assert_feeds, command_line, ending, files, names, only, output, release, run, text, unpacked,
};

#[test]
fn archives_are_sorted_and_name_no_user_and_no_place_of_the_build() {
    let home = env::var("HOME").unwrap();
    let places = [repository().to_str().unwrap().to_owned(), format!("{home}/.cargo")];
    let mut archives = ending(".tar.gz");
    archives.extend(ending(".oci.tar"));
    assert!(archives.len() >= 5, "{archives:?}");
    for archive in archives {
        let listed = run("tar", &["--numeric-owner", "--full-time", "--utc", "-tvf", text(&archive)]);
        let mut times = BTreeSet::new();
        let mut last = "";
        for line in listed.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words[1], "0/0", "{}: {line}", archive.display());
            assert!(words[0].ends_with("r-x") || words[0].ends_with("r--"), "{}: {line}", archive.display());
            times.insert(format!("{} {}", words[3], words[4]));
            last = words[5];
        }
        assert!(times.len() == 1 && !last.is_empty(), "{}: {times:?}", archive.display());
        let folder = Folder::new();
        run("tar", &["-xf", text(&archive), "-C", text(folder.path())]);
        for (name, content) in files(folder.path()) {
            let content = String::from_utf8_lossy(&content);
            for place in &places {
                assert!(!content.contains(place), "{}: {} has {place}", archive.display(), name.display());
            }
        }
    }
}

#[test]
fn the_command_line_runs_without_any_library() {
    let folder = Folder::new();
    let tree = command_line(&folder);
    let program = tree.join("bin/crawlpike");
    assert_eq!(run(&program, &["--version"]), format!("crawlpike {VERSION}\n"));
    let needed = run("readelf", &["--dynamic", text(&program)]);
    assert!(!needed.contains("(NEEDED)"), "it is not static: {needed}");
    for file in [
        "share/man/man1/crawlpike.1",
        "share/man/man1/crawlpike-explain.1",
        "share/bash-completion/completions/crawlpike",
        "share/zsh/site-functions/_crawlpike",
        "share/fish/vendor_completions.d/crawlpike.fish",
        "share/crawlpike/crawlpike.schema.json",
        "share/doc/crawlpike/LICENSE",
        "share/doc/crawlpike/CHANGELOG.md",
    ] {
        assert!(tree.join(file).exists(), "{file} is missing");
    }
    let licences = fs::read_to_string(tree.join("share/doc/crawlpike/third-party-licences")).unwrap();
    assert!(licences.matches("\n==== ").count() > 100 && licences.contains("==== ring "));
    assert_feeds(&tree.join("share/crawlpike"));

    let init = folder.path().join("made");
    run(&program, &["init", text(&init)]);
    run(&program, &["feeds", "--config", text(&init.join("crawlpike.json"))]);
}

/// The name of a machine in the ELF header.
const MACHINES: [(&str, [u8; 2]); 2] = [("x86_64", [0x3e, 0]), ("aarch64", [0xb7, 0])];

#[test]
fn each_program_is_for_the_machine_in_the_name_of_its_archive() {
    for archive in ending(".tar.gz") {
        let folder = Folder::new();
        let name = archive.file_name().unwrap().to_str().unwrap().to_owned();
        for (path, bytes) in files(&unpacked(&archive, &folder)) {
            if bytes.starts_with(b"\x7fELF") {
                let machine = MACHINES.iter().find(|(_, number)| bytes[18..20] == *number);
                let machine = machine.unwrap_or_else(|| panic!("{name}: {}", path.display())).0;
                assert!(name.ends_with(&format!("-linux-{machine}.tar.gz")), "{name}: {}", path.display());
            }
        }
    }
}

#[test]
fn each_module_is_for_the_nginx_in_its_name() {
    let version = output(nginx(), &["-v"]);
    let installed = String::from_utf8(version.stderr).unwrap();
    let installed = installed.trim_end().rsplit('/').next().unwrap();
    let begin = format!("crawlpike-{VERSION}-nginx-");
    let modules = names().into_iter().filter(|name| name.starts_with(&begin)).collect::<Vec<_>>();
    assert!(
        modules.contains(&format!("{begin}{installed}-linux-{}.tar.gz", env::consts::ARCH)),
        "{installed}: {modules:?}"
    );
    for name in modules {
        let folder = Folder::new();
        let tree = unpacked(&release().join(&name), &folder);
        let intended = name.strip_prefix(&begin).and_then(|rest| rest.split('-').next()).unwrap();
        assert!(fs::read_to_string(tree.join("README")).unwrap().contains(&format!("nginx {intended}, ")));
        for file in ["LICENSE", "third-party-licences", "ngx_http_crawlpike_module.5", "nginx/minimal"] {
            assert!(tree.join(file).exists(), "{name}: {file} is missing");
        }
        if !name.ends_with(&format!("-{}.tar.gz", env::consts::ARCH)) {
            continue;
        }
        let module = tree.join("ngx_http_crawlpike_module.so");
        let configuration = format!(
            "load_module {};\npid {};\nevents {{}}\nhttp {{ access_log off; }}\n",
            module.display(),
            folder.path().join("pid").display(),
        );
        let configuration = folder.write("nginx.conf", configuration);
        let tested = output(nginx(), &["-t", "-e", "stderr", "-c", text(&configuration)]);
        let said = String::from_utf8_lossy(&tested.stderr);
        assert_eq!(tested.status.success(), intended == installed, "{name}: {said}");
        if intended != installed {
            // nginx names both versions as numbers: 1.26.3 is 1026003.
            let parts = intended.split('.').map(|part| part.parse::<u32>().unwrap());
            let number = parts.fold(0, |number, part| number * 1000 + part);
            assert!(said.contains(&number.to_string()), "{name}: {said}");
        }
    }
}

#[test]
fn the_programs_for_envoy_are_there_as_files_and_as_an_image() {
    let folder = Folder::new();
    let native = unpacked(&only(&format!("-envoy-linux-{}.tar.gz", env::consts::ARCH)), &folder);
    let symbols = run("nm", &["-D", "--defined-only", text(&native.join("libcrawlpike_envoy.so"))]);
    assert!(symbols.contains("envoy_dynamic_module_on_program_init"), "{symbols}");
    assert!(native.join("third-party-licences").exists());

    let wasm = unpacked(&only("-wasm.tar.gz"), &folder);
    let code = fs::read(wasm.join("crawlpike.wasm")).unwrap();
    assert!(code.starts_with(b"\0asm") && wasm.join("crawlpike-documents.wasm").exists());
    let image = folder.path().join("image");
    fs::create_dir(&image).unwrap();
    run("tar", &["-xf", text(&only("-wasm-image.oci.tar")), "-C", text(&image)]);
    let index: Value = serde_json::from_slice(&fs::read(image.join("index.json")).unwrap()).unwrap();
    assert_eq!(index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"], VERSION);
    let layers = files(&image).into_keys().filter(|path| {
        let listed = output("tar", &["-tzf", text(&image.join(path))]);
        listed.status.success() && listed.stdout == b"plugin.wasm\n"
    });
    let layers: Vec<PathBuf> = layers.collect();
    assert_eq!(layers.len(), 1);
    let layer = image.join(&layers[0]);
    assert_eq!(output("tar", &["-xzOf", text(&layer), "plugin.wasm"]).stdout, code);
}
