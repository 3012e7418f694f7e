use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crawlpike_core::is_stored;

use crate::fixture::{CONFIG, Done, Folder, GOOGLEBOT};

/// A folder in which the configuration has a feed with places, and policies.
fn folder() -> Folder {
    let folder = Folder::new();
    let config = folder.read("crawlpike.json");
    let config = config.replacen(
        r#""feeds": ["#,
        r#""feeds": [ { "name": "offices", "format": "geofeed", "source": "offices.csv" },"#,
        1,
    );
    let site = r#""hosts": ["example.com", "*.example.com"], "robots_txt": "robots.txt""#;
    folder.write("crawlpike.json", config.replace(r#""hosts": ["example.com", "*.example.com"]"#, site));
    folder.write("offices.csv", "66.249.66.0/24,US,US-CA,Mountain View,\n");
    folder.write("robots.txt", "User-agent: Googlebot\nDisallow: /private\n");
    folder
}

fn compile(folder: &Folder, more: &[&str]) -> Done {
    folder.run(&[&["compile", "--config", "crawlpike.json", "--output", "crawlpike.bin"], more].concat())
}

fn prefixes_of_googlebot(folder: &Folder) -> Vec<Value> {
    let feed: Value = serde_json::from_str(&folder.read("googlebot.json")).unwrap();
    feed["prefixes"].as_array().unwrap().clone()
}

#[test]
fn every_command_says_the_same_of_the_compiled_file() {
    let folder = folder();
    let done = compile(&folder, &[]);
    assert_eq!((done.status, done.stderr.contains("the feed `partners` is missing")), (0, true), "{done:?}");
    done.prints_only(&format!(
            "geofeed offices: 1 prefixes, ok\njafar googlebot: {} prefixes, ok\ncidr partners: 0 prefixes, missing\n",
            prefixes_of_googlebot(&folder).len()
        ));
    // The compiled file needs none of those that it was made of.
    let sources = ["googlebot.json", "offices.csv", "robots.txt"].map(|name| (name, folder.read(name)));
    let answers = |config: &str| {
        let explain =
            ["explain", "--config", config, "--json", "--ip", GOOGLEBOT, "--user-agent", "Googlebot/2.1"];
        [
            folder.run(&[&explain[..], &["--host", "example.com", "--path", "/private"]].concat()),
            folder.run(&[&explain[..], &["--host", "example.com", "--path", "/robots.txt"]].concat()),
            folder.run(&["lookup", "--config", config, GOOGLEBOT, "192.0.2.1", "2001:4860:4801:10::1"]),
            folder.run(&["lint", "--format", "config", config]),
        ]
        .map(|done| (done.status, done.stdout))
    };
    let expected = answers("crawlpike.json");
    assert!(expected[0].1.contains(r#""reason":"robots-disallowed""#), "{expected:?}");
    assert!(expected[0].1.contains(r#""country":"US""#), "{expected:?}");
    for (name, _) in &sources {
        fs::remove_file(folder.path(name)).unwrap();
    }
    assert_eq!(answers("crawlpike.bin"), expected);
}

#[test]
fn a_cut_or_altered_file_is_refused_with_the_reason() {
    let folder = folder();
    compile(&folder, &[]);
    folder.write("crawlpike.wasm", "\0asm");
    let good = fs::read(folder.path("crawlpike.bin")).unwrap();
    let altered_at = |at: usize| {
        let mut altered = good.clone();
        altered[at] ^= 4;
        altered
    };
    for (bytes, reason) in [
        (good[..good.len() - 4].to_vec(), "the compiled ruleset is cut short or has bytes added"),
        (good[..good.len() / 2 + 1].to_vec(), "the compiled ruleset is cut short or has bytes added"),
        (good[..7].to_vec(), "not a compiled ruleset"),
        (altered_at(good.len() - 9), "the compiled ruleset was altered: its checksum does not match"),
        (altered_at(100), "the compiled ruleset was altered: its checksum does not match"),
        (altered_at(4), "a compiled ruleset of format 1, not 5: compile it with this version"),
    ] {
        folder.write("crawlpike.bin", bytes);
        for command in [
            &["explain", "--config", "crawlpike.bin", "--ip", GOOGLEBOT][..],
            &["lookup", "--config", "crawlpike.bin", GOOGLEBOT],
            &["envoy", "--config", "crawlpike.bin", "--wasm", "crawlpike.wasm"],
        ] {
            folder
                .run(command)
                .ends(2)
                .prints_only("")
                .says_only(&format!("crawlpike.bin: error: {reason}\n"));
        }
    }
}

#[test]
fn what_a_guard_holds_is_let_in_by_accept() {
    let folder = folder();
    compile(&folder, &[]);
    let good = folder.read("googlebot.json");
    assert_eq!(folder.read("googlebot.json.last-good"), good);
    // Cut to 12 prefixes, and still JSON.
    let prefixes = prefixes_of_googlebot(&folder);
    let (many, few) = (prefixes.len(), serde_json::json!({ "prefixes": prefixes[..12] }).to_string());
    folder.write("googlebot.json", &few);
    let held = compile(&folder, &[]);
    held.ends(0);
    let why = format!("is held: it shrank from {many} to 12 prefixes, by more than 50%");
    held.says(&why).prints(&format!("jafar googlebot: {many} prefixes, held\n"));
    assert_eq!(folder.read("googlebot.json.last-good"), good);

    let unknown = compile(&folder, &["--accept", "gogglebot"]);
    unknown.ends(2).prints_only("");
    assert!(
        unknown
            .stderr
            .ends_with("error: --accept: no feed is named `gogglebot` (did you mean `googlebot`?)\n"),
        "{unknown:?}"
    );
    // The command as it is printed.
    let command = held.stderr.split_once("run `crawlpike ").unwrap().1.split_once('`').unwrap().0;
    let accepted = folder.run(&command.split(' ').collect::<Vec<_>>());
    assert_eq!((accepted.status, accepted.stderr.matches("held").count()), (0, 0), "{accepted:?}");
    accepted.prints("jafar googlebot: 12 prefixes, ok\n");
    assert_eq!(folder.read("googlebot.json.last-good"), few);
    // Without --accept, too, from now on. No output is needed to accept a feed.
    folder.write("googlebot.json", &good);
    let held = folder.run(&["compile", "--config", "crawlpike.json"]);
    held.prints("jafar googlebot: 12 prefixes, held\n");
    let accept = folder.run(&["compile", "--config", "crawlpike.json", "--accept", "googlebot"]);
    accept.prints(&format!("jafar googlebot: {many} prefixes, ok\n"));
    folder.write("googlebot.json", &few);
    compile(&folder, &["--accept", "googlebot"]);
    assert_eq!(compile(&folder, &[]).stdout, accepted.stdout);
}

#[test]
fn a_feed_is_not_let_in_unless_its_last_good_version_can_be_read() {
    let folder = folder();
    compile(&folder, &[]);
    let before = fs::read(folder.path("crawlpike.bin")).unwrap();
    fs::remove_file(folder.path("googlebot.json.last-good")).unwrap();
    fs::create_dir(folder.path("googlebot.json.last-good")).unwrap();
    let few = serde_json::json!({ "prefixes": prefixes_of_googlebot(&folder)[..12] }).to_string();
    folder.write("googlebot.json", &few);
    let why = "crawlpike.json: error: cannot read googlebot.json.last-good: not a regular file; until it can be read, or is removed, no new version of the feed is accepted";
    compile(&folder, &[]).says(why).ends(2);
    assert_eq!(fs::read(folder.path("crawlpike.bin")).unwrap(), before);
    let envoy = ["envoy", "--config", "crawlpike.json", "--wasm", "robots.txt", "--output", "envoy.json"];
    folder.run(&envoy).says(why).ends(2);
    assert!(!folder.path("envoy.json").exists());
}

#[test]
fn a_compressed_file_takes_the_place_of_the_other() {
    let folder = folder();
    compile(&folder, &[]);
    let pack = || {
        let arguments = ["compile", "--config", "crawlpike.json", "--output", "crawlpike.bin.gz", "--gzip"];
        assert_eq!(folder.run(&arguments).status, 0);
        fs::read(folder.path("crawlpike.bin.gz")).unwrap()
    };
    let packed = pack();
    assert!(packed.len() * 3 < fs::read(folder.path("crawlpike.bin")).unwrap().len(), "{}", packed.len());
    assert_eq!(pack(), packed, "the same content is the same file");
    let lookup = |config| folder.run(&["lookup", "--config", config, GOOGLEBOT]);
    let (plain, done) = (lookup("crawlpike.bin"), lookup("crawlpike.bin.gz"));
    assert_eq!((done.status, &done.stdout), (0, &plain.stdout));
    let lint = |name: &str| folder.run(&["lint", "--format", "config", name]);
    assert_eq!(lint("crawlpike.bin.gz").status, 0);

    folder.write("crawlpike.bin.gz", &packed[..packed.len() - 9]);
    lint("crawlpike.bin.gz").ends(1).says("crawlpike.bin.gz: error: cannot be read");
    // A document that was compressed is none of ours.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(CONFIG.as_bytes()).unwrap();
    folder.write("crawlpike.bin.gz", encoder.finish().unwrap());
    lint("crawlpike.bin.gz").ends(1).says_only("crawlpike.bin.gz: error: not a compiled ruleset\n");
}

#[test]
fn who_has_seen_enough_gets_the_file_all_the_same() {
    let folder = folder();
    let arguments = ["compile", "--config", "crawlpike.json", "--output", "crawlpike.bin"];
    let mut child = folder.command(&arguments).spawn().unwrap();
    // As `| head` does.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(0), 1), "{stderr}");
    assert!(is_stored(&fs::read(folder.path("crawlpike.bin")).unwrap()));
}

#[test]
fn no_file_is_replaced_by_what_is_made_of_it() {
    let folder = folder();
    compile(&folder, &[]);
    folder.write("crawlpike.wasm", "\0asm");
    fs::create_dir(folder.path("sub")).unwrap();
    symlink("robots.txt", folder.path("link")).unwrap();
    let compile = &["compile", "--config", "crawlpike.json", "--output"][..];
    let envoy = &["envoy", "--config", "crawlpike.json", "--wasm", "crawlpike.wasm", "--output"];
    for (command, output, replaced) in [
        (compile, "sub/../crawlpike.json", "crawlpike.json"),
        (compile, "robots.txt", "robots.txt"),
        (compile, "link", "robots.txt"),
        (compile, "offices.csv", "offices.csv"),
        (compile, "googlebot.json.last-good", "googlebot.json.last-good"),
        // It is not there yet, and would be read the next time.
        (compile, "partners.txt", "partners.txt"),
        (&["compile", "--config", "crawlpike.bin", "--output"], "crawlpike.bin", "crawlpike.bin"),
        (envoy, "crawlpike.json", "crawlpike.json"),
        (envoy, "robots.txt", "robots.txt"),
        (envoy, "crawlpike.wasm", "crawlpike.wasm"),
        (&[&envoy[..5], &["--xds-dir"]].concat(), ".", "crawlpike.json"),
    ] {
        let before = fs::read(folder.path(replaced)).ok();
        let done = folder.run(&[command, &[output]].concat());
        done.ends(2).prints_only("");
        assert!(
            done.stderr.ends_with("is read by this command; write to another file\n"),
            "{output}: {done:?}"
        );
        assert_eq!(fs::read(folder.path(replaced)).ok(), before, "{output}");
    }
}
