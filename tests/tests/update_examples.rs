//! The examples in `examples/update` do what they say: each command runs against a publisher of ours, and systemd checks the
//! units.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crawlpike_tests::artefacts;
use crawlpike_tests::nginx::Folder;
use crawlpike_tests::publisher::{Authority, Publisher, VALID, respond, trust};
use serde_json::Value;

const LIST: &str = r#"{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}"#;
const OTHER_LIST: &str = r#"{"prefixes":[{"ipv4Prefix":"198.51.100.0/24"}]}"#;

/// The folders of an example, in a folder of the test, and the publisher of its feeds.
struct Example {
    folder: Folder,
    authority: Authority,
    publisher: Publisher,
}

fn example(file: &str) -> String {
    fs::read_to_string(artefacts::repository().join("examples/update").join(file)).unwrap()
}

impl Example {
    fn new() -> Self {
        let (folder, authority) = (Folder::new(), Authority::new());
        let publisher = Publisher::https(authority.identity(VALID), |asked, connection| {
            respond(
                connection,
                "200 OK",
                &[],
                if asked.target.contains("bingbot") { OTHER_LIST } else { LIST },
            )
        });
        let example = Self { folder, authority, publisher };
        fs::create_dir_all(example.path("etc/crawlpike")).unwrap();
        let document = example.moved(&example_document());
        let document = document
            .replace("https://developers.google.com", &example.publisher.url(""))
            .replace("https://www.bing.com", &example.publisher.url(""));
        example.folder.write("etc/crawlpike/crawlpike.json", document);
        example
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// A text with the paths of the test, and the program that is to be tested.
    fn moved(&self, text: &str) -> String {
        let root = self.folder.path().display();
        text.replace("/usr/bin/crawlpike", artefacts::cli().to_str().unwrap())
            .replace("/etc/crawlpike", &format!("{root}/etc/crawlpike"))
            .replace("/var/lib/crawlpike", &format!("{root}/var/lib/crawlpike"))
            .replace("/run/nginx.pid", &format!("{root}/run/nginx.pid"))
    }

    fn run(&self, command: &mut Command) -> Output {
        fs::create_dir_all(self.path("var/lib/crawlpike")).unwrap();
        trust(command, &self.authority.file());
        command.output().unwrap()
    }

    /// Runs a command line of an example, which brings both feeds, and asks for none of them soon afterwards.
    fn updates(&self, line: &str) {
        for requests in [2, 0] {
            let output = self.run(Command::new("sh").args(["-c", &self.moved(line)]));
            assert_eq!(
                (output.status.code(), self.publisher.asked().len()),
                (Some(0), requests),
                "{output:?}"
            );
        }
        let read = |name: &str| self.folder.read(&format!("var/lib/crawlpike/{name}"));
        assert_eq!([read("google-common-crawlers.json"), read("bingbot.json")], [LIST, OTHER_LIST]);
        assert!(self.path("var/lib/crawlpike/update-state").exists());
        assert_eq!(
            fs::read_dir(self.path("etc/crawlpike")).unwrap().count(),
            1,
            "nothing else is written to"
        );
    }
}

fn example_document() -> String {
    example("crawlpike.json")
}

/// The command of a unit.
fn command_of(unit: &str) -> String {
    let lines: Vec<&str> = unit.lines().filter_map(|line| line.strip_prefix("ExecStart=")).collect();
    (*lines.last().unwrap()).to_owned()
}

#[test]
fn the_units_update_and_systemd_has_nothing_against_them() {
    let run = Example::new();
    run.updates(&command_of(&example("crawlpike-update.service")));
    Example::new().updates(&format!("{} 2>/dev/null", command_of(&example("signal-nginx.conf"))));

    let units = ["crawlpike-update.service", "crawlpike-update-watch.service", "crawlpike-update.timer"];
    for unit in units {
        // Not moved: the paths are those of the reader's machine, where only the program has to be.
        run.folder
            .write(unit, example(unit).replace("/usr/bin/crawlpike", artefacts::cli().to_str().unwrap()));
    }
    let analyze = |arguments: &[&str], unit: &str| {
        let output = Command::new("systemd-analyze").args(arguments).arg(run.path(unit)).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{unit}");
    };
    let check = || {
        for unit in units {
            analyze(&["verify", "--man=no"], unit);
        }
        for unit in units.iter().filter(|unit| unit.ends_with(".service")) {
            // From 0, which is safe, to 100.
            analyze(&["security", "--offline=yes", "--threshold=20"], unit);
        }
    };
    check();
    fs::create_dir(run.path("crawlpike-update.service.d")).unwrap();
    let drop_in =
        example("signal-nginx.conf").replace("/usr/bin/crawlpike", artefacts::cli().to_str().unwrap());
    run.folder.write("crawlpike-update.service.d/signal-nginx.conf", drop_in);
    check();
}

#[test]
fn the_unit_that_keeps_running_does_what_the_other_does() {
    let [once, watching] =
        ["crawlpike-update.service", "crawlpike-update-watch.service"].map(|unit| command_of(&example(unit)));
    assert_eq!(watching, format!("{once} --watch"));
    Example::new().updates(&once);
}

/// The commands of the README, on a machine that has the folders of systemd and cron and nothing else.
#[test]
fn the_files_can_be_installed() {
    let machine = Folder::new();
    for folder in ["etc/systemd/system", "etc/cron.d"] {
        fs::create_dir_all(machine.path().join(folder)).unwrap();
    }
    let readme = example("README.md");
    for line in readme.lines().filter(|line| line.starts_with("install ")) {
        let root = machine.path().display();
        let line = line
            .replace(" /", &format!(" {root}/"))
            .replace(" && systemd-sysusers", "")
            .replace("-o crawlpike -g crawlpike ", "");
        let mut command = Command::new("sh");
        command.current_dir(artefacts::repository().join("examples/update"));
        let output = command.args(["-ec", &line]).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
    }
    for (installed, file) in [
        ("etc/crawlpike/crawlpike.json", "crawlpike.json"),
        ("etc/sysusers.d/crawlpike.conf", "crawlpike.sysusers"),
        ("etc/systemd/system/crawlpike-update.timer", "crawlpike-update.timer"),
        // cron ignores files with a dot in their name.
        ("etc/cron.d/crawlpike", "crawlpike.cron"),
    ] {
        assert_eq!(machine.read(installed), example(file), "{installed}");
    }
    assert!(machine.path().join("var/lib/crawlpike").is_dir());
}

#[test]
fn the_user_can_be_made() {
    let root = Folder::new();
    fs::create_dir(root.path().join("etc")).unwrap();
    let file = artefacts::repository().join("examples/update/crawlpike.sysusers");
    let mut command = Command::new("systemd-sysusers");
    command.arg(format!("--root={}", root.path().display())).arg(&file);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(root.read("etc/passwd").starts_with("crawlpike:"), "{}", root.read("etc/passwd"));
    assert!(example("crawlpike-update.service").contains("\nUser=crawlpike\n"));
}

#[test]
fn the_line_for_cron_updates() {
    let text = example("crawlpike.cron");
    let [line] = &text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>()[..] else {
        panic!("one line: {text}")
    };
    let fields: Vec<&str> = line.split_whitespace().collect();
    assert!(fields[0].parse::<u8>().is_ok_and(|minute| minute < 60), "{line}");
    assert_eq!(fields[1..6], ["*", "*", "*", "*", "crawlpike"]);
    assert!(!line.contains('%'), "cron makes line ends of them");
    Example::new().updates(&fields[6..].join(" "));
}

#[test]
fn the_cron_job_updates_with_what_it_may_write_to() {
    let text = example("cronjob.yaml");
    let documents: Vec<Value> =
        text.split("\n---\n").map(|document| serde_saphyr::from_str(document).unwrap()).collect();
    let [claim, job] = &documents[..] else { panic!("two documents") };
    assert_eq!(
        (&claim["kind"], &job["apiVersion"], &job["kind"]),
        (&"PersistentVolumeClaim".into(), &"batch/v1".into(), &"CronJob".into())
    );
    let pod = &job["spec"]["jobTemplate"]["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let words: Vec<&str> =
        container["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(words[0], "crawlpike");
    Example::new().updates(&format!("/usr/bin/crawlpike {}", words[1..].join(" ")));
    // Each path that the command is given is mounted, from a volume that is there; only two can be written to.
    let mounts = container["volumeMounts"].as_array().unwrap();
    for mount in mounts {
        assert!(
            pod["volumes"].as_array().unwrap().iter().any(|volume| volume["name"] == mount["name"]),
            "{mount}"
        );
    }
    let writable: Vec<&str> = mounts
        .iter()
        .filter(|mount| mount["readOnly"] != Value::Bool(true))
        .map(|mount| mount["mountPath"].as_str().unwrap())
        .collect();
    assert_eq!(writable, ["/var/lib/crawlpike", "/tmp"]);
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    let volumes = pod["volumes"].as_array().unwrap();
    let claimed = volumes.iter().find_map(|volume| volume["persistentVolumeClaim"]["claimName"].as_str());
    assert_eq!(claimed, claim["metadata"]["name"].as_str());
}

#[test]
fn the_document_of_the_examples_is_valid() {
    let run = Example::new();
    run.updates(&command_of(&example("crawlpike-update.service")));
    let mut lint = Command::new(artefacts::cli());
    lint.args(["lint", "--format", "config"]).arg(run.path("etc/crawlpike/crawlpike.json"));
    let output = run.run(&mut lint);
    // The URLs are those of the test now, which the catalog does not know.
    let said = String::from_utf8_lossy(&output.stdout).replace('\n', "; ");
    assert!(output.status.success(), "{said}");
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/data/catalog.json");
    let catalog = fs::read_to_string(known).unwrap();
    let document: Value = serde_json::from_str(&example_document()).unwrap();
    for feed in document["feeds"].as_array().unwrap() {
        let url = feed["url"].as_str().unwrap();
        assert!(catalog.contains(&format!("\"{url}\"")), "the catalog has no {url}");
    }
}
