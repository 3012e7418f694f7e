//! The contents of dist/release: the files that users download, and can check.

mod archives;
mod bill;
mod packages;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crawlpike_tests::artefacts::{feeds, repository};
use crawlpike_tests::nginx::Folder;
use serde_json::Value;
use sha2::{Digest, Sha256};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The folder of the release.
fn release() -> PathBuf {
    repository().join("dist/release")
}

/// The names of all files of the release.
fn names() -> BTreeSet<String> {
    let files = fs::read_dir(release()).expect("run `make dist` first");
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

/// The files whose name ends so; there must be one.
fn ending(end: &str) -> Vec<PathBuf> {
    let found: Vec<PathBuf> =
        names().iter().filter(|name| name.ends_with(end)).map(|name| release().join(name)).collect();
    assert!(!found.is_empty(), "no file ends with {end}: {:?}", names());
    found
}

/// The only file whose name ends so.
fn only(end: &str) -> PathBuf {
    let mut found = ending(end);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn output(program: impl AsRef<Path>, arguments: &[&str]) -> Output {
    let mut command = Command::new(program.as_ref());
    command.args(arguments).output().unwrap_or_else(|error| panic!("{}: {error}", program.as_ref().display()))
}

/// The output of a program that must succeed.
fn run(program: impl AsRef<Path>, arguments: &[&str]) -> String {
    let done = output(program.as_ref(), arguments);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{} {arguments:?}: {errors}", program.as_ref().display());
    String::from_utf8_lossy(&done.stdout).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Unpacks an archive, and gives the folder in it.
fn unpacked(archive: &Path, to: &Folder) -> PathBuf {
    run("tar", &["-xf", text(archive), "-C", text(to.path())]);
    let name = archive.file_name().unwrap().to_str().unwrap();
    to.path().join(name.strip_suffix(".tar.gz").unwrap())
}

/// Unpacks the archive of the command line.
fn command_line(to: &Folder) -> PathBuf {
    unpacked(&only(&format!("{VERSION}-linux-{}.tar.gz", env::consts::ARCH)), to)
}

/// All files below a folder, with their content.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The copies of feeds are ours, and each has its date.
fn assert_feeds(folder: &Path) {
    let mut ours = files(&feeds());
    // A release does not contain the files that a server has kept beside the feeds in this checkout.
    ours.retain(|file, _| {
        file.extension().is_none_or(|extension| extension != "last-good" && extension != "earlier-good")
    });
    assert_eq!(files(&folder.join("feeds")), ours);
    let index: Value = serde_json::from_slice(&fs::read(folder.join("feeds.json")).unwrap()).unwrap();
    assert_eq!(index["licence"], "CC0-1.0");
    let dated: BTreeSet<PathBuf> = index["feeds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|feed| {
            let date = feed["fetched"].as_str().unwrap();
            assert!(date.len() == 20 && date.starts_with("20") && date.ends_with('Z'), "{feed}");
            PathBuf::from(feed["file"].as_str().unwrap())
        })
        .collect();
    let feeds: BTreeSet<PathBuf> =
        ours.into_keys().filter(|name| name.extension().is_some_and(|end| end == "json")).collect();
    assert_eq!(dated, feeds);
}

#[test]
fn the_digests_are_those_of_all_files() {
    let sums = fs::read_to_string(release().join("SHA256SUMS")).unwrap();
    let listed: BTreeMap<&str, &str> =
        sums.lines().map(|line| line.split_once("  ").unwrap()).map(|(sum, name)| (name, sum)).collect();
    let mut expected = names();
    assert!(expected.remove("SHA256SUMS"));
    // The files that the releaser adds.
    expected.retain(|name| !name.ends_with(".minisig") && !name.ends_with(".sig"));
    assert_eq!(listed.keys().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(), expected);
    for (name, sum) in listed {
        assert_eq!(digest(&fs::read(release().join(name)).unwrap()), sum, "{name}");
    }
}

#[test]
fn packing_again_gives_the_same_bytes_whatever_servers_have_kept_in_the_checkout() {
    let kept =
        ["packaging/helm/crawlpike", "docs", "examples/envoy", "examples/nginx/minimal", "examples/update"];
    let _kept = kept.map(|folder| {
        let mut file = tempfile::Builder::new();
        file.suffix(".last-good").tempfile_in(repository().join(folder)).unwrap()
    });
    let again = tempfile::tempdir_in(repository().join("target")).unwrap();
    let mut build = Command::new(repository().join("packaging/release/build"));
    // Cargo sets them for what it runs; the package is for Debian's nginx.
    build.env_remove("NGINX_SOURCE_DIR").env_remove("NGINX_BUILD_DIR");
    let built = build.arg(again.path().join("release")).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let sums = |folder: &Path| fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    assert_eq!(sums(&again.path().join("release")), sums(&release()));
}
