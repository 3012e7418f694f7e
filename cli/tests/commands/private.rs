//! The commands that write files for others to serve. Outputs are not more readable than the files that they are made of, and only public files are served to clients.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, lchown, symlink};

use rustix::process::geteuid;

use crate::envoy;
use crate::fixture::{CONFIG, Done, Folder};

/// A folder with a site that has a robots.txt.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crawlpike.json", CONFIG.replace(r#""hosts""#, r#""robots_txt": "robots.txt", "hosts""#));
    folder.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    folder
}

fn set_mode(folder: &Folder, name: &str, mode: u32) {
    fs::set_permissions(folder.path(name), Permissions::from_mode(mode)).unwrap();
}

fn mode(folder: &Folder, name: &str) -> u32 {
    fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777
}

/// The commands that write files for others to serve.
const DELIVERIES: [&str; 3] = [
    "envoy --config crawlpike.json --wasm crawlpike.wasm --output out",
    "envoy --config crawlpike.json --wasm crawlpike.wasm --output out --form document",
    "compile --config crawlpike.json --output out",
];

fn deliver(folder: &Folder, command: &str) -> Done {
    envoy::arguments(folder, &[]);
    folder.run(&command.split(' ').collect::<Vec<_>>())
}

#[test]
fn where_last_good_versions_cannot_be_kept_the_file_is_written_with_a_warning() {
    for command in DELIVERIES {
        let folder = folder();
        folder.write("partners.txt", "192.0.2.1\n");
        // The names beside that of the first feed are too long: also root cannot write such files.
        let name = format!("{}.json", "g".repeat(240));
        fs::rename(folder.path("googlebot.json"), folder.path(&name)).unwrap();
        let config = folder.read("crawlpike.json");
        folder.write("crawlpike.json", config.replace("googlebot.json", &name));
        let done = deliver(&folder, command);
        done.ends(0).says_only(&format!("crawlpike.json: warning: cannot write {name}.earlier-good: File name too long (os error 36); if the next version of the feed is broken, there is no good one to fall back on\n"));
        assert!(
            folder.path("partners.txt.last-good").is_file() && folder.path("out").is_file(),
            "{command:?}"
        );
    }
}

#[test]
fn nothing_is_written_for_a_configuration_that_is_refused() {
    for command in DELIVERIES {
        let folder = folder();
        folder.write("out", "old");
        folder.write("googlebot.json", "{\n  \"prefixes\": 5 }");
        let missing = "warning: the feed `partners` is missing";
        deliver(&folder, command).ends(2).prints_only("").says("googlebot.json:2:15: error: ").says(missing);
        assert_eq!(folder.read("out"), "old");
        assert!(!folder.path("googlebot.json.last-good").exists(), "{command:?}");
    }
}

#[test]
fn what_is_written_is_as_private_as_the_most_private_of_its_files() {
    for command in DELIVERIES {
        for private in ["crawlpike.json", "googlebot.json"] {
            let folder = folder();
            assert_eq!(deliver(&folder, command).status, 0);
            assert_eq!(mode(&folder, "out"), mode(&folder, "crawlpike.json"), "with public files");
            set_mode(&folder, private, 0o600);
            let done = deliver(&folder, command);
            assert_eq!((done.status, mode(&folder, "out")), (0, 0o600), "{command:?} {done:?}");
            let said = format!("out: warning: readable only by those who can read {private}\n");
            assert!(done.stderr.ends_with(&said), "{command:?} {done:?}");
            // From then on there is nothing to say.
            let again = deliver(&folder, command);
            assert!(again.status == 0 && !again.stderr.contains("readable only"), "{again:?}");
        }
    }
}

#[test]
fn the_filters_code_is_public_whatever_the_configuration_is() {
    let folder = folder();
    fs::create_dir(folder.path("xds")).unwrap();
    set_mode(&folder, "crawlpike.json", 0o600);
    folder.run(&envoy::arguments(&folder, &["--xds-dir", "xds"])).ends(0);
    assert_eq!(mode(&folder, "xds/crawlpike.json"), 0o600);
    assert_eq!(mode(&folder, "xds/crawlpike-cd5d4935a48c0672.wasm"), mode(&folder, "crawlpike.wasm"));
}

#[test]
fn a_policy_that_not_everybody_may_read_is_not_published_by_root() {
    for command in DELIVERIES {
        let folder = folder();
        set_mode(&folder, "robots.txt", 0o640);
        let done = deliver(&folder, command);
        if geteuid().is_root() {
            assert_eq!((done.status, folder.path("out").exists()), (2, false), "{done:?}");
            let reason = "crawlpike.json:11:30: error: can't read robots.txt: it is served to clients, but not everybody may read it (";
            done.says(reason);
        } else {
            assert_eq!((done.status, mode(&folder, "out")), (0, 0o640), "{done:?}");
        }
    }
}

#[test]
fn the_shadow_of_passwords_is_not_published() {
    for command in DELIVERIES {
        let folder = folder();
        folder.write("crawlpike.json", folder.read("crawlpike.json").replace("robots.txt", "/etc/shadow"));
        let done = deliver(&folder, command);
        assert_eq!((done.status, folder.path("out").exists()), (2, false), "{done:?}");
        done.says("error: can't read /etc/shadow: ");
    }
}

#[test]
fn a_link_that_somebody_else_laid_is_not_followed() {
    let folder = folder();
    fs::remove_file(folder.path("robots.txt")).unwrap();
    symlink("/etc/passwd", folder.path("robots.txt")).unwrap();
    // Only root can act for another user; for anybody else, the target is root's.
    if geteuid().is_root() {
        lchown(folder.path("robots.txt"), Some(33), Some(33)).unwrap();
    }
    let explain = "explain --config crawlpike.json --ip ::1";
    let lint = "lint --format config crawlpike.json";
    for (command, status) in [(explain, 2), (lint, 1)].into_iter().chain(DELIVERIES.map(|one| (one, 2))) {
        let done = deliver(&folder, command);
        assert_eq!((done.status, folder.path("out").exists()), (status, false), "{done:?}");
        let reason = "error: can't read robots.txt: the symbolic link robots.txt and /etc/passwd, to which it points, have different owners (";
        done.says(reason);
    }
}
