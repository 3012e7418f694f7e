//! The packages for distributions.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crawlpike_tests::artefacts::repository;
use crawlpike_tests::nginx::Folder;

use crate::{VERSION, assert_feeds, command_line, ending, files, only, run, text};

/// The Debian package of that name for this machine.
fn own_package(name: &str) -> PathBuf {
    let start = format!("{name}_{VERSION}-");
    let end = format!("_{}.deb", run("dpkg", &["--print-architecture"]).trim_end());
    let mut found = ending(&end);
    found.retain(|package| package.file_name().unwrap().to_str().unwrap().starts_with(&start));
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// The files that each package has; all have a changelog and the licences.
const CONTENTS: [(&str, &[&str]); 3] = [
    (
        "crawlpike",
        &[
            "usr/bin/crawlpike",
            "usr/share/man/man1/crawlpike-explain.1.gz",
            "usr/share/bash-completion/completions/crawlpike",
            "usr/share/zsh/vendor-completions/_crawlpike",
            "usr/share/fish/vendor_completions.d/crawlpike.fish",
            "usr/share/doc/crawlpike/third-party-licences.gz",
        ],
    ),
    (
        "libnginx-mod-http-crawlpike",
        &[
            "usr/lib/nginx/modules/ngx_http_crawlpike_module.so",
            "usr/share/nginx/modules-available/mod-http-crawlpike.conf",
            "usr/share/man/man5/ngx_http_crawlpike_module.5.gz",
            "usr/share/doc/libnginx-mod-http-crawlpike/third-party-licences.gz",
        ],
    ),
    ("crawlpike-feeds", &["usr/share/crawlpike/feeds.json"]),
];

#[test]
fn the_debian_packages_have_what_their_descriptions_say() {
    let mut names = BTreeSet::new();
    for package in ending(".deb") {
        names.insert(assert_package(&package));
    }
    assert_eq!(names, CONTENTS.iter().map(|(name, _)| (*name).to_owned()).collect());
    own_package("crawlpike");
    own_package("libnginx-mod-http-crawlpike");
}

/// Gives the name of the package.
fn assert_package(package: &Path) -> String {
    let field = |name: &str| run("dpkg-deb", &["--field", text(package), name]).trim_end().to_owned();
    let name = field("Package");
    assert!(field("Version").starts_with(&format!("{VERSION}-")), "{}", field("Version"));
    assert_eq!(name.starts_with("libnginx-"), field("Depends").contains("nginx-abi-"), "{name}");
    let folder = Folder::new();
    run("dpkg-deb", &["--extract", text(package), text(folder.path())]);
    let (_, contents) = CONTENTS.iter().find(|(package, _)| *package == name).unwrap();
    let copyright = format!("usr/share/doc/{name}/copyright");
    for file in contents.iter().copied().chain([copyright.as_str()]) {
        assert!(folder.path().join(file).exists(), "{file} is missing");
    }
    if name == "crawlpike" {
        // debhelper adds this for the units that it finds in the package.
        let purge = run("dpkg-deb", &["--info", text(package), "postrm"]);
        assert!(purge.contains("'crawlpike-serve.service' 'crawlpike-serve.socket'"), "{purge}");
    }
    if name == "crawlpike-feeds" {
        assert_feeds(&folder.path().join("usr/share/crawlpike"));
    }
    assert_lintian_finds_no_error(package);
    name
}

fn assert_lintian_finds_no_error(package: &Path) {
    run("lintian", &["--allow-root", "--fail-on", "error", text(package)]);
}

#[test]
fn the_source_package_has_the_sources_and_the_crates_and_nothing_else() {
    let description = only(".dsc");
    let folder = Folder::new();
    let tree = folder.path().join("tree");
    run("dpkg-source", &["--extract", "--skip-patches", text(&description), text(&tree)]);
    let found: BTreeSet<PathBuf> = files(&tree).into_keys().collect();
    let root = repository();
    let sources: BTreeSet<PathBuf> = run("git", &["-C", text(root), "ls-tree", "-r", "--name-only", "HEAD"])
        .lines()
        .map(PathBuf::from)
        .collect();
    let added: BTreeSet<&str> =
        found.difference(&sources).map(|path| path.iter().next().unwrap().to_str().unwrap()).collect();
    assert_eq!(added, BTreeSet::from(["debian", "vendor"]));
    assert!(sources.is_subset(&found), "{:?} are missing", sources.difference(&found));
    // Cargo finds all crates, those that only tests need without their code.
    let tree_of_crates = Command::new("cargo")
        .current_dir(&tree)
        .env("CARGO_HOME", folder.path())
        .args(["tree", "--offline", "--locked", "-p", "crawlpike", "-p", "crawlpike-nginx"])
        .output()
        .unwrap();
    assert!(tree_of_crates.status.success(), "{}", String::from_utf8_lossy(&tree_of_crates.stderr));
    let copyright = fs::read_to_string(tree.join("debian/copyright")).unwrap();
    assert!(copyright.contains("Files: vendor/ring-"), "{copyright}");
}

#[test]
fn the_files_for_rpm_and_alpine_have_the_version() {
    let spec = repository().join("packaging/rpm/crawlpike.spec");
    assert_eq!(run("rpmspec", &["--query", "--srpm", "--queryformat", "%{version}", text(&spec)]), VERSION);
    let build = repository().join("packaging/alpine/APKBUILD");
    assert_eq!(run("sh", &["-euc", "srcdir=; . $0; echo $pkgver", text(&build)]).trim_end(), VERSION);
}

#[test]
fn the_other_packages_have_the_tree_of_the_archive() {
    let folder = Folder::new();
    let tree = command_line(&folder);
    let expected = files(&tree);
    let rpm = folder.path().join("rpm");
    run(
        "rpm",
        &["--root", text(&rpm), "--nodeps", "--install", text(&only(&format!("{}.rpm", env::consts::ARCH)))],
    );
    let apk = folder.path().join("apk");
    fs::create_dir(&apk).unwrap();
    run("tar", &["-xzf", text(&only(&format!("{}.apk", env::consts::ARCH))), "-C", text(&apk)]);
    let about = fs::read_to_string(apk.join(".PKGINFO")).unwrap();
    assert!(
        about.contains("pkgname = crawlpike\n") && about.contains(&format!("pkgver = {VERSION}-r")),
        "{about}"
    );
    for root in [rpm, apk] {
        // The packages have the manual pages compressed, as their distributions expect.
        for page in files(&root.join("usr/share/man")).into_keys() {
            run("gzip", &["-d", text(&root.join("usr/share/man").join(page))]);
        }
        let mut found = files(&root.join("usr"));
        // rpm's own.
        found.retain(|path, _| !path.starts_with("lib/sysimage"));
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        assert!(found == expected, "{} differs", root.display());
        assert_eq!(run(root.join("usr/bin/crawlpike"), &["--version"]), format!("crawlpike {VERSION}\n"));
    }
}

#[test]
fn apt_takes_a_package_from_a_signed_repository_and_refuses_a_changed_one() {
    let folder = Folder::new();
    let place = |name: &str| folder.path().join(name);
    let keys = place("gpg");
    fs::DirBuilder::new().mode(0o700).create(&keys).unwrap();
    let made = Command::new("gpg")
        .env("GNUPGHOME", &keys)
        .args([
            "--batch",
            "--passphrase",
            "",
            "--quick-gen-key",
            "releaser@crawlpike.example",
            "ed25519",
            "sign",
        ])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let repository_script = repository().join("packaging/release/apt-repo");
    let made = Command::new(repository_script)
        .env("GNUPGHOME", &keys)
        .arg(place("apt"))
        .arg("releaser@crawlpike.example")
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

    for name in ["lists/partial", "cache/archives/partial", "downloads"] {
        fs::create_dir_all(place(name)).unwrap();
    }
    let key = place("apt/crawlpike.asc");
    folder.write(
        "sources.list",
        format!("deb [signed-by={}] file:{} ./\n", key.display(), place("apt").display()),
    );
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.current_dir(place("downloads"));
        for (option, value) in [
            ("Dir::Etc::SourceList", place("sources.list")),
            ("Dir::Etc::SourceParts", "/dev/null".into()),
            ("Dir::State::Lists", place("lists")),
            ("Dir::Cache", place("cache")),
            ("APT::Sandbox::User", "root".into()),
        ] {
            command.arg("-o").arg(format!("{option}={}", value.display()));
        }
        command.args(arguments).output().unwrap()
    };
    let updated = apt(&["update"]);
    assert!(updated.status.success(), "{}", String::from_utf8_lossy(&updated.stderr));
    let downloaded = apt(&["download", "libnginx-mod-http-crawlpike"]);
    assert!(downloaded.status.success(), "{}", String::from_utf8_lossy(&downloaded.stderr));
    let found = files(&place("downloads")).into_values().collect::<Vec<_>>();
    assert_eq!(found.len(), 1);
    assert!(found[0] == fs::read(own_package("libnginx-mod-http-crawlpike")).unwrap());

    let index = place("apt/InRelease");
    let signed = fs::read_to_string(&index).unwrap();
    fs::write(&index, signed.replace("Origin: Crawlpike", "Origin: Somebody")).unwrap();
    let refused = apt(&["update", "--error-on=any"]);
    assert!(!refused.status.success(), "{}", String::from_utf8_lossy(&refused.stdout));
}
