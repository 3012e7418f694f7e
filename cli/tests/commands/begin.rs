//! `crawlpike init`, `agents` and `feeds`: what a new user runs first.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::fixture::{CONFIG, Done, Folder, WARNING};

fn objects(done: &Done) -> Vec<Value> {
    done.ends(0);
    done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn one<'v>(objects: &'v [Value], key: &str, value: &str) -> &'v Value {
    objects.iter().find(|object| object[key] == value).unwrap_or_else(|| panic!("no {key} {value}"))
}

#[test]
fn the_timer_of_a_new_configuration_is_one_that_systemd_takes() {
    let folder = Folder::new();
    folder
        .run(&["init", "100% my sites"])
        .ends(0)
        .says_only("")
        .prints("systemctl enable --now crawlpike-update.timer\n");
    let (program, sites) =
        (env!("CARGO_BIN_EXE_crawlpike"), folder.path("100% my sites").display().to_string());
    let readme = folder.read("100% my sites/README.md");
    let cron =
        format!("17 * * * *  {program} update --config '{sites}/crawlpike.json'\n").replace('%', "\\%");
    assert!(readme.contains(&cron), "{readme}");
    assert!(
        readme.contains(&format!("crawlpike lint --format config '{sites}/crawlpike.json' ")),
        "{readme}"
    );
    let unit = folder.read("100% my sites/crawlpike-update.service");
    let sites = sites.replace('%', "%%");
    assert!(
        unit.contains(&format!("ExecStart=\"{program}\" update --config \"{sites}/crawlpike.json\"\n")),
        "{unit}"
    );
    assert!(unit.contains(&format!("\nReadWritePaths=\"{sites}\"\n")), "{unit}");
    assert!(!unit.contains("/var/lib") && !unit.contains("User=crawlpike"), "{unit}");
    assert!(unit.contains("\nNoNewPrivileges=yes\n") && unit.contains("\nProtectSystem=strict\n"));
    for unit in ["crawlpike-update.service", "crawlpike-update.timer"] {
        let path = folder.path("100% my sites").join(unit);
        let output =
            Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&path).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
    // From 0, which is safe, to 100.
    let service = folder.path("100% my sites/crawlpike-update.service");
    let security = ["security", "--offline=yes", "--threshold=30"];
    let output = Command::new("systemd-analyze").args(security).arg(service).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_new_configuration_works_and_denies_nobody() {
    let folder = Folder::new();
    let done = folder.run(&["init", "new/crawlpike"]);
    done.ends(0).says_only("");
    let config = folder.path("new/crawlpike/crawlpike.json").display().to_string();
    done.prints(&format!("  2. crawlpike update --config {config}\n"));
    let readme = folder.read("new/crawlpike/README.md");
    let program = env!("CARGO_BIN_EXE_crawlpike");
    assert!(readme.contains(&format!("17 * * * *  {program} update --config {config}\n")), "{readme}");
    assert!(folder.path("new/crawlpike/feeds").is_dir());

    let document: Value = serde_json::from_str(&folder.read("new/crawlpike/crawlpike.json")).unwrap();
    assert_eq!(document["mode"], "observe");
    let catalog: Value = serde_json::from_str(include_str!("../../../core/data/catalog.json")).unwrap();
    assert_eq!(document["feeds"].as_array().unwrap().len(), catalog["feeds"].as_array().unwrap().len());
    // Nothing is wrong with it but that most feeds have not been fetched yet, and, in later years, that the copies are old.
    let done = folder.run(&["lint", "--format", "config", "--verbose", &config]);
    done.ends(0);
    let feeds = document["feeds"].as_array().unwrap();
    let copies = feeds.iter().filter(|feed| feed["max_age"] == "180d").count();
    let dates: Value = serde_json::from_str(include_str!("../../../core/data/feeds.json")).unwrap();
    assert_eq!(copies, dates["feeds"].as_array().unwrap().len());
    assert_eq!(
        done.stderr.matches(" is missing: the file ").count(),
        feeds.len() - copies,
        "{}",
        done.stderr
    );
    // Nor have the keys of agents that sign their requests.
    let signing = catalog["agents"].as_array().unwrap().iter().filter(|agent| agent["keys"].is_array());
    let signing: Vec<_> = signing.map(|agent| (&agent["token"], &agent["keys"][0])).collect();
    let agents = document["agents"].as_array().unwrap().iter();
    let written: Vec<_> = agents.map(|agent| (&agent["token"], &agent["keys"][0]["directory"])).collect();
    assert_eq!(written, signing);
    assert_eq!(done.stderr.matches("so no signature by a key of ").count(), signing.len(), "{}", done.stderr);
    let agents = document["agents"].as_array().unwrap();
    let chatgpt = one(agents, "token", "ChatGPT Agent");
    assert_eq!(chatgpt["keys"][0]["source"], "keys/chatgpt.com.json");
    let is_expected = |line: &str| {
        [" is missing: the file ", "so no signature by a key of "].iter().any(|part| line.contains(part))
    };
    let others = done.stderr.lines().filter(|line| !is_expected(line));
    assert!(others.clone().all(|line| line.contains(" is stale: ")), "{}", others.collect::<String>());

    // Without details, that is one line, in each command.
    let (unfetched, unsigned) = (feeds.len() - copies, signing.len());
    let expected = format!(
        "{config}: warning: {unfetched} feeds and {unsigned} key directories have never been fetched, and verify no client: run `crawlpike update`"
    );
    for command in
        ["lint --format config", "feeds --config", "agents --config", "explain --ip 192.0.2.1 --config"]
    {
        let done = folder.run(&command.split(' ').chain([&*config]).collect::<Vec<_>>());
        let lines = done.ends(0).stderr.lines().filter(|line| !line.contains("stale"));
        assert_eq!(lines.collect::<Vec<_>>(), [&*expected], "{command}");
    }
    let verbose = folder.run(&["-v", "explain", "--ip", "192.0.2.1", "--config", &config]);
    assert_eq!(verbose.stderr.matches(" is missing: the file ").count(), unfetched, "{}", verbose.stderr);

    // The copies verify their agents until they are older than that.
    let copy = folder.path("new/crawlpike/feeds/openai-gptbot.json");
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/data/feeds/openai-gptbot.json");
    assert_eq!(fs::read(&copy).unwrap(), fs::read(shipped).unwrap());
    let fetched =
        one(dates["feeds"].as_array().unwrap(), "name", "openai-gptbot")["fetched"].as_str().unwrap();
    assert!(readme.contains(&format!("came with Crawlpike, of {}", &fetched[..10])), "{readme}");
    let modified = fs::metadata(&copy).unwrap().modified().unwrap();
    assert_eq!(OffsetDateTime::from(modified), OffsetDateTime::parse(fetched, &Rfc3339).unwrap());
    let age = modified.elapsed().unwrap().as_secs() / 86_400;
    let state = if age < 180 { "ok" } else { "stale" };
    let feeds = objects(&folder.run(&["feeds", "--config", &config, "--json"]));
    let gptbot = one(&feeds, "name", "openai-gptbot");
    assert_eq!((&gptbot["state"], &gptbot["prefixes"]), (&state.into(), &21.into()));
    assert_eq!(gptbot["agents"], serde_json::json!(["GPTBot"]));
    assert!(gptbot["changed"].is_i64() && gptbot["age"].is_u64() && gptbot["update"].is_null(), "{gptbot}");
    assert_eq!(one(&feeds, "name", "bing-bingbot")["state"], "missing");
    let agents = objects(&folder.run(&["agents", "--config", &config, "--json"]));
    let gptbot = one(&agents, "token", "GPTBot");
    assert_eq!((&gptbot["verifiable"], &gptbot["operator"]), (&(age < 180).into(), &"OpenAI".into()));
    let bing = one(&agents, "token", "bingbot");
    assert_eq!((&bing["verifiable"], &bing["rdns"][0]), (&false.into(), &"search.msn.com".into()));
}

#[test]
fn what_may_be_done_with_pages_is_said_in_each_notation() {
    let folder = Folder::new();
    folder
        .run(&["init", "new", "--usage", "search=y, ai-use=n, train-ai=n"])
        .ends(0)
        .prints("into robots.txt");
    let robots = folder.read("new/robots.txt");
    assert!(robots.contains("\nContent-Usage: train-ai=n, ai-use=n, search=y\n"), "{robots}");
    assert!(robots.contains("\nContent-Signal: ai-train=no, ai-input=no, search=yes\n"), "{robots}");
    folder.run(&["lint", "--format", "robots", "new/robots.txt"]).ends(0).says_only("");
    let document: Value = serde_json::from_str(&folder.read("new/crawlpike.json")).unwrap();
    let usage = &document["sites"][0]["usage"];
    assert_eq!(usage["rules"][0]["preferences"], "train-ai=n, ai-use=n, search=y");
    let explain = ["explain", "--config", "new/crawlpike.json", "--ip", "192.0.2.1", "--host", "example.com"];
    folder.run(&explain).ends(0).prints("usage     train-ai=n, ai-use=n, search=y\n");

    // The same by the answers of a person at a terminal, one of which cannot be understood.
    folder.write("answers", "y\nmaybe\nN\nno\n");
    let script = format!("script -qec '{} init asked' /dev/null < answers", env!("CARGO_BIN_EXE_crawlpike"));
    let done = Command::new("sh").args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    assert_eq!(folder.read("asked/robots.txt"), robots);
    assert_eq!(folder.read("asked/crawlpike.json"), folder.read("new/crawlpike.json"));
    // Nobody says anything: there is nothing to say.
    folder.run(&["init", "silent"]).ends(0);
    assert!(!folder.path("silent/robots.txt").exists());
    folder.run(&["init", "wrong", "--usage", "serch=y"]).ends(2).says("unknown label \"serch\"");
}

#[test]
fn nothing_is_overwritten() {
    let folder = Folder::new();
    let before = folder.read("crawlpike.json");
    let done = folder.run(&["init"]);
    let message = "crawlpike: error: ./crawlpike.json exists; name another folder, or remove the file\n";
    done.ends(2).prints_only("").says_only(message);
    assert_eq!(folder.read("crawlpike.json"), before);
    assert!(!folder.path("README.md").exists());
    folder.write("new", "a file");
    folder.run(&["init", "new"]).ends(2).says("cannot create new/feeds: ");
    // Not even a link that leads nowhere.
    symlink("nowhere", folder.path("README.md")).unwrap();
    fs::remove_file(folder.path("crawlpike.json")).unwrap();
    assert_eq!(folder.run(&["init"]).status, 2);
    assert!(!folder.path("nowhere").exists() && !folder.path("crawlpike.json").exists());
}

#[test]
fn agents_without_a_configuration_are_those_of_the_catalog() {
    let folder = Folder::new();
    let done = folder.run(&["agents"]);
    done.ends(0).says_only("");
    let line = |token: &str| {
        let mut lines = done.stdout.lines();
        let line =
            lines.find(|line| line.split("  ").next() == Some(token)).unwrap_or_else(|| panic!("{token}"));
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(line("Googlebot"), ["Googlebot", "Google", "search", "ranges: google-googlebot; reverse DNS"]);
    assert_eq!(line("Claude-User")[3], "partial ranges: anthropic-bots");
    assert_eq!(line("ChatGPT Agent")[3], "signatures");
    assert_eq!(line("Twitterbot")[3], "none");
    let agents = objects(&folder.run(&["agents", "--json"]));
    assert_eq!(agents.len(), done.stdout.lines().count());
    assert!(one(&agents, "token", "Googlebot")["verifiable"].is_null());
}

#[test]
fn agents_and_feeds_read_the_document_as_the_gates_do() {
    let folder = Folder::new();
    folder.write("crawlpike.json", format!("\u{feff}{CONFIG}"));
    let feeds = objects(&folder.run(&["feeds", "--config", "crawlpike.json", "--json"]));
    assert_eq!(feeds[0]["source"], "googlebot.json");
    let agents = objects(&folder.run(&["agents", "--config", "crawlpike.json", "--json"]));
    assert_eq!(agents[0]["operator"], "Google");

    // A catalog in a file, in the document, and in a compiled ruleset whose file is gone.
    let catalog = "\u{feff}{\"agents\":[{\"token\":\"ABot\",\"operator\":\"A\"}]}";
    let document = json!({ "catalog": "catalog.json", "sites": [{ "name": "all" }] });
    folder.write("crawlpike.json", document.to_string());
    folder.write("catalog.json", catalog);
    folder.run(&["compile", "--config", "crawlpike.json", "--output", "crawlpike.bin"]).ends(0);
    let operator = |config: &str| {
        let agents = objects(&folder.run(&["agents", "--config", config, "--json"]));
        one(&agents, "token", "ABot")["operator"].clone()
    };
    assert_eq!(operator("crawlpike.json"), "A");
    fs::remove_file(folder.path("catalog.json")).unwrap();
    assert_eq!(operator("crawlpike.bin"), "A");
    let mut inlined = document;
    inlined["files"]["catalog.json"]["text"] = catalog.into();
    folder.write("crawlpike.json", inlined.to_string());
    assert_eq!(operator("crawlpike.json"), "A");
}

#[test]
fn keys_are_those_of_the_configuration_and_of_the_catalog() {
    let folder = Folder::new();
    let agent = |token: &str, name: &str| {
        let directory = format!("https://{name}.example/keys");
        json!({ "token": token, "keys": [{ "directory": directory, "source": format!("{name}.json") }] })
    };
    let agents = [agent("ABot", "a"), agent("BBot", "b"), agent("chatgpt agent", "c")];
    folder.write("crawlpike.json", json!({ "agents": agents, "sites": [{ "name": "all" }] }).to_string());
    folder.run(&["sign", "key", "a.pem"]).ends(0);
    let directory = folder.run(&["sign", "directory", "a.pem"]).stdout;
    let mut directory: Value = serde_json::from_str(&directory).unwrap();
    directory["keys"][0]["exp"] = 1.into();
    folder.write("a.json", directory.to_string());
    let agents = objects(&folder.run(&["agents", "--config", "crawlpike.json", "--json"]));
    let chatgpt = one(&agents, "token", "chatgpt agent");
    let of_catalog = "https://chatgpt.com/.well-known/http-message-signatures-directory";
    assert_eq!(chatgpt["keys"], json!(["https://c.example/keys", of_catalog]));
    folder
        .run(&["agents", "--config", "crawlpike.json"])
        .prints("not verifiable: no key in a.json holds now; no feed lists its addresses\n")
        .prints("not verifiable: the keys of https://b.example/keys have never been fetched; ");
}

#[test]
fn agents_and_feeds_show_what_is_at_the_moment() {
    let folder = Folder::new();
    let done = folder.run(&["agents", "--config", "crawlpike.json"]);
    done.ends(0).says_only(WARNING);
    let cells = |line: &str| {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(String::from).collect::<Vec<_>>()
    };
    let mut lines = done.stdout.lines();
    let googlebot = ["Googlebot", "Google", "search", "ranges: googlebot; reverse DNS", "verifiable"];
    assert_eq!(cells(lines.next().unwrap()), googlebot);
    let why = "not verifiable: the feed `partners` is missing: the file partners.txt does not exist";
    assert_eq!(cells(lines.next().unwrap()), ["PartnerProbe", "ranges: partners", why]);

    let done = folder.run(&["feeds", "--config", "crawlpike.json"]);
    let lines: Vec<&str> = done.stdout.lines().collect();
    // The third column is the age of the file.
    let columns: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(columns[..2], ["googlebot", "ok"], "{lines:?}");
    assert_eq!(columns[3..5], ["317", "prefixes"], "{lines:?}");
    assert!(columns[5].starts_with("Googlebot"), "{lines:?}");
    assert_eq!(
        lines[1],
        "partners   missing  -   0 prefixes    PartnerProbe  the file partners.txt does not exist"
    );

    // The state that `update` saves.
    folder.write(
        "crawlpike.json.update-state",
        r#"{"feeds":{"googlebot":{"url":"https://example.com/","asked":null,"current":1,"due":2,"failures":1,
            "was_asked":false,"error":"the certificate has expired","redirects":[],"copy":null}},"is_undelivered":false}"#,
    );
    folder
        .run(&["feeds", "--config", "crawlpike.json"])
        .prints("  last update failed: the certificate has expired\n");
    let feeds = objects(&folder.run(&["feeds", "--config", "crawlpike.json", "--json"]));
    assert_eq!(feeds[0]["update"]["due"], 2);
    fs::rename(folder.path("crawlpike.json.update-state"), folder.path("state")).unwrap();
    folder
        .run(&["feeds", "--config", "crawlpike.json", "--state", "state"])
        .prints("  last update failed: the certificate has expired\n");
    // A compiled ruleset has all of it.
    folder.run(&["compile", "--config", "crawlpike.json", "--output", "crawlpike.bin"]);
    let compiled = objects(&folder.run(&["feeds", "--config", "crawlpike.bin", "--json"]));
    assert_eq!((&compiled[0]["prefixes"], &compiled[0]["source"]), (&317.into(), &"googlebot.json".into()));
    assert_eq!(folder.run(&["feeds", "--config", "none.json"]).status, 2);
}
